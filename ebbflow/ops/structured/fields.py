"""The fields of structured tensors: what may be one, which shape it has, how its outer axes are divided and merged.

A field is a tensor, a ragged tensor, a structured tensor or a value of an extension type. Structured tensors are told
from others by what they have (`_ragged_shape`), so that this file comes before theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.composite import CompositeTensor
from ebbflow.core.convert import convert
from ebbflow.core.dispatch import borrowed
from ebbflow.core.errors import OpError
from ebbflow.core.shape import Dimension, TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.extension.types import ExtensionType
from ebbflow.ops.ragged import shape_arithmetic as arithmetic
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.dynamic_shape import DynamicRaggedShape
from ebbflow.ops.ragged.partition import RowPartition
from ebbflow.ops.ragged.tensor import RaggedTensor

_NAME = re.compile(r"^[a-zA-Z][a-zA-Z0-9_]*$")


def is_structured(value: Any) -> bool:
    """Return whether a value is a structured tensor."""
    return isinstance(value, ExtensionType) and hasattr(value, "_ragged_shape")


# --- what may be one --------------------------------------------------------------------------------------------------


def checked_fields(fields: Any) -> dict[str, Any]:
    """Return fields with tensors for values, after a look at names and values."""
    if not isinstance(fields, Mapping):
        raise TypeError(f"fields must be a dictionary, got {type(fields).__name__}")
    found = {}
    for name, value in fields.items():
        if not isinstance(name, str):
            raise TypeError(f"Unexpected type for key in `fields`: {name!r}")
        if not _NAME.match(name):
            raise ValueError(f"Field name {name!r} is not currently allowed.")
        found[name] = field_value(value)
    return found


def field_value(value: Any) -> AnyTensor:
    """Return a value as one that a field can have."""
    if isinstance(value, (Tensor, RaggedTensor, ExtensionType)):
        return value
    try:
        return ragged_or_tensor(value)
    except (ValueError, TypeError) as error:
        raise TypeError(f"Unexpected type for value in `fields`: {value!r}") from error


def shape_dtype(fields: Sequence[Any], *others: Any) -> dtypes.DType:
    """Return the type that rows of fields are counted in: int32 where nothing is counted in int64."""
    kinds = [other.dtype for other in others if isinstance(other, (Tensor, RowPartition))]
    for field in fields:
        if isinstance(field, RaggedTensor):
            kinds.append(field.row_splits.dtype)
        elif is_structured(field):
            kinds.append(field._ragged_shape.dtype)
    return dtypes.int32 if kinds and dtypes.int64 not in kinds else dtypes.int64


def with_shape_dtype(field: AnyTensor, dtype: DTypeLike) -> AnyTensor:
    """Return a field whose rows are counted in another integer type."""
    if isinstance(field, RaggedTensor):
        return field.with_row_splits_dtype(dtype)
    return field.with_shape_dtype(dtype) if is_structured(field) else field


# --- shapes -----------------------------------------------------------------------------------------------------------


def shape_of(field: AnyTensor, dtype: DTypeLike | None = None) -> DynamicRaggedShape:
    """Return the shape of a field."""
    if isinstance(field, (Tensor, RaggedTensor)) or is_structured(field):
        return DynamicRaggedShape.from_tensor(field, dtype)
    shape = borrowed("shape", field)
    if not isinstance(shape, DynamicRaggedShape):
        shape = DynamicRaggedShape._from_inner_shape(convert(shape))
    return shape if dtype is None else shape.with_dtype(dtype)


def common_shape(
    fields: Mapping[str, AnyTensor], rank: int, dtype: DTypeLike, shape: DynamicRaggedShape | None = None
) -> DynamicRaggedShape | None:
    """Return the first axes that all fields have; ValueError naming one that does not fit those before it."""
    for name, field in fields.items():
        try:
            own = shape_of(field, dtype)
            if own.rank is not None and own.rank < rank:
                raise ValueError(f"it has {own.rank} axes where there are {rank}")
            own = normal(own[:rank])
            shape = own if shape is None else shape._merge_with(own)
        except (ValueError, TypeError, OpError) as error:
            known = None if shape is None else tuple(shape._to_tensor_shape())
            was = getattr(field, "shape", None)
            raise ValueError(
                f"Error in shape of {name}: Field {name} has shape {was}, which is incompatible with the shape that "
                f"was specified or inferred from other fields: {known} ({error})"
            ) from error
    return shape


def normal(shape: DynamicRaggedShape) -> DynamicRaggedShape:
    """Return a shape with all axes but the first divided into rows, as structured tensors have it."""
    return shape._with_num_row_partitions(max((shape.rank or 0) - 1, 0))


def given_shape(
    shape: TensorShape, nrows: Any, row_partitions: Sequence[RowPartition], dtype: DTypeLike
) -> DynamicRaggedShape | None:
    """Return the shape that is said by a static shape, a number of rows or divisions into rows; None where none is."""
    kind = dtypes.as_dtype(dtype)
    if row_partitions:
        return DynamicRaggedShape.from_row_partitions([rows.with_dtype(kind) for rows in row_partitions])
    if shape.is_fully_defined():
        return normal(DynamicRaggedShape._from_inner_shape(shape.as_list(), kind))
    if nrows is not None and shape.rank == 1:
        return DynamicRaggedShape([], arithmetic.joined([nrows], kind), kind)
    return None


def init_shape(
    fields: Mapping[str, AnyTensor], shape: TensorShape, nrows: Any, row_partitions: Sequence[RowPartition] | None
) -> DynamicRaggedShape:
    """Return the shape of a structured tensor of these fields, and of what else is said of it."""
    rank, rows = shape.rank, tuple(row_partitions or ())
    kind = shape_dtype(list(fields.values()), nrows, *rows)
    found = given_shape(shape, nrows, rows, kind)
    if rank:
        found = common_shape(fields, rank, kind, found)
    if found is None and rank == 1:
        raise ValueError("Must specify `nrows`, a fully specified `shape`, or have `fields` if `rank=1`")
    if found is None:
        raise ValueError("Must specify row_partitions, a fully specified shape, or have fields if rank > 1")
    if found.rank != rank or not found._to_tensor_shape().is_compatible_with(shape):
        raise ValueError(f"Shapes {shape} and {found._to_tensor_shape()} are not compatible")
    return found if not rank else found._merge_with_spec(found.Spec._from_tensor_shape(shape, max(rank - 1, 0), kind))


def rows_of_shape(shape: TensorLike, rank: int) -> tuple[RowPartition, ...]:
    """Return how the first axes of a dense shape are divided into rows."""
    whole = DynamicRaggedShape._from_inner_shape(convert(shape))
    return tuple(whole[:rank]._as_row_partitions()) if rank > 1 else ()


def rows_of_ragged(value: AnyTensor, rank: int, dtype: DTypeLike) -> tuple[RowPartition, ...]:
    """Return how the first axes of a ragged tensor are divided into rows."""
    return tuple(shape_of(value, dtype)[:rank]._as_row_partitions())


def merge_nrows(nrows: Any, static_nrows: Any, value: AnyTensor, dtype: DTypeLike, validate: bool) -> tuple[Any, Any]:
    """Return a number of rows that a field has too, and what is known of it."""
    own = shape_of(value, dtype)
    known = own._to_tensor_shape().as_list()[0]
    if not Dimension(static_nrows).is_compatible_with(known):
        raise ValueError(f"fields have incompatible nrows: {static_nrows} and {known}")
    return own[0] if nrows is None else nrows, Dimension(static_nrows).merge_with(known)


# --- their outer axes -------------------------------------------------------------------------------------------------


def partition_outer(field: AnyTensor, rows: RowPartition) -> AnyTensor:
    """Return a field with its first axis divided into rows; dense where the rows have one length."""
    if is_structured(field):
        return field.partition_outer_dimension(rows)
    length = rows.uniform_row_length()
    if isinstance(field, RaggedTensor) or length is None:
        kind = field.row_splits.dtype if isinstance(field, RaggedTensor) else rows.dtype
        return RaggedTensor._from_row_partition(field, rows.with_dtype(kind), validate=False)
    sizes = raw.Shape(field, out_type=rows.dtype)
    made = raw.Reshape(field, raw.ConcatV2([arithmetic.joined([rows.nrows(), length], rows.dtype), sizes[1:]], 0))
    if isinstance(made, Tensor) and field.shape.rank is not None:
        made.set_shape([rows.static_nrows, rows.static_uniform_row_length, *field.shape.as_list()[1:]])
    return made


def merge_axes(field: AnyTensor, outer: int, inner: int) -> AnyTensor:
    """Return a field with the axes from one to the other made one."""
    if isinstance(field, RaggedTensor) or is_structured(field):
        return field.merge_dims(outer, inner)
    known = field.shape.as_list() if field.shape.rank is not None else None
    sizes = raw.Shape(field)
    made = raw.Reshape(field, raw.ConcatV2([sizes[:outer], [-1], sizes[inner + 1 :]], 0))
    if known is not None:
        middle = TensorShape(known[outer : inner + 1]).num_elements()
        made.set_shape([*known[:outer], middle, *known[inner + 1 :]])
    return made


def merge_generic(source: AnyTensor, outer: int, inner: int) -> AnyTensor:
    """Return a field with axes made one, as far as it has them: nothing changes where there is one axis only."""
    rank = source.rank if is_structured(source) else source.shape.rank
    inner = min(inner, rank - 1)
    return merge_axes(source, outer, inner) if outer < inner else source


def field_text(value: Any) -> str:
    """Return how a field is shown."""
    text = repr(value) if isinstance(value, CompositeTensor) else str(value)
    return text.replace("\n", "\n            ")
