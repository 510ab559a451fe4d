"""Lists of tensors as values: what loops push to and pop from, and what `TensorArray` is made of.

A list is a scalar of dtype variant around a `TensorList`. Every op gives a new list and leaves the old one as it was;
all of them are differentiable: the gradient of a list is a list of gradients, in which an element not set is zero.
Element shapes come as tensors; -1 stands for an unknown length, the scalar -1 for an unknown rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType, c_name
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims, is_compatible, is_static, merge_dims
from ebbflow.ops.declare import FLAT, raw, scalar, show
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.list_value import TensorList, stack_elements, zeros_of
from ebbflow.ops.state.storage import boxed

# --- reading arguments ------------------------------------------------------------------------------------------------


def list_of(handle: np.ndarray) -> TensorList:
    """Return the list in a scalar of dtype variant."""
    found = handle.item() if handle.size == 1 else None
    if found.__class__ is not TensorList:
        raise invalid(f"Input handle is not a list. Saw: '{type(found).__name__}'")
    return found


def dims_of(element_shape: np.ndarray) -> Dims:
    """Return the dims that an element_shape argument spells."""
    if element_shape.ndim == 0:
        if element_shape != -1:
            raise invalid(
                "The only valid scalar shape tensor is the fully unknown shape specified as -1. "
                f"Got: {int(element_shape)}"
            )
        return None
    if element_shape.ndim > 1:
        raise invalid(f"Shape must be at most rank 1 but is rank {element_shape.ndim}")
    for n in element_shape:
        if n < -1:
            raise invalid(f"Dimension {int(n)} must be >= -1")
    return tuple(None if n == -1 else int(n) for n in element_shape)


def static_dims(element_shape: Known) -> Dims:
    """Return the dims that an element_shape argument spells, as far as it is known while building."""
    value = element_shape.value
    if value is not None:
        return dims_of(value)
    return element_shape.as_dims if element_shape.rank == 1 else None


def merged_dims(a: Dims, b: Dims) -> Dims:
    try:
        return merge_dims(a, b)
    except ValueError:
        if len(a) != len(b):  # type: ignore[arg-type]
            raise invalid(
                f"PartialTensorShape: Incompatible ranks during merge: {len(a)} vs. {len(b)}"  # type: ignore[arg-type]
            ) from None
        raise invalid(f"PartialTensorShape: Incompatible shapes during merge: {show(a)} vs. {show(b)}") from None


def check_dtype(found: TensorList, dtype: DType) -> None:
    if found.dtype is not dtype.base_dtype:
        raise invalid(f"Invalid data types; op elements {c_name(dtype)} but list elements {c_name(found.dtype)}")


def scalar_int(index: np.ndarray) -> int:
    if index.size != 1:
        raise invalid(f"Expected an index of one element. Received {index.size} elements.")
    return int(index.item())


def size_scalar(value: np.ndarray, name: str) -> int:
    """Return an argument that says how many, which must be a scalar."""
    if value.ndim:
        raise invalid(f"{name} must be a scalar, got shape {show(value.shape)}")
    return int(value)


def check_has_rows(tensor: np.ndarray) -> None:
    if tensor.ndim == 0:
        raise invalid("Tensor must be at least a vector, but saw shape: []")


# --- making lists -----------------------------------------------------------------------------------------------------

EmptyTensorList = op(
    "EmptyTensorList(element_shape:shape_type, max_num_elements:int32) -> (handle:variant) | element_dtype: type; "
    "shape_type: type in [int32,int64]",
    shape=scalar,
    gradient=FLAT,
    facts="lists sizes=element_shape,max_num_elements",
)


@EmptyTensorList.kernel
def _(xp, element_shape, max_num_elements, *, element_dtype):
    if max_num_elements.ndim:
        raise invalid(f"max_num_elements expected to be a scalar but got shape: {show(max_num_elements.shape)}")
    return boxed(TensorList(element_dtype, dims_of(element_shape), limit=int(max_num_elements)))


TensorListReserve = op(
    "TensorListReserve(element_shape:shape_type, num_elements:int32) -> (handle:variant) | element_dtype: type; "
    "shape_type: type in [int32,int64]",
    shape=scalar,
    gradient=FLAT,
    facts="lists sizes=element_shape,num_elements",
)


@TensorListReserve.kernel
def _(xp, element_shape, num_elements, *, element_dtype):
    if num_elements.size != 1 or num_elements.ndim:
        raise invalid(f"The num_elements to reserve must be a tensor size 1, but got {show(num_elements.shape)}")
    if num_elements < 0:
        raise invalid(f"The num_elements to reserve must be a non negative number, but got {int(num_elements)}")
    return boxed(TensorList(element_dtype, dims_of(element_shape), int(num_elements)))


TensorListFromTensor = op(
    "TensorListFromTensor(tensor:element_dtype, element_shape:shape_type) -> (output_handle:variant) | "
    "element_dtype: type; shape_type: type in [int32,int64]",
    shape=scalar,
    facts="lists",
)


@TensorListFromTensor.kernel
def _(xp, tensor, element_shape, *, element_dtype):
    check_has_rows(tensor)
    dims = dims_of(element_shape)
    check_rows(tensor, dims)
    return boxed(TensorList.of_rows(element_dtype, dims, tensor))


@TensorListFromTensor.gradient
def _(call, grad):
    count = None if call.tensor._dims is None else call.tensor._dims[0]
    return [stacked(grad, call.tensor.dtype, shape_of_rows(call.tensor), count), None]


def check_rows(tensor: np.ndarray, dims: Dims) -> None:
    if not is_compatible(tensor.shape[1:], dims):
        raise invalid(f"Specified a list with shape {show(dims)} from a tensor with shape {show(tensor.shape[1:])}")


def shape_of_rows(tensor: Any) -> Any:
    """Return the shape of the elements that a tensor is made of: a list where it is known, a tensor elsewhere."""
    dims = tensor._dims
    if dims is not None and is_static(dims[1:]):
        return list(dims[1:])
    return raw.StridedSlice(raw.Shape(tensor), [1], [0], [1], end_mask=1)


def _shape_of(tensor: Any) -> Any:
    return list(tensor._dims) if is_static(tensor._dims) else raw.Shape(tensor)


def stacked(handle: Any, dtype: DType, element_shape: Any, count: int | None = None) -> Any:
    """Return the elements of a list as the rows of one tensor."""
    return raw.TensorListStack(
        handle, as_int32(element_shape), element_dtype=dtype.base_dtype, num_elements=-1 if count is None else count
    )


def as_int32(element_shape: Any) -> Any:
    return np.array(element_shape, np.int32) if isinstance(element_shape, list) else element_shape


# --- the end of a list ------------------------------------------------------------------------------------------------

TensorListPushBack = op(
    "TensorListPushBack(input_handle:variant, tensor:element_dtype) -> (output_handle:variant) | element_dtype: type",
    shape=scalar,
    facts="lists",
)


@TensorListPushBack.kernel
def _(xp, input_handle, tensor, *, element_dtype):
    found = list_of(input_handle)
    check_dtype(found, element_dtype)
    if found.element_dims is not None and not is_compatible(tensor.shape, found.element_dims):
        raise invalid(
            f"Tried to append a tensor with incompatible shape to a list. Op element shape: {show(tensor.shape)} "
            f"list shape: {show(found.element_dims)}"
        )
    if found.limit != -1 and found.length >= found.limit:
        raise invalid(f"Tried to push item into a full list list size: {found.length} max_num_elements: {found.limit}")
    return boxed(found.push(tensor))


def _pushing(knowns: Any, attrs: dict[str, Any], outputs: Any) -> Any:
    """Return a push for Programs, whose loops have many: what it has seen to be right it does not look at again."""
    dtype, dims = attrs["element_dtype"].base_dtype, knowns[1].dims
    if not is_static(dims):
        return None
    right: Any = ()  # the shape of elements that such an item fits

    def push(handle: np.ndarray, item: np.ndarray) -> np.ndarray:
        nonlocal right
        found = handle.item()
        is_right = found.__class__ is TensorList and found.dtype is dtype and found.element_dims is right
        if is_right and (found.limit == -1 or found.length < found.limit):
            return boxed(found.push(item))
        pushed = TensorListPushBack.run([handle, item], attrs)
        right = found.element_dims
        return pushed

    return push


TensorListPushBack.open_preparers.append(_pushing)


@TensorListPushBack.gradient
def _(call, grad):
    return raw.TensorListPopBack(grad, as_int32(_shape_of(call.tensor)), element_dtype=call.tensor.dtype.base_dtype)


TensorListPopBack = op(
    "TensorListPopBack(input_handle:variant, element_shape:int32) -> (output_handle:variant, tensor:element_dtype) | "
    "element_dtype: type",
    shape=lambda input_handle, element_shape: [(), static_dims(element_shape)],
    facts="lists",
)


@TensorListPopBack.kernel
def _(xp, input_handle, element_shape, *, element_dtype):
    found = list_of(input_handle)
    check_dtype(found, element_dtype)
    if not found.length:
        raise invalid("Trying to pop from an empty list.")
    rest, item = found.pop()
    if item is None:
        dims = merged_dims(dims_of(element_shape), found.element_dims)
        if not is_static(dims):
            raise invalid(f"Trying to read an uninitialized tensor but element_shape is not fully defined.{show(dims)}")
        item = zeros_of(dims, found.dtype)
    return boxed(rest), item


def _popping(knowns: Any, attrs: dict[str, Any], outputs: Any) -> Any:
    """Return a pop for Programs."""
    dtype = attrs["element_dtype"].base_dtype

    def pop(handle: np.ndarray, element_shape: np.ndarray) -> Any:
        found = handle.item()
        if found.__class__ is TensorList and found.dtype is dtype and found.length:
            rest, item = found.pop()
            if item is not None:
                return boxed(rest), item
        return TensorListPopBack.run([handle, element_shape], attrs)

    return pop


TensorListPopBack.open_preparers.append(_popping)


@TensorListPopBack.gradient
def _(call, list_grad, item_grad):
    if list_grad is None:
        list_grad = raw.ZerosLike(call.output_handle)
    if item_grad is None:
        item_grad = raw.ZerosLike(call.tensor)
    return [raw.TensorListPushBack(list_grad, item_grad), None]


# --- one element ------------------------------------------------------------------------------------------------------

TensorListGetItem = op(
    "TensorListGetItem(input_handle:variant, index:int32, element_shape:Tshape) -> (item:element_dtype) | "
    "element_dtype: type; Tshape: type in [int32,int64] = int32",
    shape=lambda input_handle, index, element_shape: static_dims(element_shape),
    facts="lists",
)


@TensorListGetItem.kernel
def _(xp, input_handle, index, element_shape, *, element_dtype):
    found, at = list_of(input_handle), scalar_int(index)
    check_dtype(found, element_dtype)
    if not 0 <= at < found.length:
        raise invalid(f"Trying to access element {at} in a list with {found.length} elements.")
    item = found.get(at)
    if item is not None:
        return item
    dims = merged_dims(dims_of(element_shape), found.element_dims)
    if not is_static(dims):
        other = found.shape_of_others()
        if other is None:
            raise invalid(
                f"Trying to read an uninitialized tensor but element_shape is not fully defined: {show(dims)} and no "
                "list element is set."
            )
        dims = other
    return zeros_of(dims, found.dtype)


@TensorListGetItem.gradient
def _(call, grad):
    zeros = raw.ZerosLike(call.input_handle)
    return [raw.TensorListSetItem(zeros, call.index, grad), None, None]


TensorListSetItem = op(
    "TensorListSetItem(input_handle:variant, index:int32, item:element_dtype) -> (output_handle:variant) | "
    "element_dtype: type; resize_if_index_out_of_bounds: bool = false",
    shape=scalar,
    facts="lists",
)


@TensorListSetItem.kernel
def _(xp, input_handle, index, item, *, element_dtype, resize_if_index_out_of_bounds):
    found, at = list_of(input_handle), scalar_int(index)
    check_dtype(found, element_dtype)
    if at < 0 or (at >= found.length and not resize_if_index_out_of_bounds):
        raise invalid(f"Trying to modify element {at} in a list with {found.length} elements.")
    if found.element_dims is not None and not is_compatible(item.shape, found.element_dims):
        raise invalid(
            "Tried to set a tensor with incompatible shape at a list index. "
            f"Item element shape: {show(item.shape)} list shape: {show(found.element_dims)}"
        )
    return boxed(found.set(at, item))


@TensorListSetItem.gradient
def _(call, grad):
    shape, dtype = as_int32(_shape_of(call.item)), call.item.dtype.base_dtype
    item_grad = None
    if call.wants(2) and (dtype.is_floating or dtype.is_complex or dtype is dtypes.variant):
        item_grad = raw.TensorListGetItem(grad, call.index, shape, element_dtype=dtype)
    list_grad = None
    if call.wants(0):
        list_grad = raw.TensorListSetItem(grad, call.index, raw.ZerosLike(call.item))
        if call.resize_if_index_out_of_bounds:
            list_grad = raw.TensorListResize(list_grad, raw.TensorListLength(call.input_handle))
    return [list_grad, None, item_grad]


# --- all elements -----------------------------------------------------------------------------------------------------

TensorListLength = op(
    "TensorListLength(input_handle:variant) -> (length:int32)",
    shape=scalar,
    kernel=lambda xp, input_handle: np.array(list_of(input_handle).length, np.int32),
    gradient=FLAT,
    facts="small lists",
)
TensorListElementShape = op(
    "TensorListElementShape(input_handle:variant) -> (element_shape:shape_type) | shape_type: type in [int32,int64]",
    shape=lambda input_handle: None,
    gradient=FLAT,
    facts="small lists",
)


@TensorListElementShape.kernel
def _(xp, input_handle, *, shape_type):
    dims = list_of(input_handle).element_dims
    return np.array(-1 if dims is None else [-1 if n is None else n for n in dims], shape_type.np)


TensorListResize = op(
    "TensorListResize(input_handle:variant, size:int32) -> (output_handle:variant)",
    shape=scalar,
    facts="lists sizes=size",
)


@TensorListResize.kernel
def _(xp, input_handle, size):
    if size_scalar(size, "size") < 0:
        raise invalid(f"TensorListSlice expects size to be non-negative. Got: {int(size)}")
    return boxed(list_of(input_handle).resize(int(size)))


@TensorListResize.gradient
def _(call, grad):
    return [raw.TensorListResize(grad, raw.TensorListLength(call.input_handle)), None]


TensorListStack = op(
    "TensorListStack(input_handle:variant, element_shape:int32) -> (tensor:element_dtype) | element_dtype: type; "
    "num_elements: int = -1",
    facts="lists",
)


@TensorListStack.shape
def _(input_handle, element_shape, *, num_elements):
    dims = static_dims(element_shape)
    return None if dims is None else (None if num_elements < 0 else num_elements, *dims)


@TensorListStack.kernel
def _(xp, input_handle, element_shape, *, element_dtype, num_elements):
    found = list_of(input_handle)
    check_dtype(found, element_dtype)
    if num_elements not in (-1, found.length):
        raise invalid(
            f"Operation expected a list with {num_elements} elements but got a list with {found.length} elements."
        )
    wanted = merged_dims(dims_of(element_shape), found.element_dims)
    if found.whole is not None and len(found.whole) and is_compatible(found.whole.shape[1:], wanted):
        return found.whole
    elements = found.elements()
    dims = common_dims(elements, wanted)
    if not is_static(dims):
        if not elements:
            raise invalid(
                f"Tried to stack elements of an empty list with non-fully-defined element_shape: {show(dims)}"
            )
        raise invalid(
            "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined element_shape: "
            f"{show(dims)}"
        )
    return stack_elements(elements, dims, found.dtype)


def common_dims(elements: list[Any], dims: Dims) -> Dims:
    """Return the dims that all elements have; raise where they differ."""
    for item in elements:
        if item is not None and item.shape != dims:
            dims = merged_dims(dims, item.shape)
    return dims


@TensorListStack.gradient
def _(call, grad):
    return [raw.TensorListFromTensor(grad, call.element_shape), None]
