"""Which rates `dropout` takes: a number or a tensor of one, of the dtype of what is dropped."""

from __future__ import annotations

import pytest

import ebbflow as tf


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rate": [0.1, 0.2]}, "must be a scalar"),
        ({"rate": tf.constant([0.1, 0.2])}, "must be a scalar"),
        ({"rate": "a"}, "must be a scalar"),
        ({"rate": tf.constant(0.1, tf.float64)}, "dtype float64"),
        ({"rate": 1.1}, r"in the range \[0, 1\)"),
        ({"keep_prob": [0.5]}, "`keep_prob` must be a floating point number"),
    ],
)
def test_a_rate_is_one_number(given, says):
    with pytest.raises(ValueError, match=says):
        tf.compat.v1.nn.dropout(tf.ones([2]), **given)


def test_a_body_that_gives_a_tuple():
    found = tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), [tf.constant(0)])
    assert isinstance(found, tuple) and int(found[0]) == 3
    assert isinstance(tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)]), list)
