"""scikit-learn."""
import numpy as np

from ..solver import Solver, few_columns

ELASTIC = "logistic-elastic-net"


def logistic(solver, dtype=np.float64):
    """LogisticRegression; l1 / l2 by l1_ratio, which only saga takes above 0."""
    def prepare(task):
        from sklearn.linear_model import LogisticRegression
        rows, b = task.rows(dtype), task.b.astype(dtype)
        cost, ratio = 1.0 / (task.problem.n * task.strength), task.ratio

        def run(work):
            model = LogisticRegression(C=cost, l1_ratio=ratio, solver=solver, fit_intercept=False, tol=1e-14, max_iter=work,
                                       random_state=0)
            return model.fit(rows, b).coef_.ravel()
        return run
    return prepare


def ridge(solver, direct=False):
    """Ridge; alpha is the weight of |w|^2 against sum r^2, so n l2. A direct method has no work to choose."""
    def prepare(task):
        from sklearn.linear_model import Ridge
        rows = task.rows()

        def run(work):
            model = Ridge(alpha=task.problem.n * task.problem.l2, solver=solver, fit_intercept=False, tol=1e-14,
                          max_iter=None if direct else work, random_state=0)
            return model.fit(rows, task.b).coef_.ravel()
        return run
    return prepare


def linear_svc(task):
    """LinearSVC with the hinge loss: LIBLINEAR -s 3 inside, with a cap on passes."""
    from sklearn.svm import LinearSVC
    rows = task.rows()

    def run(work):
        model = LinearSVC(loss="hinge", C=task.cost, fit_intercept=False, tol=1e-14, max_iter=work, random_state=0, dual=True)
        return model.fit(rows, task.b).coef_.ravel()
    return run


def sgd(average):
    """SGDClassifier with its schedule 'optimal', with and without averaged iterates."""
    losses = {"logistic": "log_loss", "hinge": "hinge"}

    def prepare(task):
        from sklearn.linear_model import SGDClassifier
        rows = task.rows()

        def run(work):
            model = SGDClassifier(loss=losses[task.problem.loss], alpha=task.problem.l2, fit_intercept=False, max_iter=work, tol=None,
                                  random_state=0, average=average)
            return model.fit(rows, task.b).coef_.ravel()
        return run
    return prepare


def elastic_net(task):
    """ElasticNet, coordinate descent over columns; a Gram matrix where there are few."""
    from sklearn.linear_model import ElasticNet
    columns = task.columns()
    gram = task.dense and task.A.shape[0] > task.A.shape[1]

    def run(work):
        model = ElasticNet(alpha=task.strength, l1_ratio=task.ratio, fit_intercept=False, tol=1e-14, max_iter=work, precompute=gram)
        return model.fit(columns, task.b).coef_.ravel()
    return run


P = "scikit-learn"
SOLVERS = [
    Solver("sklearn-lbfgs", P, ("logistic",), logistic("lbfgs"), "LogisticRegression(solver='lbfgs'), f64"),
    Solver("sklearn-lbfgs-f32", P, ("logistic",), logistic("lbfgs", np.float32), "the same on f32 rows"),
    Solver("sklearn-newton-cg", P, ("logistic",), logistic("newton-cg"), "LogisticRegression(solver='newton-cg')"),
    Solver("sklearn-newton-cholesky", P, ("logistic",), logistic("newton-cholesky"), "LogisticRegression(solver='newton-cholesky'); "
           "d <= 5000, since it factors a d x d matrix", fits=few_columns),
    Solver("sklearn-sag", P, ("logistic",), logistic("sag"), "LogisticRegression(solver='sag')", "passes"),
    Solver("sklearn-saga", P, ("logistic", ELASTIC), logistic("saga"), "LogisticRegression(solver='saga', l1_ratio=l1/(l1+l2)), f64",
           "passes"),
    Solver("sklearn-saga-f32", P, ("logistic", ELASTIC), logistic("saga", np.float32), "the same on f32 rows", "passes"),
    Solver("sklearn-sgd", P, ("logistic", "hinge"), sgd(False), "SGDClassifier(learning_rate='optimal')", "passes"),
    Solver("sklearn-asgd", P, ("logistic", "hinge"), sgd(True), "SGDClassifier(learning_rate='optimal', average=True)", "passes"),
    Solver("sklearn-linearsvc", P, ("hinge",), linear_svc, "LinearSVC(loss='hinge')", "passes"),
    Solver("sklearn-ridge-cholesky", P, ("ridge",), ridge("cholesky", True), "Ridge(solver='cholesky'): direct; n or d <= 5000",
           "none: direct", most_work=1, fits=lambda shape: min(shape["n"], shape["d"]) <= 5000),
    Solver("sklearn-ridge-sparse-cg", P, ("ridge",), ridge("sparse_cg"), "Ridge(solver='sparse_cg')"),
    Solver("sklearn-ridge-lsqr", P, ("ridge",), ridge("lsqr"), "Ridge(solver='lsqr')"),
    Solver("sklearn-ridge-sag", P, ("ridge",), ridge("sag"), "Ridge(solver='sag')", "passes"),
    Solver("sklearn-elasticnet", P, ("squared-elastic-net",), elastic_net, "ElasticNet(selection='cyclic'); columns in Fortran order "
           "or CSC; precompute where dense with n > d", "passes"),
]
