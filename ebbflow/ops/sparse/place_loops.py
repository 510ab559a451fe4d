"""Walks along the places of sparse tensors, as loops that may become machine code (`core.loops`)."""

from __future__ import annotations

from ebbflow.core.loops import F32, I64, loop

MANY = 1 << 10
"""Places from which on code is worth asking for."""


@loop
def first_out_of_order(places: I64, n: int, rank: int) -> int:
    """Return the number of the first place that does not come after the one before it, `n` where there is none."""
    for i in range(1, n):
        before, at = (i - 1) * rank, i * rank
        k = 0
        while k < rank and places[before + k] == places[at + k]:
            k += 1
        if k == rank or places[at + k] < places[before + k]:
            return i
    return n


@loop
def first_outside(places: I64, n: int, rank: int, sizes: I64) -> int:
    """Return the number of the first place that is not within the whole, `n` where there is none."""
    for i in range(n):
        for k in range(rank):
            at = places[i * rank + k]
            if at < 0 or at >= sizes[k]:
                return i
    return n


@loop
def merged(a: I64, n: int, b: I64, m: int, rank: int, places: I64, at_a: I64, at_b: I64) -> int:
    """Merge places in order, each once; write where each of either went, and return how many there are together."""
    i, j, count = 0, 0, 0
    while i < n or j < m:
        order = 0  # below 0: the next of a comes first
        if i == n:
            order = 1
        elif j == m:
            order = -1
        else:
            k = 0
            while k < rank and a[i * rank + k] == b[j * rank + k]:
                k += 1
            if k < rank:
                order = -1 if a[i * rank + k] < b[j * rank + k] else 1
        for k in range(rank):
            places[count * rank + k] = a[i * rank + k] if order <= 0 else b[j * rank + k]
        if order <= 0:
            at_a[i] = count
            i += 1
        if order >= 0:
            at_b[j] = count
            j += 1
        count += 1
    return count


@loop
def added_rows(
    places: I64, n: int, step: int, out: int, inner: int, values: F32, dense: F32, width: int, product: F32
) -> None:
    """Add to rows of a product those of a matrix, each times its value; place `i` begins at `i * step`."""
    for i in range(n):
        to, at, value = places[i * step + out] * width, places[i * step + inner] * width, values[i]
        for k in range(width):
            product[to + k] += value * dense[at + k]
