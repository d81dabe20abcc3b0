"""Readers of LIBSVM text, a library's own or scikit-learn's."""
import numpy as np
import scipy.sparse as sp


def warm(name):
    """Imports what the reader needs."""
    if name == "sklearn":
        import sklearn.datasets  # noqa: F401
    elif name == "liblinear":
        import liblinear.commonutil  # noqa: F401
    else:
        import snapml  # noqa: F401


def read(name, path, columns):
    """(CSR rows, labels); of Snap ML's reader, what it calls a partition, which holds both, and None."""
    if name == "sklearn":
        from sklearn.datasets import load_svmlight_file
        return load_svmlight_file(str(path), n_features=columns)
    if name == "liblinear":
        from liblinear.commonutil import svm_read_problem
        b, A = svm_read_problem(str(path), return_scipy=True)
        A = sp.csr_matrix(A)
        A.resize((A.shape[0], columns))
        return A, np.asarray(b)
    from snapml import Loaders
    return Loaders.load_from_svmlight_format(str(path), num_ft=columns), None
