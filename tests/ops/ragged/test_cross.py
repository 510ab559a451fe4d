"""Crosses of features: of tensors, and of what was fetched of them."""

import ebbflow as tf


def test_fetched_values_are_crossed_as_tensors_are():
    ragged = tf.compat.v1.ragged.constant_value([[b"a"], [b"b", b"c"]])
    sparse = tf.compat.v1.SparseTensorValue([[0, 0], [1, 0]], [b"x", b"y"], [2, 1])
    assert tf.ragged.cross([ragged, sparse]).to_list() == [[b"a_X_x"], [b"b_X_y", b"c_X_y"]]
