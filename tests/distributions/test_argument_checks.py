"""What distributions ask of their parameters: known values, checks of form, turned axes, in graphs whose shapes are not
known.
"""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.distributions import argument_checks as checks
from ebbflow.distributions import functions

v1 = tf.compat.v1


def fed(value, shape=None):
    return v1.placeholder_with_default(np.asarray(value), shape)


def test_known_values_are_arrays():
    with tf.Graph().as_default():
        assert checks.prefer_static_rank(tf.zeros([2, 3])) == 2
        assert checks.prefer_static_shape(tf.zeros([2, 3])).tolist() == [2, 3]
        assert isinstance(checks.prefer_static_shape(fed([1.0])), tf.Tensor)
        assert checks.prefer_static_value(tf.constant([1, 2])).tolist() == [1, 2]
        assert checks.maybe_get_static_value(fed(1)) is None and checks.maybe_get_static_value(None) is None
        assert checks.maybe_get_static_value(3, tf.float32).dtype == np.float32


def test_functions_of_unknown_shapes():
    with tf.Graph().as_default(), v1.Session() as session:
        x = np.arange(24).reshape(2, 3, 4)
        for shift in (-4, -1, 0, 1, 2):
            expected = np.transpose(x, np.roll(np.arange(3), shift)).shape
            assert session.run(checks.rotate_transpose(fed(x), fed(shift, []))).shape == expected
            assert session.run(checks.rotate_transpose(tf.constant(x), shift)).shape == expected
        assert session.run(checks.same_dynamic_shape(fed(x), fed(x + 1)))
        assert not session.run(checks.same_dynamic_shape(fed(x), fed(x[0])))
        assert session.run(checks.pick_vector(fed(False), [1], [2, 3])).tolist() == [2, 3]
        assert checks.pick_vector(True, [1], [2, 3]) == [1]
        for upper in (False, True):
            numbers = np.arange(1.0, 13.0).reshape(2, 6)
            matrices = session.run(functions.fill_triangular(fed(numbers), upper))
            np.testing.assert_array_equal(matrices, session.run(functions.fill_triangular(numbers, upper)))
            np.testing.assert_array_equal(session.run(functions.fill_triangular_inverse(fed(matrices), upper)), numbers)
        length = session.run(tf.norm(fed(np.diag([3.0, -4.0])), 2, (-2, -1)))
        np.testing.assert_allclose(length, 4.0)
        np.testing.assert_allclose(session.run(checks.log_combinations(4.0, [1.0, 3.0])), np.log(4.0), rtol=1e-6)


def test_checks():
    with tf.Graph().as_default(), v1.Session() as session:
        logits, _ = checks.get_logits_and_probs(probs=[0.25, 0.75], validate_args=True)
        np.testing.assert_allclose(session.run(logits), [-np.log(3), np.log(3)], rtol=1e-5)
        for bad, words in (([-1.0], "x >= 0"), ([1.5], "components greater than 1")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(checks.get_logits_and_probs(probs=fed(bad), validate_args=True))
        with pytest.raises(ValueError, match="at least 2 events"):
            checks.embed_check_categorical_event_shape(tf.zeros([3, 1]))
        with pytest.raises(ValueError, match="float16 implies shape"):
            checks.embed_check_categorical_event_shape(tf.zeros([2049], tf.float16))
        with pytest.raises(TypeError, match="must be integer-type"):
            checks.embed_check_integer_casting_closed(tf.zeros([2]), tf.float64)
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot exceed 127"):
            session.run(checks.embed_check_integer_casting_closed(fed([200]), tf.int8))
        with pytest.raises(tf.errors.InvalidArgumentError, match="has non-integer components"):
            session.run(checks.assert_integer_form(fed([1.5])))
