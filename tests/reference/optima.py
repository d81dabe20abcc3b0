#!/usr/bin/env python3
"""Reference optima: the least value of F for the problems of ../it/reference.json, by solvers that share no line with
farrow. Needs numpy and scipy.

    python3 tests/reference/optima.py                 # every set that is there: the committed ones, ../shared/data
    python3 tests/reference/optima.py sparse dense    # these sets only; entries of other sets are kept
    python3 tests/reference/optima.py --generate      # write tests/it/data/*.svm anew first (same seed, same bytes)

F(x, c) = sum_i omega_i phi(a_i'x + c, b_i) + lambda1 |x|_1 + (lambda2/2) |x|^2 + indicator(lo <= x <= hi), omega = w/sum w.

Smooth losses: prox-Newton; the model is minimised by coordinate descent over the coordinates that can move, with an
exact solve on the face that it finds. Hinge: a primal-dual interior point. Each answer is bracketed by a dual point
made feasible (`dual_value`), so "primal" and "dual" enclose F*, whatever the solver did; an entry whose bracket is
wider than 1e-9 relative is refused. Values are rounded to f32 as farrow stores them; `f64_change` is by how much F
at the answer changes when they are not."""
import json, lzma, os, sys, time
import numpy as np, scipy.linalg as sl, scipy.sparse as sp

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
OUT = os.path.join(ROOT, "tests/it/reference.json")
SETS = {"sparse": "tests/it/data/sparse.svm", "dense": "tests/it/data/dense.svm",
        "a9a": "../shared/data/a9a.xz", "spam": "../shared/data/spam.xz"}
INF = np.inf


# ---------------------------------------------------------------------------------------------------------- data

def generate():
    """Two small sets. Values are multiples of 1/64 and 1/4, so f32 and f64 agree on them."""
    rng = np.random.default_rng(20260101)
    def line(label, columns, values):
        return f"{label} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in zip(columns, values)) + "\n"
    n, d = 400, 120
    chance = 0.9 / np.arange(1, d + 1) ** 0.9               # power-law columns: column k in ~ k^-0.9 of the rows
    truth = rng.normal(size=d) * (rng.random(d) < 0.4) * 1.5
    with open(os.path.join(ROOT, SETS["sparse"]), "w") as f:
        for _ in range(n):
            columns = np.flatnonzero(rng.random(d) < chance)
            values = np.round(rng.normal(size=len(columns)) * 64) / 64
            columns, values = columns[values != 0], values[values != 0]
            margin = values @ truth[columns] + 0.7 * rng.logistic() - 0.5
            f.write(line("+1" if margin > 0 else "-1", columns, values))
        # Every column occurs, so that d is 120 for every reader.
        f.write(line("-1", [0, d - 1], [1.0, 0.5]))
    n, d = 300, 40
    mix = np.eye(d) + 0.35 * rng.normal(size=(d, d)) / np.sqrt(d) * 2
    truth = rng.normal(size=d) * (rng.random(d) < 0.5)
    with open(os.path.join(ROOT, SETS["dense"]), "w") as f:
        for _ in range(n):
            a = np.round(rng.normal(size=d) @ mix * 4) / 4
            keep = np.flatnonzero(a)
            noise = rng.standard_t(2) * 0.5                  # heavy tails, so that Huber has outliers to bound
            f.write(line(repr(float(np.round((a @ truth + 1.25 + noise) * 64) / 64)), keep, a[keep]))


def load(path):
    """LIBSVM text, 1-based; values twice, as f32 stores them and as written."""
    opener = lzma.open if path.endswith(".xz") else open
    labels, starts, columns, values = [], [0], [], []
    with opener(path, "rt") as f:
        for line in f:
            head, *rest = line.split()
            labels.append(float(head))
            for item in rest:
                j, v = item.split(":")
                columns.append(int(j) - 1)
                values.append(float(v))
            starts.append(len(columns))
    shape = (len(labels), max(columns) + 1)
    values = np.array(values)
    matrix = lambda v: sp.csr_matrix((v, columns, starts), shape=shape)
    return matrix(values.astype(np.float32).astype(np.float64)), matrix(values), np.array(labels)


# -------------------------------------------------------------------------------------------------------- losses

class Logistic:
    def value(z, b): return np.logaddexp(0.0, -b * z)
    def slope(z, b): return -b * np.exp(-np.logaddexp(0.0, b * z))
    def second(z, b): return np.exp(-np.logaddexp(0.0, z) - np.logaddexp(0.0, -z))
    def conjugate(a, b):
        y = a * b
        with np.errstate(divide="ignore", invalid="ignore"):
            v = np.where(y > 0, y * np.log(y), 0.0) + np.where(y < 1, (1 - y) * np.log1p(-y), 0.0)
        return np.where((y >= 0) & (y <= 1), v, INF)

class Squared:
    def value(z, b): return 0.5 * (z - b) ** 2
    def slope(z, b): return z - b
    def second(z, b): return np.ones_like(z)
    def conjugate(a, b): return 0.5 * a * a - a * b

class SquaredHinge:
    def value(z, b): return np.maximum(0, 1 - b * z) ** 2
    def slope(z, b): return -2 * b * np.maximum(0, 1 - b * z)
    def second(z, b): return np.where(b * z < 1, 2.0, 0.0)
    def conjugate(a, b):
        y = a * b
        return np.where(y >= 0, 0.25 * y * y - y, INF)

class Hinge:
    def value(z, b): return np.maximum(0, 1 - b * z)
    def conjugate(a, b):
        y = a * b
        return np.where((y >= 0) & (y <= 1), -y, INF)

class Huber:                                                   # delta = 1
    def value(z, b):
        r = np.abs(z - b)
        return np.where(r <= 1, 0.5 * r * r, r - 0.5)
    def slope(z, b): return np.clip(z - b, -1, 1)
    def second(z, b): return np.where(np.abs(z - b) <= 1, 1.0, 0.0)
    def conjugate(a, b): return np.where(np.abs(a) <= 1, 0.5 * a * a - a * b, INF)

LOSSES = {"logistic": Logistic, "squared": Squared, "squared-hinge": SquaredHinge, "hinge": Hinge, "huber": Huber}


# ------------------------------------------------------------------------------------------------------- problem

class Problem:
    """One F. The intercept, if any, is a last column of ones with no penalty and no bounds."""
    def __init__(self, A, b, loss, l1=0.0, l2=0.0, lo=-INF, hi=INF, intercept=False, balanced=False):
        n, d = A.shape
        self.loss, self.b = LOSSES[loss], b
        w = np.where(b > 0, n / (2 * (b > 0).sum()), n / (2 * (b < 0).sum())) if balanced else np.ones(n)
        self.omega = w / w.sum()
        full = lambda v, free: np.append(np.full(d, v), free) if intercept else np.full(d, v)
        self.l1, self.l2, self.lo, self.hi = full(l1, 0.0), full(l2, 0.0), full(lo, -INF), full(hi, INF)
        self.A = sp.csr_matrix(sp.hstack([A, np.ones((n, 1))])) if intercept else A
        self.AT = self.A.T.tocsr()
        self.gram = None

    def primal(self, x, A=None):
        z = (self.A if A is None else A) @ x
        return self.omega @ self.loss.value(z, self.b) + self.l1 @ np.abs(x) + 0.5 * self.l2 @ (x * x)

    def dual_value(self, alpha):
        """D of alpha made feasible: coordinates without any penalty or bound want (A' omega alpha)_j = 0, got by a
        step weighted with the curvature (which keeps alpha in its domain to first order); coordinates with lambda2 = 0
        and no bound want |v_j| <= lambda1, got by scaling alpha."""
        unbounded = (self.lo == -INF) & (self.hi == INF)
        free = (self.l1 == 0) & (self.l2 == 0) & unbounded
        for _ in range(60 if free.any() else 0):
            residual = (self.AT @ (self.omega * alpha))[free]
            if np.abs(residual).max() < 1e-17:
                break
            if self.loss in (Squared, SquaredHinge):
                h = (alpha != 0) * 1.0
            elif self.loss is Huber:
                h = (np.abs(alpha) < 1) * 1.0
            else:
                y = alpha * self.b
                h = y * (1 - y)
            F = self.A[:, np.flatnonzero(free)]
            G = (F.T @ F.multiply((self.omega * h)[:, None])).toarray()
            # Columns without rows leave G singular, and rightly so.
            alpha = alpha - h * (F @ sl.lstsq(G, residual, cond=1e-15)[0])
        v = self.AT @ (self.omega * alpha)
        infeasible = 0.0
        if free.any():
            infeasible = np.abs(v[free]).max()
            v = np.where(free, 0.0, v)
        tight = (self.l2 == 0) & (np.abs(v) > self.l1) & np.where(v > 0, self.hi == INF, self.lo == -INF)
        s = (self.l1[tight] / np.abs(v[tight])).min() if tight.any() else 1.0
        alpha, v = alpha * s, v * s
        excess = np.maximum(np.abs(v) - self.l1, 0.0)
        bound = np.where(v > 0, self.hi, -self.lo)
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.minimum(np.where(excess > 0, excess / self.l2, 0.0), bound)
            r = np.where((excess > 1e-15 * np.abs(v)) & (x > 0), excess * x - 0.5 * self.l2 * x * x, 0.0)
        return -self.omega @ self.loss.conjugate(alpha, self.b) - r.sum(), infeasible


# ------------------------------------------------------------------------------------------------------- solvers

def normal_solve(P, D, E, rhs):
    return normal_factor(P, D, E)(rhs)


def normal_factor(P, D, E):
    """The solver of (diag(E) + A' diag(D) A) s = rhs, by whichever Cholesky is the smaller."""
    n, d = P.A.shape
    if d <= 4000:
        H = (P.AT @ P.A.multiply(D[:, None]).tocsr()).toarray()
        H[np.diag_indices(d)] += E
        scale = 1 / np.sqrt(np.maximum(H.diagonal(), 1e-300))
        H = H * scale * scale[:, None]
        # A relative ridge of rounding size, where it takes one: without any penalty collinear columns leave H singular.
        for ridge in (0.0, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9):
            try:
                c = sl.cho_factor(H + ridge * np.eye(d), check_finite=False)
                return lambda rhs: scale * sl.cho_solve(c, scale * rhs)
            except sl.LinAlgError:
                continue
        raise sl.LinAlgError("singular even with a ridge")
    # Woodbury, scaled symmetrically: I + sqrt(D) A E^-1 A' sqrt(D), E a multiple of 1 (lambda2).
    assert (E == E[0]).all()
    if P.gram is None:
        P.gram = (P.A @ P.AT).toarray()
    root = np.sqrt(D)
    B = P.A.multiply(root[:, None]).tocsr()
    BE = B / E[0]
    K = P.gram * (root / E[0])
    K *= root[:, None]
    K[np.diag_indices(n)] += 1
    c = sl.cho_factor(K, overwrite_a=True, check_finite=False)
    once = lambda r: r / E - BE.T @ sl.cho_solve(c, BE @ r)
    def refined(rhs):
        s = once(rhs)
        return s + once(rhs - E * s - B.T @ (B @ s))
    return refined


def backtrack(P, x, s, decrease, f):
    t = 1.0
    while t > 1e-12:
        new = P.primal(x + t * s)
        if new <= f + 1e-4 * t * decrease + 1e-16 * abs(f):
            return t
        t *= 0.5
    return 0.0


def newton(P):
    """Smooth loss, no lambda1, no bounds. Stops on the Newton decrement; where the optimum is only approached at
    infinity (lambda2 = 0, a column that occurs with one label only) the value still settles, and the dual says so."""
    x = np.zeros(P.A.shape[1])
    best = INF
    for it in range(200):
        z, f = P.A @ x, P.primal(x)
        g = P.AT @ (P.omega * P.loss.slope(z, P.b)) + P.l2 * x
        s = normal_solve(P, P.omega * P.loss.second(z, P.b), np.maximum(P.l2, 0), -g)
        if -(g @ s) < 1e-15 * abs(f) or (it > 30 and f >= best - 1e-15 * abs(best)):
            break
        best = min(best, f)
        t = backtrack(P, x, s, g @ s, f)
        if t == 0.0:
            break
        x = x + t * s
    return x, -P.loss.slope(P.A @ x, P.b), f"damped Newton, {it} steps"


def prox_newton(P):
    """Smooth loss, lambda1 and bounds."""
    d = P.A.shape[1]
    x, z = np.zeros(d), np.zeros(P.A.shape[0])
    for it in range(300):
        g = P.AT @ (P.omega * P.loss.slope(z, P.b)) + P.l2 * x
        # The least-norm subgradient of F at x.
        at = np.where(x > 0, g + P.l1, np.where(x < 0, g - P.l1, np.sign(g) * np.maximum(np.abs(g) - P.l1, 0)))
        at = np.where((x >= P.hi) & (at < 0) | (x <= P.lo) & (at > 0), 0.0, at)
        worst = np.abs(at).max()
        if worst < 1e-15:
            break
        W = np.flatnonzero((x != 0) | (np.abs(at) > 0.1 * worst) | (P.l1 == 0))
        AW = P.A[:, W]
        Q = (AW.T @ AW.multiply((P.omega * P.loss.second(z, P.b))[:, None]).tocsr()).toarray() + np.diag(P.l2[W])
        Q[np.diag_indices(len(W))] += 1e-13 * max(Q.diagonal().max(), 1e-12)
        s = face_descent(Q, g[W], x[W], P.l1[W], P.lo[W], P.hi[W])
        full = np.zeros(d); full[W] = s
        f = P.primal(x)
        decrease = g @ full + P.l1 @ (np.abs(x + full) - np.abs(x))
        t = backtrack(P, x, full, decrease, f)
        if t == 0.0 or (-decrease < 1e-16 * abs(f) and it > 5):
            break
        x = np.clip(x + t * full, P.lo, P.hi)
        z = P.A @ x
    return x, -P.loss.slope(z, P.b), f"prox-Newton, {it} steps, {np.count_nonzero(x)} nonzeros"


def face_descent(Q, g, x, l1, lo, hi):
    """argmin over s of g's + s'Qs/2 + l1|x + s|, lo <= x + s <= hi: coordinate descent, then exact on its face."""
    s, r, diag = np.zeros(len(g)), g.copy(), Q.diagonal()
    for sweep in range(60):
        moved = 0.0
        for j in range(len(g)):
            v = x[j] + s[j] - r[j] / diag[j]
            k = l1[j] / diag[j]
            new = min(max(v - min(max(v, -k), k), lo[j]), hi[j])
            delta = new - x[j] - s[j]
            if delta:
                s[j] += delta
                r += delta * Q[j]
                moved = max(moved, abs(delta) * np.sqrt(diag[j]))
        face = np.flatnonzero(((x + s != 0) | (l1 == 0)) & (x + s > lo) & (x + s < hi))
        if len(face):
            sign = np.sign((x + s)[face])
            step = sl.lstsq(Q[np.ix_(face, face)], -(r[face] + l1[face] * sign), cond=1e-14)[0]
            y = (x + s)[face]
            with np.errstate(divide="ignore", invalid="ignore"):
                ends = np.concatenate([(hi[face] - y)[step > 0] / step[step > 0], (lo[face] - y)[step < 0] / step[step < 0],
                                       (-y / step)[(l1[face] > 0) & (y * step < 0)], [1.0]])
            step *= min(1.0, max(ends.min(), 0.0))
            s[face] += step
            r = g + Q @ s
        if moved < 1e-14:
            break
    return s


def hinge(P):
    """Primal-dual interior point on x = u - v, s = b z - 1 + xi, with alpha s = beta xi = p u = q v = mu,
    alpha + beta = omega, p + q = 2 lambda1. `alpha` here is the multiplier, omega times farrow's."""
    n, d = P.A.shape
    B = P.A.multiply(P.b[:, None]).tocsr(); BT = B.T.tocsr()
    split = P.l1 > 0
    x = np.zeros(d); u = np.ones(d); v = np.ones(d); p = P.l1.copy()
    xi = np.full(n, 1.5); alpha = 0.5 * P.omega; beta = 0.5 * P.omega; q = P.l1.copy()
    s = B @ x - 1 + xi                                        # carried along, so that rounding cannot make it negative
    for it in range(300):
        pairs = n * 2 + 2 * split.sum()
        gap = alpha @ s + beta @ xi + (p * u + q * v)[split].sum()
        dualres = P.l2 * x - BT @ alpha + P.l1 - p
        if gap < 1e-12 and np.abs(dualres).max() < 1e-13 or gap < 1e-15:
            break
        D = 1 / (s / alpha + xi / beta)
        w = np.where(split, u / np.where(split, p, 1) + v / np.where(split, q, 1), INF)
        def direction(mu, second=0.0, third=0.0, fourth=0.0, fifth=0.0):
            tau = (mu - second) / alpha - (mu - third) / beta - s + xi
            t = np.where(split, (mu - fourth) / np.where(split, p, 1) - (mu - fifth) / np.where(split, q, 1) - u + v, 0.0)
            rhs = -dualres + t / w + BT @ (D * tau)
            dx = factor(rhs)
            da = D * (tau - B @ dx)
            ds = (mu - second) / alpha - s - s / alpha * da
            dxi = (mu - third) / beta - xi + xi / beta * da
            dp = np.where(split, (t - dx) / w, 0.0)
            du = np.where(split, ((mu - fourth) - u * p - u * dp) / np.where(split, p, 1), 0.0)
            dv = np.where(split, ((mu - fifth) - v * q + v * dp) / np.where(split, q, 1), 0.0)
            return dx, da, ds, dxi, dp, du, dv
        def longest(da, ds, dxi, dp, du, dv):
            t = 1.0
            for val, dval in ((alpha, da), (beta, -da), (s, ds), (xi, dxi), (u[split], du[split]), (v[split], dv[split]),
                              (p[split], dp[split]), (q[split], -dp[split])):
                neg = dval < 0
                if neg.any():
                    t = min(t, (val[neg] / -dval[neg]).min())
            return t
        mu = gap / pairs
        try:
            factor = normal_factor(P, D, P.l2 + 1 / w)
            dx, da, ds, dxi, dp, du, dv = direction(0.0)
        except (sl.LinAlgError, ValueError):
            break                                              # beyond what f64 resolves: the bracket judges x
        t = longest(da, ds, dxi, dp, du, dv)
        after = ((alpha + t * da) @ (s + t * ds) + (beta - t * da) @ (xi + t * dxi)
                 + ((p + t * dp) * (u + t * du) + (q - t * dp) * (v + t * dv))[split].sum()) / pairs
        sigma = (after / mu) ** 3
        dx, da, ds, dxi, dp, du, dv = direction(sigma * mu, ds * da, -dxi * da, du * dp, -dv * dp)
        t = min(1.0, 0.995 * longest(da, ds, dxi, dp, du, dv))
        x = x + t * dx; alpha = alpha + t * da; beta = beta - t * da; xi = xi + t * dxi; s = s + t * ds
        u = u + t * du; v = v + t * dv; p = p + t * dp; q = q - t * dp
        # u - v = x exactly: the larger of the two absorbs what rounding took.
        u = np.where(split & (x > 0), x + v, u); v = np.where(split & (x <= 0), u - x, v)
        if t < 1e-10:
            break
    if split.any():
        x = np.where(split & (np.abs(x) < 1e-9), 0.0, x)
    return x, np.clip(alpha / P.omega, 0, 1) * P.b, f"interior point, {it} steps"


# ------------------------------------------------------------------------------------------------------ problems

def problems(name):
    """(name, settings of Problem, --l2 as farrow takes it)."""
    small = name in ("sparse", "dense")
    classes = [] if name == "dense" else ["logistic", "hinge", "squared-hinge"]
    regression = [] if name == "spam" else ["squared", "huber"]
    if name == "spam":
        # Not hinge: with d >> n the interior point here does not come to a bracket of 1e-9.
        return [("logistic l2", dict(loss="logistic", l2="1/n")),
                ("logistic l1 1e-3", dict(loss="logistic", l1=1e-3)), ("logistic l1 1e-4", dict(loss="logistic", l1=1e-4))]
    out = [(f"{loss} l2", dict(loss=loss, l2="1/n")) for loss in classes + regression]
    a, b = (3e-3, 3e-2) if small else (1e-4, 1e-3)
    if classes:
        out += [(f"logistic l1 {a:g}", dict(loss="logistic", l1=a)), (f"logistic l1 {b:g}", dict(loss="logistic", l1=b)),
                ("logistic elastic net", dict(loss="logistic", l1=a, l2=a)),
                ("hinge elastic net", dict(loss="hinge", l1=a, l2=a)),
                ("squared-hinge elastic net", dict(loss="squared-hinge", l1=a, l2=a)),
                ("logistic without penalty", dict(loss="logistic")),
                ("logistic non-negative", dict(loss="logistic", l2="1/n", lo=0.0)),
                ("logistic l1 one-sided", dict(loss="logistic", l1=a, lo=-0.25)),
                ("logistic box", dict(loss="logistic", lo=-0.25, hi=0.5)),
                ("logistic l2 intercept", dict(loss="logistic", l2="1/n", intercept=True)),
                ("hinge l2 intercept", dict(loss="hinge", l2="1/n", intercept=True)),
                ("logistic l1 intercept", dict(loss="logistic", l1=b, intercept=True)),
                ("logistic l2 balanced", dict(loss="logistic", l2="1/n", balanced=True)),
                ("hinge l2 balanced", dict(loss="hinge", l2="1/n", balanced=True))]
    out += [("squared l1", dict(loss="squared", l1=b)), ("squared elastic net", dict(loss="squared", l1=a, l2=a)),
            ("huber elastic net", dict(loss="huber", l1=a, l2=a)),
            ("squared without penalty", dict(loss="squared")),
            ("squared non-negative", dict(loss="squared", l2="1/n", lo=0.0)),
            ("squared box", dict(loss="squared", l2="1/n", lo=-0.1, hi=0.2)),
            ("squared l2 intercept", dict(loss="squared", l2="1/n", intercept=True)),
            ("huber l2 intercept", dict(loss="huber", l2="1/n", intercept=True))]
    return out


def solve(name, label, settings, A, exact, b):
    n = A.shape[0]
    s = dict(settings)
    s["l2"] = 1 / n if s.get("l2") == "1/n" else s.get("l2", 0.0)
    P = Problem(A, b, **s)
    composite = (P.l1 > 0).any() or (P.lo > -INF).any() or (P.hi < INF).any()
    began = time.time()
    x, alpha, how = hinge(P) if s["loss"] == "hinge" else prox_newton(P) if composite else newton(P)
    primal = P.primal(x)
    dual, infeasible = P.dual_value(alpha)
    X = sp.hstack([exact, np.ones((n, 1))]).tocsr() if s.get("intercept") else exact
    width = (primal - dual) / abs(primal)
    print(f"{name:7s} {label:28s} {primal:.13f}  relative bracket {width:9.2e}  infeasible {infeasible:.0e}  f64 "
          f"{abs(P.primal(x, X) - primal):.0e}  |x| {np.linalg.norm(x):.3g}  {how}  {time.time() - began:.1f} s", flush=True)
    ok = -1e-12 < width < 1e-9 and infeasible < 1e-13
    return ok, {"set": name, "problem": label, "loss": s["loss"], "l1": s.get("l1", 0.0), "l2": settings.get("l2", 0.0),
            "lo": None if s.get("lo", -INF) == -INF else s["lo"], "hi": None if s.get("hi", INF) == INF else s["hi"],
            "intercept": s.get("intercept", False), "balanced": s.get("balanced", False),
            "objective": primal, "dual": dual, "f64_change": abs(P.primal(x, X) - primal), "how": how}


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("-")]
    if "--generate" in sys.argv:
        generate()
    bad = 0
    for name in args or SETS:
        path = os.path.join(ROOT, SETS[name])
        if not os.path.exists(path):
            print(f"{name}: {path} is not here, its entries are kept as they are")
            continue
        A, exact, b = load(path)
        entries = []
        for label, settings in problems(name):
            ok, entry = solve(name, label, settings, A, exact, b)
            if ok:
                entries.append(entry)
            else:
                bad += 1
                print(f"{name} {label}: REFUSED, its bracket is too wide")
        write(name, {"file": SETS[name], "n": A.shape[0], "d": A.shape[1], "nnz": int(A.nnz)}, entries)
    sys.exit(1 if bad else 0)


def write(name, described, entries):
    """Puts the entries of one set in the place of its old ones."""
    table = json.load(open(OUT)) if os.path.exists(OUT) else {"sets": {}, "optima": []}
    table["sets"][name] = described
    table["optima"] = [e for e in table["optima"] if e["set"] != name] + entries
    table["optima"].sort(key=lambda e: list(SETS).index(e["set"]))
    with open(OUT, "w") as f:
        sets = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in table["sets"].items())
        optima = ",\n".join("  " + json.dumps(e) for e in table["optima"])
        f.write('{\n "about": "Made by tests/reference/optima.py, which says how. objective and dual enclose the least F.",\n'
                f' "sets": {{\n{sets}\n }},\n "optima": [\n{optima}\n ]\n}}\n')


if __name__ == "__main__":
    main()
