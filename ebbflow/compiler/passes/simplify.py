"""Write the same with less: identities, pairs that cancel, dear ops by cheap ones.

Only what is exact: the answers stay the same to the last bit, infinities, NaNs and the sign of zero included.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Rewrite, Value, is_variable
from ebbflow.compiler.passes.contractions import as_product
from ebbflow.core import dtypes
from ebbflow.core.rule_names import named
from ebbflow.core.shape import is_static
from ebbflow.ops.state.variable_ops import handle_facts

LARGEST_READ = 1 << 16
"""Variables of more bytes are not read as a whole where some of their rows are wanted."""

Rule = Callable[[Node, Rewrite], Value | None]

_RULES: dict[str, list[Rule]] = {}


def simplify(flow: Flow) -> Flow:
    """Return the flow with every node that a rule knows better written the better way."""
    return Rewrite(flow).run(_visit)


def _visit(node: Node, rewrite: Rewrite) -> list[Value] | None:
    for rule in _RULES.get(node.op.name, ()):
        found = rule(node, rewrite)
        if found is not None and found.dtype is node.outputs[0].dtype:
            return [found]
    return None


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Declare a rule for nodes of the ops named: it returns the value to use instead, or None."""

    def declare(fn: Rule) -> Rule:
        for name in names:
            _RULES.setdefault(name, []).append(fn)
        return named(fn, f"{names[0]}.simplify")

    return declare


def _is(value: Value, number: float) -> bool:
    """Return whether a value is known to be this number throughout (-0.0 is not 0.0)."""
    known = value.known
    if known is None or known.dtype.kind not in "fiu" or not known.size or known.size > 4096:
        return False
    return bool((known == number).all()) and (number != 0 or not np.signbit(known).any())


def _whole(value: Value) -> bool:
    return value.dtype.np.kind in "iu"


def _kept(value: Value, node: Node) -> Value | None:
    """Return `value` if it has the shape of what the node gives."""
    return value if value.is_static and value.dims == node.outputs[0].dims else None


def _decided(node: Node) -> bool:
    """Return whether the shape asked for is known, so that nothing is left to be refused when it runs."""
    return all(v.known is not None for v in node.inputs[1:])


def _made_by(value: Value, *names: str) -> Node | None:
    return value.node if value.node is not None and value.node.op.name in names else None


# --- nothing happens --------------------------------------------------------------------------------------------------


@rule("Identity", "StopGradient", "PreventGradient", "Snapshot")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    return None if node.inputs[0].dtype._is_ref_dtype else node.inputs[0]


@rule("EnsureShape", "Reshape", "Squeeze", "ExpandDims", "BroadcastTo")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    return _kept(node.inputs[0], node) if _decided(node) else None


@rule("Cast")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    return node.inputs[0] if node.inputs[0].dtype is node.outputs[0].dtype else None


@rule("Mul")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    x, y = node.inputs
    return _kept(x, node) if _is(y, 1) else _kept(y, node) if _is(x, 1) else None


@rule("RealDiv", "Div")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    return _kept(node.inputs[0], node) if _is(node.inputs[1], 1) else None


@rule("Add", "AddV2")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    x, y = node.inputs
    if not _whole(x):
        return None
    return _kept(x, node) if _is(y, 0) else _kept(y, node) if _is(x, 0) else None


@rule("Sub")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    return _kept(node.inputs[0], node) if _is(node.inputs[1], 0) else None


@rule("Pow")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    x, y = node.inputs
    if _is(y, 1):
        return _kept(x, node)
    if x.dtype not in (dtypes.float32, dtypes.float64) or y.size != 1 or _kept(x, node) is None:
        return None  # of many exponents, and of halves, NumPy computes each power by itself
    attrs = {"T": x.dtype}
    for power, name in _POWERS.items():
        if _is(y, power):
            return rewrite.call(name, [x], attrs, node.origin)
    if _is(y, 3):  # within a unit in the last place, as TensorFlow does it
        return rewrite.call("Mul", [x, rewrite.call("Square", [x], attrs, node.origin)], attrs, node.origin)
    return None


_POWERS = {2: "Square", 0.5: "Sqrt", -1: "Reciprocal"}
"""As NumPy itself does it. -0.5 is not among them: the inverse square root of -0.0 is -inf, of -inf NaN."""


@rule("Sum", "Mean", "Max", "Min", "Prod")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    """Folding axes of length 1 only takes them away."""
    x, axes = node.inputs
    if axes.known is None or not x.is_static or x.size != node.outputs[0].size or not node.outputs[0].is_static:
        return None
    return x if x.dims == node.outputs[0].dims else _reshape(x, node.outputs[0], node, rewrite)


@rule("Select", "SelectV2")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    chosen = node.inputs[0].known
    if chosen is None or not chosen.size or chosen.size > 4096:
        return None
    return _kept(node.inputs[1], node) if chosen.all() else _kept(node.inputs[2], node) if not chosen.any() else None


# --- pairs that cancel ------------------------------------------------------------------------------------------------


@rule("Neg", "Conj", "Invert", "LogicalNot")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    inner = _made_by(node.inputs[0], node.op.name)
    return None if inner is None else inner.inputs[0]


@rule("Transpose")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    x, perm = node.inputs
    if perm.known is None:
        return None
    order = [int(p) for p in perm.known]
    if order == list(range(len(order))):
        return x
    inner = _made_by(x, "Transpose")
    if inner is None or inner.inputs[1].known is None:
        return None
    before = inner.inputs[1].known
    both = np.array([before[p] for p in order], perm.known.dtype)
    if both.tolist() == list(range(len(order))):
        return inner.inputs[0]
    return rewrite.call(
        "Transpose", [inner.inputs[0], rewrite.constant(both, perm, node.origin)], node.attrs, node.origin
    )


@rule("Reshape", "Squeeze", "ExpandDims")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    """Of two reshapes in a row the last decides."""
    inner = _made_by(node.inputs[0], "Reshape", "Squeeze", "ExpandDims")
    out = node.outputs[0]
    if inner is None or not out.is_static or not _decided(node) or not _decided(inner):
        return None
    x = inner.inputs[0]
    return x if x.is_static and x.dims == out.dims else _reshape(x, out, node, rewrite)


def _reshape(x: Value, out: Value, node: Node, rewrite: Rewrite) -> Value:
    dims: Any = np.array(out.dims, np.int64)
    shape = Value(None, 0, dtypes.int64, dims.shape)
    made = rewrite.constant(dims, shape, node.origin)
    return rewrite.call("Reshape", [x, made], {"T": x.dtype, "Tshape": made.dtype}, node.origin)


# --- cheaper forms ----------------------------------------------------------------------------------------------------


@rule("Sub")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    """x - (-y) is x + y."""
    x, y = node.inputs
    inner = _made_by(y, "Neg")
    if inner is None:
        return None
    return rewrite.call("AddV2", [x, inner.inputs[0]], {"T": x.dtype}, node.origin)


@rule("Add", "AddV2")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    """x + (-y) is x - y."""
    x, y = node.inputs
    inner = _made_by(y, "Neg")
    if inner is None or x.dtype.name == "string":
        return None
    return rewrite.call("Sub", [x, inner.inputs[0]], {"T": x.dtype}, node.origin)


@rule("RealDiv", "Div")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    """Dividing by a power of two is multiplying by its reciprocal, exactly."""
    x, y = node.inputs
    known = y.known
    if known is None or known.ndim or known.dtype.kind != "f" or x.dtype.np.kind != "f":
        return None
    mantissa, exponent = np.frexp(float(known))
    if abs(mantissa) != 0.5 or not -60 < exponent < 60 or x.dtype.np.itemsize < 4:
        return None
    return rewrite.call("Mul", [x, rewrite.constant(1 / known, y, node.origin)], {"T": x.dtype}, node.origin)


rule("Einsum")(as_product)


@rule("ResourceGather")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    """Rows of a small variable are rows of its value, which machine code can pick out itself.

    A large one must not be held while somebody changes it: that would make a copy of it.
    """
    variable, indices = node.inputs
    dtype, dims = handle_facts(variable)
    if node.attrs["batch_dims"] or not is_variable(variable) or not dims or not is_static(dims):
        return None
    if math.prod(n or 0 for n in dims) * dtype.size > LARGEST_READ:
        return None
    value = rewrite.call("ReadVariableOp", [variable], {"dtype": dtype}, node.origin)
    attrs = {"Tparams": dtype, "Tindices": indices.dtype, "validate_indices": True}
    return rewrite.call("Gather", [value, indices], attrs, node.origin)


@rule("Mul")
def _(node: Node, rewrite: Rewrite) -> Value | None:
    """x * x is the square of x."""
    x, y = node.inputs
    if x is not y or x.dtype.np.kind not in "fiu" or x.dtype.np.itemsize < 4:
        return None
    return rewrite.call("Square", [x], {"T": x.dtype}, node.origin)
