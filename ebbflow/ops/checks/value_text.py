"""Values as text, for messages: what `Assert`, `Print`, `tf.print` and `tf.strings.format` show of a tensor.

Two forms, both TensorFlow's. `opening` shows the first elements, row by row: `[0 1 2][3...]...`. `edges` shows the
first and the last of every dimension, on lines of their own: `[0 1 ... 8 9]`. Only elements that are shown are looked
at, so a large tensor costs nothing. Knows arrays; knows nothing of ops.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes

Text = Callable[[Any], str]

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}


def opening(array: np.ndarray, limit: int) -> str:
    """Return the first `limit` elements (all for a negative one), rows of a matrix in brackets, `...` for the rest.

    >>> opening(np.arange(6).reshape(2, 3), 4)
    '[0 1 2][3...]...'
    """
    count = array.size if limit < 0 else min(limit, array.size)
    form = text_of(array.dtype)
    shown = [form(item) for item in array.reshape(-1)[:count]]
    text = " ".join(shown) if array.ndim < 2 else _rows(shown, array.shape)
    return text + ("..." if array.size > count else "")


def _rows(shown: list[str], dims: tuple[int, ...]) -> str:
    """Return the rows along the first dimension, as far as there are elements to show."""
    length = math.prod(dims[1:])
    rows = [shown[start : start + length] for start in range(0, len(shown), length or 1)]
    if len(dims) > 2:
        return "".join(f"[{_rows(row, dims[1:])}]" for row in rows)
    return "".join(f"[{' '.join(row)}{'...' if len(row) < length else ''}]" for row in rows)


def edges(array: np.ndarray, summarize: int) -> str:
    """Return the first and last `summarize` entries of every dimension (all for a negative number).

    >>> edges(np.arange(10), 2)
    '[0 1 ... 8 9]'
    """
    count = array.size if summarize < 0 else min(summarize, array.size)
    text = quoted if array.dtype.kind == "O" else text_of(array.dtype)
    return _nested(array, count, 0, text)


def _nested(array: np.ndarray, count: int, depth: int, text: Text) -> str:
    if array.ndim == 0:
        return text(array[()]) if count else "..."
    gap = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)

    def entry(i: int) -> str:
        return _nested(array[i : i + 1].reshape(array.shape[1:]), count, depth + 1, text)

    length = len(array)
    if length <= 2 * count:
        return "[" + gap.join(entry(i) for i in range(length)) + "]"
    first = gap.join(entry(i) for i in range(count))
    last = "".join(gap + entry(i) for i in range(length - count, length))
    return f"[{first}{gap}...{last}]"


# --- one element ------------------------------------------------------------------------------------------------------


def text_of(dtype: np.dtype) -> Text:
    """Return how an element of this dtype is written."""
    if dtype.kind == "O":
        return _plain
    kind = dtypes.from_numpy(dtype)
    if kind is dtypes.bool:
        return lambda item: "1" if item else "0"
    if kind.is_floating:
        return _double if kind is dtypes.float64 else _float
    if kind.is_complex:
        part = _double if kind is dtypes.complex128 else _float
        return lambda item: f"({part(item.real)},{part(item.imag)})"
    return lambda item: str(int(item))


def _float(item: Any) -> str:
    """Return a number of at most 32 bits: in six digits where they say it all, else in nine."""
    value = np.float32(item)
    if np.isnan(value):
        return "-nan" if np.signbit(value) else "nan"
    short = f"{float(value):.6g}"
    return short if np.float32(short) == value else f"{float(value):.9g}"


def _double(item: Any) -> str:
    value = float(item)
    if np.isnan(value):
        return "-nan" if np.signbit(value) else "nan"
    short = f"{value:.15g}"
    return short if float(short) == value else f"{value:.17g}"


def _plain(item: Any) -> str:
    """Return a string as it is shown without quotes, or what stands for an object that is none."""
    return escaped(item) if isinstance(item, (bytes, str)) else f"<{type(item).__name__}>"


def quoted(item: Any) -> str:
    """Return a string in double quotes."""
    return f'"{escaped(item)}"' if isinstance(item, (bytes, str)) else _plain(item)


def escaped(item: bytes | str) -> str:
    """Return a string with quotes, backslashes and control characters escaped as in C; bytes beyond ASCII stay.

    >>> escaped(b"it's 1\\x01")
    "it\\\\'s 1\\\\001"
    """
    text = item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else item
    return "".join(_ESCAPES.get(c) or (c if c >= " " and c != "\x7f" else f"\\{ord(c):03o}") for c in text)
