"""One cell of the bench: a data set, a problem and a number of threads. Search once, then farrow and the peers in turn."""
import shutil

from . import farrow as runner
from . import machine, problems, solver
from .child import Child, PeerFailed
from .search import TARGETS, Search

MARGIN = 4.0


class Cell:
    """Measures one cell into `results`."""

    def __init__(self, options, results, prepared, problem, optimum, arrays, threads, farrow, work):
        self.options, self.results, self.prepared, self.problem = options, results, prepared, problem
        self.lower, self.arrays, self.threads, self.farrow, self.work = optimum["lower"], arrays, threads, farrow, work
        self.cpus, self.children, self.works = machine.cpus_for(threads), {}, {}
        self.fields = {"data": prepared.folder.name, "problem": problem.name, "threads": threads}
        self.stuck = max(60.0, MARGIN * options.budget)

    def order(self, reader=None):
        """What a worker is told first."""
        base = {"folder": str(self.prepared.folder), "scratch": str(self.farrow.scratch), "problem": self.problem.as_dict(),
                "threads": self.threads, "cpus": self.cpus}
        return {**base, "reader": reader, "columns": self.problem.d} if reader else base

    def run(self, peers):
        """Everything of the cell; workers never outlive it."""
        try:
            for peer in peers:
                self.search(peer)
            self.keep_fast(peers)
            self.rounds([peer for peer in peers if peer.name in self.works])
            self.loaded([peer for peer in peers if peer.name in self.works])
            self.accuracies()
        finally:
            for child in self.children.values():
                child.close()
            for folder in self.farrow.scratch.glob("child-*"):
                shutil.rmtree(folder)

    def say(self, text):
        """A line of progress."""
        print(f"{self.prepared.name} {self.problem.name} {self.threads}t: {text}", flush=True)

    def failed(self, peer, error):
        """Records that a peer failed, and goes on without it."""
        self.children.pop(peer.name, None)
        self.works.pop(peer.name, None)
        self.results.add(kind="failed", solver=peer.name, reason=str(error), **self.fields)
        self.say(f"{peer.name} failed: {error}")

    def child(self, peer):
        """The worker of a peer, started if need be."""
        if peer.name not in self.children:
            self.children[peer.name] = Child(peer, self.order(), self.work, self.stuck)
        return self.children[peer.name]

    def search(self, peer):
        """Finds the work that a peer needs for each target."""
        if self.results.get(kind="failed", solver=peer.name, **self.fields):
            return
        known = self.results.get(kind="search", solver=peer.name, **self.fields)
        if known is None:
            try:
                search = Search(self.child(peer), peer, self.lower, self.options.budget)
                works = search.run()
            except PeerFailed as error:
                self.failed(peer, error)
                return
            known = self.results.add(kind="search", solver=peer.name, works=works, points=search.listed(), peak_kib=search.peak,
                                     **self.fields)
            self.say(f"{peer.name}: " + ", ".join(f"{t} {seconds_of(known, t) or 0:.3g} s" if w else f"{t} -" for t, w in works.items()))
        self.works[peer.name] = {target: work for target, work in known["works"].items() if work}

    def keep_fast(self, peers):
        """Leaves out of the rounds, target by target, peers that the search shows far behind the fastest."""
        records = {peer.name: self.results.get(kind="search", solver=peer.name, **self.fields) for peer in peers}
        for target in (f"{t:g}" for t in TARGETS):
            times = {name: seconds_of(records[name], target) for name, works in self.works.items() if target in works}
            fastest = min(times.values(), default=0.0)
            for name, seconds in times.items():
                if seconds > self.options.slow_factor * fastest:
                    del self.works[name][target]
        for name in list(self.children):
            if not self.works.get(name):
                self.children.pop(name).close()

    def rounds(self, peers):
        """Rounds in which everyone takes a turn; up to as many again for those that the machine disturbed."""
        for number in range(2 * self.options.rounds):
            lacking = [peer for peer in peers if self.works.get(peer.name) and self.lacks(peer.name, number)]
            if number >= self.options.rounds and not lacking and not self.lacks("farrow", number):
                break
            self.farrow_turn(number)
            for peer in lacking:
                self.peer_turn(peer, number)
            self.say(f"round {number + 1}")

    def lacks(self, name, number):
        """Whether a solver still lacks clean times of some target."""
        targets = self.works[name] if name != "farrow" else [f"{t:g}" for t in TARGETS]
        clean = [sum(r["clean"] for r in self.results.of("round", solver=name, target=target, **self.fields)) for target in targets]
        return number < self.options.rounds or min(clean, default=0) < self.options.rounds

    def clean(self, use):
        """Whether the machine was quiet enough."""
        return use["foreign"] <= self.options.busy * self.threads and use["elsewhere"] <= self.options.busy_elsewhere

    def farrow_turn(self, number):
        """farrow once at every target."""
        for target in TARGETS:
            key = {"solver": "farrow", "target": f"{target:g}", "round": number, **self.fields}
            if self.results.get(kind="round", **key) or self.results.get(kind="failed", solver="farrow", **self.fields):
                continue
            try:
                said = self.farrow.timed(self.prepared, self.problem, self.threads, self.cpus, target, self.options.window)
                value, w = runner.check(self.farrow, self.problem, *self.arrays, said["objective"])
            except runner.FarrowFailed as error:
                self.results.add(kind="failed", solver="farrow", reason=str(error), **self.fields)
                self.say(f"farrow failed: {error}")
                return
            limit = self.lower + target * abs(self.lower)
            self.results.add(kind="round", seconds=runner.first_time(said["runs"], runner.OBJECTIVE, limit),
                             certified=runner.first_time(said["runs"], runner.CERTIFICATE, target),
                             suboptimality=(value - self.lower) / abs(self.lower), method=said["method"], certificate=said["certificate"],
                             fits=len(said["runs"]), trace=self.trace(said["runs"][0]), accuracy=self.accuracy_of(w),
                             clean=self.clean(said), **use_of(said), **key)

    def trace(self, run):
        """[seconds, suboptimality] of the points of a run."""
        return [[s[0], (s[1] - self.lower) / abs(self.lower)] for s in run["samples"]]

    def accuracy_of(self, w):
        """Test accuracy of coefficients."""
        from . import data
        path = self.prepared.folder / "test.npz"
        return problems.accuracy(self.problem, *data.load(path), w) if path.exists() else None

    def peer_turn(self, peer, number):
        """A peer once at every target it can meet; equal amounts of work are timed once."""
        done = {}
        for target, work in self.works[peer.name].items():
            key = {"kind": "round", "solver": peer.name, "target": target, "round": number, **self.fields}
            if self.results.get(**key):
                continue
            try:
                if work not in done:
                    done[work] = self.child(peer).ask({"do": "time", "work": work, "window": self.options.window})
            except PeerFailed as error:
                self.failed(peer, error)
                return
            said = done[work]
            below = float("inf") if said["objective"] is None else (said["objective"] - self.lower) / abs(self.lower)
            self.results.add(seconds=said["seconds"] if below <= float(target) else None, suboptimality=min(below, 1e300), work=work,
                             fits=said["fits"], clean=self.clean(said), **use_of(said), **key)

    def loaded(self, peers):
        """Whole runs from the text: farrow, farrow from its mapped form, and the fastest peers, in turn."""
        from .loading import Loading
        Loading(self).run(peers)

    def accuracies(self):
        """Test accuracy of each peer at the tightest target it met."""
        for name, works in list(self.works.items()):
            key = {"kind": "accuracy", "solver": name, **self.fields}
            if works and not self.results.get(**key):
                target = min(works, key=float)
                try:
                    said = self.child(solver.by_name(name)).ask({"do": "accuracy", "work": works[target]})
                except PeerFailed as error:
                    self.failed(solver.by_name(name), error)
                    continue
                self.results.add(accuracy=said["accuracy"], **key)


def use_of(said):
    """The foreign use in an answer."""
    return {name: round(said[name], 4) for name in ("foreign", "elsewhere", "window")}


def seconds_of(record, target):
    """Seconds of the fit with the work that met a target in the search."""
    work = record["works"][target] if record else None
    return next((seconds for k, seconds, _ in record["points"] if k == work), None) if work else None
