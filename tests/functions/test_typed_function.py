"""`Defun`, the functions of TF 1's graphs: names, attrs, what is refused, and functions made of messages."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.functions.function_protos import (
    from_definition,
    from_library,
    get_extra_args,
    get_extra_inputs,
    get_extra_vars,
    symbolic_gradient,
)
from ebbflow.functions.typed_function import Defun

v1 = tf.compat.v1
F = tf.float32


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as session:
        yield session


def test_calls_are_named_after_the_function(session):
    @Defun(F, func_name="Foo", out_names=["result"])
    def foo(a):
        """Give the successor."""
        return a + 1

    assert [foo(1.0).op.name, foo(1.0).op.name, foo(1.0, name="mine").op.name] == ["Foo", "Foo_1", "mine"]
    written = session.graph.as_graph_def().library.function[0].signature
    assert (written.description, [arg.name for arg in written.output_arg]) == ("Give the successor.", ["result"])
    assert foo.stateful_ops == [] and foo.declared_input_types == (F,) and foo.grad_func_name is None


@pytest.mark.parametrize(
    ("wish", "attr", "value"),
    [
        ({"noinline": True}, "_noinline", ("b", True)),
        ({"experimental_tag": "x"}, "experimental_tag", ("s", b"x")),
        ({"experimental_tag": 3}, "experimental_tag", ("i", 3)),
        ({"_implements": "own.op"}, "_implements", ("s", b"own.op")),
    ],
)
def test_wishes_are_attrs_of_the_function(wish, attr, value):
    definition = Defun(**wish)(lambda x: x * 2).instantiate([F]).definition
    assert getattr(definition.attr[attr], value[0]) == value[1]


@pytest.mark.parametrize(
    ("function", "types", "error", "says"),
    [
        (lambda: (None, None), (), ValueError, "can not return None"),
        (lambda a=12: tf.constant(a), (), ValueError, "are not supported"),
        (lambda **k: tf.constant(1), (), ValueError, "are not supported"),
        (lambda a, b: a + b, (F,), ValueError, "tf.function input types"),
    ],
)
def test_functions_that_are_refused(function, types, error, says):
    with tf.Graph().as_default(), pytest.raises(error, match=says):
        _ = Defun(*types)(function).definition


def test_calls_that_are_refused(session):
    one = Defun(F)(lambda a: a + 1)
    for call, says in [
        (lambda: one(), "Expected number of arguments: 1, received: 0"),
        (lambda: Defun()(lambda: tf.constant(1))(1), "Expected 0"),
        (lambda: one(1.0, device="cpu"), "Unknown keyword arguments: device"),
    ]:
        with pytest.raises(ValueError, match=says):
            call()
    with pytest.raises(tf.errors.InvalidArgumentError, match="output names size = 2 outputs size = 1"):
        Defun(F, out_names=["a", "b"])(lambda a: a)(1.0)


def test_what_is_not_used_has_a_gradient_of_zero(session):
    foo = Defun(F, F)(lambda x, y: x * 2)
    x, y = tf.constant(1.0), tf.constant(2.0)
    assert session.run(v1.gradients(foo(x, y), [x, y])) == [2.0, 0.0]


def test_captures_by_value_are_made_anew(session):
    w, noise = tf.constant([[2.0]]) * 3, v1.random_uniform([])

    foo = Defun(F, capture_by_value=True)(lambda x: tf.matmul(w, x))
    assert session.run(foo(tf.constant([[10.0]]))).tolist() == [[60.0]] and foo.captured_inputs == []
    with pytest.raises(ValueError, match="Cannot capture a stateful node"):
        Defun(capture_by_value=True)(lambda: noise + 1)()
    allowed = Defun(capture_by_value=True, allowlisted_stateful_ops={noise.op})(lambda: noise + 1)
    assert 1 <= session.run(allowed()) < 2
    with pytest.raises(ValueError, match="Cannot capture a placeholder"):
        fed = v1.placeholder(F)
        Defun(capture_by_value=True)(lambda: fed + 1)()


def test_what_a_function_takes_from_outside(session):
    outside = tf.constant(3.0) * 2
    seen = []

    @Defun(F)
    def foo(x):
        result = x + outside
        seen.extend([get_extra_args(), get_extra_inputs(), get_extra_vars()])
        return result

    assert session.run(foo(1.0)) == 7.0
    assert len(seen[0]) == 1 and seen[1] == [outside] and seen[2] == []
    assert get_extra_args() == get_extra_inputs() == get_extra_vars() == []


def test_functions_of_messages(session):
    backward = Defun(F, F, func_name="G")(lambda x, dy: x * dy * 10)
    forward = Defun(F, func_name="F", grad_func=backward)(lambda x: tf.exp(x))
    x = tf.constant(2.0)
    slope = v1.gradients(forward(x), x)[0]
    library = session.graph.as_graph_def().library
    made = {f.name: f for f in from_library(library)}
    assert set(made) == {"F", "G"} and made["F"].grad_func_name == "G" and made["F"].declared_input_types == (F,)
    expected = session.run([forward(2.0), slope])
    with tf.Graph().as_default(), v1.Session() as other:
        x = tf.constant(2.0)
        y = made["F"](x)
        assert other.run([y, v1.gradients(y, x)[0]]) == pytest.approx(expected)
    assert from_definition(forward.definition).definition == forward.definition


@pytest.mark.parametrize(
    ("pairs", "says"),
    [([("F", "G")], "missing 'G' FunctionDef"), ([("F", "H"), ("H", "F")], "cyclic gradient functions")],
)
def test_libraries_that_are_refused(pairs, says):
    library = messages.FunctionDefLibrary()
    for name in ("F", "H"):
        library.function.add().signature.name = name
    for name, gradient in pairs:
        library.gradient.add(function_name=name, gradient_func=gradient)
    with pytest.raises(ValueError, match=says):
        from_library(library)


def test_the_gradient_of_a_function_by_its_name(session):
    square = Defun(F, func_name="Square")(lambda x: x * x)
    square(1.0)
    found = symbolic_gradient([tf.constant(3.0), tf.constant(1.0)], [F], "Square")
    assert session.run([found, symbolic_gradient([tf.constant(3.0), tf.constant(2.0)], [F], square)]) == [6.0, 12.0]
    with pytest.raises(tf.errors.NotFoundError, match="Function Other is not defined"):
        symbolic_gradient([1.0, 1.0], [F], "Other")


def test_nodes_stand_where_the_function_is_defined(session):
    with tf.device("/cpu:0"):
        double = Defun(F)(lambda x: x * 2)
    with tf.device("/cpu:1"):
        double(1.0)
    assert {node.device for node in session.graph.as_graph_def().library.function[0].node_def} == {"/device:CPU:0"}
