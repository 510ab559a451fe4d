"""Graphs changed for quantisation: what is found where, what is refused, and that training goes on."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1.quantize import public
from ebbflow.tf1.quantize.patterns import ANY, OneOf, Pattern, matches
from ebbflow.train.moving_averages import assign_moving_average

v1 = tf.compat.v1


def names(graph, kind):
    return [op.name for op in graph.get_operations() if op.type == kind]


def test_patterns_know_the_parts_they_name():
    with tf.Graph().as_default() as graph:
        a, b = v1.placeholder(tf.float32, name="a"), v1.placeholder(tf.float32, name="b")
        tf.nn.relu(v1.add(tf.square(a), b, name="sum"), name="end")
    add = Pattern("Add|AddV2", ANY, Pattern("Square", name="inner"), name="sum", ordered=False)
    (found,) = matches(Pattern("Relu", OneOf(Pattern("Mul"), add)), graph)
    assert found.op("nobody", "sum").name == "sum"
    assert found.tensor("inner").name == "Square:0"
    assert found.op("nobody") is None
    ordered = Pattern("Add|AddV2", ANY, Pattern("Square"))
    assert not list(matches(ordered, graph))
    assert not list(matches(Pattern("Add|AddV2", ANY), graph))


def spelled_out(training, scale=True, activation=True):
    """A convolution with normalisation in nodes of its own, named as slim names them."""
    x = v1.placeholder(tf.float32, [2, 5, 5, 3])
    with v1.variable_scope("conv"):
        y = tf.nn.conv2d(x, v1.get_variable("weights", [3, 3, 3, 4]), 1, "SAME", name="Conv2D")
        with v1.variable_scope("BatchNorm"):
            at = {n: v1.get_variable(n, [4], initializer=tf.ones_initializer()) for n in ("gamma", "beta")}
            kept = {
                n: v1.get_variable(n, [4], initializer=tf.ones_initializer(), trainable=False)
                for n in ("moving_mean", "moving_variance")
            }
            if training:
                mean, variance = v1.nn.moments(y, [0, 1, 2], name="moments")

                for variable, value in zip(kept.values(), (mean, variance), strict=True):
                    assign_moving_average(variable, value, 0.9, zero_debias=False)
            else:
                mean, variance = kept.values()
            y = tf.nn.batch_normalization(
                y, mean, variance, at["beta"], at["gamma"] if scale else None, 0.001, name="batchnorm_1"
            )
        y = tf.nn.relu(y, name="Relu") if activation else tf.tanh(y)
    return x, y


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("activation", [True, False])
def test_normalisation_that_is_spelled_out_is_folded_without_changing_the_result(training, scale, activation):
    value = np.random.RandomState(0).randn(2, 5, 5, 3).astype("f")
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x, y = spelled_out(training, scale, activation)
        session.run(v1.global_variables_initializer())
        before = session.run(y, {x: value})
        public.fold_batch_norms(graph, training)
        assert "conv/Conv2D_Fold" in names(graph, "Conv2D")
        assert y.op.inputs[0].op.name == "conv/add_fold"
        np.testing.assert_allclose(session.run(y, {x: value}), before, rtol=1e-4, atol=1e-5)


def test_frozen_normalisation_uses_its_moving_averages():
    value = np.random.RandomState(0).randn(2, 5, 5, 3).astype("f")
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x, y = spelled_out(True)
        public.fold_batch_norms(graph, True, freeze_batch_norm_delay=2)
        session.run(v1.global_variables_initializer())
        convolved = graph.get_tensor_by_name("conv/Conv2D:0")
        one, raw = session.run([y, convolved], {x: value})
        normal = (raw - raw.mean((0, 1, 2))) / np.sqrt(raw.var((0, 1, 2)) + 0.001) + 1
        np.testing.assert_allclose(one, np.maximum(normal, 0), rtol=1e-3, atol=1e-4)
        frozen = (raw - 1) / np.sqrt(1 + 0.001) + 1
        np.testing.assert_allclose(session.run(y, {x: value}), np.maximum(frozen, 0), rtol=1e-3, atol=1e-4)


def test_weights_are_rounded_to_as_many_values_as_the_bits_give():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [3, 40])
        with v1.variable_scope("fc"):
            y = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, v1.get_variable("w", [40, 30])), v1.get_variable("b", [30])))
        tf.identity(y)
        public.experimental_create_training_graph(graph, weight_bits=3, activation_bits=4)
        loss = tf.reduce_sum(tf.square(y))
        (by_w,) = v1.gradients(loss, [v for v in v1.trainable_variables() if v.name == "fc/w:0"])
        session.run(v1.global_variables_initializer())
        rounded = graph.get_tensor_by_name("fc/weights_quant/FakeQuantWithMinMaxVars:0")
        weights, slope = session.run([rounded, by_w], {x: np.ones([3, 40], "f")})
        assert len(np.unique(weights)) == 2**3 - 1
        assert np.abs(slope).max() > 0
        activated = graph.get_tensor_by_name("fc/act_quant/FakeQuantWithMinMaxVars:0")
        assert len(np.unique(session.run(activated, {x: np.eye(3, 40, dtype="f")}))) <= 2**4


def test_a_graph_that_trains_already_is_refused():
    with tf.Graph().as_default() as graph:
        w = v1.get_variable("w", [2], use_resource=False)
        v1.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(w))
        with pytest.raises(ValueError, match=r"Training op found in graph.*ApplyMomentum"):
            public.create_training_graph(graph)


def test_normalisation_by_the_batch_without_averages_is_refused():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2, 5, 5, 3])
        y = tf.nn.conv2d(x, v1.get_variable("weights", [3, 3, 3, 4]), 1, "SAME")
        tf.nn.relu(v1.nn.fused_batch_norm(y, [1.0] * 4, [0.0] * 4, is_training=True)[0])
        with pytest.raises(ValueError, match="no moving averages"):
            public.create_training_graph(graph)
