"""Types of traces as messages, and back."""

import pytest

import ebbflow as tf
from ebbflow.functions.trace_type_api import deserialize, serialize


@pytest.mark.parametrize("kind", [tf.float32, tf.string, tf.TensorShape([1, None]), tf.TensorShape(None)], ids=str)
def test_there_and_back(kind):
    found = deserialize(serialize(kind))
    assert type(found) is type(kind) and repr(found) == repr(kind)


def test_refusals():
    with pytest.raises(ValueError, match="Can not serialize 3"):
        serialize(3)
    message = serialize(tf.int8)
    message.type_url = "type.googleapis.com/unheard.of"
    with pytest.raises(ValueError, match=r"unregistered type unheard\.of"):
        deserialize(message)
