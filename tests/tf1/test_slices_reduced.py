"""Sums, products and extremes of slices of an axis, against NumPy."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import slices_reduced

v1 = tf.compat.v1
SLICES = np.array([[0, 1], [0, 3], [1, 2], [1, 9], [2, 2], [2, 1]])
LIMITS = np.iinfo(np.int32)
WAYS = {"sum": (np.sum, 0), "prod": (np.prod, 1), "max": (np.max, LIMITS.min), "min": (np.min, LIMITS.max)}


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("way", WAYS)
def test_each_slice_is_reduced(way, axis):
    x = np.random.RandomState(0).randint(1, 9, [3, 4, 5]).astype(np.int32)
    fold, empty = WAYS[way]
    parts = [x.take(range(a, min(b, x.shape[axis])), axis) for a, b in SLICES]
    wanted = np.stack([fold(p, axis) if p.shape[axis] else np.full_like(x.take(0, axis), empty) for p in parts], axis)
    with tf.Graph().as_default(), v1.Session() as session:
        found = session.run(getattr(slices_reduced, f"reduce_slice_{way}")(x, SLICES, axis))
    np.testing.assert_array_equal(found, wanted)


def test_borders_of_slices_side_by_side():
    with tf.Graph().as_default(), v1.Session() as session:
        x = np.arange(10).reshape(5, 2)
        np.testing.assert_array_equal(
            session.run(slices_reduced.reduce_slice_sum(x, [0, 0, 2, 5], 0)), [[0, 0], [2, 4], [18, 21]]
        )
        assert session.run(slices_reduced.reduce_slice_sum(np.zeros([0, 2]), [[0, 1]], 0)).tolist() == [[0, 0]]
        assert session.run(slices_reduced.reduce_slice_sum(x, np.zeros([0, 2], np.int32), 0)).shape == (0, 2)


def test_what_is_no_slice_is_refused():
    with tf.Graph().as_default():
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"axis=2 is not in \[-2, 2\)"):
            slices_reduced.reduce_slice_sum(np.zeros([2, 2]), [[0, 1]], 2)
        with pytest.raises(ValueError, match="two columns"):
            slices_reduced.reduce_slice_sum(np.zeros([2, 2]), [[0, 1, 2]], 0)
