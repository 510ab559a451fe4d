"""Frames of signals whose rank is known only when they run, and frames that do not overlap."""

import numpy as np

import ebbflow as tf

v1 = tf.compat.v1


def test_frames_of_unknown_rank_are_added_up():
    with tf.Graph().as_default(), v1.Session() as session:
        signal = v1.placeholder(tf.int32)
        added = tf.signal.overlap_and_add(signal, 2)
        assert added.shape.rank is None
        given = np.ones((4, 3, 5), np.int32)
        assert session.run(added, {signal: given}).tolist() == [[1, 1, 2, 2, 3, 2, 2, 1, 1]] * 4


def test_frames_side_by_side_are_joined():
    with tf.Graph().as_default():
        assert tf.signal.overlap_and_add(tf.ones([3, 5]), 5).name == "overlap_and_add/fast_path:0"
    assert tf.signal.overlap_and_add([[1, 2], [3, 4]], 2).numpy().tolist() == [1, 2, 3, 4]
