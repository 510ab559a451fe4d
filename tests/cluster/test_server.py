"""Servers and their sessions in one process."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf

v1 = tf.compat.v1


@pytest.fixture
def server():
    made = v1.train.Server.create_local_server()
    yield made
    made._stop()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_variables_outlive_sessions_and_are_shared(server):
    x = v1.get_variable("x", initializer=[1.0, 2.0], use_resource=False)
    more = v1.assign_add(x, [1.0, 1.0])
    with v1.Session(server.target) as one, v1.Session(server.target) as other:
        one.run(x.initializer)
        one.run(more)
        assert other.run(x).tolist() == [2.0, 3.0]
    with v1.Session(server.target) as later:
        assert later.run(more).tolist() == [3.0, 4.0]


def test_sessions_that_want_their_own_state_have_it(server):
    x = v1.get_variable("x", initializer=1.0)
    config = v1.ConfigProto(isolate_session_state=True)
    with v1.Session(server.target) as shared, v1.Session(server.target, config=config) as own:
        shared.run(x.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError):
            own.run(x)


def test_queues_are_shared_by_name(server):
    filled = tf.queue.FIFOQueue(2, tf.int32, shared_name="q")
    enqueue = filled.enqueue(7)
    with tf.Graph().as_default() as other:
        dequeue = tf.queue.FIFOQueue(2, tf.int32, shared_name="q").dequeue()
    with v1.Session(server.target) as one, v1.Session(server.target, graph=other) as two:
        one.run(enqueue)
        assert two.run(dequeue) == 7


def test_reset_forgets_containers_and_ends_sessions(server):
    with tf.Graph().as_default() as graph:
        with graph.container("a"):
            x = v1.get_variable("x", initializer=1.0)
        y = v1.get_variable("y", initializer=2.0)
        start = v1.global_variables_initializer()
        left = v1.report_uninitialized_variables()
    session = v1.Session(server.target, graph=graph)
    session.run(start)
    v1.Session.reset(server.target, ["a"])
    with pytest.raises(tf.errors.AbortedError):
        session.run(y)
    with v1.Session(server.target, graph=graph) as again:
        assert again.run(left).tolist() == [b"x"]
        assert again.run(y) == 2.0
    assert x is not None


def test_two_servers_in_one_process_are_two_tasks(ports):
    addresses = [f"localhost:{port}" for port in ports(2)]
    servers = [v1.train.Server({"worker": addresses}, "worker", i) for i in range(2)]
    try:
        with tf.device("/job:worker/task:1"):
            x = v1.get_variable("x", initializer=[1.0, 2.0])
        with tf.device("/job:worker/task:0"):
            y = x * 10.0
        with v1.Session(servers[0].target) as session:
            names = [device.name for device in session.list_devices()]
            assert names == [f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in (0, 1)]
            assert all(device.incarnation for device in session.list_devices())
            session.run(x.initializer)
            assert session.run(y).tolist() == [10.0, 20.0]
        assert {key[1] for key in servers[1]._task.containers} == {"x"}
        assert not servers[0]._task.containers
    finally:
        for one in servers:
            one._stop()


def test_random_streams_are_each_sessions_own(server):
    x = v1.random_uniform([2], seed=1)
    y = x * 1.0
    with v1.Session(server.target) as one, v1.Session(server.target) as other:
        assert one.run(x).tolist() == other.run(x).tolist()
        np.testing.assert_array_equal(one.run(x), other.run(y))  # another run of the same node goes on


def test_a_second_server_on_a_port_is_refused(server):
    address = server.target.removeprefix("grpc://")
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        v1.train.Server({"local": [address]})


@pytest.mark.parametrize(
    ("cluster", "options", "error", "says"),
    [
        ({"a": ["localhost:0"], "b": ["localhost:0"]}, {}, ValueError, "job_name"),
        ({"a": ["localhost:0", "localhost:0"]}, {}, ValueError, "task_index"),
        ({"a": {3: "localhost:0"}}, {"task_index": 0}, ValueError, "No task with index 0"),
        ({"a": ["localhost:0"]}, {"protocol": "rdma"}, tf.errors.NotFoundError, "rdma"),
        ({"a": ["localhost"]}, {}, tf.errors.InvalidArgumentError, "port"),
        (7, {}, TypeError, "got int"),
    ],
)
def test_what_is_wrong_with_a_server_is_said(cluster, options, error, says):
    with pytest.raises(error, match=says):
        v1.train.Server(cluster, **options)


def test_a_device_that_no_task_has_is_named(server):
    with tf.device("/job:ps/task:3"):
        x = tf.constant(1.0) + 2.0
    with v1.Session(server.target) as session, pytest.raises(tf.errors.InvalidArgumentError, match="/job:ps/task:3"):
        session.run(x)


def test_nobody_at_an_address():
    config = v1.ConfigProto(operation_timeout_in_ms=200)
    with pytest.raises(tf.errors.DeadlineExceededError, match="Is its server running"):
        v1.Session("grpc://localhost:1", config=config)


def test_names_of_a_sessions_own_cluster(server):
    config = v1.ConfigProto()
    job = config.cluster_def.job.add(name="mine")
    job.tasks[5] = server.target.removeprefix("grpc://")
    with v1.Session(server.target, config=config) as session:
        assert [d.name for d in session.list_devices()] == ["/job:mine/replica:0/task:5/device:CPU:0"]
        with tf.device("/job:mine/task:5"):
            assert session.run(tf.constant(2) * 3) == 6
