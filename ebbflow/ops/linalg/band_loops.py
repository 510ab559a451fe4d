"""Bands of matrices kept, as loops that may become machine code (`core.loops`)."""

from __future__ import annotations

import numpy as np

from ebbflow.core import memory
from ebbflow.core.loops import I32, loop
from ebbflow.ops.parts import in_shares


@loop
def kept_bands(x: I32, out: I32, rows: int, columns: int, lower: int, upper: int, begin: int, end: int) -> None:
    """Copy of each row what lies near the diagonal, and write zeros beside it."""
    for i in range(begin, end):
        row, at = i % rows, i * columns
        first, last = max(row - lower, 0), min(row + upper + 1, columns)
        for k in range(0, min(first, columns)):
            out[at + k] = 0
        for k in range(first, last):
            out[at + k] = x[at + k]
        for k in range(max(last, 0), columns):
            out[at + k] = 0


def band_part(x: np.ndarray, lower: int, upper: int) -> np.ndarray | None:
    """Return matrices with zeros beside a band (a width below 0: all of that side); None where NumPy is to do it."""
    code = kept_bands.worth(x.size) if x.dtype.str[1:] in ("f4", "i4") and x.flags.c_contiguous and x.size else None
    if code is None:
        return None
    rows, columns = x.shape[-2:]
    widths = (rows if lower < 0 else lower, columns if upper < 0 else upper)
    out = memory.empty(x.shape, x.dtype)
    in_shares(
        lambda begin, end: code(x, out, rows, columns, *widths, begin, end), x.size // columns, (1 << 17) // columns + 1
    )
    return out
