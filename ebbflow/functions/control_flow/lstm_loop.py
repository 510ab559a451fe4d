"""How the gradient of an LSTM over a whole sequence is differentiated: the same computation as a loop of plain ops.

`BlockLSTM` and its gradient are quick because they are one op each. Where more is asked of them than TensorFlow gives,
a gradient of second order or one of the gates, they are written out here as loops over time, and those are
differentiated. Fills the hook of `ops.rnn_sequence`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.eager.tape import GradientTape
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.graph.gradients import gradients
from ebbflow.ops.arrays.creation import constant, zeros_like
from ebbflow.ops.arrays.joining import concat, split
from ebbflow.ops.arrays.shaping import expand_dims, reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.clip import clip_by_value
from ebbflow.ops.elementwise.unary import sigmoid, tanh
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.rnn_sequence import ORDERS, provide_loop
from ebbflow.ops.reduce.reductions import reduce_sum


@provide_loop
def differentiate(call: Any, *grads: Any) -> list[Any]:
    """Return the gradients of the inputs of one of the ops, from those of its outputs (None where there is none)."""
    written = _Written(call)
    found = _gradients(
        written.backwards if call.op.name in ("BlockLSTMGrad", "BlockLSTMGradV2") else written.forwards,
        call.inputs[1:],
        grads,
    )
    return [None, *found]


def _gradients(function: Callable[..., Any], inputs: Sequence[Any], grads: Sequence[Any]) -> Sequence[Any]:
    """Return the gradients of a function of tensors."""
    if context.executing_eagerly():
        with GradientTape() as tape:
            given = [raw.Identity(x) for x in inputs]
            tape.watch(given)
            results = function(*given)
        there = [(y, g) for y, g in zip(results, grads, strict=True) if g is not None]
        return tape.gradient([y for y, _ in there], given, output_gradients=[g for _, g in there])
    given = [raw.Identity(x) for x in inputs]
    there = [(y, g) for y, g in zip(function(*given), grads, strict=True) if g is not None]
    return gradients([y for y, _ in there], given, grad_ys=[g for _, g in there])


class _Written:
    """One of the ops, written out."""

    def __init__(self, call: Any):
        attrs = call.attrs
        self.order = ORDERS[call.op.name]
        self.peep = attrs["use_peephole"]
        self.forget_bias = attrs.get("forget_bias", 0.0)
        self.clip = attrs.get("cell_clip", 0.0)
        self.count = cast(call.seq_len_max, dtypes.int32)

    def forwards(self, x: Any, cs: Any, h: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any) -> list[Any]:
        """Return i, cs, f, o, ci, co, h of all steps."""
        length = shape_of(x)[0]
        steps = _rows(x)

        def body(t: Any, arrays: Any, cs: Any, h: Any) -> Any:
            found = self._step(steps.read(t), cs, h, w, wci, wcf, wco, b)
            inside = t < self.count
            kept = [raw.SelectV2(inside, v, zeros_like(v)) for v in found]
            arrays = tuple(a.write(t, v) for a, v in zip(arrays, kept, strict=True))
            return t + 1, arrays, found[1], found[6]

        arrays = tuple(TensorArray(x.dtype, length, element_shape=cs.shape) for _ in range(7))
        _, arrays, _, _ = while_loop(lambda t, *_: t < length, body, (constant(0, dtypes.int32), arrays, cs, h))
        return [array.stack() for array in arrays]

    def _step(self, x: Any, before: Any, h: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any) -> tuple[Any, ...]:
        z = dict(zip(self.order, split(matmul(concat([x, h], 1), w) + b, 4, axis=1), strict=True))
        if self.peep:
            z["i"], z["f"] = z["i"] + wci * before, z["f"] + wcf * before
        i, ci, f = sigmoid(z["i"]), tanh(z["c"]), sigmoid(z["f"] + self.forget_bias)
        cs = ci * i + f * before
        if self.clip > 0:  # the gradient passes a clip unhindered, as in the op's own
            cs = cs + raw.StopGradient(clip_by_value(cs, -self.clip, self.clip) - cs)
        o = sigmoid(z["o"] + wco * cs if self.peep else z["o"])
        co = tanh(cs)
        return i, cs, f, o, ci, co, co * o

    def backwards(self, *inputs: Any) -> list[Any]:
        """Return the gradients of x, cs_prev, h_prev, w, the three peepholes, and b."""
        x, cs_prev, h_prev, w, wci, wcf, wco, b, *kept = inputs
        depth, h = shape_of(x)[2], kept[6]
        before = concat([expand_dims(cs_prev, 0), kept[1][:-1]], 0)
        arrays = [_rows(v) for v in (before, *kept[:6], *kept[7:])]
        recurrent = w[depth:]

        def body(t: Any, array: Any, dcs: Any, dh: Any, peeps: Any) -> Any:
            dcs, dz, more = self._step_back([a.read(t) for a in arrays], dcs, dh, (wci, wcf, wco))
            inside = t < self.count
            dcs, dz = (raw.SelectV2(inside, v, zeros_like(v)) for v in (dcs, dz))
            more = [p + raw.SelectV2(inside, v, zeros_like(v)) for p, v in zip(peeps, more, strict=True)]
            return t - 1, array.write(t, dz), dcs, matmul(dz, recurrent, transpose_b=True), tuple(more)

        length = shape_of(x)[0]
        array = TensorArray(x.dtype, length, element_shape=[x._dims and x._dims[1], b._dims and b._dims[0]])
        start = (length - 1, array, zeros_like(cs_prev), zeros_like(h_prev), tuple(map(zeros_like, (wci, wcf, wco))))
        _, array, dcs, dh, peeps = while_loop(lambda t, *_: t >= 0, body, start)
        dz = array.stack()
        flat = reshape(dz, [-1, shape_of(w)[1]])
        inputs_before = concat([x, concat([expand_dims(h_prev, 0), h[:-1]], 0)], 2)
        dw = matmul(reshape(inputs_before, [-1, shape_of(w)[0]]), flat, transpose_a=True)
        dx = reshape(matmul(flat, w[:depth], transpose_b=True), shape_of(x))
        return [dx, dcs, dh, dw, *peeps, reduce_sum(flat, 0)]

    def _step_back(self, kept: list[Any], dcs: Any, dh: Any, peepholes: Any) -> tuple[Any, Any, list[Any]]:
        before, i, cs, f, o, ci, co, cs_grad, h_grad = kept
        dh = dh + h_grad
        do = dh * co * o * (1.0 - o)
        dcs = dcs + cs_grad + dh * o * (1.0 - co * co)
        if self.peep:
            dcs = dcs + do * peepholes[2]
        di, df, dci = dcs * ci * i * (1.0 - i), dcs * before * f * (1.0 - f), dcs * i * (1.0 - ci * ci)
        gates = {"i": di, "c": dci, "f": df, "o": do}
        dz = concat([gates[gate] for gate in self.order], 1)
        if not self.peep:
            return dcs * f, dz, [zeros_like(p) for p in peepholes]
        by_peephole = [reduce_sum(d * c, 0) for d, c in ((di, before), (df, before), (do, cs))]
        return dcs * f + di * peepholes[0] + df * peepholes[1], dz, by_peephole


def _rows(x: Any) -> Any:
    return TensorArray(x.dtype, shape_of(x)[0], element_shape=None if x._dims is None else x._dims[1:]).unstack(x)
