"""Checks of what people say about a column, and ids in the form that columns use."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.sparse import SparseTensor
from ebbflow.graph.scopes import name_scope_v1
from ebbflow.ops.arrays.indexing import gather_nd
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.elementwise.binary import maximum
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import not_equal, where
from ebbflow.ops.elementwise.unary import ceil
from ebbflow.ops.ragged.tensor import RaggedTensor
from ebbflow.ops.reduce.segment import unsorted_segment_max
from ebbflow.ops.sparse.functions import convert_to_tensor_or_sparse_tensor


def key_string(key: Any) -> str:
    """Return the key of a feature, which must be a string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")
    return key


def string_or_integer(dtype: Any, prefix: str) -> None:
    """Raise ValueError for a dtype that is neither."""
    if dtype is not dtypes.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def checked_shape(shape: Any, key: Any) -> tuple[int, ...]:
    """Return the shape of a row as a tuple of sizes, each at least one."""
    key_string(key)
    dims = tuple(shape) if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    if hasattr(shape, "as_list"):
        dims = tuple(shape.as_list())
    for size in dims:
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
    return dims


def _as_tuple(value: Any) -> Any:
    if not isinstance(value, (list, tuple)):
        return value
    return tuple(_as_tuple(item) for item in value)


def _filled(shape: Sequence[int], value: Any) -> Any:
    return tuple(_filled(shape[1:], value) for _ in range(shape[0])) if shape else value


def check_default_value(shape: tuple[int, ...], default_value: Any, dtype: Any, key: str) -> Any:
    """Return the default of a row as nested tuples of `shape`; one number stands for all of them."""
    if default_value is None:
        return None
    if isinstance(default_value, (int, np.integer)) and not isinstance(default_value, bool):
        return _filled(shape, float(default_value) if dtype.is_floating else int(default_value))
    if isinstance(default_value, (float, np.floating)):
        if dtype.is_floating:
            return _filled(shape, float(default_value))
        raise TypeError(f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}")
    array = np.asarray(default_value)
    if array.shape != tuple(shape):
        raise ValueError(
            f"The shape of default_value must be equal to given shape. default_value: {default_value}, shape: {shape}, "
            f"key: {key}"
        )
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and dtype.is_floating):
        return _as_tuple(default_value.tolist() if isinstance(default_value, np.ndarray) else default_value)
    raise TypeError(f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}")


def as_ids(value: Any, ignore_value: Any = None) -> Any:
    """Return a feature as a sparse tensor. Of a dense one, empty strings and -1 are left out (or `ignore_value`)."""
    if isinstance(value, RaggedTensor):
        return value.to_sparse()
    tensor = convert_to_tensor_or_sparse_tensor(value)
    if isinstance(tensor, SparseTensor):
        return tensor
    with name_scope_v1(None, "to_sparse_input", [tensor]):
        if ignore_value is None:
            ignore_value = "" if tensor.dtype is dtypes.string else -1 if tensor.dtype.is_integer else 0
        ignored = cast(ignore_value, tensor.dtype) if tensor.dtype is not dtypes.string else ignore_value
        indices = where(not_equal(tensor, ignored))
        return SparseTensor(indices, gather_nd(tensor, indices), shape_of(tensor, out_type=dtypes.int64))


def sequence_length_from_sparse_tensor(sp_tensor: SparseTensor, num_elements: int = 1) -> Any:
    """Return how many steps each row has, where a step is `num_elements` entries of a row; 0 for an empty row."""
    with name_scope_v1(None, "sequence_length", [sp_tensor.indices]):
        row, column = sp_tensor.indices[:, 0], sp_tensor.indices[:, 1]
        last = maximum(unsorted_segment_max(column, row, sp_tensor.dense_shape[0]), -1)  # -1: an empty row
        return cast(ceil((last + 1) / num_elements), dtypes.int64)


def merged_specs(feature_columns: Any, columns: Sequence[tuple[Any, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return all columns' specs in one dict; ValueError where two read a key differently."""
    merged: dict[str, Any] = {}
    for key, value in itertools.chain.from_iterable(spec.items() for _, spec in columns):
        if key in merged and value != merged[key]:
            raise ValueError(
                f"feature_columns contain different parse_spec for key {key}. Given {value} and {merged[key]}"
            )
        merged[key] = value
    return merged
