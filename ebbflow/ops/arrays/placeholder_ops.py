"""Placeholders: the ops whose values come from outside, when a graph runs.

Their public functions need a graph and are in `graph/placeholders`.
"""

from __future__ import annotations

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.shape import is_compatible
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.sizes import invalid

Placeholder = op("Placeholder() -> (output:dtype) | dtype: type; shape: shape = ?", gradient=FLAT)
PlaceholderV2 = op("PlaceholderV2() -> (output:dtype) | dtype: type; shape: shape | deprecated@23", gradient=FLAT)


@PlaceholderV2.shape
@Placeholder.shape
def _(*, shape):
    return shape


@PlaceholderV2.kernel
@Placeholder.kernel
def _(xp, *, dtype, shape, run):
    name = "Placeholder" if run is None or run.node is None else run.node.name
    known = f" and shape {show(shape)}" if shape else ""
    raise invalid(f"You must feed a value for placeholder tensor '{name}' with dtype {dtype.name}{known}")


PlaceholderWithDefault = op(
    "PlaceholderWithDefault(input:dtype) -> (output:dtype) | dtype: type; shape: shape",
    kernel=lambda xp, input: input,
    gradient=lambda call, grad: grad,
    facts="same",
)


@PlaceholderWithDefault.shape
def _(input, *, shape):
    if not is_compatible(input.dims, shape):
        raise errors.StaticShapeError(f"Shapes must be compatible: input {show(input.dims)}, shape {show(shape)}")
    return shape
