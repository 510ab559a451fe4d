"""Signatures of tensors: what fits them, placeholders and parsers made from them."""

import pytest

import ebbflow as tf
from ebbflow.tf1 import tensor_signatures as signatures

v1 = tf.compat.v1


def tensor(shape, dtype=tf.int32):
    return v1.placeholder(dtype, shape)


@pytest.mark.parametrize(
    "shape, dtype, other, other_dtype, fits",
    [
        ([None, 100], tf.int32, [256, 100], tf.int32, True),
        ([256, 100], tf.int32, [128, 100], tf.int32, True),
        ([None, 100], tf.int32, [256, 100], tf.float32, False),
        ([None, 100], tf.int32, [256, 99], tf.int32, False),
        (None, tf.string, [128, 2], tf.string, True),
        ([None], tf.string, None, tf.string, True),
    ],
)
def test_what_fits(shape, dtype, other, other_dtype, fits):
    with tf.Graph().as_default():
        made = signatures.create_signatures(tensor(shape, dtype))
        assert signatures.tensors_compatible(tensor(other, other_dtype), made) is fits


def test_names_must_be_there():
    with tf.Graph().as_default():
        a, b = tensor([None, 2]), tensor([None, 3])
        made = signatures.create_signatures({"a": a})
        assert signatures.tensors_compatible({"a": a, "b": b}, made)
        assert not signatures.tensors_compatible({"b": b}, made)
        assert not signatures.tensors_compatible(a, made)
        assert signatures.tensors_compatible(None, None) and not signatures.tensors_compatible(None, made)
        assert signatures.create_signatures(None) is signatures.create_placeholders_from_signatures(None) is None


def test_placeholders_and_parsers_fit_what_they_are_made_from():
    with tf.Graph().as_default(), v1.Session() as session:
        sparse = tf.SparseTensor([[0, 0]], [1.0], [3, 4])
        made = signatures.create_signatures({"a": tensor([5, 2], tf.float64), "s": sparse, "b": tensor([None, 1])})
        assert signatures.tensors_compatible(signatures.create_placeholders_from_signatures(made), made)
        features = {
            "a": tf.train.Feature(float_list=tf.train.FloatList(value=[1, 2])),
            "b": tf.train.Feature(int64_list=tf.train.Int64List(value=[7])),
            "s": tf.train.Feature(float_list=tf.train.FloatList(value=[3])),
        }
        example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
        read = signatures.create_example_parser_from_signatures(made, tf.constant([example]))
        assert signatures.tensors_compatible(read, made)
        a, b = session.run([read["a"], read["b"]])
        assert a.tolist() == [[1, 2]] and a.dtype == "float64" and b.tolist() == [[7]]
        one = signatures.create_example_parser_from_signatures(made["a"], tf.constant([example]), "a")
        assert session.run(one).tolist() == [[1, 2]]
