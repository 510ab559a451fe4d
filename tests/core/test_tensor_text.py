"""How tensors that hold no numbers are shown, and what is said of a dtype that is none."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.tensor import EagerTensor


def test_a_handle_is_shown_as_what_it_stands_for():
    handle = tf.Variable([1.0]).handle
    text = f'<ResourceHandle(name="", device="{handle.device}", container="localhost", type="tensorflow::Var")>'
    assert f"{handle}" == text
    assert str(handle) == f"tf.Tensor({text}, shape=(), dtype=resource)"
    assert repr(handle) == f"<tf.Tensor: shape=(), dtype=resource, value={text}>"


def test_a_list_is_shown_as_one():
    shape = tf.constant([], tf.int32)
    items = tf.raw_ops.EmptyTensorList(element_shape=shape, max_num_elements=1, element_dtype=tf.float32)
    assert f"{items}" == "<TensorList>"
    assert repr(items) == "<tf.Tensor: shape=(), dtype=variant, value=<TensorList>>"


def test_a_number_of_no_dtype_is_refused():
    with pytest.raises(TypeError, match="Invalid dtype argument value"):
        EagerTensor(np.zeros(1, np.float32), dtype=34)


def test_elements_can_be_looked_at_in_place():
    """By what Python 3.12 and later call for `memoryview(tensor)`."""
    view = tf.constant([1.0, 2.0]).__buffer__(0)
    assert view.readonly
    assert np.asarray(view).tolist() == [1.0, 2.0]
    assert np.asarray(tf.constant(42.0).__buffer__(0)) == 42.0
    with pytest.raises(BufferError, match="resource"):
        tf.Variable(1.0).handle.__buffer__(0)


def test_every_variable_says_that_it_belongs_to_no_strategy():
    assert tf.Variable(0.0)._distribute_strategy is None
    aggregation = tf.compat.v1.VariableAggregation
    assert aggregation.ONLY_FIRST_TOWER is aggregation.ONLY_FIRST_REPLICA
