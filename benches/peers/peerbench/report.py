"""results.md, results.csv and the plots."""
import csv

from . import plot
from .search import TARGETS
from .summary import best, figure, ratio

NAMES = [f"{target:g}" for target in TARGETS]


def write(results, out):
    """Writes everything into `out`; returns the markdown."""
    found = cells(results)
    text = "\n".join([*head(results), *ratios(results, found), *(line for cell in found for line in table(results, cell))]) + "\n"
    (out / "results.md").write_text(text)
    write_csv(results, out / "results.csv")
    plot.write(results, found, out)
    return text


def cells(results):
    """[(optimum, {data, problem, threads})] in the order of measuring."""
    seen, listed = set(), []
    for record in results.records:
        key = (record.get("data"), record.get("problem"), record.get("threads"))
        if record["kind"] in ("search", "round", "failed") and key not in seen:
            seen.add(key)
            fields = dict(zip(("data", "problem", "threads"), key))
            listed.append((results.of("optimum", data=key[0], problem=key[1])[0], fields))
    return listed


def head(results):
    """What was measured, with what, on what."""
    header = results.of("header")[0]
    lines = ["# farrow and its peers", "",
             f"{header['farrow']} (sha256 {header['sha256'][:12]}) on {header['machine']}, load average {header['load_average']:.2f} at the "
             f"start. " + ", ".join(f"{name} {version}" for name, version in header["versions"].items()) + ".",
             "", ("Seconds are medians (least to most; clean of all repetitions) of alternating runs. A repetition is clean where other "
             f"processes used at most {header['busy']:g} cores a cpu of the run and {header['busy_elsewhere']:g} elsewhere. `busy` stands for "
             "a ratio with fewer than 3 clean repetitions on a side; `–` for a target that was not reached.")]
    for package, why in header["absent"].items():
        lines.append(f"\nAbsent: {package}: {why}")
    return lines + [""]


def rounds(results, solver, target, fields, field="seconds", kind="round"):
    """The figure of one solver and target; what met a tighter target sooner has met this one too."""
    tighter = NAMES[NAMES.index(target):]
    figures = {name: figure(results.of(kind, solver=solver, target=name, **fields), field) for name in tighter}
    return figures.get(best(figures))


def peer_names(results, fields, kind="round"):
    """Peers with records of a kind."""
    names = dict.fromkeys(r["solver"] for r in results.of(kind, **fields))
    return [name for name in names if not name.startswith("farrow")]


def ratios(results, found):
    """The table of ratios against the fastest peer."""
    lines = ["## How many times faster than the fastest peer", "",
             ("| data | problem | threads | target | fastest peer | s | farrow s | times faster | to a certificate | certificate / suboptimality | "
             "with load, text | with load, mapped |"), "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for optimum, fields in found:
        for target in NAMES:
            peers = {name: rounds(results, name, target, fields) for name in peer_names(results, fields)}
            name = best(peers)
            ours, certified = (rounds(results, "farrow", target, fields, field) for field in ("seconds", "certified"))
            theirs = peers.get(name)
            lines.append("| " + " | ".join([optimum["name"], fields["problem"], str(fields["threads"]), target, name or "–", plain(theirs),
                                            plain(ours), ratio(theirs, ours), ratio(theirs, certified), ratio(certified, ours),
                                            *loaded_ratios(results, target, fields)]) + " |")
    return lines + [""]


def loaded_ratios(results, target, fields):
    """Ratios with the load included, of farrow from text and from its mapped form."""
    peers = {name: rounds(results, name, target, fields, kind="loaded") for name in peer_names(results, fields, "loaded")}
    theirs = peers.get(best(peers))
    return [ratio(theirs, rounds(results, f"farrow {form}", target, fields, kind="loaded")) for form in ("text", "mapped")]


def plain(value):
    """A median."""
    return "–" if value is None else f"{value.median:.3g}"


def spread(value):
    """A median with its range and counts."""
    return "–" if value is None else f"{value.median:.3g} ({value.low:.3g}–{value.high:.3g}; {value.clean}/{value.all})"


def table(results, cell):
    """The table of one cell."""
    optimum, fields = cell
    lines = [(f"## {optimum['name']} ({optimum['n']:,} × {optimum['d']:,}, {optimum['nnz']:,} nonzeros), {fields['problem']}, "
             f"{fields['threads']} thread{'s' if fields['threads'] > 1 else ''}"), "",
             (f"λ₁ = {optimum['l1']:.4g}, λ₂ = {optimum['l2']:.4g}. F* lies in [{optimum['lower']:.15g}, {optimum['upper']:.15g}], relative width "
             f"{optimum['width']:.1e}: {optimum['how']}, dual value recomputed from the data."), "",
             "| solver | s to 1e-2 | s to 1e-3 | s to 1e-6 | with load, 1e-3 | with load, 1e-6 | peak MiB | test accuracy |",
             "|---|---|---|---|---|---|---|---|"]
    return lines + our_rows(results, fields) + their_rows(results, fields) + [""]


def our_rows(results, fields):
    """farrow to suboptimality and to certificate."""
    runs = results.of("round", solver="farrow", **fields)
    if not runs:
        return [f"| farrow | failed: {r['reason']} | | | | | | |" for r in results.of("failed", solver="farrow", **fields)]
    last = runs[-1]
    rows = []
    for label, field in ((f"**farrow** ({last['method']}), suboptimality", "seconds"), (f"farrow, certificate ({last['certificate']})", "certified")):
        times = [spread(rounds(results, "farrow", target, fields, field)) for target in NAMES]
        rows.append(row(label, times, results, "farrow text" if field == "seconds" else None, fields, last["accuracy"]))
    rows.append(row("farrow, from its mapped form", ["", "", ""], results, "farrow mapped", fields, None))
    return rows


def row(label, times, results, loaded, fields, accuracy):
    """One row; `loaded` is the name under which whole runs are recorded."""
    whole = [spread(rounds(results, loaded, target, fields, kind="loaded")) if loaded else "" for target in NAMES[1:]]
    peak = max((r["peak_kib"] for r in results.of("loaded", solver=loaded, **fields)), default=None) if loaded else None
    return "| " + " | ".join([label, *times, *whole, f"{peak / 1024:.0f}" if peak else "", f"{accuracy:.4f}" if accuracy is not None else ""]) + " |"


def their_rows(results, fields):
    """The peers, the fastest to the tightest target first, then those that failed."""
    rows = []
    for record in results.of("search", **fields):
        name = record["solver"]
        figures = [rounds(results, name, target, fields) for target in NAMES]
        times = [spread(f) if f else once(record, target) for f, target in zip(figures, NAMES)]
        known = results.of("accuracy", solver=name, **fields)
        order = [f.median if f else float("inf") for f in reversed(figures)]
        rows.append((order, row(name, times, results, name, fields, known[0]["accuracy"] if known else None)))
    failed = [f"| {r['solver']} | failed: {r['reason']} | | | | | | |" for r in results.of("failed", **fields) if r["solver"] != "farrow"]
    return [line for _, line in sorted(rows, key=lambda pair: pair[0])] + failed


def once(record, target):
    """The time of the search, for a peer that was too slow for the rounds."""
    work = record["works"].get(target)
    seconds = next((s for k, s, _ in record["points"] if k == work), None) if work else None
    return "–" if seconds is None else f"{seconds:.3g} (once)"


def write_csv(results, path):
    """Every repetition, a line each."""
    columns = ["kind", "data", "problem", "threads", "solver", "target", "round", "seconds", "certified", "suboptimality", "work", "fits", "load",
               "peak_kib", "clean", "foreign", "elsewhere"]
    with open(path, "w", newline="") as stream:
        writer = csv.DictWriter(stream, columns, extrasaction="ignore")
        writer.writeheader()
        for kind in ("round", "loaded"):
            writer.writerows(results.of(kind))
