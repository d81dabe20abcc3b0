"""Reference optima: each is a bracket [lower, upper] that is recomputed here from the data, with no code of farrow.

lower is the dual value of some dual point, upper the objective of some point, so F* lies between whatever solver found them.
"""
import hashlib
import json
import time

import numpy as np

from . import hinge, problems

GOAL = 1e-11


def bracket(problem, A, b, folder, seconds):
    """{"lower":, "upper":, "width": relative, "how":, "seconds":}, from the cache in `folder` if it is there and good."""
    key = hashlib.sha256(json.dumps(problem.as_dict(), sort_keys=True).encode()).hexdigest()[:10]
    path = folder / f"optimum-{problem.name}-{key}.json"
    if path.exists():
        known = json.loads(path.read_text())
        if known["width"] <= 1e-10 or known["seconds"] >= 0.9 * seconds:
            return known
    started = time.monotonic()
    lower, upper, how = (hinge.solve if problem.loss == "hinge" else newton)(problem, A, b, seconds)
    result = {"lower": lower, "upper": upper, "width": (upper - lower) / abs(upper), "how": how,
              "seconds": round(time.monotonic() - started, 1)}
    path.write_text(json.dumps(result))
    return result


def newton(problem, A, b, seconds):
    """Newton's method on the coefficients that are or want to be nonzero, steps by conjugate gradients, until the gap is small.

    With l1 > 0 a step minimises the quadratic model on the orthant of the current signs, and coefficients that would change
    sign stop at 0 (Andrew & Gao 2007 with a Newton direction). The dual point is -phi'(A w).
    """
    w, At, deadline = np.zeros(A.shape[1]), A.T.tocsr(), time.monotonic() + seconds
    lower, upper, steps = -np.inf, np.inf, 0
    while True:
        z = A @ w
        slopes = problems.loss_slopes(problem, z, b)
        upper = min(upper, problems.objective(problem, A, b, w))
        lower = max(lower, problems.dual_objective(problem, A, b, -slopes))
        if upper - lower <= GOAL * abs(upper) or time.monotonic() > deadline:
            break
        gradient = At @ slopes / problem.n + problem.l2 * w
        moved = step(problem, A, At, b, w, z, gradient)
        if moved is None:
            break
        w, steps = moved, steps + 1
    # Rounding can leave the two ends a few ulps the wrong way round.
    return min(lower, upper), upper, f"Newton-CG, {steps} steps, dual of -phi'(Aw)"


def step(problem, A, At, b, w, z, gradient):
    """The next point, or None where the line search finds nothing better."""
    signs = np.where(w != 0, np.sign(w), -np.sign(gradient)) if problem.l1 > 0 else np.zeros_like(w)
    active = (w != 0) | (np.abs(gradient) > problem.l1)
    slope = np.where(active, gradient + problem.l1 * signs, 0.0)
    curvature = problems.loss_curvatures(problem, z, b) / problem.n

    def hessian(v):
        return np.where(active, At @ (curvature * (A @ v)) + problem.l2 * v, 0.0)

    direction = conjugate_gradients(hessian, -slope)
    before, size = problems.objective(problem, A, b, w), 1.0
    while size > 1e-9:
        trial = w + size * direction
        if problem.l1 > 0:
            trial = np.where(trial * signs > 0, trial, 0.0)
        if problems.objective(problem, A, b, trial) < before:
            return trial
        size *= 0.5
    return None


def conjugate_gradients(product, right, limit=1000):
    """Solves product(x) = right to a residual that falls with the gradient, so that Newton's method ends quadratically."""
    x, r = np.zeros_like(right), right.copy()
    p, rr = r.copy(), r @ r
    goal = rr * min(1e-4, rr)
    for _ in range(limit):
        if rr <= max(goal, 1e-40):
            break
        q = product(p)
        a = rr / (p @ q)
        x += a * p
        r -= a * q
        rr, old = r @ r, rr
        p = r + (rr / old) * p
    return x
