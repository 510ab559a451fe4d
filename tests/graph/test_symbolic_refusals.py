"""What is said to who uses tensors of a graph, or nodes, for what they are not."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.core.convert import convert_to_tensor_or_composite
from ebbflow.functions.autograph.status import ControlStatusCtx, Status

v1 = tf.compat.v1


def test_a_tensor_of_a_graph_is_no_bool_and_is_not_iterated_over():
    with tf.Graph().as_default():
        t = v1.placeholder(tf.bool, [3])
        for use, words in ((bool, "Using.*as a.*bool.*not allowed.*Graph mode"), (iter, "Cannot iterate")):
            with pytest.raises(TypeError, match=words):
                use(t)
            with ControlStatusCtx(Status.ENABLED), pytest.raises(TypeError, match=r"AutoGraph.*unsupported feature"):
                use(t)
            with ControlStatusCtx(Status.DISABLED), pytest.raises(TypeError, match=r"AutoGraph.*not be visible"):
                use(t)


@pytest.mark.parametrize("name", ["T", "astype", "ravel", "transpose", "reshape", "clip", "size", "tolist", "data"])
def test_numpy_attributes_say_how_to_get_them(name):
    with tf.Graph().as_default():
        symbolic = tf.constant([1.0])
    for tensor in (tf.constant([1.0]), symbolic):
        assert not hasattr(tensor, name)
        with pytest.raises(AttributeError, match="If you are looking for numpy-related methods"):
            getattr(tensor, name)


def test_an_operation_is_no_tensor():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="can't convert Operation 'nothing' to Tensor"):
        tf.convert_to_tensor(tf.no_op(name="nothing"))


def test_logic_of_bools_refuses_numbers():
    with tf.Graph().as_default():
        for operands in ((tf.constant(True), tf.constant(1)), (tf.constant(1), tf.constant(True))):
            with pytest.raises(TypeError):
                operands[0] ^ operands[1]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant(True) ^ tf.constant(1)


def test_attrs_of_a_scope_may_be_messages():
    with tf.Graph().as_default() as graph:
        with graph._attr_scope({"_A": v1.AttrValue(s=b"foo"), "_B": 3}):
            node = tf.no_op()
        assert node.get_attr("_A") == b"foo"
        assert node.get_attr("_B") == 3


def test_a_scope_that_is_only_slashes_is_itself():
    with tf.Graph().as_default(), v1.name_scope("foo"):
        with v1.name_scope("/") as one:
            assert one == "/"
        with v1.name_scope("//") as two:
            assert two == "//"


class Pair:
    def __init__(self, *parts):
        self.parts = parts


def test_a_conversion_function_may_give_a_composite_tensor():
    tf.register_tensor_conversion_function(
        Pair, lambda value, dtype=None, name=None, as_ref=False: tf.ragged.constant(value.parts)
    )
    found = convert_to_tensor_or_composite(Pair([1], [2, 3]))
    assert isinstance(found, tf.RaggedTensor)
    with pytest.raises(TypeError, match="which is not a tensor"):
        tf.convert_to_tensor(Pair([1], [2, 3]))
