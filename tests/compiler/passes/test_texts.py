"""Each pass, shown: a flow as text before it, and after.

Names mean nothing (texts are compared with values numbered in order), and what a pass leaves unused is pruned first. No
pass changes the flow it is given.
"""

from __future__ import annotations

import pytest

from ebbflow.compiler.flow_parser import parse
from ebbflow.compiler.flow_text import text_of
from ebbflow.compiler.passes import PASSES, prune
from ebbflow.compiler.passes.rematerialise import rematerialise
from ebbflow.compiler.passes.verify import picture, verify, verify_unchanged
from ebbflow.core import dtypes
from ebbflow.core.op import Op
from ebbflow.platform import config
from tests.machine import HAS_ONEDNN

# pass: pairs of before and after; "=" is a pass that leaves the flow alone
CASES: dict[str, list[tuple[str, str]]] = {
    "prune": [
        ("x: float32[4]; y = Exp(x); z = Neg(x); return z", "x: float32[4]; z = Neg(x); return z"),
        ("x: float32[4]; y = CheckNumerics(x, message='m'); run(y); return x", "="),
        (
            """v: resource[()]
            old: float32[4] = ReadVariableOp(v, dtype=float32)
            one: float32[4] = 1.0
            AssignVariableOp(v, one)
            return one""",
            "v: resource[()]; one: float32[4] = 1.0; AssignVariableOp(v, one); return one",
        ),
    ],
    "narrow": [
        ("x: float32[4]; a, b = _Pair(x, keep=2); return b", "x: float32[4]; b = _Pair(x, keep=1); return b"),
        ("x: float32[4]; a, b = _Pair(x, keep=2); return a, b", "="),
    ],
    "draws": [  # see test_draws: loops are made of functions, which have no text here
        ("s: int32[1] = [2]; r = RandomUniform(s, dtype=float32); return r", "="),
    ],
    "reads": [
        (
            "x: float32[4]; v: resource[()]; a, same = _Turns(x, v); return a",
            "x: float32[4]; v: resource[()]; w = ReadVariableOp(v, dtype=float32); "
            "a, same = _PureTurns(x, w); return a",
        ),
    ],
    "invariants": [  # see test_invariants
        ("s: int32[0] = []; n: int32[()] = -1; a = EmptyTensorList(s, n, element_dtype=float32); return a", "="),
    ],
    "fold": [
        (
            "x: float32[()]; a: float32[()] = 2.0; b: float32[()] = 3.0; c = Add(a, b); y = Mul(x, c); return y",
            "x: float32[()]; c: float32[()] = 5.0; y = Mul(x, c); return y",
        ),
        ("x: float32[4, 3]; s = Shape(x); return s", "x: float32[4, 3]; s: int32[2] = [4, 3]; return s"),
        ("x: float32[4, None]; s = Shape(x); return s", "="),
        ("s: int32[1] = [2]; r = RandomUniform(s, dtype=float32); return r", "="),
    ],
    "simplify": [
        ("x: float32[4]; one: float32[()] = 1.0; y = Mul(x, one); return y", "x: float32[4]; return x"),
        ("x: float32[4]; y = Mul(x, x); return y", "x: float32[4]; y = Square(x); return y"),
        (
            "x: float32[4]; eight: float32[()] = 8.0; y = RealDiv(x, eight); return y",
            "x: float32[4]; part: float32[()] = 0.125; y = Mul(x, part); return y",
        ),
        ("x: float32[4]; zero: float32[()] = 0.0; y = AddV2(x, zero); return y", "="),  # -0.0 + 0.0 is 0.0
        ("x: float32[4]; y: float32[4]; n = Neg(y); z = AddV2(x, n); return z",
         "x: float32[4]; y: float32[4]; z = Sub(x, y); return z"),
    ],
    "columns": [
        (
            """x: float32[8, 5]; w: float32[5, 6]; axis: int32[()] = 1
            p = MatMul(x, w)
            a, b = Split(axis, p, num_split=2)
            return b""",
            """x: float32[8, 5]; w: float32[5, 6]
            begin: int32[2] = [0, 3]; size: int32[2] = [5, 3]
            part = Slice(w, begin, size)
            b = MatMul(x, part)
            return b""",
        ),
        (
            """x: float32[8, 5]; w: float32[5, 6]; axis: int32[()] = 1
            p = MatMul(x, w)
            a, b = Split(axis, p, num_split=2)
            return a, b""",
            "=",
        ),
        (  # a part of a part
            """x: float32[8, 5]; w: float32[5, 6]
            b0: int32[2] = [0, 1]; s0: int32[2] = [8, 4]
            p = MatMul(x, w)
            q = Slice(p, b0, s0)
            b1: int32[2] = [0, 1]; s1: int32[2] = [8, 2]
            r = Slice(q, b1, s1)
            return r""",
            """x: float32[8, 5]; w: float32[5, 6]
            b0: int32[2] = [0, 1]; s0: int32[2] = [5, 4]
            u = Slice(w, b0, s0)
            b1: int32[2] = [0, 1]; s1: int32[2] = [5, 2]
            t = Slice(u, b1, s1)
            r = MatMul(x, t)
            return r""",
        ),
    ],
    "broadcasts": [
        (
            """x: float32[4, 4]; n: float32[()]; shape: int32[2] = 4
            r = Fill(shape, n)
            y = Mul(x, r)
            return y""",
            "x: float32[4, 4]; n: float32[()]; y = Mul(x, n); return y",
        ),
        (
            "n: float32[()]; shape: int32[2] = 4; r = Fill(shape, n); y = Exp(r); return y",
            "n: float32[()]; e = Exp(n); shape: int32[2] = 4; y = BroadcastTo(e, shape); return y",
        ),
    ],
    "common": [
        (
            "x: float32[4]; a = Exp(x); b = Exp(x); y = Mul(a, b); return y",
            "x: float32[4]; a = Exp(x); y = Mul(a, a); return y",
        ),
        ("s: int32[1] = [2]; a = RandomUniform(s, dtype=half); b = RandomUniform(s, dtype=half); return a, b", "="),
        (  # what is read before and after an update is not the same
            """v: resource[()]; one: float32[4]
            a: float32[4] = ReadVariableOp(v, dtype=float32)
            b: float32[4] = ReadVariableOp(v, dtype=float32)
            AssignAddVariableOp(v, one)
            c: float32[4] = ReadVariableOp(v, dtype=float32)
            return a, b, c""",
            """v: resource[()]; one: float32[4]
            a: float32[4] = ReadVariableOp(v, dtype=float32)
            AssignAddVariableOp(v, one)
            c: float32[4] = ReadVariableOp(v, dtype=float32)
            return a, a, c""",
        ),
    ],
    "layout": [
        (
            """x: float32[8, 32, 28, 28]; f: float32[3, 3, 32, 32]; g: float32[3, 3, 32, 32]
            a = Conv2D(x, f, strides=[1, 1, 1, 1], padding='SAME', data_format='NCHW')
            b = Relu(a)
            c = Conv2D(b, g, strides=[1, 1, 1, 1], padding='SAME', data_format='NCHW')
            return c""",
            """x: float32[8, 32, 28, 28]; f: float32[3, 3, 32, 32]; g: float32[3, 3, 32, 32]
            last = _Arranged(x, perm=[0, 2, 3, 1])
            a = Conv2D(last, f, strides=[1, 1, 1, 1], padding='SAME')
            b = Relu(a)
            c = Conv2D(b, g, strides=[1, 1, 1, 1], padding='SAME')
            first = _Arranged(c, perm=[0, 3, 1, 2])
            return first""",
        ),
        (
            """x: float32[8, 28, 28, 32]; f: float32[3, 3, 32, 32]
            a = Conv2D(x, f, strides=[1, 1, 1, 1], padding='SAME')
            return a""",
            "=",
        ),
    ],
    "native": [
        (
            "x: float32[4, 4]; two: float32[()] = 2.0; a = Mul(x, two); b = Exp(a); return b",
            """x: float32[4, 4]
            def region(x: float32[4, 4]):
                two: float32[()] = 2.0
                a = Mul(x, two)
                b = Exp(a)
                return b
            b = _Native([x], region=region, Tout=[float32])
            return b""",
        ),
        ("x: float32[None]; a = Exp(x); b = Neg(a); return b", "="),
    ],
    "siblings": [
        (
            """x: float32[2, 8]; axis: int32[()] = 1
            a, b = Split(axis, x, num_split=2)
            s = Sigmoid(a)
            t = Sigmoid(b)
            y = Mul(s, t)
            return y""",
            """x: float32[2, 8]; axis: int32[()] = 1
            whole = Sigmoid(x)
            s, t = Split(axis, whole, num_split=2)
            y = Mul(s, t)
            return y""",
        ),
        (
            """x: float32[2, 8]; axis: int32[()] = 1
            a, b = Split(axis, x, num_split=2)
            s = Sigmoid(a)
            t = Tanh(b)
            return s, t""",
            "=",
        ),
    ],
    "entropy": [
        (
            """logits: float32[8, 10]; labels: int32[8]; scale: float32[()]
            loss, slope = SparseSoftmaxCrossEntropyWithLogits(logits, labels)
            grad = Mul(slope, scale)
            return loss, grad""",
            """logits: float32[8, 10]; labels: int32[8]; scale: float32[()]
            loss, grad = _ScaledCrossEntropy(logits, labels, scale)
            return loss, grad""",
        ),
        (
            """logits: float32[8, 10]; labels: int32[8]; scale: float32[()]
            loss, slope = SparseSoftmaxCrossEntropyWithLogits(logits, labels)
            grad = Mul(slope, scale)
            return loss, grad, slope""",
            "=",
        ),
    ],
    "fuse": [
        (
            """x: float32[128, 256]; w: float32[256, 256]; b: float32[256]
            p = MatMul(x, w)
            q = BiasAdd(p, b)
            y = Relu(q)
            return y""",
            """x: float32[128, 256]; w: float32[256, 256]; b: float32[256]
            y = _Fused([x, w, b], M=1, dims=[[128, 256]], first='MatMul',
                       how=dict(transpose_a=False, transpose_b=False, grad_a=False, grad_b=False, T=float32),
                       bias=True, add=False, activation='relu')
            return y""",
        ),
        (  # a sum of two products is finished by one of them
            """x: float32[128, 256]; w: float32[256, 256]; b: float32[256]; h: float32[128, 256]; u: float32[256, 256]
            p = MatMul(x, w)
            q = MatMul(h, u)
            s = AddV2(p, q)
            y = BiasAdd(s, b)
            return y""",
            """x: float32[128, 256]; w: float32[256, 256]; b: float32[256]; h: float32[128, 256]; u: float32[256, 256]
            q = MatMul(h, u)
            s = _Fused([x, w, q], M=1, dims=[[128, 256]], first='MatMul',
                       how=dict(transpose_a=False, transpose_b=False, grad_a=False, grad_b=False, T=float32),
                       bias=False, add=True, activation=None)
            y = BiasAdd(s, b)
            return y""",
        ),
        ("x: float32[4, 4]; w: float32[4, 4]; p = MatMul(x, w); y = Relu(p); return y", "="),  # too small
    ],
    "winograd": [
        (
            """x: float32[32, 56, 56, 64]; f: float32[3, 3, 64, 64]
            y = Conv2D(x, f, strides=[1, 1, 1, 1], padding='SAME')
            return y""",
            """x: float32[32, 56, 56, 64]; f: float32[3, 3, 64, 64]
            def region(x: float32[32, 56, 56, 64], f: float32[3, 3, 64, 64]):
                y = Conv2D(x, f, strides=[1, 1, 1, 1], padding='SAME')
                return y
            y = _Native([x, f], region=region, Tout=[float32])
            return y""",
        ),
        (
            """x: float32[32, 56, 56, 64]; f: float32[5, 5, 64, 64]
            y = Conv2D(x, f, strides=[1, 1, 1, 1], padding='SAME')
            return y""",
            "=",
        ),
    ],
    "cluster": [
        (
            "x: float32[1024, 1024]; a = Exp(x); b = Tanh(a); w: float32[1024, 1024] = 0.5; c = MatMul(b, w); return c",
            """x: float32[1024, 1024]
            def region(x: float32[1024, 1024]):
                a = Exp(x)
                b = Tanh(a)
                return b
            b = _Cluster([x], region=region, Tout=[float32])
            w: float32[1024, 1024] = 0.5
            c = MatMul(b, w)
            return c""",
        ),
        ("x: float32[4, 4]; a = Exp(x); b = Tanh(a); return b", "="),
    ],
    "parallel": [
        (
            """x: float32[200, 1000]; y: float32[200, 1000]; axis: int32[()] = 1
            s = Cumsum(x, axis)
            t = Cumsum(y, axis)
            z = AddV2(s, t)
            return z""",
            """x: float32[200, 1000]; y: float32[200, 1000]
            def first(x: float32[200, 1000]):
                axis: int32[()] = 1
                s = Cumsum(x, axis)
                return s
            def second(y: float32[200, 1000]):
                axis: int32[()] = 1
                t = Cumsum(y, axis)
                return t
            s, t = _Together([x, y], regions=[first, second], Tout=[float32, float32])
            z = AddV2(s, t)
            return z""",
        ),
        (
            "x: float32[200, 1000]; axis: int32[()] = 1; s = Cumsum(x, axis); t = Cumsum(s, axis); return t",
            "=",
        ),
    ],
    "rematerialise": [
        (
            """x: float32[64, 64]; w: float32[64, 64]
            y = Relu(x)
            a = MatMul(y, w)
            b = MatMul(a, w)
            c = MatMul(b, w)
            z = MatMul(c, y)
            return z""",
            """x: float32[64, 64]; w: float32[64, 64]
            y = Relu(x)
            a = MatMul(y, w)
            b = MatMul(a, w)
            c = MatMul(b, w)
            again = Relu(x)
            z = MatMul(c, again)
            return z""",
        ),
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    monkeypatch.setattr(config, "wishes", config.Wishes())
    config.set_inter_op_parallelism_threads(2)
    pair = Op("_Pair(x:T) -> (y:keep*T) | T: type; keep: int", internal=True)
    pair.shape(lambda x, *, keep: [x.dims] * keep)
    pair.narrow = lambda attrs, used: ([0], used, {**attrs, "keep": len(used)})
    turns = Op("_Turns(x:float, v:resource) -> (y:float, same:resource) | stateful", internal=True)
    pure = Op("_PureTurns(x:float, w:float) -> (y:float, same:float)", internal=True)
    for loop in (turns, pure):
        loop.shape(lambda *given: [g.dims for g in given])
    turns.with_values = lambda attrs: ([(0, None), (1, dtypes.float32)], pure, {})


def run(name, flow):
    return rematerialise(flow, 3 * 64 * 64 * 4 - 1) if name == "rematerialise" else PASSES[name](flow)


@pytest.mark.parametrize(("name", "number"), [(name, i) for name, cases in CASES.items() for i in range(len(cases))])
def test_before_and_after(name, number):
    if name in ("fuse", "layout") and not HAS_ONEDNN:
        pytest.skip("oneDNN has no wheel for this platform")
    before, after = CASES[name][number]
    flow = parse(before)
    held = picture(flow)
    result = run(name, flow)
    verify(result, name)
    verify_unchanged(flow, held, name)
    expected = before if after == "=" else after
    assert text_of(prune(result), numbered=True) == text_of(prune(parse(expected)), numbered=True)


def test_every_pass_is_shown():
    assert {*CASES} == {*PASSES, "rematerialise"}
