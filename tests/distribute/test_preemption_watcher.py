"""A watcher that notices that a task of the cluster is gone."""

from __future__ import annotations

import gc
import threading
import time

import pytest

import ebbflow as tf
from ebbflow.cluster.connection import connected
from ebbflow.cluster.ports import free_ports
from ebbflow.core import elsewhere
from ebbflow.distribute import preemption_watcher
from ebbflow.eager import placing
from tests.cluster.conftest import Processes


@pytest.fixture
def cluster(monkeypatch):
    """Two tasks in processes of their own."""
    monkeypatch.setattr(preemption_watcher, "WATCH_SECONDS", 0.05)
    running = Processes()
    spec = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
    tasks = [running.serve(spec, "worker", i) for i in range(2)]
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(spec))
    yield spec, tasks, running
    connected.clear()
    placing.places.clear()
    elsewhere.body_runners.clear()
    running.end()


def watching():
    return [t for t in threading.enumerate() if t.name == "ebbflow-preemption-watcher"]


def message_of(watcher):
    end = time.monotonic() + 30.0
    while watcher.preemption_message is None and time.monotonic() < end:
        time.sleep(0.02)
    return watcher.preemption_message


def test_a_task_that_is_killed_is_told_of(cluster):
    spec, tasks, running = cluster
    watcher = tf.distribute.experimental.PreemptionWatcher()
    assert watcher.preemption_message is None
    watcher.block_until_worker_exit()  # nobody is to exit
    tasks[1].kill()
    tasks[1].wait()
    assert "/job:worker/replica:0/task:1" in message_of(watcher)
    watcher.block_until_worker_exit()
    running.serve(spec, "worker", 1)
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(spec))
    assert tf.distribute.experimental.PreemptionWatcher().preemption_message is None


def test_a_watcher_that_nobody_has_looks_no_longer(cluster):
    watcher = tf.distribute.experimental.PreemptionWatcher()
    assert watching()
    del watcher
    gc.collect()
    for thread in watching():
        thread.join(30.0)
    assert not watching()


def test_without_a_cluster_there_is_nothing_to_watch():
    watcher = tf.distribute.experimental.PreemptionWatcher()
    assert watcher.preemption_message is None and not watching()
    watcher.block_until_worker_exit()
