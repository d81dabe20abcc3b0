"""What the bench knows of a peer, and the list of all."""
import importlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import data

MODULES = ("liblinear", "scikit", "snap", "generalized", "coordinate", "ticks", "lightnings", "wabbit")
SMOOTH = ("logistic", "ridge")


@dataclass(frozen=True)
class Solver:
    """A peer at one setting.

    `prepare(task)` returns a function of the amount of work (an int from 1 up) that fits from scratch and returns w. What a
    library does to data once it is loaded belongs into `prepare`; what it does in every fit, into the function.
    """

    name: str
    package: str
    problems: tuple
    prepare: Callable
    setting: str
    knob: str = "iterations"
    threads: bool = False
    reader: str = "sklearn"
    most_work: int = 100_000
    fits: Callable = None

    def can(self, problem_name, shape):
        """Whether it is run on this problem and shape of data."""
        return problem_name in self.problems and (self.fits is None or self.fits(shape))


@dataclass
class Task:
    """What a solver is given."""

    A: object
    b: np.ndarray
    problem: object
    threads: int
    folder: object

    @property
    def dense(self):
        """Whether rows should go over as a dense array."""
        return data.is_dense(self.A)

    def rows(self, dtype=np.float64):
        """Rows in C order or CSR."""
        return np.ascontiguousarray(self.A.toarray(), dtype=dtype) if self.dense else self.A.astype(dtype)

    def columns(self, dtype=np.float64):
        """Columns in Fortran order or CSC."""
        return np.asfortranarray(self.A.toarray(), dtype=dtype) if self.dense else self.A.tocsc().astype(dtype)

    @property
    def strength(self):
        """l1 + l2, as libraries that mix penalties count it."""
        return self.problem.l1 + self.problem.l2

    @property
    def ratio(self):
        """l1 / (l1 + l2)."""
        return self.problem.l1 / self.strength

    @property
    def cost(self):
        """C of libraries that minimise |w|^2/2 + C sum phi."""
        return 1.0 / (self.problem.n * self.problem.l2)


def few_columns(shape):
    """For methods that factor a d x d matrix in every step."""
    return shape["d"] <= 5000


def every():
    """All solvers."""
    return [solver for name in MODULES for solver in importlib.import_module(f"peerbench.solvers.{name}").SOLVERS]


def by_name(name):
    """The solver of that name."""
    return next(solver for solver in every() if solver.name == name)


def chosen(prefixes):
    """The solvers whose names begin with one of `prefixes` (all for None); ends the program on one that matches none."""
    solvers = every()
    for prefix in prefixes or []:
        if not any(solver.name.startswith(prefix) for solver in solvers):
            raise SystemExit(f"--peers {prefix}: no solver's name begins so; there are {', '.join(s.name for s in solvers)}")
    return [s for s in solvers if prefixes is None or any(s.name.startswith(prefix) for prefix in prefixes)]
