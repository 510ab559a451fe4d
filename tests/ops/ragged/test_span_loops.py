"""Eager ragged tensors work their places out at once: the same as the ops in a graph give, long rows and short."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import late_code
from ebbflow.ops.ragged.span_loops import MANY, spread


@pytest.mark.parametrize("kind", [tf.int32, tf.int64])
@pytest.mark.parametrize("rows", [0, 1, 7, MANY])
def test_eager_rows_are_those_of_a_graph(rows, kind):
    lengths = np.random.default_rng(rows).integers(0, 5, rows).astype(kind.as_numpy_dtype)
    values = np.arange(lengths.sum() * 2, dtype=np.float32).reshape(-1, 2)
    at = np.random.default_rng(1).integers(0, max(rows, 1), 2 * rows)

    def parts(values, lengths, at):
        ragged = tf.RaggedTensor.from_row_lengths(values, lengths)
        taken = tf.gather(ragged, at)
        return ragged.value_rowids(), ragged.to_tensor(-1.0), taken.values, taken.row_splits

    for _ in range(2):
        eager = parts(values, lengths, at)
        graph = tf.function(parts)(values, lengths, at)
        for found, expected in zip(eager, graph, strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
        late_code.settle()


def test_the_loop_and_numpy_agree():
    random = np.random.default_rng(0)
    lengths = random.integers(0, 9, 2 * MANY)
    starts, steps = random.integers(-50, 50, lengths.size), random.integers(-3, 4, lengths.size)
    expected = np.concatenate([a + np.arange(n) * c for a, n, c in zip(starts, lengths, steps, strict=True)])
    spread(starts, lengths, steps)
    late_code.settle()
    np.testing.assert_array_equal(spread(starts, lengths, steps), expected)
    np.testing.assert_array_equal(spread(starts[:9], lengths[:9], steps[:9]), expected[: lengths[:9].sum()])
    assert spread(starts[:2], np.array([1, -1]), 1) is None


def test_gradients_flow_through_eager_rows():
    values = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        ragged = tf.RaggedTensor.from_row_lengths(values, [2, 1])
        total = tf.reduce_sum(ragged.to_tensor() * [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(tf.convert_to_tensor(tape.gradient(total, values)).numpy(), [1.0, 2.0, 3.0])


def test_rows_that_are_not_there_are_refused():
    ragged = tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.gather(ragged, [0, 2])


@pytest.mark.parametrize("kind", [tf.int32, tf.int64])
def test_ranges(kind):
    rows = tf.ragged.range(tf.constant([0, 5, 3], kind), tf.constant([3, 0, 3], kind), tf.constant([2, -2, 1], kind))
    assert rows.to_list() == [[0, 2], [5, 3, 1], []] and rows.dtype is kind
    with pytest.raises(tf.errors.InvalidArgumentError, match="delta"):
        tf.ragged.range([3], [5], [0])
