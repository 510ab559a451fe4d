"""Functions that make their variables once: in other such functions, and as graphs."""

from __future__ import annotations

import ebbflow as tf
from ebbflow.state.template import make_template_internal

v1 = tf.compat.v1


def test_templates_in_a_template_are_kept_by_the_names_of_their_scopes():
    def leaf():
        return v1.get_variable("dummy", [1], initializer=tf.zeros_initializer())

    def nested():
        return v1.make_template("nested", leaf)(), v1.make_template("nested", leaf)()

    with tf.Graph().as_default():
        outer = v1.make_template("s1", nested)
        assert [v.name for v in outer()] == ["s1/nested/dummy:0", "s1/nested_1/dummy:0"]
        assert list(outer._trackable_children()) == ["nested", "nested_1"]


def test_templates_made_in_a_call_find_the_variables_of_the_call_before():
    inner = []

    def outer():
        inner.append(v1.make_template("inner", lambda: v1.get_variable("d", [1]), create_scope_now_=True))
        return inner[-1]()

    template = v1.make_template("outer", outer, create_scope_now_=True)
    assert template() is template()
    assert [v.name for v in template.variables] == ["outer/inner/d:0"]
    assert inner[0].variables == inner[1].variables == template.trainable_variables
    with template._template_store.as_default(), v1.variable_scope(template.variable_scope):
        beside = v1.get_variable("beside", [1])
    assert template.global_variables[0] is beside
    assert len(inner[0].variables) == 1


def test_a_template_may_run_as_a_graph_after_its_first_call():
    called = []

    def double(x):
        called.append(tf.executing_eagerly())
        return x * v1.get_variable("w", [], initializer=tf.constant_initializer(2.0))

    template = make_template_internal("t", double, create_graph_function_=True)
    assert [float(template(tf.constant(i))) for i in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert called == [True, False]
    assert len(template.variables) == 1


def test_a_template_without_a_name_is_the_scope_around_it():
    with tf.Graph().as_default():
        template = v1.make_template("", lambda: v1.get_variable("w", []))
        with v1.variable_scope("outer"):
            x = v1.get_variable("x", [])
            w = template()
        assert template.variable_scope_name == "outer/" and w.name == "outer//w:0"
        assert template.variables == [x, w]
