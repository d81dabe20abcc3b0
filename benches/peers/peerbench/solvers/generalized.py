"""glum: generalised linear models by iteratively reweighted least squares and coordinate descent."""
import numpy as np

from ..solver import Solver, few_columns


def make(solver):
    """A `prepare` for a solver of GeneralizedLinearRegressor."""
    def prepare(task):
        from glum import GeneralizedLinearRegressor
        logistic = task.problem.loss == "logistic"
        columns, labels = task.columns(), (task.b + 1.0) / 2.0 if logistic else task.b
        family = "binomial" if logistic else "normal"

        def run(work):
            model = GeneralizedLinearRegressor(family=family, alpha=task.strength, l1_ratio=task.ratio, fit_intercept=False, solver=solver,
                                               max_iter=work, gradient_tol=1e-13, scale_predictors=False)
            return np.asarray(model.fit(columns, labels).coef_, dtype=np.float64).ravel()
        return run
    return prepare


BOTH = ("logistic", "ridge")
NETS = ("logistic-elastic-net", "squared-elastic-net")
SOLVERS = [
    Solver("glum-irls-ls", "glum", BOTH, make("irls-ls"), "solver='irls-ls', d <= 5000, since it keeps a d x d matrix", fits=few_columns),
    Solver("glum-lbfgs", "glum", BOTH, make("lbfgs"), "solver='lbfgs'"),
    Solver("glum-irls-cd", "glum", NETS, make("irls-cd"), "solver='irls-cd', d <= 5000, since it keeps a d x d matrix", fits=few_columns),
]
