"""LAPACK's functions as NumPy's own calls them, where most of a call of `numpy.linalg` is looking at types.

For the two factors of a small matrix and for its eigenvalues that is two thirds of the time. Numbers are the same: both
compute in double precision. Where NumPy has no such function, or what comes out is not finite, the answer is None, and
`numpy.linalg` is asked, which knows what to do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

try:
    from numpy.linalg import _umath_linalg as _functions
except ImportError:  # a NumPy that keeps them elsewhere
    _functions = None  # type: ignore[assignment]

ONE_THREAD = 8192
"""Of up to so many numbers OpenBLAS makes a sum with one thread; two would wait for each other on busy cores."""

_masks: dict[tuple[int, int], np.ndarray] = {}


def sound(x: np.ndarray) -> bool:
    """Return whether all numbers are finite, as far as the sum of their squares tells: False may be wrong."""
    if x.size > ONE_THREAD:
        return bool(np.isfinite(x).all())
    return math.isfinite(np.vdot(x, x).real)


def eig(x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the eigenvalues and vectors of matrices that are finite, as complex numbers of 128 bits."""
    function = getattr(_functions, "eig", None)
    if function is None or not x.size or not sound(x):
        return None
    with np.errstate(all="ignore"):
        values, vectors = function(x, signature="D->DD" if x.dtype.kind == "c" else "d->DD")
        return (values, vectors) if sound(values) else None


def qr(x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the two factors of matrices, the first with as many columns as the shorter side."""
    raw, reduced = (getattr(_functions, name, None) for name in ("qr_r_raw", "qr_reduced"))
    if raw is None or reduced is None or not x.size:
        return None
    whole = x.dtype.kind == "c"
    work = x.astype(np.complex128 if whole else np.float64)  # which is written over
    scales = raw(work, signature="D->D" if whole else "d->d")
    inner = min(x.shape[-2:])
    return reduced(work, scales, signature="DD->D" if whole else "dd->d"), _upper(work[..., :inner, :])


def _upper(x: Any) -> Any:
    """Return the triangles on and above the diagonal; which places these are is kept for small matrices."""
    sides = x.shape[-2:]
    mask = _masks.get(sides)
    if mask is None:
        mask = np.tri(sides[0], sides[1], k=-1, dtype=bool)
        if mask.size <= 1024 and len(_masks) < 256:
            _masks[sides] = mask
    triangle = x.copy()
    triangle[..., mask] = 0
    return triangle
