"""Defaults of signatures: messages, or tensors whose value is known."""

import pytest

import ebbflow as tf

v1 = tf.compat.v1


def test_defaults_are_the_values_of_constants():
    with tf.Graph().as_default():
        given = {"w": tf.constant(1.5), "m": tf.make_tensor_proto(2)}
        found = v1.saved_model.build_signature_def(defaults=given, method_name="m")
        with pytest.raises(ValueError, match="'x' must be a constant"):
            v1.saved_model.build_signature_def(defaults={"x": v1.placeholder(tf.float32)})
    assert (found.defaults["w"].float_val[:], found.defaults["m"].int_val[:]) == ([1.5], [2])
