"""Recurrent cells as one op each: a step of an LSTM (`LSTMBlockCell`) or of a gated recurrent unit (`GRUBlockCell`).

Their gradients are ops too, which TensorFlow does not differentiate again; here they are differentiated, by formulas in
terms of plain ops. Where only memory and output of an LSTM are used further, which is nearly always, its gradient is
`LSTMBlockCellGrad`. Whole sequences are the business of `rnn_sequence`.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import errors
from ebbflow.core.op import Known, op
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import raw, sum_over
from ebbflow.ops.nn.lstm_arrays import Layer, sigmoid, step, step_back
from ebbflow.ops.shape_rules import ranked


def takes_none(rule: Any) -> Any:
    """Have a gradient rule called with None, instead of zeros, for outputs that have no gradient."""
    rule.takes_none = True
    return rule


# --- checks of shapes -------------------------------------------------------------------------------------------------


def check_length(name: str, found: int | None, wanted: int | None, words: str) -> None:
    """Raise where an axis has not the length that goes with the others."""
    if found is not None and wanted is not None and found != wanted:
        raise errors.StaticShapeError(f"{name} != {words}: {found} vs. {wanted}")


def plus(a: int | None, b: int | None) -> int | None:
    """Return the sum of two lengths, where both are known."""
    return None if a is None or b is None else a + b


def times(n: int, a: int | None) -> int | None:
    """Return n times a length, where it is known."""
    return None if a is None else n * a


def check_lstm(batch: Any, depth: Any, cs_prev: Known, h_prev: Known, w: Known, b: Known, peepholes: Any) -> Any:
    """Raise where the state and the weights of an LSTM do not go with its inputs; return the number of units."""
    rows, units = ranked(cs_prev, 2)
    check_length("cs_prev.dims(0)", rows, batch, "batch_size")
    rows, columns = ranked(h_prev, 2)
    check_length("h_prev.dims(0)", rows, batch, "batch_size")
    check_length("h_prev.dims(1)", columns, units, "cell_size")
    rows, columns = ranked(w, 2)
    check_length("w.dim_size(0)", rows, plus(depth, units), "input_size + cell_size")
    check_length("w.dim_size(1)", columns, times(4, units), "cell_size * 4")
    check_length("b.dim_size(0)", ranked(b, 1)[0], times(4, units), "cell_size * 4")
    for name, weights in zip(("wci", "wcf", "wco"), peepholes, strict=True):
        check_length(f"{name}.dim_size(0)", ranked(weights, 1)[0], units, "cell_size")
    return units


# --- a step of an LSTM ------------------------------------------------------------------------------------------------

_LSTM = "x:T, cs_prev:T, h_prev:T, w:T, wci:T, wcf:T, wco:T, b:T"
_GATES = "i:T, cs:T, f:T, o:T, ci:T, co:T"

LSTMBlockCell = op(
    f"LSTMBlockCell({_LSTM}) -> ({_GATES}, h:T) | forget_bias: float = 1.0; cell_clip: float = 3.0; "
    "use_peephole: bool = false; T: type in [half,float]",
    checks_first=True,
    facts="portable",
)


def peepholes_of(use: bool, units: int | None, *weights: Any) -> Any:
    """Return what is known of peepholes; of such that are not used, that they fit."""
    return weights if use else [Known((units,), w.dtype) for w in weights]


@LSTMBlockCell.shape
def _(x, cs_prev, h_prev, w, wci, wcf, wco, b, *, use_peephole):
    batch, depth = ranked(x, 2)
    units = ranked(cs_prev, 2)[1]
    check_lstm(batch, depth, cs_prev, h_prev, w, b, peepholes_of(use_peephole, units, wci, wcf, wco))
    return [(batch, units)] * 7


@LSTMBlockCell.kernel
def _(xp, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, forget_bias, cell_clip, use_peephole):
    peepholes = (wci, wcf, wco) if use_peephole else None
    return step(xp, x, cs_prev, h_prev, Layer(w, b, peepholes, forget_bias, cell_clip, "icfo"))


@LSTMBlockCell.gradient
@takes_none
def _(call, gi, gcs, gf, go, gci, gco, gh):
    gcs, gh = _given(gcs, call.cs), _given(gh, call.h)
    if all(g is None for g in (gi, gf, go, gci, gco)):
        before, dz, *peeps = raw.LSTMBlockCellGrad(*call.inputs, *call.outputs[:6], gcs, gh, call.use_peephole)
    else:
        before, dz, *peeps = _step_back(call, gi, gcs, gf, go, gci, gco, gh)
    dx, dh = split_columns(raw.MatMul(dz, call.w, transpose_b=True), call.x, call.h_prev)
    dw = db = None
    if call.wants(3):
        dw = raw.MatMul(raw.ConcatV2([call.x, call.h_prev], 1), dz, transpose_a=True)
    if call.wants(7):
        db = sum_over(dz, (0,))
    return dx, before, dh, dw, *(peeps if call.use_peephole else (None, None, None)), db


def _given(grad: Any, tensor: Any) -> Any:
    return raw.ZerosLike(tensor) if grad is None else grad


def split_columns(matrix: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """Return the columns of a matrix that go with two others, which stood side by side."""
    sizes = [m._dims[1] if m._dims is not None else None for m in (left, right)]
    if None in sizes:
        sizes = raw.ConcatV2([raw.Slice(raw.Shape(m), [1], [1]) for m in (left, right)], 0)
    first, second = raw.SplitV(matrix, sizes, 1, num_split=2)
    return first, second


def total(*terms: Any) -> Any:
    """Return the sum of the terms that are there, or None."""
    there = [t for t in terms if t is not None]
    if not there:
        return None
    result = there[0]
    for term in there[1:]:
        result = result + term
    return result


def product(first: Any, *others: Any) -> Any:
    """Return the product, or None where the first factor is not there."""
    if first is None:
        return None
    for factor in others:
        first = first * factor
    return first


def _step_back(call: Any, gi: Any, gcs: Any, gf: Any, go: Any, gci: Any, gco: Any, gh: Any) -> list[Any]:
    """Return what LSTMBlockCellGrad gives, in plain ops, with gradients for all that the step gave."""
    i, f, o, ci, co, before = call.i, call.f, call.o, call.ci, call.co, call.cs_prev
    do = total(go, gh * co) * o * (1.0 - o)
    dcs = gcs + total(gco, gh * o) * (1.0 - co * co)
    if call.use_peephole:
        dcs = dcs + do * call.wco
    di = total(gi, dcs * ci) * i * (1.0 - i)
    dci = total(gci, dcs * i) * (1.0 - ci * ci)
    df = total(gf, dcs * before) * f * (1.0 - f)
    dz = raw.ConcatV2([di, dci, df, do], 1)
    if not call.use_peephole:
        return [dcs * f, dz, None, None, None]
    peeps = [sum_over(d * c, (0,)) for d, c in ((di, before), (df, before), (do, call.cs))]
    return [dcs * f + di * call.wci + df * call.wcf, dz, *peeps]


LSTMBlockCellGrad = op(
    f"LSTMBlockCellGrad({_LSTM}, {_GATES}, cs_grad:T, h_grad:T) -> (cs_prev_grad:T, dicfo:T, wci_grad:T, wcf_grad:T, "
    "wco_grad:T) | use_peephole: bool; T: type in [half,float]",
    facts="portable",
)


@LSTMBlockCellGrad.shape
def _(x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad):
    batch, units = ranked(cs_prev, 2)
    return [(batch, units), (batch, times(4, units)), wci.dims, wcf.dims, wco.dims]


@LSTMBlockCellGrad.kernel
def _(xp, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad, *, use_peephole):
    layer = Layer(w, b, (wci, wcf, wco) if use_peephole else None, 0.0, 0.0, "icfo")
    before, dz, peeps = step_back(xp, cs_prev, (i, cs, f, o, ci, co), cs_grad, h_grad, layer)
    return before, dz, *(peeps or [xp.zeros_like(p) for p in (wci, wcf, wco)])


@LSTMBlockCellGrad.gradient
@takes_none
def _(call, vp, vd, vwi, vwf, vwo):
    """The gradients of a polynomial: the names are those of the gradient's own formula, `l…` what flows back to it."""
    i, f, o, ci, co, cs, before, gh = call.i, call.f, call.o, call.ci, call.co, call.cs, call.cs_prev, call.h_grad
    peep = call.use_peephole
    if not peep:
        vwi = vwf = vwo = None
    si, sf, so, sc, sm = i * (1.0 - i), f * (1.0 - f), o * (1.0 - o), 1.0 - ci * ci, 1.0 - co * co
    do = so * gh * co
    dcs = sm * gh * o + call.cs_grad
    if peep:
        dcs = dcs + do * call.wco
    vi, vc, vf, vo = raw.Split(1, vd, num_split=4) if vd is not None else (None,) * 4
    ldi = total(vi, product(vp, call.wci) if peep else None, product(vwi, before))
    ldf = total(vf, product(vp, call.wcf) if peep else None, product(vwf, before))
    ldcs = total(product(vp, f), product(ldi, si, ci), product(ldf, sf, before), product(vc, sc, i))
    ldo = total(vo, product(ldcs, call.wco) if peep else None, product(vwo, cs))
    di, df = si * dcs * ci, sf * dcs * before
    by_peephole = [None] * 3
    if peep:
        by_peephole = [_rows_sum(product(v, d)) for v, d in ((vp, di), (vp, df), (ldcs, do))]
    return [
        None,
        total(product(ldf, sf, dcs), product(vwi, di), product(vwf, df)),
        None,
        None,
        *by_peephole,
        None,
        total(product(ldi, 1.0 - 2.0 * i, dcs, ci), product(vc, sc, dcs)),
        product(vwo, do),
        total(product(vp, dcs), product(ldf, 1.0 - 2.0 * f, dcs, before)),
        total(product(ldcs, sm, gh), product(ldo, 1.0 - 2.0 * o, gh, co)),
        total(product(ldi, si, dcs), product(vc, -2.0 * ci, dcs, i)),
        total(product(ldcs, -2.0 * co, gh, o), product(ldo, so, gh)),
        ldcs,
        total(product(ldcs, sm, o), product(ldo, so, co)),
    ]


def _rows_sum(matrix: Any) -> Any:
    return None if matrix is None else sum_over(matrix, (0,))


# --- a step of a gated recurrent unit ---------------------------------------------------------------------------------

_GRU = "x:T, h_prev:T, w_ru:T, w_c:T, b_ru:T, b_c:T"

GRUBlockCell = op(
    f"GRUBlockCell({_GRU}) -> (r:T, u:T, c:T, h:T) | T: type in [float]", checks_first=True, facts="portable"
)


@GRUBlockCell.shape
def _(x, h_prev, w_ru, w_c, b_ru, b_c) -> list[Dims]:
    (batch, depth), (rows, units) = ranked(x, 2), ranked(h_prev, 2)
    check_length("h_prev.dims(0)", rows, batch, "batch_size")
    for name, weights, biases, n in (("ru", w_ru, b_ru, 2), ("c", w_c, b_c, 1)):
        rows, columns = ranked(weights, 2)
        words = "cell_size * 2" if n == 2 else "cell_size"
        check_length(f"w_{name}.dim_size(0)", rows, plus(depth, units), "input_size + cell_size")
        check_length(f"w_{name}.dim_size(1)", columns, times(n, units), words)
        check_length(f"b_{name}.dim_size(0)", ranked(biases, 1)[0], times(n, units), words)
    return [(batch, units)] * 4


@GRUBlockCell.kernel
def _(xp, x, h_prev, w_ru, w_c, b_ru, b_c):
    units = h_prev.shape[1]
    gates = sigmoid(xp, xp.concatenate([x, h_prev], 1) @ w_ru + b_ru)
    r, u = gates[:, :units], gates[:, units:]
    c = xp.tanh(xp.concatenate([x, r * h_prev], 1) @ w_c + b_c)
    return r, u, c, (1 - u) * c + u * h_prev


@GRUBlockCell.gradient
@takes_none
def _(call, gr, gu, gc, gh):
    x, h_prev, r = call.x, call.h_prev, call.r
    if all(g is None for g in (gr, gu, gc)):
        dx, dh, dc, dru = raw.GRUBlockCellGrad(*call.inputs, *call.outputs[:3], gh)
    else:
        dx, dh, dc, dru = _gated_step_back(call, gr, gu, gc, _given(gh, call.h))
    weights: list[Any] = [None] * 4
    if call.wants(2):
        weights[0] = raw.MatMul(raw.ConcatV2([x, h_prev], 1), dru, transpose_a=True)
    if call.wants(3):
        weights[1] = raw.MatMul(raw.ConcatV2([x, h_prev * r], 1), dc, transpose_a=True)
    if call.wants(4):
        weights[2] = sum_over(dru, (0,))
    if call.wants(5):
        weights[3] = sum_over(dc, (0,))
    return [dx, dh, *weights]


def _gated_step_back(call: Any, gr: Any, gu: Any, gc: Any, gh: Any) -> tuple[Any, ...]:
    """Return what GRUBlockCellGrad gives, in plain ops, with gradients for all that the step gave."""
    x, h_prev, r, u, c = call.x, call.h_prev, call.r, call.u, call.c
    dc = total(gc, gh * (1.0 - u)) * (1.0 - c * c)
    du = total(gu, gh * (h_prev - c)) * u * (1.0 - u)
    dx, dhr = split_columns(raw.MatMul(dc, call.w_c, transpose_b=True), x, h_prev)
    dr = total(gr, dhr * h_prev) * r * (1.0 - r)
    dru = raw.ConcatV2([dr, du], 1)
    more_x, dh = split_columns(raw.MatMul(dru, call.w_ru, transpose_b=True), x, h_prev)
    return dx + more_x, dh + dhr * r + gh * u, dc, dru


GRUBlockCellGrad = op(
    f"GRUBlockCellGrad({_GRU}, r:T, u:T, c:T, d_h:T) -> (d_x:T, d_h_prev:T, d_c_bar:T, d_r_bar_u_bar:T) | "
    "T: type in [float]",
    facts="portable",
)


@GRUBlockCellGrad.shape
def _(x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h) -> list[Dims]:
    (batch, depth), (_, units) = ranked(x, 2), ranked(h_prev, 2)
    return [(batch, depth), (batch, units), (batch, units), (batch, times(2, units))]


@GRUBlockCellGrad.kernel
def _(xp, x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h):
    depth = x.shape[1]
    dc = d_h * (1 - u) * (1 - c * c)
    du = d_h * (h_prev - c) * u * (1 - u)
    through_c = dc @ w_c.T
    dhr = through_c[:, depth:]
    dru = xp.concatenate([dhr * h_prev * r * (1 - r), du], 1)
    through_ru = dru @ w_ru.T
    dh = through_ru[:, depth:] + dhr * r + d_h * u
    return through_c[:, :depth] + through_ru[:, :depth], dh, dc, dru


@GRUBlockCellGrad.gradient
@takes_none
def _(call, vx, vh, vc, vru):
    x, h_prev, r, u, c, gh = call.x, call.h_prev, call.r, call.u, call.c, call.d_h
    vx, vh = _given(vx, x), _given(vh, h_prev)
    sr, su, sc = r * (1.0 - r), u * (1.0 - u), 1.0 - c * c
    dc, du = gh * (1.0 - u) * sc, gh * (h_prev - c) * su
    _, dhr = split_columns(raw.MatMul(dc, call.w_c, transpose_b=True), x, h_prev)
    dru = raw.ConcatV2([dhr * h_prev * sr, du], 1)
    into_ru = raw.ConcatV2([vx, vh], 1)
    ldr, ldu = raw.Split(1, total(vru, raw.MatMul(into_ru, call.w_ru)), num_split=2)
    into_c = raw.ConcatV2([vx, vh * r + ldr * h_prev * sr], 1)
    ldc = total(vc, raw.MatMul(into_c, call.w_c))
    return [
        None,
        ldr * dhr * sr + ldu * gh * su,
        raw.MatMul(into_ru, dru, transpose_a=True),
        raw.MatMul(into_c, dc, transpose_a=True),
        None,
        None,
        vh * dhr + ldr * dhr * h_prev * (1.0 - 2.0 * r),
        vh * gh + ldu * gh * (h_prev - c) * (1.0 - 2.0 * u) - ldc * gh * sc,
        -2.0 * c * ldc * gh * (1.0 - u) - ldu * gh * su,
        vh * u + ldu * (h_prev - c) * su + ldc * (1.0 - u) * sc,
    ]
