"""Permutations: the one that undoes another."""

from __future__ import annotations

import numpy as np

from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.permutation_loops import inverse_of
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid, vector

InvertPermutation = op("InvertPermutation(x:T) -> (y:T) | T: index = int32", gradient=FLAT, facts="static portable")


@InvertPermutation.shape
def _(x):
    return (vector(x, "x"),)


@InvertPermutation.kernel
def _(xp, x):
    if x.ndim != 1:
        raise invalid("invert_permutation expects a 1D vector.")
    count = len(x)
    if xp is not np:
        return xp.argsort(x).astype(x.dtype)
    inverse = inverse_of(x)
    if inverse is None:
        _check_permutation(x, count)
        inverse = np.empty(count, x.dtype)
        inverse[x] = np.arange(count, dtype=x.dtype)
    return inverse


def _check_permutation(x: np.ndarray, count: int) -> None:
    outside = x[(x < 0) | (x >= count)]
    if outside.size:
        raise invalid(f"{outside[0]} is not between 0 and {count}")
    seen = np.bincount(x, minlength=count)
    if count and seen.max() > 1:
        raise invalid(f"{int(seen.argmax())} is duplicated in the input.")


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the permutation that undoes `x`."""
    return InvertPermutation(x, name=name)
