"""Random graphs for the compiler's tests: small, of many kinds of node, some with variables."""

from __future__ import annotations

import random

import numpy as np

import ebbflow as tf2

tf = tf2.compat.v1

UNARY = [
    tf.nn.relu, tf.sigmoid, tf.tanh, tf.negative, tf.square, tf.identity, tf.stop_gradient, tf.abs, tf.exp, tf.sign,
    lambda x: x * 1.0, lambda x: x - 0.0, lambda x: x / 1.0, lambda x: x / 4.0, lambda x: tf.negative(tf.negative(x)),
    lambda x: x * x,
    lambda x: tf.transpose(tf.transpose(x)), lambda x: tf.reshape(tf.reshape(x, [-1]), [3, 3]),
    lambda x: tf.pow(x, 2.0),
    lambda x: tf.transpose(x), lambda x: tf.matmul(x, x), lambda x: tf.nn.softmax(x), lambda x: x[::-1, :],
    lambda x: tf.reshape(tf.transpose(x), [3, 3]), lambda x: tf.concat(tf.split(x, 3, 1), 1), lambda x: tf.cumsum(x),
    lambda x: tf.reduce_sum(x, 1, keepdims=True) + x, lambda x: tf.reduce_mean(x) + x, lambda x: tf.tile(x[:1], [3, 1]),
    lambda x: tf.reshape(x, tf.shape(x)), lambda x: x + tf.cast(tf.size(x), tf.float32), lambda x: tf.unstack(x)[1] + x,
]  # fmt: skip
BINARY = [
    tf.add, tf.subtract, tf.multiply, tf.maximum, tf.matmul, tf.squared_difference, lambda x, y: x - (-y),
    lambda x, y: x + (-y), lambda x, y: tf.where(x > y, x, y), lambda x, y: tf.concat([x, y], 0)[1:4],
    lambda x, y: tf.add_n([x, y, x]), lambda x, y: tf.stack([x, y])[1], lambda x, y: tf.matmul(x, y, transpose_b=True),
]  # fmt: skip


def graph_of(seed: int, nodes: int = 14):
    """Return (graph, placeholders, fetches): the same for the same seed."""
    rng = random.Random(seed)
    graph = tf.Graph()
    with graph.as_default():
        shape = rng.choice([[3, 3], [None, 3], None])
        feeds = [tf.placeholder(tf.float32, shape) for _ in range(2)]
        values = [tf.reshape(f, [3, 3]) if shape is None else f for f in feeds]
        variable = tf.get_variable("v", [3, 3], initializer=tf.ones_initializer(), use_resource=rng.random() < 0.5)
        values.append(tf.tanh(variable))
        values.append(tf.constant(np.linspace(-1, 1, 9).reshape(3, 3), tf.float32))
        for _ in range(nodes):
            if rng.random() < 0.5:
                made = rng.choice(UNARY)(rng.choice(values))
            else:
                made = rng.choice(BINARY)(rng.choice(values), rng.choice(values))
            values.append(tf.clip_by_value(made, -4.0, 4.0) if rng.random() < 0.7 else made * 0.25)
        fetches = rng.sample(values[4:], 3)
        if rng.random() < 0.5:
            loss = tf.reduce_sum(fetches[0])
            grads = [g for g in tf.gradients(loss, [*feeds, variable]) if g is not None]
            fetches += grads
        update = variable.assign_add(0.1 * tf.clip_by_value(fetches[0], -1.0, 1.0))
        with tf.control_dependencies([update]):
            fetches.append(tf.identity(variable))
    return graph, feeds, fetches
