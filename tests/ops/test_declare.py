"""Rows and quick functions: what they declare, and when the quick way is not taken."""

import inspect
import pickle

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.registry import registry
from ebbflow.ops.declare import FLAT, raw


def test_a_row_declares_everything():
    op = registry["Tanh"]
    assert op.facts.elementwise
    assert [arg.name for arg in (*op.signature.inputs, *op.signature.outputs)] == ["x", "y"]
    assert registry["Floor"].gradient_fn is FLAT
    assert "commutative" in registry["Mul"].signature.flags


def test_an_op_that_nobody_declares():
    with pytest.raises(AttributeError, match="NoSuchOp"):
        raw.NoSuchOp  # noqa: B018


@pytest.fixture
def engine():
    """An engine that claims Tanh and AddV2 and answers 7."""
    ops = [registry["Tanh"], registry["AddV2"]]
    tf.tanh(tf.constant([1.0])), tf.constant([1.0]) + tf.constant([1.0])  # the quick way is learnt before
    for op in ops:
        op.add_engine(lambda arrays, attrs: arrays[0].size > 2, lambda arrays, attrs: np.full_like(arrays[0], 7))
    yield
    for op in ops:
        op.engines.clear()


def test_an_engine_takes_over_from_the_quick_way(engine):
    large, small = tf.constant([1.0, 2.0, 3.0]), tf.constant([0.0])
    assert tf.tanh(large).numpy().tolist() == [7.0] * 3
    assert (large + large).numpy().tolist() == [7.0] * 3
    assert tf.tanh(small).numpy().tolist() == [0.0]
    assert (small + small).numpy().tolist() == [0.0]


@pytest.mark.parametrize("fn", [tf.tanh, tf.maximum, tf.reduce_sum, tf.nn.relu])
def test_public_functions_are_themselves(fn):
    assert pickle.loads(pickle.dumps(fn)) is fn
    assert fn.__doc__.startswith("Return")
    assert list(inspect.signature(fn).parameters)[-1] == "name"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "fn, op",
    [(tf.tanh, "Tanh"), (tf.sigmoid, "Sigmoid"), (tf.nn.relu, "Relu"), (tf.sqrt, "Sqrt"), (tf.nn.softplus, "Softplus")],
)
@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (0,)])
def test_the_quick_way_answers_as_the_long_one(fn, op, dtype, shape):
    x = tf.cast(tf.constant(np.linspace(0.1, 2.0, int(np.prod(shape))).reshape(shape)), dtype)
    expected = getattr(raw, op)(x)
    for quick in (fn(x), fn(x)):
        assert (quick.dtype, quick.shape) == (x.dtype, x.shape)
        np.testing.assert_allclose(quick.numpy().astype(np.float64), expected.numpy().astype(np.float64), 1e-6)


def test_the_quick_way_is_left_inside_a_graph():
    x = tf.constant([1.0])
    tf.tanh(x), x + x, tf.reduce_sum(x)
    with tf.Graph().as_default() as graph:
        made = [tf.tanh(x), x + x, tf.reduce_sum(x)]
        assert [t.op.type for t in made] == ["Tanh", "AddV2", "Sum"]
        assert all(t.graph is graph for t in made)
