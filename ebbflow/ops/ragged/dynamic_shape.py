"""The shape of a ragged tensor as divisions into rows (`tf.experimental.DynamicRaggedShape`): what `tf.shape` gives.

Knows partitions and the lengths of the axes inside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.partition import RowPartition
from ebbflow.ops.ragged.tensor import RaggedTensor

if TYPE_CHECKING:
    from ebbflow.core.dtypes import DType


class DynamicRaggedShape:
    """The shape of a tensor whose inner axes may have rows of different lengths."""

    def __init__(self, row_partitions: Sequence[RowPartition], inner_shape: ShapeLike, dtype: DTypeLike | None = None):
        self._partitions = tuple(row_partitions)
        kind = dtypes.as_dtype(dtype) if dtype is not None else dtypes.int64
        self._inner = raw.Cast(convert(inner_shape), DstT=kind)
        self._kind = kind

    @classmethod
    def from_tensor(cls, t: TensorLike, dtype: DTypeLike | None = None) -> DynamicRaggedShape:
        """Return the shape of a tensor, ragged or not."""
        partitions = []
        while isinstance(t, RaggedTensor):
            partitions.append(t._row_partition)
            t = t.values
        kind = dtypes.as_dtype(dtype) if dtype is not None else (partitions[0].dtype if partitions else dtypes.int64)
        return cls(partitions, raw.Shape(convert(t), out_type=kind), kind)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        return self._partitions

    @property
    def inner_shape(self) -> Tensor:
        return self._inner

    @property
    def dtype(self) -> DType:
        return self._kind

    @property
    def num_row_partitions(self) -> int:
        return len(self._partitions)

    @property
    def inner_rank(self) -> int | None:
        return self._inner.shape[0]

    @property
    def rank(self) -> int | None:
        return None if self.inner_rank is None else self.inner_rank + len(self._partitions)

    def is_uniform(self, axis: int) -> bool:
        """Return whether all rows along an axis are known to have one length."""
        if axis == 0 or axis > len(self._partitions):
            return True
        return self._partitions[axis - 1].is_uniform()

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """Return the length of each axis: None where it is not known, or not one."""
        known = self._inner.constant_value()
        inner: list[Any] = [None] * (self.inner_rank or 0) if known is None else [int(n) for n in known]
        if not self._partitions:
            return inner
        outer = [self._partitions[0].static_nrows, *(p.static_uniform_row_length for p in self._partitions)]
        return outer + inner[1:]

    def __getitem__(self, index: int) -> Any:
        if not isinstance(index, int):
            raise TypeError(f"index of a DynamicRaggedShape must be an int, got {index!r}")
        rank = self.rank
        if index < 0 and rank is not None:
            index += rank
        if index < 0 or (rank is not None and index >= rank):
            raise IndexError(f"index {index} is out of range for a shape of rank {rank}")
        if not self._partitions:
            return self._inner[index]
        if index == 0:
            return raw.Cast(self._partitions[0].nrows(), DstT=self._kind)
        if index <= len(self._partitions):
            length = self._partitions[index - 1].uniform_row_length()
            if length is None:
                raise ValueError(f"Index {index} is not uniform")
            return raw.Cast(length, DstT=self._kind)
        return self._inner[index - len(self._partitions)]

    def _to_tensor_shape(self) -> TensorShape:
        return TensorShape(self.static_lengths())

    def __repr__(self) -> str:
        known = enumerate(self.static_lengths())
        lengths = ", ".join(str(n) if self.is_uniform(i) else "(ragged)" for i, n in known)
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={len(self._partitions)}>"
