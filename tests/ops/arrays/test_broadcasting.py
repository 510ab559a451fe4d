"""Shapes laid over each other, and gradients summed back: by known shapes and by shapes known only when running."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.functions.func_graph import build
from ebbflow.ops.declare import stretched_axes

#   s0         s1           both       sum the first's gradient over    sum the second's over
SHAPES = [
    ([2, 1], [2, 1], [2, 1], [], []),
    ([2, 1, 3], [1, 3], [2, 1, 3], [1], [0, 1]),
    ([1, 3], [2, 3], [2, 3], [0], []),
    ([], [1, 1], [1, 1], [0, 1], [0, 1]),
    ([3, 1], [1, 1, 5], [1, 3, 5], [0, 2], [0, 1]),
    ([0, 1], [1, 4], [0, 4], [1], [0]),
]


@pytest.mark.parametrize("s0, s1, both, first, second", SHAPES)
def test_ops_on_shapes(s0, s1, both, first, second):
    s0, s1 = tf.constant(s0, tf.int32), tf.constant(s1, tf.int32)
    assert tf.raw_ops.BroadcastArgs(s0=s0, s1=s1).numpy().tolist() == both
    r0, r1 = tf.raw_ops.BroadcastGradientArgs(s0=s0, s1=s1)
    assert (r0.numpy().tolist(), r1.numpy().tolist()) == (first, second)


@pytest.mark.parametrize("name", ["BroadcastArgs", "BroadcastGradientArgs"])
def test_shapes_that_do_not_fit(name):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]"):
        getattr(tf.raw_ops, name)(s0=[2], s1=[3])


#   x              other          axes in front    lengthened axes
STRETCHED = [
    ((2, 3), (2, 3), (), ()),
    ((3,), (2, 3), (0,), ()),
    ((1, 3), (2, 3), (), (0,)),
    ((1, 3), (5, 2, 3), (0,), (0,)),
    ((None, 3), (3,), (), ()),
    ((None, 3), (1, 3), (), ()),
    ((3,), (None, 3), (0,), ()),
    ((1,), (None,), (), (0,)),
    ((2, 3), (3,), (), ()),
    ((), (None, 3), (0, 1), ()),
]


@pytest.mark.parametrize("x, other, added, lengthened", STRETCHED)
def test_stretched_axes_known_beforehand(x, other, added, lengthened):
    assert stretched_axes(x, other) == (added, lengthened)


@pytest.mark.parametrize("x, other", [(None, (2,)), ((2,), None), ((None,), (None,)), ((None, 2), (5, 2))])
def test_stretched_axes_known_only_when_running(x, other):
    assert stretched_axes(x, other) is None


@pytest.mark.parametrize("known", [(None, 3), None, (None, None)])
def test_a_bias_gradient_where_the_batch_is_unknown(known):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, known)
        bias = tf.compat.v1.placeholder(tf.float32, [3])
        dx, db = tf.gradients(x + bias, [x, bias])
        feeds = {x: np.ones((4, 3)), bias: np.ones(3)}
        assert session.run(db, feeds).tolist() == [4.0, 4.0, 4.0]
        assert session.run(dx, feeds).shape == (4, 3)


def test_in_a_function_the_axes_of_a_bias_gradient_are_known_beforehand():
    def slopes(x, bias):
        return tf.gradients(x + bias, [x, bias])

    body = build("slopes", slopes, None, [(tf.float32, (None, 3), "x"), (tf.float32, (3,), "bias")])
    kinds = {op.type for op in body.get_operations()}
    assert "Sum" in kinds and "BroadcastGradientArgs" not in kinds
