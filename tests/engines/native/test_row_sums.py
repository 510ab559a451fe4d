"""Rows added by machine code: bit for bit what NumPy adds, and nothing where an index is out of range."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines import large_calls
from ebbflow.engines.native import late_code
from ebbflow.ops.state import repeated_indices

RANDOM = np.random.RandomState(0)


def added(rows: np.ndarray, at: np.ndarray, updates: np.ndarray, ufunc: np.ufunc) -> bool:
    """Add by code that is there: the first call asks for it."""
    large_calls.rows_added(rows.copy(), at, updates, ufunc)
    late_code.settle()
    return large_calls.rows_added(rows, at, updates, ufunc)


@pytest.mark.parametrize("ufunc", [np.add, np.subtract])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(("count", "dims", "updates"), [(7, (20,), 500), (1000, (3, 11), 64), (3, (), 600)])
def test_sums_are_numpys(ufunc, index, kind, count, dims, updates):
    rows = RANDOM.rand(count, *dims).astype(kind)
    at, more = RANDOM.randint(0, count, updates).astype(index), RANDOM.rand(updates, *dims).astype(kind)
    wanted = rows.copy()
    ufunc.at(wanted, at, more)
    assert added(rows, at, more, ufunc)
    np.testing.assert_array_equal(rows, wanted)


@pytest.mark.parametrize("wrong", [-1, 8, 1 << 40])
def test_an_index_out_of_range_is_seen_before_anything_is_written(wrong):
    rows, more, at = np.zeros((8, 100), np.float32), np.ones((9, 100), np.float32), np.arange(9) % 8
    at[-1] = wrong
    assert not added(rows, at, more, np.add)
    assert not rows.any()


def test_what_the_code_is_not_made_for_is_left_to_numpy():
    rows, at, more = np.zeros((8, 100), np.float32), np.arange(8), np.ones((8, 100), np.float32)
    assert not large_calls.rows_added(rows[:, ::2], at, more[:, ::2], np.add)
    assert not large_calls.rows_added(rows, at, more.astype(np.float64), np.add)
    assert not large_calls.rows_added(rows, at, more, np.maximum)
    assert not large_calls.rows_added(rows.astype(np.int32), at, more.astype(np.int32), np.add)
    assert not large_calls.rows_added(rows, at[:4], more, np.add)


def test_rows_added_to_themselves_are_read_first():
    rows = np.arange(1200, dtype=np.float32).reshape(4, 300)
    wanted = rows + rows[[1, 0, 3, 2]][[1, 0, 3, 2]]
    repeated_indices.fold_into(rows, np.arange(4), rows, np.add)
    np.testing.assert_array_equal(rows, wanted)


def test_gradient_of_an_embedding_and_its_update():
    table = tf.Variable(RANDOM.rand(50, 40).astype("f"))
    ids = tf.constant(RANDOM.randint(0, 50, 30))
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2)
        slices = tape.gradient(loss, table)
        wanted = table.numpy()
        np.subtract.at(wanted, ids.numpy(), slices.values.numpy())
        table.scatter_sub(slices)
        np.testing.assert_array_equal(table.numpy(), wanted)
        late_code.settle()


@pytest.mark.parametrize("numbers", [[3, 1, 3, 2, 1], [5], [-7, 9, -7], [0, 1 << 60, 0], list(range(40, 0, -1))])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8])
def test_unique_numbers_come_in_the_order_of_their_first_place(numbers, kind):
    x = np.array([n for n in numbers if np.iinfo(kind).min <= n <= np.iinfo(kind).max], kind)
    found, place = tf.unique(tf.constant(x))
    assert found.numpy().tolist() == list(dict.fromkeys(x.tolist()))
    np.testing.assert_array_equal(found.numpy()[place.numpy()], x)
