"""Lists of tensors: one array with room for all elements, and how many of them there are.

Elements must have one shape. Outside of loops the length is known while tracing and a list grows as it is pushed to;
inside a compiled loop it has the room that the loop gave it at entry (`lowerings_control`). An element that was never
set is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ebbflow.core.dtypes import DType
from ebbflow.core.shape import Dims, is_static, merge_dims
from ebbflow.engines.xla.library import lax
from ebbflow.engines.xla.lower import is_known
from ebbflow.engines.xla.refusal import Refusal
from ebbflow.engines.xla.rules import lowering


@dataclass(frozen=True)
class Items:
    """A list being traced."""

    dtype: DType
    dims: Dims  # of an element, as far as they are known
    length: Any  # a NumPy scalar where it is known, else a jax one
    room: Any = None  # an array of at least `length` elements; None while none was set
    limit: int = -1
    shape = ()  # a list is a scalar to those who ask

    @property
    def count(self) -> int:
        """The length, which must be known."""
        if not is_known(self.length):
            raise Refusal("how long a list is, is known only when it runs")
        return int(self.length)

    def with_room(self, jnp: Any, count: int, dims: Any) -> Items:
        """Return the list with room for at least `count` elements of a shape."""
        dims = self.element_dims(dims)
        if not is_static(dims):
            raise Refusal("the shape of a list's elements is not known")
        room = jnp.zeros((0, *dims), self.dtype.np) if self.room is None else self.room
        more = count - room.shape[0]
        if more > 0:
            room = jnp.concatenate([room, jnp.zeros((more, *dims), self.dtype.np)])
        return replace(self, dims=dims, room=room)

    def element_dims(self, dims: Dims) -> Dims:
        try:
            return merge_dims(self.dims, dims)
        except ValueError:
            raise Refusal(f"the elements of a list differ in shape: {self.dims} and {dims}") from None

    def zeros(self, jnp: Any) -> Items:
        """Return a list of as many elements, none of them set."""
        return replace(self, room=None if self.room is None else jnp.zeros(self.room.shape, self.room.dtype))

    def get(self, jnp: Any, at: Any, dims: Dims) -> Any:
        if self.room is None or not self.room.shape[0]:
            dims = self.element_dims(dims)
            if not is_static(dims):
                raise Refusal("reads an element that was never set, of a shape that is not known")
            return jnp.zeros(dims, self.dtype.np)
        return self.room[int(at)] if is_known(at) else lax.dynamic_index_in_dim(self.room, at, keepdims=False)

    def set(self, jnp: Any, at: Any, item: Any) -> Items:
        if is_known(at) and is_known(self.length):
            found = self.with_room(jnp, max(int(at) + 1, self.count), item.shape)
            return replace(found, room=found.room.at[int(at)].set(item))
        if self.room is None and is_known(self.length):
            return self.with_room(jnp, self.count, item.shape).set(jnp, at, item)
        if self.room is None or self.room.shape[1:] != item.shape:
            raise Refusal("the shape of a list's elements is not known before a loop")
        return replace(self, room=lax.dynamic_update_index_in_dim(self.room, item, at, 0))

    def rows(self, jnp: Any, dims: Dims) -> Any:
        """Return all elements as the rows of an array."""
        return self.with_room(jnp, self.count, dims).room[: self.count]


_INDEXED = "whether an index is in the list"


def _dims_of(element_shape: Any) -> Dims:
    return None if not element_shape.ndim else tuple(None if n < 0 else int(n) for n in element_shape)


def _number(n: int) -> np.ndarray:
    return np.array(n, np.int32)


def _moved(length: Any, by: int) -> Any:
    return _number(int(length) + by) if is_known(length) else length + by


def list_lowering(*names: str, keeps: str = "", loses: str | None = None) -> Any:
    """Declare a lowering of ops on lists."""
    return lowering(*names, keeps=f"{keeps} element_shape", loses=loses, variants=True)


def _known_dims(element_shape: Any) -> Dims:
    """Return the dims that an element_shape argument spells; what comes only when running says nothing."""
    return _dims_of(element_shape) if is_known(element_shape) else None


# --- making -----------------------------------------------------------------------------------------------------------


@list_lowering("EmptyTensorList")
def _(jnp: Any, element_shape: Any, max_num_elements: Any, *, element_dtype: DType) -> Any:
    return Items(element_dtype, _dims_of(element_shape), _number(0), limit=int(max_num_elements))


@list_lowering("TensorListReserve")
def _(jnp: Any, element_shape: Any, num_elements: Any, *, element_dtype: DType) -> Any:
    found = Items(element_dtype, _dims_of(element_shape), _number(int(num_elements)))
    return found.with_room(jnp, found.count, None) if is_static(found.dims) else found


@list_lowering("TensorListFromTensor")
def _(jnp: Any, tensor: Any, element_shape: Any, *, element_dtype: DType) -> Any:
    return Items(element_dtype, tensor.shape[1:], _number(tensor.shape[0]), tensor)


# --- single elements --------------------------------------------------------------------------------------------------


@list_lowering("TensorListPushBack")
def _(jnp: Any, input_handle: Any, tensor: Any) -> Any:
    found = input_handle
    if not is_known(found.length) and found.room is None:
        raise Refusal("the shape of a list's elements is not known before a loop")
    return replace(found.set(jnp, found.length, tensor), length=_moved(found.length, 1))


@list_lowering("TensorListPopBack")  # what a loop pops, another has pushed
def _(jnp: Any, input_handle: Any, element_shape: Any) -> Any:
    last = _moved(input_handle.length, -1)
    if is_known(last) and last < 0:
        raise ValueError("Trying to pop from an empty list.")
    item = input_handle.get(jnp, last, _known_dims(element_shape))
    return replace(input_handle, length=last), item


@list_lowering("TensorListGetItem", keeps="index", loses=_INDEXED)
def _(jnp: Any, input_handle: Any, index: Any, element_shape: Any) -> Any:
    return input_handle.get(jnp, index, _known_dims(element_shape))


@list_lowering("TensorListSetItem", keeps="index", loses=_INDEXED)
def _(jnp: Any, input_handle: Any, index: Any, item: Any, *, resize_if_index_out_of_bounds: bool) -> Any:
    found = input_handle.set(jnp, index, item)
    if not resize_if_index_out_of_bounds:
        return found
    if is_known(index) and is_known(found.length):
        return replace(found, length=_number(max(found.count, int(index) + 1)))
    raise Refusal("a list grows by an index that is known only when it runs")


# --- the whole --------------------------------------------------------------------------------------------------------


@list_lowering("TensorListLength")
def _(jnp: Any, input_handle: Any) -> Any:
    return input_handle.length


@list_lowering("TensorListElementShape")
def _(jnp: Any, input_handle: Any, *, shape_type: DType) -> Any:
    dims = input_handle.dims
    return np.array(-1 if dims is None else [-1 if n is None else n for n in dims], shape_type.np)


@list_lowering("TensorListResize")
def _(jnp: Any, input_handle: Any, size: Any) -> Any:
    count, found = int(size), input_handle
    if found.room is not None:
        keep = min(found.count, count)  # what lies behind the end is no element
        rest = jnp.zeros((count - keep, *found.room.shape[1:]), found.room.dtype)
        found = replace(found, room=jnp.concatenate([found.room[:keep], rest]))
    return replace(found, length=_number(count))


@list_lowering("TensorListStack")
def _(jnp: Any, input_handle: Any, element_shape: Any, *, num_elements: int) -> Any:
    found = input_handle
    if not is_known(found.length) and num_elements >= 0:
        found = replace(found, length=_number(num_elements))
    return found.rows(jnp, _known_dims(element_shape))


@list_lowering("TensorListConcat")
def _(jnp: Any, input_handle: Any, *, element_shape: Dims) -> Any:
    return _joined(jnp, input_handle, element_shape)


@list_lowering("TensorListConcatV2", keeps="leading_dims")
def _(jnp: Any, input_handle: Any, element_shape: Any, leading_dims: Any) -> Any:
    return _joined(jnp, input_handle, _known_dims(element_shape))


def _joined(jnp: Any, found: Items, dims: Dims) -> Any:
    rows = found.rows(jnp, None if dims is None else (None, *dims[1:]))
    if rows.ndim < 2:
        raise ValueError("Concat saw a scalar shape at index 0 but requires at least vectors.")
    whole = rows.reshape(rows.shape[0] * rows.shape[1], *rows.shape[2:])
    return whole, np.full(rows.shape[0], rows.shape[1], np.int64)


@list_lowering("TensorListSplit")
def _(jnp: Any, tensor: Any, element_shape: Any, lengths: Any, *, element_dtype: DType) -> Any:
    sizes = set(lengths.tolist())
    if len(sizes) > 1:
        raise Refusal("cuts a tensor into pieces of different lengths")
    size = sizes.pop() if sizes else 0
    rows = tensor.reshape(lengths.size, size, *tensor.shape[1:])
    return Items(element_dtype, rows.shape[1:], _number(lengths.size), rows)


@list_lowering("TensorListGather", loses=_INDEXED)
def _(jnp: Any, input_handle: Any, indices: Any, element_shape: Any) -> Any:
    rows = input_handle.with_room(jnp, input_handle.count, _known_dims(element_shape)).room
    return jnp.take(rows, indices.reshape(-1), axis=0, mode="clip")


@list_lowering("TensorListScatter", loses=_INDEXED)
def _(jnp: Any, tensor: Any, indices: Any, element_shape: Any, *, element_dtype: DType) -> Any:
    count = max(indices.reshape(-1).tolist(), default=-1) + 1
    return _scattered(jnp, tensor, indices, count, element_dtype)


@list_lowering("TensorListScatterV2", keeps="indices", loses=_INDEXED)
def _(jnp: Any, tensor: Any, indices: Any, element_shape: Any, num_elements: Any, *, element_dtype: DType) -> Any:
    count = int(num_elements)
    if count < 0:
        if not is_known(indices):
            raise Refusal("how long a list is, is known only when it runs")
        count = max(indices.reshape(-1).tolist(), default=-1) + 1
    return _scattered(jnp, tensor, indices, count, element_dtype)


def _scattered(jnp: Any, tensor: Any, indices: Any, count: int, dtype: DType) -> Items:
    room = jnp.zeros((count, *tensor.shape[1:]), tensor.dtype).at[indices.reshape(-1)].set(tensor)
    return Items(dtype, tensor.shape[1:], _number(count), room)


@list_lowering("TensorListScatterIntoExistingList", keeps="indices", loses=_INDEXED)
def _(jnp: Any, input_handle: Any, tensor: Any, indices: Any) -> Any:
    most = max(indices.reshape(-1).tolist(), default=-1) + 1 if is_known(indices) else 0
    count = max(input_handle.count, most)
    found = input_handle.with_room(jnp, count, tensor.shape[1:])
    return replace(found, room=found.room.at[indices.reshape(-1)].set(tensor), length=_number(count))


@lowering("AddN", "AccumulateNV2", variants=True)
def _(jnp: Any, inputs: Any) -> Any:
    if not isinstance(inputs[0], Items):
        total = inputs[0]
        for x in inputs[1:]:
            total = total + x
        return total
    total = inputs[0]
    for found in inputs[1:]:
        if total.room is None or found.room is None:
            total = found if total.room is None else total
            continue
        room = max(total.room.shape[0], found.room.shape[0])
        a, b = (x.with_room(jnp, room, None) for x in (total, found))
        total = replace(a, room=a.room + b.room)
    return total
