"""Tensors that behave like NumPy's arrays: `experimental_enable_numpy_behavior`.

It gives tensors NumPy's methods (`astype`, `reshape`, `T`, `clip`, …), operators that promote their operands, and
indices that are lists or arrays. Methods and indices hold for the process, as in TensorFlow. How dtypes are promoted
is a mode: by NumPy's rules ("legacy"), or by the lattice of `ops.weak` ("all"; "safe" refuses what may lose something).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.ops.numpy import elementwise, reductions
from ebbflow.ops.numpy.advanced_indexing import item
from ebbflow.ops.numpy.indexed_updates import UPDATES
from ebbflow.ops.numpy.methods import METHODS
from ebbflow.ops.numpy.promotion import settings
from ebbflow.ops.weak import functions, operators
from ebbflow.ops.weak.promotion import PromoMode, hold_mode, is_auto_dtype_conversion_enabled, mode_named

_OPERATORS = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply,
    "truediv": elementwise.true_divide, "floordiv": elementwise.floor_divide, "mod": elementwise.mod,
    "pow": elementwise.power, "matmul": reductions.matmul, "and": elementwise.bitwise_and,
    "or": elementwise.bitwise_or, "xor": elementwise.bitwise_xor,
}  # fmt: skip
_COMPARISONS = {
    "lt": elementwise.less, "le": elementwise.less_equal, "gt": elementwise.greater, "ge": elementwise.greater_equal,
}  # fmt: skip
_EQUALITY = {"eq": elementwise.equal, "ne": elementwise.not_equal}
_on: set[str] = set()
_plain: dict[tuple[type, str], Any] = {}  # the operators that each kind of tensor had


def experimental_enable_numpy_behavior(prefer_float32: bool = False, dtype_conversion_mode: str = "legacy") -> None:
    """Have tensors behave like NumPy's arrays from now on."""
    mode = mode_named(dtype_conversion_mode)
    settings.float32 = prefer_float32
    if mode is PromoMode.OFF:
        return
    set_dtype_conversion_mode(dtype_conversion_mode)
    enable_numpy_style_slicing()
    enable_numpy_methods_on_tensor()


def enable_numpy_style_slicing() -> None:
    """Have tensors take arrays of places or bools in brackets, as NumPy's do."""
    if "slicing" not in _on:
        _on.add("slicing")
        for kind in _kinds("__getitem__"):
            kind.__getitem__ = _numpy_item(vars(kind)["__getitem__"])


def _numpy_item(plain: Any) -> Callable[..., Any]:
    return lambda x, key: item(x, key, plain)


def enable_numpy_methods_on_tensor() -> None:
    """Give tensors NumPy's methods, and leave their operators as they are."""
    for name, method in METHODS.items():
        setattr(Tensor, name, method)
    EagerTensor.tolist = lambda self: self.numpy().tolist()  # type: ignore[attr-defined]
    for name, update in UPDATES.items():
        setattr(Tensor, f"_with_index_{name}", update)


def set_dtype_conversion_mode(dtype_conversion_mode: str) -> None:
    """Say how operands of different dtypes meet: "off", "legacy" (by NumPy's rules), "safe" or "all"."""
    mode = mode_named(dtype_conversion_mode)
    hold_mode(mode)
    _put_back()
    if is_auto_dtype_conversion_enabled():
        functions.turn_on()
        _put_operators(operators.ARITHMETIC, {"eq": operators.equal}, operators.promotes)
    elif mode is PromoMode.LEGACY:
        _put_operators(_OPERATORS, _COMPARISONS)
        _put_operators({}, _EQUALITY, operators.promotes)


def _put_operators(
    both_ways: dict[str, Any], one_way: dict[str, Any], takes: Callable[[Any], bool] = lambda other: True
) -> None:
    """Let operators mean functions, where the other side is something that these take."""
    for name, function in (both_ways | one_way).items():
        _replace(f"__{name}__", lambda x, y, function=function: function(x, y), takes)
    for name, function in both_ways.items():
        _replace(f"__r{name}__", lambda x, y, function=function: function(y, x), takes)


def _kinds(operator: str) -> list[Any]:
    """Return every kind of tensor that has an operator of its own."""
    found, kinds = [], [Tensor]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if operator in vars(kind):
            found.append(kind)
    return found


def _replace(operator: str, function: Callable[..., Any], takes: Callable[[Any], bool]) -> None:
    for kind in _kinds(operator):
        plain = _plain.setdefault((kind, operator), vars(kind)[operator])
        setattr(kind, operator, _chosen(function, plain, takes))


def _chosen(function: Callable[..., Any], plain: Any, takes: Callable[[Any], bool]) -> Callable[..., Any]:
    return lambda x, y: function(x, y) if takes(y) else plain(x, y)


def _put_back() -> None:
    for (kind, operator), plain in _plain.items():
        setattr(kind, operator, plain)
