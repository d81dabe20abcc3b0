"""The data: read or generated once, rounded to single precision for everyone, kept as arrays, LIBSVM text and farrow's form.

farrow keeps values in single precision. So that all minimise the same function, values are rounded before anyone sees them.
"""
import bz2
import gzip
import hashlib
import json
import lzma
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

DENSE_FROM = 0.5


@dataclass(frozen=True)
class Prepared:
    """A prepared set: `folder` holds train.npz, train.svm, train.farrow and perhaps test.npz."""

    name: str
    folder: Path

    @property
    def text(self):
        """The training rows as LIBSVM text."""
        return self.folder / "train.svm"

    @property
    def mapped(self):
        """The training rows in farrow's mapped form."""
        return self.folder / "train.farrow"

    def shape(self):
        """{"n":, "d":, "nnz":, "classes":}."""
        return json.loads((self.folder / "shape.json").read_text())


def prepare(entry, options, work, farrow):
    """Prepares one --data entry, [name] or [file] or [file, test file]; returns it."""
    key = identity(entry, options)
    stem = Path(entry[0]).name
    for ending in (".xz", ".gz", ".bz2", ".svm"):
        stem = stem.removesuffix(ending)
    prepared = Prepared(stem, work / "data" / f"{stem}-{hashlib.sha256(key.encode()).hexdigest()[:10]}")
    if not (prepared.folder / "shape.json").exists():
        print(f"preparing {stem}", flush=True)
        prepared.folder.mkdir(parents=True, exist_ok=True)
        train, test = generate(entry[0], options, prepared.folder, farrow) if len(entry) == 1 and not os.path.exists(entry[0]) \
            else read_files(entry)
        write(prepared, train, test, farrow)
    return prepared


def identity(entry, options):
    """What the prepared set depends on: the sizes of a generated one, path, size and time of files."""
    if not os.path.exists(entry[0]):
        return f"{entry[0]} {options.rows} {options.columns} {options.nonzeros_per_row}"
    return " ".join(f"{os.path.abspath(path)} {os.stat(path).st_size} {os.stat(path).st_mtime_ns}" for path in entry)


def generate(name, options, folder, farrow):
    """Has farrow generate a set, and keeps its last eleventh as a test set."""
    rows = {"rcv1-like": options.rows, "dense": max(options.rows // 2, 200), "wide": max(options.rows // 100, 100)}[name]
    total = rows + rows // 10
    flags = {"rcv1-like": ["--preset", "rcv1-like", "--columns", options.columns, "--nonzeros-per-row", options.nonzeros_per_row],
             "dense": ["--dense", "--columns", 100, "--noise", 1],
             "wide": ["--columns", 100_000, "--nonzeros-per-row", 100, "--power", 0.7, "--support", 0.01]}[name]
    raw = folder / "all.svm"
    subprocess.run([str(farrow), "data", "generate", *map(str, flags), "--rows", str(total), "--seed", "7", "--out", str(raw)],
                   check=True, stdout=subprocess.DEVNULL)
    A, b = load_svmlight_file(str(raw))
    raw.unlink()
    return (A[:rows], b[:rows]), (A[rows:], b[rows:])


def read_file(path):
    """One LIBSVM file, by the ending of its name."""
    opener = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}.get(Path(path).suffix, open)
    with opener(path, "rb") as stream:
        return load_svmlight_file(stream)


def read_files(entry):
    """Training set and test set (None without a file)."""
    return read_file(entry[0]), read_file(entry[1]) if len(entry) == 2 else None


def tidy(A, b, columns, classes):
    """CSR in rounded double precision with `columns` columns; two label values become -1 and 1."""
    A = sp.csr_matrix(A)
    A.sum_duplicates()
    A = sp.csr_matrix((A.data.astype(np.float32).astype(np.float64), A.indices.astype(np.int32), A.indptr.astype(np.int32)),
                      shape=A.shape)
    A.resize((A.shape[0], columns))
    A.sort_indices()
    if len(classes) == 2:
        b = np.where(b == classes[1], 1.0, -1.0)
    return A, np.asarray(b, dtype=np.float64)


def write(prepared, train, test, farrow):
    """Writes every form of a set."""
    columns = max(part[0].shape[1] for part in (train, test) if part)
    classes = np.unique(train[1])
    A, b = tidy(*train, columns, classes)
    save(prepared.folder / "train.npz", A, b)
    if test:
        save(prepared.folder / "test.npz", *tidy(*test, columns, classes))
    write_text(prepared.text, A, b)
    subprocess.run([str(farrow), "data", "convert", str(prepared.text), str(prepared.mapped)], check=True, stdout=subprocess.DEVNULL)
    shape = {"name": prepared.name, "n": A.shape[0], "d": A.shape[1], "nnz": int(A.nnz), "classes": len(classes)}
    (prepared.folder / "shape.json").write_text(json.dumps(shape))


def save(path, A, b):
    """One set as .npz."""
    np.savez(path, data=A.data, indices=A.indices, indptr=A.indptr, shape=np.array(A.shape), b=b)


def load(path):
    """(CSR matrix, labels) of a set that `save` wrote."""
    z = np.load(path)
    return sp.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"])), z["b"]


def write_text(path, A, b):
    """LIBSVM text with nine digits, enough to give the same single-precision values back."""
    with open(path, "w") as stream:
        for i in range(A.shape[0]):
            cut = slice(A.indptr[i], A.indptr[i + 1])
            pairs = zip((A.indices[cut] + 1).tolist(), A.data[cut].tolist())
            stream.write(f"{b[i]:.9g} " + " ".join([f"{j}:{value:.9g}" for j, value in pairs]) + "\n")


def is_dense(A):
    """Whether solvers get the rows as a dense array."""
    return A.nnz > DENSE_FROM * A.shape[0] * A.shape[1]
