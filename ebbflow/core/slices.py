"""IndexedSlices: a gradient that touches only some rows.

`values[i]` belongs to row `indices[i]` of a tensor shaped `dense_shape`; a row may occur more than once and then
counts as the sum. Made by the gradients of gathers, taken by optimizers; `convert_to_tensor` adds the rows up
(registered by the array ops).
"""

from __future__ import annotations

from typing import Any

from ebbflow.core.shape import TensorShape


class IndexedSlices:
    """Some rows of a tensor."""

    is_tensor_like = True

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        return self._values

    @property
    def indices(self) -> Any:
        return self._indices

    @property
    def dense_shape(self) -> Any:
        return self._dense_shape

    @property
    def dtype(self) -> Any:
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

    def consumers(self) -> Any:
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
