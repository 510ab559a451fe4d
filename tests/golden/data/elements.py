"""Elements of datasets in a plain form, to be written and compared."""

import numpy as np


def plain(value):
    """Return an element, of whatever structure, as lists and numbers."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if hasattr(value, "_fields"):
        if value._fields == ("indices", "values", "dense_shape"):
            return {"sparse": [plain(part) for part in value]}
        return {"fields": [plain(part) for part in value]}
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if hasattr(value, "dense_shape"):
        return {"sparse": [plain(value.indices), plain(value.values), plain(value.dense_shape)]}
    if hasattr(value, "to_list"):
        return {"ragged": texts(value.to_list()), "dtype": value.dtype.name}
    if hasattr(value, "element_spec"):
        return {"dataset": [plain(part) for part in value]}
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return {"numbers": texts(array.tolist()), "shape": list(array.shape), "dtype": kind(array)}


def kind(array):
    """Return the name of an array's dtype; all text is one."""
    return "string" if array.dtype.kind in "OSU" else array.dtype.name


def texts(value):
    """Return nested lists with bytes as text."""
    if isinstance(value, list):
        return [texts(part) for part in value]
    return value.decode("latin-1") if isinstance(value, bytes) else value
