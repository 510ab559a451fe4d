"""Sparse tensors that a map of the session's holds under numbers: handles go through queues where parts cannot."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.variable_ops import find_or_make

_NAMED = 'container: string = ""; shared_name: string = ""'


class SparseMap:
    """Sparse tensors by number; one that is taken is gone."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Any, Any, Any]] = {}
        self._numbers = itertools.count()

    def add(self, parts: tuple[Any, Any, Any]) -> int:
        """Keep the parts of a sparse tensor; return their number."""
        number = next(self._numbers)
        self._kept[number] = parts
        return number

    def take(self, number: int) -> tuple[Any, Any, Any]:
        """Return the parts of a number, and forget them."""
        found = self._kept.pop(number, None)
        if found is None:
            raise invalid(f"Unable to find SparseTensor: {number} in map")
        return found


def _map(container: str, shared_name: str, run: Any) -> SparseMap:
    name = shared_name or (run.node.name if run.node is not None else "")
    return find_or_make((container, name, "sparse tensors"), run, SparseMap)


AddSparseToTensorsMap = op(
    "AddSparseToTensorsMap(sparse_indices:int64, sparse_values:T, sparse_shape:int64) -> (sparse_handle:int64) | "
    f"T: type; {_NAMED} | stateful",
    shape=lambda sparse_indices, sparse_values, sparse_shape: (),
    gradient=FLAT,
)


@AddSparseToTensorsMap.kernel
def _(xp, sparse_indices, sparse_values, sparse_shape, *, container, shared_name, run):
    _check(sparse_indices, sparse_values, sparse_shape)
    return np.int64(_map(container, shared_name, run).add((sparse_indices, sparse_values, sparse_shape)))


AddManySparseToTensorsMap = op(
    "AddManySparseToTensorsMap(sparse_indices:int64, sparse_values:T, sparse_shape:int64) -> (sparse_handles:int64) | "
    f"T: type; {_NAMED} | stateful",
    shape=lambda sparse_indices, sparse_values, sparse_shape: (None,),
    gradient=FLAT,
)


@AddManySparseToTensorsMap.kernel
def _(xp, sparse_indices, sparse_values, sparse_shape, *, container, shared_name, run):
    _check(sparse_indices, sparse_values, sparse_shape)
    if len(sparse_shape) < 2:
        raise invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {len(sparse_shape)}")
    kept, rows = _map(container, shared_name, run), sparse_indices[:, 0]
    if np.any((rows < 0) | (rows >= sparse_shape[0])):
        raise invalid(f"sparse_indices has rows outside [0, {sparse_shape[0]}) of sparse_shape")
    parts = [
        (sparse_indices[rows == r, 1:], sparse_values[rows == r], sparse_shape[1:]) for r in range(sparse_shape[0])
    ]
    return np.array([kept.add(part) for part in parts], np.int64)


def _check(indices: Any, values: Any, shape: Any) -> None:
    if indices.ndim != 2 or values.ndim != 1 or shape.ndim != 1:
        ranks = f"{indices.ndim}, {values.ndim} and {shape.ndim}"
        raise invalid(f"sparse_indices, sparse_values and sparse_shape must be of rank 2, 1 and 1; got {ranks}")
    if indices.shape != (len(values), len(shape)):
        raise invalid(
            f"sparse_indices of shape {list(indices.shape)} do not fit {len(values)} sparse_values and a sparse_shape "
            f"of {len(shape)} axes"
        )


TakeManySparseFromTensorsMap = op(
    "TakeManySparseFromTensorsMap(sparse_handles:int64) -> (sparse_indices:int64, sparse_values:dtype, "
    f"sparse_shape:int64) | dtype: type; {_NAMED} | stateful",
    shape=lambda sparse_handles: ((None, None), (None,), (None,)),
    gradient=FLAT,
)


@TakeManySparseFromTensorsMap.kernel
def _(xp, sparse_handles, *, dtype, container, shared_name, run):
    if sparse_handles.ndim != 1 or not sparse_handles.size:
        raise invalid(f"sparse_handles must be a vector that is not empty; got shape {list(sparse_handles.shape)}")
    kept = _map(container, shared_name, run)
    taken = [kept.take(int(number)) for number in sparse_handles]
    rank = len(taken[0][2])
    for place, (_, values, shape) in enumerate(taken):
        if len(shape) != rank:
            raise invalid(
                f"Inconsistent rank across SparseTensors: rank prior to SparseTensor[{place}] was: {rank + 1} but rank "
                f"of SparseTensor[{place}] is: {len(shape) + 1}"
            )
        if values.dtype != dtype.np:
            raise invalid(f"Requested SparseTensor of type {dtype.name} but SparseTensor[{place}] is of another")
    rows = np.repeat(np.arange(len(taken)), [len(values) for _, values, _ in taken])
    indices = np.concatenate([rows[:, None], np.concatenate([indices for indices, _, _ in taken])], 1)
    shape = np.max([shape for _, _, shape in taken], 0)
    values = np.concatenate([values for _, values, _ in taken])
    return indices.astype(np.int64), values, np.array([len(taken), *shape], np.int64)
