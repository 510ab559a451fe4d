"""Values row by row, for loops over them: where a row is read from, and where what a step gives is written to.

There is a pair of classes for each kind of value: tensors, ragged and sparse tensors, and what users describe by a spec
that can be batched. `sources` and `sinks` choose. Rows of ragged and sparse tensors are cut out of what surrounds the
loop, so gradients find their way; results of different lengths are written to arrays and joined at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.shape import dimension_value, merge_dims
from ebbflow.core.sparse import SparseTensor, SparseTensorSpec
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.forms import RaggedTensor, RaggedTensorSpec
from ebbflow.ops.ragged.spec import RaggedTensorType

# --- rows to read -----------------------------------------------------------------------------------------------------


class TensorRows:
    """The rows of a tensor."""

    def __init__(self, tensor: Any):
        self.tensor = tensor
        self.lengths = [tensor]

    def open(self, count: Any) -> None:
        """Make ready to be read; there are that many rows."""
        shape = None if self.tensor._dims is None else list(self.tensor._dims[1:])
        made = TensorArray(self.tensor.dtype, count, clear_after_read=False, element_shape=shape)
        self._array = made.unstack(self.tensor)

    def at(self, index: Any) -> Any:
        """Return a row."""
        return self._array.read(index)


class RaggedRows:
    """The rows of a ragged tensor."""

    def __init__(self, rows: RaggedTensor):
        self._rows = rows
        self.lengths = [rows.row_starts()]

    def open(self, count: Any) -> None:
        """Rows are cut out as they are."""

    def at(self, index: Any) -> Any:
        """Return a row."""
        return self._rows[index]


class SparseRows:
    """The rows of a sparse tensor: its entries, sorted by the first index."""

    def __init__(self, value: SparseTensor):
        rows = value.indices[:, 0]
        order = raw.TopKV2(-rows, raw.Size(rows))[1]  # of equals the first comes first
        count = value.dense_shape[0]
        numbered = RaggedTensor.from_value_rowids(order, raw.GatherV2(rows, order, 0), nrows=count, validate=False)
        self._places, self._value = numbered, value
        known = dimension_value(value.shape[0]) if value.shape.rank else None
        splits = raw.EnsureShape(numbered.row_starts(), shape=[known])
        self.lengths = [splits]

    def open(self, count: Any) -> None:
        """Rows are cut out as they are."""

    def at(self, index: Any) -> Any:
        """Return a row."""
        value, places = self._value, self._places[index]
        inner = raw.GatherV2(value.indices, places, 0)[:, 1:]
        row = SparseTensor(inner, raw.GatherV2(value.values, places, 0), value.dense_shape[1:])
        if value.shape.rank is not None:
            row.set_shape(value.shape[1:])
        return row


class BatchedRows:
    """The rows of a value whose spec says how it is taken apart."""

    def __init__(self, value: Any):
        self._spec = _batchable(value._type_spec, "consume", value)
        self._parts = [TensorRows(t) for t in self._spec._to_batched_tensor_list(value)]
        self.lengths = [t for part in self._parts for t in part.lengths]

    def open(self, count: Any) -> None:
        """Make ready to be read; there are that many rows."""
        for part in self._parts:
            part.open(count)

    def at(self, index: Any) -> Any:
        """Return a row."""
        return self._spec._unbatch()._from_compatible_tensor_list([part.at(index) for part in self._parts])


def sources(values: Sequence[Any]) -> tuple[list[Any], int | None, Any]:
    """Return where the rows of each value come from, and how many there are: as a number where it is known, and as
    something to count up to.
    """
    found: list[Any] = []
    for value in values:
        if isinstance(value, RaggedTensor):
            found.append(RaggedRows(value))
        elif isinstance(value, SparseTensor):
            found.append(SparseRows(value))
        else:
            found.append(BatchedRows(value) if isinstance(value, CompositeTensor) else TensorRows(value))
    static, count = length([t for source in found for t in source.lengths])
    for source in found:
        source.open(count)
    return found, static, count


def length(tensors: Sequence[Any]) -> tuple[int | None, Any]:
    """Return how many rows tensors have, as a number where it is known, and as something to count up to."""
    dims: Any = (None,)
    for tensor in tensors:
        if tensor._dims is None:
            continue
        if not tensor._dims:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        try:
            dims = merge_dims(dims, tensor._dims[:1])
        except ValueError:
            raise ValueError(f"Dimensions {dims[0]} and {tensor._dims[0]} are not compatible") from None
    if dims[0] is not None:
        return dims[0], dims[0]
    return None, raw.StridedSlice(raw.Shape(tensors[0]), [0], [1], [1], shrink_axis_mask=1)


# --- results to write -------------------------------------------------------------------------------------------------


class TensorResults:
    """Results that are tensors of one shape: they are stacked."""

    def __init__(self, spec: TensorSpec):
        self.spec = spec

    def arrays(self, count: Any, infer_shape: bool) -> list[TensorArray]:
        """Return what results are written to."""
        return [TensorArray(self.spec.dtype, count, infer_shape=infer_shape, element_shape=self.spec.shape)]

    def parts(self, result: Any) -> list[Any]:
        """Return what is written of one result."""
        return [result]

    def pack(self, arrays: Sequence[TensorArray], static: int | None) -> Any:
        """Return all results."""
        return with_length(arrays[0].stack(), static)


class RaggedResults:
    """Results that are ragged, or tensors of different lengths: they are the rows of a ragged tensor.

    Written are the elements of a result and, for each level but the innermost, the lengths of its rows.
    """

    def __init__(self, spec: RaggedTensorSpec):
        self.spec = spec

    def arrays(self, count: Any, infer_shape: bool) -> list[TensorArray]:
        """Return what results are written to."""
        spec, dims = self.spec, self.spec.shape._dims
        inner = None if dims is None else [None, *dims[spec.ragged_rank + 1 :]]
        flat = TensorArray(spec.dtype, count, infer_shape=False, element_shape=inner)
        lengths = [
            TensorArray(spec.row_splits_dtype, count, infer_shape=False, element_shape=[None])
            for _ in range(spec.ragged_rank)
        ]
        return [flat, *lengths, TensorArray(spec.row_splits_dtype, count, element_shape=[])]

    def parts(self, result: Any) -> list[Any]:
        """Return what is written of one result."""
        kind = self.spec.row_splits_dtype
        if self.spec.ragged_rank == 0 and not isinstance(result, RaggedTensor):
            tensor = convert(result, self.spec.dtype)
            if tensor.shape.rank == 0:
                raise _unlike(self.spec, result)
            return [tensor, raw.Shape(tensor, out_type=kind)[0]]
        if not isinstance(result, RaggedTensor) or not self._takes(result):
            raise _unlike(self.spec, result)
        lengths = [raw.Cast(x, DstT=kind) for x in result.nested_row_lengths()]
        return [result.flat_values, *lengths, result.nrows(out_type=kind)]

    def _takes(self, result: RaggedTensor) -> bool:
        spec = self.spec
        alike = (spec.dtype, spec.ragged_rank) == (result.dtype, result.ragged_rank)
        return alike and spec.shape.is_compatible_with(result.shape)

    def pack(self, arrays: Sequence[TensorArray], static: int | None) -> Any:
        """Return all results."""
        if static == 0:
            return self._none()
        flat, *inner, count = arrays
        rows = with_length(count.stack(), static)
        lengths = [rows, *[level.concat() for level in inner]]
        return RaggedTensor.from_nested_row_lengths(flat.concat(), lengths, validate=False)

    def _none(self) -> RaggedTensor:
        """Return no results: there are no arrays to join, and what is inside is known from the spec alone."""
        spec, dims = self.spec, self.spec.shape._dims
        inner = () if dims is None else [0 if n is None else n for n in dims[spec.ragged_rank + 1 :]]
        lengths = [raw.Fill([0], np.array(0, spec.row_splits_dtype.np))] * (spec.ragged_rank + 1)
        flat = convert(np.zeros([0, *inner], spec.dtype.np), spec.dtype)
        return RaggedTensor.from_nested_row_lengths(flat, lengths, validate=False)


class SparseResults:
    """Results that are sparse: their entries, each with the number of its result in front of its index."""

    def __init__(self, spec: SparseTensorSpec):
        self.spec = spec

    def arrays(self, count: Any, infer_shape: bool) -> list[TensorArray]:
        """Return what results are written to."""
        rank = self.spec.shape.rank
        indices = TensorArray(dtypes.int64, count, infer_shape=False, element_shape=[None, rank])
        values = TensorArray(self.spec.dtype, count, infer_shape=False, element_shape=[None])
        return [
            indices,
            values,
            TensorArray(dtypes.int64, count, element_shape=[]),
            TensorArray(dtypes.int64, count, element_shape=[rank]),
        ]

    def parts(self, result: Any) -> list[Any]:
        """Return what is written of one result."""
        if not isinstance(result, SparseTensor) or not self.spec.is_compatible_with(result):
            raise _unlike(self.spec, result)
        return [result.indices, result.values, raw.Size(result.values, out_type=dtypes.int64), result.dense_shape]

    def pack(self, arrays: Sequence[TensorArray], static: int | None) -> Any:
        """Return all results."""
        indices, values, count, shape = arrays
        counts = with_length(count.stack(), static)
        numbers = RaggedTensor.from_row_lengths(values.concat(), counts, validate=False)
        rows = raw.ExpandDims(numbers.value_rowids(), 1)
        total = raw.ConcatV2([raw.Shape(counts, out_type=dtypes.int64), raw.Max(shape.stack(), [0])], 0)
        made = SparseTensor(raw.ConcatV2([rows, indices.concat()], 1), numbers.values, total)
        if self.spec.shape.rank is not None:
            made.set_shape([static, *self.spec.shape.as_list()])
        return made


class BatchedResults:
    """Results whose spec says how they are taken apart."""

    def __init__(self, spec: Any):
        self.spec = _batchable(spec, "generate")
        self._inner = [TensorResults(part) for part in spec._flat_tensor_specs]

    def arrays(self, count: Any, infer_shape: bool) -> list[TensorArray]:
        """Return what results are written to."""
        return [array for part in self._inner for array in part.arrays(count, infer_shape)]

    def parts(self, result: Any) -> list[Any]:
        """Return what is written of one result."""
        if not self.spec.is_compatible_with(result):
            raise _unlike(self.spec, result)
        return self.spec._to_tensor_list(result)

    def pack(self, arrays: Sequence[TensorArray], static: int | None) -> Any:
        """Return all results."""
        stacked = [part.pack([array], static) for part, array in zip(self._inner, arrays, strict=True)]
        return self.spec._batch(static)._from_compatible_tensor_list(stacked)


def sink(wanted: Any) -> Any:
    """Return where results like this go: a spec, a dtype, or a value that results are like the rows of."""
    if isinstance(wanted, RaggedTensor):
        spec = wanted._type_spec
        return RaggedResults(RaggedTensorSpec(spec.shape[1:], spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype))
    if isinstance(wanted, SparseTensor):
        return SparseResults(SparseTensorSpec(wanted.shape[1:], wanted.dtype))
    if isinstance(wanted, CompositeTensor):
        return BatchedResults(wanted._type_spec._unbatch())  # type: ignore[attr-defined]
    if isinstance(wanted, RaggedTensorType):
        return RaggedResults(wanted.of_rows())
    if isinstance(wanted, RaggedTensorSpec):
        return RaggedResults(wanted)
    if isinstance(wanted, SparseTensorSpec):
        return SparseResults(wanted)
    if isinstance(wanted, TypeSpec) and not isinstance(wanted, TensorSpec):
        return BatchedResults(wanted)
    spec = wanted if isinstance(wanted, TensorSpec) else None
    return TensorResults(spec or TensorSpec(None, wanted.dtype if isinstance(wanted, Tensor) else wanted))


def with_length(tensor: Any, count: int | None) -> Any:
    """Return a tensor that is known to have that many rows."""
    if tensor._dims is not None:
        tensor.set_shape([count, *tensor._dims[1:]])
    return tensor


def _batchable(spec: Any, what: str, value: Any = None) -> Any:
    if not hasattr(spec, "_to_batched_tensor_list"):
        raise TypeError(
            f"map_fn can not {what} {spec} {'inputs: got ' + repr(value) if value is not None else 'outputs'}"
        )
    return spec


def _unlike(spec: Any, result: Any) -> ValueError:
    found = result._type_spec if isinstance(result, CompositeTensor) else np.shape(result)
    kind = found if isinstance(result, CompositeTensor) else f"{type(result).__name__} of shape {found}"
    return ValueError(
        f"Error in map_fn:\n  Expected `fn` to return a:\n    {spec}\n  But it returned a:\n    {kind}\n"
        f"    (value={result})\n  To fix, update the `fn_output_signature` (or `dtype`) argument to `map_fn`."
    )
