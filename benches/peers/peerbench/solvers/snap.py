"""Snap ML: coordinate methods with a copy of the model a thread (SySCD)."""
import numpy as np

from ..solver import Solver


def model_of(task, dual):
    """The class and arguments for a problem; its `regularizer` weighs |w|^2/2 against the sum of losses."""
    import snapml
    common = {"regularizer": task.problem.n * task.problem.l2, "n_jobs": task.threads, "tol": 1e-14, "fit_intercept": False,
              "random_state": 0}
    if task.problem.loss == "hinge":
        return snapml.SupportVectorMachine, dict(common, loss="hinge")
    kind = snapml.LogisticRegression if task.problem.loss == "logistic" else snapml.LinearRegression
    return kind, dict(common, dual=dual)


def make(dual):
    """A `prepare` for the dual or the primal solver; rows in single precision, as it keeps them."""
    def prepare(task):
        kind, arguments = model_of(task, dual)
        if task.b is None:  # Snap ML's own reader gives it rows and labels in one
            given = (task.A,)
        else:
            given = (task.rows(np.float32), task.b.astype(np.float32))

        def run(work):
            model = kind(max_iter=work, **arguments)
            model.fit(*given)
            return np.asarray(model.coef_, dtype=np.float64).ravel()[:task.problem.d]
        return run
    return prepare


SOLVERS = [
    Solver("snapml-dual", "snapml", ("logistic", "ridge"), make(True), "LogisticRegression / LinearRegression(dual=True, n_jobs=THREADS)",
           "passes", threads=True, reader="snapml"),
    Solver("snapml-primal", "snapml", ("logistic", "ridge"), make(False), "the same with dual=False", "passes", threads=True,
           reader="sklearn"),
    Solver("snapml-svm", "snapml", ("hinge",), make(True), "SupportVectorMachine(loss='hinge', n_jobs=THREADS)", "passes", threads=True,
           reader="snapml"),
]
