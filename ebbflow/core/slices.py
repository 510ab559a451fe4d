"""IndexedSlices: a gradient that touches only some rows.

`values[i]` belongs to row `indices[i]` of a tensor shaped `dense_shape`; a row may occur more than once and then
counts as the sum. Made by the gradients of gathers, taken by optimizers; `convert_to_tensor` adds the rows up
(registered by the array ops).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.shape import TensorShape
from ebbflow.core.spec import TensorSpec

if TYPE_CHECKING:
    from ebbflow.core.dtypes import DType
    from ebbflow.core.tensor import Tensor
    from ebbflow.core.typing import AnyTensor, DTypeLike, ShapeLike


class IndexedSlices(CompositeTensor):
    """Some rows of a tensor."""

    is_tensor_like = True

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: AnyTensor = None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the tensor that the rows belong to, as far as it is known."""
        if self._dense_shape is None:
            return TensorShape(None)
        known = self._dense_shape.constant_value()
        return TensorShape(None if known is None else known.tolist())

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def op(self) -> Any:
        return self._values.op

    @property
    def name(self) -> str:
        return self._values.name

    @property
    def graph(self) -> Any:
        return self._values.graph

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        rows = self._values.shape
        shape = self.shape
        if self._dense_shape is None and rows.rank:
            shape = TensorShape([None]).concatenate(rows[1:])
        dense = None if self._dense_shape is None else self._dense_shape.dtype
        return IndexedSlicesSpec(shape, self.dtype, self._indices.dtype, dense, self._indices.shape)

    def consumers(self) -> list[Any]:
        return self._values.consumers()

    def _flatten(self) -> list[Any]:
        return [self._values, self._indices] + ([] if self._dense_shape is None else [self._dense_shape])

    def _unflatten(self, parts: list[Any]) -> IndexedSlices:
        return IndexedSlices(*parts)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    __repr__ = __str__


class IndexedSlicesSpec(TypeSpec):
    """The type of IndexedSlices."""

    __slots__ = ("_dense_shape_dtype", "_indices_dtype", "_indices_shape", "_shape", "_values_dtype")

    def __init__(
        self,
        shape: ShapeLike = None,
        dtype: DTypeLike = dtypes.float32,
        indices_dtype: DTypeLike = dtypes.int64,
        dense_shape_dtype: DTypeLike | None = None,
        indices_shape: ShapeLike = None,
    ):
        self._shape = TensorShape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        return IndexedSlices

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._values_dtype

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rows = self._indices_shape.concatenate(self._shape[1:])
        specs = [TensorSpec(rows, self._values_dtype), TensorSpec(self._indices_shape, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        return tuple(value._flatten())

    def _from_components(self, components: Any) -> IndexedSlices:
        return IndexedSlices(*components)

    def _serialize(self) -> tuple[Any, ...]:
        return self._fields()

    def _fields(self) -> tuple[Any, ...]:
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape
