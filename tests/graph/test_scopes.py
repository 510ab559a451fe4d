"""Scopes that programs keep and enter as often as they like."""

import contextlib

import pytest

import ebbflow as tf


@pytest.mark.parametrize("graph", [False, True])
def test_a_device_is_entered_again(graph):
    """As programs do that keep one and enter it wherever they compute, also inside itself."""
    with tf.Graph().as_default() if graph else contextlib.nullcontext():
        kept = tf.device("/cpu:0")
        for _ in range(2):
            with kept:
                first = tf.constant(1)
                with kept:
                    inner = tf.constant(1)
            assert first.device == inner.device and first.device.endswith("CPU:0")


def test_what_is_waited_for_together_may_be_arrays_and_sparse():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        c = tf.constant(1.0)
        found = session.run(tf.tuple([[1.0, 2.0], (c, c), None, tf.sparse.from_dense([0.0, 3.0]), c])[:2])
        assert [x.tolist() for x in found] == [[1.0, 2.0], [1.0, 1.0]]
        assert session.run(tf.tuple([tf.sparse.from_dense([0.0, 3.0]), c]))[0].values.tolist() == [3.0]
        with pytest.raises(TypeError, match="list of tensors"):
            tf.tuple([{"x": c}, c])
