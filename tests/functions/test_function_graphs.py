"""Functions in graphs: nodes, sessions, GraphDefs, effects, and the order of effects."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.functions import side_effects
from ebbflow.functions.call import call_body
from ebbflow.functions.func_graph import FuncGraph, build

v1 = tf.compat.v1


def traced(function=None, **options):
    return tf.function(function, autograph=False, **options)


def test_a_call_is_a_node():
    f = traced(lambda x: x * 2.0)
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None])
        with tf.name_scope("scope"):
            y = f(x)
        assert y.op.type == "PartitionedCall"
        assert y.op.name == "scope/PartitionedCall"
        assert y.shape.as_list() == [None]
        with v1.Session() as session:
            for _ in range(3):
                np.testing.assert_allclose(session.run(y, {x: [1.0, 2.0]}), [2.0, 4.0])
        message = graph.as_graph_def()
    (function,) = message.library.function
    assert function.signature.name == message.node[1].attr["f"].func.name
    assert [n.op for n in function.node_def] == ["Const", "Mul", "Identity"]


def test_variables_of_a_graph():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=2.0, use_resource=True)

        @traced
        def f(x):
            v.assign_add(x)
            return v * 10.0

        y = f(tf.constant(3.0))
        assert y.op.type == "StatefulPartitionedCall"
        gradient = tf.gradients(y, v)[0]
        with v1.Session() as session:
            session.run(v.initializer)
            assert [session.run(y), session.run(y)] == [50.0, 80.0]
            assert session.run(gradient) == 10.0
        assert f.get_concrete_function(tf.constant(1.0)).variables == (v,)


def test_reference_variables_of_a_graph():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=2.0, use_resource=False)
        f = traced(lambda x: v * x)
        y = f(tf.constant(3.0))
        gradient = tf.gradients(y, v)[0]
        with v1.Session() as session:
            session.run(v.initializer)
            assert session.run([y, gradient]) == [6.0, 3.0]


def test_two_sessions_keep_their_own_values():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=0.0, use_resource=True)
        y = traced(lambda: v.assign_add(1.0).read_value())()
        first, second = v1.Session(), v1.Session()
        for session in (first, second):
            session.run(v.initializer)
        assert [first.run(y), first.run(y), second.run(y)] == [1.0, 2.0, 1.0]
        first.close()
        assert second.run(y) == 2.0


def test_tape_inside_a_function():
    w = tf.Variable(3.0)
    k = tf.constant(2.0)

    @traced
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, k])
            y = w * x * x * k
        return tape.gradient(y, [x, w, k])

    assert [float(g) for g in f(tf.constant(2.0))] == [24.0, 8.0, 12.0]


def test_gradients_inside_a_function():
    w, k = tf.Variable(3.0), tf.constant(2.0)
    inner = traced(lambda x: x * w * k)
    f = traced(lambda x: tf.gradients(inner(x) * x, [x, w, k]))
    assert [float(g) for g in f(tf.constant(2.0))] == [24.0, 8.0, 12.0]


def test_cond_inside_a_function_under_a_tape():
    w = tf.Variable(3.0)

    @traced
    def f(flag, x):
        with tf.GradientTape() as tape:
            y = tf.cond(flag, lambda: w * x, lambda: w * w)
        return y, tape.gradient(y, w)

    assert [float(t) for t in f(tf.constant(True), tf.constant(2.0))] == [6.0, 2.0]
    assert [float(t) for t in f(tf.constant(False), tf.constant(2.0))] == [9.0, 6.0]
    with tf.GradientTape() as tape:
        y = traced(lambda flag, x: tf.cond(flag, lambda: w * x, lambda: w * w))(tf.constant(False), tf.constant(2.0))
    assert float(tape.gradient(y, w)) == 6.0


def test_effects_run_even_if_nobody_takes_their_results():
    v = tf.Variable(0.0)

    @traced
    def inner():
        v.assign_add(1.0)

    @traced
    def outer(x):
        inner()
        inner()
        return x

    outer(tf.constant(1.0))
    assert float(v) == 2.0
    assert inner() is None
    assert float(v) == 3.0


def test_shape_known_before_running():
    f = traced(lambda x: (tf.reshape(x, [2, -1]), tf.constant([1, 2])))
    outer = traced(lambda x: f(x)[0])
    graph = outer.get_concrete_function(tf.TensorSpec([4])).graph
    assert graph.outputs[0].shape.as_list() == [2, 2]


def test_captured_shapes_are_known():
    size = tf.constant([2, 3])
    concrete = traced(lambda x: tf.reshape(x, size)).get_concrete_function(tf.TensorSpec([None]))
    assert concrete.outputs[0].shape.as_list() == [2, 3]
    v = tf.Variable(tf.zeros([5, 2]))
    assert traced(lambda: v.read_value()).get_concrete_function().outputs[0].shape.as_list() == [5, 2]


def test_other_results_of_the_same_body():
    body = build("f", lambda x: [x + 1.0, x * 2.0], None, [(tf.float32, (), "x")])
    swapped = body.with_outputs(list(reversed(body.outputs)), "g")
    x = tf.constant(3.0)
    assert [float(t) for t in call_body(body, [x])] == [4.0, 6.0]
    assert [float(t) for t in call_body(swapped, [x])] == [6.0, 4.0]
    assert swapped.base is body
    assert "return mul, add_1" in swapped.source()


ORDERS = {
    "write, read, write": (
        lambda v: (v.assign(1.0), v.read_value(), v.assign(2.0)),
        {("w1", "r1"), ("r1", "w2"), ("w1", "w2")},
    ),
    "read, read": (lambda v: (v.read_value(), v.read_value()), set()),
    "read, write": (lambda v: (v.read_value(), v.assign(2.0)), {("r1", "w1")}),
    "write, write": (lambda v: (v.assign(1.0), v.assign(2.0)), {("w1", "w2")}),
}


@pytest.mark.parametrize("name", ORDERS)
def test_edges_between_effects(name):
    code, expected = ORDERS[name]
    v = tf.Variable(0.0)
    graph = traced(lambda: [code(v), None][1]).get_concrete_function().graph
    names, found = {}, set()
    for node in graph.get_operations():
        kind = {"ReadVariableOp": "r", "AssignVariableOp": "w"}.get(node.type)
        if kind is not None:
            names[node.name] = f"{kind}{1 + sum(label[0] == kind for label in names.values())}"
    for node in graph.get_operations():
        found |= {
            (names[b.name], names[node.name]) for b in node.control_inputs if b.name in names and node.name in names
        }
    assert found == expected


def test_waiting_for_a_node_outside():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=1.0, use_resource=True)
        update = v.assign_add(5.0, read_value=False)

        @traced
        def f(x):
            with tf.control_dependencies([update]):
                return x + v.read_value()

        y = f(tf.constant(1.0))
        with v1.Session() as session:
            session.run(v.initializer)
            assert session.run(y) == 7.0


def test_copies_start_afresh():
    f = traced(lambda x: x + 1.0)
    f(tf.constant(1.0))
    other = copy.deepcopy(f)
    assert len(other.traces()) == 0
    assert float(other(tf.constant(1.0))) == 2.0


def test_what_must_run():
    v = tf.Variable(0.0)

    @traced
    def f(x):
        v.assign(x)
        v.read_value()
        tf.random.uniform([])
        tf.print("said", output_stream="file:///dev/null")
        return x

    nodes = f.get_concrete_function(tf.constant(1.0)).graph.get_operations()
    assert {n.type for n in nodes if side_effects.must_run(n)} == {"AssignVariableOp", "PrintV2"}


def test_a_function_graph_names_itself():
    graph = FuncGraph("mine")
    assert repr(graph) == f"FuncGraph(name=mine, id={id(graph)})"
    assert graph.building_function


def test_a_graph_by_hand_keeps_the_creators_of_variables():
    made = []

    def creator(next_creator, **arguments):
        made.append(next_creator(**arguments))
        return made[-1]

    graph = tf.__internal__.FuncGraph("by_hand")
    with tf.variable_creator_scope(creator), graph.as_default(), tf.init_scope():
        inside = tf.Variable(1.0)
    with graph.as_default(), tf.init_scope():
        tf.Variable(2.0)
    assert [float(v) for v in made] == [1.0] and made[0] is inside


def test_a_number_need_not_be_waited_for():
    @tf.function
    def plus_one(x):
        with tf.control_dependencies([0.0, 1]):
            return x + 1

    assert int(plus_one(tf.constant(2))) == 3


def test_an_argument_says_what_it_carries_in():
    variables = [tf.Variable(float(i)) for i in range(5)]

    @tf.function
    def total(x):
        return x + tf.add_n([v * 2.0 for v in variables])

    graph = total.get_concrete_function(tf.constant(1.0)).graph
    assert graph.carried_by(graph.inputs[0]) is None
    assert [graph.carried_by(t) for t in graph.inputs[1:]] == [v.handle for v in variables]
    fewer = graph.with_outputs(graph.outputs)
    fewer._captures = dict(list(graph._captures.items())[:2])
    assert [fewer.carried_by(t) is not None for t in graph.inputs] == [False, True, True, False, False, False]
    assert [graph.carried_by(t) is not None for t in graph.inputs] == [False] + [True] * 5
