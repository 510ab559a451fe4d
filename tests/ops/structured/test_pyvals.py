"""Nested Python values made structured tensors, and written out again."""

import pytest

import ebbflow as tf
from ebbflow.ops.structured.tensor import StructuredTensorSpec as Spec

Structured = tf.experimental.StructuredTensor
VALUES = [
    {},
    {"a": 12, "b": [1, 2, 3], "c": [[1, 2], [3]]},
    {"a": 1, "c": {"x": b"Z", "y": [10, 20]}},
    [{"a": 1, "b": [{"x": [1, 2]}, {"x": [5]}]}, {"a": 2, "b": [{"x": [3]}]}],
    [[{"a": 1}, {"a": 2}], [], [{"a": 3}]],
    [[{}, {}], [{}]],
    [{"a": {}, "b": [3]}, {"a": {}, "b": []}],
]


@pytest.mark.parametrize("value", VALUES)
def test_there_and_back(value):
    assert Structured.from_pyval(value).to_pyval() == value


def test_without_dicts():
    assert Structured.from_pyval([[], []]).to_list() == [[], []]
    assert Structured.from_pyval([1, 2]).numpy().tolist() == [1, 2]


def test_by_a_type():
    spec = Spec([2, 3], {"a": tf.TensorSpec(None, tf.int32)})
    made = Structured.from_pyval([[{"a": 1}, {"a": 2}, {"a": 3}], [{"a": 4}, {"a": 5}, {"a": 6}]], spec)
    assert made.shape == [2, 3]
    assert made.field_value("a").numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert Structured.from_pyval([], Spec([0], {"a": tf.TensorSpec([0], tf.int32)})).to_pyval() == []


@pytest.mark.parametrize(
    ("value", "spec", "error", "says"),
    [
        ([{"a": [1]}, {"b": [3]}], None, KeyError, "b"),
        ({"a": 1}, Spec([], {"b": tf.TensorSpec([], tf.int32)}), ValueError, r"Value at \(\) does not match"),
        ([{"a": 1}], Spec([], {"a": tf.TensorSpec([], tf.int32)}), ValueError, "rank mismatch"),
        ({"a": [[1]]}, Spec([], {"a": tf.TensorSpec([], tf.int32)}), ValueError, r"Value at \('a',\)"),
        ([{"a": 1}, {"a": "c"}], None, ValueError, r"Error parsing path \('a',\)"),
        ([{}, [{}]], None, ValueError, "Inconsistent depth"),
        ([[{}], 5], None, ValueError, "Expected dict"),
    ],
)
def test_what_does_not_fit(value, spec, error, says):
    with pytest.raises(error, match=says):
        Structured.from_pyval(value, spec)
