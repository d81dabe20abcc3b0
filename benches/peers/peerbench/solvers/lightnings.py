"""sklearn-contrib-lightning."""
from ..solver import Solver


def saga(task):
    """SAGAClassifier with its automatic step."""
    from lightning.classification import SAGAClassifier
    rows = task.rows()

    def run(work):
        model = SAGAClassifier(loss="log", alpha=task.problem.l2, beta=task.problem.l1, penalty="l1" if task.problem.l1 > 0 else None,
                               max_iter=work, tol=0, random_state=0)
        return model.fit(rows, task.b).coef_.ravel()
    return run


def sdca(task):
    """SDCAClassifier with the hinge loss."""
    from lightning.classification import SDCAClassifier
    rows = task.rows()

    def run(work):
        return SDCAClassifier(loss="hinge", alpha=task.problem.l2, max_iter=work, tol=0, random_state=0).fit(rows, task.b).coef_.ravel()
    return run


P = "sklearn-contrib-lightning"
SOLVERS = [
    Solver("lightning-saga", P, ("logistic", "logistic-elastic-net"), saga, "SAGAClassifier(loss='log', eta='auto')", "passes"),
    Solver("lightning-sdca", P, ("hinge",), sdca, "SDCAClassifier(loss='hinge')", "passes"),
]
