"""Large arrays in parts: what kernels of single elements give is the same, and so is what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops import parts
from ebbflow.ops.parts import MANY, PART, by_parts, in_parts, in_shares


@pytest.mark.parametrize("size", [MANY, MANY + 1, 3 * PART, 3 * PART + 17])
def test_parts_are_the_whole(size):
    x = np.random.default_rng(0).normal(size=size).astype(np.float32)
    kernel = in_parts(lambda xp, x, y: xp.where(x < 0, x * y, y))
    y = np.float32(3) * np.ones((), np.float32)
    for shape in ((size,), (1, size)):
        found = kernel(np, x.reshape(shape), y)
        assert found.shape == shape and found.dtype == np.float32
        np.testing.assert_array_equal(found.reshape(-1), np.where(x < 0, x * y, y))


def test_arrays_that_broadcast_go_as_a_whole():
    x, row = np.ones((MANY, 2), np.float32), np.ones((2,), np.float32)
    assert by_parts(np.add, [x, row]) is None
    assert by_parts(np.add, [x[:, :1], x[:, 1:]]) is None
    assert tf.math.floormod(tf.constant(x), tf.constant(row)).shape == (MANY, 2)


def test_an_error_in_any_part_is_raised():
    x = np.ones(4 * PART, np.int32)
    y = x.copy()
    y[-1] = 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        tf.math.floormod(tf.constant(x), tf.constant(y))


def test_every_share_is_done_once(monkeypatch):
    for threads in (1, 2, 5):
        monkeypatch.setattr(parts.threads, "count", lambda threads=threads: threads)
        done = np.zeros(1001, np.int32)

        def work(begin, end, done=done):
            done[begin:end] += 1

        in_shares(work, done.size, 10)
        assert (done == 1).all()


@pytest.mark.parametrize("call", [tf.math.igammac, tf.math.zeta, tf.math.nextafter, tf.bitwise.right_shift])
def test_costly_functions_give_the_same_in_parts(call):
    random = np.random.default_rng(1)
    kind = np.int32 if call is tf.bitwise.right_shift else np.float32
    x, y = (random.uniform(1.5, 8, MANY + 5).astype(kind) for _ in range(2))
    whole = call(tf.constant(x), tf.constant(y)).numpy()
    pieces = [
        call(tf.constant(x[i : i + 50_000]), tf.constant(y[i : i + 50_000])).numpy() for i in (0, 50_000, 100_000)
    ]
    np.testing.assert_array_equal(whole, np.concatenate(pieces)[: whole.size])
