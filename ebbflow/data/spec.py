"""What elements can be made of besides tensors: sparse and ragged tensors, each as one tensor of dtype variant."""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.sparse import SparseTensor, SparseTensorSpec, SparseTensorValue
from ebbflow.core.tensor import EagerTensor
from ebbflow.data.structure import Leaf, by_class, converters, register
from ebbflow.ops.arrays.joining import stack, unstack
from ebbflow.ops.ragged.composite_variants import (
    DeserializeSparse,
    RaggedTensorFromVariant,
    RaggedTensorToVariant,
    SerializeManySparse,
    SerializeSparse,
)
from ebbflow.ops.ragged.forms import RaggedTensor, RaggedTensorSpec
from ebbflow.ops.ragged.tensor import rows_of
from ebbflow.ops.ragged.value import RaggedTensorValue


def _variant(spec: Any) -> Any:
    return dtypes.variant


def _rest(spec: Any) -> Any:
    """Return the shape of one row."""
    dims = spec.shape._dims
    if dims == ():
        raise ValueError(f"Slicing dataset elements is not supported for rank 0: got {spec}")
    return None if dims is None else dims[1:]


# --- sparse -----------------------------------------------------------------------------------------------------------


def _open_sparse(spec: SparseTensorSpec, tensor: Any) -> SparseTensor:
    indices, values, dense_shape = DeserializeSparse(tensor, dtype=spec.dtype)
    if spec.shape.rank is not None and not isinstance(indices, EagerTensor):
        indices.set_shape([None, spec.shape.rank])
        dense_shape = _with_known_lengths(dense_shape, spec.shape.as_list())
    made = SparseTensor(indices, values, dense_shape)
    made.set_shape(spec.shape)
    return made


def _with_known_lengths(dense_shape: Any, known: list[int | None]) -> Any:
    """Return a shape in a graph whose elements are constants where they are known."""
    dense_shape.set_shape([len(known)])
    if all(length is None for length in known):
        return dense_shape
    found = unstack(dense_shape, len(known))
    return stack([a if b is None else convert(b, dtypes.int64) for a, b in zip(found, known, strict=True)])


register(
    SparseTensorSpec,
    Leaf(
        dtype=_variant,
        dims=lambda spec: None,
        pack=lambda spec, value: SerializeSparse(
            value.indices, value.values, value.dense_shape, out_type=dtypes.variant
        ),
        open=_open_sparse,
        batch=lambda spec, count: SparseTensorSpec(TensorShape([count]).concatenate(spec.shape), spec.dtype),
        unbatch=lambda spec: SparseTensorSpec(_rest(spec), spec.dtype),
        pack_rows=lambda spec, value: SerializeManySparse(
            value.indices, value.values, value.dense_shape, out_type=dtypes.variant
        ),
    ),
)
converters[SparseTensorValue] = SparseTensor.from_value
by_class[SparseTensor] = SparseTensorSpec


# --- ragged -----------------------------------------------------------------------------------------------------------


def _pack_ragged(spec: RaggedTensorSpec, value: Any, rows: bool = False) -> Any:
    if not isinstance(value, RaggedTensor) and spec.ragged_rank:
        value = RaggedTensor.from_tensor(value, ragged_rank=spec.ragged_rank, row_splits_dtype=spec.row_splits_dtype)
    if not isinstance(value, RaggedTensor):
        return RaggedTensorToVariant([], value, batched_input=rows, Tsplits=spec.row_splits_dtype)
    return RaggedTensorToVariant(list(value.nested_row_splits), value.flat_values, batched_input=rows)


def _tensor_of_value(value: RaggedTensorValue) -> Any:
    rows = value.values
    inner = _tensor_of_value(rows) if isinstance(rows, RaggedTensorValue) else convert(rows)
    return rows_of(inner, convert(value.row_splits))


def _open_ragged(spec: RaggedTensorSpec, tensor: Any) -> Any:
    splits, values = RaggedTensorFromVariant(
        tensor,
        input_ragged_rank=-1,
        output_ragged_rank=spec.ragged_rank,
        Tvalues=spec.dtype,
        Tsplits=spec.row_splits_dtype,
    )
    dims = spec.shape._dims
    if dims is not None:
        values.set_shape(dims if not spec.ragged_rank else (None, *dims[spec.ragged_rank + 1 :]))
        if splits and dims[0] is not None:
            splits[0].set_shape([dims[0] + 1])
    found = values
    for level in reversed(splits):
        found = rows_of(found, level)
    return found


converters[RaggedTensorValue] = _tensor_of_value
register(
    RaggedTensorSpec,
    Leaf(
        dtype=_variant,
        dims=lambda spec: None,
        pack=_pack_ragged,
        open=_open_ragged,
        batch=lambda spec, count: RaggedTensorSpec(
            TensorShape([count]).concatenate(spec.shape), spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype
        ),
        unbatch=lambda spec: RaggedTensorSpec(
            _rest(spec), spec.dtype, max(0, spec.ragged_rank - 1), spec.row_splits_dtype
        ),
        pack_rows=lambda spec, value: _pack_ragged(spec, value, rows=True),
    ),
)
