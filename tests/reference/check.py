#!/usr/bin/env python3
"""Recomputes what `farrow solve` reports, from the data file and the model it wrote, in f64, with numpy alone.

    farrow solve DATA --loss logistic --l1 1e-3 --l2 1/n --model out.model --json > out.json
    python3 tests/reference/check.py DATA out.model --l1 1e-3 --l2 1/n --report out.json

Prints F(x) as the problem defines it, the same with the values rounded to f32 as farrow stores them, and the share of
labels that the model gets right (or R^2). With --report it exits 1 where the reported objective is further from F
than 1e-8 relative, or where `gap_relative`, `objective` and `gap` do not agree with one another. DATA is LIBSVM text,
plain, .gz or .xz."""
import argparse, gzip, json, lzma, sys
import numpy as np


def read_data(path, base):
    opener = {"gz": gzip.open, "xz": lzma.open}.get(path.rsplit(".", 1)[-1], open)
    labels, rows, columns, values = [], [], [], []
    with opener(path, "rt") as f:
        for line in f:
            items = line.split("#", 1)[0].split()
            if not items:
                continue
            for item in items[1:]:
                j, v = item.split(":")
                if j == "qid":
                    continue
                rows.append(len(labels)); columns.append(int(j)); values.append(float(v))
            labels.append(float(items[0]))
    columns = np.array(columns)
    if base is None:
        base = 0 if (columns == 0).any() else 1
    return np.array(labels), np.array(rows), columns - base, np.array(values)


def read_model(path):
    lines = [l for l in open(path).read().splitlines() if l.strip() and not l.startswith("#")]
    assert lines[0] == "farrow model 1", f"{path}: its first line is {lines[0]!r}"
    head, body = {}, []
    for line in lines[1:]:
        key, *rest = line.split()
        if key[0].isdigit():
            body.append((int(key), float(rest[0])))
        else:
            head[key] = rest
    assert len(body) == int(head["nonzeros"][0]), f"{path}: {len(body)} coefficients, the header says {head['nonzeros'][0]}"
    x = np.zeros(int(head["columns"][0]))
    for j, v in body:
        x[j] = v
    return head, x


def loss_values(name, z, b, delta):
    if name == "logistic":
        return np.logaddexp(0, -b * z)
    if name == "squared":
        return 0.5 * (z - b) ** 2
    if name == "hinge":
        return np.maximum(0, 1 - b * z)
    if name == "squared-hinge":
        return np.maximum(0, 1 - b * z) ** 2
    r = np.abs(z - b)
    return np.where(r <= delta, 0.5 * r * r, delta * r - 0.5 * delta * delta)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data"); p.add_argument("model")
    p.add_argument("--loss", help="the model's own, if not given")
    p.add_argument("--huber-delta", type=float)
    p.add_argument("--l1", type=float, default=0.0)
    p.add_argument("--l2", default="1/n", help="a number or 1/n, as in farrow (default 1/n)")
    p.add_argument("--class-weight", choices=["none", "balanced"], default="none")
    p.add_argument("--weights", help="one weight a row, as text")
    p.add_argument("--base", type=int, choices=[0, 1], help="first column number of DATA; else told by whether 0 occurs")
    p.add_argument("--report", help="what farrow solve --json printed")
    a = p.parse_args()

    raw, rows, columns, values = read_data(a.data, a.base)
    head, x = read_model(a.model)
    n = len(raw)
    loss = a.loss or head["loss"][0]
    if loss != head["loss"][0]:
        sys.exit(f"the model was fitted with --loss {head['loss'][0]}, not {loss}")
    delta = a.huber_delta if a.huber_delta is not None else float(head["loss"][1]) if loss == "huber" else 1.0
    if "labels" in head:
        negative, positive = map(float, head["labels"])
        assert set(np.unique(raw)) <= {negative, positive}, "DATA has labels that the model does not know"
        b = np.where(raw == positive, 1.0, -1.0)
    else:
        b = raw
    w = np.loadtxt(a.weights) if a.weights else np.ones(n)
    if a.class_weight == "balanced":
        w = w * np.where(b > 0, n / (2 * (b > 0).sum()), n / (2 * (b < 0).sum()))
    l2 = 1 / n if a.l2 == "1/n" else float(a.l2)
    known = columns < len(x)
    rows, columns, values = rows[known], columns[known], values[known]

    def objective(v):
        if head["normalize"][0] == "rows":
            norm = np.sqrt(np.bincount(rows, v * v, n))
            v = v / np.where(norm > 0, norm, 1)[rows]
        z = np.bincount(rows, v * x[columns], n) + float(head["intercept"][0])
        F = w @ loss_values(loss, z, b, delta) / w.sum() + a.l1 * np.abs(x).sum() + 0.5 * l2 * (x @ x)
        return F, z

    (F, z), (F32, _) = objective(values), objective(values.astype(np.float32).astype(np.float64))
    print(f"F             {F:.15g}\nF, f32 values {F32:.15g}\nnonzeros of x {np.count_nonzero(x)} of {len(x)}")
    if "labels" in head:
        print(f"accuracy      {np.mean((z > 0) == (b > 0)):.6f}")
    else:
        print(f"R^2           {1 - ((z - b) ** 2).sum() / ((b - b.mean()) ** 2).sum():.6f}")
    if a.report:
        r = json.load(open(a.report))
        off = abs(r["objective"] - F32) / max(abs(F32), 1e-300)
        print(f"reported      {r['objective']:.15g}, off by {off:.1e} relative")
        wrong = off > 1e-8
        if r["gap"] is not None:
            relative = r["gap"] / max(abs(r["objective"]), 1e-300)
            wrong |= abs(relative - r["gap_relative"]) > 1e-9 * abs(relative) or r["gap"] < -1e-12
            print(f"gap           {r['gap']:.3e}, {relative:.3e} relative, so F* >= {r['objective'] - r['gap']:.15g}")
        sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
