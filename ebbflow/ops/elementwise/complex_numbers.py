"""Complex numbers and their parts.

The result of taking a part has the attr `Tout` for its dtype, which the public functions fill in. Real tensors are let
through: their conjugate is themselves, their imaginary part nothing.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import operand
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.creation import ones_like_v1, zeros_like, zeros_like_v1
from ebbflow.ops.declare import binary_gradient, broadcast, dense, raw, same
from ebbflow.ops.parts import in_parts

_COMPLEX_OF = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}


def _complex(real: Any, imag: Any) -> Any:
    return raw.Complex(real, imag, Tout=_COMPLEX_OF[real.dtype.base_dtype])


def _real(x: Any) -> Any:
    return raw.Real(x, Tout=x.dtype.real_dtype.base_dtype)


def _imag(x: Any) -> Any:
    return raw.Imag(x, Tout=x.dtype.real_dtype.base_dtype)


Complex = op(
    "Complex(real:T, imag:T) -> (out:Tout) | T: type in [float,double] = float; Tout: complexes = complex64",
    shape=broadcast,
    gradient=binary_gradient(lambda g, x, y, z: _real(g), lambda g, x, y, z: _imag(g)),
    facts="elementwise broadcasts",
)


@Complex.kernel
def _(xp, real, imag, *, Tout):
    if xp is not np:
        lax = importlib.import_module("jax.lax")  # heavy, and there already when XLA compiles
        return lax.complex(*xp.broadcast_arrays(real, imag))
    out = xp.empty(xp.broadcast_shapes(real.shape, imag.shape), Tout.np)
    out.real = real
    out.imag = imag  # not real + 1j * imag, where an infinite part would spoil the other
    return out


Conj = op(
    "Conj(input:T) -> (output:T) | T: type in [complexes,variant] = complex64",
    shape=same,
    kernel=lambda xp, input: xp.conj(input),
    gradient=lambda call, grad: raw.Conj(dense(grad)),
    facts="elementwise shared",
)

_PART = "({arg}:T) -> ({out}:Tout) | T: complexes = complex64; Tout: type in [float,double] = float"

Real = op("Real" + _PART.format(arg="input", out="output"), shape=same, facts="elementwise shared")
Imag = op("Imag" + _PART.format(arg="input", out="output"), shape=same, facts="elementwise")
Angle = op("Angle" + _PART.format(arg="input", out="output"), shape=same, facts="elementwise")
ComplexAbs = op("ComplexAbs" + _PART.format(arg="x", out="y"), shape=same, facts="elementwise")


@Real.kernel
def _(xp, input, *, Tout):
    return xp.real(input).astype(Tout.np)


@Imag.kernel
def _(xp, input, *, Tout):
    return xp.imag(input).astype(Tout.np)


@Angle.kernel
@in_parts
def _(xp, input, *, Tout):
    return xp.arctan2(xp.imag(input), xp.real(input)).astype(Tout.np)


@ComplexAbs.kernel
def _(xp, x, *, Tout):
    return xp.abs(x).astype(Tout.np)


@Real.gradient
def _(call, grad):
    grad = dense(grad)
    return _complex(grad, raw.ZerosLike(grad))


@Imag.gradient
def _(call, grad):
    grad = dense(grad)
    return _complex(raw.ZerosLike(grad), grad)


@Angle.gradient
def _(call, grad):
    x, grad = call.inputs[0], -dense(grad)
    turned = raw.Reciprocal(_complex(_imag(x), _real(x)))
    return _complex(grad * _real(turned), grad * _imag(turned))


@ComplexAbs.gradient
def _(call, grad):
    grad = dense(grad)
    zero = raw.ZerosLike(grad)
    return raw.DivNoNan(_complex(grad, zero), _complex(call.outputs[0], zero)) * call.inputs[0]


# --- public functions -------------------------------------------------------------------------------------------------


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """Return complex numbers with these parts.

    >>> complex([1.0, 2.0], [0.5, -1.0]).numpy().tolist()
    [(1+0.5j), (2-1j)]
    """
    real = operand(real, name="real")
    imag = operand(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        if real.dtype.base_dtype is not imag.dtype.base_dtype or real.dtype.base_dtype not in _COMPLEX_OF:
            raise TypeError(
                f"The `real` and `imag` components have incorrect types: {real.dtype.name} {imag.dtype.name}. "
                f"They must be consistent, and one of {[dtypes.float32, dtypes.float64]}"
            )
        return raw.Complex(real, imag, Tout=_COMPLEX_OF[real.dtype.base_dtype], name=scope or None)


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the real part.

    >>> real([1 + 2j]).numpy().tolist()
    [1.0]
    """
    with name_scope(name, "Real", [input]) as scope:
        input = operand(input, name="input")
        if input.dtype.is_complex:
            return raw.Real(input, Tout=input.dtype.real_dtype.base_dtype, name=scope or None)
        if input.dtype.is_numeric:
            return input
        raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {input.dtype!r}")


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the imaginary part; zeros of a real tensor.

    >>> imag([1 + 2j]).numpy().tolist()
    [2.0]
    """
    with name_scope(name, "Imag", [input]) as scope:
        input = operand(input, name="input")
        if input.dtype.is_complex:
            return raw.Imag(input, Tout=input.dtype.real_dtype.base_dtype, name=scope or None)
        return zeros_like(input)


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the angle between the positive real axis and each number.

    >>> angle([1 + 1j, -2.0]).numpy().round(4).tolist()
    [0.7854, 3.1416]
    """
    with name_scope(name, "Angle", [input]) as scope:
        input = operand(input, name="input")
        if input.dtype.is_complex:
            return raw.Angle(input, Tout=input.dtype.real_dtype.base_dtype, name=scope or None)
        return raw.Select(input < 0, math.pi * ones_like_v1(input), zeros_like_v1(input))


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the complex conjugate; a real tensor as it is.

    >>> conj([1 + 2j]).numpy().tolist()
    [(1-2j)]
    """
    if getattr(getattr(x, "dtype", None), "is_floating", False):
        return x  # type: ignore[return-value]  # a tensor, as its dtype says
    with name_scope(name, "Conj", [x]) as scope:
        x = operand(x, name="x")
        if x.dtype.is_complex or x.dtype is dtypes.variant:
            return raw.Conj(x, name=scope or None)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
