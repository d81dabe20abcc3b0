"""LIBLINEAR and its multicore form. Both install a package called `liblinear`; the multicore one lies in a folder apart."""
import numpy as np

from ..solver import Solver


def tolerance(work):
    """The stopping tolerance for an amount of work: LIBLINEAR has no cap on iterations to set, so eps falls instead."""
    return 10.0 ** (1.0 - work / 4.0)


def coefficients(model):
    """w for the label +1, whichever label the library met first."""
    w = np.array(model.get_decfun(label_idx=0)[0])
    labels = model.get_labels()
    return -w if labels and labels[0] == -1 else w


def make(solver, multicore=False):
    """A `prepare` for LIBLINEAR's solver of that number."""
    def prepare(task):
        from liblinear.liblinearutil import parameter, problem, train
        rows = problem(task.b, task.rows())
        # -s 11 and 12 minimise |w|^2/2 + C sum r^2 (and C sum r^2 in the dual form): twice our loss, so half the C.
        cost = task.cost / 2 if solver in (11, 12) else task.cost
        more = f" -m {task.threads}" if multicore else ""
        epsilon = " -p 0" if solver in (11, 12) else ""

        def run(work):
            options = parameter(f"-s {solver} -c {cost:.17g} -e {tolerance(work):.6g} -q{epsilon}{more}")
            return coefficients(train(rows, options))
        return run
    return prepare


def entry(number, problem, what):
    """The plain and the multicore solver of a number."""
    common = {"problems": (problem,), "knob": "tolerance", "most_work": 60}
    plain = Solver(f"liblinear-s{number}", "liblinear-official", prepare=make(number), setting=f"-s {number}, {what}; -B -1; -e falls",
                   **common)
    parallel = Solver(f"liblinear-mc-s{number}", "liblinear-multicore", prepare=make(number, True), threads=True,
                      setting=f"-s {number}, {what}; -m THREADS; -B -1; -e falls", **common)
    return [plain, parallel] if number in (0, 2, 3, 11) else [plain]


SOLVERS = [
    *entry(0, "logistic", "trust-region Newton on the primal"),
    *entry(7, "logistic", "dual coordinate descent"),
    *entry(3, "hinge", "dual coordinate descent with shrinking"),
    *entry(11, "ridge", "trust-region Newton on the primal, -p 0, C halved"),
    *entry(12, "ridge", "dual coordinate descent, -p 0, C halved"),
]
