"""What each pass does to a flow, before and after."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow.compiler import clusters, tiles
from ebbflow.compiler.buffers import Block
from ebbflow.compiler.build import build
from ebbflow.compiler.flow import Flow, Node, Value
from ebbflow.compiler.passes import PASSES, optimise, prune
from ebbflow.compiler.passes.cluster import CLUSTER
from ebbflow.compiler.passes.verify import verify
from ebbflow.core import dtypes
from ebbflow.core.registry import registry
from ebbflow.runtime.executor import needed_nodes
from tests.machine import ONEDNN

pytestmark = pytest.mark.usefixtures("without_native")

tf = tf2.compat.v1


def flow_of(fetches, feeds=(), dims=None) -> Flow:
    fetches = fetches if isinstance(fetches, list) else [fetches]
    nodes = needed_nodes(fetches, {id(f) for f in feeds})
    return build(nodes, feeds, dims or [f._dims for f in feeds], fetches)


def ops(flow: Flow) -> Counter:
    return Counter(n.op.name for n in flow.nodes if n.op.name != "Const")


def x(dims=(4, 4), dtype="float32"):
    return tf.placeholder(dtype, dims)


# name: (pass, what is written, ops that are gone after, ops that are there after)
CASES = {
    "prune what nobody takes": ("prune", lambda a: [a + 1.0, tf.exp(a)][:1], ["Exp"], ["AddV2"]),
    "fold constants": ("fold", lambda a: a + tf.sqrt(tf.constant(4.0)) * 2.0, ["Sqrt", "Mul"], ["AddV2"]),
    "fold shapes": ("fold", lambda a: tf.reshape(a, [tf.shape(a)[1], tf.size(a) // 4]), ["Shape", "Size"], []),
    "fold the axes of a gradient": ("fold", lambda a: tf.gradients(a + tf.ones(4), a), ["BroadcastGradientArgs"], []),
    "times one": ("simplify", lambda a: a * 1.0, ["Mul"], []),
    "one times": ("simplify", lambda a: 1.0 * a, ["Mul"], []),
    "over one": ("simplify", lambda a: a / 1.0, ["RealDiv"], []),
    "minus nothing": ("simplify", lambda a: a - 0.0, ["Sub"], []),
    "minus minus": ("simplify", lambda a: tf.negative(tf.negative(a)), ["Neg"], []),
    "plus minus": ("simplify", lambda a: a + tf.negative(a), ["AddV2"], ["Sub"]),
    "minus the negative": ("simplify", lambda a: a - tf.negative(a), ["Sub"], ["AddV2"]),
    "a power of two below": ("simplify", lambda a: a / 8.0, ["RealDiv"], ["Mul"]),
    "a third stays a third": ("simplify", lambda a: a / 3.0, [], ["RealDiv"]),
    "times itself": ("simplify", lambda a: a * a, ["Mul"], ["Square"]),
    "squared": ("simplify", lambda a: tf.pow(a, 2.0), ["Pow"], ["Square"]),
    "powers of many kinds": ("simplify", lambda a: tf.pow(a, tf.fill([4, 4], 0.5)), [], ["Pow"]),
    "an inverse root of minus infinity": ("simplify", lambda a: tf.pow(a, -0.5), [], ["Pow"]),
    "identities": ("simplify", lambda a: tf.identity(tf.stop_gradient(a)) + 1.0, ["StopGradient"], ["AddV2"]),
    "transposed and back": ("simplify", lambda a: tf.transpose(tf.transpose(a)), ["Transpose"], []),
    "reshaped and back": ("simplify", lambda a: tf.reshape(tf.reshape(a, [16]), [4, 4]), ["Reshape"], []),
    "reshaped to itself": ("simplify", lambda a: tf.reshape(a, [4, 4]), ["Reshape"], []),
    "a sum over nothing": ("simplify", lambda a: tf.reduce_sum(a[:, :1], 1, keepdims=True), ["Sum"], []),
    "adding zero may change a sign": ("simplify", lambda a: a + 0.0, [], ["AddV2"]),
    "chosen already": ("simplify", lambda a: tf.where(tf.ones([4, 4], tf.bool), a, a + 1.0), ["Select"], []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_before_and_after(name):
    which, write, gone, there = CASES[name]
    with tf.Graph().as_default():
        a = x((None, None) if which == "fold" else (4, 4))
        fetches = write(a)
        before = flow_of(fetches, [a], [(4, 4)])
        if which == "simplify":
            before = PASSES["fold"](before)
        kinds = ops(before)
        assert which == "prune" or all(kinds[k] for k in gone), f"the case shows nothing: {kinds}"
        after = prune(PASSES[which](before))
        verify(after, which)
    assert not [k for k in gone if ops(after)[k]]
    assert all(ops(after)[k] for k in there)


def test_the_same_is_computed_once():
    with tf.Graph().as_default():
        a = x()
        flow = flow_of(tf.exp(a) * tf.exp(a), [a])
        assert ops(flow)["Exp"] == 2
        assert ops(prune(PASSES["common"](flow)))["Exp"] == 1


@pytest.mark.parametrize("write", [lambda: tf.random_uniform([4]) + tf.random_uniform([4])])
def test_what_is_random_is_not_the_same(write):
    with tf.Graph().as_default():
        assert ops(optimise(flow_of(write())))["RandomUniform"] == 2


def test_reads_are_the_same_until_something_changes():
    with tf.Graph().as_default():
        v = tf.get_variable("v", [2], use_resource=True)
        first, second = v.read_value(), v.read_value()
        update = v.assign_add([1.0, 1.0])
        with tf.control_dependencies([update]):
            third = v.read_value()
        flow = optimise(flow_of([first, second, third]))
        assert ops(flow)["ReadVariableOp"] == 2
        kinds = [n.op.name for n in flow.nodes if "Variable" in n.op.name]
        assert kinds.index("ReadVariableOp") < kinds.index("AssignAddVariableOp") < len(kinds) - 1


def test_rows_of_a_variable_are_read_once_until_something_changes():
    with tf.Graph().as_default():
        v = tf.get_variable("v", [50_000, 4], use_resource=True)
        first, second = tf.gather(v, [1, 2]), tf.gather(v, [1, 2])
        tf.raw_ops.VariableShape(input=v.handle)
        with tf.control_dependencies([tf.scatter_add(v, [1], tf.ones([1, 4]))]):
            third = tf.gather(v, [1, 2])
        kinds = ops(optimise(flow_of([first, second, third])))
        assert kinds["ResourceGather"] == 2 and not kinds["ReadVariableOp"] and not kinds["VariableShape"]


def test_rows_of_a_small_variable_are_rows_of_its_value():
    with tf.Graph().as_default():
        v = tf.get_variable("v", [50, 4], use_resource=True)
        kinds = ops(optimise(flow_of(tf.gather(v, [1, 2])), without=["native"]))
        assert kinds["Gather"] == kinds["ReadVariableOp"] == 1 and not kinds["ResourceGather"]


def test_a_choice_made_already_is_not_there_any_more():
    with tf.Graph().as_default():
        a = x()
        chosen = tf.cond(tf.constant(2) > tf.constant(1), lambda: tf.exp(a), lambda: tf.sin(a))
        kinds = ops(optimise(flow_of(chosen, [a])))
        assert kinds["Exp"] == 1 and not kinds["Sin"] and not kinds["StatelessIf"]


def test_gates_are_computed_together():
    with tf.Graph().as_default():
        a = x((2, 8))
        i, j, f, o = tf.split(a, 4, 1)
        fetches = [tf.sigmoid(i), tf.tanh(j), tf.sigmoid(f + 1.0), tf.sigmoid(o)]
        flow = optimise(flow_of(fetches, [a]))
        assert ops(flow)["Sigmoid"] == 1 and ops(flow)["Tanh"] == 1
        value = np.random.RandomState(0).randn(2, 8).astype("f")
        with tf.Session() as session:
            session.run(fetches, {a: value})
            given = session.run(fetches, {a: value})
        sigmoid = lambda z: 1 / (1 + np.exp(-z))
        np.testing.assert_allclose(given[2], sigmoid(value[:, 4:6] + 1), rtol=1e-6)
        np.testing.assert_allclose(given[3], sigmoid(value[:, 6:]), rtol=1e-6)


# what is taken of a product of 8 x 5 and 5 x 6, and how wide the product is then
COLUMNS = {
    "the second half": (lambda p: tf.split(p, 2, axis=1)[1], 3),
    "one of uneven parts": (lambda p: tf.split(p, [1, 2, 3], axis=-1)[1], 2),
    "some columns": (lambda p: tf.slice(p, [0, 2], [8, 3]), 3),
    "columns to the end": (lambda p: tf.slice(p, [0, 2], [-1, -1]), 4),
    "some rows": (lambda p: tf.split(p, 2, axis=0)[1], 6),
    "some of both": (lambda p: tf.slice(p, [2, 2], [4, 3]), 6),
    "two of three parts": (lambda p: tf.split(p, 3, axis=1)[1:], 6),
    "a part and the whole": (lambda p: [tf.split(p, 2, axis=1)[1], p], 6),
}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", COLUMNS)
def test_products_are_as_wide_as_what_is_used_of_them(name, turned):
    take, wide = COLUMNS[name]
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = x((8, 5)), x((6, 5) if turned else (5, 6))
        fetches = take(tf.matmul(a, b, transpose_b=turned))
        flow = prune(PASSES["columns"](PASSES["fold"](flow_of(fetches, [a, b]))))
        verify(flow, "columns")
        (product,) = [n for n in flow.nodes if n.op.name == "MatMul"]
        assert product.outputs[0].dims == (8, wide)
        fed = {t: np.random.RandomState(i).randn(*t.shape.as_list()).astype("f") for i, t in enumerate([a, b])}
        whole = fed[a] @ (fed[b].T if turned else fed[b])
        wanted = session.run(take(tf.constant(whole)))
        for _ in range(2):
            for found, right in zip(tf.nest.flatten(session.run(fetches, fed)), tf.nest.flatten(wanted), strict=True):
                np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-5)


def test_a_broken_pass_is_named(monkeypatch):
    def forgetful(flow):
        return Flow(flow.inputs, flow.nodes[1:], flow.outputs)

    monkeypatch.setitem(PASSES, "simplify", forgetful)
    monkeypatch.setenv("EBBFLOW_CHECK", "1")
    with tf.Graph().as_default():
        a = x()
        with pytest.raises(tf.errors.InternalError, match="pass 'simplify' broke the graph"):
            optimise(flow_of(tf.exp(tf.sin(a)), [a]))


def test_a_wrong_type_is_seen():
    value = Value(None, 0, dtypes.float32, (2,))
    node = Node(registry["Exp"], [value], {"T": dtypes.float32}, None)
    node.outputs = [Value(node, 0, dtypes.int32, (2,))]
    with pytest.raises(tf.errors.InternalError, match="not the types its op declares"):
        verify(Flow([value], [node], node.outputs), "test")


@ONEDNN
def test_bias_addend_and_activation_go_into_a_convolution():
    with tf.Graph().as_default(), tf.Session() as session:
        a, f, b = x((2, 8, 8, 4)), x((3, 3, 4, 4)), x((4,))
        y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(a, f, 1, "SAME"), b) + a)
        flow = optimise(flow_of(y, [a, f, b]))
        assert [n.op.name for n in flow.nodes] == ["_Fused"]
        fed = {t: np.random.RandomState(i).randn(*t.shape.as_list()).astype("f") for i, t in enumerate([a, f, b])}
        plain = session.run(y, fed)
        np.testing.assert_allclose(session.run(y, fed), plain, rtol=1e-4, atol=1e-5)


@ONEDNN
def test_the_gradients_of_filter_and_bias_are_one():
    with tf.Graph().as_default(), tf.Session() as session:
        a, f, b = x((2, 8, 8, 4)), x((3, 3, 4, 4)), x((4,))
        loss = tf.reduce_sum(tf.square(tf.nn.bias_add(tf.nn.conv2d(a, f, 1, "SAME"), b)))
        grads = tf.gradients(loss, [f, b])
        assert ops(optimise(flow_of(grads, [a, f, b])))["BiasAddGrad"] == 0
        fed = {t: np.random.RandomState(i).randn(*t.shape.as_list()).astype("f") for i, t in enumerate([a, f, b])}
        plain = session.run(grads, fed)
        for one, other in zip(session.run(grads, fed), plain, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)


# --- clusters ---------------------------------------------------------------------------------------------------------


def large():
    return tf.placeholder(tf.float32, [600, 1000])


def test_large_elementwise_work_becomes_a_cluster():
    with tf.Graph().as_default():
        a, b = large(), large()
        flow = optimise(flow_of(tf.tanh((a + b) * a) - b, [a, b]))
        assert [n.op for n in flow.nodes] == [CLUSTER]
        assert tiles.fits(flow.nodes[0].attrs["region"])


def test_products_stay_outside_clusters_and_order_holds():
    with tf.Graph().as_default():
        a, w = large(), tf.placeholder(tf.float32, [1000, 1000])
        h = tf.nn.relu(tf.matmul(tf.tanh(a) * 2.0, w)) + 1.0
        y = tf.reduce_sum(tf.matmul(tf.exp(h) * h, w) * 3.0 - 1.0)
        flow = optimise(flow_of(y, [a, w]), without=["fuse"])
        verify(flow, "cluster")
        kinds = [n.op.name for n in flow.nodes if n.op.name != "Const"]
        assert kinds == ["_Cluster", "MatMul", "_Cluster", "MatMul", "_Cluster"]


@pytest.mark.parametrize("wait", [False, True], ids=["host", "either"])
def test_a_cluster_answers_before_and_after_it_is_compiled(wait):
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = large(), large()
        y = tf.nn.relu(tf.tanh(a + b) * a)
        rng = np.random.RandomState(0)
        p, q = (rng.randn(600, 1000).astype("f") for _ in range(2))
        for _ in range(3):
            given = session.run(y, {a: p, b: q})
        if wait:
            clusters.settle()
            for _ in range(2 * clusters.TRIALS + 2):
                given = session.run(y, {a: p, b: q})
        np.testing.assert_allclose(given, np.maximum(np.tanh(p + q) * p, 0), rtol=1e-5, atol=1e-6)
        given += 1  # the caller's own


@pytest.mark.parametrize("n", [2 * tiles.TILE + 7, 0])
def test_tiles_with_an_odd_end_and_of_nothing(n):
    with tf.Graph().as_default():
        a, b = tf.placeholder(tf.float32, [n]), tf.placeholder(tf.float32, [])
        flow = flow_of(tf.sigmoid(a * b) + 1.0, [a, b])
        assert tiles.fits(flow)
        p = np.linspace(-3, 3, n).astype("f")
        (given,) = tiles.Tiles(flow)(p, np.array(2.0, "f"))
        np.testing.assert_allclose(given, 1 / (1 + np.exp(-2 * p)) + 1, rtol=1e-5)


# --- memory -----------------------------------------------------------------------------------------------------------


def test_memory_is_used_again():
    block = Block()
    a, b = block.take(100), block.take(64)
    assert (a, b, block.size) == (0, 128, 192)
    block.give(a, 100)
    assert block.take(64) == 0
    assert block.take(64) == 64
    assert block.take(64) == 192
    block.give(192, 64)
    assert block.take(1000) == 192, "the gap at the end grows"


def test_a_long_chain_needs_two_arrays():
    with tf.Graph().as_default(), tf.Session() as session:
        y = a = tf.placeholder(tf.float32, [100])
        for _ in range(50):
            y = tf.sin(y)
        runner_text = session.explain(y, [a])
        assert runner_text.count("sin(") == 50
        session.run(y, {a: np.zeros(100)})
        session.run(y, {a: np.zeros(100)})
        assert "448 bytes of planned memory" in session.explain(y, [a])


def test_what_xla_compiles_whole_is_not_fused_for_others():
    w = tf2.Variable(tf2.ones([256, 256]))

    @tf2.function(jit_compile=True)
    def layer(x):
        return tf2.nn.relu(tf2.matmul(x, w) + 1.0)

    np.testing.assert_allclose(layer(tf2.ones([256, 256])).numpy(), 257.0, rtol=1e-6)
