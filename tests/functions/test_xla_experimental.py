"""Parts of a graph for XLA, by function and by scope."""

import pytest

import ebbflow as tf

v1 = tf.compat.v1
xla = v1.xla.experimental


def test_a_function_is_compiled():
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant([1.0, 2.0])
        total, double = xla.compile(lambda a, b: (a + b, 2.0 * a), [x, x])
        (alone,) = xla.compile(lambda: tf.constant(3.0))
        assert [v.tolist() for v in session.run([total, double, alone])] == [[2.0, 4.0], [2.0, 4.0], 3.0]
        assert session.run(v1.gradients(double, x)[0]).tolist() == [2.0, 2.0]
    assert [float(v) for v in xla.compile(lambda a: {"y": a * 2.0}, [tf.constant(2.0)]).values()] == [4.0]
    with pytest.raises(TypeError, match="inputs must be a list or a tuple"):
        xla.compile(lambda a: a, 3.0)


def test_a_scope_marks_its_nodes():
    with tf.Graph().as_default():
        with xla.jit_scope():
            a = tf.constant(1.0) + 2.0
        with xla.jit_scope(compile_ops=lambda node: node.op == "Neg", separate_compiled_gradients=True):
            b = -a
        c = -b
    assert a.op.get_attr("_XlaCompile") is True and a.op.get_attr("_XlaScope").startswith(b"jit_scope_")
    assert b.op.get_attr("_XlaCompile") is True and b.op.get_attr("_XlaSeparateCompiledGradients") is True
    assert "_XlaCompile" not in c.op.attrs
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"), xla.jit_scope():
        pass
