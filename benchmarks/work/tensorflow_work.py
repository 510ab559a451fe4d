"""The workloads on TensorFlow."""

import numpy as np
import tensorflow as tf

from benchmarks.work import workload

VERSION = tf.__version__


def _square(seed):
    return tf.constant(np.random.RandomState(seed).randn(10, 10).astype(np.float32))


@workload
def eager_add_10x10():
    a, b = _square(0), _square(1)
    return lambda: a + b


@workload
def eager_add_10x10_with_tape():
    a, b = _square(0), _square(1)

    def run():
        with tf.GradientTape() as tape:
            tape.watch(a)
            for _ in range(100):
                a + b

    return run, 100


@workload
def eager_tanh_10x10():
    a, tanh = _square(0), tf.tanh
    return lambda: tanh(a)


@workload
def eager_matmul_10x10():
    a, b, matmul = _square(0), _square(1), tf.matmul
    return lambda: matmul(a, b)


@workload
def eager_lstm_cell_10x10():
    x, h, c = _square(0), _square(1), _square(2)
    w = tf.constant(np.random.RandomState(3).randn(20, 40).astype(np.float32))

    def cell():
        y = tf.split(tf.matmul(tf.concat([x, h], axis=1), w), 4, axis=1)
        i, f, o = [tf.sigmoid(t) for t in y[1:]]
        c2 = f * c + i * tf.tanh(y[0])
        return o * tf.tanh(c2), c2

    return cell


@workload
def session_run_add_two_feeds():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        a, b = v1.placeholder(tf.float32, [2, 2]), v1.placeholder(tf.float32, [2, 2])
        total = a + b
        session = v1.Session()
    x = np.ones((2, 2), np.float32)
    return lambda: session.run(total, {a: x, b: x})


@workload
def build_1000_nodes():
    def run():
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32, [2, 2])
            for _ in range(1000):
                x = x + x

    return run


@workload
def tape_over_10000_ops():
    x = tf.constant(1.0)

    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(10_000):
                y = y * x
        return tape.gradient(y, x)

    return run
