"""Freezing: graphs and functions without variables compute what those with them did."""

import numpy as np
import pytest

import ebbflow as tf2
import ebbflow.v1 as tf
from ebbflow.functions import convert_to_constants
from ebbflow.functions.convert_to_constants import (
    convert_variables_to_constants_from_session_graph,
    convert_variables_to_constants_v2,
)


def graph_with(use_resource):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        ids = tf.placeholder(tf.int32, [None], name="ids")
        w = tf.get_variable("w", initializer=np.eye(3, dtype=np.float32) * 2, use_resource=use_resource)
        b = tf.get_variable("b", initializer=np.arange(3.0, dtype=np.float32), use_resource=use_resource)
        chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.matmul(x, w), lambda: x - b)
        steps = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v + b), (0, chosen))[1]
        tf.add(steps, tf.nn.embedding_lookup(w, ids), name="out")
    return graph


@pytest.mark.parametrize("use_resource", [True, False])
def test_a_graph_is_frozen(use_resource):
    graph = graph_with(use_resource)
    feeds = {"x:0": np.ones((2, 3), np.float32), "ids:0": [0, 2]}
    with tf.Session(graph=graph) as session, graph.as_default():
        session.run(tf.global_variables_initializer())
        expected = session.run("out:0", feeds)
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["out"])
    used = {node.op for f in [*frozen.library.function] for node in f.node_def} | {node.op for node in frozen.node}
    assert not used & {"VarHandleOp", "VariableV2", "ReadVariableOp", "ResourceGather"}
    with tf.Graph().as_default() as other, tf.Session(graph=other) as session:
        tf.import_graph_def(frozen, name="")
        np.testing.assert_allclose(session.run("out:0", feeds), expected)
        assert tf.global_variables() == []


def test_some_variables_stay():
    graph = graph_with(True)
    with tf.Session(graph=graph) as session, graph.as_default():
        session.run(tf.global_variables_initializer())
        frozen = convert_variables_to_constants_from_session_graph(
            session, graph.as_graph_def(), ["out"], variable_names_denylist=["w"]
        )
    by_name = {node.name: node.op for node in frozen.node}
    assert by_name["w"] == "VarHandleOp" and by_name["b"] == "Const"


def test_a_change_of_what_is_to_be_constant_is_refused():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        with tf.control_dependencies([v.assign_add(1.0)]):
            tf.identity(v.read_value(), name="out")
        session.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match=r"AssignAddVariableOp.*changes a variable"):
            tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["out"])


def test_a_function_is_frozen():
    v = tf2.Variable([1.0, 2.0])

    @tf2.function
    def inner(x):
        return x * v

    @tf2.function
    def f(x):
        for _ in tf2.range(2):
            x = inner(x)
        return {"b": x, "a": x + v}

    concrete = f.get_concrete_function(tf2.TensorSpec([2], tf2.float32))
    expected = f(tf2.constant([3.0, 4.0]))
    frozen = convert_variables_to_constants_v2(concrete)
    assert frozen.variables == ()
    v.assign([0.0, 0.0])
    result = frozen(tf2.constant([3.0, 4.0]))
    assert sorted(result) == ["a", "b"]
    np.testing.assert_allclose(result["a"], expected["a"])
    np.testing.assert_allclose(result["b"], expected["b"])


def test_a_function_of_a_graph_is_frozen_with_what_the_session_holds():
    with tf.Graph().as_default() as graph:
        v, w = tf2.Variable(3.0), tf2.Variable(2.0)
        f = tf2.function(lambda x: v * w * x)
        concrete = f.get_concrete_function(tf2.TensorSpec([], tf2.float32))
        with pytest.raises(RuntimeError, match="must be carried out in a Session"):
            convert_to_constants.convert_var_to_const_function_in_v1(concrete)
        graph.add_to_collection(convert_to_constants.VAR_ASSIGN_COLLECTION, v.assign(5.0))
        with tf.Session() as session:
            frozen = convert_to_constants.convert_var_to_const_function_in_v1(concrete)
            session.run(v.assign(0.0))
            assert session.run(frozen(tf2.constant(2.0))) == [20.0]


def test_a_signature_of_an_old_model_is_frozen(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        start = tf.placeholder(tf.float32, name="start")
        v = tf.get_variable("v", initializer=3.0)
        session.run(v.initializer)
        tf.saved_model.simple_save(session, str(tmp_path / "m"), {"start": start}, {"end": start * v})
    signature = tf2.saved_model.load(str(tmp_path / "m")).signatures["serving_default"]
    frozen = convert_variables_to_constants_v2(signature)
    assert not [node for node in frozen.graph.as_graph_def().node if "Variable" in node.op]
    assert frozen(tf2.constant(2.0))["end"].numpy() == 6.0
