"""Reshape with shapes that are known, fed, or of unknown length; the slopes of SinhArcsinh far out."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.distributions.bijectors.elementwise import SinhArcsinh
from ebbflow.distributions.bijectors.reshaping import MISMATCH, Reshape

v1 = tf.compat.v1
FORMS = ["known", "fed", "of any length"]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def shape_of_a_kind(dims, form):
    given = np.array(dims, np.int32)
    return dims if form == "known" else v1.placeholder_with_default(given, [len(dims)] if form == "fed" else None)


def run(*fetches):
    with v1.Session() as session:
        return session.run(fetches)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("old, new, x_dims, y_dims", [
    ([3, 2], [6], (4, 3, 2), (4, 6)),
    ([1], [], (4, 3, 1), (4, 3)),
    ([-1], [2, 3], (4, 6), (4, 2, 3)),
    ([-1, 3], [-1, 2], (4, 2, 3), (4, 3, 2)),
])  # fmt: skip
def test_there_and_back(form, old, new, x_dims, y_dims):
    bijector = Reshape(shape_of_a_kind(new, form), shape_of_a_kind(old, form), validate_args=True)
    x = np.arange(np.prod(x_dims), dtype=np.float32).reshape(x_dims)
    y, back = run(bijector.forward(x), bijector.inverse(x.reshape(y_dims)))
    assert y.shape == y_dims and back.tolist() == x.tolist()
    assert not np.any(
        run(bijector.forward_log_det_jacobian(x, len(old)), bijector.inverse_log_det_jacobian(y, len(new)))
    )
    there, again = run(bijector.forward_event_shape_tensor(x_dims), bijector.inverse_event_shape_tensor(y_dims))
    assert tuple(there) == y_dims and tuple(again) == x_dims
    if form == "known":
        assert bijector.forward_event_shape(x_dims) == y_dims and bijector.inverse_event_shape(y_dims) == x_dims


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("old, new, x_dims, says", [
    ([2, 3], [4, -1, -1], (2, 3), "at most one `-1`"),
    ([2, 3], [1, 2, -2], (2, 3), "either positive integers or `-1`"),
    ([2, 3], [1, 6, 1], (4, 3, 2), MISMATCH),
    ([2, -1], [1, 6, 1], (4, 3, 2), MISMATCH),
])  # fmt: skip
def test_refusals(form, old, new, x_dims, says):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=says):
        bijector = Reshape(shape_of_a_kind(new, form), shape_of_a_kind(old, form), validate_args=True)
        run(bijector.forward(np.zeros(x_dims, np.float32)))


def test_shapes_are_vectors_and_inputs_have_their_axes():
    with pytest.raises(ValueError, match="`event_shape_out` must be a vector, but its rank is 2"):
        Reshape([[1]])
    with pytest.raises(ValueError, match="Input has rank 1, but events of `event_shape_in` have 2 axes"):
        Reshape([4], [2, 2]).forward([1.0, 2.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_slopes_far_out_are_finite(dtype):
    x = np.array([0, 1e-3, 1, 1e30, np.finfo(dtype).max / 4], dtype)
    x = np.concatenate([-x, x])
    bijector = SinhArcsinh(dtype(0.0), dtype(1.0), validate_args=True)
    slopes, back = run(bijector.forward_log_det_jacobian(x, 0), bijector.inverse_log_det_jacobian(x, 0))
    np.testing.assert_allclose(slopes, 0, atol=2e-6)
    np.testing.assert_allclose(back, 0, atol=2e-6)


def test_a_tail_without_weight():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Argument tailweight was not positive"):
        run(SinhArcsinh(tailweight=0.0, validate_args=True).forward(1.0))
