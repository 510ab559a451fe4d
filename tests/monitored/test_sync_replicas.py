"""Synchronous replicas: threads of one session stand for workers; the mean of their gradients is applied."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import ebbflow as tf
import ebbflow.v1 as tf1
from ebbflow.cluster.endpoint import here
from ebbflow.doors.launch import free_ports


@pytest.fixture(autouse=True)
def graph():
    with tf1.Graph().as_default() as graph:
        yield graph


def test_the_mean_of_two_workers_is_one_step():
    given = tf1.placeholder(tf.float32, [])
    w = tf1.get_variable("w", initializer=[1.0, 2.0])
    table = tf1.get_variable("table", initializer=np.ones([4, 2], np.float32))
    loss = given * (tf1.reduce_sum(w) + tf1.reduce_sum(tf1.gather(table, [1, 1])))
    step = tf1.train.get_or_create_global_step()
    optimizer = tf1.train.SyncReplicasOptimizer(tf1.train.GradientDescentOptimizer(0.1), 2, total_num_replicas=2)
    train = optimizer.minimize(loss, global_step=step)
    hook = optimizer.make_session_run_hook(is_chief=True, num_tokens=0)
    with tf1.train.MonitoredSession(hooks=[hook]) as session:
        for turn in range(3):
            workers = [
                threading.Thread(target=session.run, args=(train, {given: value}), daemon=True) for value in (1.0, 3.0)
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join(20)
                assert not worker.is_alive()
            expected = np.array([1.0, 2.0]) - 0.1 * 2.0 * (turn + 1)
            np.testing.assert_allclose(session.run(w), expected, rtol=1e-6)
        rows = session.run(table)
        assert session.run(step) == 3
    np.testing.assert_allclose(rows[1], 1 - 0.1 * 4.0 * 3, rtol=1e-5)
    np.testing.assert_allclose(rows[[0, 2, 3]], 1)


def test_refused():
    step = tf1.train.get_or_create_global_step()
    w = tf1.get_variable("w", initializer=1.0)
    optimizer = tf1.train.SyncReplicasOptimizer(tf1.train.GradientDescentOptimizer(0.1), 4, total_num_replicas=2)
    for call in (optimizer.get_init_tokens_op, optimizer.get_chief_queue_runner):
        with pytest.raises(ValueError, match="after apply_gradients"):
            call()
    with pytest.raises(ValueError, match="Must supply"):
        optimizer.apply_gradients([], step)
    with pytest.raises(ValueError, match="Global step is required"):
        optimizer.apply_gradients([(tf1.constant(1.0), w)])
    optimizer.minimize(w * 2, global_step=step)
    with pytest.raises(ValueError, match="Too few tokens"):
        optimizer.get_init_tokens_op(1)


@pytest.fixture
def servers():
    """Two parameter servers, the chief and a worker, all in this process."""
    addresses = [f"localhost:{port}" for port in free_ports(4)]
    jobs = {"ps": addresses[:2], "worker": addresses[2:]}
    made = [tf1.train.Server(jobs, job, task) for job in jobs for task in range(2)]
    yield made
    for server in made:
        server._stop()


class _Member:
    """The chief, or a worker: one gradient is needed for a step."""

    def __init__(self, servers, task, folder):
        self._target, self._folder, self._chief = servers[2 + task].target, folder, task == 0
        places = tf1.train.replica_device_setter(2, worker_device=f"/job:worker/task:{task}")
        with tf1.Graph().as_default(), tf1.device(places):
            self.step = tf1.train.get_or_create_global_step()  # at the first server
            w = tf1.get_variable("w", initializer=1.0)  # at the second
            optimizer = tf1.train.SyncReplicasOptimizer(tf1.train.GradientDescentOptimizer(0.25), 1)
            self.train = optimizer.minimize(2.0 * w, self.step)
            self._hook = optimizer.make_session_run_hook(self._chief, num_tokens=0)
            self._hook.begin()
            ((accumulator, _),) = optimizer._accumulators
            self.given, self.w = accumulator.num_accumulated(), w.read_value()
            made = tf1.train.Scaffold().finalize()
            self.saver, self._init = made.saver, made.init_op
            self._manager = tf1.train.SessionManager(
                made.local_init_op, made.ready_op, made.ready_for_local_init_op, recovery_wait_secs=0.1
            )

    def open(self):
        """Have a session, which the chief restores or initializes."""
        if self._chief:
            self.session = self._manager.prepare_session(self._target, self._init, self.saver, self._folder)
        else:
            self.session = self._manager.wait_for_session(self._target, max_wait_secs=20)

    def begin(self):
        """Start to take part in steps."""
        self.coordinator = tf1.train.Coordinator()
        self._hook.after_create_session(self.session, self.coordinator)

    def end(self):
        self.coordinator.request_stop()
        self.session.close()
        self.coordinator.join(stop_grace_period_secs=20)


def test_what_a_worker_gives_before_the_chief_has_begun_is_not_lost(servers, tmp_path):
    """A server was lost, and the very step restored that the worker has the token of: it will get no other."""
    chief, worker = (_Member(servers, task, str(tmp_path)) for task in range(2))
    chief.open(), chief.begin(), worker.open(), worker.begin()
    worker.session.run(worker.train)  # gives for step 0, and has the token of step 1
    chief.saver.save(chief.session, str(tmp_path / "model"))
    chief.end(), worker.end()
    lost = here.tasks[servers[1].target.removeprefix("grpc://")]
    lost.reset([])
    lost.epoch = ""
    chief.open(), worker.open(), worker.begin()
    gives = threading.Thread(target=worker.session.run, args=(worker.train,), daemon=True)
    gives.start()
    while not chief.session.run(chief.given):
        assert gives.is_alive()
        time.sleep(0.01)
    chief.begin()
    gives.join(20)
    assert not gives.is_alive(), "its gradient is gone"
    assert chief.session.run([chief.step, chief.w]) == [2, 0.0]
    chief.end(), worker.end()
