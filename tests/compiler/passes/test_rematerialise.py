"""Cheap values computed again under a memory limit: fewer bytes, the same answers, nothing random or costly twice."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow.compiler.passes import optimise
from ebbflow.compiler.passes.rematerialise import Lives, is_cheap, rematerialise
from ebbflow.compiler.passes.verify import verify
from ebbflow.platform import config
from tests.compiler.passes.test_passes import flow_of
from tests.compiler.programs import graph_of
from tests.compiler.test_programs import feed

pytestmark = pytest.mark.usefixtures("without_native")

tf = tf2.compat.v1


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(config, "wishes", config.Wishes())
    monkeypatch.setenv("EBBFLOW_CHECK", "1")


def weights(number, dims):
    value = 0.1 * np.random.RandomState(number).randn(*dims).astype("f")
    return tf.get_variable(f"w{number}", initializer=value, use_resource=True)


def dense(x):
    for i in range(4):
        x = tf.nn.softplus(tf.tanh(tf.matmul(x, weights(i, [64, 64]))) * 2.0 + 1.0)
    return x


def dropout(x):
    for i in range(4):
        x = tf.nn.dropout(tf.nn.softplus(tf.matmul(x, weights(i, [64, 64])) * 3.0), rate=0.3, seed=i)
    return x


def normalised(x):
    x = tf.reshape(x, [4, 8, 8, 16])
    for i in range(3):
        x = tf.nn.conv2d(x, weights(i, [3, 3, 16, 16]), 1, "SAME")
        x, _, _ = tf.nn.fused_batch_norm(x, tf.ones([16]), tf.zeros([16]))
        x = tf.nn.elu(x)
    return x


MODELS = {"dense": dense, "dropout": dropout, "normalised": normalised}


def training(model):
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [64, 64])
    loss = tf.reduce_sum(tf.square(model(x)))
    return x, [loss, *tf.gradients(loss, tf.trainable_variables())]


def kinds(flow):
    return Counter(node.op.name for node in flow.nodes)


@pytest.mark.parametrize("name", MODELS)
def test_fewer_bytes(name):
    with tf.Graph().as_default():
        x, fetches = training(MODELS[name])
        before = optimise(flow_of(fetches, [x]), ["cluster"])
        peak, count = Lives(before).peak, kinds(before)
        after = rematerialise(before, 0)
        verify(after, "rematerialise")
        assert Lives(after).peak < 0.85 * peak
        again = kinds(after) - count
        costly = [node.op.name for node in after.nodes if not is_cheap(node)]
        assert again and not again.keys() & set(costly)


@pytest.mark.parametrize("name", MODELS)
def test_a_limit_that_holds_changes_nothing(name):
    with tf.Graph().as_default():
        x, fetches = training(MODELS[name])
        flow = optimise(flow_of(fetches, [x]), ["cluster"])
        nodes = list(flow.nodes)
        assert rematerialise(flow, Lives(flow).peak).nodes == nodes


def test_no_more_than_the_limit_asks_for():
    with tf.Graph().as_default():
        x, fetches = training(dense)
        flow = optimise(flow_of(fetches, [x]), ["cluster"])
        count, limit = len(flow.nodes), Lives(flow).peak - 1
        some = rematerialise(flow, limit)
        assert Lives(some).peak <= limit and len(some.nodes) - count < 12


def run(model, session_config=None):
    """What three steps of training give, and the bytes that the Program plans."""
    with tf.Graph().as_default(), tf.Session(config=session_config) as session:
        x, fetches = training(model)
        session.run(tf.global_variables_initializer())
        results = [session.run(fetches, {x: feed(i, 1)[0].sum() * np.ones([64, 64])}) for i in range(3)]
        text = session.explain(fetches, [x])
    return results, int(text.split(" bytes of planned memory")[0].rpartition(" ")[2])


def recomputing():
    proto = tf.ConfigProto()
    proto.graph_options.rewrite_options.memory_optimization = 5  # RECOMPUTATION_HEURISTICS
    return proto


@pytest.mark.parametrize("how", ["tf.config", "RewriterConfig"])
@pytest.mark.parametrize("name", ["dense", "dropout"])
def test_the_same_answers_in_less_memory(name, how, monkeypatch):
    monkeypatch.setenv("EBBFLOW_ENGINES", "host")
    plain, bytes_before = run(MODELS[name])
    if how == "tf.config":
        tf2.config.optimizer.set_experimental_options({"memory_limit": 0})
    saving, bytes_after = run(MODELS[name], recomputing() if how == "RewriterConfig" else None)
    assert name == "dropout" or bytes_after < 0.9 * bytes_before  # masks are applied outside of planned memory
    for one, other in zip(plain, saving, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("without", [(), ("native",)], ids=["all engines", "no machine code"])
def test_nothing_hides_what_can_be_computed_again(without):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [600, 1000])
        y = x
        for _ in range(6):
            y = tf.sin(y) * 1.5
        fetches = tf.gradients(tf.reduce_sum(y), x)
        flow = optimise(flow_of(fetches, [x]), without, memory=(0, ""))
    assert not [n for n in flow.nodes if n.op.name in ("_Cluster", "_Native")]
    assert sum(n.op.name == "Sin" for n in flow.nodes) > 6


def test_only_for_the_named_scope():
    with tf.Graph().as_default():
        x, fetches = training(dense)
        flow = optimise(flow_of(fetches, [x]), ["cluster"])
        nodes = list(flow.nodes)
        assert rematerialise(flow, 0, "no such scope/").nodes == nodes


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs(seed):
    found = []
    for limit in (None, 0):
        config.wishes = config.Wishes()
        if limit is not None:
            tf2.config.optimizer.set_experimental_options({"memory_limit": limit})
        graph, feeds, fetches = graph_of(seed)
        with tf.Session(graph=graph) as session:
            with graph.as_default():
                session.run(tf.global_variables_initializer())
            found.append([session.run(fetches, dict(zip(feeds, feed(i, 2), strict=True))) for i in range(2)])
    for one, other in zip(*found, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_functions_too():
    @tf2.function
    def step(x, w):
        with tf2.GradientTape() as tape:
            tape.watch(w)
            y = x
            for _ in range(4):
                y = tf2.nn.softplus(tf2.tanh(y @ w) * 2.0 + 1.0)
            loss = tf2.reduce_sum(y)
        return tape.gradient(loss, w)

    x, w = tf2.constant(feed(1, 1)[0]), tf2.constant(feed(2, 1)[0])
    plain = step(x, w)
    tf2.config.optimizer.set_experimental_options({"memory_limit": 0})
    np.testing.assert_array_equal(plain, tf2.function(step.python_function)(x, w))
