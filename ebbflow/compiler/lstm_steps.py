"""LSTM sequences of small layers, a step at a time in machine code.

`BlockLSTM` and its gradient are one op for all steps. On small layers calls of NumPy cost more than their work, so a
Program has one step made a region of machine code (`native_region`) and calls it for each: the same code for sequences
of any length, and no thread to wake for it. Importing this file has the ops prepared so; layers with peepholes, other
dtypes and large products go the ops' own way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ebbflow.compiler.flow import Node
from ebbflow.compiler.flow_parser import parse
from ebbflow.compiler.native_region import Native
from ebbflow.core import dtypes
from ebbflow.core.op import Op
from ebbflow.core.registry import registry
from ebbflow.engines import enabled
from ebbflow.engines.native import library
from ebbflow.ops.nn.lstm_arrays import steps_taken

MOST = 1 << 20
"""Multiplications of a step, at most: more is for the engine that has threads for it."""

STEP = """
    x: float32[{batch}, {depth}]
    h: float32[{batch}, {units}]
    memory: float32[{batch}, {units}]
    w: float32[{both}, {width}]
    b: float32[{width}]
    axis: int32[()] = 1
    bias: float32[()] = {forget_bias}
    both = ConcatV2([x, h], axis)
    sums = MatMul(both, w)
    z = BiasAdd(sums, b)
    {gates} = Split(axis, z, num_split=4)
    i = Sigmoid(zi)
    ci = Tanh(zc)
    zg = AddV2(zf, bias)
    f = Sigmoid(zg)
    o = Sigmoid(zo)
    more = Mul(ci, i)
    less = Mul(f, memory)
    sum = AddV2(more, less)
    {clipped}
    co = Tanh(cs)
    y = Mul(o, co)
    return i, cs, f, o, ci, co, y
"""

CLIPPED = """most: float32[()] = {clip}
    least: float32[()] = {least}
    below = Minimum(sum, most)
    cs = Maximum(below, least)"""

STEP_BACK = """
    i: float32[{batch}, {units}]
    f: float32[{batch}, {units}]
    o: float32[{batch}, {units}]
    ci: float32[{batch}, {units}]
    co: float32[{batch}, {units}]
    memory: float32[{batch}, {units}]
    cs_grad: float32[{batch}, {units}]
    h_grad: float32[{batch}, {units}]
    carry: float32[{batch}, {units}]
    later: float32[{batch}, {units}]
    x: float32[{batch}, {depth}]
    h: float32[{batch}, {units}]
    w: float32[{both}, {width}]
    w_grad: float32[{both}, {width}]
    b_grad: float32[{width}]
    axis: int32[()] = 1
    rows: int32[1] = [0]
    sizes: int64[2] = [{depth}, {units}]
    dh = AddV2(h_grad, later)
    dh_o = Mul(dh, o)
    o_slope = SigmoidGrad(o, dh)
    do = Mul(o_slope, co)
    through = TanhGrad(co, dh_o)
    dcs0 = AddV2(through, cs_grad)
    dcs = AddV2(dcs0, carry)
    dcs_i = Mul(dcs, i)
    dcs_m = Mul(dcs, memory)
    dcs_c = Mul(dcs, ci)
    dc = TanhGrad(ci, dcs_i)
    df = SigmoidGrad(f, dcs_m)
    di = SigmoidGrad(i, dcs_c)
    before = Mul(dcs, f)
    dz = ConcatV2([{gates}], axis)
    taken = MatMul(dz, w, transpose_b=True)
    dx, earlier = SplitV(taken, sizes, axis, num_split=2)
    both = ConcatV2([x, h], axis)
    dw = MatMul(both, dz, transpose_a=True)
    w_sum = AddV2(w_grad, dw)
    db = Sum(dz, rows)
    b_sum = AddV2(b_grad, db)
    return dx, before, earlier, w_sum, b_sum
"""


def prepare(order: str, knowns: Sequence[Any], attrs: dict[str, Any], outputs: Sequence[Any]) -> Any:
    """Return a function for a Program that computes a sequence, or None where this would not pay."""
    sizes = _sizes(knowns, attrs)
    if sizes is None:
        return None
    clip = attrs["cell_clip"]
    clipped = CLIPPED.format(clip=float(clip), least=-float(clip)) if clip > 0 else "cs = Identity(sum)"
    gates = ", ".join(f"z{gate}" for gate in order)
    step = _code(STEP.format(**sizes, gates=gates, clipped=clipped, forget_bias=float(attrs.get("forget_bias", 0.0))))

    def run(count: Any, x: Any, cs: Any, h: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any, *results: Any) -> None:
        taken = steps_taken(count, len(x))
        x, cs, h, w = map(np.ascontiguousarray, (x, cs, h, w))
        for t in range(taken):
            step(x[t], h, cs, w, b, *[each[t] for each in results])
            cs, h = results[1][t], results[6][t]
        for each in results:
            each[taken:] = 0

    return run


def prepare_back(order: str, knowns: Sequence[Any], attrs: dict[str, Any], outputs: Sequence[Any]) -> Any:
    """Return a function for a Program that computes the gradients of a sequence, or None where this would not pay."""
    sizes = _sizes(knowns, attrs)
    if sizes is None:
        return None
    step = _code(STEP_BACK.format(**sizes, gates=", ".join(f"d{gate}" for gate in order)))
    carried = [(sizes["batch"], sizes["units"])] * 2 + [(sizes["both"], sizes["width"]), (sizes["width"],)]

    def run(count: Any, x: Any, cs_first: Any, h_first: Any, w: Any, *more: Any) -> None:
        i, cs, f, o, ci, co, h, cs_grad, h_grad = map(np.ascontiguousarray, more[4:13])
        x, cs_first, h_first, w = map(np.ascontiguousarray, (x, cs_first, h_first, w))
        taken, (dx, *results) = steps_taken(count, len(x)), more[13:]
        rooms = [[np.zeros(dims, np.float32) for dims in carried] for _ in range(2)]
        for t in reversed(range(taken)):
            memory, before = (cs[t - 1], h[t - 1]) if t else (cs_first, h_first)
            (carry, later, dw, db), after = rooms[t % 2], rooms[t % 2 - 1]
            kept = (i[t], f[t], o[t], ci[t], co[t], memory, cs_grad[t], h_grad[t])
            step(*kept, carry, later, x[t], before, w, dw, db, dx[t], *after)
        dx[taken:] = 0
        carry, later, dw, db = rooms[-1]
        for target, value in zip(results, (carry, later, dw, 0, 0, 0, db), strict=True):
            target[...] = value

    return run


def of_any_length(prepare: Callable[..., Any]) -> Callable[..., Any]:
    """Return a preparer for sequences of any length, whose results have memory of their own."""

    def prepared(order: str, knowns: Sequence[Any], attrs: dict[str, Any], outputs: Sequence[Any]) -> Any:
        run = None if None in outputs else prepare(order, knowns, attrs, outputs)
        if run is None:
            return None

        def made(count: Any, x: Any, *more: Any) -> list[Any]:
            results = [np.empty([len(x) if n is None else n for n in dims], np.float32) for dims in outputs]
            run(count, x, *more, *results)
            return results

        return made

    return prepared


def _sizes(knowns: Sequence[Any], attrs: dict[str, Any]) -> dict[str, int] | None:
    """Return the sizes of a step, where there is code for it: whatever the number of steps."""
    x, state = knowns[1].dims, knowns[2].dims
    if (
        attrs["use_peephole"]
        or knowns[1].dtype is not dtypes.float32
        or None in (x, state)
        or not all((*x[1:], *state))
    ):
        return None
    (batch, units), depth = state, x[2]
    if batch * (depth + units) * units * 4 > MOST or not enabled.allowed("native") or not library.available():
        return None
    return {"batch": batch, "units": units, "depth": depth, "both": depth + units, "width": 4 * units}


def _code(text: str) -> Callable[..., Any]:
    flow = parse(text)
    return Native(flow, [None] * len(flow.inputs), _bound)


def _bound(node: Node) -> Callable[..., Any]:
    call, signature = node.op.bound(node.attrs), node.op.signature
    return (lambda *values: signature.flat_results(call(*values))) if signature.gives_lists_among else call


def _attach(fn: Callable[..., Any], order: str, op: Op) -> None:
    op.prepare(partial(fn, order))
    op.open_preparers.append(partial(of_any_length(fn), order))


registry.when_declared("BlockLSTM", partial(_attach, prepare, "icfo"))
registry.when_declared("BlockLSTMV2", partial(_attach, prepare, "ifco"))
registry.when_declared("BlockLSTMGrad", partial(_attach, prepare_back, "icfo"))
registry.when_declared("BlockLSTMGradV2", partial(_attach, prepare_back, "ifco"))
