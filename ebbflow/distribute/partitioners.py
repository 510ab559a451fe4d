"""`tf.distribute.experimental.partitioners`: into how many parts a variable on parameter servers is divided.

Each is called as `partitioner(shape, dtype, axis=0)` and answers the number of parts along every axis.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import DTypeLike, ShapeLike
from ebbflow.state import partitioners


class Partitioner:
    """Says how variables are divided; derive from it and give `__call__`."""

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        raise NotImplementedError(
            f"{type(self).__name__}.__call__: a class derived from tf.distribute.experimental.partitioners.Partitioner "
            "has to answer the number of parts along each axis; FixedShardsPartitioner is one that does"
        )


class FixedShardsPartitioner(Partitioner):
    """So many parts along the axis, where it is that long.

    >>> FixedShardsPartitioner(2)(TensorShape([10, 3]), dtypes.float32)
    [2, 1]
    """

    def __init__(self, num_shards: int):
        self._num_shards = num_shards

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        return partitioners.fixed_size_partitioner(self._num_shards, axis)(TensorShape(shape))


class MinSizePartitioner(Partitioner):
    """As many parts as there may be, of at least so many bytes.

    >>> MinSizePartitioner(min_shard_bytes=4, max_shards=2)(TensorShape([6, 1]), dtypes.float32)
    [2, 1]
    """

    def __init__(self, min_shard_bytes: int = 256 << 10, max_shards: int = 1, bytes_per_string: int = 16):
        for name, value in (("min_shard_bytes", min_shard_bytes), ("max_shards", max_shards),
                            ("bytes_per_string", bytes_per_string)):  # fmt: skip
            _positive(name, value)
        self._arguments: tuple[Any, ...] = (min_shard_bytes, max_shards, bytes_per_string)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        least, most, of_a_string = self._arguments
        return partitioners.min_max_variable_partitioner(most, axis, least, of_a_string)(
            TensorShape(shape), dtypes.as_dtype(dtype)
        )


class MaxSizePartitioner(Partitioner):
    """As few parts as there may be, of at most so many bytes.

    >>> MaxSizePartitioner(max_shard_bytes=4)(TensorShape([6, 1]), dtypes.float32)
    [6, 1]
    """

    def __init__(self, max_shard_bytes: int, max_shards: int | None = None, bytes_per_string: int = 16):
        _positive("max_shard_bytes", max_shard_bytes)
        _positive("bytes_per_string", bytes_per_string)
        if max_shards is not None:
            _positive("max_shards", max_shards)
        self._arguments: tuple[Any, ...] = (max_shard_bytes, max_shards, bytes_per_string)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike, axis: int = 0) -> list[int]:
        most_bytes, most, of_a_string = self._arguments
        return partitioners.variable_axis_size_partitioner(most_bytes, axis, of_a_string, most)(
            TensorShape(shape), dtypes.as_dtype(dtype)
        )


def _positive(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"Argument `{name}` must be positive. Received: {value}")
