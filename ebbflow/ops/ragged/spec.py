"""The type of ragged tensors, and how they travel as one tensor of dtype variant.

Knows the class, and puts on it what needs its type (`_type_spec`, `_to_variant`, `_from_variant`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.composite import BatchableTypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.spec import TensorSpec
from ebbflow.core.spec_registry import register
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.composite_variants import RaggedTensorFromVariant, RaggedTensorToVariant
from ebbflow.ops.ragged.tensor import RaggedTensor, rows_of


@register("tf.RaggedTensorSpec")
class RaggedTensorSpec(BatchableTypeSpec):
    """The type of a RaggedTensor.

    >>> RaggedTensorSpec([None, None], dtypes.int32)
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_dtype", "_flat_values_spec", "_ragged_rank", "_row_splits_dtype", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
        flat_values_spec: Any = None,
    ):
        self._shape = TensorShape(shape)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        self._flat_values_spec = flat_values_spec
        if flat_values_spec is not None and dtype is None:
            dtype = flat_values_spec.dtype
        elif flat_values_spec is not None and flat_values_spec.dtype is not dtypes.as_dtype(dtype):
            raise ValueError(f"dtype must be the same as flat_values_spec.dtype: {dtype} vs {flat_values_spec.dtype}")
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """Return the spec of a RaggedTensor."""
        if isinstance(value, Tensor) and not isinstance(value, RaggedTensor):
            return cls(value.shape, value.dtype, 0)
        flat = value.flat_values
        own = None if isinstance(flat, Tensor) else flat._type_spec
        return cls(value.shape, flat.dtype, value.ragged_rank, value.row_splits.dtype, own)

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    ragged_rank = property(lambda self: self._ragged_rank)
    row_splits_dtype = property(lambda self: self._row_splits_dtype)
    flat_values_spec = property(lambda self: self._flat_values_spec)

    @property
    def value_type(self) -> type:
        return RaggedTensor if self._ragged_rank else Tensor

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a ragged tensor of the other type can stand where this one is asked for."""
        if not self._ragged_rank:  # a plain tensor
            spec = spec_or_value
            if isinstance(spec, RaggedTensorSpec):
                spec = TensorSpec(spec._shape, spec._dtype) if not spec._ragged_rank else None
            return spec is not None and TensorSpec(self._shape, self._dtype).is_compatible_with(spec)
        return super().is_compatible_with(spec_or_value)

    def _serialize(self) -> tuple[Any, ...]:
        parts = self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)

    # --- its parts ----------------------------------------------------------------------------------------------------

    @property
    def _component_specs(self) -> list[Any]:
        dims, levels = self._shape._dims, self._ragged_rank
        if not levels:
            return [self._flat_values_spec or TensorSpec(self._shape, self._dtype)]
        flat = self._flat_values_spec
        if flat is None:
            flat = TensorSpec(None if dims is None else [_values_in(dims, levels), *dims[levels + 1 :]], self._dtype)
        ends = [None if dims is None else _values_in(dims, level) for level in range(levels)]
        return [flat, *(TensorSpec([None if n is None else n + 1], self._row_splits_dtype) for n in ends)]

    def _to_components(self, value: Any) -> list[Any]:
        if isinstance(value, RaggedTensor):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, components: Sequence[Any]) -> Any:
        found, dims = components[0], self._shape._dims
        for level, splits in reversed(list(enumerate(components[1:]))):
            if not isinstance(splits, Tensor):  # arrays: the value of a session
                return RaggedTensor._fetched(components)
            found = rows_of(found, splits, None if dims is None else dims[level + 1])
        if dims is not None and isinstance(found, RaggedTensor) and not isinstance(found.row_splits, EagerTensor):
            found._set_shape(self._shape)
        return found

    # --- in one tensor ------------------------------------------------------------------------------------------------

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value: Any) -> list[Any]:
        levels = value.ragged_rank if isinstance(value, RaggedTensor) else 0
        if levels != self._ragged_rank:
            raise ValueError(f"Ragged rank of value {levels} does not match ragged rank of type {self._ragged_rank}")
        return [_variant(value, self._row_splits_dtype, False)]

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        levels = value.ragged_rank if isinstance(value, RaggedTensor) else 0
        if levels != self._ragged_rank:
            raise ValueError(f"Ragged rank of value {levels} does not match ragged rank of type {self._ragged_rank}")
        if not levels:
            value = rows_of_tensor(convert(value), self._row_splits_dtype)
        return [_variant(value, self._row_splits_dtype, True)]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        if self._flat_values_spec is not None:
            raise ValueError("Customized value_type is not supported.")
        found = _opened(tensor_list[0], self._dtype, self._ragged_rank, self._row_splits_dtype)
        if not self._ragged_rank and self._shape.rank == 1:  # each scalar of a batch has travelled as a row of one
            found = raw.Reshape(found, [-1])
        if self._shape.rank is not None and not isinstance(found, EagerTensor):
            if isinstance(found, RaggedTensor):
                found._set_shape(self._shape)
            else:
                found.set_shape(self._shape)
        return found

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        if self._flat_values_spec is not None:
            raise ValueError("Customized value_type is not supported.")
        shape = TensorShape([batch_size]).concatenate(self._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank + 1, self._row_splits_dtype)

    def _unbatch(self) -> RaggedTensorSpec:
        if self._flat_values_spec is not None:
            raise ValueError("Customized value_type is not supported.")
        if self._shape.rank == 0:
            raise ValueError("Unbatching a ragged tensor is only supported for rank >= 1")
        return RaggedTensorSpec(self._shape[1:], self._dtype, max(self._ragged_rank - 1, 0), self._row_splits_dtype)

    def _to_legacy_output_types(self) -> Any:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        return self._shape

    def _to_legacy_output_classes(self) -> Any:
        return self


class RaggedTensorType:
    """What a function's result is: a ragged tensor of a dtype, a number of ragged axes and a dtype of splits."""

    def __init__(self, dtype: Any, ragged_rank: int, row_splits_dtype: Any = dtypes.int64) -> None:
        self._dtype, self._ragged_rank = dtype, ragged_rank
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)

    dtype = property(lambda self: self._dtype, doc="The dtype of the values.")
    ragged_rank = property(lambda self: self._ragged_rank, doc="How many axes are ragged.")
    row_splits_dtype = property(lambda self: self._row_splits_dtype, doc="The dtype of the splits.")

    def of_rows(self) -> RaggedTensorSpec:
        """Return the type of each row of such a ragged tensor."""
        return RaggedTensorSpec(None, self._dtype, self._ragged_rank - 1, self._row_splits_dtype)


def _values_in(dims: Any, levels: int) -> int | None:
    """Return how many rows there are at a level, where all lengths before it are known."""
    count = 1
    for length in dims[: levels + 1]:
        if length is None:
            return None
        count *= length
    return count


# --- as variants ------------------------------------------------------------------------------------------------------


def rows_of_tensor(tensor: Any, kind: Any) -> Any:
    """Return a tensor of rank 1 or more as rows, for travelling row by row."""
    if tensor.shape.rank == 1:
        return rows_of(tensor, RaggedTensor.from_tensor(tensor[:, None], row_splits_dtype=kind).row_splits, 1)
    return RaggedTensor.from_tensor(tensor, row_splits_dtype=kind)


def _variant(value: Any, kind: Any, rows: bool) -> Any:
    if not isinstance(value, RaggedTensor):
        return RaggedTensorToVariant([], value, batched_input=rows, Tsplits=kind)
    return RaggedTensorToVariant(list(value.nested_row_splits), value.flat_values, batched_input=rows)


def _opened(variant: Any, dtype: Any, levels: int, kind: Any, inner: int = -1) -> Any:
    splits, found = RaggedTensorFromVariant(
        variant, input_ragged_rank=inner, output_ragged_rank=levels, Tvalues=dtype, Tsplits=kind
    )
    for level in reversed(splits):
        found = rows_of(found, level)
    return found


def _to_variant(self: RaggedTensor, batched_input: bool = False, name: str | None = None) -> Any:
    """Return a scalar that holds all rows, or a vector of which each entry holds one."""
    return _variant(self, self.row_splits.dtype, batched_input)


def _from_variant(
    cls: type,
    variant: Any,
    dtype: Any,
    output_ragged_rank: int,
    input_ragged_rank: int | None = None,
    row_splits_dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Any:
    """Return the ragged tensor that a variant holds, or those that several hold as rows of one."""
    variant = convert(variant, dtypes.variant)
    rank = variant.shape.rank
    if rank is not None and input_ragged_rank is not None and output_ragged_rank != input_ragged_rank + rank:
        raise ValueError(
            f"Argument `output_ragged_rank` ({output_ragged_rank}) must be equal to `input_ragged_rank` "
            f"+ `variant.shape.ndims` ({input_ragged_rank + rank})."
        )
    inner = -1 if input_ragged_rank is None else input_ragged_rank
    return _opened(variant, dtypes.as_dtype(dtype), output_ragged_rank, dtypes.as_dtype(row_splits_dtype), inner)


RaggedTensor._type_spec = property(RaggedTensorSpec.from_value)  # type: ignore[assignment,method-assign]
RaggedTensor._to_variant = _to_variant  # type: ignore[method-assign]
RaggedTensor._from_variant = classmethod(_from_variant)  # type: ignore[assignment,method-assign]
