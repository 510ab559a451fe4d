"""`tensorflow.python.autograph`'s lists: one word each for lists of Python, tensors' lists and TensorArrays.

A tensors' list is a tensor of dtype variant; what changes one gives the changed list back. Imported by nobody: the
tables name what is here.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.functions.control_flow.cond import cond
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.ops.declare import raw

ListPopOpts = collections.namedtuple("ListPopOpts", ("element_dtype", "element_shape"))
ListStackOpts = collections.namedtuple("ListStackOpts", ("element_dtype", "original_call"))
GetItemOpts = collections.namedtuple("GetItemOpts", ("element_dtype",))


def is_tensor_list(value: Any) -> bool:
    """Return whether a value is a tensors' list."""
    return isinstance(value, Tensor) and value.dtype.base_dtype is dtypes.variant and value.shape.rank == 0


def is_tensor_array(value: Any) -> bool:
    """Return whether a value is a TensorArray."""
    return isinstance(value, TensorArray)


def new_list(iterable: Any = None) -> Any:
    """Return a list of what an iterable gives: a tensors' list where there is nothing yet."""
    elements = tuple(iterable) if iterable is not None else ()
    return list(elements) if elements else tf_tensor_list_new(())


def _common_kind(elements: Sequence[Any], element_dtype: Any, element_shape: Any, one_shape: bool) -> tuple[Any, Any]:
    """Return the dtype and shape that elements share; refuse those that share none, or not the one that is said."""
    found = {e.dtype.base_dtype for e in elements}
    if len(found) > 1:
        raise ValueError(f"all elements must be of one dtype, got {sorted(d.name for d in found)}")
    dtype = None if element_dtype is None else dtypes.as_dtype(element_dtype)
    for one in found:
        if dtype is not None and one is not dtype:
            raise ValueError(f"elements are {one.name}, but element_dtype is {dtype.name}")
        dtype = one
    shape = TensorShape(element_shape)
    shapes = {tuple(e.shape.as_list()) for e in elements if e.shape.rank is not None}
    if one_shape and len(shapes) > 1:
        raise ValueError(f"all elements must be of one shape, got {sorted(shapes)}")
    for one in shapes:
        if not shape.is_compatible_with(TensorShape(one)):
            raise ValueError(f"an element has shape {one}, but element_shape is {shape}")
    if shape.rank is None and len(shapes) == 1:
        shape = TensorShape(next(iter(shapes)))
    return dtype, shape


def tf_tensor_list_new(elements: Any, element_dtype: Any = None, element_shape: Any = None) -> Any:
    """Return a tensors' list of elements, or of the rows of a tensor."""
    if isinstance(elements, Tensor):
        if element_shape is not None:
            raise ValueError("element shape may not be specified when creating list from tensor")
        return raw.TensorListFromTensor(elements, _as_dims(TensorShape(elements.shape[1:])))
    parts = [convert(e) for e in elements]
    dtype, shape = _common_kind(parts, element_dtype, element_shape, False)
    made = raw.EmptyTensorList(_as_dims(shape), convert(-1), element_dtype=dtype or dtypes.variant)
    for part in parts:
        made = raw.TensorListPushBack(made, part)
    return made


def _as_dims(shape: TensorShape) -> Any:
    if shape.rank is None:
        return convert(-1)
    return convert([-1 if d is None else d for d in shape.as_list()], dtypes.int32)


def tf_tensor_array_new(elements: Any, element_dtype: Any = None, element_shape: Any = None) -> TensorArray:
    """Return a TensorArray of elements."""
    parts = [convert(e) for e in elements]
    dtype, shape = _common_kind(parts, element_dtype, element_shape, True)
    if dtype is None:
        raise ValueError("element_dtype is required to make a TensorArray of no elements")
    array = TensorArray(dtype, size=len(parts), dynamic_size=True, infer_shape=True, element_shape=shape)
    for i, part in enumerate(parts):
        array = array.write(i, part)
    return array


def _begun_with(list_: Any, x: Tensor) -> Any:
    """Return a list that takes `x`: an empty one may have been made before its elements were known."""
    like_x = lambda: raw.EmptyTensorList(raw.Shape(x), convert(-1), element_dtype=x.dtype.base_dtype)
    return cond(raw.Greater(raw.TensorListLength(list_), 0), lambda: list_, like_x)


def list_append(list_: Any, x: Any) -> Any:
    """Return a list with one more element at its end."""
    if isinstance(list_, TensorArray):
        return list_.write(list_.size(), x)
    if is_tensor_list(list_):
        return raw.TensorListPushBack(_begun_with(list_, convert(x)), x)
    if isinstance(list_, Tensor):
        raise ValueError(f"tensor lists are expected to be tensors of dtype variant, got {list_}")
    list_.append(x)
    return list_


def list_pop(list_: Any, i: Any, opts: ListPopOpts) -> tuple[Any, Any]:
    """Return a list without its last element (or that at `i`, of a Python list), and the element."""
    if isinstance(list_, TensorArray):
        raise ValueError("TensorArray does not support item removal")
    if not isinstance(list_, Tensor):
        return list_, (list_.pop() if i is None else list_.pop(i))
    if i is not None:
        raise NotImplementedError("tensor lists only support removing from the end")
    if opts.element_dtype is None or opts.element_shape is None:
        raise ValueError("cannot pop from a list without knowing its element type; use set_element_type to say it")
    found = raw.TensorListPopBack(list_, _as_dims(TensorShape(opts.element_shape)), element_dtype=opts.element_dtype)
    return tuple(found)


def list_stack(list_: Any, opts: ListStackOpts) -> Any:
    """Return the elements of a list as one tensor; what is no list goes to `opts.original_call`."""
    if isinstance(list_, TensorArray):
        return list_.stack()
    if not is_tensor_list(list_):
        return opts.original_call(list_)
    if opts.element_dtype is None:
        raise ValueError("cannot stack a list without knowing its element type; use set_element_type to say it")
    return _stacked(list_, opts.element_dtype)


def _stacked(list_: Any, dtype: Any) -> Any:
    made_by = getattr(list_, "op", None) if not context.executing_eagerly() else None
    known = None if made_by is None or made_by.type != "EmptyTensorList" else made_by.get_attr("element_dtype")
    if known is not None and known is not dtypes.as_dtype(dtype):
        raise ValueError(f"the list has elements of dtype {known.name}, not {dtypes.as_dtype(dtype).name}")
    return raw.TensorListStack(list_, convert(-1), element_dtype=dtype)


def get_item(target: Any, i: Any, opts: GetItemOpts) -> Any:
    """Return an item of a list, a tensor (a letter of a text) or what else has items."""
    if isinstance(target, TensorArray):
        return target.read(i)
    if is_tensor_list(target):
        if opts.element_dtype is None:
            raise ValueError("cannot retrieve from a list without knowing its element type; use set_element_type")
        return raw.TensorListGetItem(target, i, convert(-1), element_dtype=opts.element_dtype)
    if isinstance(target, Tensor) and target.dtype.base_dtype is dtypes.string and target.shape.rank == 0:
        return raw.Substr(target, i, 1)
    return target[i]


def set_item(target: Any, i: Any, x: Any) -> Any:
    """Return a list or tensor with another item in one place."""
    if isinstance(target, TensorArray):
        return target.write(i, x)
    if is_tensor_list(target):
        return raw.TensorListSetItem(target, i, x)
    if isinstance(target, Tensor):
        return raw.TensorScatterUpdate(target, [[i]], [convert(x, target.dtype.base_dtype)])
    target[i] = x
    return target


class TensorList:
    """A tensors' list that is changed in place."""

    def __init__(self, shape: Any, dtype: Any):
        self.dtype, self.shape = dtype, shape
        dims = shape if isinstance(shape, Tensor) else _as_dims(TensorShape(shape))
        self.list_ = raw.EmptyTensorList(dims, convert(-1), element_dtype=dtype)

    def append(self, value: Any) -> None:
        """Put an element at the end."""
        self.list_ = raw.TensorListPushBack(self.list_, convert(value, self.dtype))

    def pop(self) -> Any:
        """Take the last element out and return it."""
        self.list_, value = raw.TensorListPopBack(self.list_, convert(-1), element_dtype=self.dtype)
        return value

    def clear(self) -> None:
        """Take out all elements."""
        self.__init__(self.shape, self.dtype)  # type: ignore[misc]

    def count(self) -> Any:
        """Return the number of elements."""
        return raw.TensorListLength(self.list_)

    def __getitem__(self, key: Any) -> Any:
        return raw.TensorListGetItem(self.list_, key, convert(-1), element_dtype=self.dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.list_ = raw.TensorListSetItem(self.list_, key, value)


def dynamic_list_append(target: Any, element: Any) -> Any:
    """Return a list of any kind with one more element."""
    if isinstance(target, (list, TensorList)):
        target.append(element)
        return target
    return list_append(target, element)


def tensor_list(
    elements: Any, element_dtype: Any = None, element_shape: Any = None, use_tensor_array: bool = False
) -> Any:
    """Return a tensors' list (or a TensorArray) of elements, or of the rows of a tensor."""
    if not isinstance(elements, (list, tuple, Tensor)):
        raise ValueError(f"unknown type for elements: {type(elements)}")
    if not isinstance(elements, Tensor) and not elements and (element_dtype is None or element_shape is None):
        raise ValueError("element_dtype and element_shape are required to create an empty list")
    make: Callable[..., Any] = tf_tensor_array_new if use_tensor_array else tf_tensor_list_new
    return make(elements, element_dtype, element_shape)


def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """Return the elements of a list as one tensor; what is no list is an error, or itself if not `strict`."""

    def other(value: Any) -> Any:
        if strict:
            raise ValueError(f"must be stackable when strict=True; got {value}")
        return value

    return list_stack(list_or_tensor, ListStackOpts(element_dtype, other))
