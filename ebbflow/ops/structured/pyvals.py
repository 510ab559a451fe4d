"""Nested Python values and structured tensors: dicts in lists are kept field by field, and written out again.

Is given the class of structured tensors; knows tensors, ragged ones and their specs.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.spec import TensorSpec
from ebbflow.ops.ragged.dynamic_shape import DynamicRaggedShape
from ebbflow.ops.ragged.functions import constant
from ebbflow.ops.ragged.partition import RowPartition
from ebbflow.ops.ragged.spec import RaggedTensorSpec
from ebbflow.ops.ragged.tensor import RaggedTensor


def from_pyval(cls: Any, pyval: Any, typespec: Any, path: tuple[str, ...]) -> Any:
    """Return a nested value as a structure, or a tensor where there are no dicts in it."""
    if isinstance(pyval, dict):
        return _from_dict(cls, pyval, typespec, path)
    if not isinstance(pyval, (list, tuple)):
        return _from_scalar(pyval, typespec, path)
    keys: dict[str, None] = {}
    depth = _depth_of_dicts(pyval, keys)
    if depth is not None:
        return _from_dicts(cls, pyval, list(keys), depth, typespec, path)
    return _from_values(cls, pyval, typespec, path)


def _mismatch(path: tuple[str, ...], pyval: Any, typespec: Any, why: str = "") -> ValueError:
    return ValueError(f"Value at {path!r} does not match typespec{why}: {pyval!r} vs {typespec!r}")


def _from_dict(cls: Any, pyval: dict[str, Any], typespec: Any, path: tuple[str, ...]) -> Any:
    specs = dict.fromkeys(pyval)
    if typespec is not None:
        if not isinstance(typespec, cls.Spec) or typespec.rank or set(pyval) != set(typespec._field_specs):
            raise _mismatch(path, pyval, typespec)
        specs = dict(typespec._field_specs)
    return cls.from_fields({key: from_pyval(cls, value, specs[key], (*path, key)) for key, value in pyval.items()}, ())


def _depth_of_dicts(pyval: Any, keys: dict[str, None]) -> int | None:
    """Return how deep in lists the dicts of a value are, None where there are none; collect their keys."""
    if isinstance(pyval, dict):
        keys.update(dict.fromkeys(pyval))
        return 0
    if not isinstance(pyval, (list, tuple)):
        return None
    depth = None
    for item in pyval:
        inner = _depth_of_dicts(item, keys)
        if inner is not None and depth is not None and inner + 1 != depth:
            raise ValueError("Inconsistent depth of dictionaries")
        depth = depth if inner is None else inner + 1
    if depth is not None and any(not isinstance(item, (dict, list, tuple)) for item in pyval):
        raise ValueError("Expected dict or nested list/tuple of dict")
    return depth


def _from_dicts(cls: Any, pyval: Any, keys: list[str], rank: int, typespec: Any, path: tuple[str, ...]) -> Any:
    specs: dict[str, Any] = dict.fromkeys(keys)
    if typespec is not None:
        if not isinstance(typespec, cls.Spec) or set(keys) != set(typespec._field_specs):
            raise _mismatch(path, pyval, typespec)
        if typespec.rank != rank:
            raise _mismatch(path, pyval, typespec, " (rank mismatch)")
        specs = dict(typespec._field_specs)
    for more in keys[len(_first_dict(pyval, rank)) :]:
        raise KeyError(more)  # the first dict says which fields there are
    if not keys:
        return cls.from_shape(_shape_of_lists(pyval, rank))
    values = {key: _of_field(pyval, key, rank) for key in keys}
    made = {key: from_pyval(cls, value, specs[key], (*path, key)) for key, value in values.items()}
    return cls.from_fields(made, [None] * rank if typespec is None else typespec.shape)


def _first_dict(pyval: Any, rank: int) -> Any:
    """Return the first dict in nested lists."""
    for item in pyval if rank > 1 else pyval[:1]:
        found = _first_dict(item, rank - 1) if rank > 1 else item
        if found is not None:
            return found
    return None


def _of_field(pyval: Any, key: str, rank: int) -> Any:
    """Return the values of one field as nested as the dicts were."""
    return pyval[key] if not rank else [_of_field(item, key, rank - 1) for item in pyval]


def _shape_of_lists(pyval: Any, rank: int) -> DynamicRaggedShape:
    """Return the shape of nested lists."""
    partitions, rows = [], list(pyval)
    for _ in range(rank - 1):
        partitions.append(RowPartition.from_row_lengths(np.array([len(row) for row in rows], np.int64)))
        rows = list(itertools.chain.from_iterable(rows))
    if partitions:
        return DynamicRaggedShape.from_row_partitions(partitions)
    return DynamicRaggedShape._from_inner_shape([len(rows)])


def _from_values(cls: Any, pyval: Any, typespec: Any, path: tuple[str, ...]) -> Any:
    """Return nested lists without dicts as a tensor, ragged where nothing says otherwise."""
    if typespec is None:
        return _parsed(path, lambda: constant(pyval))
    if isinstance(typespec, TensorSpec):
        made = _parsed(path, lambda: convert(_array(pyval, typespec), typespec.dtype))
        if not typespec.shape.is_compatible_with(made.shape):
            raise _mismatch(path, pyval, typespec)
        return made
    if isinstance(typespec, RaggedTensorSpec):
        inner = typespec.shape[typespec.ragged_rank + 1 :] if typespec.shape.rank is not None else None
        options = {"ragged_rank": typespec.ragged_rank, "row_splits_dtype": typespec.row_splits_dtype}
        known = None if inner is None or not inner.is_fully_defined() else tuple(inner.as_list())
        return _parsed(path, lambda: constant(pyval, typespec.dtype, inner_shape=known, **options))
    if isinstance(typespec, cls.Spec):
        depth = _depth_of_nothing(pyval)
        if depth is None or depth > typespec.rank:
            raise _mismatch(path, pyval, typespec)
        specs = typespec._field_specs
        made = {key: from_pyval(cls, pyval, spec, (*path, key)) for key, spec in specs.items()}
        return cls.from_fields(made, typespec.shape)
    raise _mismatch(path, pyval, typespec)


def _array(pyval: Any, typespec: Any) -> Any:
    """Return lists as an array; where they are empty, of the shape that is known."""
    found = np.asarray(pyval) if typespec.dtype is not dtypes.string else pyval
    known = typespec.shape
    empty = isinstance(found, np.ndarray) and not found.size and known.rank is not None and known.is_fully_defined()
    return found.reshape(known.as_list()) if empty and TensorShape(known).num_elements() == 0 else found


def _parsed(path: tuple[str, ...], make: Any) -> Any:
    try:
        return make()
    except Exception as error:
        raise ValueError(f"Error parsing path {path!r}") from error


def _depth_of_nothing(pyval: Any) -> int | None:
    """Return how deep lists without anything in them are nested; None where there is something."""
    if not isinstance(pyval, (list, tuple)):
        return None
    depths = [_depth_of_nothing(item) for item in pyval]
    if None in depths:
        return None
    return 1 + max((depth for depth in depths if depth is not None), default=0)


def _from_scalar(pyval: Any, typespec: Any, path: tuple[str, ...]) -> Any:
    if typespec is None:
        return _parsed(path, lambda: convert(pyval))
    if not isinstance(typespec, TensorSpec) or typespec.shape.rank not in (0, None):
        raise _mismatch(path, pyval, typespec)
    return _parsed(path, lambda: convert(pyval, typespec.dtype))


# --- written out ------------------------------------------------------------------------------------------------------


def to_pyval(structure: Any) -> Any:
    """Return a structure as nested dicts and lists."""
    values = {name: _written(structure.field_value(name)) for name in structure.field_names()}
    if values:
        return _dicts(values, structure.rank)
    if not structure.rank:
        return {}
    full = structure._ragged_shape
    nothing = full._add_row_partitions(convert(np.zeros(full.inner_shape.numpy(), np.int8)))
    return _with_dicts(_written(nothing))


def _written(value: Any) -> Any:
    if hasattr(value, "to_pyval"):
        return value.to_pyval()
    return (
        value.to_list()
        if isinstance(value, RaggedTensor)
        else value.numpy().tolist()
        if value.shape.rank
        else (value.numpy().item() if hasattr(value.numpy(), "item") else value.numpy())
    )


def _dicts(values: dict[str, Any], depth: int) -> Any:
    """Return values by field as nested lists of dicts."""
    if not depth:
        return values
    count = len(next(iter(values.values())))
    return [_dicts({name: value[i] for name, value in values.items()}, depth - 1) for i in range(count)]


def _with_dicts(nested: Any) -> Any:
    return [_with_dicts(item) for item in nested] if isinstance(nested, list) else {}
