"""Maps of tensors: values by keys, and gradients through them."""

import pytest

import ebbflow as tf

RAW = tf.raw_ops


def test_maps_are_values():
    key, empty = tf.constant(1), RAW.EmptyTensorMap()
    one = RAW.TensorMapInsert(input_handle=empty, key=key, value=[2.0, 3.0])
    assert int(RAW.TensorMapSize(input_handle=empty)) == 0 and int(RAW.TensorMapSize(input_handle=one)) == 1
    found = RAW.TensorMapLookup(input_handle=one, key=key, value_dtype=tf.float32)
    assert found.numpy().tolist() == [2.0, 3.0]
    assert RAW.TensorMapHasKey(input_handle=one, key=key) and not RAW.TensorMapHasKey(input_handle=empty, key=key)
    gone = RAW.TensorMapErase(input_handle=one, key=key, value_dtype=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-existent"):
        RAW.TensorMapLookup(input_handle=gone, key=key, value_dtype=tf.float32)


def insert(into, key, value):
    return RAW.TensorMapInsert(input_handle=into, key=key, value=value)


def lookup(held, key):
    return RAW.TensorMapLookup(input_handle=held, key=key, value_dtype=tf.float32)


def replaced(a, b):
    held = insert(insert(RAW.EmptyTensorMap(), "k", a), "l", b)
    first = lookup(held, "k")
    return 2 * first + 3 * lookup(insert(held, "k", b), "k") + 5 * lookup(held, "k")


def erased(a, b):
    held = insert(insert(RAW.EmptyTensorMap(), 1, a), 2, b)
    rest = RAW.TensorMapErase(input_handle=held, key=2, value_dtype=tf.float32)
    return lookup(rest, 1) * lookup(held, 1) * lookup(insert(rest, 2, 4 * a), 2)


def unused(a, b):
    return lookup(insert(insert(RAW.EmptyTensorMap(), 1, a), 1, b), 1)


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("function, slopes", [(replaced, [7.0, 3.0]), (erased, [108.0, 0.0]), (unused, [0.0, 1.0])])
def test_gradients_through_a_map(function, slopes, wrapped):
    a, b = tf.constant(3.0), tf.constant(7.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = (tf.function(function) if wrapped else function)(a, b)
    assert [g.numpy() for g in tape.gradient(y, [a, b])] == slopes
