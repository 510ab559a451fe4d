"""Scales of vectors' distributions and their shapes, as TensorFlow 1.15 makes them."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.distributions import real, scales, vectors

v1 = tf.compat.v1


def run(value, feeds=None):
    with v1.Session() as session:
        return session.run(value, feeds)


@pytest.mark.parametrize(
    "given, dense",
    [
        (dict(scale_diag=[1.0, 2.0]), [[1, 0], [0, 2]]),
        (dict(scale_diag=[1.0, 2.0], scale_identity_multiplier=3.0), [[4, 0], [0, 5]]),
        (dict(scale_identity_multiplier=3.0, shape_hint=2), [[3, 0], [0, 3]]),
        (dict(loc=np.zeros(2, np.float32)), [[1, 0], [0, 1]]),
        (dict(scale_tril=[[1.0, 9.0], [4.0, 2.0]]), [[1, 0], [4, 2]]),
        (dict(scale_tril=[[1.0, 9], [4, 2]], scale_diag=[1.0, 1.0], scale_identity_multiplier=2.0), [[4, 0], [4, 5]]),
    ],
)
def test_scales_are_what_they_are_made_from(given, dense):
    with tf.Graph().as_default():
        np.testing.assert_allclose(run(scales.make_tril_scale(**given).to_dense()), dense)


def test_nothing_says_how_long_a_scale_is():
    with pytest.raises(ValueError, match="unless `loc` or `shape_hint` is specified"):
        scales.make_diag_scale()


@pytest.mark.parametrize("diagonal, positive, says", [([0.0, 1.0], False, "non-zero"), ([-1.0, 1.0], True, "positive")])
def test_a_diagonal_is_looked_at_when_it_runs(diagonal, positive, says):
    with tf.Graph().as_default():
        scale = scales.make_diag_scale(scale_diag=diagonal, validate_args=True, assert_positive=positive)
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"diagonal part must be {says}"):
            run(scale.to_dense())


def test_shapes_of_a_shift_and_a_scale():
    with tf.Graph().as_default():
        scale = tf.linalg.LinearOperatorDiag(np.ones((5, 1, 3)))
        batch, event = scales.shapes_from_loc_and_scale(tf.zeros([2, 3], tf.float64), scale)
        assert (batch.as_list(), event.as_list()) == ([5, 2], [3])
        loc = v1.placeholder(tf.float64)
        batch, event = scales.shapes_from_loc_and_scale(loc, scale)
        assert run(batch, {loc: np.zeros([2, 3])}).tolist() == [5, 2] and event.as_list() == [3]
        with pytest.raises(ValueError, match="could not be broadcast"):
            scales.shapes_from_loc_and_scale(tf.zeros([2, 4], tf.float64), scale)


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("axis", [0, -2, 1, -1])
def test_padding_knows_its_shape_where_it_can(static, axis):
    x = np.float32([[1, 2, 3], [4, 5, 6]])
    with tf.Graph().as_default():
        given = v1.placeholder_with_default(x, x.shape if static else None)
        count = tf.constant(2) if static else v1.placeholder_with_default(2, [])
        padded = scales.pad(given, axis, value=9.0, count=count, front=True)
        widths = [(0, 0), (0, 0)]
        widths[axis] = (2, 0)
        wanted = np.pad(x, widths, constant_values=9)
        assert not static or padded.shape.as_list() == list(wanted.shape)
        np.testing.assert_array_equal(run(padded), wanted)
        with pytest.raises(ValueError, match="At least one"):
            scales.pad(given, axis)


@pytest.mark.parametrize("source, dest", [(1, 1), (0, 3), (0, -2), (4, 2), (-1, 2)])
def test_an_axis_moves(source, dest):
    x = np.zeros([200, 30, 4, 1, 6], np.float32)
    with tf.Graph().as_default():
        wanted = np.moveaxis(x, source, dest).shape
        assert scales.move_dimension(tf.constant(x), source, dest).shape == wanted
        moved = scales.move_dimension(v1.placeholder_with_default(x, None), source, dest)
        assert run(moved).shape == wanted


def test_values_of_a_mixture():
    with tf.Graph().as_default():
        parts = [[1 / 3] * 3, [0.75, 0.25, 0]], [[1.0] * 3, [-5, 0, 1.25]], [[1.0] * 3, [0.01, 2, 0.1]]
        spread = scales.mixture_stddev(*(tf.constant(v, tf.float64) for v in parts))
        np.testing.assert_allclose(run(spread), [1.0, 2.3848637277])
        whole = vectors.MultivariateNormalDiag([[-1.0, 1.0], [1.0, -1.0]])
        x = scales.pad_mixture_dimensions(tf.ones([2, 2]), whole, real.Normal([0.0, 0.0], 1.0), 1)
        assert run(x).shape == (2, 2, 1)
        assert scales.get_broadcast_shape(tf.ones([2, 1, 3]), tf.ones([1, 5, 3]), tf.ones([])) == [2, 5, 3]
        assert scales.is_diagonal_scale(whole.scale)
