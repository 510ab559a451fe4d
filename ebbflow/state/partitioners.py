"""Variables in several parts: how partitioners divide a shape, and the variable that the parts are together.

Only one axis can be divided. Knows parts by their SaveSliceInfo; how they are made is up to `variable_store`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.joining import concat, split
from ebbflow.ops.declare import raw
from ebbflow.state.base import OPERATORS

Partitioner = Callable[..., list[int]]

# --- partitioners -----------------------------------------------------------------------------------------------------


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Return a partitioner that makes `num_shards` parts along `axis` (fewer where the axis is shorter).

    >>> fixed_size_partitioner(3)(shape=TensorShape([7, 2]))
    [3, 1]
    """

    def partitioner(shape: TensorShape, **unused: Any) -> list[int]:
        return _along(axis, shape, min(num_shards, shape.as_list()[axis]))

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Partitioner:
    """Return a partitioner that makes parts of at most `max_shard_bytes`, where `axis` can be divided that far."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        if not isinstance(dtype, DType):
            raise ValueError(f"dtype is not a DType: {dtype}")
        length = shape.as_list()[axis]
        row = math.prod(shape.as_list()) / length * _bytes(dtype, bytes_per_string_element)
        shards = math.ceil(length / max(1, math.floor(max_shard_bytes / row)))
        return _along(axis, shape, min(max_shards, shards) if max_shards else shards)

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16
) -> Partitioner:
    """Return a partitioner that makes up to `max_partitions` parts of at least `min_slice_size` bytes.

    >>> min_max_variable_partitioner(max_partitions=20)(shape=TensorShape([1024, 1024]), dtype=dtypes.float32)
    [16, 1]
    """

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        sizes = TensorShape(shape).as_list()
        if axis >= len(sizes):
            raise ValueError(f"Can not partition variable along axis {axis} when shape is only {shape}")
        wanted = math.ceil(math.prod(sizes) * _bytes(dtype, bytes_per_string_element) / min_slice_size)
        return _along(axis, shape, max(1, min(sizes[axis], max_partitions, wanted)))

    return partitioner


def _along(axis: int, shape: Any, count: int) -> list[int]:
    partitions = [1] * len(shape)
    partitions[axis] = count
    return partitions


def _bytes(dtype: DType, of_a_string: int) -> int:
    return of_a_string if dtype.base_dtype is dtypes.string else dtype.size


# --- dividing ---------------------------------------------------------------------------------------------------------


class PartitionInfo:
    """Which part of a larger variable an initializer is asked for."""

    def __init__(self, full_shape: Any, var_offset: Any):
        for what, value in (("full_shape", full_shape), ("var_offset", var_offset)):
            if not isinstance(value, Sequence) or isinstance(value, str):
                raise TypeError(f"`{what}` must be a sequence (like tuple or list) instead of {type(value).__name__}")
        if len(var_offset) != len(full_shape):
            raise ValueError(
                f"Expected equal length, but `var_offset` is of length {len(var_offset)} while full_shape is of length "
                f"{len(full_shape)}."
            )
        for i, (offset, length) in enumerate(zip(var_offset, full_shape, strict=True)):
            if offset < 0 or offset >= length:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={length} for "
                    f"var_offset={var_offset}, "
                    f"full_shape={full_shape} (axis {i})"
                )
        self._full_shape = full_shape
        self._var_offset = var_offset

    @property
    def full_shape(self) -> Any:
        return self._full_shape

    @property
    def var_offset(self) -> Any:
        return self._var_offset

    def single_offset(self, shape: Any) -> int:
        """Return where a part of this shape starts on the axis that is divided (0 where none is)."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self._var_offset[axis]

    def single_slice_dim(self, shape: Any) -> int | None:
        """Return the axis that is divided, given a part's shape; None where the part is the whole."""
        if not isinstance(shape, (tuple, list)):
            raise TypeError(f"`shape` must be a sequence (like tuple or list) instead of {type(shape).__name__}")
        if len(shape) != len(self._full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={shape} of length {len(shape)} while self.full_shape="
                f"{self._full_shape} is of length {len(self._full_shape)}."
            )
        for i, length in enumerate(shape):
            if self._var_offset[i] + length > self._full_shape[i]:
                raise ValueError(
                    f"With self.var_offset={self._var_offset}, a partition of shape={shape} would exceed "
                    "self.full_shape="
                    f"{self._full_shape} in dimension {i}."
                )
        found = [i for i, (length, full) in enumerate(zip(shape, self._full_shape, strict=True)) if length != full]
        if len(found) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape={shape} and self.full_shape={self._full_shape} since "
                "slice dim "
                f"could be either dimension {found[1]} or {found[0]}."
            )
        return found[0] if found else None


def call_partitioner(partitioner: Partitioner, shape: TensorShape, dtype: DType) -> list[int]:
    """Return how many parts a partitioner makes along each axis, checked."""
    if not shape.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable must be fully defined, but instead was {shape}.")
    if shape.rank < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    slicing = partitioner(shape=shape, dtype=dtype)
    if not isinstance(slicing, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {slicing}")
    if len(slicing) != shape.rank:
        raise ValueError(
            f"Partitioner returned a partition list that does not match the Variable's rank: {slicing} vs. {shape}"
        )
    if any(p < 1 for p in slicing):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {slicing}")
    if sum(p > 1 for p in slicing) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {slicing}")
    return list(slicing)


def split_axis(partitions: Sequence[int]) -> tuple[int, int]:
    """Return the axis that is divided and into how many parts.

    >>> split_axis([1, 3]), split_axis([1, 1])
    ((1, 3), (0, 1))
    """
    return next(((axis, count) for axis, count in enumerate(partitions) if count > 1), (0, 1))


def slices_of(full: list[int], count: int, axis: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield offset and shape of each part; the first parts are longer by one where the division leaves a rest.

    >>> list(slices_of([5, 2], 2, 0))
    [([0, 0], [3, 2]), ([3, 0], [2, 2])]
    """
    least, longer = divmod(full[axis], count)
    at = 0
    for i in range(count):
        offset, shape = [0] * len(full), list(full)
        offset[axis], shape[axis] = at, least + (i < longer)
        at += shape[axis]
        yield offset, shape


# --- the variable -----------------------------------------------------------------------------------------------------


class PartitionedVariable:
    """A variable whose parts are variables; as a tensor it is their concatenation."""

    is_tensor_like = True
    iterated_by_parts = True  # `for` goes over the parts, in a converted function too
    __array_priority__ = 100

    def __init__(
        self, name: str, shape: Any, dtype: DTypeLike, variable_list: Sequence[Any], partitions: Sequence[int]
    ):
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(f"partitions is not a list or tuple: {partitions}")
        if not all(p >= 1 for p in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        infos = [v._get_save_slice_info() for v in variable_list]
        if any(info is None for info in infos):
            raise ValueError(f"All variables must have a save_slice_info available: {[v.name for v in variable_list]}")
        full = TensorShape(shape)
        if len(full) != len(partitions):
            raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
        if any(list(info.full_shape) != full.as_list() for info in infos):
            raise ValueError(
                f"All variables' full shapes must match shape: {shape}; but full shapes were: "
                f"{[info.full_shape for info in infos]}"
            )
        self._variable_list = sorted(variable_list, key=lambda v: list(v._get_save_slice_info().var_offset))
        self._name = name
        self._shape = full
        self._dtype = dtypes.as_dtype(dtype)
        self._partitions = partitions

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        """Return the shape of the whole."""
        return self._shape

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        self._axis("Cannot get a length for")
        return len(self._variable_list)

    def _get_variable_list(self) -> list[Any]:
        return self._variable_list

    def _get_partitions(self) -> Any:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        return [axis for axis, count in enumerate(self._partitions) if count > 1] or [0]

    def _axis(self, what: str) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"{what} {len(axes)} > 1 partition axes")
        return axes[0]

    def _concat(self) -> Any:
        """Return the whole as a tensor of new nodes, which keep the control dependencies that hold here."""
        if len(self._variable_list) == 1:
            with name_scope(None):
                return raw.Identity(self._variable_list[0], name=self._name)
        axis = self._axis("Cannot concatenate along")
        with name_scope(self._name + "/ConcatPartitions/"):
            whole = concat(self._variable_list, axis)
        with name_scope(None):
            return raw.Identity(whole, name=self._name)

    def as_tensor(self) -> Tensor:
        """Return the whole as a tensor."""
        with control_dependencies(None):
            return self._concat()

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(self._dtype):
            raise ValueError(
                f"Incompatible type conversion requested to type '{dtypes.as_dtype(dtype).name}' for variable of type "
                f"'{self._dtype.name}'"
            )
        return self.as_tensor()

    # --- assigning ----------------------------------------------------------------------------------------------------

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Set each part to its part of `value` (a tensor, a list of parts, a partitioned variable)."""
        return self._each("assign", value, use_locking, name, read_value)

    def assign_add(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Add to each part."""
        return self._each("assign_add", value, use_locking, name, read_value)

    def assign_sub(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[Any]:
        """Subtract from each part."""
        return self._each("assign_sub", value, use_locking, name, read_value)

    def _each(self, method: str, value: Any, use_locking: bool, name: str | None, read_value: bool) -> list[Any]:
        axis = self._axis("Cannot do assign action along")
        if isinstance(value, (list, PartitionedVariable)):
            values = list(value)
            if len(values) != len(self._variable_list):
                raise ValueError(f"{self._name} has {len(self._variable_list)} parts, {len(values)} values were given")
        else:
            values = split(value, [v.shape.as_list()[axis] for v in self._variable_list], axis=axis)
        return [
            getattr(part, method)(v, use_locking=use_locking, name=name, read_value=read_value)
            for part, v in zip(self._variable_list, values, strict=True)
        ]

    def __repr__(self) -> str:
        parts = len(self._variable_list)
        return f"<PartitionedVariable '{self._name}' shape={self._shape} dtype={self._dtype.name} parts={parts}>"


def _through_tensor(method: str) -> Callable[..., Any]:
    def operator(self: PartitionedVariable, *args: Any) -> Any:
        value = self.as_tensor()
        return getattr(value.__class__, method)(value, *args)

    operator.__name__ = method
    return operator


for _method in [*OPERATORS, "__getitem__"]:
    setattr(PartitionedVariable, _method, _through_tensor(_method))
