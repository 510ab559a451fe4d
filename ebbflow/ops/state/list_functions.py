"""Lists of tensors as functions (`tensorflow.python.ops.list_ops`): the ops with element shapes said in any way.

An element shape may be None, a TensorShape, a list with None in it, or a tensor; left out, it is not known. Knows the
ops of `tensor_list` and `tensor_list_rows`; gradients are theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops.declare import raw

_SIZES = (dtypes.int32, dtypes.int64)


def element_shape_of(shape: Any) -> Any:
    """Return an element shape as the ops take it: a vector with -1 for what is not known, or -1 alone.

    >>> element_shape_of([2, None]).tolist(), int(element_shape_of(None))
    ([2, -1], -1)
    """
    if isinstance(shape, Tensor):
        return shape if shape.dtype in _SIZES else raw.Cast(shape, DstT=dtypes.int32)
    if isinstance(shape, TensorShape):
        shape = shape.as_list() if shape.rank is not None else None
    if shape is None or (isinstance(shape, (int, np.integer)) and shape < 0):
        return np.array(-1, np.int32)
    if isinstance(shape, (np.ndarray, np.integer)):
        return np.asarray(shape, np.int32)
    shape = [shape] if isinstance(shape, int) else shape
    if any(isinstance(size, Tensor) for size in shape):
        return raw.Pack([convert(-1 if size is None else size, dtypes.int32) for size in shape])
    return np.array([-1 if size is None else int(size) for size in shape], np.int32)


def empty_tensor_list(
    element_shape: Any, element_dtype: DTypeLike, max_num_elements: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Return a list without elements."""
    most = -1 if max_num_elements is None else max_num_elements
    return raw.EmptyTensorList(element_shape_of(element_shape), most, element_dtype=element_dtype, name=name)


def tensor_list_reserve(
    element_shape: Any, num_elements: TensorLike, element_dtype: DTypeLike, name: str | None = None
) -> Tensor:
    """Return a list of that many elements that are not there yet."""
    shape = element_shape_of(element_shape)
    return raw.TensorListReserve(shape, num_elements, element_dtype=element_dtype, name=name)


def tensor_list_from_tensor(tensor: TensorLike, element_shape: Any, name: str | None = None) -> Tensor:
    """Return the rows of a tensor as a list."""
    return raw.TensorListFromTensor(tensor, element_shape_of(element_shape), name=name)


def tensor_list_get_item(
    input_handle: TensorLike,
    index: TensorLike,
    element_dtype: DTypeLike,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return one element."""
    shape = element_shape_of(element_shape)
    return raw.TensorListGetItem(input_handle, index, shape, element_dtype=element_dtype, name=name)


def tensor_list_set_item(
    input_handle: TensorLike,
    index: TensorLike,
    item: TensorLike,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the list with one element replaced."""
    grows = resize_if_index_out_of_bounds
    return raw.TensorListSetItem(input_handle, index, item, resize_if_index_out_of_bounds=grows, name=name)


def tensor_list_pop_back(input_handle: TensorLike, element_dtype: DTypeLike, name: str | None = None) -> Any:
    """Return the list without its last element, and the element."""
    return raw.TensorListPopBack(input_handle, np.array(-1, np.int32), element_dtype=element_dtype, name=name)


def tensor_list_gather(
    input_handle: TensorLike,
    indices: TensorLike,
    element_dtype: DTypeLike,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return some elements as the rows of a tensor."""
    shape = element_shape_of(element_shape)
    return raw.TensorListGather(input_handle, indices, shape, element_dtype=element_dtype, name=name)


def tensor_list_scatter(
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: Any = None,
    input_handle: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Return a list with the rows of a tensor at these places: a new one, or `input_handle` changed."""
    tensor = convert(tensor)
    if input_handle is not None:
        return raw.TensorListScatterIntoExistingList(input_handle, tensor, indices, name=name)
    return raw.TensorListScatterV2(tensor, indices, element_shape_of(element_shape), -1, name=name)


def tensor_list_stack(
    input_handle: TensorLike,
    element_dtype: DTypeLike,
    num_elements: int = -1,
    element_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return all elements as the rows of a tensor."""
    shape = element_shape_of(element_shape)
    return raw.TensorListStack(
        input_handle, shape, element_dtype=element_dtype, num_elements=num_elements, name=name
    )  # fmt: skip


def tensor_list_concat(
    input_handle: TensorLike, element_dtype: DTypeLike, element_shape: Any = None, name: str | None = None
) -> Tensor:
    """Return all elements one behind the other."""
    shape, leading = element_shape_of(element_shape), np.zeros(0, np.int64)
    return raw.TensorListConcatV2(input_handle, shape, leading, element_dtype=element_dtype, name=name)[0]


def tensor_list_split(tensor: TensorLike, element_shape: Any, lengths: TensorLike, name: str | None = None) -> Tensor:
    """Return a list of parts of a tensor, as long as `lengths` says."""
    return raw.TensorListSplit(tensor, element_shape_of(element_shape), lengths, name=name)
