"""The problems: F(w) = (1/n) sum phi(z_i, b_i) + l1 |w|_1 + (l2/2) |w|^2 with z = A w and no intercept.

phi is log(1 + exp(-b z)), max(0, 1 - b z) or (z - b)^2 / 2. Labels b are -1 and 1 for the first two.
"""
from dataclasses import asdict, dataclass

import numpy as np
from scipy.special import xlogy


@dataclass(frozen=True)
class Problem:
    """One problem on one data set, its penalties as numbers."""

    name: str
    loss: str
    l1: float
    l2: float
    n: int
    d: int

    def as_dict(self):
        """For JSON."""
        return asdict(self)

    @property
    def classifies(self):
        """Whether labels must be two classes."""
        return self.loss != "squared"


def make(name, A, b, l1_fraction):
    """The problem of that name: l2 = 1/n everywhere, l1 = fraction of the smallest that makes w = 0 optimal."""
    n, d = A.shape
    loss = {"logistic": "logistic", "hinge": "hinge", "ridge": "squared", "logistic-elastic-net": "logistic",
            "squared-elastic-net": "squared"}[name]
    l1 = 0.0
    if name.endswith("elastic-net"):
        slope = 0.5 * b if loss == "logistic" else b
        l1 = float(f"{l1_fraction * np.abs(A.T @ slope).max() / n:.3g}")
    return Problem(name, loss, l1, 1.0 / n, n, d)


def loss_values(problem, z, b):
    """phi(z_i, b_i) of every row."""
    if problem.loss == "logistic":
        return np.logaddexp(0.0, -b * z)
    if problem.loss == "hinge":
        return np.maximum(0.0, 1.0 - b * z)
    return 0.5 * (z - b) ** 2


def loss_slopes(problem, z, b):
    """phi'(z_i, b_i) of every row; a smooth loss."""
    if problem.loss == "logistic":
        return -0.5 * b * (1.0 - np.tanh(0.5 * b * z))
    return z - b


def loss_curvatures(problem, z, b):
    """phi''(z_i, b_i) of every row; a smooth loss."""
    if problem.loss == "logistic":
        return 0.25 * (1.0 - np.tanh(0.5 * b * z) ** 2)
    return np.ones_like(z)


def objective(problem, A, b, w):
    """F(w), in double precision."""
    penalty = problem.l1 * np.abs(w).sum() + 0.5 * problem.l2 * (w @ w)
    return float(loss_values(problem, A @ w, b).mean() + penalty)


def dual_objective(problem, A, b, alpha):
    """The dual value of alpha, a lower bound of F whatever alpha is; A'alpha/n replaces w (Fenchel duality).

    D = -(1/n) sum phi*(-alpha_i) - |S(A'alpha/n, l1)|^2 / (2 l2), with S the soft threshold. With t = b alpha, the first term
    is the mean of -t log t - (1-t) log(1-t) for the logistic loss (t in [0, 1]), of t for hinge (t in [0, 1]) and of
    b alpha - alpha^2/2 for the squared loss.
    """
    if problem.loss == "squared":
        mean = (b * alpha - 0.5 * alpha * alpha).mean()
    else:
        t = np.clip(b * alpha, 0.0, 1.0)
        alpha = b * t
        mean = t.mean() if problem.loss == "hinge" else (-xlogy(t, t) - xlogy(1.0 - t, 1.0 - t)).mean()
    v = np.asarray(A.T @ alpha).ravel() / problem.n
    v = np.sign(v) * np.maximum(np.abs(v) - problem.l1, 0.0)
    return float(mean - (v @ v) / (2.0 * problem.l2))


def accuracy(problem, A, b, w):
    """Share of rows on the right side, or R^2 where labels are not classes."""
    z = A @ w
    if set(np.unique(b)) <= {-1.0, 1.0}:
        return float(np.mean(np.where(z > 0, 1.0, -1.0) == b))
    return float(1.0 - np.sum((z - b) ** 2) / np.sum((b - b.mean()) ** 2))
