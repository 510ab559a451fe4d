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
