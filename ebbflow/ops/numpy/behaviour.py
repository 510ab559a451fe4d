"""Tensors that behave like NumPy's arrays: `experimental_enable_numpy_behavior`.

It gives tensors NumPy's methods (`astype`, `reshape`, `T`, `clip`, …), operators that promote their operands by NumPy's
rules, and indices that are lists or arrays. It holds for the process, and cannot be taken back, as in TensorFlow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.numpy import arrays, elementwise, reductions
from ebbflow.ops.numpy.advanced_indexing import item
from ebbflow.ops.numpy.promotion import settings

_OPERATORS = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply,
    "truediv": elementwise.true_divide, "floordiv": elementwise.floor_divide, "mod": elementwise.mod,
    "pow": elementwise.power, "matmul": reductions.matmul, "and": elementwise.bitwise_and,
    "or": elementwise.bitwise_or, "xor": elementwise.bitwise_xor,
}  # fmt: skip
_COMPARISONS = {
    "lt": elementwise.less, "le": elementwise.less_equal, "gt": elementwise.greater, "ge": elementwise.greater_equal,
}  # fmt: skip
_on: set[str] = set()


def experimental_enable_numpy_behavior(prefer_float32: bool = False, dtype_conversion_mode: str = "legacy") -> None:
    """Have tensors behave like NumPy's arrays from now on."""
    _check_mode(dtype_conversion_mode)
    settings.float32 = prefer_float32
    if dtype_conversion_mode == "off":
        return
    set_dtype_conversion_mode(dtype_conversion_mode)
    enable_numpy_style_slicing()
    enable_numpy_methods_on_tensor()


def enable_numpy_style_slicing() -> None:
    """Have tensors take arrays of places or bools in brackets, as NumPy's do."""
    if "slicing" not in _on:
        _on.add("slicing")
        _replace("__getitem__", lambda plain: lambda x, key: item(x, key, plain))


def enable_numpy_methods_on_tensor() -> None:
    """Give tensors NumPy's methods, and leave their operators as they are."""
    for name, method in _METHODS.items():
        setattr(Tensor, name, method)
    EagerTensor.tolist = lambda self: self.numpy().tolist()  # type: ignore[attr-defined]


def set_dtype_conversion_mode(dtype_conversion_mode: str) -> None:
    """Say how operators promote their operands: "legacy" by NumPy's rules from then on, "off" as before."""
    _check_mode(dtype_conversion_mode)
    if dtype_conversion_mode == "off" or "operators" in _on:
        return
    _on.add("operators")
    for name, function in _OPERATORS.items():
        _replace(f"__{name}__", functools.partial(_forward, function))
        _replace(f"__r{name}__", functools.partial(_backward, function))
    for name, function in _COMPARISONS.items():
        _replace(f"__{name}__", functools.partial(_forward, function))


def _check_mode(dtype_conversion_mode: str) -> None:
    if dtype_conversion_mode not in ("legacy", "off"):
        raise ValueError(
            f"dtype_conversion_mode {dtype_conversion_mode!r}: 'legacy' (NumPy's rules) or 'off' is there; "
            "'all' and 'safe' promote by rules of their own, which are not"
        )


def _forward(function: Callable[..., Any], _: Any) -> Callable[..., Any]:
    return lambda x, y: function(x, y)


def _backward(function: Callable[..., Any], _: Any) -> Callable[..., Any]:
    return lambda x, y: function(y, x)


def _replace(operator: str, make: Callable[[Any], Any]) -> None:
    """Put what `make` makes of an operator in its place, in every kind of tensor that has one of its own."""
    kinds = [Tensor]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if operator in vars(kind):
            setattr(kind, operator, make(vars(kind)[operator]))


def _reshape(self: Any, *newshape: Any, **kwargs: Any) -> Any:
    order = kwargs.pop("order", "C")
    if kwargs:
        raise TypeError(f"reshape takes a shape and order; got {sorted(kwargs)}")
    return arrays.reshape(self, newshape[0] if len(newshape) == 1 else newshape, order)


def _transpose(self: Any, *axes: Any) -> Any:
    if not axes or axes == (None,):
        return arrays.transpose(self)
    return arrays.transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


_METHODS: dict[str, Any] = {
    "T": property(arrays.transpose),
    "astype": lambda self, dtype: cast(self, arrays._type(dtype)),
    "clip": elementwise.clip,
    "data": property(lambda self: self),
    "flatten": arrays.flatten,
    "max": reductions.max,
    "mean": reductions.mean,
    "min": reductions.min,
    "ravel": arrays.ravel,
    "reshape": _reshape,
    "size": property(lambda self: self.shape.num_elements() if self.shape.is_fully_defined() else raw.Size(self)),
    "transpose": _transpose,
}
