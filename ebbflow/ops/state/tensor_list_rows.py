"""Several elements of a list of tensors at once: chosen, scattered, joined along their first axis, cut from a tensor.

Like all ops on lists these give new lists and are differentiable. The single steps are in `tensor_list`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.dtypes import DType, c_name
from ebbflow.core.op import op
from ebbflow.core.shape import Dims, is_compatible, is_static
from ebbflow.ops.declare import FLAT, raw, scalar, show
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.list_value import TensorList, rows_of, stack_elements, zeros_of
from ebbflow.ops.state.storage import boxed
from ebbflow.ops.state.tensor_list import (
    as_int32,
    check_dtype,
    check_has_rows,
    check_rows,
    common_dims,
    dims_of,
    list_of,
    merged_dims,
    shape_of_rows,
    size_scalar,
    static_dims,
)

# --- chosen elements --------------------------------------------------------------------------------------------------

TensorListGather = op(
    "TensorListGather(input_handle:variant, indices:int32, element_shape:int32) -> (values:element_dtype) | "
    "element_dtype: type",
    facts="lists",
)


@TensorListGather.shape
def _(input_handle, indices, element_shape):
    dims = static_dims(element_shape)
    return None if dims is None else (None if indices.dims is None else indices.dims[0], *dims)


@TensorListGather.kernel
def _(xp, input_handle, indices, element_shape, *, element_dtype):
    found = list_of(input_handle)
    check_dtype(found, element_dtype)
    chosen = []
    for i in indices.reshape(-1).tolist():
        if not 0 <= i < found.length:
            raise invalid(f"Trying to gather element {i} in a list with {found.length} elements.")
        chosen.append(found.get(i))
    dims = common_dims(chosen, merged_dims(dims_of(element_shape), found.element_dims))
    if not is_static(dims):
        if not chosen:
            raise invalid(f"Tried to gather 0-elements from a list with non-fully-defined shape: {show(dims)}")
        raise invalid(
            f"Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: {show(dims)}"
        )
    return stack_elements(chosen, dims, found.dtype)


@TensorListGather.gradient
def _(call, grad):
    length = raw.TensorListLength(call.input_handle)
    summed = raw.UnsortedSegmentSum(grad, call.indices, length)  # an element may have been gathered twice
    return [raw.TensorListFromTensor(summed, call.element_shape), None, None]


_SCATTER = (
    "{}(tensor:element_dtype, indices:int32, element_shape:shape_type{}) -> (output_handle:variant) | "
    "element_dtype: type; shape_type: type in [int32,int64]"
)
TensorListScatter = op(_SCATTER.format("TensorListScatter", ""), "lists known=indices", shape=scalar)
TensorListScatterV2 = op(
    _SCATTER.format("TensorListScatterV2", ", num_elements:int32"), "lists sizes=num_elements", shape=scalar
)


@TensorListScatter.kernel
def _scatter(xp, tensor, indices, element_shape, num_elements=None, *, element_dtype):
    size = -1 if num_elements is None else size_scalar(num_elements, "num_elements")
    if size < -1:
        raise invalid(f"TensorListScatter expects num_elements >= -1, found: {size}")
    check_has_rows(tensor)
    dims = dims_of(element_shape)
    check_rows(tensor, dims)
    where = indices.reshape(-1).tolist()
    if len(where) != tensor.shape[0]:
        raise invalid(f"Invalid number of rows in input tensor. Expected: {len(where)} Actual: {tensor.shape[0]}")
    for i in where:
        if i < 0:
            raise invalid("Indices in TensorListScatter must all be non-negative.")
        if i >= size >= 0:
            raise invalid(f"TensorListScatter: Trying to scatter at index {i} in list with size {size}")
    length = size if size >= 0 else max(where, default=-1) + 1
    return boxed(TensorList(element_dtype, dims, length, entries=dict(zip(where, rows_of(tensor), strict=True))))


TensorListScatterV2.kernel(_scatter)


def _scatter_gradient(call: Any, grad: Any) -> list[Any]:
    return [_gathered(grad, call), *[None] * (len(call.inputs) - 1)]


def _gathered(grad: Any, call: Any) -> Any:
    shape = as_int32(shape_of_rows(call.tensor))
    return raw.TensorListGather(grad, call.indices, shape, element_dtype=call.tensor.dtype.base_dtype)


TensorListScatter.gradient(_scatter_gradient)
TensorListScatterV2.gradient(_scatter_gradient)

TensorListScatterIntoExistingList = op(
    "TensorListScatterIntoExistingList(input_handle:variant, tensor:element_dtype, indices:int32) -> "
    "(output_handle:variant) | element_dtype: type",
    shape=scalar,
    facts="lists",
)


@TensorListScatterIntoExistingList.kernel
def _(xp, input_handle, tensor, indices, *, element_dtype):
    found = list_of(input_handle)
    check_dtype(found, element_dtype)
    check_has_rows(tensor)
    where = indices.reshape(-1).tolist()
    if len(where) != tensor.shape[0]:
        raise invalid(f"Expected len(indices) == tensor.shape[0], but saw: {len(where)} vs. {tensor.shape[0]}")
    if min(where, default=0) < 0:
        raise invalid("Indices in TensorListScatter must all be non-negative.")
    for i, item in zip(where, rows_of(tensor), strict=True):
        found = found.set(i, item)
    return boxed(found)


@TensorListScatterIntoExistingList.gradient
def _(call, grad):
    kept = raw.TensorListScatterIntoExistingList(grad, raw.ZerosLike(call.tensor), call.indices)
    kept = raw.TensorListResize(kept, raw.TensorListLength(call.input_handle))
    return [kept, _gathered(grad, call), None]


# --- joining and cutting ----------------------------------------------------------------------------------------------

TensorListConcat = op(
    "TensorListConcat(input_handle:variant) -> (tensor:element_dtype, lengths:int64) | element_dtype: type; "
    "element_shape: shape = ?",
    facts="lists",
)
TensorListConcatV2 = op(
    "TensorListConcatV2(input_handle:variant, element_shape:shape_type, leading_dims:int64) -> "
    "(tensor:element_dtype, lengths:int64) | element_dtype: type; shape_type: type in [int32,int64]",
    facts="lists",
)


def _joined_dims(dims: Dims) -> list[Dims]:
    return [None if not dims else (None, *dims[1:]), (None,)]


TensorListConcat.shape(lambda input_handle, *, element_shape: _joined_dims(element_shape))
TensorListConcatV2.shape(lambda input_handle, element_shape, leading_dims: _joined_dims(static_dims(element_shape)))
TensorListConcat.kernel(
    lambda xp, input_handle, *, element_dtype, element_shape: _concat(input_handle, element_shape, [], element_dtype)
)
TensorListConcatV2.kernel(
    lambda xp, input_handle, element_shape, leading_dims, *, element_dtype: _concat(
        input_handle, dims_of(element_shape), leading_dims.tolist(), element_dtype
    )
)


def _concat(handle: np.ndarray, dims: Dims, leading: list[int], dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    found = list_of(handle)
    check_dtype(found, dtype)
    if dims is not None and not dims:
        raise invalid("element_shape must not be empty")
    dims = merged_dims(dims, found.element_dims)
    if dims is not None and not dims:
        raise invalid("Concat requires elements to be at least vectors, found scalars instead.")
    elements = found.elements()
    rest = None if dims is None else dims[1:]
    for i, item in enumerate(elements):
        if item is not None:
            if item.ndim == 0:
                raise invalid(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
            rest = merged_dims(rest, item.shape[1:])
    _check_rest(rest, dims, bool(elements))
    if not leading and dims is None:
        dims = _common_lengths(elements)
    parts = [_part(i, item, dims, rest, leading, dtype) for i, item in enumerate(elements)]
    lengths = np.array([len(p) for p in parts], np.int64)
    return (np.concatenate(parts) if parts else zeros_of((0, *rest), dtype)), lengths  # type: ignore[misc]


def _check_rest(rest: Dims, dims: Dims, has_elements: bool) -> None:
    if is_static(rest):
        return
    if has_elements:
        raise invalid(
            "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim is not fully "
            f"defined: {show(rest)}"
        )
    raise invalid(
        "All except the first dimension must be fully defined when concating an empty tensor list. element_shape: "
        f"{show(dims)}"
    )


def _common_lengths(elements: list[Any]) -> Dims:
    """Return the dims that all elements which are there have in common: those that are not are taken to be alike."""
    shapes = [item.shape for item in elements if item is not None]
    if not shapes or any(len(shape) != len(shapes[0]) for shape in shapes):
        return None
    return tuple(n if all(shape[axis] == n for shape in shapes) else None for axis, n in enumerate(shapes[0]))


def _part(index: int, item: Any, dims: Dims, rest: Any, leading: list[int], dtype: DType) -> np.ndarray:
    if item is not None:
        return item
    first = dims[0] if dims else None
    if first is None:
        if index >= len(leading):
            raise invalid(
                f"List contains uninitialized tensor at index {index} but leading_dims has only {len(leading)} "
                "elements."
            )
        first = leading[index]
    return zeros_of((first, *rest), dtype)


@TensorListConcat.gradient
def _(call, grad, lengths_grad):
    dims = call.element_shape
    shape = -1 if dims is None else [-1 if n is None else n for n in dims]
    return raw.TensorListSplit(grad, np.array(shape, np.int32), call.lengths)


@TensorListConcatV2.gradient
def _(call, grad, lengths_grad):
    return [raw.TensorListSplit(grad, call.element_shape, call.lengths), None, None]


TensorListSplit = op(
    "TensorListSplit(tensor:element_dtype, element_shape:shape_type, lengths:int64) -> (output_handle:variant) | "
    "element_dtype: type; shape_type: type in [int32,int64]",
    shape=scalar,
    facts="lists known=lengths",
)


@TensorListSplit.kernel
def _(xp, tensor, element_shape, lengths, *, element_dtype):
    check_has_rows(tensor)
    dims = dims_of(element_shape)
    if dims is not None and not dims:
        raise invalid("TensorListSplit requires element_shape to be at least of rank 1, but saw: []")
    if dims is not None and not is_compatible(tensor.shape[1:], dims[1:]):
        raise invalid(f"tensor shape {show(tensor.shape)} is not compatible with element_shape {show(dims)}")
    if lengths.ndim != 1:
        raise invalid(f"Expected lengths to be a vector, received shape: {show(lengths.shape)}")
    parts, at, total = [], 0, tensor.shape[0]
    for n in lengths.tolist():
        if n < 0:
            raise invalid(f"Invalid value in lengths: {n}")
        if at + n > total:
            raise invalid(f"Attempting to slice [{at}, {at + n}] from tensor with length {total}")
        parts.append(tensor[at : at + n])
        at += n
    if at != total:
        raise invalid(f"Unused values in tensor. Length of tensor: {total} Values used: {at}")
    dims = None if dims is None else (None, *dims[1:])
    return boxed(TensorList(element_dtype, dims, len(parts), entries=dict(enumerate(parts))))


@TensorListSplit.gradient
def _(call, grad):
    found = raw.TensorListConcatV2(grad, call.element_shape, call.lengths, element_dtype=call.tensor.dtype.base_dtype)
    return [found.tensor, None, None]


TensorListConcatLists = op(
    "TensorListConcatLists(input_a:variant, input_b:variant) -> (output:variant) | element_dtype: type",
    shape=lambda input_a, input_b: input_a.dims,
    gradient=FLAT,
    facts="lists",
)


@TensorListConcatLists.kernel
def _(xp, input_a, input_b, *, element_dtype):
    if input_a.shape != input_b.shape:
        raise invalid(
            "input_a and input_b must have the same number of elements, but saw shapes "
            f"{show(input_a.shape)} and {show(input_b.shape)}"
        )
    joined = np.empty(input_a.shape, object)
    for number, index in enumerate(np.ndindex(input_a.shape)):
        a, b = (list_of(np.asarray(x[index], object)) for x in (input_a, input_b))
        for which, x in (("a", a), ("b", b)):
            if x.dtype is not element_dtype:
                raise invalid(
                    f"input_{which}[{number}].dtype != element_dtype.  Saw: {c_name(x.dtype)} vs. "
                    f"{c_name(element_dtype)}"
                )
        if a.element_dims != b.element_dims:
            raise invalid(
                f"input_a and input_b TensorList element shapes are not identical at index {number}.  "
                f"Saw {show(a.element_dims)} vs. {show(b.element_dims)}"
            )
        joined[index] = a.extend(b.elements())
    return joined


TensorListPushBackBatch = op(
    "TensorListPushBackBatch(input_handles:variant, tensor:element_dtype) -> (output_handles:variant) | "
    "element_dtype: type",
    shape=lambda input_handles, tensor: input_handles.dims,
    gradient=FLAT,
    facts="lists",
)


@TensorListPushBackBatch.kernel
def _(xp, input_handles, tensor, *, element_dtype):
    if tensor.ndim == 0 or tensor.shape[0] != input_handles.size:
        raise invalid(
            f"Expected tensor.shape[0] == input_handles.size, but saw {tensor.shape[0] if tensor.ndim else 0} vs. "
            f"{input_handles.size}"
        )
    pushed = np.empty(input_handles.shape, object)
    for index, item in zip(np.ndindex(pushed.shape), rows_of(tensor), strict=True):
        found = list_of(np.asarray(input_handles[index], object))
        check_dtype(found, element_dtype)
        if not is_compatible(item.shape, found.element_dims):
            raise invalid(
                "Tried to append a tensor with incompatible shape to a list at index "
                f"{int(np.ravel_multi_index(index, pushed.shape)) if index else 0}. Op element shape: "
                f"{show(item.shape)} list shape: {show(found.element_dims)}"
            )
        pushed[index] = found.push(item)
    return pushed
