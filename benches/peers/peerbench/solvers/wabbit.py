"""Vowpal Wabbit, from a cache file, as it is meant to be run over several passes."""
import tempfile
from pathlib import Path

import numpy as np

from ..solver import Solver


def write(path, A, b):
    """The rows in VW's text form; columns are numbers, which VW then does not hash (--hash strings hashes no numbers)."""
    with open(path, "w") as stream:
        for i in range(A.shape[0]):
            cut = slice(A.indptr[i], A.indptr[i + 1])
            pairs = zip(A.indices[cut].tolist(), A.data[cut].tolist())
            stream.write(f"{b[i]:.9g} | " + " ".join([f"{j}:{value:.9g}" for j, value in pairs]) + "\n")


def parse_model(text, d):
    """w from --readable_model: lines `index:weight` after the line `:0`."""
    w = np.zeros(d)
    for line in text.split("\n:0\n", 1)[1].splitlines():
        index, value = line.split(":")[:2]
        if int(index) < d:
            w[int(index)] = float(value)
    return w


def prepare(task):
    """BFGS over a cache; VW minimises the sum of losses + l2/2 |w|^2 there, so its l2 is n l2."""
    from vowpalwabbit import Workspace
    # A folder of its own: VW takes whatever cache it finds.
    folder = Path(tempfile.mkdtemp(prefix="child-", dir=task.folder))
    text, cache, model = (folder / f"vw-{task.problem.name}.{ending}" for ending in ("txt", "cache", "model"))
    write(text, task.A, task.b)
    bits = max(1, int(np.ceil(np.log2(task.A.shape[1] + 1))))
    loss = {"logistic": "logistic", "squared": "squared"}[task.problem.loss]
    factor = 1.0 if loss == "logistic" else 2.0  # VW's squared loss is r^2

    def run(work):
        arguments = (f"--data {text} --cache_file {cache} --quiet --holdout_off --noconstant --predict_only_model --bfgs --mem 15 --bit_precision {bits} "
                     f"--loss_function {loss} --min_prediction -1e6 --max_prediction 1e6 --l2 {factor * task.problem.n * task.problem.l2:.17g} --passes {work + 1} --termination 0 "
                     f"--readable_model {model}")
        Workspace(arguments).finish()
        return parse_model(model.read_text(), task.A.shape[1])
    run(1)  # writes the cache
    return run


SOLVERS = [
    Solver("vw-bfgs", "vowpalwabbit", ("logistic", "ridge"), prepare, "--bfgs --mem 15 --termination 0 --noconstant from a cache file, "
           "no hashing of columns", "passes"),
]
