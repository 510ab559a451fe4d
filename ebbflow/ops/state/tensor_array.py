"""TensorFlow 1's arrays of tensors as ops: a handle, and a `flow` that orders what is done to it.

Three generations of the same ops differ in what a handle is: a reference to strings, a string, a resource. Graphs made
here use lists of tensors instead (`tensor_list`); these are for graphs that come from elsewhere. Gradients go to an
array of gradients, which is found by the handle and the name of the gradient computation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context, errors
from ebbflow.core.op import Op, op
from ebbflow.core.shape import Dims, is_static
from ebbflow.ops.declare import FLAT, raw, scalar, show, unknown
from ebbflow.ops.shape_rules import ranked, ranked_at_least
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.array_value import ArrayValue
from ebbflow.ops.state.list_value import zeros_of
from ebbflow.ops.state.storage import boxed, held

GENERATIONS = {"": "Ref(string)", "V2": "string", "V3": "resource"}
"""The suffix of each generation's names, and what its handles are."""


def _declare(name: str, text: str, flags: dict[str, str], **parts: Any) -> dict[str, Op]:
    """Declare an op in all its generations; in `text` H stands for the handle."""
    declared = {}
    for suffix, handle in GENERATIONS.items():
        if suffix not in flags:
            continue
        flag = f" | {flags[suffix]}" if flags[suffix] else ""
        full = f"TensorArray{name}{suffix}"
        declared[suffix] = op(f"{full}{text.replace('H', handle)}{flag}", **parts)
    return declared


def _array(handle: np.ndarray) -> ArrayValue:
    found = held(handle) if handle.size == 1 else None
    if not isinstance(found, ArrayValue):
        raise invalid(f"the handle is not of a TensorArray, but of {type(found).__name__}")
    return found


_OLD = {"": "deprecated@16", "V2": "deprecated@26", "V3": "stateful"}
_FLOW = np.zeros((), np.float32)


# --- making -----------------------------------------------------------------------------------------------------------


def _make(size: Any, dtype: Any, dims: Dims, dynamic: bool, clear: bool, identical: bool, name: str, run: Any) -> Any:
    if size.ndim:
        raise invalid(f"TensorArray size must be scalar, but had shape: {show(size.shape)}")
    name = name or (run.node.name if run.node is not None else "TensorArray")
    return boxed(ArrayValue(name, dtype, int(size), dims, dynamic, clear, identical))


TensorArray = op(
    "TensorArray(size:int32) -> (handle:Ref(string)) | dtype: type; dynamic_size: bool = false; "
    'clear_after_read: bool = true; tensor_array_name: string = ""; element_shape: shape = ? | stateful deprecated@16',
    shape=lambda size: (2,),
    gradient=FLAT,
)
TensorArrayV2 = op(
    "TensorArrayV2(size:int32) -> (handle:string) | dtype: type; element_shape: shape = ?; dynamic_size: bool = false; "
    'clear_after_read: bool = true; tensor_array_name: string = "" | stateful deprecated@26',
    shape=lambda size: (2,),
    gradient=FLAT,
)
TensorArrayV3 = op(
    "TensorArrayV3(size:int32) -> (handle:resource, flow:float) | dtype: type; element_shape: shape = ?; "
    "dynamic_size: bool = false; clear_after_read: bool = true; identical_element_shapes: bool = false; "
    'tensor_array_name: string = "" | stateful',
    shape=lambda size: [(2,), ()],
    gradient=FLAT,
)


@TensorArray.kernel
@TensorArrayV2.kernel
def _(xp, size, *, dtype, element_shape, dynamic_size, clear_after_read, tensor_array_name, run):
    return _make(size, dtype, element_shape, dynamic_size, clear_after_read, False, tensor_array_name, run)


@TensorArrayV3.kernel
def _(
    xp, size, *, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes, tensor_array_name, run
):
    made = _make(
        size, dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes, tensor_array_name, run
    )
    return made, _FLOW


TensorArrayGrad = op(
    "TensorArrayGrad(handle:string, flow_in:float) -> (grad_handle:Ref(string)) | source: string | stateful "
    "deprecated@16",
    shape=lambda handle, flow_in: (2,),
    gradient=FLAT,
)
TensorArrayGradV2 = op(
    "TensorArrayGradV2(handle:string, flow_in:float) -> (grad_handle:string) | source: string | stateful deprecated@26",
    shape=lambda handle, flow_in: (2,),
    gradient=FLAT,
)
TensorArrayGradV3 = op(
    "TensorArrayGradV3(handle:resource, flow_in:float) -> (grad_handle:resource, flow_out:float) | source: string | "
    "stateful",
    shape=lambda handle, flow_in: [(2,), ()],
    kernel=lambda xp, handle, flow_in, *, source: (boxed(_array(handle).gradient(source)), flow_in),
    gradient=FLAT,
)
TensorArrayGradWithShape = op(
    "TensorArrayGradWithShape(handle:resource, flow_in:float, shape_to_prepend:int32) -> "
    "(grad_handle:resource, flow_out:float) | source: string | stateful",
    shape=lambda handle, flow_in, shape_to_prepend: [(2,), ()],
    gradient=FLAT,
)
TensorArrayGrad.kernel(lambda xp, handle, flow_in, *, source: boxed(_array(handle).gradient(source)))
TensorArrayGradV2.kernel(lambda xp, handle, flow_in, *, source: boxed(_array(handle).gradient(source)))


@TensorArrayGradWithShape.kernel
def _(xp, handle, flow_in, shape_to_prepend, *, source):
    return boxed(_array(handle).gradient(source, shape_to_prepend.tolist())), flow_in


def _source() -> str:
    """Return the name of the gradient computation under way: that of the outermost graph's scope `gradients…`."""
    graph = context.current_graph()
    while graph is not None and getattr(graph, "_around", None) is not None:
        graph = graph._around
    scopes = graph.get_name_scope().split("/") if graph is not None else []
    return next((s for s in scopes if s.startswith("gradients")), "gradients")


def _gradient_array(call: Any, flow: Any) -> tuple[Any, Any, str]:
    """Return the handle and flow of the array of gradients, and the suffix of the ops that take it."""
    suffix = next(s for s in ("V3", "V2", "") if call.op.name.endswith(s))
    made = getattr(raw, f"TensorArrayGrad{suffix}")(call.handle, flow, source=_source())
    return (made.grad_handle, made.flow_out, suffix) if suffix == "V3" else (made, flow, suffix)


def _ask(name: str, suffix: str) -> Op:
    return getattr(raw, f"TensorArray{name}{suffix}")


# --- one element ------------------------------------------------------------------------------------------------------


def _index(index: np.ndarray) -> int:
    if index.ndim:
        raise invalid(f"TensorArray index must be scalar, but had shape: {show(index.shape)}")
    return int(index)


def _write(xp: Any, handle: Any, index: Any, value: Any, flow_in: Any, *, T: Any) -> Any:
    _array(handle).write(_index(index), value, T)
    return flow_in


def _write_gradient(call: Any, grad: Any) -> list[Any]:
    handle, flow, suffix = _gradient_array(call, grad)
    found = _ask("Read", suffix)(handle, call.index, flow, dtype=call.value.dtype.base_dtype)
    found.set_shape(call.value.shape)
    return [None, None, found, grad]


def _read_gradient(call: Any, grad: Any) -> list[Any]:
    handle, flow, suffix = _gradient_array(call, call.flow_in)
    return [None, None, _ask("Write", suffix)(handle, call.index, grad, flow)]


_declare(
    "Write",
    "(handle:H, index:int32, value:T, flow_in:float) -> (flow_out:float) | T: type",
    _OLD,
    shape=scalar,
    kernel=_write,
    gradient=_write_gradient,
)
_declare(
    "Read",
    "(handle:H, index:int32, flow_in:float) -> (value:dtype) | dtype: type",
    _OLD,
    shape=unknown,
    kernel=lambda xp, handle, index, flow_in, *, dtype: _array(handle).read(_index(index), dtype),
    gradient=_read_gradient,
)


# --- several elements -------------------------------------------------------------------------------------------------


def _rows(dims: Dims, count: int | None) -> Dims:
    return None if dims is None else (count, *dims)


def _stack(array: ArrayValue, indices: list[int], dtype: Any, dims: Dims) -> np.ndarray:
    items = [array.read(i, dtype) for i in indices]
    if not items:
        dims = dims if dims is not None else array.element_dims
        if not is_static(dims):
            raise errors.UnimplementedError(
                None,
                None,
                f"TensorArray has size zero, but element shape {show(dims)} is not fully defined. Currently only "
                "static shapes are supported when packing zero-size TensorArrays.",
            )
        return zeros_of((0, *dims), dtype)  # type: ignore[misc]
    for i, item in enumerate(items):
        if item.shape != items[0].shape:
            raise invalid(
                f"TensorArray has inconsistent shapes.  Index 0 has shape: {show(items[0].shape)} but index {i} has "
                f"shape: {show(item.shape)}"
            )
    return np.stack(items) if not items[0].dtype.hasobject else np.array([*items], object)


def _scatter(array: ArrayValue, indices: list[int], value: np.ndarray, dtype: Any) -> None:
    if value.ndim == 0:
        raise invalid("Input value for unpack must be at least a vector but received shape: []")
    if len(indices) != value.shape[0]:
        raise invalid(
            f"Input value must have first dimension equal to the array size ({value.shape[0]} vs. {len(indices)})"
        )
    if indices and max(indices) >= array.size and not array.dynamic_size:
        raise invalid(f"Max scatter index must be < array size ({max(indices)} vs. {array.size})")
    for number, index in enumerate(indices):
        array.write(index, value[number, ...], dtype)


_declare(
    "Gather",
    "(handle:H, indices:int32, flow_in:float) -> (value:dtype) | dtype: type; element_shape: shape = ?",
    _OLD,
    shape=lambda handle, indices, flow_in, *, element_shape: _rows(element_shape, ranked(indices, 1)[0]),
    kernel=lambda xp, handle, indices, flow_in, *, dtype, element_shape: _stack(
        _array(handle), indices.tolist(), dtype, element_shape
    ),
    gradient=lambda call, grad: _gather_gradient(call, grad),
)


def _gather_gradient(call: Any, grad: Any) -> list[Any]:
    handle, flow, suffix = _gradient_array(call, call.flow_in)
    return [None, None, _ask("Scatter", suffix)(handle, call.indices, grad, flow)]


def _scatter_shape(handle: Any, indices: Any, value: Any, flow_in: Any) -> Dims:
    rows, (count,) = ranked_at_least(value, 1), ranked(indices, 1)
    if rows is not None and rows[0] is not None and count is not None and rows[0] != count:
        raise errors.StaticShapeError(f"Dimensions must be equal, but are {rows[0]} and {count}")
    return ()


def _scatter_kernel(xp: Any, handle: Any, indices: Any, value: Any, flow_in: Any, *, T: Any) -> Any:
    _scatter(_array(handle), indices.tolist(), value, T)
    return flow_in


def _scatter_gradient(call: Any, grad: Any) -> list[Any]:
    handle, flow, suffix = _gradient_array(call, grad)
    dims = call.value._dims
    rows = None if dims is None else dims[1:]
    found = _ask("Gather", suffix)(handle, call.indices, flow, dtype=call.value.dtype.base_dtype, element_shape=rows)
    return [None, None, found, grad]


_declare(
    "Scatter",
    "(handle:H, indices:int32, value:T, flow_in:float) -> (flow_out:float) | T: type",
    {"": "deprecated@19", "V2": "deprecated@26", "V3": "stateful"},
    shape=_scatter_shape,
    kernel=_scatter_kernel,
    gradient=_scatter_gradient,
)

TensorArrayPack = op(
    "TensorArrayPack(handle:Ref(string), flow_in:float) -> (value:dtype) | dtype: type; element_shape: shape = ? | "
    "deprecated@16",
    shape=lambda handle, flow_in, *, element_shape: _rows(element_shape, None),
)
TensorArrayUnpack = op(
    "TensorArrayUnpack(handle:Ref(string), value:T, flow_in:float) -> (flow_out:float) | T: type | deprecated@20",
    shape=scalar,
)


@TensorArrayPack.kernel
def _(xp, handle, flow_in, *, dtype, element_shape):
    array = _array(handle)
    return _stack(array, list(range(array.size)), dtype, element_shape)


@TensorArrayPack.gradient
def _(call, grad):
    return [
        None,
        raw.TensorArrayUnpack(raw.TensorArrayGrad(call.handle, call.flow_in, source=_source()), grad, call.flow_in),
    ]


@TensorArrayUnpack.kernel
def _(xp, handle, value, flow_in, *, T):
    _scatter(_array(handle), list(range(value.shape[0] if value.ndim else 0)), value, T)
    return flow_in


@TensorArrayUnpack.gradient
def _(call, grad):
    handle = raw.TensorArrayGrad(call.handle, grad, source=_source())
    return [None, raw.TensorArrayPack(handle, grad, dtype=call.value.dtype.base_dtype), grad]


# --- elements joined along their first axis ---------------------------------------------------------------------------


def _concat(xp: Any, handle: Any, flow_in: Any, *, dtype: Any, element_shape_except0: Dims) -> tuple[Any, Any]:
    array = _array(handle)
    items = [array.read(i, dtype) for i in range(array.size)]
    if not items:
        if not is_static(element_shape_except0):
            raise errors.UnimplementedError(
                None,
                None,
                f"TensorArray has size zero, but element_shape_except0 {show(element_shape_except0)} is not fully "
                "defined. Currently only static shapes are supported when concatenating zero-size TensorArrays.",
            )
        return zeros_of((0, *element_shape_except0), dtype), np.zeros([0], np.int64)  # type: ignore[misc]
    for i, item in enumerate(items):
        if item.ndim == 0:
            raise invalid(
                f"Concat saw a scalar shape at index {i} but requires at least vectors.  Did you mean to call pack?"
            )
        if item.shape[1:] != items[0].shape[1:]:
            raise invalid(
                "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: "
                f"{show(items[0].shape[1:])} but index {i} has (excepting dimension 0) shape: {show(item.shape[1:])}"
            )
    return np.concatenate(items), np.array([len(item) for item in items], np.int64)


def _concat_gradient(call: Any, grad: Any, lengths_grad: Any) -> list[Any]:
    handle, flow, suffix = _gradient_array(call, call.flow_in)
    return [None, _ask("Split", suffix)(handle, grad, call.lengths, flow)]


_declare(
    "Concat",
    "(handle:H, flow_in:float) -> (value:dtype, lengths:int64) | dtype: type; element_shape_except0: shape = ?",
    {"": "deprecated@16", "V2": "", "V3": "stateful"},
    shape=lambda handle, flow_in: [None, (None,)],
    kernel=_concat,
    gradient=_concat_gradient,
)


def _split(xp: Any, handle: Any, value: Any, lengths: Any, flow_in: Any, *, T: Any) -> Any:
    array, sizes = _array(handle), lengths.tolist()
    if value.ndim == 0:
        raise invalid("Expected value to be at least a vector, but received shape: []")
    if sum(sizes) != value.shape[0]:
        raise invalid(
            f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {sum(sizes)} and value's "
            f"shape is: {show(value.shape)}"
        )
    if array.size != len(sizes) and not array.dynamic_size:
        raise invalid(
            f"TensorArray's size is not equal to the size of lengths ({array.size} vs. {len(sizes)}), and the "
            "TensorArray is not marked as dynamically resizeable"
        )
    at = 0
    for index, n in enumerate(sizes):
        if n < 0:
            raise invalid(f"Invalid value in lengths: {n}")
        array.write(index, value[at : at + n], T)
        at += n
    return flow_in


def _split_shape(handle: Any, value: Any, lengths: Any, flow_in: Any) -> Dims:
    ranked(lengths, 1)
    return ()


def _split_gradient(call: Any, grad: Any) -> list[Any]:
    handle, flow, suffix = _gradient_array(call, grad)
    found = _ask("Concat", suffix)(handle, flow, dtype=call.value.dtype.base_dtype)
    return [None, found.value, None, grad]


_declare(
    "Split",
    "(handle:H, value:T, lengths:int64, flow_in:float) -> (flow_out:float) | T: type",
    _OLD,
    shape=_split_shape,
    kernel=_split,
    gradient=_split_gradient,
)
_declare(
    "Size",
    "(handle:H, flow_in:float) -> (size:int32)",
    _OLD,
    shape=scalar,
    kernel=lambda xp, handle, flow_in: np.array(_array(handle).size, np.int32),
    gradient=FLAT,
)
_declare(
    "Close",
    "(handle:H) -> ()",
    _OLD,
    shape=lambda handle: [],
    kernel=lambda xp, handle: _array(handle).close() or (),  # type: ignore[func-returns-value]
    gradient=FLAT,
)
