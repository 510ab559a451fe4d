"""Replicas in several processes: two workers on this machine, and what TensorFlow 2.21 answers in the same program."""

from __future__ import annotations

import ast
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import ebbflow as tf

ROOT = pathlib.Path(__file__).parent.parent.parent

PROGRAM = (ROOT / "tests" / "golden" / "two_workers.py").read_text()


def launched(folder, program, *words, workers=2, **environment):
    path = folder / "program.py"
    path.write_text(program)
    return subprocess.run(
        [sys.executable, "-m", "ebbflow", "launch", "-n", str(workers), *map(str, words), str(path)],
        capture_output=True, text=True, timeout=240, env={**os.environ, "EBBFLOW_ENGINES": "host", **environment},
    )  # fmt: skip


def facts_of(done):
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if "FACTS" in line]
    return {line.partition("]")[0][1:]: ast.literal_eval(line.partition("FACTS ")[2]) for line in lines}


def test_two_workers_as_tensorflow_has_them(tmp_path):
    facts = facts_of(launched(tmp_path, PROGRAM))
    recorded = json.loads((ROOT / "tests" / "golden" / "tf221" / "multi_worker.json").read_text())
    assert facts == recorded


LOST = """
import os, signal, sys
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = strategy.cluster_resolver.task_id
generation = int(os.environ["EBBFLOW_GENERATION"])
for i in range(5):
    if i == 2 and rank == int(sys.argv[1]) and generation == 0:
        if sys.argv[2] == "raise":
            raise RuntimeError("a mistake of one worker")
        os.kill(os.getpid(), getattr(signal, sys.argv[2]))
    total = float(strategy.reduce("SUM", tf.fill([40000], float(rank + i)), axis=None)[-1])
print("sum", total, "in generation", generation)
"""


@pytest.mark.parametrize(
    "lost, how, ended",
    [(2, "SIGKILL", r"worker 2 ended with -9"), (0, "SIGKILL", r"worker 0 ended with -9"),
     (1, "SIGSTOP", r"worker [02] ended with 1"), (1, "raise", r"worker [012] ended with 1")],
    ids=["C1 a worker", "C2 the first worker", "C4 frozen", "C5 an error of its own"],
)  # fmt: skip
def test_when_a_worker_is_lost_all_begin_again(tmp_path, lost, how, ended):
    path = tmp_path / "program.py"
    path.write_text(LOST)
    done = subprocess.run(
        [sys.executable, "-m", "ebbflow", "launch", "-n", "3", str(path), str(lost), how], capture_output=True,
        text=True, timeout=240, env={**os.environ, "EBBFLOW_ENGINES": "host"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    for rank in range(3):
        assert f"[worker {rank}] sum 15.0 in generation 1" in done.stdout
    assert re.search(f"{ended}: generation 1 starts all", done.stdout), done.stdout
    if how == "raise":
        lines = done.stdout.splitlines()
        own = next(i for i, line in enumerate(lines) if "a mistake of one worker" in line)
        assert not any("UnavailableError" in line for line in lines[:own])  # what the others say comes after


def test_workers_that_disagree_are_told(tmp_path):
    program = """
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
try:
    strategy.reduce("SUM", tf.zeros([3 + strategy.cluster_resolver.task_id]), axis=None)
except tf.errors.InvalidArgumentError as error:
    print("refused:", error.message)
"""
    done = launched(tmp_path, program, "--restarts", 0)
    assert done.returncode == 0 and done.stdout.count("refused:") == 2, done.stdout
    assert "worker 1 brings 4 elements of float32, worker 0 3 of float32" in done.stdout


def test_a_worker_that_nobody_joins_says_so(monkeypatch):
    from ebbflow.cluster import collectives

    monkeypatch.setattr(collectives, "FORM_SECONDS", 0.2)
    with pytest.raises(tf.errors.DeadlineExceededError, match="workers 1 at localhost:1 did not come"):
        collectives.CollectiveGroup(["localhost:0", "localhost:1"], 0, "alone", 0.2)


def test_one_worker_needs_nobody(monkeypatch):
    task = {"type": "worker", "index": 0}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["localhost:1"]}, "task": task}))
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    assert strategy.num_replicas_in_sync == 1 and strategy.extended.should_checkpoint
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    assert strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("SUM", v * 2)).numpy().tolist() == [2, 4]
    assert float(strategy.reduce("MEAN", tf.constant([1.0, 3.0]), axis=0)) == 2.0


@pytest.mark.parametrize(
    "task, words",
    [
        ({"type": "worker", "index": 5}, "The `task_id` 5 exceeds the maximum id of worker"),
        ({"type": "gorker", "index": 0}, "Unrecognized task_type: gorker"),
        ({"type": "worker"}, "you must also specify `task_type` and `task_id`"),
        ({}, "you must also specify `task_type` and `task_id`"),
    ],
)
def test_a_task_that_is_not_in_the_cluster(monkeypatch, task, words):
    cluster = {"worker": ["localhost:1", "localhost:2"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    with pytest.raises(ValueError, match=words):
        tf.distribute.MultiWorkerMirroredStrategy()


def test_collective_ops_alone():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    keys = {"group_size": 1, "group_key": 1, "instance_key": 1}
    for merge in ("Add", "Mul", "Min", "Max"):
        reduced = tf.raw_ops.CollectiveReduceV2(input=x, **keys, ordering_token=[], merge_op=merge, final_op="Div")
        assert np.array_equal(reduced, x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.raw_ops.CollectiveReduceV2(input=x, **keys, ordering_token=[], merge_op="Add", final_op="Id") ** 2
    assert np.array_equal(tape.gradient(y, x), 2 * x)
    assert np.array_equal(tf.raw_ops.CollectiveGatherV2(input=x, **keys, ordering_token=[]), x)
    assert np.array_equal(tf.raw_ops.CollectiveAllToAllV2(input=x, **keys, ordering_token=[]), x)
    assert np.array_equal(tf.raw_ops.CollectiveBcastSendV2(input=x, **keys), x)
    assert np.array_equal(tf.raw_ops.CollectiveGather(input=x, **keys, shape=[2, 2]), x)


def test_a_group_that_does_not_exist():
    keys = {"group_size": 2, "group_key": 12345, "instance_key": 1}
    with pytest.raises(tf.errors.FailedPreconditionError, match="group_key = 12345: this process belongs to no such"):
        tf.raw_ops.CollectiveReduceV2(input=[1.0], **keys, ordering_token=[], merge_op="Add", final_op="Id")
    with pytest.raises(tf.errors.InvalidArgumentError, match="nobody to receive a broadcast from"):
        tf.raw_ops.CollectiveBcastRecvV2(group_size=1, group_key=1, instance_key=1, shape=[2], T=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="input is a scalar"):
        tf.raw_ops.CollectiveGatherV2(input=1.0, group_size=1, group_key=1, instance_key=1, ordering_token=[])


def test_keras_and_a_loop_of_ones_own_go_on_after_a_failure(tmp_path):
    words = [sys.executable, "-m", "ebbflow", "launch", "-n", "2", str(ROOT / "examples" / "multi_worker_keras.py")]

    def weights(folder, **environment):
        done = subprocess.run([*words, str(tmp_path / folder)], capture_output=True, text=True, timeout=280,
                              env={**os.environ, **environment})  # fmt: skip
        assert done.returncode == 0, done.stdout
        assert done.stdout.count("accuracy above 0.85: True") == done.stdout.count("loss below 0.45: True") == 2
        return {line.rpartition(" ")[2] for line in done.stdout.splitlines() if "fit:" in line}, done.stdout

    failed, text = weights("failed", FAIL_AT_EPOCH="3")
    assert "worker 1 ended with 9: generation 1 starts all" in text
    whole, _ = weights("whole")
    assert len(whole) == 1 and failed == whole  # bit for bit, on both workers
