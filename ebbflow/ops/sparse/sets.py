"""Sets: the last axis of a tensor, dense or sparse, is one set for each place of the others.

A set operation gives a sparse tensor whose rows are the resulting sets, in order. Sizes, intersections, differences and
unions differ only in which Python operator joins two sets; groups are met in row-major order.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.convert import convert
from ebbflow.core.op import Known, op
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.sizes import invalid
from ebbflow.ops.sparse.arrays import checked, in_order, positions, within

_TYPES = "T: type in [int8,int16,int32,int64,uint8,uint16,string]"
_ATTRS = f"set_operation: string; validate_indices: bool = true; {_TYPES}"
_OUT = "(result_indices:int64, result_values:T, result_shape:int64)"
JOINS: dict[str, Callable[[set[Any], set[Any]], set[Any]]] = {
    "a-b": operator.sub,
    "b-a": lambda a, b: b - a,
    "intersection": operator.and_,
    "union": operator.or_,
}

SetSize = op(
    "SetSize(set_indices:int64, set_values:T, set_shape:int64) -> (size:int32) | validate_indices: bool = true; "
    f"{_TYPES}",
    gradient=FLAT,
)
DenseToDenseSetOperation = op(
    f"DenseToDenseSetOperation(set1:T, set2:T) -> {_OUT} | {_ATTRS}", gradient=FLAT, facts="data_dependent"
)
DenseToSparseSetOperation = op(
    f"DenseToSparseSetOperation(set1:T, set2_indices:int64, set2_values:T, set2_shape:int64) -> {_OUT} | {_ATTRS}",
    gradient=FLAT,
    facts="data_dependent",
)
SparseToSparseSetOperation = op(
    "SparseToSparseSetOperation(set1_indices:int64, set1_values:T, set1_shape:int64, set2_indices:int64, "
    f"set2_values:T, set2_shape:int64) -> {_OUT} | {_ATTRS}",
    gradient=FLAT,
)


# --- groups -----------------------------------------------------------------------------------------------------------


class _Sets:
    """The sets of one operand, by the number of their group; `lead` is the shape of the groups."""

    def __init__(self, lead: tuple[int, ...], groups: dict[int, set[Any]]):
        self.lead, self.groups = lead, groups


def _dense_sets(x: np.ndarray, name: str) -> _Sets:
    if x.ndim < 2:
        raise invalid(f"{name} must be at least of rank 2, but its shape is {show(x.shape)}")
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    return _Sets(x.shape[:-1], {i: set(row.tolist()) for i, row in enumerate(rows)})


def _sparse_sets(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, validate: bool, name: str) -> _Sets:
    checked(indices, values, shape)
    if len(shape) < 2:
        raise invalid(f"Input SparseTensor {name} must be at least of rank 2, but its shape is {shape.tolist()}")
    if validate:
        within(indices, shape)
        in_order(indices)
    lead = tuple(shape[:-1].tolist())
    groups: dict[int, set[Any]] = {}
    for group, value in zip(positions(indices[:, :-1], lead).tolist(), values.tolist(), strict=True):
        groups.setdefault(group, set()).add(value)
    return _Sets(lead, groups)


def _joined(a: _Sets, b: _Sets, operation: str, dtype: Any) -> tuple[Any, Any, Any]:
    join = JOINS.get(operation.lower() if isinstance(operation, str) else operation.decode().lower())
    if join is None:
        raise invalid(f"Invalid set_operation {operation}: it is one of {', '.join(JOINS)}")
    if len(a.lead) != len(b.lead) or a.lead != b.lead:
        raise invalid(f"Mismatched group shapes {list(a.lead)} vs {list(b.lead)}: sets are joined group by group")
    values: list[Any] = []
    groups = sorted({*a.groups, *b.groups})
    counts = np.zeros(len(groups), np.int64)
    for i, group in enumerate(groups):
        members = sorted(join(a.groups.get(group, set()), b.groups.get(group, set())))
        values.extend(members)
        counts[i] = len(members)
    places = np.empty((len(values), len(a.lead) + 1), np.int64)
    for axis, where in enumerate(np.unravel_index(np.array(groups, np.int64), a.lead)):
        places[:, axis] = np.repeat(where, counts)
    places[:, -1] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    return places, np.array(values, dtype), np.array([*a.lead, counts.max(initial=0)], np.int64)


# --- ops --------------------------------------------------------------------------------------------------------------


@SetSize.shape
def _(set_indices, set_values, set_shape):
    return None  # TensorFlow's rule: only a run tells, even where the shape is known


@SetSize.kernel
def _(xp, set_indices, set_values, set_shape, *, validate_indices):
    sets = _sparse_sets(set_indices, set_values, set_shape, validate_indices, "set")
    sizes = np.zeros(math.prod(sets.lead), np.int32)
    for group, members in sets.groups.items():
        sizes[group] = len(members)
    return sizes.reshape(sets.lead)


def _known_rank(*args: Known) -> int | None:
    ranks = {len(a.dims) for a in args if a.dims is not None}
    if len(ranks) > 1:
        raise errors.StaticShapeError(f"Ranks do not match: {', '.join(show(a.dims) for a in args)}")
    return ranks.pop() if ranks else None


def _parts(rank: int | None) -> list[Any]:
    return [(None, rank), (None,), (rank,)]


@DenseToDenseSetOperation.shape
def _(set1, set2):
    rank = _known_rank(set1, set2)
    if rank is not None and rank < 2:
        raise errors.StaticShapeError(f"Input must have rank >= 2, but it has rank {rank}")
    for a, b in zip((set1.dims or ())[:-1], (set2.dims or ())[:-1], strict=False):
        if None not in (a, b) and a != b:
            raise errors.StaticShapeError(f"Dimensions must be equal, but are {a} and {b}")
    return _parts(rank)


@DenseToSparseSetOperation.shape
def _(set1, set2_indices, set2_values, set2_shape):
    return _parts(set1.rank)


@SparseToSparseSetOperation.shape
def _(set1_indices, set1_values, set1_shape, set2_indices, set2_values, set2_shape):
    lengths = [s.dims[0] for s in (set1_shape, set2_shape) if s.dims]
    return _parts(next((n for n in lengths if n is not None), None))


@DenseToDenseSetOperation.kernel
def _(xp, set1, set2, *, set_operation):
    return _joined(_dense_sets(set1, "set1"), _dense_sets(set2, "set2"), set_operation, set1.dtype)


@DenseToSparseSetOperation.kernel
def _(xp, set1, set2_indices, set2_values, set2_shape, *, set_operation, validate_indices):
    second = _sparse_sets(set2_indices, set2_values, set2_shape, validate_indices, "set2")
    return _joined(_dense_sets(set1, "set1"), second, set_operation, set1.dtype)


@SparseToSparseSetOperation.kernel
def _(
    xp, set1_indices, set1_values, set1_shape, set2_indices, set2_values, set2_shape, *, set_operation, validate_indices
):
    first = _sparse_sets(set1_indices, set1_values, set1_shape, validate_indices, "set1")
    second = _sparse_sets(set2_indices, set2_values, set2_shape, validate_indices, "set2")
    return _joined(first, second, set_operation, set1_values.dtype)


# --- public functions -------------------------------------------------------------------------------------------------


def set_size(a: TensorLike, validate_indices: bool = True) -> Tensor:
    """Return how many different elements each set of a sparse tensor has."""
    if not isinstance(a, SparseTensor):
        raise TypeError("Expected `SparseTensor`, got %s." % type(a))  # noqa: UP031 - as TensorFlow words it
    return SetSize(a.indices, a.values, a.dense_shape, validate_indices=validate_indices)


def _operation(a: Any, b: Any, operation: str, validate: bool) -> SparseTensor:
    a, b = (x if isinstance(x, SparseTensor) else convert(x) for x in (a, b))
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        a, b, operation = b, a, {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    attrs: dict[str, Any] = {"set_operation": operation, "validate_indices": validate}
    found = _called(list(_flat(a)), list(_flat(b)), attrs)
    return SparseTensor(*found)


def _flat(x: Any) -> Iterator[Any]:
    yield from (x.indices, x.values, x.dense_shape) if isinstance(x, SparseTensor) else (x,)


def _called(a: list[Any], b: list[Any], attrs: dict[str, Any]) -> Any:
    if len(a) == 3:
        return SparseToSparseSetOperation(*a, *b, **attrs)
    return (DenseToSparseSetOperation if len(b) == 3 else DenseToDenseSetOperation)(*a, *b, **attrs)


def set_intersection(a: TensorLike, b: TensorLike, validate_indices: bool = True) -> SparseTensor:
    """Return, set by set along the last axis, what is in both `a` and `b`, as a sparse tensor.

    >>> set_intersection([[1, 2]], [[2, 3]]).values.numpy().tolist()
    [2]
    """
    return _operation(a, b, "intersection", validate_indices)


def set_difference(a: TensorLike, b: TensorLike, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """Return, set by set along the last axis, what is in `a` and not in `b` (or the other way round)."""
    return _operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a: TensorLike, b: TensorLike, validate_indices: bool = True) -> SparseTensor:
    """Return, set by set along the last axis, what is in `a` or in `b`, as a sparse tensor."""
    return _operation(a, b, "union", validate_indices)
