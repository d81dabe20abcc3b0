"""Runs farrow and reads its trace."""
import json
import os
import shlex
import subprocess
import time
from pathlib import Path

import numpy as np

from . import machine, problems

AGREES = 1e-8
# farrow stops at a gap of 1e-4 if nothing is said; here only the objective shall stop it.
UNREACHED = "1e-15"


class FarrowFailed(Exception):
    """What farrow said."""


class Farrow:
    """The binary with a scratch folder and the user's extra arguments."""

    def __init__(self, binary, scratch, more, seconds):
        self.binary, self.scratch, self.more, self.seconds = str(binary), Path(scratch), shlex.split(more), seconds
        self.scratch.mkdir(parents=True, exist_ok=True)

    def version(self):
        """What `farrow --version` prints."""
        return subprocess.run([self.binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()

    def command(self, path, problem, threads, stop):
        """`farrow solve` on a problem; `stop` is the flags of when to end."""
        penalties = ["--l1", f"{problem.l1:.17g}", "--l2", f"{problem.l2:.17g}"]
        return [self.binary, "solve", str(path), "--loss", problem.loss, *penalties, "--workers", str(threads), "--max-seconds",
                f"{self.seconds:g}", *stop, *self.more]

    def timed(self, prepared, problem, threads, cpus, target, window):
        """Runs to a certificate until the window is full; times to suboptimality are read off the traces later."""
        trace, model = self.scratch / "trace.jsonl", self.scratch / "model.txt"
        command = self.command(prepared.mapped, problem, threads,
                               ["--target", f"{target:g}", "--trace", str(trace), "--model", str(model)])
        watch, own, runs, start = machine.Watch(cpus), 0.0, [], time.perf_counter()
        while not runs or (time.perf_counter() - start < window and len(runs) < 9):
            trace.unlink(missing_ok=True)
            said, _, _, used, _ = self.measured(command, cpus)
            own += used
            runs.append({"place": said["seconds"]["place"], "samples": read_samples(trace)})
        return {"runs": runs, "method": said["method"], "certificate": said["certificate"], "objective": said["objective"],
                "stop": said["stop"], **watch.stop(own)}

    def whole(self, path, problem, threads, cpus, target_objective):
        """Seconds of a whole process, from the file to the objective, and its peak memory."""
        command = self.command(path, problem, threads, ["--target-objective", f"{target_objective:.17g}", "--target", UNREACHED])
        said, wall, peak, own, watch = self.measured(command, cpus)
        reached = said["objective"] <= target_objective
        return {"seconds": wall if reached else None, "load": said["seconds"]["load"], "peak_kib": peak, **watch.stop(own)}

    def measured(self, command, cpus):
        """Runs a command on cpus: (JSON, seconds of the process, peak KiB, its cpu seconds, the watch)."""
        watch, start = machine.Watch(cpus), time.perf_counter()
        output = self.scratch / "output.json"
        with open(output, "w") as stream, open(self.scratch / "errors.txt", "w") as errors:
            process = subprocess.Popen([*command, "--json"], stdout=stream, stderr=errors,
                                       preexec_fn=lambda: os.sched_setaffinity(0, cpus))  # noqa: PLW1509
            _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise FarrowFailed((self.scratch / "errors.txt").read_text().strip()[-300:] or f"status {process.returncode}")
        return json.loads(output.read_text()), wall, usage.ru_maxrss, usage.ru_utime + usage.ru_stime, watch


def read_samples(path):
    """[seconds of solving and evaluating, objective, certificate] of every sample of a trace."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return [[r["seconds_solve"] + r["seconds_evaluate"], r["objective"], r["certificate"]] for r in records if r["record"] == "sample"]


OBJECTIVE, CERTIFICATE = 1, 2


def first_time(runs, column, limit):
    """Median over runs of the seconds, placing included, to the first sample with that column at most `limit`.

    A run that never gets there counts as later than every time; None where that is the median.
    """
    times = [next((s[0] for s in run["samples"] if s[column] is not None and s[column] <= limit), None) for run in runs]
    times.sort(key=lambda seconds: (seconds is None, seconds))
    return times[len(times) // 2]


def read_model(path, d):
    """Coefficients of a model file."""
    w = np.zeros(d)
    for line in Path(path).read_text().splitlines():
        words = line.split()
        if words and words[0].isdigit():
            w[int(words[0])] = float(words[1])
    return w


def check(farrow, problem, A, b, objective):
    """The objective of farrow's last model, computed here; raises where farrow's own differs by more than 1e-8."""
    w = read_model(farrow.scratch / "model.txt", A.shape[1])
    value = problems.objective(problem, A, b, w)
    if not abs(value - objective) <= AGREES * abs(value):
        raise FarrowFailed(f"it reports the objective {objective!r}, its model has {value!r}")
    return value, w
