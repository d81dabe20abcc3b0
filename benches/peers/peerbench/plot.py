"""Suboptimality against seconds: a grid of data sets and problems, an SVG for each number of threads."""
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "farrow"
import matplotlib.pyplot as plt

FLOOR, SHOWN = 1e-9, 8


def write(results, found, out):
    """suboptimality-Nt.svg of every number of threads N."""
    for threads in sorted({fields["threads"] for _, fields in found}):
        here = [(optimum, fields) for optimum, fields in found if fields["threads"] == threads]
        rows = list(dict.fromkeys(optimum["name"] for optimum, _ in here))
        columns = list(dict.fromkeys(fields["problem"] for _, fields in here))
        figure, axes = plt.subplots(len(rows), len(columns), figsize=(4.6 * len(columns), 3.4 * len(rows)), squeeze=False)
        for axis in axes.flat:
            axis.set_visible(False)
        for optimum, fields in here:
            draw(axes[rows.index(optimum["name"])][columns.index(fields["problem"])], results, optimum, fields)
        figure.tight_layout()
        figure.savefig(out / f"suboptimality-{threads}t.svg", metadata={"Date": None})
        plt.close(figure)


def draw(axis, results, optimum, fields):
    """One cell: farrow's last run to the tightest target, and the searches of the fastest peers."""
    axis.set_visible(True)
    runs = results.of("round", solver="farrow", target="1e-06", **fields)
    if runs:
        curve(axis, runs[-1]["trace"], "farrow", color="black", linewidth=2, zorder=3)
    searches = sorted(results.of("search", **fields), key=reach)
    for record in searches[:SHOWN]:
        curve(axis, [(seconds, below) for _, seconds, below in record["points"] if below is not None], record["solver"], linewidth=1)
    axis.set(xscale="log", yscale="log", ylim=(FLOOR, 1), title=f"{optimum['name']}, {fields['problem']}, {fields['threads']} thr.",
             xlabel="seconds (measured)", ylabel="(F − F*) / F*")
    axis.grid(True, alpha=0.3)
    axis.legend(fontsize=6)


def reach(record):
    """For the order: the least seconds to the tightest target, else the last suboptimality."""
    met = [seconds for _, seconds, below in record["points"] if below is not None and below <= 1e-6]
    left = [below for _, _, below in record["points"] if below is not None]
    return (0, min(met)) if met else (1, min(left, default=float("inf")))


def curve(axis, points, label, **style):
    """One solver: the lower envelope of its points."""
    xs, ys, least = [], [], float("inf")
    for seconds, below in sorted(points):
        if below < least:
            least = below
            xs.append(seconds)
            ys.append(max(below, FLOOR))
    axis.plot(xs, ys, marker="o", markersize=3, label=label, **style)
