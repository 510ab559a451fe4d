"""Ops with two gradient rules: TensorFlow's own nodes where names matter, a shorter way elsewhere, one answer."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow.core.registry import registry

tf = tf2.compat.v1
X = np.arange(12, dtype=np.float32).reshape(3, 4) + 1

# op: what is differentiated, and a node that only the rule by name makes
CASES = {
    "Sum": (lambda x: tf2.reduce_sum(x, 1), "Tile"),
    "Mean": (lambda x: tf2.reduce_mean(x, 0), "Tile"),
    "Max": (lambda x: tf2.reduce_max(x, 1), "DynamicStitch"),
    "Slice": (lambda x: tf2.slice(x, [1, 1], [2, 2]), "Pad"),
    "Tile": (lambda x: tf2.tile(x, [2, 1]), "Range"),
    "Pad": (lambda x: tf2.pad(x, [[1, 1], [0, 2]]), "Slice"),
    "ConcatV2": (lambda x: tf2.concat([x, 2 * x], 1), "ConcatOffset"),
    "GatherV2": (lambda x: tf2.gather(x, [0, 2, 0]), "ExpandDims"),
    "Transpose": (lambda x: tf2.transpose(x, [1, 0]), "InvertPermutation"),
    "BroadcastTo": (lambda x: tf2.broadcast_to(x, [2, 3, 4]), "BroadcastGradientArgs"),
    "Mul": (lambda x: x * tf2.constant([[1.0], [2.0], [3.0]]), "BroadcastGradientArgs"),
}


def in_a_graph(write):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, None] if write is CASES["Max"][0] else [3, 4])
        y = write(x)
        before = len(graph.get_operations())
        (grad,) = tf.gradients(tf.square(y), x)
        kinds = {node.type for node in graph.get_operations()[before:]}
        with tf.Session() as session:
            return session.run(tf.convert_to_tensor(grad), {x: X}), kinds


def in_a_function(write):
    traced = []

    @tf2.function
    def function(x):
        y = write(x)
        (grad,) = tf2.gradients(tf2.square(y), x)
        traced.append({node.type for node in tf.get_default_graph().get_operations()})
        return tf2.convert_to_tensor(grad)

    return function(tf2.constant(X)).numpy(), traced[0]


def eagerly(write):
    x = tf2.constant(X)
    with tf2.GradientTape() as tape:
        tape.watch(x)
        y = tf2.square(write(x))
    return tf2.convert_to_tensor(tape.gradient(y, x)).numpy()


@pytest.mark.parametrize("name", CASES)
def test_both_rules_agree_and_names_decide_between_them(name):
    write, only_by_name = CASES[name]
    assert registry[name].gradient_by_name_fn is not None
    value, kinds = in_a_graph(write)
    shorter, inside = in_a_function(write)
    assert only_by_name in kinds
    np.testing.assert_array_equal(value, shorter)
    np.testing.assert_array_equal(value, eagerly(write))
    if name in ("Max", "ConcatV2", "GatherV2", "Transpose"):
        assert only_by_name not in inside
