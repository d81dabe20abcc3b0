"""The bench: prepares data and optima, measures every cell, writes tables and plots. `run` starts it in its environment."""
import hashlib
import importlib.metadata
import json
import os
import sys
from pathlib import Path

from . import arguments, data, machine, problems, reference, report, solver
from .cell import Cell
from .farrow import Farrow
from .results import Results


def absent(work):
    """{package: reason} of what did not install."""
    record = work / "installed.json"
    known = json.loads(record.read_text())["absent"] if record.exists() else {}
    return {line.split("=")[0]: why for line, why in known.items()}


def versions(work):
    """{package: version} of what did."""
    wanted = {peer.package for peer in solver.every()} | {"numpy", "scipy"}
    found = {}
    for package in sorted(wanted):
        places = [str(work / "apart" / package)] if (work / "apart" / package).is_dir() else sys.path
        for distribution in importlib.metadata.distributions(name=package, path=places):
            found[package] = distribution.version
    return found


def list_solvers(work):
    """Prints every solver, its problems and setting, and why it is absent if it is."""
    missing = absent(work)
    for peer in solver.every():
        print(f"{peer.name:26} {', '.join(peer.problems)}: {peer.setting}"
              + (f" [absent: {missing[peer.package]}]" if peer.package in missing else ""))


def open_results(options, out, farrow, work):
    """The results, with the record of what is measured; refuses to go on with another binary or other arguments."""
    digest = hashlib.sha256(Path(options.farrow).read_bytes()).hexdigest()
    results = Results(out / "results.jsonl", options.resume)
    header = {"kind": "header", "farrow": farrow.version(), "sha256": digest, "farrow_args": options.farrow_args,
              "l1_fraction": options.l1_fraction}
    known = results.of("header")
    if known and any(known[0].get(name) != header[name] for name in ("sha256", "farrow_args", "l1_fraction")):
        sys.exit(f"--resume: {out / 'results.jsonl'} was measured with another farrow, --farrow-args or --l1-fraction: give another --out, "
                 "or leave --resume out to start anew")
    if not known:
        results.add(**header, machine=machine.describe(), load_average=os.getloadavg()[0], versions=versions(work), absent=absent(work),
                    rounds=options.rounds, busy=options.busy, busy_elsewhere=options.busy_elsewhere)
    return results


def measure(options, results, farrow, work):
    """Every cell."""
    peers = [peer for peer in solver.chosen(options.peers) if peer.package not in absent(work)]
    for entry in options.data:
        prepared = data.prepare(entry, options, work, options.farrow)
        shape, arrays = prepared.shape(), data.load(prepared.folder / "train.npz")
        for name in options.problems:
            problem = problems.make(name, *arrays, options.l1_fraction)
            if problem.classifies and shape["classes"] != 2:
                print(f"{prepared.name}: {shape['classes']} label values, so {name} is left out", flush=True)
                continue
            optimum = reference.bracket(problem, *arrays, prepared.folder, options.reference_seconds)
            fields = {"kind": "optimum", "data": prepared.folder.name, "problem": name}
            if not results.get(**fields):
                results.add(**fields, **optimum, **{k: shape[k] for k in ("name", "n", "d", "nnz")}, l1=problem.l1, l2=problem.l2)
            for threads in options.threads:
                able = [peer for peer in peers if peer.can(name, shape)]
                Cell(options, results, prepared, problem, optimum, arrays, threads, farrow, work).run(able)
                report.write(results, results.path.parent)


def main():
    """Runs what the command line asks for."""
    options = arguments.parse(sys.argv[1:])
    work = Path(options.work)
    out = Path(options.out) if options.out else work / "results"
    out.mkdir(parents=True, exist_ok=True)
    if options.list:
        list_solvers(work)
        return
    if options.report_only:
        results = Results(out / "results.jsonl", True)
    else:
        farrow = Farrow(options.farrow, work / "scratch", options.farrow_args, 4 * options.budget)
        results = open_results(options, out, farrow, work)
        measure(options, results, farrow, work)
    print(report.write(results, out))


if __name__ == "__main__":
    main()
