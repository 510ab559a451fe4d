"""Activation functions of neural nets: ReLU and its kin, softplus, swish, GELU.

Each op's slope is an op of its own in TensorFlow (`ReluGrad`, …), and its name appears in graphs, so each is declared
here. Softmax, which is no function of one number, belongs to the neural-net family.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.convert import convert, operand
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops.declare import dense, in_float32, merged, quick_binary, quick_unary, raw, same, unary
from ebbflow.ops.elementwise.binary import pow
from ebbflow.ops.elementwise.special import erfc
from ebbflow.ops.elementwise.unary import exp, one_shape, sigmoid, slope_op, tanh

SELU_SCALE = 1.0507009873554805
SELU_ALPHA = 1.6732632423543772
_ROOT_TWO_OVER_PI = 0.7978845608028654
_SELU_SLOPE = SELU_SCALE * SELU_ALPHA
_LIKE_FEATURES = {"arg": "features", "out": "activations"}


def _relu(xp: Any, x: Any) -> Any:
    if x.dtype.names:  # qint8 is a record of one field
        return xp.maximum(x[x.dtype.names[0]], 0).view(x.dtype)
    return xp.maximum(x, x.dtype.type(0))


def _relu_for(dtype: Any) -> Any:
    """Return the same with the zero made beforehand."""
    if dtype.is_quantized:
        return None
    zero, larger = np.zeros((), dtype.np), np.maximum
    return lambda x: larger(x, zero)


_relu.for_dtype = _relu_for  # type: ignore[attr-defined]


# --- slopes -----------------------------------------------------------------------------------------------------------

ReluGrad = slope_op(
    "ReluGrad", "gradients features", lambda xp, g, x: g * (x > 0),
    lambda g, dy, x, z: (relu_grad(g, x), raw.ZerosLike(x)), types="reals", out="backprops",
)  # fmt: skip
Relu6Grad = slope_op(
    "Relu6Grad", "gradients features", lambda xp, g, x: g * ((x > 0) & (x < 6)),
    lambda g, dy, x, z: (raw.Relu6Grad(g, x), raw.ZerosLike(x)), types="reals", out="backprops",
)  # fmt: skip
EluGrad = slope_op(
    "EluGrad", "gradients outputs", lambda xp, g, y: xp.where(y < 0, g * (y + 1), g),
    lambda g, dy, y, z: (raw.EluGrad(g, y), raw.SelectV2(y < 0, g * dy, raw.ZerosLike(y))),
    types="floats", out="backprops",
)  # fmt: skip
SeluGrad = slope_op(
    "SeluGrad", "gradients outputs", lambda xp, g, y: xp.where(y < 0, g * (y + _SELU_SLOPE), g * SELU_SCALE),
    lambda g, dy, y, z: (raw.SeluGrad(g, y), raw.SelectV2(y < 0, g * dy, raw.ZerosLike(y))),
    types="floats", out="backprops",
)  # fmt: skip
SoftplusGrad = slope_op(
    "SoftplusGrad", "gradients features", lambda xp, g, x: g / (xp.exp(-x) + 1),
    lambda g, dy, x, z: (raw.SoftplusGrad(g, x), g * dy / (exp(-x) + 2.0 + exp(x))),
    types="floats", out="backprops",
)  # fmt: skip
SoftsignGrad = slope_op(
    "SoftsignGrad", "gradients features", lambda xp, g, x: g / xp.square(1 + xp.abs(x)),
    lambda g, dy, x, z: (raw.SoftsignGrad(g, x), g * dy * -2.0 * raw.Sign(x) / raw.Pow(1.0 + raw.Abs(x), 3.0)),
    types="floats", out="backprops",
)  # fmt: skip

relu_grad: Callable[..., Any] = quick_binary(
    ReluGrad, "relu_grad", "Return `gradients` where `features` is above 0.", "gradients features"
)

# --- activations ------------------------------------------------------------------------------------------------------


def _elu(xp: Any, x: Any) -> Any:
    return xp.where(x < 0, xp.expm1(xp.minimum(x, 0)), x)


def _selu(xp: Any, x: Any) -> Any:
    return xp.where(x < 0, _SELU_SLOPE * xp.expm1(xp.minimum(x, 0)), SELU_SCALE * x)


Relu = unary(
    "Relu", _relu, types="reals,qint8", backward=lambda g, x, y: relu_grad(g, y), facts="activation finishes=relu",
    **_LIKE_FEATURES,
)  # fmt: skip
Relu6 = unary(
    "Relu6", lambda xp, x: xp.minimum(xp.maximum(x, x.dtype.type(0)), x.dtype.type(6)), types="reals",
    backward=lambda g, x, y: raw.Relu6Grad(g, y), facts="activation finishes=relu6", **_LIKE_FEATURES,
)  # fmt: skip
Elu = unary(
    "Elu", in_float32(_elu), types="floats", backward=lambda g, x, y: raw.EluGrad(g, y),
    facts="activation finishes=elu", **_LIKE_FEATURES,
)  # fmt: skip
Selu = unary("Selu", in_float32(_selu), types="floats", backward=lambda g, x, y: raw.SeluGrad(g, y), **_LIKE_FEATURES)
Softplus = unary(
    "Softplus", in_float32(lambda xp, x: xp.logaddexp(x, x.dtype.type(0))), lambda x, y: sigmoid(x),
    types="floats", facts="activation", **_LIKE_FEATURES,  # type: ignore[arg-type]
)  # fmt: skip
Softsign = unary(
    "Softsign", in_float32(lambda xp, x: x / (1 + xp.abs(x))), types="floats",
    backward=lambda g, x, y: raw.SoftsignGrad(g, x), **_LIKE_FEATURES,
)  # fmt: skip

_LEAKY = "alpha: float = 0.20000000298023224; T: floats = float"
LeakyRelu = op(f"LeakyRelu(features:T) -> (activations:T) | {_LEAKY}", shape=same, facts="elementwise")
LeakyReluGrad = op(
    f"LeakyReluGrad(gradients:T, features:T) -> (backprops:T) | {_LEAKY}", shape=merged, facts="elementwise"
)


@LeakyRelu.kernel
def _(xp, features, *, alpha):
    scale = features.dtype.type(np.float32(alpha))
    if alpha <= 1:
        return xp.maximum(features, scale * features)
    return xp.where(features > 0, features, scale * features)


@LeakyReluGrad.kernel
def _(xp, gradients, features, *, alpha):
    one_shape(gradients, features)
    return xp.where(features > 0, gradients, gradients.dtype.type(np.float32(alpha)) * gradients)


@LeakyRelu.gradient
def _(call, grad):
    return raw.LeakyReluGrad(dense(grad), call.inputs[0], alpha=call.attrs["alpha"])


@LeakyReluGrad.gradient
def _(call, grad):
    x = call.inputs[1]
    return raw.LeakyReluGrad(dense(grad), x, alpha=call.attrs["alpha"]), raw.ZerosLike(x)


# --- public functions -------------------------------------------------------------------------------------------------

relu = quick_unary(
    Relu,
    "relu",
    "Return `features`, and 0 where they are negative.\n\n>>> relu([-1.0, 2.0]).numpy().tolist()\n[0.0, 2.0]",
    "features",
)
relu6 = quick_unary(
    Relu6,
    "relu6",
    "Return `features` cut to the range from 0 to 6.\n\n>>> relu6([-1.0, 2.0, 9.0]).numpy().tolist()\n[0.0, 2.0, 6.0]",
    "features",
)
elu = quick_unary(
    Elu,
    "elu",
    "Return `features`, and their exp minus 1 where they are negative."
    "\n\n>>> [f'{v:.4f}' for v in elu([-1.0, 2.0])]\n['-0.6321', '2.0000']",
    "features",
)
selu = quick_unary(Selu, "selu", "Return the scaled `elu` that keeps mean 0 and variance 1.", "features")
softplus = quick_unary(
    Softplus,
    "softplus",
    "Return log(1 + exp(`features`)).\n\n>>> [f'{v:.4f}' for v in softplus([0.0, 9.0])]\n['0.6931', '9.0001']",
    "features",
)
softsign = quick_unary(Softsign, "softsign", "Return `features` over 1 + |features|.", "features")


def leaky_relu(features: TensorLike, alpha: TensorLike = 0.2, name: str | None = None) -> Tensor:
    """Return `features`, scaled by `alpha` where they are negative.

    >>> leaky_relu([-1.0, 2.0]).numpy().tolist()
    [-0.20000000298023224, 2.0]
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = operand(features, name="features")
        if features.dtype.is_integer:
            features = raw.Cast(features, DstT="float32")
        if isinstance(alpha, np.ndarray):
            alpha = alpha.item()
        return LeakyRelu(features, alpha=alpha, name=scope or None)


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the logarithm of `sigmoid(x)`, exact for large negative `x` too.

    >>> log_sigmoid(-1000.0).numpy()
    np.float32(-1000.0)
    """
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = operand(x, name="x")
        return raw.Neg(softplus(-x), name=scope or None)


def crelu(features: TensorLike, axis: Axis = -1, name: str | None = None) -> Tensor:
    """Return the positive parts of `features` and of `-features`, side by side along `axis`.

    >>> crelu([1.0, -2.0]).numpy().tolist()
    [1.0, 0.0, 0.0, 2.0]
    """
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert(features, name="features")
        both = raw.ConcatV2([features, -features], axis, name=scope or None)
        return relu(both)


def crelu_v1(features: TensorLike, name: str | None = None, axis: Axis = -1) -> Tensor:
    """`crelu` with TensorFlow 1's order of arguments."""
    return crelu(features, axis=axis, name=name)


def silu(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """Return `features * sigmoid(beta * features)`, also known as swish.

    >>> float(silu(0.0))
    0.0
    """
    features = operand(features, name="features")
    beta = convert(beta, features.dtype.base_dtype, name="beta")
    value = features * sigmoid(beta * features)
    return _kept_together(value, features, beta)


def swish_tf1(features: TensorLike) -> Tensor:
    """`silu` as TensorFlow 1 has it, without `beta`."""
    features = operand(features, name="features")
    return _kept_together(features * sigmoid(features), features)


def _kept_together(value: Any, *inputs: Any) -> Any:
    """Return `value`; in a graph behind the nodes that TensorFlow puts around a function with a gradient of its own."""
    if not context.graph_scopes or context.current_graph() is None or not isinstance(value, Tensor):
        return value
    raw.Identity(value)
    return raw.IdentityN([value, *inputs])[0]


swish = silu


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """Return `features` times the probability that a normal number lies below them.

    >>> print(gelu([-1.0, 0.0, 1.0]).numpy().round(4))
    [-0.1587  0.      0.8413]
    """
    with name_scope(name, "Gelu", [features]):
        features = operand(features, name="features")
        if not features.dtype.is_floating:
            raise ValueError(f"`features.dtype` must be a floating point tensor. Received: {features.dtype!r}")
        if approximate:
            bend = convert(0.044715, features.dtype.base_dtype, name="Cast/x")
            half = 0.5 * features
            return half * (1.0 + tanh(_ROOT_TWO_OVER_PI * (features + bend * pow(features, 3))))
        half, flipped = 0.5 * features, -features
        return half * erfc(flipped * convert(math.sqrt(0.5), features.dtype.base_dtype, name="Cast/x"))
