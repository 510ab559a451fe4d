"""A Python list that grows in a loop of a graph.

While a graph is built nobody knows how long such a list gets, so it is a list of tensors as a value (`TensorList`),
with the manners of Python's: `append`, `pop`, indexing, and `len` by way of AutoGraph. Given to an op it is the stack
of its elements, so that `tf.stack(outputs)` after the loop means what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.common_dims import common_dims
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.convert import convert, to_array
from ebbflow.core.shape import Dims, dims_str, from_dims, is_compatible
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.ops.declare import raw


class StagedList(CompositeTensor):
    """A list of tensors of one dtype, of a length that is known when the graph runs."""

    def __init__(self, handle: Any, dtype: dtypes.DType, dims: Dims):
        self.handle = handle
        self.dtype = dtype
        self.dims = dims

    @classmethod
    def of(cls, elements: Any, dtype: dtypes.DType, dims: Dims) -> StagedList:
        """Return a list that begins with these elements."""
        made = cls(raw.EmptyTensorList(_shape(dims), -1, element_dtype=dtype), dtype, dims)
        made.extend(elements)
        return made

    @property
    def _type_spec(self) -> StagedListSpec:
        return StagedListSpec(self.dtype, self.dims)

    def copy(self) -> StagedList:
        """Return a list with the same elements."""
        return StagedList(self.handle, self.dtype, self.dims)

    def append(self, value: Any) -> None:
        """Add an element at the end."""
        tensor = convert(value, None, self.dtype)
        if tensor.dtype.base_dtype is not self.dtype or not is_compatible(tensor._dims, self.dims):
            raise TypeError(
                f"the list holds {self.dtype.name} of shape {dims_str(self.dims)}, and {tensor.dtype.name} of shape "
                f"{dims_str(tensor._dims)} is appended to it: in a loop of a graph the elements of a list must be alike"
            )
        self.handle = raw.TensorListPushBack(self.handle, tensor)

    def extend(self, values: Any) -> None:
        """Add several elements at the end."""
        for value in values:
            self.append(value)

    def pop(self, index: Any = -1) -> Any:
        """Take the last element away and return it."""
        if index != -1:
            raise ValueError("of a list that grows in a loop of a graph, only the last element can be popped")
        self.handle, item = raw.TensorListPopBack(self.handle, _shape(self.dims), element_dtype=self.dtype)
        return item

    def length(self) -> Any:
        """Return the number of elements, as a tensor."""
        return raw.TensorListLength(self.handle)

    def stack(self) -> Any:
        """Return the elements as the rows of one tensor."""
        return raw.TensorListStack(self.handle, _shape(self.dims), element_dtype=self.dtype, num_elements=-1)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.stack()[index]
        if isinstance(index, (int, np.integer)) and index < 0:
            index = self.length() + index
        return raw.TensorListGetItem(self.handle, index, _shape(self.dims), element_dtype=self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.handle = raw.TensorListSetItem(self.handle, index, convert(value, self.dtype))

    def __len__(self) -> int:
        if isinstance(self.handle, EagerTensor):
            return int(self.length())
        raise TypeError(
            "the length of a list that grew in a loop of a graph is a tensor: write len(x) in a function that "
            "AutoGraph converts, or use tf.shape(tf.stack(x))[0]"
        )

    def __iter__(self) -> Any:
        if isinstance(self.handle, EagerTensor):
            return (self[i] for i in range(len(self)))
        raise TypeError("a list that grew in a loop of a graph can be iterated over by `for` in converted code only")

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        return convert(self.stack(), dtype, name=name)

    def __repr__(self) -> str:
        return f"<list of {self.dtype.name} of shape {from_dims(self.dims)}, grown in a loop>"


def common_kind(lists: Sequence[Any]) -> tuple[dtypes.DType, Dims] | None:
    """Return the dtype and shape that the elements of several lists share, None where they have none in common."""
    found: list[tuple[dtypes.DType, Dims]] = []
    for one in lists:
        if isinstance(one, StagedList):
            found.append((one.dtype, one.dims))
            continue
        for item in one:
            if isinstance(item, Tensor):
                found.append((item.dtype.base_dtype, item._dims))
    if not found:
        plain = [to_array(item) for one in lists for item in one]
        found = [(dtype, array.shape) for array, dtype in plain]
    dtype, dims = found[0]
    for other, shape in found[1:]:
        if other is not dtype:
            return None
        dims = common_dims(dims, shape)
    return dtype, dims


class StagedListSpec(TypeSpec):
    """The type of such a list."""

    __slots__ = ("_dims", "_dtype")

    def __init__(self, dtype: dtypes.DType, dims: Dims):
        self._dtype = dtype
        self._dims = dims

    @property
    def value_type(self) -> type:
        return StagedList

    @property
    def _component_specs(self) -> Any:
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value: StagedList) -> list[Any]:
        return [value.handle]

    def _from_components(self, components: Any) -> StagedList:
        return StagedList(components[0], self._dtype, self._dims)

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether the other is such a list, or its type, with elements like this one's."""
        other = other._type_spec if isinstance(other, StagedList) else other
        return self == other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StagedListSpec) and (self._dtype, self._dims) == (other._dtype, other._dims)

    def __hash__(self) -> int:
        return hash((self._dtype, self._dims))


def _shape(dims: Dims) -> np.ndarray:
    return np.array(-1 if dims is None else [-1 if n is None else n for n in dims], np.int32)
