"""tick: stochastic variance-reduced methods, several threads on one shared model."""
import numpy as np

from ..solver import Solver


def make(kind):
    """A `prepare` for SVRG or SAGA with the step 1/L."""
    def prepare(task):
        from tick.linear_model import ModelLinReg, ModelLogReg
        from tick.prox import ProxElasticNet, ProxL2Sq
        from tick.solver import SAGA, SVRG
        rows = task.rows()
        model = (ModelLogReg if task.problem.loss == "logistic" else ModelLinReg)(fit_intercept=False).fit(rows, task.b)
        prox = ProxElasticNet(task.strength, task.ratio) if task.problem.l1 > 0 else ProxL2Sq(task.problem.l2)
        step = 1.0 / (model.get_lip_max() + task.problem.l2)
        method = {"svrg": SVRG, "saga": SAGA}[kind]

        def run(work):
            solver = method(step=step, tol=0, max_iter=work, verbose=False, record_every=10**9, seed=1, n_threads=task.threads)
            solver.set_model(model).set_prox(prox).solve(np.zeros(task.A.shape[1]))
            return np.asarray(solver.solution).ravel()
        return run
    return prepare


PROBLEMS = ("logistic", "ridge", "logistic-elastic-net", "squared-elastic-net")
SOLVERS = [
    Solver("tick-svrg", "tick", PROBLEMS, make("svrg"), "SVRG(step=1/L, n_threads=THREADS)", "passes", threads=True),
    Solver("tick-saga", "tick", PROBLEMS, make("saga"), "SAGA(step=1/L, n_threads=THREADS)", "passes", threads=True),
]
