"""An LSTM layer over a whole sequence as one op: `BlockLSTM`, and `BlockLSTMV2` with its gates in another order.

The gradient is an op as well. TensorFlow stops there; here it goes on through the same computation written in plain
ops as a loop over time. Loops live in a higher room: `provide_loop` is where it hands over how that is done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.ops.declare import raw
from ebbflow.ops.lstm_arrays import Layer, backwards, forwards, steps, steps_back
from ebbflow.ops.rnn_ops import check_length, check_lstm, peepholes_of, takes_none
from ebbflow.ops.rules import ranked
from ebbflow.ops.sizes import invalid

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
BlockLSTMGrad = op(
    f"BlockLSTMGrad({_IN}, {_KEPT}, cs_grad:T, h_grad:T) -> ({_GRADS}) | use_peephole: bool; {_TYPES}",
)
BlockLSTMGradV2 = op(
    f"BlockLSTMGradV2({_IN}, {_KEPT}, cs_grad:T, h_grad:T) -> ({_GRADS}) | use_peephole: bool; {_TYPES}",
)

ORDERS = {"BlockLSTM": "icfo", "BlockLSTMV2": "ifco", "BlockLSTMGrad": "icfo", "BlockLSTMGradV2": "ifco"}
"""In which order the gates stand in the weights of each op."""


def _shape(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, use_peephole):  # type: ignore[no-untyped-def]
    length, batch, depth = ranked(x, 3)
    units = ranked(cs_prev, 2)[1]
    check_length("seq_len_max.rank", seq_len_max.rank, 0, "0")
    check_lstm(batch, depth, cs_prev, h_prev, w, b, peepholes_of(use_peephole, units, wci, wcf, wco))
    if units is None and b.dims is not None and b.dims[0] is not None:
        units = b.dims[0] // 4
    return [(length, batch, units)] * 7


def _grad_shape(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, *kept):  # type: ignore[no-untyped-def]
    return [t.dims for t in (x, cs_prev, h_prev, w, wci, wcf, wco, b)]


def _count(seq_len_max: Any, length: int) -> int:
    """Return how many steps are taken."""
    count = int(seq_len_max)
    if not 0 <= count <= length:
        raise invalid(f"seq_len_max = {count} is not in [0, {length}], the steps that there are")
    return count


def _run(xp: Any, count: Any, x: Any, cs_prev: Any, h_prev: Any, layer: Layer) -> Any:
    if xp is not np or layer.peepholes is not None:
        return steps(xp, x, cs_prev, h_prev, layer, _count(count, x.shape[0]))
    wide = [a.astype(np.float32, copy=False) for a in (x, cs_prev, h_prev, layer.w, layer.b)]
    found = forwards(*wide[:3], layer._replace(w=wide[3], b=wide[4]), _count(count, x.shape[0]))
    return [a.astype(x.dtype, copy=False) for a in found]


@BlockLSTM.kernel
def _(xp, count, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, forget_bias, cell_clip, use_peephole):
    layer = Layer(w, b, (wci, wcf, wco) if use_peephole else None, forget_bias, cell_clip, "icfo")
    return _run(xp, count, x, cs_prev, h_prev, layer)


@BlockLSTMV2.kernel
def _(xp, count, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, cell_clip, use_peephole):
    layer = Layer(w, b, (wci, wcf, wco) if use_peephole else None, 0.0, cell_clip, "ifco")
    return _run(xp, count, x, cs_prev, h_prev, layer)


def _grad_kernel(order: str) -> Callable[..., Any]:
    def kernel(xp, count, x, cs_prev, h_prev, w, wci, wcf, wco, b, *rest, use_peephole):  # type: ignore[no-untyped-def]
        *kept, cs_grad, h_grad = rest
        layer = Layer(w, b, (wci, wcf, wco) if use_peephole else None, 0.0, 0.0, order)
        count = _count(count, x.shape[0])
        if xp is not np or use_peephole or x.dtype != np.float32:
            *found, peep_i, peep_f, peep_o, db = steps_back(
                xp, x, (cs_prev, h_prev), tuple(kept), cs_grad, h_grad, layer, count
            )
        else:
            *found, peep_i, peep_f, peep_o, db = backwards(
                x, (cs_prev, h_prev), tuple(kept), cs_grad, h_grad, layer, count
            )
        if not use_peephole:
            peep_i, peep_f, peep_o = (xp.zeros_like(p) for p in (wci, wcf, wco))
        return *found, peep_i, peep_f, peep_o, db

    return kernel


# --- gradients --------------------------------------------------------------------------------------------------------

_loops: list[Callable[..., Any]] = []


def provide_loop(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Take the gradient rule `rule(call, *grads)` that writes one of these ops as a loop of plain ops."""
    _loops[:] = [rule]
    return rule


@takes_none
def _by_loop(call: Any, *grads: Any) -> Any:
    if not _loops:
        raise LookupError(
            f"No gradient defined for operation '{call.name}' (op type: {call.op.name}) before "
            "ebbflow.layers.rnn_blocks is imported, which says how a loop is differentiated"
        )
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
    _op.gradient(_gradient)
for _op in (BlockLSTMGrad, BlockLSTMGradV2):
    _op.shape(_grad_shape)
    _op.kernel(_grad_kernel(ORDERS[_op.name]))
    _op.gradient(_by_loop)
