"""Functions whose two eras differ only in the order or the names of their arguments.

Each is a thin form over the room's own function, which knows no era. Names end in the era they serve.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from ebbflow.core import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.tensor import is_tensor as is_tensor_now
from ebbflow.core.typing import Array, DTypeLike, Nested, TensorLike
from ebbflow.eager.tape import UnconnectedGradients
from ebbflow.graph import gradients as graph_gradients
from ebbflow.graph import scopes
from ebbflow.graph.constants import computed, partial_value
from ebbflow.messages import tensors

newaxis = None
"""What adds an axis when it stands among indices."""


def convert_to_tensor_v2(
    value: TensorLike, dtype: DTypeLike | None = None, dtype_hint: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Return a value as a tensor, of `dtype` if given, of `dtype_hint` if that can be.

    >>> convert_to_tensor_v2([1, 2]).numpy().tolist()
    [1, 2]
    """
    return convert.convert_to_tensor(value, dtype, name, dtype_hint)


def gradients_v2(
    ys: Nested,
    xs: Nested,
    grad_ys: Nested = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Nested = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Any]:
    """Add nodes for the gradients of `ys` by each of `xs` to a graph.

    >>> import ebbflow as tf
    >>> @tf.function
    ... def slope(x):
    ...     return gradients_v2(x * x, x)[0]
    >>> float(slope(tf.constant(3.0)))
    6.0
    """
    return graph_gradients.gradients(
        ys, xs, grad_ys, name, True, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients
    )


def hessians_v2(
    ys: Nested, xs: Nested, gate_gradients: bool = False, aggregation_method: int | None = None, name: str = "hessians"
) -> list[Tensor]:
    """Add nodes for the second derivatives of `ys` by each of `xs` to a graph."""
    return graph_gradients.hessians(ys, xs, name, True, gate_gradients, aggregation_method)


def tuple_v2(tensors: Nested, control_inputs: Nested = None, name: str | None = None) -> list[Tensor]:
    """Return tensors that are there only when all of them are."""
    return scopes.tuple(tensors, name=name, control_inputs=control_inputs)


def device(device_name_or_function: str | Callable[..., Any] | None) -> AbstractContextManager[None]:
    """Ask for a device, by name or by a function that chooses one for each node."""
    return scopes.device_scope(device_name_or_function)


def device_v2(device_name: str | Callable[..., Any] | None) -> AbstractContextManager[None]:
    """Ask for a device, by name.

    >>> import ebbflow as tf
    >>> with device_v2("/cpu:0"):
    ...     tf.constant(1.0).device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return scopes.device_scope(device_name)


def is_tensor(x: TensorLike) -> bool:
    """Return whether `x` is a tensor, or stands for one as a variable does.

    >>> import ebbflow as tf
    >>> is_tensor(tf.constant(1)), is_tensor(tf.Variable(1)), is_tensor(1)
    (True, True, False)
    """
    return is_tensor_now(x)


def make_ndarray(tensor: TensorLike) -> Array:
    """Return the array a TensorProto holds."""
    return tensors.make_ndarray(tensor)


def get_static_value(tensor: TensorLike, partial: bool = False) -> Any:
    """Return the value of a tensor as an array if it is known before anything runs, else None."""
    if not is_tensor_now(tensor):
        return tensor
    tensor = getattr(tensor, "tensor", tensor) if getattr(type(tensor), "is_weak", False) else tensor
    if not isinstance(tensor, Tensor) or _is_chosen(tensor):
        return None
    if partial and not isinstance(tensor, EagerTensor):
        return partial_value(tensor)
    return tensor.constant_value()


def try_evaluate_constant(tensor: Tensor) -> Any:
    """Return the value of a graph's tensor that follows from constants and shapes alone, else None."""
    if isinstance(tensor, EagerTensor):
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")
    value = computed(tensor)
    return None if value is None else value[()]


def constant_value_as_shape(tensor: TensorLike) -> TensorShape:
    """Return the shape that an integer vector spells, as far as it is known; -1 stands for an unknown size."""
    if not isinstance(tensor, Tensor):
        tensor = convert.convert(tensor)
    rank = tensor.shape.rank
    if rank not in (None, 1):
        scalar = tensor.constant_value() if rank == 0 else None
        if scalar is not None and int(scalar) == -1:
            return TensorShape(None)
        raise ValueError(
            "Received a scalar with value other than -1, or a matrix, as a shape: it must be a vector of sizes, or a "
            f"scalar -1 for an unknown shape; got {tensor!r}"
        )
    if isinstance(tensor, EagerTensor):
        return TensorShape([None if size < 0 else int(size) for size in tensor.constant_value()])
    return TensorShape(tensor.constant_dims())


def shape_equals(tensor_proto: Any, shape: Any) -> bool:
    """Return whether a TensorProto says it has a shape, given as sizes or as a TensorShapeProto."""
    return TensorShape(tensor_proto.tensor_shape).as_list() == TensorShape(shape).as_list()


def _is_chosen(tensor: Any) -> bool:
    """Return whether a tensor is what `tf.where` gave in a graph: TensorFlow never says its value, and programs that
    are told one go on as if they had a number in hand.
    """
    return not isinstance(tensor, EagerTensor) and tensor.op.type in ("Select", "SelectV2")
