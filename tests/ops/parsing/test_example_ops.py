"""What is said of examples that do not hold what is asked for: words of TensorFlow 2.21."""

from __future__ import annotations

import pytest

import ebbflow as tf

Train = tf.train


def example(**lists):
    return Train.Example(features=Train.Features(feature=lists)).SerializeToString()


HELD = {
    "ints": example(a=Train.Feature(int64_list=Train.Int64List(value=[1, 2]))),
    "floats": example(a=Train.Feature(float_list=Train.FloatList(value=[1, 2, 3]))),
    "texts": example(a=Train.Feature(bytes_list=Train.BytesList(value=[b"1"]))),
}
REFUSED = [
    ("ints", tf.io.FixedLenFeature((1, 3), tf.int64), "Number of int64 values != expected.  Values size: 2 but output"),
    (
        "floats",
        tf.io.FixedLenFeature((3,), tf.int64),
        "Data types don't match. Data type: float but expected type: int64",
    ),
    ("texts", tf.io.VarLenFeature(tf.float32), "Data types don't match. Data type: string but expected type: float"),
    (
        "texts",
        tf.io.FixedLenSequenceFeature([2, 2], tf.string, allow_missing=True),
        "Number of bytes values is not a multiple of stride length. Saw 1 values but output shape is: ",
    ),
]


@pytest.mark.parametrize("held, asked, says", REFUSED)
@pytest.mark.parametrize("count", [1, 3])
def test_what_is_not_as_asked_is_said(held, asked, says, count):
    with pytest.raises(tf.errors.InvalidArgumentError) as refusal:
        tf.io.parse_example([HELD[held]] * count, {"a": asked}, example_names=["n"] * count)
    assert f"Name: n, Key: a, Index: 0.  {says}" in str(refusal.value)
    with pytest.raises(tf.errors.InvalidArgumentError) as refusal:
        tf.io.parse_single_example(HELD[held], {"a": asked})
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    "asked, says",
    [
        (tf.io.VarLenFeature(None), r"Missing type for feature a. Received feature=VarLenFeature\(dtype=None\)"),
        (
            tf.io.FixedLenFeature(None, tf.int64),
            r"Missing shape for feature a. Received feature=FixedLenFeature\(shape=",
        ),
    ],
)
def test_features_have_a_type_and_a_shape(asked, says):
    with pytest.raises(ValueError, match=says):
        tf.io.parse_example([HELD["ints"]], {"a": asked})


def test_bytes_that_are_no_tensor_are_shown():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Could not parse `serialized` as TensorProto, base64: Ym9ndXM="
    ):
        tf.io.parse_tensor(b"bogus", tf.int32)
