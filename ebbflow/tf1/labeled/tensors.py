"""Labelled tensors: a tensor with its axes, the order of axes, alignment, and element-wise functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ebbflow.core.convert import convert, register_tensor_conversion_function
from ebbflow.core.dtypes import DType
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor, TensorBase
from ebbflow.graph.graph import get_default_graph
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.shaping import transpose as plain_transpose
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import div as plain_div
from ebbflow.tf1.labeled.axes import Axes, Axis, pairs, refused

Tensors = Any
"""What a function takes for a labelled tensor: one, or a scalar of any kind."""


class AxisOrderError(ValueError):
    """Axes that do not stand in the order that is asked for."""


class LabeledTensor:
    """A tensor whose axes have names."""

    def __init__(self, tensor: Tensor, axes: Axes | Iterable[str | Axis | tuple[str, Any]]) -> None:
        if not isinstance(tensor, TensorBase):
            raise refused(tensor, "tensorflow.Tensor", "LabeledTensor")
        self._tensor, sizes = tensor, tensor.shape.as_list()
        if not isinstance(axes, Axes):
            given = list(axes)
            if len(given) == len(sizes):
                given = [(a, size) if isinstance(a, str) else a for a, size in zip(given, sizes, strict=True)]
            axes = Axes([(a, None) if isinstance(a, str) else a for a in given])
        if len(sizes) != len(axes):
            raise ValueError(f"Tensor rank was not equal to the number of axes: {tensor.shape!r}, {axes!r}")
        for size, axis in zip(sizes, axes.values(), strict=True):
            if size is not None and axis.size is not None and size != axis.size:
                raise ValueError(
                    f"Provided axis size {axis.size} does not match tensor dimension size {size} in tensor {tensor!r}"
                )
        self._axes = axes

    tensor = property(lambda self: self._tensor, doc="The tensor itself.")
    axes = property(lambda self: self._axes, doc="Its axes by name.")
    dtype = property(lambda self: self._tensor.dtype, doc="The tensor's dtype.")
    shape = property(lambda self: self._tensor.shape, doc="The tensor's shape.")
    name = property(lambda self: self._tensor.name, doc="The tensor's name.")

    def _as_graph_element(self) -> Any:
        return self._tensor

    def get_shape(self) -> TensorShape:
        """Return the tensor's shape."""
        return self._tensor.shape

    def __repr__(self) -> str:
        shown = (",\n" + " " * len(" axes=[")).join(pairs(self._axes))
        about = f"'{self.name}' shape={self.shape} dtype={self.dtype.name}"
        return f"<{type(self).__name__} {about}\n axes=[{shown}]>"

    def __getitem__(self, key: Any) -> LabeledTensor:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != len(self._axes):
            raise ValueError(f"indexer {key!r} must have the same length as the Tensor rank ({len(self._axes)!r})")
        return slice_function(self, dict(zip(self._axes, keys, strict=True)))

    def __pos__(self) -> LabeledTensor:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabeledTensor) and self._tensor is other._tensor and self._axes == other._axes

    def __hash__(self) -> int:
        return hash((id(self._tensor), self._axes))


def _to_tensor(value: LabeledTensor, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    return convert(value.tensor, dtype, name=name)


register_tensor_conversion_function(LabeledTensor, _to_tensor)


SCALARS = TensorBase | np.ndarray | np.generic | int | float | complex | bytes | str
"""Besides labelled ones, what can be made a labelled tensor without axes."""


def convert_to_labeled_tensor(value: Tensors, dtype: DType | None = None, name: str | None = None) -> LabeledTensor:
    """Return a labelled tensor, or the one of a scalar; what has axes must have names for them."""
    if not isinstance(
        value, LabeledTensor | TensorBase | np.ndarray | np.generic | int | float | complex | bytes | str
    ):
        raise refused(value, "Union(labeled_tensor.LabeledTensor, tensorflow.Tensor, numpy.ndarray, scalar)", "convert")
    if isinstance(value, LabeledTensor):
        return LabeledTensor(convert(value.tensor, dtype, name=name), value.axes)
    tensor = convert(value, dtype, name=name)
    if tensor.shape.rank != 0:
        raise ValueError(
            "cannot automatically convert unlabeled arrays or tensors with rank>0 into LabeledTensors: " + repr(value)
        )
    return LabeledTensor(tensor, [])


def scoped(word: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Have a function of a labelled tensor run in a scope `lt_word`, whose name its `name` becomes."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        binding = inspect.signature(function)
        first = next(iter(binding.parameters))

        @functools.wraps(function)
        def scoped_function(*args: Any, **kwargs: Any) -> Any:
            given = binding.bind(*args, **kwargs).arguments
            with name_scope(given.get("name"), f"lt_{word}", [given[first]]) as scope:
                return function(**{**given, first: convert_to_labeled_tensor(given[first]), "name": scope})

        return scoped_function

    return wrap


@scoped("identity")
def identity(labeled_tensor: Tensors, name: str | None = None) -> LabeledTensor:
    """Return the same tensor with the same axes, as a new node."""
    return LabeledTensor(raw.Identity(labeled_tensor.tensor, name=name), labeled_tensor.axes)


@scoped("slice")
def slice_function(
    labeled_tensor: Tensors, selection: Mapping[str, int | slice], name: str | None = None
) -> LabeledTensor:
    """Return the places that a selection names, by their numbers: an axis with a number is dropped."""
    keys = tuple(selection.get(axis, slice(None)) for axis in labeled_tensor.axes)
    kept: list[Any] = []
    for axis, key in zip(labeled_tensor.axes.values(), keys, strict=True):
        if isinstance(key, slice):
            kept.append(axis.name if axis.labels is None else (axis.name, axis.labels[key]))
    return LabeledTensor(raw.Identity(labeled_tensor.tensor[keys], name=name), kept)


@scoped("transpose")
def transpose(
    labeled_tensor: Tensors, axis_order: Iterable[str] | None = None, name: str | None = None
) -> LabeledTensor:
    """Return the tensor with its axes in another order (None: the other way round)."""
    before = list(labeled_tensor.axes)
    order = before[::-1] if axis_order is None else list(axis_order)
    if sorted(order) != sorted(before):
        raise ValueError(
            "The new axis order must have the same names as the original axes, "
            f"but the new order is {order!r} while the original order is {before!r}"
        )
    turned = plain_transpose(labeled_tensor.tensor, [before.index(axis) for axis in order], name=name or "")
    return LabeledTensor(turned, [labeled_tensor.axes[axis] for axis in order])


@scoped("expand_dims")
def expand_dims(
    labeled_tensor: Tensors, axes: Iterable[str | tuple[str, Any]], name: str | None = None
) -> LabeledTensor:
    """Return the tensor with axes of one place wherever `axes` has a name that is new."""
    wanted = list(axes)
    check_axis_order(labeled_tensor, [axis if isinstance(axis, str) else axis[0] for axis in wanted])
    found: list[Any] = []
    for axis in wanted:
        if axis in labeled_tensor.axes:
            found.append(labeled_tensor.axes[axis])
        else:
            found.append(Axis(axis, 1) if isinstance(axis, str) else Axis(axis[0], (axis[1],)))
    sizes = [-1 if axis.size is None else axis.size for axis in found]
    return LabeledTensor(reshape(labeled_tensor.tensor, sizes, name=name), found)


# --- the order of axes ------------------------------------------------------------------------------------------------

_ORDER = ("__axis_order",)


def get_axis_order() -> list[str] | None:
    """Return the order of axes that a scope asks for in this graph, or None."""
    return next(iter(get_default_graph().get_collection_ref(_ORDER)), None)


@contextmanager
def axis_order_scope(axis_order: list[str] | None = None) -> Iterator[list[str] | None]:
    """Ask for an order of axes inside the block."""
    kept = get_default_graph().get_collection_ref(_ORDER)
    before, kept[:] = list(kept), [axis_order]
    try:
        yield axis_order
    finally:
        kept[:] = before


def _order_or_error(axis_order: Iterable[str] | None) -> list[str]:
    order = get_axis_order() if axis_order is None else list(axis_order)
    if order is None:
        raise AxisOrderError(
            "an explicit axis order must be provided with the axis_order argument or by using an axis_order_scope"
        )
    return order


def check_axis_order(labeled_tensor: Tensors, axis_order: Iterable[str] | None = None) -> None:
    """Raise unless all axes stand in the order, as far as it names them."""
    tensor, order = convert_to_labeled_tensor(labeled_tensor), _order_or_error(axis_order)
    relevant = [axis for axis in order if axis in tensor.axes]
    if len(relevant) < len(tensor.axes):
        raise AxisOrderError(f"not all axis names appear in the required axis order {order!r}: {tensor!r}")
    if relevant != list(tensor.axes):
        raise AxisOrderError(
            f"axes on a labeled tensor do not appear in the same order as the required axis order {order!r}: {tensor!r}"
        )


@scoped("impose_axis_order")
def impose_axis_order(
    labeled_tensor: Tensors, axis_order: Iterable[str] | None = None, name: str | None = None
) -> LabeledTensor:
    """Return the tensor with its axes in the order."""
    order = _order_or_error(axis_order)
    return transpose(labeled_tensor, [axis for axis in order if axis in labeled_tensor.axes], name=name)


def find_consistent_ordering(a: list[Any], b: list[Any]) -> list[Any] | None:
    """Return a list in which the items of both stand in both orders, or None where there is none.

    >>> find_consistent_ordering(["x", "z"], ["y", "z"])
    ['x', 'y', 'z']
    """
    merged: list[Any] = []
    a, b = list(a), list(b)
    while a and b:
        if a[0] == b[0]:
            merged.append(a.pop(0))
            b.pop(0)
        elif a[0] not in b:
            merged.append(a.pop(0))
        elif b[0] not in a and b[0] not in merged:
            merged.append(b.pop(0))
        else:
            return None
    return merged + a + b


def align(labeled_tensor_0: Tensors, labeled_tensor_1: Tensors, name: str | None = None) -> tuple[Any, Any, Axes]:
    """Return two tensors with axes added so that they broadcast, and the axes of what they broadcast to."""
    with name_scope(name, "lt_align", [labeled_tensor_0, labeled_tensor_1]) as scope:
        first, second = convert_to_labeled_tensor(labeled_tensor_0), convert_to_labeled_tensor(labeled_tensor_1)
        for axis in first.axes:
            if axis in second.axes and first.axes[axis] != second.axes[axis]:
                both = f"{first.axes[axis]!r} and {second.axes[axis]!r}"
                raise ValueError(f"Mismatched {axis!r} axis on input tensors: {both}")
        order = get_axis_order()
        if order is None:
            names = find_consistent_ordering(list(first.axes), list(second.axes))
            if names is None:
                raise AxisOrderError(
                    f"No consistent axis order allows for aligning tensors with axis orders {list(first.axes)!r} and "
                    f"{list(second.axes)!r} without copying data. Use transpose or impose_axis_order to reorder axes."
                )
        else:
            names = [axis for axis in order if axis in first.axes or axis in second.axes]
            check_axis_order(first, order)
            check_axis_order(second, order)
        axes = Axes([first.axes[axis] if axis in first.axes else second.axes[axis] for axis in names])
        return expand_dims(first, names, name=f"{scope}0"), expand_dims(second, names, name=f"{scope}1"), axes


# --- element-wise functions -------------------------------------------------------------------------------------------


def define_unary_op(op_name: str, elementwise_function: Callable[..., Any]) -> Callable[..., LabeledTensor]:
    """Return an element-wise function of labelled tensors, made from one of tensors."""

    def op(labeled_tensor: Tensors, name: str | None = None) -> LabeledTensor:
        return LabeledTensor(elementwise_function(labeled_tensor.tensor, name=name), labeled_tensor.axes)

    op.__doc__ = f"Return `tf.{op_name}` of each element, with the tensor's axes."
    op.__name__ = op_name
    return scoped(op_name)(op)


def define_binary_op(op_name: str, elementwise_function: Callable[..., Any]) -> Callable[..., LabeledTensor]:
    """Return a function of two labelled tensors that are aligned first, made from one of tensors."""

    def op(labeled_tensor_0: Tensors, labeled_tensor_1: Tensors, name: str | None = None) -> LabeledTensor:
        with name_scope(name, f"lt_{op_name}", [labeled_tensor_0, labeled_tensor_1]) as scope:
            first, second, axes = align(labeled_tensor_0, labeled_tensor_1)
            return LabeledTensor(elementwise_function(first.tensor, second.tensor, name=scope), axes)

    op.__doc__ = f"Return `tf.{op_name}` of the elements of two tensors, aligned by their axes."
    op.__name__ = op_name
    return op


_UNARY = {
    "abs": "Abs", "neg": "Neg", "sign": "Sign", "reciprocal": "Reciprocal", "square": "Square", "round": "Round",
    "sqrt": "Sqrt", "rsqrt": "Rsqrt", "exp": "Exp", "log": "Log", "ceil": "Ceil", "floor": "Floor", "cos": "Cos",
    "sin": "Sin", "tan": "Tan", "acos": "Acos", "asin": "Asin", "atan": "Atan", "lgamma": "Lgamma",
    "digamma": "Digamma", "erf": "Erf", "erfc": "Erfc", "logical_not": "LogicalNot", "tanh": "Tanh",
    "sigmoid": "Sigmoid",
}  # fmt: skip
_BINARY = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "mod": "FloorMod", "pow": "Pow", "equal": "Equal",
    "greater": "Greater", "greater_equal": "GreaterEqual", "not_equal": "NotEqual", "less": "Less",
    "less_equal": "LessEqual", "logical_and": "LogicalAnd", "logical_or": "LogicalOr", "maximum": "Maximum",
    "minimum": "Minimum", "squared_difference": "SquaredDifference", "igamma": "Igamma", "igammac": "Igammac",
    "zeta": "Zeta", "polygamma": "Polygamma",
}  # fmt: skip


def _logical_xor(x: Any, y: Any, name: str | None = None) -> Any:
    return raw.LogicalAnd(raw.LogicalOr(x, y), raw.LogicalNot(raw.LogicalAnd(x, y)), name=name)


FUNCTIONS: dict[str, Callable[..., LabeledTensor]] = {
    **{word: define_unary_op(word, getattr(raw, op)) for word, op in _UNARY.items()},
    **{word: define_binary_op(word, getattr(raw, op)) for word, op in _BINARY.items()},
    "div": define_binary_op("div", plain_div),
    "logical_xor": define_binary_op("logical_xor", _logical_xor),
}
"""The element-wise functions by the names that `tf.contrib.labeled_tensor` has for them."""

OPERATORS = {
    "abs": "abs", "neg": "neg", "invert": "logical_not", "add": "add", "sub": "sub", "mul": "mul", "truediv": "div",
    "mod": "mod", "pow": "pow", "and": "logical_and", "or": "logical_or", "xor": "logical_xor", "lt": "less",
    "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
REFLECTED = ("add", "sub", "mul", "truediv", "mod", "pow")


def _reflected(function: Callable[..., LabeledTensor]) -> Callable[..., LabeledTensor]:
    return lambda self, other: function(other, self)


for _operator, _word in OPERATORS.items():
    setattr(LabeledTensor, f"__{_operator}__", FUNCTIONS[_word])
    if _operator in REFLECTED:
        setattr(LabeledTensor, f"__r{_operator}__", _reflected(FUNCTIONS[_word]))


def __getattr__(name: str) -> Callable[..., LabeledTensor]:
    try:
        return FUNCTIONS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
