"""Graphs over several processes: what is sent, what fails, and who notices."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.cluster import remote, transport, wire
from ebbflow.cluster.endpoint import here
from ebbflow.cluster.link import Link
from ebbflow.cluster.steps import Steps
from ebbflow.cluster.task import Task

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture
def cluster(processes, ports):
    """A worker in this process, a ps in another: (target of the worker, process of the ps, cluster)."""
    worker, ps = ports(2)
    jobs = {"worker": [f"localhost:{worker}"], "ps": [f"localhost:{ps}"]}
    process = processes.serve(jobs, "ps")
    server = v1.train.Server(jobs, "worker", 0)
    yield server.target, process, jobs
    server._stop()


def on_ps():
    return v1.device(v1.train.replica_device_setter(ps_tasks=1))


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "reference"])
def test_training_over_two_processes(cluster, use_resource):
    """The same numbers as in one process, variables at the ps."""

    def model():
        x = v1.placeholder(tf.float32, [None, 3])
        w = v1.get_variable("w", [3, 2], initializer=v1.ones_initializer(), use_resource=use_resource)
        rows = v1.get_variable("rows", initializer=np.eye(4, 2, dtype=np.float32), use_resource=use_resource)
        loss = tf.reduce_mean((x @ w - tf.nn.embedding_lookup(rows, [1, 3])) ** 2)
        return x, loss, v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

    feed = np.arange(6, dtype=np.float32).reshape(2, 3) / 6

    def losses(target):
        with v1.Session(target) as session:
            session.run(v1.global_variables_initializer())
            return [session.run([loss, train], {x: feed})[0] for _ in range(6)]

    with on_ps():
        x, loss, train = model()
    found = losses(cluster[0])
    with tf.Graph().as_default():
        x, loss, train = model()
        np.testing.assert_allclose(found, losses(""), rtol=1e-6)


def test_a_client_without_a_server(cluster):
    target = f"grpc://{cluster[2]['ps'][0]}"
    config = v1.ConfigProto(device_filters=["/job:ps"])
    with tf.device("/job:ps/task:0"):
        x = v1.placeholder(tf.float32)
        y = tf.strings.as_string(x), x * 2.0
    large = np.arange(1 << 19, dtype=np.float32)  # two megabytes: several frames each way
    with v1.Session(target, config=config) as session:
        assert len(session.list_devices()) == 1
        assert session.run(y, {x: 3.0})[0] == b"3.000000"
        np.testing.assert_array_equal(session.run(y[1], {x: large}), large * 2)


def test_choices_and_loops_at_another_task(cluster):
    with tf.device("/job:ps/task:0"):
        x = v1.placeholder(tf.int32, [])
        y = tf.while_loop(lambda i, n: i < 5, lambda i, n: (i + 1, n * 2), [0, x])[1]
        z = tf.cond(x > 2, lambda: y + 1, lambda: y - 1)
    with v1.Session(cluster[0]) as session:
        assert session.run(z, {x: 3}) == 97
        assert session.run(z, {x: 1}) == 31


def test_an_error_at_another_task_names_the_node(cluster):
    with tf.device("/job:ps/task:0"):
        x = v1.placeholder(tf.float32)
        checked = v1.check_numerics(x, "not a number", name="look_at_it")
    with tf.device("/job:worker/task:0"):
        y = checked + 1.0
    with v1.Session(cluster[0]) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="not a number") as caught:
            session.run(y, {x: np.nan})
        assert caught.value.op is checked.op
        assert session.run(y, {x: 1.0}) == 2.0  # the session goes on


def test_a_handle_does_not_leave_its_task(cluster):
    with tf.device("/job:ps/task:0"):
        v = v1.get_variable("v", initializer=1.0, use_resource=True)
    with tf.device("/job:worker/task:0"):
        wrong = tf.cond(v > 0.0, lambda: v + 1.0, lambda: v - 1.0)  # takes the variable itself into its branches
    with v1.Session(cluster[0]) as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.UnimplementedError, match="cannot be sent to another task"):
            session.run(wrong)


def test_a_waiting_run_ends_with_its_deadline_and_with_its_session(cluster):
    with tf.device("/job:ps/task:0"):
        dequeue = tf.queue.FIFOQueue(1, tf.int32, name="empty").dequeue()
    session = v1.Session(cluster[0])
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(dequeue, options=v1.RunOptions(timeout_in_ms=200))
    threading.Timer(0.2, session.close).start()
    with pytest.raises(tf.errors.CancelledError):
        session.run(dequeue)


def test_a_lost_task_is_unavailable_and_its_successor_has_forgotten(cluster, processes):
    target, process, jobs = cluster
    with on_ps():
        v = v1.get_variable("v", initializer=1.0)
    with v1.Session(target) as session:
        session.run(v.initializer)
        process.kill()
        process.wait()
        for _ in range(2):
            with pytest.raises((tf.errors.UnavailableError, tf.errors.AbortedError)):
                session.run(v)
        processes.serve(jobs, "ps")
        with pytest.raises((tf.errors.UnavailableError, tf.errors.AbortedError)):
            session.run(v)
    with v1.Session(target) as session, pytest.raises(tf.errors.FailedPreconditionError):
        session.run(v)


def test_a_run_that_waits_for_a_lost_task_fails_at_once(cluster):
    target, process, _ = cluster
    with tf.device("/job:ps/task:0"):
        dequeue = tf.queue.FIFOQueue(1, tf.int32, name="empty").dequeue()
    with v1.Session(target) as session:
        threading.Timer(0.3, process.kill).start()
        with pytest.raises(tf.errors.UnavailableError):
            session.run(dequeue)


def test_a_task_that_is_lost_when_its_part_is_done_ends_the_step_of_the_others(processes, ports):
    """Workers that wait at one server for what the lost one had to give would wait for ever."""
    first, second, own = (f"localhost:{port}" for port in ports(3))
    jobs = {"worker": [own], "ps": [first, second]}
    processes.serve(jobs, "ps", 0)
    process = processes.serve(jobs, "ps", 1)
    server = v1.train.Server(jobs, "worker", 0)
    with tf.device("/job:ps/task:0"):
        dequeue = tf.queue.FIFOQueue(1, tf.int32, name="empty").dequeue()
    with tf.device("/job:ps/task:1"):
        v = v1.get_variable("v", initializer=1.0, use_resource=True)
        done = v.assign_add(1.0)

    def kill_when_done(session):
        while session.run(v) < 2.0:
            time.sleep(0.01)
        time.sleep(0.3)
        process.kill()

    with v1.Session(server.target) as session:
        session.run(v.initializer)
        threading.Thread(target=kill_when_done, args=(session,), daemon=True).start()
        with pytest.raises(tf.errors.UnavailableError):
            session.run([dequeue, done.op], options=v1.RunOptions(timeout_in_ms=60_000))
    server._stop()


def test_a_frozen_task_is_found(cluster):
    target, process, _ = cluster
    with on_ps():
        v = v1.get_variable("v", initializer=1.0)
    with v1.Session(target) as session:
        session.run(v.initializer)
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)  # an answer may be quicker than the signal
        with pytest.raises(tf.errors.UnavailableError):  # by pings; there is no deadline that could do it
            session.run(v)
        process.send_signal(signal.SIGCONT)


def test_a_wrong_token_is_refused(processes, ports):
    (port,) = ports(1)
    processes.serve({"ps": [f"localhost:{port}"]}, "ps", EBBFLOW_CLUSTER_TOKEN="another")
    with pytest.raises(tf.errors.UnauthenticatedError, match="EBBFLOW_CLUSTER_TOKEN"):
        v1.Session(f"grpc://localhost:{port}")


def test_random_bytes_do_a_server_no_harm(processes, ports):
    import socket

    (port,) = ports(1)
    processes.serve({"ps": [f"localhost:{port}"]}, "ps")
    for seed in range(20):
        with socket.create_connection(("localhost", port)) as stranger:
            stranger.sendall(np.random.default_rng(seed).bytes(5000))
    with v1.Session(f"grpc://localhost:{port}") as session:
        assert session.run(tf.constant(1) + 1) == 2


def test_bytes_and_messages_that_a_peer_would_not_send_do_a_server_no_harm(processes, ports):
    """Frames that are none, of kinds there are not, of more than a message may have: the link is lost, and no more."""
    (port,) = ports(1)
    address = f"localhost:{port}"
    processes.serve({"ps": [address]}, "ps")
    for frame in (
        wire.Frame(wire.MORE, 7, b"", b"more of nothing"),
        wire.Frame(wire.RUN, 7, b"no JSON", b""),
        wire.Frame(77, 7, b"", b""),
        wire.Frame(wire.DATA, 7, b"", bytes(transport.LARGEST_MESSAGE + 1)),
    ):
        link, lost = Link(Steps()), threading.Event()
        transport.connect(address, link, {}, 20.0)
        link.when_lost.append(lost.set)
        link.say(frame)
        assert lost.wait(20.0), frame.kind
    with v1.Session(f"grpc://{address}") as session:
        assert session.run(tf.constant(1) + 1) == 2


def test_a_worker_whose_ps_is_not_there_says_so_in_time(ports):
    worker, ps = ports(2)
    server = v1.train.Server({"worker": [f"localhost:{worker}"], "ps": [f"localhost:{ps}"]}, "worker", 0)
    config = v1.ConfigProto(operation_timeout_in_ms=300)
    with pytest.raises(tf.errors.DeadlineExceededError, match=rf"/job:ps/replica:0/task:0 does not answer.*:{ps}"):
        v1.Session(server.target, config=config)
    server._stop()


def test_a_session_to_a_silent_master_says_where_it_waited_and_how_long(ports, monkeypatch):
    (port,) = ports(1)
    assert remote.WAIT_SECONDS == 120.0
    monkeypatch.setattr(remote, "WAIT_SECONDS", 0.2)
    with pytest.raises(tf.errors.UnavailableError, match=rf"does not answer at localhost:{port}.*waited 0.2 s.*server"):
        v1.Session(f"grpc://localhost:{port}")


def test_servers_that_are_not_there_leave_no_threads_behind(ports):
    """Each attempt had left one: a worker that waited for an hour would have had two thousand."""
    address, before = f"localhost:{ports(1)[0]}", set(threading.enumerate())
    links = [Link(Steps()) for _ in range(8)]
    for link in links:
        with pytest.raises(tf.errors.UnavailableError, match=address):
            transport.connect(address, link, {}, 0.1)
    assert all(link.error is not None for link in links)
    end = time.monotonic() + 60
    while len(left := set(threading.enumerate()) - before) >= len(links) and time.monotonic() < end:
        time.sleep(0.05)
    assert len(left) < len(links), left


@pytest.mark.parametrize("target", ["nowhere", "localhost:", "localhost:99999", "localhost:x", ":2222"])
def test_an_address_that_is_none_is_refused_at_once(target):
    with pytest.raises(tf.errors.InvalidArgumentError, match="it is host:port"):
        v1.Session(f"grpc://{target}")
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="it is host:port"):
        v1.train.Server({"worker": [target]})


def test_a_worker_waits_no_longer_for_a_chief_that_is_not_there_than_it_was_told(ports):
    (port,) = ports(1)
    manager = v1.train.SessionManager()
    with pytest.raises(tf.errors.DeadlineExceededError, match=rf"after waiting 0.3 secs.*localhost:{port}"):
        manager.wait_for_session(f"grpc://localhost:{port}", max_wait_secs=0.3)


def test_a_port_is_free_once_its_server_has_stopped(ports):
    (port,) = ports(1)
    for _ in range(3):
        server = v1.train.Server({"local": [f"localhost:{port}"]})
        with v1.Session(server.target) as session:
            assert session.run(tf.constant(2) * 3) == 6
        server._stop()


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "reference"])
def test_a_partial_run_over_two_processes(cluster, use_resource):
    """Each update runs once, wherever its variable is; what was computed is fed to what follows."""
    a, b = (v1.placeholder(tf.float32, [], name=name) for name in "ab")
    with on_ps():
        count = v1.get_variable("count", initializer=10.0, use_resource=use_resource)
        added = count.assign_add(1.0)
    first = added + a
    with tf.control_dependencies([first]):
        second = first * b + count
    with v1.Session(cluster[0]) as session:
        session.run(v1.global_variables_initializer())
        handle = session.partial_run_setup([first, second], [a, b])
        assert session.partial_run(handle, first, {a: 2.0}) == 13.0
        assert session.partial_run(handle, second, {b: 2.0}) == 37.0
        assert session.run(count) == 11.0


def test_a_step_that_was_cancelled_before_it_was_begun_is_not_begun(ports):
    """Frames are read in order, but steps run in threads of their own."""
    name = "/job:ps/replica:0/task:0"
    task = Task(name, v1.train.ClusterSpec({"ps": [f"localhost:{ports(1)[0]}"]}), v1.ConfigProto())
    session = task.open("session", name, v1.ConfigProto(), name)
    link = Link(here.steps, task)
    assert link.receive(b"".join(wire.said(wire.CANCEL, 1).pieces())) is True
    content = {"session": "session", "name": name, "graph": session.register([], [], {}), "trace": 0, "epoch": None}
    task.run(link, 1, content)
    (frame,) = wire.frames(next(link), wire.Incoming(lambda *tensor: None))
    assert frame.kind == wire.FAILURE and "Run call was cancelled" in str(frame.json())
