#!/usr/bin/env python3
"""Draws the traces of several runs: distance to the best objective seen, against seconds of solving.

    farrow solve demo.svm --trace dual-1.jsonl --workers 1 --target 1e-6      # and so on
    plot.py OUT.svg "dual, 1 worker=dual-1.jsonl" "dual, 2 workers=dual-2.jsonl" …

Needs matplotlib. The lower bound is the largest objective - gap of all runs, so that the distance shown is never less
than the true one.
"""
import json, sys
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "farrow"
import matplotlib.pyplot as plt

runs = {}
for argument in sys.argv[2:]:
    name, path = argument.split("=", 1)
    records = [json.loads(line) for line in open(path)]
    runs[name] = [record for record in records if record["record"] == "sample"]
bound = max(s["objective"] - s["gap"] for samples in runs.values() for s in samples if s["gap"] is not None)
figure, axes = plt.subplots(figsize=(7, 3.6))
for (name, samples), marker in zip(runs.items(), "osD^vx"):
    seconds = [s["seconds_solve"] for s in samples]
    distance = [(s["objective"] - bound) / abs(bound) for s in samples]
    axes.semilogy(seconds, distance, marker=marker, markersize=4, label=name)
axes.set_xlabel("seconds of solving (measured)")
axes.set_ylabel("(objective − lower bound) / lower bound")
axes.grid(True, which="major", alpha=0.3)
axes.legend()
figure.tight_layout()
figure.savefig(sys.argv[1], metadata={"Date": None})
