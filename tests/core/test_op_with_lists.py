"""Ops that take lists remember how a call was settled: types and lengths decide, functions and values are not kept."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data.mapping import MapDataset
from ebbflow.ops.declare import raw


def test_the_second_call_of_a_kind_is_not_settled_again():
    concat = raw.ConcatV2
    a, b, axis = tf.constant([1.0]), tf.constant([2.0]), tf.constant(0)
    concat([a, b], axis)
    kinds = len(concat._settled)
    assert concat([b, a], axis).numpy().tolist() == [2.0, 1.0]
    assert len(concat._settled) == kinds
    assert concat([a, b, a], axis).numpy().tolist() == [1.0, 2.0, 1.0]
    assert concat([tf.constant([1]), tf.constant([2])], axis).dtype == tf.int32
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        concat([a, tf.constant([1])], axis)


def test_lists_of_other_things_and_long_ones_go_the_long_way():
    kinds = len(raw.Pack._settled)
    assert raw.Pack([np.float32(1), 2.0]).numpy().tolist() == [1.0, 2.0]
    assert raw.Pack([tf.constant(float(i)) for i in range(40)]).shape == (40,)
    assert len(raw.Pack._settled) == kinds


def test_gradients_know_the_tensors_of_lists():
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            joined = tf.concat([x, y], 0) * [1.0, 10.0, 100.0]
        dx, dy = tape.gradient(joined, [x, y])
        assert dx.numpy().tolist() == [1.0, 10.0] and dy.numpy().tolist() == [100.0]


def test_functions_are_not_kept_by_the_ops_that_take_them():
    class Owner:
        def __init__(self, by):
            self.by = by

        def scaled(self, x):
            return x * self.by

    alive = []
    for by in (2, 3):
        owner = Owner(by)
        alive.append(weakref.ref(owner))
        assert [int(x) for x in tf.data.Dataset.range(3).map(owner.scaled)] == [0, by, 2 * by]
    del owner
    gc.collect()
    assert [ref() for ref in alive] == [None, None]
    assert not any("f" in settled for settled, _, _ in MapDataset._settled.values())
