"""Large arrays by machine code: rows together, folds by threads, stretches, optimizers' steps."""

from __future__ import annotations

import os

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native.kernel import Kernel
from ebbflow.engines.native.lowering import Lowering
from ebbflow.engines.native.region_functions import Parts
from ebbflow.engines.native.schedule import grouped, merged
from tests.engines.native.regions import region

R = np.random.RandomState(0)


def array(*dims):
    return R.randn(*dims).astype("f")


def moments(x):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    spread = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(spread + 1e-5)


def entropy(x, labels):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=x, labels=labels))
    return loss, tape.gradient(loss, x)


CASES = {
    "element by element": (lambda x, y: (x + y) * tf.tanh(x) - 1.0, [array(300_001), array(300_001)]),
    "rows": (moments, [array(512, 700)]),
    "rows of rows": (moments, [array(8, 64, 700)]),
    "a row beside": (lambda x, b: moments(x + b) * b, [array(512, 700), array(700)]),
    "columns": (lambda x: [tf.reduce_sum(x, 0), tf.reduce_max(x * 2.0, 0)], [array(900, 333)]),
    "all": (lambda x: [tf.reduce_sum(x * x), tf.reduce_min(x), tf.reduce_max(x)], [array(700, 500)]),
    "images": (lambda x: [tf.reduce_sum(x, [0, 1, 2]), tf.nn.relu(x) * 2.0], [array(8, 30, 30, 64)]),
    "softmax": (lambda x: [tf.nn.softmax(x), tf.nn.log_softmax(x)], [array(256, 1001)]),
    "cross entropy": (entropy, [array(200, 2000), (np.arange(200) * 7).astype("i")]),
    "a fold of a fold": (lambda x: x / tf.reduce_max(tf.reduce_sum(tf.abs(x), 1)), [array(600, 500)]),
    "turned round": (lambda x: tf.transpose(tf.exp(x)) + tf.transpose(x), [array(500, 600)]),
    "one column": (lambda x: tf.exp(x) * tf.reduce_sum(x, 1, keepdims=True), [array(200_000, 1)]),
    "whole numbers": (lambda x: [tf.reduce_sum(x, 1), x * 2 + 1], [R.randint(-9, 9, (600, 500)).astype("i")]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_as_eagerly(name):
    fn, arrays = CASES[name]
    flow = region(fn, *arrays)
    kernel = Kernel(flow)
    outputs = [np.full(v.dims, 77, v.dtype.np) for v in flow.outputs]
    assert kernel.call(*arrays, *outputs)
    expected = tf.nest.flatten(fn(*[tf.constant(a) for a in arrays]))
    for mine, theirs in zip(outputs, expected, strict=True):
        scale = np.abs(theirs.numpy().astype("d")).max()
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-6 * scale)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_sums_hardly_depend_on_the_number_of_threads(workers, monkeypatch):
    from ebbflow.engines.native import threads

    if workers > 1 and threads.count() == 1:
        pytest.skip("there is one core, or no libgomp")
    monkeypatch.setattr(threads, "count", lambda: workers)
    x = array(3000, 100)
    flow = region(lambda x: [tf.reduce_sum(x, 0), tf.reduce_sum(x)], x)
    outputs = [np.empty(v.dims, "f") for v in flow.outputs]
    assert Kernel(flow).call(x, *outputs)
    np.testing.assert_allclose(outputs[0], x.astype("d").sum(0), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(outputs[1], x.astype("d").sum(), rtol=1e-4, atol=1e-2)


def test_what_only_a_row_knows_is_as_large_as_a_row():
    x = array(1000, 700)
    low = Lowering(region(lambda x: tf.nn.softmax(x * 2.0 + 1.0), x))
    nests = grouped(merged(low.steps))
    assert len(nests) == 1 and nests[0].axes == 1
    parts = Parts(Lowering(region(lambda x: tf.nn.softmax(x * 2.0 + 1.0), x)), 2)
    assert parts.size < 2 * 4 * 700 * 4  # a few rows for each thread, not a thousand


def test_a_forked_process_does_without_threads():
    x = array(300_000)
    flow = region(lambda x: tf.tanh(x) * x + 1.0, x)
    kernel, out = Kernel(flow), np.empty(x.shape, "f")
    assert kernel.call(x, out)
    child = os.fork()
    if child == 0:
        os._exit(0 if not kernel.call(x, out) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("rule", [tf.compat.v1.train.AdamOptimizer, tf.compat.v1.train.GradientDescentOptimizer])
def test_steps_on_large_variables(rule, monkeypatch):
    def trained():
        v = tf.Variable(np.linspace(-1, 1, 200_000).astype("f"))
        optimizer = rule(0.01)

        @tf.function(autograph=False)
        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v * v)
            optimizer.apply_gradients([(tape.gradient(loss, v), v)])
            return loss

        losses = [float(step()) for _ in range(4)]
        return losses, v.numpy()

    monkeypatch.setenv("EBBFLOW_CHECK", "1")
    mine = trained()
    monkeypatch.setenv("EBBFLOW_ENGINES", "host")
    theirs = trained()
    np.testing.assert_allclose(mine[1], theirs[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-3, atol=0.5)  # of 200,000 numbers that cancel out
