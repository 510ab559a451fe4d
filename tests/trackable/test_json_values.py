"""Values in JSON that JSON does not know."""

import json

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.trackable.json_values import get_json_type


def held(value):
    module = tf.Module()
    module.value = value
    return module.value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (held([1]), "[1]"),
        (held({"a": 2}), '{"a": 2}'),
        (held((1,)), "[1]"),
        (np.float32(0.5), "0.5"),
        (np.arange(2), "[0, 1]"),
        (tf.TensorShape([None, 2]), "[null, 2]"),
        (tf.float32, '"float32"'),
        (tf.TensorSpec([2]), '{"class_name": "TypeSpec", "type_spec": "tf.TensorSpec", '
                             '"serialized": [[2], "float32", null]}'),
        (..., '{"class_name": "__ellipsis__"}'),
        (len, '"len"'),
    ],
)  # fmt: skip
def test_forms(value, text):
    assert json.dumps(value, default=get_json_type) == text


def test_what_has_no_form():
    with pytest.raises(TypeError, match="have no form in it"):
        json.dumps(object(), default=get_json_type)
