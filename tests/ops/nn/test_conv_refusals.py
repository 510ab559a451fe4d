"""What TensorFlow says of bad arguments, and shapes and dtypes that it knows."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf

v1 = tf.compat.v1
IDS = tf.ragged.constant([[1, 2], [0]])


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: tf.nn.conv_transpose(None, 2, [2, 3], "SAME"), ValueError, "length 3, 4 or 5.*of length 2"),
        (lambda: tf.nn.embedding_lookup(None, IDS), ValueError, "params must be specified"),
        (lambda: tf.nn.embedding_lookup([], IDS), ValueError, "params should not be empty"),
        (
            lambda: tf.nn.embedding_lookup(tf.ones([3, 2]), tf.cast(IDS, tf.float32)),
            ValueError,
            "values contained by the inputs have type",
        ),
        (
            lambda: tf.raw_ops.DataFormatVecPermute(x=[[0, 1], [2, 3]], src_format="1234", dst_format="4321"),
            tf.errors.InvalidArgumentError,
            "must contain H and W for 2D case",
        ),
    ],
)
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize(
    ("given", "found"), [(tf.int32, tf.float64), (tf.int16, tf.float32), (tf.int64, tf.float64), (tf.half, tf.half)]
)
def test_dtypes_of_fits(given, found):
    assert tf.nn.isotonic_regression(tf.constant([[3, 1, 2]], given))[0].dtype is found


def test_the_shape_of_spaced_numbers_is_known():
    @tf.function(input_signature=[tf.TensorSpec([64, None])])
    def spaced(x):
        return tf.linspace(x, x + 1, 10, axis=-1)

    assert spaced.get_concrete_function().output_shapes.as_list() == [64, None, 10]


def test_sessions_names_and_texts():
    with tf.Graph().as_default():
        assert tf.constant(1.0, name=b"e").op.name == "e"
        x = v1.placeholder(tf.string, [2])
        with v1.Session() as session:
            assert session.run(tf.identity(x), {x: np.array(["a", "é"], object)}).tolist() == [b"a", "é".encode()]
            with pytest.raises(RuntimeError, match="not re-entrant"), session:
                pass
