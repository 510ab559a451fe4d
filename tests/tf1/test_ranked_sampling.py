"""The sampled softmax over the most likely of the drawn classes, and derivatives forward through a graph."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import ranked_sampling

v1 = tf.compat.v1


def loss(**given):
    words = dict(
        weights=tf.reshape(tf.range(50.0), [10, 5]) / 10, biases=tf.range(10.0) / 10,
        labels=tf.constant([[0, 1], [1, 2]], tf.int64), inputs=tf.reshape(tf.range(10.0), [2, 5]), num_sampled=5,
        num_resampled=3, num_classes=10, num_true=2, sampled_values=([3, 4, 5, 6, 7], [[0.5], [0.5]], [0.5] * 5),
        resampling_temperature=1.0, remove_accidental_hits=False, partition_strategy="div",
    )  # fmt: skip
    return ranked_sampling.rank_sampled_softmax_loss(**{**words, **given}), words


def test_the_highest_of_the_drawn_classes_count():
    with tf.Graph().as_default(), v1.Session() as session:
        found, words = loss()
        wanted = v1.nn.sampled_softmax_loss(
            words["weights"], words["biases"], words["labels"], words["inputs"], 3, 10, 2,
            ([5, 6, 7], [[0.5], [0.5]], [0.5] * 3), False, "div",
        )  # fmt: skip
        found, wanted = session.run([found, wanted])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "given, says",
    [
        (dict(num_sampled=3), r"num_resampled \(3\) must be less than num_sampled \(3\)"),
        (dict(num_sampled=11), r"num_sampled \(11\) cannot be greater"),
        (dict(partition_strategy=None), r"unsupported partition_strategy \(None\)"),
    ],
)
def test_numbers_that_do_not_go_together(given, says):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=says):
        loss(**given)


def test_derivatives_forward():
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant(2.0)
        (found,) = ranked_sampling.fwd_gradients([tf.square(x)], [x], [3.0])
        assert session.run(found) == 12.0


def test_sparse_labels_have_the_loss_of_one_class():
    with tf.Graph().as_default(), v1.Session() as session:
        drawn = ([3, 4], [[0.5], [0.5]], [0.5] * 2)
        weights, labels = tf.reshape(tf.range(50.0), [10, 5]) / 50, tf.constant([[1], [2]])
        given = (weights, tf.zeros([10]), labels, tf.ones([2, 5]), 2, 10)
        sparse = ranked_sampling.sampled_sparse_softmax_loss(*given, sampled_values=drawn)
        dense = v1.nn.sampled_softmax_loss(*given, sampled_values=drawn)
        np.testing.assert_allclose(*session.run([sparse, dense]), rtol=1e-6)
