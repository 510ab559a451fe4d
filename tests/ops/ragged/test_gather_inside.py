"""`tf.gather` by ragged indices along an inner axis of a tensor; lists of numbers and tensors as arguments."""

import numpy as np
import pytest

import ebbflow as tf

X = np.arange(60).reshape(3, 4, 5)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
@pytest.mark.parametrize("axis, shape", [(1, [3, 2, None, 5]), (2, [3, 4, 2, None]), (-1, [3, 4, 2, None])])
def test_axes_before_it_are_rows_of_one_length(wrap, axis, shape):
    indices = tf.ragged.constant([[2], [0, 3, 1]])
    found = wrap(lambda i: tf.gather(X, i, axis=axis))(indices)
    assert found.shape.as_list() == shape
    whole = np.moveaxis(found.to_tensor().numpy(), axis if axis > 0 else 2, 0)
    np.testing.assert_array_equal(whole[1], np.take(X, [0, 3, 1], axis=axis))
    np.testing.assert_array_equal(np.take(whole[0], [0], axis=axis), np.take(X, [2], axis=axis))


def test_a_list_that_holds_a_tensor_has_its_type():
    @tf.function
    def padded(q):
        return tf.pad([1], [[0, tf.rank(q)]], constant_values=7)

    assert padded(tf.zeros([2, 2])).numpy().tolist() == [1, 7, 7]


def test_indices_of_an_unknown_rank_are_refused():
    with tf.Graph().as_default():
        indices = tf.compat.v1.placeholder_with_default([0], None)
        with pytest.raises(ValueError, match=r"rank\(indices\) must be known statically"):
            tf.gather(tf.ragged.constant([[1], [2, 3]]), indices)


@pytest.mark.parametrize(
    ("axis", "error", "says"),
    [(None, TypeError, "list of int"), (["a"], TypeError, "list of int"), (1.5, TypeError, "list of int"),
     ([5], ValueError, r"axis\[0\]=5 out of bounds: expected -2<=axis\[0\]<2")],
)  # fmt: skip
def test_axes_that_are_not_turned_round(axis, error, says):
    with pytest.raises(error, match=says):
        tf.reverse(tf.ragged.constant([[1], [2, 3]]), axis)


@pytest.mark.parametrize(("axis", "rows"), [([], [[1], [2, 3]]), (1, [[1], [3, 2]]), ([0, -1], [[3, 2], [1]])])
def test_axes_that_are_turned_round(axis, rows):
    assert tf.reverse(tf.ragged.constant([[1], [2, 3]]), axis).to_list() == rows
