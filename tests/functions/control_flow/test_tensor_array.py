"""`tf.TensorArray`: every method in every mode, gradients, use across loops, choices and functions, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from tests.functions.modes import check_gradients, run

WAYS = ["eager", "graph", "function"]
X = np.array([[0.3, 0.7], [-0.2, 0.5], [0.9, -0.4]])


def array(size=3, **kwargs):
    return tf.TensorArray(tf.float64, size, **kwargs)


def in_loop(x):
    def body(i, ta):
        return i + 1, ta.write(i, x[i] * tf.cast(i + 1, tf.float64) ** 2)

    return tf.while_loop(lambda i, ta: i < 3, body, (0, array()))[1].stack()


def reading_back(x):
    def body(i, ta):
        return i + 1, ta.write(i, ta.read(i - 1) * x[0])

    ta = array(4, clear_after_read=False, element_shape=[2]).write(0, x[1])
    return tf.while_loop(lambda i, ta: i < 4, body, (1, ta))[1].stack()


def in_choice(x):
    ta = array(2).write(0, x[0])
    return tf.cond(x[0, 0] > 0, lambda: ta.write(1, x[1] * x[2]), lambda: ta.write(1, x[2])).stack()


def through_a_function(x):
    @tf.function(autograph=False)
    def more(ta):
        return ta.write(2, ta.read(0) * x[2])

    return more(array(clear_after_read=False).write(0, x[0]).write(1, x[1])).stack()


CASES = {
    "write and stack": (lambda x: array().write(0, x[1]).write(1, x[0]).write(2, x[2]).stack(), lambda x: x[[1, 0, 2]]),
    "unstack and read": (lambda x: (lambda ta: ta.read(0) * ta.read(2))(array().unstack(x)), lambda x: x[0] * x[2]),
    "read twice": (
        lambda x: (lambda ta: ta.read(1) * ta.read(1))(array(clear_after_read=False).unstack(x)),
        lambda x: x[1] ** 2,
    ),
    "written over": (lambda x: array(1).write(0, x[0]).write(0, x[1]).stack(), lambda x: x[1:2]),
    "gather": (lambda x: array().unstack(x * x).gather([2, 0]), lambda x: x[[2, 0]] ** 2),
    "scatter": (lambda x: array().scatter([2, 0, 1], x**3).stack(), lambda x: x[[1, 2, 0]] ** 3),
    "split and concat": (
        lambda x: array(2, infer_shape=False).split(x * x, [1, 2]).concat(),
        lambda x: x * x,
    ),
    "pieces": (lambda x: array(2, infer_shape=False).split(x, [1, 2]).read(1) ** 2, lambda x: x[1:] ** 2),
    "concat of unlike": (
        lambda x: array(2, infer_shape=False).write(0, x).write(1, x[:1] ** 2).concat(),
        lambda x: np.concatenate([x, x[:1] ** 2]),
    ),
    "grows": (
        lambda x: array(0, dynamic_size=True).write(0, x[0]).write(1, x[1] * x[2]).stack(),
        lambda x: np.stack([x[0], x[1] * x[2]]),
    ),
    "holes are zero": (
        lambda x: array(element_shape=[2]).write(1, x[0] ** 2).stack(),
        lambda x: np.stack([0 * x[0], x[0] ** 2, 0 * x[0]]),
    ),
    "identity": (lambda x: array().unstack(x).identity().stack() ** 2, lambda x: x**2),
    "in a loop": (in_loop, lambda x: x * np.array([[1], [4], [9]])),
    "reading back": (reading_back, lambda x: np.stack([x[1] * x[0] ** n for n in range(4)])),
    "in a choice": (in_choice, lambda x: np.stack([x[0], x[1] * x[2]])),
    "through a function": (through_a_function, lambda x: np.stack([x[0], x[1], x[0] * x[2]])),
}


@pytest.mark.parametrize("mode", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_values(name, mode):
    f, expected = CASES[name]
    np.testing.assert_allclose(run(mode, f, X), expected(X), rtol=1e-6)


@pytest.mark.parametrize("mode", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_gradients(name, mode):
    check_gradients(mode, CASES[name][0], X)


@pytest.mark.parametrize("name", ["in a loop", "write and stack", "gather", "scatter", "in a choice"])
def test_compiled(name):
    f, expected = CASES[name]
    np.testing.assert_allclose(run("xla", f, X), expected(X), rtol=1e-6)


KINDS = [
    (tf.string, [b"a", b"bc"]),
    (tf.bool, [True, False]),
    (tf.int64, [1, 2]),
    (tf.complex64, [1j, 2.0]),
    (tf.float16, [1.5, 2.5]),
]


@pytest.mark.parametrize("mode", WAYS)
@pytest.mark.parametrize(("dtype", "values"), KINDS, ids=[d.name for d, _ in KINDS])
def test_every_dtype(dtype, values, mode):
    def f():
        ta = tf.TensorArray(dtype, 2).write(0, tf.constant(values[0], dtype)).write(1, tf.constant(values[1], dtype))
        return [ta.stack(), ta.size()]

    found, size = run(mode, f)
    assert found.tolist() == values
    assert size == 2


@pytest.mark.parametrize("mode", WAYS)
def test_what_it_knows_of_itself(mode):
    def f():
        ta = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[None, 3])
        assert ta.dtype is tf.float32
        assert ta.element_shape.as_list() == [None, 3]
        assert ta.dynamic_size
        ta = ta.write(4, tf.zeros([2, 3]))
        size = tf.identity(ta.size())
        ta.close()
        return size

    assert run(mode, f) == 5


BOTH = (tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError, ValueError)
REFUSED = {
    "write beyond": (lambda: array(2).write(5, 1.0).stack(), "5"),
    "read beyond": (lambda: array(2).unstack([1.0, 2.0]).read(5), "5"),
    "read before": (lambda: array(2).unstack([1.0, 2.0]).read(-1), "-1"),
    "other dtype": (lambda: array(2).write(0, tf.constant(1)).stack(), "float64 but Op is trying to write dtype int32"),
    "other shape": (
        lambda: array(2).write(0, [1.0]).write(1, [1.0, 2.0]).stack(),
        r"\(2,\).*expected.*\(1,\)",
    ),
    "not the shape": (lambda: array(2, element_shape=[3]).write(0, [1.0]), r"\(1,\).*expected.*\(3,\)"),
    "split leaves some": (lambda: array(2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 1]).concat(), "3"),
    "negative size": (lambda: array(-1, element_shape=[2]).stack(), "-1"),
}


@pytest.mark.parametrize("mode", WAYS)
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, mode):
    f, says = REFUSED[name]
    with pytest.raises(BOTH, match=says):
        run(mode, f)


def test_a_cleared_element_is_gone():
    ta = array(2).unstack([1.0, 2.0])
    ta.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="clear_after_read"):
        ta.read(0)


def test_arrays_of_graphs_from_files_are_differentiated_inside_a_loop():
    """Such a graph holds the array's handle, whose static shape is that of TensorFlow 0.x; gradients ask for it."""

    def body(i, y):
        made = tf.raw_ops.TensorArrayV3(size=1, dtype=tf.float32)
        flow = tf.raw_ops.TensorArrayWriteV3(handle=made.handle, index=0, value=y * x, flow_in=made.flow)
        read = tf.raw_ops.TensorArrayReadV3(handle=made.handle, index=0, flow_in=flow, dtype=tf.float32)
        return i + 1, tf.reshape(read, []) * y

    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [])
        y = tf.while_loop(lambda i, y: i < 2, body, (0, x))[1]  # x**3, then x**7
        grad = tf.gradients(y, x)[0]
        with tf.compat.v1.Session() as session:
            np.testing.assert_allclose([session.run(grad, {x: 1.5}) for _ in range(3)], [7 * 1.5**6] * 3, rtol=1e-5)
