"""The child process of one peer on one problem: loads, then fits as it is told to, a line of JSON each way.

A crash or a hang of a peer ends this process only. Requests: {"do": "fit", "work": k} and {"do": "time", "work": k,
"window": seconds}; with `reader` in the first line the text is read here, and timed, instead of the arrays.
"""
import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path


def answer_on_own_pipe():
    """Keeps the pipe to the parent to ourselves: what libraries print goes to standard error."""
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    return pipe


def own_seconds():
    """Cpu time of this process and its children."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


class Bench:
    """A solver with its data."""

    def __init__(self, order):
        import numpy as np

        from . import data, machine, problems, readers, solver
        self.np, self.machine, self.problems = np, machine, problems
        self.order = order
        self.problem = problems.Problem(**order["problem"])
        folder = Path(order["folder"])
        peer = solver.by_name(order["solver"])
        warm = order.get("reader")
        if warm:
            readers.warm(warm)
            peer_imports(peer)
        self.watch = machine.Watch(order["cpus"])
        self.before, start = own_seconds(), time.perf_counter()
        if warm:
            self.A, self.b = readers.read(warm, folder / "train.svm", order["columns"])
        else:
            self.A, self.b = data.load(folder / "train.npz")
        self.read_seconds = time.perf_counter() - start
        self.task = solver.Task(self.A, self.b, self.problem, order["threads"], order["scratch"])
        self.run = peer.prepare(self.task)
        self.load_seconds = time.perf_counter() - start

    def fit(self, work):
        """One fit: (seconds, w)."""
        start = time.perf_counter()
        w = self.run(work)
        seconds = time.perf_counter() - start
        return seconds, self.np.asarray(w, dtype=self.np.float64).ravel()

    def judge(self, w):
        """Objective in double precision, from the rounded data that everyone has."""
        value = self.problems.objective(self.problem, self.A, self.b, w)
        return value if self.np.isfinite(value) else None

    def do_fit(self, request):
        """One fit, judged."""
        seconds, w = self.fit(request["work"])
        return {"seconds": seconds, "objective": self.judge(w), "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}

    def do_time(self, request):
        """Fits until the window is full, at most 25; their median time, and who else used the machine."""
        watch, before, times = self.machine.Watch(self.order["cpus"]), own_seconds(), []
        while not times or (sum(times) < request["window"] and len(times) < 25):
            seconds, w = self.fit(request["work"])
            times.append(seconds)
        use = watch.stop(own_seconds() - before)
        return {"seconds": float(self.np.median(times)), "fits": len(times), "objective": self.judge(w), **use}

    def do_loaded(self, request):
        """After a timed read: fits of each amount of work, with the foreign use since before the read."""
        fits = [self.fit(work)[0] for work in request["works"]]
        use = self.watch.stop(own_seconds() - self.before)
        return {"load": self.load_seconds, "read": self.read_seconds, "fits": fits,
                "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, **use}

    def do_accuracy(self, request):
        """Test accuracy after so much work; None without a test set."""
        from . import data
        path = Path(self.order["folder"]) / "test.npz"
        if not path.exists():
            return {"accuracy": None}
        _, w = self.fit(request["work"])
        return {"accuracy": self.problems.accuracy(self.problem, *data.load(path), w)}


def peer_imports(peer):
    """Imports of a library are not load: they happen before the clock starts."""
    import importlib
    modules = {"scikit-learn": "sklearn.linear_model", "snapml": "snapml", "glum": "glum", "skglm": "skglm", "celer": "celer",
               "tick": "tick.linear_model", "vowpalwabbit": "vowpalwabbit", "sklearn-contrib-lightning": "lightning.classification"}
    importlib.import_module(modules.get(peer.package, "liblinear.liblinearutil"))


def main():
    """Answers requests until the parent closes the pipe."""
    pipe = answer_on_own_pipe()
    warnings.filterwarnings("ignore")
    order = json.loads(sys.stdin.readline())
    os.sched_setaffinity(0, order["cpus"])
    try:
        bench = Bench(order)
        print(json.dumps({"ready": True, "load": bench.load_seconds}), file=pipe)
        for line in sys.stdin:
            request = json.loads(line)
            print(json.dumps(getattr(bench, "do_" + request["do"])(request)), file=pipe)
    except Exception as error:  # noqa: BLE001 (whatever a peer raises is its result)
        print(json.dumps({"failed": f"{type(error).__name__}: {str(error).strip()[:300]}"}), file=pipe)


if __name__ == "__main__":
    main()
