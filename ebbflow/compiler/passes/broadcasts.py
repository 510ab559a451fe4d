"""One number that stands for many stays one number as long as it can.

The gradient of a mean is a number repeated over a whole array, which is then multiplied with others. NumPy broadcasts
by itself: the repetition is moved behind element-wise functions, and where it meets an array of full shape it is gone.
"""

from __future__ import annotations

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Rewrite, Value
from ebbflow.core import dtypes


def sink_broadcasts(flow: Flow) -> Flow:
    """Return the flow with repetitions of single numbers as late as possible."""
    return Rewrite(flow).run(_visit)


def _visit(node: Node, rewrite: Rewrite) -> list[Value] | None:
    name, facts, count = node.op.name, node.op.facts, len(node.inputs)
    if not facts.elementwise or count > 2 or (count == 2 and not facts.broadcasts):
        return None
    out = node.outputs[0]
    numbers = [_repeated(v) for v in node.inputs]
    if not out.is_static or all(n is None for n in numbers):
        return None
    if count == 1:
        one = rewrite.call(name, [_scalar(numbers[0], node, rewrite)], node.attrs, node.origin)  # type: ignore[arg-type]
        return [_repeat(one, out, node, rewrite)]
    if all(n is not None or v.dims == () for n, v in zip(numbers, node.inputs, strict=True)):
        parts = [v if n is None else _scalar(n, node, rewrite) for n, v in zip(numbers, node.inputs, strict=True)]
        return [_repeat(rewrite.call(name, parts, node.attrs, node.origin), out, node, rewrite)]
    for i, number in enumerate(numbers):
        if number is not None and node.inputs[1 - i].dims == out.dims:
            parts = list(node.inputs)
            parts[i] = _scalar(number, node, rewrite)
            return [rewrite.call(name, parts, node.attrs, node.origin)]
    return None


def _repeated(value: Value) -> Value | None:
    """Return the single number that a value repeats, if that is what it is."""
    node = value.node
    if node is None or not node.op.facts.repeats or not value.is_static or value.size < 2:
        return None
    names = [arg.name for arg in node.op.signature.inputs]
    number = node.inputs[names.index(node.op.facts.repeats)]
    others_known = all(v is number or v.known is not None for v in node.inputs)
    return number if number.is_static and number.size == 1 and others_known else None


def _scalar(value: Value, node: Node, rewrite: Rewrite) -> Value:
    if value.dims == ():
        return value
    shape = rewrite.constant(np.zeros(0, np.int32), Value(None, 0, dtypes.int32, (0,)), node.origin)
    return rewrite.call("Reshape", [value, shape], {"T": value.dtype, "Tshape": dtypes.int32}, node.origin)


def _repeat(value: Value, out: Value, node: Node, rewrite: Rewrite) -> Value:
    dims = np.array(out.dims, np.int32)
    shape = rewrite.constant(dims, Value(None, 0, dtypes.int32, dims.shape), node.origin)
    return rewrite.call("BroadcastTo", [value, shape], {"T": value.dtype, "Tidx": dtypes.int32}, node.origin)
