"""Partial runs: each node runs once, on its device; what TensorFlow refuses is refused."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import ebbflow

tf = ebbflow.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def session():
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))


def chain():
    """Three placeholders, and what follows from one, two and three of them."""
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    r1 = tf.multiply(a, 2.0, name="r1")
    r2 = tf.add(r1, b, name="r2")
    return {"a": a, "b": b, "c": c, "r1": r1, "r2": r2, "r3": tf.add(r2, c, name="r3")}


#         goes: what is fetched, what is fed, what comes out
WAYS = [
    [("r1", {"a": 3.0}, 6.0), ("r2", {"b": 1.0}, 7.0), ("r3", {"c": 1.0}, 8.0)],
    [(["r1", "r2"], {"a": 3.0, "b": 1.0}, [6.0, 7.0]), ("r3", {"c": 1.0}, 8.0)],
    [([], {"a": 3.0}, []), ([], {"b": 1.0, "c": 1.0}, []), (["r3", "r1"], {}, [8.0, 6.0]), ("r2", {}, 7.0)],
    [({"last": "r3"}, {"a": 1.0, "b": 1.0, "c": 1.0}, {"last": 4.0}), (("r2",), {}, (3.0,))],
]


@pytest.mark.parametrize("goes", WAYS)
def test_goes(graph, goes):
    named = chain()
    with session() as sess:
        handle = sess.partial_run_setup([named[n] for n in ("r1", "r2", "r3")], [named[n] for n in "abc"])
        for fetches, feeds, wanted in goes:
            fetched = tf.nest.map_structure(lambda n: named[n], fetches)
            assert sess.partial_run(handle, fetched, {named[n]: v for n, v in feeds.items()}) == wanted


#           fetched after `r1` was, fed, what is said
REFUSED = [
    ("r1", {}, "The fetch r1:0 has already been fetched"),
    ("r2", {"a": 1.0, "b": 1.0}, "The feed a:0 has already been fed"),
    ("r2", {"b": 1.0, "c": 1.0}, "The feed c:0 was not specified in partial_run_setup"),
    ("r3", {"b": 1.0}, "The fetch r3:0 was not specified in partial_run_setup"),
    ("r2", {}, "Fetch b:0 can't be computed from the feeds that have been fed so far"),
]


@pytest.mark.parametrize(("fetch", "feeds", "words"), REFUSED)
def test_refusals_leave_the_run_as_it_was(graph, fetch, feeds, words):
    named = chain()
    with session() as sess:
        handle = sess.partial_run_setup([named["r1"], named["r2"]], [named["a"], named["b"]])
        assert sess.partial_run(handle, named["r1"], {named["a"]: 3.0}) == 6.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            sess.partial_run(handle, named[fetch], {named[n]: v for n, v in feeds.items()})
        assert sess.partial_run(handle, named["r2"], {named["b"]: 1.0}) == 7.0
        for gone in (handle, "nope"):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup' before performing partial runs"):
                sess.partial_run(gone, named["r2"])


@pytest.mark.parametrize("use_resource", [False, True])
def test_each_node_runs_once(graph, use_resource):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    v = tf.Variable(0.0, use_resource=use_resource)
    with tf.control_dependencies([tf.group(tf.assign_add(v, 1.0))]):
        first = a + 1.0
        second = tf.assign_add(v, b)
    with session() as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([first, second], [a, b])
        assert sess.partial_run(handle, first, {a: 1.0}) == 2.0
        assert sess.partial_run(handle, second, {b: 10.0}) == 11.0
        assert sess.run(v) == 11.0


def test_nodes_run_on_their_devices(graph):
    threads = []

    def noted(x):
        return tf.numpy_function(lambda v: (threads.append(threading.current_thread().name), v)[1], [x], tf.float32)

    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device("/cpu:0"):
        here = noted(a)
    with tf.device("/cpu:1"):
        there = noted(here) + b
        other = noted(a)
    with session() as sess:
        handle = sess.partial_run_setup([here, other, there], [a, b])
        assert sess.partial_run(handle, [here, other], {a: 3.0}) == [3.0, 3.0]
        assert len(set(threads)) == 2
        assert sess.partial_run(handle, there, {b: 1.0}) == 4.0


def test_a_device_that_is_not_there(graph):
    a = tf.placeholder(tf.float32, [])
    with tf.device("/cpu:7"):
        b = a * 2.0
    with session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="available devices are"):
        sess.partial_run_setup([b], [a])


def test_a_loop_between_goes(graph):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    doubled = a * 2.0
    loop = tf.while_loop(lambda i: i < b, lambda i: i * 2.0, [a])
    with session() as sess:
        handle = sess.partial_run_setup([doubled, loop], [a, b])
        assert sess.partial_run(handle, doubled, {a: 1.0}) == 2.0
        assert sess.partial_run(handle, loop, {b: 10.0}) == 16.0


def test_what_was_fed_may_be_changed_between_goes(graph):
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    doubled, total = x * 2.0, x + y
    with session() as sess:
        handle = sess.partial_run_setup([doubled, total], [x, y])
        fed = np.ones(2, "f")
        assert sess.partial_run(handle, doubled, {x: fed}).tolist() == [2, 2]
        fed[:] = 100
        assert sess.partial_run(handle, total, {y: fed}).tolist() == [101, 101]


def test_a_setup_wants_fetches_and_goes_want_feeds(graph):
    x = tf.placeholder(tf.float32, [], name="x")
    with session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="specify at least one target to fetch or execute"):
            sess.partial_run_setup([], [x])
        handle = sess.partial_run_setup([x * 2.0], [])
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'x'"):
            sess.partial_run(handle, "mul:0")
