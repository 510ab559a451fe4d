"""Weak tensors and the functions that give them: the dtypes and weakness that TensorFlow 2.21 gives."""

import operator

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.numpy.behaviour import set_dtype_conversion_mode
from ebbflow.ops.weak.operators import WeakTensor


@pytest.fixture(autouse=True)
def _mode():
    set_dtype_conversion_mode("all")
    yield
    set_dtype_conversion_mode("off")


def shown(result):
    return ("weak " if isinstance(result, WeakTensor) else "") + tf.as_dtype(result.dtype).name


def weak(value, dtype):
    return WeakTensor.from_tensor(tf.constant(value, dtype))


def floats():
    return weak([1.0, 2.0], tf.float32)


def ints():
    return weak([1, 2], tf.int32)


def shorts():
    return tf.constant([1, 2], tf.int16)


def longs():
    return tf.Variable([1, 2], dtype=tf.int64)


ARITHMETIC = [
    (floats, floats, "weak float32"),
    (ints, lambda: 2, "weak int32"),
    (lambda: 2, ints, "weak int32"),
    (ints, shorts, "int16"),
    (shorts, lambda: 1.5, "weak float64"),
    (lambda: 1.5, shorts, "weak float64"),
    (shorts, longs, "int64"),
    (longs, shorts, "int64"),
    (longs, lambda: 1.5, "weak float64"),
    (lambda: np.array([1, 2], np.int8), shorts, "int16"),
    (ints, lambda: np.array([1, 2], np.int8), "int8"),
]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "floordiv", "mod", "pow"])
@pytest.mark.parametrize(("x", "y", "said"), ARITHMETIC)
def test_operators_promote(name, x, y, said):
    found = getattr(operator, name)(x(), y())
    assert shown(found) == said
    np.testing.assert_allclose(found.numpy(), getattr(operator, name)(np.asarray(x()), np.asarray(y())))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tf.constant(1), "weak int32"),
        (lambda: tf.constant([1, 2.5]), "weak float32"),
        (lambda: tf.constant(True), "bool"),
        (lambda: tf.constant(np.float64(1)), "float64"),
        (lambda: tf.constant(shorts(), tf.int32), "int32"),
        (lambda: ints() / 2, "weak float64"),
        (lambda: shorts() / 2, "float32"),
        (lambda: tf.maximum(ints(), 2), "int32"),
        (lambda: tf.math.divide_no_nan(1.0, 0), "weak float32"),
        (lambda: tf.matmul([[1.0]], [[2.0]]), "weak float32"),
        (lambda: tf.abs(ints()), "weak int32"),
        (lambda: tf.abs(-1), "weak int32"),
        (lambda: tf.abs(shorts()), "int16"),
        (lambda: tf.cast(ints(), tf.float64), "float64"),
        (lambda: tf.ones_like(ints(), dtype=tf.int8), "int8"),
        (lambda: tf.reduce_sum(floats()), "weak float32"),
        (lambda: tf.scalar_mul(2, floats()), "weak float32"),
        (lambda: ints() & 1, "int32"),
        (lambda: ints() < 2, "bool"),
        (lambda: shorts() == longs(), "bool"),
        (lambda: -ints(), "weak int32"),
        (lambda: ints()[0], "int32"),
        (lambda: next(iter(ints())), "weak int32"),
        (lambda: ints().T, "weak int32"),
        (lambda: ints().max(), "weak int32"),
        (lambda: tf.convert_to_tensor(ints()), "int32"),
        (lambda: tf.experimental.numpy.sin(shorts()), "float32"),
        (lambda: tf.experimental.numpy.sum(shorts()), "int32"),
        (lambda: tf.experimental.numpy.add(1, 2), "int64"),
        (lambda: longs().assign_add([3, 4]), "int64"),
        (lambda: tf.function(lambda x: x + 1)(ints()), "weak int32"),
    ],
)
def test_functions_say(call, said):
    assert shown(call()) == said


def test_variables_keep_their_dtype():
    with pytest.raises(TypeError, match=r"Variable dtype is immutable. Calling assign_add"):
        longs().assign_add([1.5, 2.5])


def test_gradients_of_weak_tensors_are_weak():
    x = floats()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    gradient = tape.gradient(y, x)
    assert shown(gradient) == "weak float32"
    assert gradient.numpy().tolist() == [2.0, 4.0]


def test_a_weak_tensor_is_a_tensor():
    x = ints()
    assert repr(x) == "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32), weak=True>"
    assert tf.is_tensor(x) and len(x) == 2 and int(x[1]) == 2 and np.array(x).tolist() == [1, 2]
    with pytest.raises(TypeError, match="not allowed as a weak type"):
        weak(1, tf.int8)
    with pytest.raises(tf.errors.InvalidArgumentError, match="can only be constructed from"):
        WeakTensor.from_tensor([1])


def test_other_modes_are_as_before():
    x = ints()
    set_dtype_conversion_mode("off")
    assert [shown(y) for y in (x + x, tf.abs(x), tf.constant(1), -x)] == ["int32"] * 4
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        x + shorts()
