"""Programs know the variables they are given, and notice when they are given others."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.memory import address


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


LARGE = np.random.RandomState(0).uniform(-1, 1, (96, 96)).astype(np.float32)


def moments():
    return tf.Variable(LARGE), tf.Variable(LARGE[::-1].copy())


def step_of(change):
    """Return variables and a step that reads the first one, multiplies, and changes what was read."""
    m, other = moments()

    @tf.function
    def step(x):
        held = m.read_value()
        more = change(m, other)
        grad = tf.matmul(x, x)
        m.assign_add((grad - held) * 0.1)
        return tf.reduce_sum(grad) + more

    return m, other, step


def changes_before(m, other):
    m.assign(m * 2.0)
    return tf.reduce_sum(m)


def changes_another(m, other):
    other.assign_sub(m * 0.5)
    return tf.reduce_sum(other)


def changes_in_python(m, other):
    return tf.py_function(lambda: tf.reduce_sum(m.assign(m * 2.0)) * 0.0, [], tf.float32)


@pytest.mark.parametrize("change", [changes_before, changes_another, changes_in_python])
def test_reads_are_as_late_as_they_may_be(change, made):
    m, _, step = step_of(change)
    by_hand, other_by_hand = LARGE.astype(np.float64), LARGE[::-1].astype(np.float64)
    for turn in range(4):
        x = LARGE * (1 + turn)
        held = by_hand
        if change is changes_another:
            other_by_hand = other_by_hand - 0.5 * by_hand
            more = other_by_hand.sum()
        else:
            by_hand = by_hand * 2.0
            more = by_hand.sum() if change is changes_before else 0.0
        grad = x.astype(np.float64) @ x
        by_hand = by_hand + (grad - held) * 0.1
        np.testing.assert_allclose(step(tf.constant(x)), grad.sum() + more, rtol=2e-3, atol=0.05)
        np.testing.assert_allclose(m, by_hand, rtol=1e-3, atol=1e-2)


def test_a_variable_that_is_read_long_before_is_changed_where_it_lies(made):
    m, _, step = step_of(lambda m, other: 0.0)
    for _ in range(3):
        step(tf.constant(LARGE))
    assert [region for region in made if region.kernel is not None]
    lies_at = address(m._storage.value)
    step(tf.constant(LARGE))
    assert address(m._storage.value) == lies_at
