"""The call of an op: what settles a call, what is remembered of it, and whom the op asks for a value it cannot take."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.ops.declare import raw


def test_numbers_follow_the_tensor_beside_them_each_time():
    x, y = tf.constant([1.5]), tf.constant([3], tf.int64)
    for _ in range(2):  # the second call goes by what was remembered of the first
        assert raw.Add(x, 1).numpy().tolist() == [2.5]
        assert raw.Add(1, y).dtype == tf.int64
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a int64 tensor"):
        raw.Add(y, x)


def test_attrs_that_an_op_does_not_have_are_refused():
    with pytest.raises(TypeError, match="wrong"):
        raw.Add(1, 2, wrong=True)


def test_a_value_that_is_no_tensor_says_what_the_op_gives_for_it():
    rows = tf.ragged.constant([[1, 2], [3]])
    assert raw.Neg(rows).to_list() == [[-1, -2], [-3]]
    fetched = tf.compat.v1.ragged.constant_value([[1, 2], [3]])
    assert raw.Neg(fetched).to_list() == [[-1, -2], [-3]]
    with pytest.raises((TypeError, ValueError), match="RaggedTensor"):
        raw.Cholesky(rows)
