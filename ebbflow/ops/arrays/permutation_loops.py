"""Permutations turned round, as loops that may become machine code (`core.loops`)."""

from __future__ import annotations

import numpy as np

from ebbflow.core.loops import I32, I64, loop


@loop
def inverse_of_int32(x: I32, n: int, out: I32) -> bool:
    """Write where each number stands; say whether each stands there once."""
    for i in range(n):
        out[i] = -1
    for i in range(n):
        at = x[i]
        if at < 0 or at >= n or out[at] >= 0:
            return False
        out[at] = i
    return True


@loop
def inverse_of_int64(x: I64, n: int, out: I64) -> bool:
    """The same for longer integers."""
    for i in range(n):
        out[i] = -1
    for i in range(n):
        at = x[i]
        if at < 0 or at >= n or out[at] >= 0:
            return False
        out[at] = i
    return True


LOOPS = {np.dtype(np.int32): inverse_of_int32, np.dtype(np.int64): inverse_of_int64}


def inverse_of(x: np.ndarray) -> np.ndarray | None:
    """Return the inverse of a permutation; None where that is no permutation, or NumPy is to do it."""
    walk = LOOPS.get(x.dtype)
    code = walk.worth(x.size) if walk is not None and x.flags.c_contiguous else None
    if code is None:
        return None
    out = np.empty_like(x)
    return out if code(x, x.size, out) else None
