"""The slope of a cross entropy is scaled while it is made, where the factor is known in time."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import errors
from ebbflow.ops.nn import cross_entropy_arrays as arrays

pytestmark = pytest.mark.usefixtures("without_native")

RANDOM = np.random.RandomState(0)
LOGITS = RANDOM.standard_normal((6, 5)).astype(np.float32)
LABELS = np.array([0, 4, 2, 2, 1, 3], np.int32)


def entropy(x):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=LABELS, logits=x)


FACTORS = {
    "mean": (lambda loss: tf.reduce_mean(loss), True),
    "sum": (lambda loss: tf.reduce_sum(loss), False),  # the factor is 1, and gone before
    "weights": (lambda loss: tf.reduce_sum(loss * tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), True),
    "of the loss": (lambda loss: tf.reduce_sum(loss * loss), False),
}


@pytest.mark.parametrize(("total", "is_scaled"), FACTORS.values(), ids=FACTORS)
def test_gradient(total, is_scaled):
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = total(entropy(x))
        return loss, tape.gradient(loss, x)

    compiled = tf.function(gradient)
    for _ in range(3):
        for got, expected in zip(compiled(tf.constant(LOGITS)), gradient(tf.constant(LOGITS)), strict=True):
            np.testing.assert_array_equal(got, expected)
    program = compiled.get_concrete_function(tf.TensorSpec([6, 5])).graph._runners[None][3]._programs[None]
    assert ("_ScaledCrossEntropy" in [n.op.name for n in program.flow.nodes]) == is_scaled


@pytest.mark.parametrize("bad", [-1, 5, -(2**31)])
def test_labels_out_of_range_are_refused_by_the_program_too(bad):
    @tf.function
    def f(x, labels):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x))
        return tape.gradient(loss, x)

    for _ in range(3):
        f(tf.constant(LOGITS), tf.constant(LABELS))
    with pytest.raises(errors.InvalidArgumentError, match=rf"label value of {bad} which is outside .* \[0, 5\)"):
        f(tf.constant(LOGITS), tf.constant(np.where(LABELS == 4, bad, LABELS).astype(np.int32)))


@pytest.mark.parametrize("scale", [None, np.float32(0.5), RANDOM.standard_normal((64, 1)).astype(np.float32)], ids=str)
def test_blocks_give_what_the_whole_gives(monkeypatch, scale):
    logits = RANDOM.standard_normal((64, 33)).astype(np.float32)
    labels = RANDOM.randint(0, 33, 64)
    results = []
    for block in (1 << 20, 40, 100):
        monkeypatch.setattr(arrays, "BLOCK", block)
        results.append((np.empty(64, np.float32), np.empty((64, 33), np.float32)))
        arrays.sparse(logits, labels, scale, *results[-1])
    for loss, slope in results[1:]:
        np.testing.assert_array_equal(loss, results[0][0])
        np.testing.assert_array_equal(slope, results[0][1])
