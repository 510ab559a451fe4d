"""How values are divided into rows, without the values (`tf.experimental.RowPartition`), and the shape of a ragged
tensor as such divisions (`tf.experimental.DynamicRaggedShape`), which is what `tf.shape` gives for one.

A partition is kept as a ragged tensor of the values' numbers, so everything it can be asked is asked there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.tensor import RaggedTensor, as_splits


class RowPartition:
    """A division of values into rows.

    >>> RowPartition.from_row_lengths([2, 0, 1]).row_splits().numpy().tolist()
    [0, 2, 2, 3]
    """

    def __init__(self, rows: RaggedTensor):
        self._rows = rows

    @classmethod
    def from_value_rowids(
        cls, value_rowids: Any, nrows: Any = None, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Return rows made of the values with the same number; the numbers do not decrease."""
        numbers = _of_type(value_rowids, dtype)
        return cls(RaggedTensor.from_value_rowids(_counted(numbers), numbers, nrows, validate=validate))

    @classmethod
    def from_row_splits(
        cls, row_splits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Return rows that begin and end at `row_splits`."""
        splits = _of_type(row_splits, dtype)
        return cls(RaggedTensor.from_row_splits(_up_to(splits[-1]), splits, validate=validate))

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Return rows of these lengths."""
        lengths = _of_type(row_lengths, dtype)
        return cls(RaggedTensor.from_row_lengths(_up_to(raw.Sum(lengths, [0])), lengths, validate=validate))

    @classmethod
    def from_row_starts(
        cls, row_starts: Any, nvals: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Return rows that begin here, of `nvals` values in all."""
        return cls(RaggedTensor.from_row_starts(_up_to(nvals), _of_type(row_starts, dtype), validate=validate))

    @classmethod
    def from_row_limits(
        cls, row_limits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Return rows that end here."""
        limits = _of_type(row_limits, dtype)
        last = raw.Max(raw.ConcatV2([raw.ZerosLike(limits[:1]), limits], 0), [0])
        return cls(RaggedTensor.from_row_limits(_up_to(last), limits, validate=validate))

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: Any,
        nvals: Any = None,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Return rows of one length, of `nvals` values or `nrows` rows in all."""
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of `nvals` and `nrows` must be specified.")
        if nvals is None:
            nvals = convert(nrows, dtypes.int64) * convert(int(uniform_row_length), dtypes.int64)
        values = _up_to(nvals)
        return cls(RaggedTensor.from_uniform_row_length(values, uniform_row_length, nrows, validate=validate))

    # --- asking it ----------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The type of the numbers: int32 or int64."""
        return self._rows.row_splits.dtype

    def row_splits(self) -> Any:
        """Return where rows begin, and where the last one ends."""
        return self._rows.row_splits

    def row_lengths(self) -> Any:
        """Return the length of each row."""
        return self._rows.row_lengths()

    def row_starts(self) -> Any:
        """Return where each row begins."""
        return self._rows.row_starts()

    def row_limits(self) -> Any:
        """Return where each row ends."""
        return self._rows.row_limits()

    def value_rowids(self) -> Any:
        """Return the row of each value."""
        return self._rows.value_rowids()

    def offsets_in_rows(self) -> Any:
        """Return the place of each value in its row."""
        return self._rows.offsets()

    def nrows(self) -> Any:
        """Return how many rows there are."""
        return self._rows.nrows()

    def nvals(self) -> Any:
        """Return how many values there are."""
        return self.row_splits()[-1]

    def uniform_row_length(self) -> Any:
        """Return the length of every row where that is known to be one, or None."""
        return self._rows.uniform_row_length

    def is_uniform(self) -> bool:
        """Return whether all rows are known to have one length."""
        return self._rows.uniform_row_length is not None

    @property
    def static_nrows(self) -> int | None:
        """How many rows there are, where that is known."""
        return self._rows.shape[0]

    @property
    def static_nvals(self) -> int | None:
        """How many values there are, where that is known."""
        return self._rows.values.shape[0]

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of every row, where that is known to be one."""
        return self._rows.shape[1]

    def __repr__(self) -> str:
        return f"tf.RowPartition(row_splits={self.row_splits()!r})"


def _of_type(numbers: Any, dtype: Any) -> Any:
    found = as_splits(numbers)
    return found if dtype is None or found.dtype == dtype else raw.Cast(found, DstT=dtypes.as_dtype(dtype))


def _up_to(count: Any) -> Any:
    count = convert(count)
    return raw.Range(convert(0, count.dtype), count, convert(1, count.dtype))


def _counted(numbers: Any) -> Any:
    return _up_to(raw.Shape(numbers, out_type=numbers.dtype)[0])


class DynamicRaggedShape:
    """The shape of a tensor whose inner axes may have rows of different lengths."""

    def __init__(self, row_partitions: Sequence[RowPartition], inner_shape: Any, dtype: Any = None):
        self._partitions = tuple(row_partitions)
        kind = dtypes.as_dtype(dtype) if dtype is not None else dtypes.int64
        self._inner = raw.Cast(convert(inner_shape), DstT=kind)
        self._kind = kind

    @classmethod
    def from_tensor(cls, t: Any, dtype: Any = None) -> DynamicRaggedShape:
        """Return the shape of a tensor, ragged or not."""
        partitions = []
        while isinstance(t, RaggedTensor):
            partitions.append(RowPartition(t))
            t = t.values
        kind = dtypes.as_dtype(dtype) if dtype is not None else (partitions[0].dtype if partitions else dtypes.int64)
        return cls(partitions, raw.Shape(convert(t), out_type=kind), kind)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        return self._partitions

    @property
    def inner_shape(self) -> Any:
        return self._inner

    @property
    def dtype(self) -> Any:
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
