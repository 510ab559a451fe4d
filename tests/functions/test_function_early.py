"""Functions of earlier years: defun, graph_callable with its checkpoint, Defun, wrap_function, make_template."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context, errors
from ebbflow.functions.defun import defun
from ebbflow.functions.typed_function import Defun
from ebbflow.state.graph_callable import ShapeAndDtype, graph_callable

v1 = tf.compat.v1
CHECKPOINT = str(pathlib.Path(__file__).parent.parent / "golden" / "functions" / "checkpoint" / "model")


# --- defun ------------------------------------------------------------------------------------------------------------


def test_defun_is_free_to_make_variables():
    @defun
    def scaled(x):
        return x * tf.Variable(tf.ones([2]) * 3.0, name="k")

    for _ in range(2):
        np.testing.assert_allclose(scaled(tf.constant(2.0)), [6.0, 6.0])
    (k,) = scaled.variables
    k.assign([1.0, 2.0])
    np.testing.assert_allclose(scaled(tf.constant(2.0)), [2.0, 4.0])
    with tf.GradientTape() as tape:
        y = scaled(tf.constant(2.0))
    np.testing.assert_allclose(tape.gradient(y, k), [2.0, 2.0])
    assert scaled.trainable_variables == [k]


def test_defun_with_arguments():
    @defun(input_signature=[tf.TensorSpec([None])], autograph=False)
    def total(x):
        return tf.reduce_sum(x)

    assert [float(total(tf.constant([1.0] * n))) for n in (1, 2)] == [1.0, 2.0]
    assert total.experimental_get_tracing_count() == 1


# --- graph_callable ---------------------------------------------------------------------------------------------------


def net(x):
    with v1.variable_scope("net"):
        w = v1.get_variable("w", [3, 2], initializer=v1.zeros_initializer())
        b = v1.get_variable("b", [2], initializer=v1.zeros_initializer())
    return tf.nn.softmax(tf.matmul(tf.reshape(x, [-1, 3]), w) + b)


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


X = np.array([[1.0, 2.0, -1.0]], np.float32)
RESTORED = softmax(X @ (np.arange(6).reshape(3, 2) / 4.0) + [0.5, -0.5])


def test_restored_before_the_first_call():
    f = graph_callable(net)
    f.restore(CHECKPOINT)
    assert len(f.variables) == 2
    np.testing.assert_allclose(f(tf.constant(X)), RESTORED, rtol=1e-5)
    assert sorted(v.name for v in f.variables) == ["net/b:0", "net/w:0"]


def test_restored_between_calls():
    f = graph_callable(net)
    np.testing.assert_allclose(f(tf.constant(X)), [[0.5, 0.5]])
    f.restore(CHECKPOINT)
    np.testing.assert_allclose(f(tf.constant(X)), RESTORED, rtol=1e-5)
    np.testing.assert_allclose(f(tf.constant(np.tile(X, (2, 1)))), np.tile(RESTORED, (2, 1)), rtol=1e-5)
    assert len(f.variables) == 2  # another shape, the same variables


def test_restored_at_the_first_call():
    f = graph_callable(net)
    f.restore(CHECKPOINT)
    np.testing.assert_allclose(f(tf.constant(X)), RESTORED, rtol=1e-5)


def test_built_when_the_types_are_given():
    @graph_callable([ShapeAndDtype(shape=(1, 3), dtype=tf.float32)])
    def f(x):
        return net(x)

    assert len(f.variables) == len(f.trainable_variables) == 2
    f.restore(CHECKPOINT)
    np.testing.assert_allclose(f(tf.constant(X)), RESTORED, rtol=1e-5)


def test_what_a_checkpoint_lacks_is_named():
    f = graph_callable(lambda x: x * v1.get_variable("other", [], initializer=v1.zeros_initializer()))
    f(tf.constant(1.0))
    with pytest.raises(errors.NotFoundError, match=r"no values for other:0; it has .*net/w"):
        f.restore(CHECKPOINT)


def test_variables_that_cannot_be_found_before_a_call():
    f = graph_callable(lambda x: v1.get_variable("w", [x.shape[1]], initializer=v1.zeros_initializer()) * x)
    with pytest.raises(RuntimeError, match="call it once, or say what its arguments are"):
        _ = f.variables


def test_gradients_through_graph_code():
    f = graph_callable(net)
    x = tf.constant(X)
    f.restore(CHECKPOINT)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)[0, 0]
    p = RESTORED[0]
    expected = (np.arange(6).reshape(3, 2) / 4.0) @ (p[0] * (np.array([1.0, 0.0]) - p))
    np.testing.assert_allclose(tape.gradient(y, x)[0], expected, rtol=1e-4)
    assert all(g is not None for g in tape.gradient(y, f.variables))


# --- Defun ------------------------------------------------------------------------------------------------------------


def run(fetches, feeds=None):
    with v1.Session() as session:
        return session.run(fetches, feeds)


def run_in(graph, fetches):
    with v1.Session(graph=graph) as session:
        return session.run(fetches)


def test_typed_functions():
    @Defun(tf.float32, tf.float32)
    def both(x, y):
        return x * y, x + y

    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None])
        product, total = both(x, x * 2.0)
        got = run([product, total, tf.gradients(product, x)[0]], {x: [1.0, 3.0]})
        with pytest.raises(ValueError, match="Expected number of arguments: 2, received: 1"):
            both(x)
    np.testing.assert_allclose(got, [[2.0, 18.0], [3.0, 9.0], [4.0, 12.0]])
    np.testing.assert_allclose(both(2.0, 3.0), [6.0, 5.0])  # eagerly, too
    assert both.declared_input_types == (tf.float32, tf.float32)


def test_calls_of_typed_functions_are_named_after_them():
    square = Defun(tf.float32, func_name="Square2")(lambda x: x * x)
    with tf.Graph().as_default() as graph, tf.name_scope("s"):
        calls = [square(2.0), square(3.0), square(4.0, name="third")]
    assert [y.op.name for y in calls] == ["s/Square2", "s/Square2_1", "s/third"]
    assert run_in(graph, calls) == [4.0, 9.0, 16.0]


def test_arguments_of_typed_functions_are_not_called_as_its_locals():
    @Defun(tf.float32, tf.float32, tf.float32)
    def last(x, *more):
        _, y = more
        return y

    names = [arg.name for arg in last.definition.signature.input_arg]
    assert names == ["x", "arg1", "arg2"]
    assert float(last(1.0, 2.0, 3.0)) == 3.0


def test_typed_functions_with_a_gradient_of_their_own():
    @Defun(tf.float32, python_grad_func=lambda op, grad: grad * 10.0, shape_func=lambda op: [op.inputs[0].shape])
    def f(x):
        return tf.tanh(x)

    @Defun(tf.float32, tf.float32)
    def backward(x, dy):
        return dy * 7.0

    @Defun(tf.float32, grad_func=backward, func_name="g")
    def g(x):
        return tf.tanh(x)

    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2])
        y = f(x)
        assert y.shape == [2]
        got = run([tf.gradients(y, x)[0], tf.gradients(g(x), x)[0]], {x: [1.0, 2.0]})
    np.testing.assert_allclose(got, [[10.0, 10.0], [7.0, 7.0]])
    z = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = f(z)
    assert float(tape.gradient(y, z)) == 10.0
    with pytest.raises(ValueError, match="Gradient defined twice"):
        Defun(tf.float32, grad_func=backward, python_grad_func=lambda op, grad: grad)


# --- wrap_function ----------------------------------------------------------------------------------------------------


def test_wrapped_graph_code():
    def code(x):
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        return {"scaled": x * w, "none": None}

    f = v1.wrap_function(code, [tf.TensorSpec([], tf.float32)])
    assert float(f(tf.constant(2.0))["scaled"]) == 2.0
    (w,) = f.variables
    w.assign(5.0)
    got = f(tf.constant(2.0))
    assert float(got["scaled"]) == 10.0
    assert got["none"] is None
    assert f.graph.get_operations()[0].name == "Placeholder"


def test_pruned():
    v = tf.Variable(1.0)

    def code(x):
        y = tf.add(x, 1.0, name="y")
        z = tf.multiply(y, v, name="z")
        v.assign_add(z, name="update")
        return z

    f = v1.wrap_function(code, [tf.TensorSpec([], tf.float32, name="x")])
    assert float(f(tf.constant(1.0))) == 2.0
    assert float(v) == 1.0  # nobody asked for the update
    assert float(f.prune("y:0", "z:0")(tf.constant(7.0))) == 7.0
    update = f.prune(["x:0"], [f.graph.get_operation_by_name("update"), "z:0"])
    done, z = update(tf.constant(2.0))
    assert done is None
    assert float(z) == 3.0
    assert float(v) == 4.0
    structured = f.prune({"a": "x:0"}, {"out": "y:0"})
    assert float(structured(tf.constant(1.0))["out"]) == 2.0
    assert float(structured(x=tf.constant(3.0))["out"]) == 4.0
    with pytest.raises(ValueError, match="must be tensors"):
        f.prune([f.graph.get_operation_by_name("update")], "z:0")
    with tf.GradientTape() as tape:
        y = f.prune("x:0", "z:0")(tf.constant(1.0))
    assert float(tape.gradient(y, v)) == 2.0


def test_templates_in_functions():
    scale = v1.make_template("scale", lambda x: x * v1.get_variable("k", [], initializer=v1.ones_initializer()))
    f = tf.function(lambda x: scale(x) + scale(x * 2.0), autograph=False)
    assert [float(f(tf.constant(2.0))) for _ in range(2)] == [6.0, 6.0]
    (k,) = scale.variables
    k.assign(10.0)
    assert float(f(tf.constant(2.0))) == 60.0


def test_calls_of_typed_functions_have_names_and_are_written_as_ops():
    @Defun(tf.float32)
    def twice(x):
        return x * 2.0

    @Defun(tf.float32)
    def outer(x):
        return twice(x, name="inside") + 1.0

    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, name="x")
        assert outer(x, name="call").name == "call:0"
        written = graph.as_graph_def()
    assert [(node.name, node.op) for node in written.node] == [("x", "Placeholder"), ("call", "outer")]
    assert sorted(function.signature.name for function in written.library.function) == ["outer", "twice"]
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(written, return_elements=["x:0", "call:0"])
        assert run([y, *tf.gradients(y, x)], {x: 3.0}) == [7.0, 2.0]


def test_python_values_of_a_signature_are_given_to_the_code_and_to_no_call():
    def step(x, do_add):
        v = tf.Variable(5.0)
        with tf.control_dependencies([v.assign_add(x) if do_add else v.assign_sub(x)]):
            return v.read_value()

    add, subtract = (tf.compat.v1.wrap_function(step, [tf.TensorSpec([]), which]) for which in (True, False))
    assert [float(add(1.0)), float(add(1.0)), float(subtract(1.0))] == [6.0, 7.0, 4.0]
    assert len(add.graph.get_collection(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)) == 1


def test_what_a_wrapped_function_captures_need_not_be_fed_when_it_is_cut():
    outside = tf.Variable(2.0)
    wrapped = tf.compat.v1.wrap_function(lambda x: tf.identity(outside * x, "fetch"), [tf.TensorSpec([])])
    fetch = wrapped.graph.get_tensor_by_name("fetch:0")
    for feeds in (wrapped.inputs, wrapped.inputs[:1]):
        assert float(wrapped.prune(feeds, fetch)(3.0)) == 6.0


def test_a_wrapped_function_is_cut_at_the_parts_of_a_ragged_tensor():
    kept = []

    def square(x):
        kept.extend([x, x * x])
        return kept[1]

    wrapped = tf.compat.v1.wrap_function(square, [tf.RaggedTensorSpec([None, None], tf.float32)])
    rows = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert wrapped.prune(*kept)(rows.values, rows.row_splits).to_list() == [[1.0, 4.0], [9.0]]


def test_in_tf1_typed_functions_give_one_tensor_or_a_tuple(monkeypatch):
    monkeypatch.setattr(context.switches, "tf1", True)
    with tf.Graph().as_default():
        assert tf.is_tensor(Defun(tf.float32)(lambda x: [x])(1.0))
        assert isinstance(Defun(tf.float32)(lambda x: [x, x])(1.0), tuple)


@pytest.mark.parametrize("pack", [list, tuple])
def test_one_result_in_a_list_is_itself(pack):
    with tf.Graph().as_default(), v1.Session() as session:
        one = Defun(tf.float32)(lambda x: pack([x + 1.0]))
        assert session.run(one(tf.constant(1.0))) == 2.0
