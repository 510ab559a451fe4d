"""An LSTM layer over a whole sequence as one op: `BlockLSTM`, and `BlockLSTMV2` with its gates in another order.

The gradient is an op as well. TensorFlow stops there; here it goes on through the same computation written in plain
ops as a loop over time. Loops live in a higher room: `provide_loop` is where it hands over how that is done.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.ops.declare import raw
from ebbflow.ops.nn.lstm_arrays import (
    Layer,
    backwards,
    forwards,
    step,
    step_back,
    steps,
    steps_back,
    steps_taken,
    weight_gradients,
)
from ebbflow.ops.nn.rnn_ops import check_length, check_lstm, peepholes_of, takes_none
from ebbflow.ops.shape_rules import ranked

_IN = "seq_len_max:int64, x:T, cs_prev:T, h_prev:T, w:T, wci:T, wcf:T, wco:T, b:T"
_KEPT = "i:T, cs:T, f:T, o:T, ci:T, co:T, h:T"
_GRADS = "x_grad:T, cs_prev_grad:T, h_prev_grad:T, w_grad:T, wci_grad:T, wcf_grad:T, wco_grad:T, b_grad:T"
_TYPES = "T: type in [half,float]"

BlockLSTM = op(
    f"BlockLSTM({_IN}) -> ({_KEPT}) | forget_bias: float = 1.0; cell_clip: float = 3.0; use_peephole: bool = false; "
    f"{_TYPES}",
    checks_first=True,
)
BlockLSTMV2 = op(
    f"BlockLSTMV2({_IN}) -> ({_KEPT}) | cell_clip: float = 0.0; use_peephole: bool = false; {_TYPES}",
    checks_first=True,
)
BlockLSTMGrad = op(f"BlockLSTMGrad({_IN}, {_KEPT}, cs_grad:T, h_grad:T) -> ({_GRADS}) | use_peephole: bool; {_TYPES}")
BlockLSTMGradV2 = op(
    f"BlockLSTMGradV2({_IN}, {_KEPT}, cs_grad:T, h_grad:T) -> ({_GRADS}) | use_peephole: bool; {_TYPES}"
)

ORDERS = {"BlockLSTM": "icfo", "BlockLSTMV2": "ifco", "BlockLSTMGrad": "icfo", "BlockLSTMGradV2": "ifco"}
"""In which order the gates stand in the weights of each op."""


def _shape(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, use_peephole):
    length, batch, depth = ranked(x, 3)
    units = ranked(cs_prev, 2)[1]
    check_length("seq_len_max.rank", seq_len_max.rank, 0, "0")
    check_lstm(batch, depth, cs_prev, h_prev, w, b, peepholes_of(use_peephole, units, wci, wcf, wco))
    if units is None and b.dims is not None and b.dims[0] is not None:
        units = b.dims[0] // 4
    return [(length, batch, units)] * 7


def _grad_shape(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, *kept):
    return [t.dims for t in (x, cs_prev, h_prev, w, wci, wcf, wco, b)]


# --- on arrays --------------------------------------------------------------------------------------------------------


def _run(count: Any, x: Any, cs_prev: Any, h_prev: Any, layer: Layer) -> Any:
    count = steps_taken(count, x.shape[0])
    if layer.peepholes is not None:
        return steps(np, x, cs_prev, h_prev, layer, count)
    wide = [a.astype(np.float32, copy=False) for a in (x, cs_prev, h_prev, layer.w, layer.b)]
    found = forwards(*wide[:3], layer._replace(w=wide[3], b=wide[4]), count)  # type: ignore[call-arg]
    return [a.astype(x.dtype, copy=False) for a in found]


def _scanned(jnp: Any, count: Any, x: Any, cs_prev: Any, h_prev: Any, layer: Layer) -> Any:
    """Run in XLA: a loop of its own; what is behind the count is zero."""
    from jax import lax  # heavy: only where XLA is used

    def body(state: Any, given: Any) -> Any:
        found = step(jnp, given, *state, layer)  # type: ignore[call-arg]
        return (found[1], found[6]), found

    _, found = lax.scan(body, (cs_prev, h_prev), x)
    inside = (jnp.arange(x.shape[0]) < count)[:, None, None]
    return tuple(jnp.where(inside, each, 0).astype(x.dtype) for each in found)


def _kernel(run: Callable[..., Any], gate_order: str) -> Callable[..., Any]:
    def kernel(xp, count, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, forget_bias, cell_clip, use_peephole):
        peepholes = (wci, wcf, wco) if use_peephole else None
        return run(xp, count, x, cs_prev, h_prev, Layer(w, b, peepholes, forget_bias, cell_clip, gate_order))

    def second(xp, count, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, cell_clip, use_peephole):
        peepholes = (wci, wcf, wco) if use_peephole else None
        return run(xp, count, x, cs_prev, h_prev, Layer(w, b, peepholes, 0.0, cell_clip, gate_order))

    return kernel if gate_order == "icfo" else second


def _grad_kernel(run: Callable[..., Any], gate_order: str) -> Callable[..., Any]:
    def kernel(xp, count, x, cs_prev, h_prev, w, wci, wcf, wco, b, *rest, use_peephole):
        *kept, cs_grad, h_grad = rest
        layer = Layer(w, b, (wci, wcf, wco) if use_peephole else None, 0.0, 0.0, gate_order)
        *found, i, f, o, db = run(xp, count, x, (cs_prev, h_prev), tuple(kept), cs_grad, h_grad, layer)
        if not use_peephole:
            i, f, o = (xp.zeros_like(p) for p in (wci, wcf, wco))
        return *found, i, f, o, db

    return kernel


def _run_back(count: Any, x: Any, first: Any, kept: Any, cs_grad: Any, h_grad: Any, layer: Layer) -> Any:
    count = steps_taken(count, x.shape[0])
    if layer.peepholes is not None or x.dtype != np.float32:
        return steps_back(np, x, first, kept, cs_grad, h_grad, layer, count)
    return backwards(x, first, kept, cs_grad, h_grad, layer, count)


def _scanned_back(
    jnp: Any, count: Any, x: Any, first: Any, kept: Any, cs_grad: Any, h_grad: Any, layer: Layer
) -> tuple[Any, ...]:
    """Run backwards in XLA."""
    from jax import lax  # heavy: only where XLA is used

    *gates, h = kept
    before = jnp.concatenate([first[0][None], gates[1]])[:-1]
    recurrent = layer.w[x.shape[2] :].T

    def body(carry: Any, given: Any) -> Any:
        (dcs, dh, peeps), (inside, memory, at, cs_g, h_g) = carry, given
        dcs, dz, more = step_back(jnp, memory, at, cs_g + dcs, h_g + dh, layer)
        dcs, dz = (jnp.where(inside, v, 0).astype(x.dtype) for v in (dcs, dz))
        if more is not None:
            peeps = tuple(p + jnp.where(inside, v, 0).astype(x.dtype) for p, v in zip(peeps, more, strict=True))
        return (dcs, dz @ recurrent, peeps), dz

    none = jnp.zeros(layer.w.shape[1] // 4, x.dtype)
    given = (jnp.arange(x.shape[0]) < count, before, tuple(gates), cs_grad, h_grad)
    start = (jnp.zeros_like(first[0]), jnp.zeros_like(first[1]), (none, none, none))
    (dcs, dh, peeps), dz = lax.scan(body, start, given, reverse=True)
    dx, dw, db = weight_gradients(jnp, x, first[1], h, dz, layer)
    return dx, dcs, dh, dw, *peeps, db


# --- gradients --------------------------------------------------------------------------------------------------------

_loops: list[Callable[..., Any]] = []


def provide_loop(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Take the gradient rule `rule(call, *grads)` that writes one of these ops as a loop of plain ops."""
    _loops[:] = [rule]
    return rule


@takes_none
def _by_loop(call: Any, *grads: Any) -> Any:
    if not _loops:
        importlib.import_module("ebbflow.functions.control_flow.lstm_loop")  # a higher room, which fills the hook
    return _loops[0](call, *grads)


@takes_none
def _gradient(call: Any, gi: Any, gcs: Any, gf: Any, go: Any, gci: Any, gco: Any, gh: Any) -> Any:
    if any(g is not None for g in (gi, gf, go, gci, gco)):
        return _by_loop(call, gi, gcs, gf, go, gci, gco, gh)
    gcs = raw.ZerosLike(call.cs) if gcs is None else gcs
    gh = raw.ZerosLike(call.h) if gh is None else gh
    backward = raw.BlockLSTMGrad if call.op is BlockLSTM else raw.BlockLSTMGradV2
    return [None, *backward(*call.inputs, *call.outputs, gcs, gh, use_peephole=call.use_peephole)]


for _op in (BlockLSTM, BlockLSTMV2):
    _op.shape(_shape)
    _op.kernel(_kernel(lambda xp, *arrays: _run(*arrays), ORDERS[_op.name]))
    _op.xla(_kernel(_scanned, ORDERS[_op.name]))
    _op.gradient(_gradient)
for _op in (BlockLSTMGrad, BlockLSTMGradV2):
    _op.shape(_grad_shape)
    _op.kernel(_grad_kernel(lambda xp, *arrays: _run_back(*arrays), ORDERS[_op.name]))
    _op.xla(_grad_kernel(_scanned_back, ORDERS[_op.name]))
    _op.gradient(_by_loop)
