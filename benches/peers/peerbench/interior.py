"""The optimum of the hinge problem with few columns: a primal-dual interior-point method on the dual.

With G = diag(b) A and s = n l2 the dual is min |G't|^2 / (2 s) - 1't over 0 <= t <= 1, with multipliers p >= 0 of t >= 0 and
q >= 0 of t <= 1. A Newton step needs a factor of the d x d matrix s I + G' D^-1 G, D = p/t + q/(1-t) (Ferris & Munson 2002).
"""
import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

MOST_COLUMNS = 2000


def solve(problem, A, b, stop, steps=100):
    """Dual points t, better and better, until `stop(t)` says so; returns the last."""
    s, n = problem.n * problem.l2, problem.n
    G = A.multiply(b[:, None]).tocsr()
    G = G.toarray() if A.nnz > 0.5 * n * A.shape[1] else G
    t, p, q = np.full(n, 0.5), np.ones(n), np.ones(n)
    for _ in range(steps):
        if stop(t):
            break
        residual = 1.0 - G @ (G.T @ t) / s + p - q
        mean = (p @ t + q @ (1.0 - t)) / (2 * n)
        solve_with = factor(G, s, p / t + q / (1.0 - t))
        # Predictor, then the centring that its progress asks for (Mehrotra 1992).
        dt, dp, dq = direction(solve_with, residual, t, p, q, -p * t, -q * (1.0 - t))
        size = length(t, p, q, dt, dp, dq)
        ahead = ((p + size * dp) @ (t + size * dt) + (q + size * dq) @ (1.0 - t - size * dt)) / (2 * n)
        centre = mean * (ahead / mean) ** 3
        dt, dp, dq = direction(solve_with, residual, t, p, q, centre - p * t - dp * dt, centre - q * (1.0 - t) + dq * dt)
        size = 0.995 * length(t, p, q, dt, dp, dq)
        t, p, q = t + size * dt, p + size * dp, q + size * dq
    return t


def factor(G, s, diagonal):
    """Solver of (GG'/s + diag(diagonal)) x = r by the identity of Woodbury."""
    inverse = 1.0 / diagonal
    weighted = G.multiply(inverse[:, None]).tocsr() if sp.issparse(G) else G * inverse[:, None]
    small = G.T @ weighted
    small = small.toarray() if sp.issparse(small) else small
    small[np.diag_indices_from(small)] += s
    factored = cho_factor(small)

    def apply(r):
        scaled = inverse * r
        return scaled - inverse * (G @ cho_solve(factored, G.T @ scaled))
    return apply


def direction(solve_with, residual, t, p, q, low, high):
    """The Newton direction for complementarity right sides `low` (of p and t) and `high` (of q and 1 - t)."""
    dt = solve_with(residual + low / t - high / (1.0 - t))
    return dt, (low - p * dt) / t, (high + q * dt) / (1.0 - t)


def length(t, p, q, dt, dp, dq):
    """The longest step, at most 1, that keeps t, 1 - t, p and q above 0."""
    size = 1.0
    for value, change in ((t, dt), (1.0 - t, -dt), (p, dp), (q, dq)):
        falling = change < 0
        if falling.any():
            size = min(size, float((-value[falling] / change[falling]).min()))
    return size
