"""Times with the load included: a fresh process reads the LIBSVM text and fits; imports are not counted for the peers."""
from . import farrow as runner
from .child import Child, PeerFailed

TARGETS = ("0.001", "1e-06")


class Loading:
    """The whole runs of one cell."""

    def __init__(self, cell):
        self.cell, self.options, self.results = cell, cell.options, cell.results

    def fastest(self, peers):
        """The peers with the least median time to the tightest target that any met."""
        for target in reversed(TARGETS):
            times = {}
            for peer in peers:
                seconds = [r["seconds"] for r in self.results.of("round", solver=peer.name, target=target, **self.cell.fields) if r["seconds"]]
                if seconds:
                    times[peer] = sorted(seconds)[len(seconds) // 2]
            if times:
                return sorted(times, key=times.get)[:self.options.load_peers]
        return []

    def run(self, peers):
        """Rounds in turn; up to as many again where the machine disturbed some."""
        if self.options.load_peers <= 0:
            return
        peers = self.fastest(peers)
        for number in range(2 * self.options.load_rounds):
            if number >= self.options.load_rounds and not self.lacking([peer.name for peer in peers]):
                break
            for form in ("text", "mapped"):
                self.farrow_turn(form, number)
            for peer in peers:
                self.peer_turn(peer, number)
            self.cell.say(f"round {number + 1} with load")

    def lacking(self, names):
        """Whether some solver has too few clean whole runs."""
        wanted = self.options.load_rounds
        return any(sum(r["clean"] for r in self.results.of("loaded", solver=name, target=target, **self.cell.fields)) < wanted
                   for name in ["farrow text", "farrow mapped", *names] for target in TARGETS
                   if self.results.of("loaded", solver=name, target=target, **self.cell.fields))

    def farrow_turn(self, form, number):
        """farrow's whole process from one form of the file to each target."""
        cell = self.cell
        for target in TARGETS:
            key = {"kind": "loaded", "solver": f"farrow {form}", "target": target, "round": number, **cell.fields}
            if self.results.get(**key) or self.results.get(kind="failed", solver="farrow", **cell.fields):
                continue
            path = cell.prepared.text if form == "text" else cell.prepared.mapped
            limit = cell.lower + float(target) * abs(cell.lower)
            try:
                said = cell.farrow.whole(path, cell.problem, cell.threads, cell.cpus, limit)
            except runner.FarrowFailed as error:
                self.results.add(kind="failed", solver="farrow", reason=str(error), **cell.fields)
                return
            self.results.add(seconds=said["seconds"], load=said["load"], peak_kib=said["peak_kib"], clean=cell.clean(said),
                             foreign=said["foreign"], elsewhere=said["elsewhere"], **key)

    def peer_turn(self, peer, number):
        """A peer reads with its reader and fits for each target, in one fresh process."""
        cell = self.cell
        works = {target: work for target, work in cell.works[peer.name].items() if target in TARGETS}
        key = {"kind": "loaded", "solver": peer.name, "round": number, **cell.fields}
        if not works or all(self.results.get(target=target, **key) for target in works):
            return
        child = None
        try:
            child = Child(peer, cell.order(peer.reader), cell.work, cell.stuck)
            said = child.ask({"do": "loaded", "works": list(works.values())})
        except PeerFailed as error:
            cell.say(f"{peer.name} failed with the load included: {error}")
            return
        finally:
            if child:
                child.close()
        for target, seconds in zip(works, said["fits"]):
            self.results.add(target=target, seconds=said["load"] + seconds, load=said["load"], peak_kib=said["peak_kib"],
                             clean=cell.clean(said), foreign=said["foreign"], elsewhere=said["elsewhere"], **key)
