"""Looking for numbers that are none: NaN and infinity stop here, with the user's own message."""

from __future__ import annotations

import numpy as np

from ebbflow.core import context, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import dense, raw, same

_CHECK = "(tensor:T) -> (output:T) | T: floats; message: string | stateful"
CheckNumerics = op("CheckNumerics" + _CHECK, shape=same, facts="complains unchecked")
CheckNumericsV2 = op("CheckNumericsV2" + _CHECK, shape=same, facts="complains unchecked")


@CheckNumerics.kernel
def _(xp, tensor, *, message):
    if not np.isfinite(tensor).all():
        words = [w for w, found in (("Inf", np.isinf(tensor)), ("NaN", np.isnan(tensor))) if found.any()]
        raise errors.InvalidArgumentError(None, None, f"{message} : Tensor had {' and '.join(words)} values")
    return tensor


@CheckNumericsV2.kernel
def _(xp, tensor, *, message):
    if not np.isfinite(tensor).all():
        found = (("-Inf", tensor == -np.inf), ("+Inf", tensor == np.inf), ("NaN", np.isnan(tensor)))
        words = [w for w, where in found if where.any()]
        raise errors.InvalidArgumentError(None, None, f"{message} : Tensor had {', and '.join(words)} values")
    return tensor


@CheckNumericsV2.gradient
@CheckNumerics.gradient
def _(call, grad):
    return call.op(
        dense(grad),
        message=f"Not a number (NaN) or infinity (Inf) values detected in gradient. {call.attrs['message']}",
    )


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Return `tensor` if all its numbers are finite, else raise with `message`.

    >>> check_numerics([1.0, 2.0], "in the example").numpy().tolist()
    [1.0, 2.0]
    """
    return CheckNumerics(tensor, message=message, name=name or "CheckNumerics")


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Return `x` if all its numbers are finite, else raise with `message`.

    >>> assert_all_finite([1.0], "in the example").numpy().tolist()
    [1.0]
    """
    with name_scope(name, "VerifyFinite", [x]):
        x = convert(x, name="x")
        checked = CheckNumerics(x, message=message)
        graph = context.current_graph() if context.graph_scopes else None
        if graph is None:
            return x
        with graph.control_dependencies([checked]):
            return raw.Identity(x, name="control_dependency")


def verify_tensor_all_finite(
    t: TensorLike | None = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike | None = None,
    message: str | None = None,
) -> Tensor:
    """`assert_all_finite` under its name and arguments of TensorFlow 1."""
    tensor, text = (t if x is None else x), (msg if message is None else message)
    if tensor is None or text is None:
        raise ValueError("verify_tensor_all_finite needs a tensor (`x`) and a message (`message`)")
    return assert_all_finite(tensor, text, name=name)
