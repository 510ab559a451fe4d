"""Work done at once at tasks of a cluster: ops, variables and functions in the block of a device."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.cluster.connection import connected
from ebbflow.cluster.ports import free_ports
from ebbflow.cluster.remote_storage import home_at
from ebbflow.core import elsewhere
from ebbflow.eager import placing
from tests.cluster.conftest import Processes

WORKER = "/job:worker/replica:0/task:{}/device:CPU:0"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Two tasks, each in a process and folder of its own, to which this one is connected."""
    running = Processes()
    spec = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
    for i in range(2):
        folder = tmp_path_factory.mktemp("task")
        (folder / "who").write_text(f"task {i}")
        running.serve(spec, "worker", i, folder)
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(spec))
    yield spec["worker"]
    connected.clear()
    placing.places.clear()
    elsewhere.body_runners.clear()
    for address in spec["worker"]:
        home_at(address).close()
    running.end()


def test_an_op_runs_in_the_process_of_its_task(cluster):
    """Each process has a folder of its own, with a file that says who it is."""
    for i in range(2):
        with tf.device(f"/job:worker/task:{i}"):
            assert tf.io.read_file("who") == f"task {i}"
            with tf.device("/job:localhost/task:0"):
                assert not tf.io.gfile.exists("who")
                assert "localhost" in tf.Variable(1.0).device


def test_results_say_where_they_are_and_go_on_anywhere(cluster):
    with tf.device(WORKER.format(1)):
        a = tf.constant([1.0, 2.0])
        b = tf.matmul([[1.0, 2.0]], [[3.0], [4.0]])
        parts = tf.split(a * 3.0, 2)
        assert tf.executing_eagerly()
    assert a.device == b.device == parts[1].device == WORKER.format(1)
    with tf.device(WORKER.format(0)):
        moved = a + b
    assert moved.device == WORKER.format(0)
    np.testing.assert_array_equal(moved + 1.0, [[13.0, 14.0]])
    assert (b + 1.0).device.endswith("/job:localhost/replica:0/task:0/device:CPU:0")


def test_gradients_pass_through_the_block(cluster):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.device(WORKER.format(0)):
            y = x * x * x
    assert float(tape.gradient(y, x)) == 27.0


def test_a_variable_is_kept_by_its_task(cluster):
    with tf.device(WORKER.format(1)):
        v = tf.Variable(tf.ones([2, 2]), name="there")
        v.assign_add([[1.0, 2.0], [3.0, 4.0]])
    assert v.device == WORKER.format(1)
    v.assign(v * 2.0)  # outside the block, too
    np.testing.assert_array_equal(v, [[4.0, 6.0], [8.0, 10.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    v.assign_sub(0.5 * tape.gradient(loss, v))
    np.testing.assert_array_equal(v, np.zeros([2, 2]))
    assert tf.Variable(1.0).device.endswith("/job:localhost/replica:0/task:0/device:CPU:0")


def test_a_variable_of_this_process_is_read_in_the_block(cluster):
    v = tf.Variable(5.0)
    with tf.device(WORKER.format(0)):
        v.assign_add(1.0)
        assert float(v + 1.0) == 7.0


def test_a_function_runs_whole_at_the_task_of_the_block(cluster):
    read = tf.function(lambda: tf.io.read_file("who"))
    for i in range(2):
        with tf.device(WORKER.format(i)):
            assert read() == f"task {i}"
    with pytest.raises(tf.errors.NotFoundError):
        read()


def test_a_function_with_variables_of_tasks(cluster):
    with tf.device(WORKER.format(0)):
        v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x):
        v.assign_add(x)
        return tf.reduce_sum(v)

    with tf.device(WORKER.format(0)):
        assert float(step(tf.constant([1.0, 1.0]))) == 5.0
        assert float(step(tf.constant([1.0, 1.0]))) == 7.0
    np.testing.assert_array_equal(v, [3.0, 4.0])


def test_the_body_of_a_function_may_name_tasks(cluster):
    @tf.function
    def both(x):
        with tf.device("/job:worker/task:0"):
            a = x * 2.0
        with tf.device("/job:worker/task:1"):
            b = x + 1.0
        return a + b

    for value in (1.0, 2.0):
        assert float(both(tf.constant(value))) == 3.0 * value + 1.0


def test_an_error_at_the_task_is_the_op_s_own(cluster):
    with tf.device(WORKER.format(0)), pytest.raises(tf.errors.InvalidArgumentError):
        tf.reshape(tf.range(6), [4])
    with tf.device(WORKER.format(0)):
        assert tf.range(3).numpy().tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["/job:worker/task:2", "/job:ps/task:0", "/job:worker/task:0/device:CPU:x"])
def test_a_task_that_is_not_there_is_refused(cluster, name):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)), tf.device(name):
        tf.constant(1.0)
    assert float(tf.constant(1.0) + 1.0) == 2.0


def test_a_host_is_connected_to_by_its_address():
    running = Processes()
    before = list(connected)
    try:
        (port,) = free_ports(1)
        running.serve({"other": [f"localhost:{port}"]}, "other")
        tf.config.experimental_connect_to_host(f"localhost:{port}")
        with tf.device("/job:worker/task:0"):
            v = tf.Variable(2.0)
            double = tf.function(lambda x: v * x)
            assert float(double(tf.constant(4.0))) == 8.0  # though the server calls itself /job:other
    finally:
        home_at(f"localhost:{port}").close()
        connected[:] = before
        running.end()


def test_a_host_that_does_not_answer_is_named():
    (port,) = free_ports(1)
    before = list(connected)
    with pytest.raises(tf.errors.UnavailableError, match=rf"/job:worker/task:0 at localhost:{port}"):
        tf.config.experimental_connect_to_host(f"localhost:{port}")
    assert connected == before
