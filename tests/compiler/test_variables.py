"""Programs know the variables they are given, and notice when they are given others."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf


@tf.function
def step(v, x):
    v.assign_sub(x)
    return v.read_value() * 2.0


@tf.function(jit_compile=True)
def compiled_step(v, x):
    v.assign_sub(x)
    return v.read_value() * 2.0


@pytest.mark.parametrize("function", [step, compiled_step], ids=["host", "xla"])
def test_a_function_of_variables_takes_one_after_the_other(function):
    variables = [tf.Variable([float(i), 1.0]) for i in range(3)]
    for turn in range(1, 5):
        for i, v in enumerate(variables):
            got = function(v, tf.constant([1.0, 0.5]))
            np.testing.assert_allclose(got, [2 * (i - turn), 2 - turn])
            np.testing.assert_allclose(v, [i - turn, 1 - turn / 2])


def test_captured_variables_are_read_where_they_lie():
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.5)

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return loss

    losses = [float(train()) for _ in range(4)]
    assert losses == [5.0, 0.0, 0.0, 0.0]
    assert "_storage.read()" in train.source()


def test_an_update_is_whole_where_warnings_are_errors():
    v = tf.Variable([3e38, 1.0])
    optimizer = tf.compat.v1.train.AdamOptimizer(1e38)

    @tf.function
    def train():
        optimizer.apply_gradients([(tf.constant([1e30, 1.0]), v)])

    train()
    with np.errstate(all="raise"):
        for _ in range(3):
            train()
    assert len({float(slot[1]) for slot in (optimizer.get_slot(v, "m"), optimizer.get_slot(v, "v"))}) == 2
