"""Accumulators: means and sums of gradients, stale ones dropped (figures as TensorFlow 1.15 gives them)."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import ebbflow as tf
import ebbflow.v1 as tf1


@pytest.fixture
def session():
    with tf1.Graph().as_default(), tf1.Session() as sess:
        yield sess


@pytest.mark.parametrize("reduction, expected", [("MEAN", [2, 4]), ("SUM", [6, 12])])
def test_dense(session, reduction, expected):
    total = tf1.ConditionalAccumulator(tf.float32, [2], reduction_type=reduction)
    given, step = tf1.placeholder(tf.float32, [2]), tf1.placeholder(tf.int64, [])
    add, take, count = total.apply_grad(given, step), total.take_grad(2), total.num_accumulated()
    for k in (1, 2, 3):
        session.run(add, {given: [k, 2 * k], step: 0})
    assert session.run(count) == 3
    assert session.run(take).tolist() == expected and take.shape.as_list() == [2]
    session.run(add, {given: [9, 9], step: 0})  # of a step that has passed
    assert session.run(count) == 0
    session.run(total.set_global_step(5))
    session.run(add, {given: [9, 9], step: 4})
    session.run(add, {given: [1, 1], step: 5})
    assert session.run(count) == 1


def test_taking_waits_until_enough_have_come(session):
    total = tf1.ConditionalAccumulator(tf.float32, [])
    add, take = total.apply_grad(3.0), total.take_grad(2)
    given = []
    thread = threading.Thread(target=lambda: given.append(session.run(take)), daemon=True)
    thread.start()
    for _ in range(2):
        session.run(add)
    thread.join(10)
    assert given == [3.0]
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(take, options=tf1.RunOptions(timeout_in_ms=30))


@pytest.mark.parametrize("reduction, expected", [("MEAN", [[1, 1], [4, 4], [7, 7]]), ("SUM", [[1, 1], [8, 8], [7, 7]])])
def test_sparse(session, reduction, expected):
    total = tf1.SparseConditionalAccumulator(tf.float32, [4, 2], reduction_type=reduction)
    rows = np.array([[1, 1], [3, 3]], np.float32)
    session.run(total.apply_grad([0, 2], rows, [4, 2]))
    slices = tf.IndexedSlices(tf1.constant([[5.0, 5], [7, 7]]), tf1.constant([2, 3]), tf1.constant([4, 2]))
    session.run(total.apply_indexed_slices_grad(slices))
    assert session.run(total.num_accumulated()) == 2
    indices, values, shape = session.run(total.take_grad(2))
    assert indices.tolist() == [0, 2, 3] and values.tolist() == expected and shape.tolist() == [4, 2]
    session.run(total.apply_grad([1], rows[:1], local_step=1))
    assert session.run(total.take_indexed_slices_grad(1)).indices.tolist() == [1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf1.ConditionalAccumulator(tf.float32, [2]).apply_grad(tf1.placeholder_with_default([1.0], None)),
        lambda: tf1.ConditionalAccumulator(tf.float32, [2]).take_grad(0),
        lambda: tf1.SparseConditionalAccumulator(tf.float32, [4, 2]).apply_grad([4], [[1.0, 2.0]]),
        lambda: tf1.SparseConditionalAccumulator(tf.float32, [4, 2]).apply_grad([-1], [[1.0, 2.0]]),
        lambda: tf1.SparseConditionalAccumulator(tf.float32, [4, 2]).apply_grad([1, 2], [[1.0, 2.0]]),
        lambda: tf1.SparseConditionalAccumulator(tf.float32, [4, 2]).apply_grad([1], [[1.0]]),
    ],
)
def test_refused(session, make):
    with pytest.raises(tf.errors.InvalidArgumentError, match="accumulator"):
        session.run(make())


def test_rows_must_have_the_shape_of_those_before(session):
    total = tf1.SparseConditionalAccumulator(tf.float32, [2, None])
    with pytest.raises(tf.errors.InvalidArgumentError, match="index of slice 1 exceeded limits of shape; index is 3"):
        session.run(total.apply_grad([0, 3], [[1.0], [2.0]]))
    session.run(total.apply_grad([0], [[1.0, 2.0]]))
    for values, says in (([[1.0, 2.0, 3.0]], "values dim 1 to be 2, got 3"), ([[[1.0]]], "values rank 2, got 3")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=says):
            session.run(total.apply_grad([1], values))
    session.run(total.apply_grad([1], [[5.0, 6.0]]))
    assert session.run(total.take_grad(2)).values.tolist() == [[1.0, 2.0], [5.0, 6.0]]
