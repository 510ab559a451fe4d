"""What a task knows of its part, and what a training session does by it; TensorFlow 1.15 answered the same."""

from __future__ import annotations

import types

import pytest

import ebbflow.v1 as tf
from ebbflow.distribute.multi_worker import MultiWorkerMirroredStrategy
from ebbflow.monitored.worker_context import WorkerContext, get_current_worker_context

CLUSTER = {"worker": ["a:1", "b:2"], "ps": ["c:2"], "evaluator": ["e:1"]}


def strategy(init=True, save=False, summary=False):
    said = {"experimental_should_init": init, "should_checkpoint": save, "should_save_summary": summary}
    return types.SimpleNamespace(extended=types.SimpleNamespace(**said))


@pytest.mark.parametrize(
    "job, index, chief, several, target",
    [
        ("worker", 1, False, True, "grpc://b:2"),
        ("worker", 0, True, True, "grpc://a:1"),
        (None, None, True, True, "grpc://a:1"),
        ("evaluator", 0, True, False, "grpc://e:1"),
    ],
)
def test_a_task_knows_its_place(job, index, chief, several, target):
    part = WorkerContext(strategy(), tf.train.ClusterSpec(CLUSTER), job, index)
    assert (part.is_chief, part.distributed_mode, part.master_target, part.num_workers) == (chief, several, target, 2)


def test_one_part_at_a_time():
    alone = WorkerContext(strategy(), None, None, None)
    assert (alone.is_chief, alone.num_workers, alone.master_target, alone.has_barrier) == (True, 0, "", False)
    with alone, pytest.raises(ValueError, match="You cannot run distribute coordinator in a `worker_fn`"), alone:
        pass
    assert get_current_worker_context() is None


@pytest.mark.parametrize("init, kind", [(True, "ChiefSessionCreator"), (False, "WorkerSessionCreator")])
def test_who_initializes_makes_the_session(init, kind):
    assert type(WorkerContext(strategy(init), None, None, None).session_creator()).__name__ == kind


def trained(part, directory):
    """The hooks of a session of training inside a part."""
    with tf.Graph().as_default():
        add = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        with part, tf.train.MonitoredTrainingSession(checkpoint_dir=str(directory), save_checkpoint_steps=2) as session:
            session.run(add)
            return [type(hook).__name__ for hook in session._hooks]


@pytest.mark.parametrize(
    "said, hooks",
    [
        ({}, []),
        ({"summary": True}, ["StepCounterHook", "SummarySaverHook"]),
        ({"save": True}, ["CheckpointSaverHook"]),
    ],
)
def test_a_strategy_says_who_writes(said, hooks, tmp_path):
    assert trained(WorkerContext(strategy(**said), None, None, None), tmp_path) == hooks
    assert bool(tf.train.latest_checkpoint(str(tmp_path))) == bool(said.get("save"))


def test_all_workers_save_where_saving_asks_them_all(tmp_path):
    together = MultiWorkerMirroredStrategy()
    together.extended._is_chief = False
    trained(WorkerContext(together, None, "worker", 1), tmp_path)
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    assert tf.train.latest_checkpoint(str(tmp_path / "tmp_worker_1"))
