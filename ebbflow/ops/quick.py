"""Short ways for eager calls of array ops: results made at once, and the small integer tensors that go with them.

A public function that is called millions of times with eager tensors computes its array itself and hands it to
`result_of`, which does what calling the op would have done last: wrap it and tell the recorders. Anything unusual (a
graph, other classes, an error) goes the long way through the op, which explains it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.elsewhere import as_array
from ebbflow.core.op import Op, record
from ebbflow.core.tensor import EagerTensor, _new, ndarray, wrap


def result_of(op: Op, inputs: Sequence[Any], array: Any, dtype: DType, attrs: dict[str, Any]) -> EagerTensor:
    """Return what `op` gave for `inputs`, recorded where a recorder listens."""
    result = _new(EagerTensor)
    result._array = array if array.__class__ is ndarray else as_array(array, dtype.np)
    result._dtype = dtype
    if context.recorders:
        record(op, inputs, (result,), attrs)
    return result


def results_of(op: Op, inputs: Sequence[Any], arrays: Any, dtype: DType, attrs: dict[str, Any]) -> list[EagerTensor]:
    """Return what `op` gave for `inputs`: several tensors of one dtype."""
    results = []
    for array in arrays:
        result = _new(EagerTensor)
        result._array = array
        result._dtype = dtype
        results.append(result)
    if context.recorders:
        record(op, inputs, tuple(results), attrs)
    return results


@functools.lru_cache(maxsize=1024)
def int32s(values: tuple[int, ...]) -> EagerTensor:
    """Return an int32 vector (int64 where a number does not fit); the same tensor each time."""
    try:
        return wrap(np.array(values, np.int32), dtypes.int32)
    except OverflowError:
        return wrap(np.array(values, np.int64), dtypes.int64)


@functools.lru_cache(maxsize=1024)
def int32(value: int) -> EagerTensor:
    """Return an int32 scalar; the same tensor each time."""
    return wrap(np.array(value, np.int32), dtypes.int32)


def all_eager(values: Any) -> bool:
    """Return whether these are eager tensors of one dtype."""
    dtype = getattr(values[0], "_dtype", None)
    return all([v.__class__ is EagerTensor and v._dtype is dtype for v in values])


_NUMBERS = {
    frozenset({float}): dtypes.float32,
    frozenset({int, float}): dtypes.float32,
    frozenset({int}): dtypes.int32,
    frozenset({bool}): dtypes.bool,
}


def numbers(value: list[Any], dtype: DType | None) -> tuple[np.ndarray, DType] | None:
    """Return a plain list, or a list of plain lists, of Python numbers as an array; None where it is anything else."""
    kinds = frozenset(map(type, value))
    if kinds == _LISTS:
        kinds = frozenset().union(*[map(type, row) for row in value])
    natural = _NUMBERS.get(kinds)
    if natural is None or (dtype is not None and dtype is not natural):
        if natural is None or not (dtype is dtypes.float32 and natural is dtypes.int32):
            return None
        natural = dtype
    try:
        return np.array(value, natural.np), natural
    except (ValueError, OverflowError):  # ragged, or too large for int32: the long way says so or finds int64
        return None


_LISTS = frozenset({list})
