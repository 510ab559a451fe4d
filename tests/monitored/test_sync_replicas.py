"""Synchronous replicas: threads of one session stand for workers; the mean of their gradients is applied."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import ebbflow as tf
import ebbflow.v1 as tf1


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
