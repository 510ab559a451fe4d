"""Flows as text, and back."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow.compiler.build import build
from ebbflow.compiler.flow_parser import parse
from ebbflow.compiler.flow_text import text_of
from ebbflow.compiler.passes import optimise
from ebbflow.compiler.passes.verify import verify
from ebbflow.core import errors
from ebbflow.runtime.executor import needed_nodes

tf = tf2.compat.v1


def numbered(flow):
    return text_of(flow, numbered=True)


TEXTS = {
    "shapes": "x: float32[4, None]; y: float32; z: int64[()]; a = Neg(x); return a, y, z",
    "numbers": "a: float32[3] = [1.5, -0.0, 1e-30]; b: float64[2] = [inf, nan]; c: bool[1] = [True]; return a, b, c",
    "many": "a: float32[64, 64] = 0.5; b: int32[0] = []; c: string[2] = [b'a', b'bc']; return a, b, c",
    "lists": "x: float32[4]; i: int32[()] = 0; y = ConcatV2([x, x], i); a, b = Split(i, y, num_split=2); return b",
    "attrs": "x: float32[2, 4, 4, 1]; y = MaxPool(x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding='SAME')",
    "types": "x: float32[4]; y = Cast(x, DstT=int32); return y",
    "roots": "x: float32[4]; y = CheckNumerics(x, message='m'); run(y); return x",
    "no results": "v: resource[()]; x: float32[4]; AssignVariableOp(v, x); return x",
    "functions": """
        x: float32[4]
        def inside(a: float32[4]):
            one: float32[()] = 1.0
            b = Add(a, one)
            return b
        y = _Native([x], region=inside, Tout=[float32])
        return y""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_parses_back(name):
    flow = parse(TEXTS[name])
    verify(flow, "parse")
    assert numbered(parse(str(flow))) == numbered(flow)
    assert numbered(parse(numbered(flow))) == numbered(flow)


def test_a_flow_of_a_graph_reads_like_its_program():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [4, None], name="images")
        y = tf.nn.relu(x * 2.0, name="tower/activation")
        flow = build(needed_nodes([y], {id(x)}), [x], [(4, None)], [y])
    assert str(flow).splitlines() == [
        "images: float32[4, None]",
        "mul_y: float32[()] = 2.0",
        "mul: float32[4, None] = Mul(images, mul_y)",
        "tower_activation: float32[4, None] = Relu(mul)",
        "return tower_activation",
    ]


def test_numbers_are_the_same_to_the_last_bit():
    values = np.array([1 / 3, np.pi, -0.0, np.inf, 1e-45], np.float32)
    flow = parse(f"a: float32[5] = {values.tolist()}; return a")
    np.testing.assert_array_equal(flow.nodes[0].attrs["value"].view(np.int32), values.view(np.int32))
    again = parse(str(flow)).nodes[0].attrs["value"]
    np.testing.assert_array_equal(again.view(np.int32), values.view(np.int32))
    zeros = parse("a: float32[2] = [0.0, -0.0]; return a")
    assert np.signbit(parse(str(zeros)).nodes[0].attrs["value"]).tolist() == [False, True]


def test_known_values_and_shapes_follow():
    flow = parse("x: float32[4, 3]; s = Shape(x); y = Reshape(x, s); return y")
    assert flow.nodes[0].outputs[0].known.tolist() == [4, 3]
    assert flow.outputs[0].dims == (4, 3)


def test_a_whole_step_goes_through_text():
    with tf.Graph().as_default():
        x, w = tf.placeholder(tf.float32, [8, 4]), tf.placeholder(tf.float32, [4, 3])
        loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w))))
        fetches = [loss, *tf.gradients(loss, [x, w])]
        flow = build(needed_nodes(fetches, {id(x), id(w)}), [x, w], [(8, 4), (4, 3)], fetches)
    again = parse(str(flow))
    assert numbered(again) == numbered(flow)
    assert numbered(optimise(again)) == numbered(optimise(flow))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x: float32[4]; y = Neg(z); return y", r"y = Neg\(z\): 'z'"),
        ("x: float32[4]; y = Nothing(x); return y", "Nothing"),
        ("x: float32[4]; y = Add(x); return y", r"Add takes \['x', 'y'\]"),
        ("x: float32[4]; y: int32[4] = Neg(x); return y", "y is float32, not int32"),
        ("x: float32[4]; a, b = Neg(x); return a", "zip"),
        ("x: float32[64, 64] = ...; return x", "left out"),
        ("x: 4; return x", "a type is written"),
        ("for i in x: pass", "no statement of a flow"),
    ],
)
def test_what_is_no_flow_is_refused(text, says):
    with pytest.raises((ValueError, errors.OpError), match=says):
        parse(text)
