"""skglm and celer: working sets of columns with extrapolation (Anderson), and L-BFGS."""
from ..solver import Solver


def lbfgs(task):
    """skglm's L-BFGS."""
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic
    from skglm.penalties import L2
    from skglm.solvers import LBFGS
    columns = task.columns()

    def run(work):
        solver = LBFGS(max_iter=work, tol=1e-14)
        solver.fit_intercept = solver.warm_start = False
        return GeneralizedLinearEstimator(Logistic(), L2(task.problem.l2), solver).fit(columns, task.b).coef_.ravel()
    run(1)  # compiles
    return run


def working_set(task):
    """skglm's AndersonCD for the squared loss, ProxNewton for the logistic one, with L1_plus_L2."""
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic, Quadratic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import AndersonCD, ProxNewton
    columns = task.columns()
    kind, datafit = (ProxNewton, Logistic) if task.problem.loss == "logistic" else (AndersonCD, Quadratic)

    def run(work):
        solver = kind(max_iter=work, tol=1e-14, fit_intercept=False)
        penalty = L1_plus_L2(task.strength, task.ratio)
        return GeneralizedLinearEstimator(datafit(), penalty, solver).fit(columns, task.b).coef_.ravel()
    run(1)  # compiles
    return run


def celer(task):
    """celer's ElasticNet; its tolerance is on the duality gap, so that it and not the number of working sets is the work."""
    from celer import ElasticNet
    columns = task.columns()

    def run(work):
        model = ElasticNet(alpha=task.strength, l1_ratio=task.ratio, fit_intercept=False, tol=10.0 ** (-work / 4.0), max_iter=1000)
        return model.fit(columns, task.b).coef_.ravel()
    return run


NETS = ("logistic-elastic-net", "squared-elastic-net")
SOLVERS = [
    Solver("skglm-lbfgs", "skglm", ("logistic",), lbfgs, "LBFGS with the penalty L2; compiled before the clock starts"),
    Solver("skglm-cd", "skglm", NETS, working_set, "AndersonCD (squared), ProxNewton (logistic) with L1_plus_L2; compiled before the clock "
           "starts"),
    Solver("celer", "celer", ("squared-elastic-net",), celer, "ElasticNet(max_iter=1000); tol falls", "tolerance", most_work=60),
]
