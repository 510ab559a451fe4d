"""What TensorFlow's programming model costs: ops one by one, small sessions, building and tracing graphs."""

from __future__ import annotations

import numpy as np

from benchmarks.problems import PROBLEMS, RATE, TRACED_OPS, million, two_product_cell
from benchmarks.work import Work
from benchmarks.work.tf_models import lstm_cell
from benchmarks.work.tf_module import tf


def _square(seed):
    return tf.constant(np.random.RandomState(seed).randn(10, 10).astype(np.float32))


def eager_add_10x10():
    a, b = _square(0), _square(1)
    return Work(lambda: a + b)


def eager_add_10x10_with_tape():
    a, b = _square(0), _square(1)

    def run():
        with tf.GradientTape() as tape:
            tape.watch(a)
            for _ in range(100):
                a + b

    return Work(run, 100)


def eager_tanh_10x10():
    a, tanh = _square(0), tf.tanh
    return Work(lambda: tanh(a))


def eager_matmul_10x10():
    a, b, matmul = _square(0), _square(1), tf.matmul
    return Work(lambda: matmul(a, b))


def eager_lstm_cell_10x10():
    x, h, c = _square(0), _square(1), _square(2)
    w = tf.constant(np.random.RandomState(3).randn(20, 40).astype(np.float32))
    return Work(lambda: lstm_cell({}, x, h, c, w))


def eager_lstm_cell_two_products():
    x, h, c, wx, wh, b = map(tf.constant, two_product_cell())
    sigmoid, tanh = tf.sigmoid, tf.tanh

    def run():
        i, j, f, o = tf.split(tf.matmul(x, wx) + tf.matmul(h, wh) + b, 4, axis=1)
        new = sigmoid(f + 1.0) * c + sigmoid(i) * tanh(j)
        return sigmoid(o) * tanh(new), new

    return Work(run)


def eager_tanh_million():
    x, y, z = map(tf.constant, million())
    tanh = tf.tanh
    return Work(lambda: tanh((x + y) * z))


def eager_mlp_step():
    parameters, inputs = PROBLEMS["small_mlp_step"].arrays()
    x, labels = tf.constant(inputs["x"]), tf.constant(inputs["labels"])
    w0, b0, w1, b1 = variables = [tf.Variable(parameters[name]) for name in ("w0", "b0", "w1", "b1")]

    def run():
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, w0) + b0)
            logits = tf.matmul(hidden, w1) + b1
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        for variable, grad in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(RATE * grad)
        return loss

    return Work(run)


def session_run_add_two_feeds():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        a, b = v1.placeholder(tf.float32, [2, 2]), v1.placeholder(tf.float32, [2, 2])
        total = a + b
        session = v1.Session()
    x = np.ones((2, 2), np.float32)
    return Work(lambda: session.run(total, {a: x, b: x}))


def build_1000_nodes():
    def run():
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32, [2, 2])
            for _ in range(1000):
                x = x + x

    return Work(run)


def tape_over_10000_ops():
    x = tf.constant(1.0)

    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(10_000):
                y = y * x
        return tape.gradient(y, x)

    return Work(run)


def trace_2000_ops():
    x = _square(0)

    def chain(x):
        for _ in range(TRACED_OPS // 2):
            x = tf.tanh(x + x)
        return x

    return Work(lambda: tf.function(chain).get_concrete_function(x))


def trace_dying_closure():
    """Trace a function that nothing holds afterwards, with an array in its closure."""
    x = _square(0)

    def run():
        held = np.ones((64, 64), np.float32)
        return tf.function(lambda x: tf.reduce_sum(x) + tf.reduce_sum(held))(x)

    return Work(run)


WORKLOADS = {
    f.__name__: f
    for f in (
        eager_add_10x10,
        eager_add_10x10_with_tape,
        eager_tanh_10x10,
        eager_matmul_10x10,
        eager_lstm_cell_10x10,
        eager_lstm_cell_two_products,
        eager_tanh_million,
        eager_mlp_step,
        session_run_add_two_feeds,
        build_1000_nodes,
        tape_over_10000_ops,
        trace_2000_ops,
        trace_dying_closure,
    )
}
