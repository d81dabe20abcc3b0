"""The optimum of the hinge problem by its dual: coordinate ascent over rows, then Newton steps on the free ones.

Dual: with t in [0, 1]^n and w = A'(b t) / (n l2), D(t) = mean(t) - (l2/2)|w|^2. Every t gives a lower bound and, by its w, an
upper one.
"""
import time

import numba
import numpy as np

from . import interior, problems

GOAL = 1e-11


@numba.njit(cache=True)
def sweep(start, columns, values, b, squares, scale, t, w, order):
    """One pass over the rows in `order`; returns how far the optimality conditions were broken at most."""
    worst = 0.0
    for i in order:
        z = 0.0
        for k in range(start[i], start[i + 1]):
            z += values[k] * w[columns[k]]
        slope = b[i] * z - 1.0
        if (t[i] > 0.0 or slope < 0.0) and (t[i] < 1.0 or slope > 0.0):
            worst = max(worst, abs(slope))
            if squares[i] > 0.0:
                new = min(max(t[i] - slope * scale / squares[i], 0.0), 1.0)
            else:
                new = 1.0
            move = (new - t[i]) * b[i] / scale
            t[i] = new
            for k in range(start[i], start[i + 1]):
                w[columns[k]] += move * values[k]
    return worst


def solve(problem, A, b, seconds):
    """(lower, upper, how)."""
    if A.shape[1] <= interior.MOST_COLUMNS:
        return few_columns(problem, A, b, seconds)
    return many_columns(problem, A, b, seconds)


def few_columns(problem, A, b, seconds):
    """By the interior-point method."""
    ends, deadline = [-np.inf, np.inf, 0], time.monotonic() + seconds

    def stop(t):
        ends[0] = max(ends[0], problems.dual_objective(problem, A, b, b * t))
        ends[1] = min(ends[1], problems.objective(problem, A, b, A.T @ (b * t) / (problem.n * problem.l2)))
        ends[2] += 1
        return ends[1] - ends[0] <= GOAL * abs(ends[1]) or time.monotonic() > deadline

    interior.solve(problem, A, b, stop)
    return min(ends[0], ends[1]), ends[1], f"interior-point method on the dual, {ends[2]} steps"


def many_columns(problem, A, b, seconds):
    """By coordinate ascent and polishing."""
    n, scale = problem.n, problem.n * problem.l2
    squares = np.asarray(A.multiply(A).sum(axis=1)).ravel()
    t, rng, deadline = np.zeros(n), np.random.default_rng(0), time.monotonic() + seconds
    w = np.zeros(A.shape[1])
    lower, upper, passes, polishes = -np.inf, np.inf, 0, 0
    while time.monotonic() < deadline:
        for _ in range(10):
            sweep(A.indptr, A.indices, A.data, b, squares, scale, t, w, rng.permutation(n))
        passes += 10
        visit_free(A, b, squares, scale, t, w, rng)
        t, steps = polish(problem, A, b, t)
        polishes += steps
        w = A.T @ (b * t) / scale
        upper = min(upper, problems.objective(problem, A, b, w))
        lower = max(lower, problems.dual_objective(problem, A, b, b * t))
        if upper - lower <= GOAL * abs(upper):
            break
    return min(lower, upper), upper, f"dual coordinate ascent, {passes} passes and {polishes} Newton-CG steps"


def visit_free(A, b, squares, scale, t, w, rng):
    """Sweeps over the rows that are free or break the conditions, many times for the price of one pass."""
    margins = b * (A @ w)
    free = np.flatnonzero(((t > 0) & (t < 1)) | ((t <= 0) & (margins < 1)) | ((t >= 1) & (margins > 1)))
    for _ in range(min(200, 5 * len(t) // max(1, len(free)))):
        sweep(A.indptr, A.indices, A.data, b, squares, scale, t, w, rng.permutation(free))


def polish(problem, A, b, t, rounds=20):
    """Projected Newton steps on the free rows: conjugate gradients on their block of the dual, bounds kept by projection."""
    scale, done = problem.n * problem.l2, 0
    value = problems.dual_objective(problem, A, b, b * t)
    for _ in range(rounds):
        w = A.T @ (b * t) / scale
        slope = 1.0 - b * (A @ w)
        free = np.flatnonzero(((t > 0) | (slope > 0)) & ((t < 1) | (slope < 0)))
        if len(free) == 0:
            break
        direction = damped_solve(A[free].multiply(b[free, None]).tocsr(), scale, slope[free])
        size, better = 1.0, False
        while size > 1e-4 and not better:
            trial = t.copy()
            trial[free] = np.clip(t[free] + size * direction, 0.0, 1.0)
            new = problems.dual_objective(problem, A, b, b * trial)
            better = new > value
            size *= 0.5
        if not better:
            break
        gain, t, value, done = new - value, trial, new, done + 1
        if gain <= 1e-14 * abs(value):
            break
    return t, done


def damped_solve(G, scale, right, limit=300):
    """Conjugate gradients on GG'/scale, perhaps singular: stops at a small residual or where a direction has no curvature left."""
    Gt = G.T.tocsr()
    x, r = np.zeros_like(right), right.copy()
    p, rr = r.copy(), r @ r
    goal = 1e-20 * rr
    for _ in range(limit):
        q = G @ (Gt @ p) / scale
        curvature = p @ q
        if rr <= goal or curvature <= 1e-14 * (p @ p):
            break
        a = rr / curvature
        x += a * p
        r -= a * q
        rr, old = r @ r, rr
        p = r + (rr / old) * p
    return x
