"""The operators of weak tensors, and what tensors' operators mean while dtypes are promoted by the lattice.

Arithmetic goes through the functions that `functions` has promote; what compares or works on bits is done on the tensor
inside. Knows the functions behind operators; `ops.numpy.behaviour` puts them on tensors.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.tensor import TensorBase
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.elementwise import binary, bitwise, compare, unary
from ebbflow.ops.numpy import arrays, elementwise, reductions
from ebbflow.ops.numpy.methods import METHODS
from ebbflow.ops.weak.tensor import EagerWeakTensor, GraphWeakTensor, WeakTensor

__all__ = ["ARITHMETIC", "EagerWeakTensor", "GraphWeakTensor", "WeakTensor", "equal", "promotes"]

ARITHMETIC: dict[str, Any] = {
    "add": binary.add, "sub": binary.subtract, "mul": binary.multiply, "truediv": binary.truediv,
    "floordiv": binary.floordiv, "mod": binary.floormod, "pow": binary.pow, "matmul": reductions.matmul,
}  # fmt: skip
"""What arithmetic operators mean, both ways round."""

_PLAIN = ("and", "or", "xor", "lt", "le", "gt", "ge", "ne")
_NUMBERS = (TensorBase, bool, int, float, complex, str, bytes, list, tuple, np.ndarray, np.generic)


def promotes(other: Any) -> bool:
    """Return whether the other side of an operator is something that promotion knows."""
    return isinstance(other, _NUMBERS)


def equal(x: Any, y: Any) -> Any:
    """Return where two are equal; what is no number equals nothing."""
    return compare.equal(x, y) if promotes(y) else x is y


def _inside(value: Any) -> Any:
    return value.tensor if isinstance(value, WeakTensor) else value


def _forward(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(self, other)


def _backward(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self)


def _on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(_inside(self), _inside(other))


def _furnish(kind: Any) -> None:
    """Put operators and NumPy's methods on weak tensors."""
    for name, function in ARITHMETIC.items():
        setattr(kind, f"__{name}__", _forward(function))
        setattr(kind, f"__r{name}__", _backward(function))
    for name in _PLAIN:
        plain = getattr(operator, f"{name}_" if name in ("and", "or") else name)
        setattr(kind, f"__{name}__", _on_tensors(plain))
    kind.__eq__ = _forward(equal)
    kind.__neg__ = lambda self: unary.negative(self)
    kind.__abs__ = lambda self: unary.abs(self)
    kind.__invert__ = lambda self: bitwise.invert(self)
    kind.__pos__ = lambda self: identity(self)
    kind.__round__ = lambda self, decimals=0: elementwise.around(self, decimals)
    kind.__getitem__ = lambda self, key: self.tensor[_inside(key)]
    kind.ndim = property(lambda self: self.tensor.ndim)
    for name, method in METHODS.items():
        setattr(kind, name, method)
    kind.data = property(lambda self: self)
    kind.tolist = lambda self: self.tensor.numpy().tolist()
    kind.T = property(lambda self: arrays.transpose(self))


_furnish(WeakTensor)
