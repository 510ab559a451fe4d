"""Graphs cut by device: parts and what passes between them, the same answers as on one device, failures, statistics."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow.core import errors
from ebbflow.runtime import rendezvous, run_on_devices

tf = tf2.compat.v1
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEVICES = 3


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def several(**options):
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": DEVICES}, **options))


def on(index):
    return tf.device(f"/cpu:{index}")


def parts_of(session, fetches, feeds=()):
    return run_on_devices.runner_for(session, list(fetches), list(feeds)).parts


def kinds(part):
    return [node.type for node in part.graph.get_operations()]


# --- cutting ----------------------------------------------------------------------------------------------------------


def test_a_tensor_is_sent_once_to_each_device_that_takes_it(graph):
    with on(0):
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.square(x, name="y")
    with on(1):
        a = [y + 1, y * 2, y - 3]
    with on(2):
        b = y / 2
    with several() as session:
        parts = parts_of(session, [*a, b], [x])
        assert [kinds(part).count("_Send") for part in parts] == [2, 0, 0]
        assert [kinds(part).count("_Recv") for part in parts] == [0, 1, 1]
        got = session.run([*a, b], {x: [1, 2]})
    np.testing.assert_allclose(got, [[2, 5], [2, 8], [-2, 1], [0.5, 2]])


def test_sends_and_receives_have_tensorflows_attributes(graph):
    with on(0):
        y = tf.square(tf.placeholder_with_default([1.0], [1]), name="y")
    with on(1):
        z = y + 1
    with several() as session:
        parts = parts_of(session, [z])
    send = next(n for n in parts[0].graph.get_operations() if n.type == "_Send")
    receive = next(n for n in parts[1].graph.get_operations() if n.type == "_Recv")
    names = [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in (0, 1)]
    for node in (send, receive):
        assert node.get_attr("tensor_name") == b"edge_0_y" and node.get_attr("send_device_incarnation") == 1
        assert [node.get_attr(a).decode() for a in ("send_device", "recv_device")] == names
    assert send.device == names[0] and receive.device == names[1]
    assert rendezvous.key(*names[:1], 1, names[1], "edge_0_y") == f"{names[0]};0000000000000001;{names[1]};edge_0_y;0:0"


def test_constants_do_not_travel(graph):
    with on(0):
        c = tf.constant([1.0, 2.0])
    with on(1):
        y = c + 1
    with on(2):
        z = c + 2
    with several() as session:
        assert not any("_Send" in kinds(part) for part in parts_of(session, [y, z]))
        np.testing.assert_allclose(session.run([y, z]), [[2, 3], [3, 4]])


def test_feeds_go_to_every_part_that_takes_them(graph):
    with on(0):
        x = tf.placeholder(tf.float32, [], name="x")
        y = x * 2  # fed as well: nothing is computed here
    with on(1):
        a = x + y
    with on(2):
        b = y * y
    with several() as session:
        assert not any("_Send" in kinds(part) for part in parts_of(session, [a, b, x], [x, y]))
        assert session.run([a, b, x, y], {x: 1, y: 5}) == [6, 25, 1, 5]


def test_control_edges_cross_borders(graph):
    with on(0):
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
        update = v.assign_add(1.0, read_value=False)
    with on(1), tf.control_dependencies([update]):
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer(), use_resource=True)
        second = w.assign_add(1.0, read_value=False)
    with on(2), tf.control_dependencies([second]):
        done = tf.no_op()
    with several() as session:
        session.run(tf.global_variables_initializer())
        for count in range(1, 4):
            session.run(done)
            assert session.run([v, w]) == [count, count]
        first, middle, last = parts_of(session, [done])
    assert (kinds(first).count("_Send"), kinds(middle).count("_Recv"), kinds(last).count("_Recv")) == (1, 1, 1)


# --- the same answers -------------------------------------------------------------------------------------------------


def scattered(seed, spread):
    """A random graph of some forty nodes on random devices (or none), with variables among them."""
    random = np.random.RandomState(seed)

    def somewhere(share):
        chosen, asks = random.randint(DEVICES), random.rand() < share
        return tf.device(f"/cpu:{chosen}" if spread and asks else None)

    x = tf.placeholder(tf.float32, [None, 3], name="x")
    variables, values, updates = [], [x], []
    for i in range(3):
        with somewhere(1):
            start = tf.constant(random.randn(1, 3).astype("f"))
            variables.append(tf.get_variable(f"v{i}", initializer=start, use_resource=bool(i % 2)))
    for _ in range(40):
        a, b = (values[random.randint(len(values))] for _ in range(2))
        which = random.randint(6)
        with somewhere(0.6):
            if which == 5:
                variable = variables[random.randint(3)]
                change = tf.assign_add(variable, 0.1 * tf.reduce_mean(tf.tanh(a), 0, keepdims=True))
                updates.append(change)
                with tf.control_dependencies([change]):
                    values.append(tf.tanh(b + variable.read_value()))
            else:
                values.append([a + b, tf.tanh(a) * b, tf.nn.relu(a - b), tf.sin(a), tf.concat([a, b], 0)[:4]][which])
    return x, [values[-1], values[-3], tf.reduce_sum(values[-2]), tf.group(*updates), variables[0]]


@pytest.mark.parametrize("seed", range(8))
def test_the_same_answers_as_on_one_device(seed):
    answers = []
    for spread in (False, True):
        with tf.Graph().as_default(), several() as session:
            x, fetches = scattered(seed, spread)
            session.run(tf.global_variables_initializer())
            fed = np.linspace(-1, 1, 12, dtype="f").reshape(4, 3)
            for _ in range(3):
                got = session.run(fetches, {x: fed})
            answers.append([a for a in got if a is not None] + session.run(tf.global_variables()))
            assert hasattr(run_on_devices.runner_for(session, [fetches[0], fetches[3]], [x]), "parts") is spread
    for one, other in zip(*answers, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_shapes_that_come_again_are_known_across_borders(graph):
    x = tf.placeholder(tf.float32, [None, 3])
    with on(0):
        y = tf.tanh(x) + 1.0
    with on(1):
        z = tf.exp(y) * 2.0 + tf.tanh(y)
    with several() as session:
        for rows in (2, 3, 2, 3, 2, 2):
            fed = np.ones([rows, 3])
            expected = np.exp(np.tanh(fed) + 1) * 2 + np.tanh(np.tanh(fed) + 1)
            np.testing.assert_allclose(session.run(z, {x: fed}), expected, rtol=1e-5)
        text = session.explain(z, [x])
    assert text.count("# on /job:localhost") == 4  # two devices, two sets of shapes
    assert text.count("exp(add__2, Exp)") == 2  # into planned memory: what is received has a known shape


def test_random_numbers_are_the_same_wherever_they_are_drawn():
    drawn = []
    for device in ("/cpu:0", "/cpu:1"):
        with tf.Graph().as_default(), several() as session:
            tf.set_random_seed(3)
            with tf.device(device):
                r = tf.random_uniform([2], seed=1)
            with on(2):
                y = r + 1
            runs = [session.run(y), session.run([y, r])[0], session.run(y)]  # different plans, one stream
            drawn.append(runs)
    np.testing.assert_array_equal(*drawn)


def test_many_runs_at_once(graph):
    x = tf.placeholder(tf.float32, [2])
    y = x
    for i in range(12):
        with on(i % DEVICES):
            y = y + float(i)
    found = {}

    def run(number):
        for _ in range(10):
            found[number] = session.run(y, {x: [number, 0]})

    with several() as session:
        threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert {n: v.tolist() for n, v in found.items()} == {n: [66 + n, 66] for n in range(6)}


def test_a_long_chain_over_devices(graph):
    y = tf.placeholder_with_default(np.float32(0), [])
    for i in range(600):
        with on(i % DEVICES):
            y = y + 1.0
    with several() as session:
        assert [session.run(y) for _ in range(3)] == [600, 600, 600]


# --- failures ---------------------------------------------------------------------------------------------------------


def test_a_failure_in_one_part_ends_the_others(graph):
    with on(0):
        x = tf.placeholder(tf.float32, [], name="x")
        checked = tf.check_numerics(x, "bad number", name="checked")
    with on(1):
        y = checked + 1
    with on(2):
        z = y + 1
    with several() as session:
        for _ in range(3):
            with pytest.raises(errors.InvalidArgumentError, match="bad number") as caught:
                session.run(z, {x: np.nan})
            assert caught.value.op is checked.op and "test_partition.py" in caught.value.message
            assert session.run(z, {x: 1}) == 3


def test_python_errors_pass(graph):
    def fail(x):
        raise KeyError("what")

    with on(1):
        y = tf.py_func(fail, [tf.constant(1.0)], tf.float32)
    with on(2):
        z = y + 1
    with several() as session, pytest.raises(errors.OpError, match="what"):
        session.run(z)


def test_an_unfed_placeholder(graph):
    with on(1):
        x = tf.placeholder(tf.float32, [], name="x")
    with on(2):
        y = x + 1
    with several() as session, pytest.raises(errors.InvalidArgumentError, match=r"You must feed a value for .* 'x'"):
        session.run(y)


def test_nobody_waits_for_what_nobody_sends():
    meeting = rendezvous.LocalRendezvous(2)
    raised = []

    def receive(key):
        try:
            meeting.receive(key)
        except rendezvous.Aborted as error:
            raised.append(error)

    threads = [threading.Thread(target=receive, args=(key,)) for key in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(raised) == 2 and isinstance(meeting.error, errors.InternalError)


def test_who_leaves_leaves_nobody_waiting():
    meeting = rendezvous.LocalRendezvous(2)
    meeting.send("a", 1)
    meeting.leave()
    assert meeting.receive("a") == 1
    with pytest.raises(rendezvous.Aborted):
        meeting.receive("b")


def test_sending_needs_somebody_to_meet(graph):
    with pytest.raises(errors.FailedPreconditionError, match="parts of a partitioned graph"):
        rendezvous.current()


# --- statistics -------------------------------------------------------------------------------------------------------


def test_statistics_and_graphs_of_each_device(graph):
    with on(0):
        x = tf.placeholder_with_default([1.0], [1])
    with on(1):
        y = tf.square(x, name="y")
    with on(2):
        z = tf.add(y, y, name="z")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    with several() as session:
        for _ in range(2):  # by the executor, then compiled
            session.run(z, options=options, run_metadata=metadata)
            stats = {d.device[-5:]: [n.node_name for n in d.node_stats] for d in metadata.step_stats.dev_stats}
            assert "y" in stats["CPU:1"] and "z" in stats["CPU:2"] and list(stats) == ["CPU:0", "CPU:1", "CPU:2"]
        graphs = [{n.op for n in g.node} for g in metadata.partition_graphs]
    assert [("_Send" in ops, "_Recv" in ops) for ops in graphs] == [(True, False), (True, True), (False, True)]


# --- with XLA's devices -----------------------------------------------------------------------------------------------

ON_XLA = """
    import numpy as np
    import ebbflow.v1 as tf
    from ebbflow.engines import devices
    from ebbflow.runtime import run_on_devices as placed, device_runner

    def train(first, second, soft=True):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [None, 4])
            with tf.device(first):
                w = tf.get_variable("w", initializer=np.arange(16, dtype="f").reshape(4, 4) / 10, use_resource=True)
                h = tf.nn.relu(tf.matmul(x, w) - 1.0)
            with tf.device(second):
                v = tf.get_variable("v", [4, 2], initializer=tf.ones_initializer(), use_resource=False)
                y = tf.reshape(tf.matmul(h, v), [-1])
                text = tf.strings.as_string(tf.reduce_sum(y))
            loss = tf.reduce_sum(y * y)
            step = tf.train.GradientDescentOptimizer(0.001).minimize(loss, colocate_gradients_with_ops=True)
            with tf.Session(config=tf.ConfigProto(allow_soft_placement=soft)) as session:
                session.run(tf.global_variables_initializer())
                for i in range(5):
                    got = session.run([loss, y, text, step], {x: np.ones([2 + i % 2, 4])})
                runner = placed.runner_for(session, [loss, step], [x])
                kinds = [type(r) for r in (runner._team.runners if hasattr(runner, "parts") else ())]
                return got[:3], session.run([w, v]), kinds.count(device_runner.DeviceRunner)

    plain, xla = train("/cpu:0", "/cpu:0"), train("/device:XLA_CPU:1", "/device:XLA_CPU:2")
    np.testing.assert_allclose(plain[0][0], xla[0][0], rtol=1e-5)
    np.testing.assert_allclose(plain[0][1], xla[0][1], rtol=1e-5)
    for a, b in zip(plain[1], xla[1]):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    assert (plain[2], xla[2]) == (0, 2), (plain[2], xla[2])
    try:
        train("/device:XLA_CPU:1", "/device:XLA_CPU:2", soft=False)
    except tf.errors.InvalidArgumentError as error:
        assert "no supported kernel for XLA_CPU devices" in error.message, error
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        with tf.device("/device:XLA_CPU:3"):
            x = tf.placeholder(tf.float32, [None])
            picked = tf.boolean_mask(x, x > 0)  # its shape depends on values: the host's kernels serve
            empty = tf.reduce_sum(tf.square(x[:0]))
            stays = tf.square(tf.square(x))
        assert session.run(picked + 1, {x: [1, -1, 2]}).tolist() == [2, 3]
        assert session.run([empty, stays], {x: [1, 2]})[0] == 0
        part = placed.runner_for(session, [stays], [x])._team.runners[0]
        segment = next(item for item in part._work if isinstance(item, device_runner.Segment))
        slots = [np.float32([1, 2])] + [None] * part.executor.count
        segment.run(slots, part._bring)
        made = slots[segment.outs[0]]
        assert made.devices() == {devices.table.logical()[4].engine_device()}, made.devices()
    import ebbflow as tf2
    tf2.compat.v1.enable_eager_execution()
    step = tf2.function(lambda x: tf2.tanh(x) * 2.0)
    compiled = tf2.function(lambda x: tf2.tanh(x) * 2.0, jit_compile=True)
    x = tf2.constant([1.0, 2.0])
    with tf2.device("/device:XLA_CPU:2"):
        np.testing.assert_allclose(step(x), np.tanh([1, 2]) * 2.0, rtol=1e-6)
        np.testing.assert_allclose(compiled(x), np.tanh([1, 2]) * 2.0, rtol=1e-6)
    (plan,) = step.get_concrete_function(x).graph._runners.values()
    assert [part.device.name[-9:] for part in plan[0].__self__.parts] == ["XLA_CPU:2"]
    (plan,) = compiled.get_concrete_function(x).graph._runners.values()
    assert plan[0].__self__.jit_device is devices.table.logical()[3].engine_device()
    print("done")
"""


def test_parts_on_devices_of_xla():
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ON_XLA)], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "done\n", done.stderr
