"""The input of a training in checkpoints of its own: stopped and begun again, the rows go on where they were."""

from __future__ import annotations

import types

import pytest

import ebbflow as tf

v1 = tf.compat.v1


def estimator(folder, workers=1):
    """What the hook asks of an Estimator."""
    config = types.SimpleNamespace(
        num_worker_replicas=workers, task_type="worker", task_id=1, _save_checkpoints_secs=None,
        _save_checkpoints_steps=2,
    )  # fmt: skip
    return types.SimpleNamespace(_config=config, model_dir=str(folder))


def rows_seen(folder, runs):
    """The rows that a training sees in so many runs."""
    with v1.Graph().as_default():
        step = v1.train.get_or_create_global_step()
        rows = v1.data.Dataset.range(20).shuffle(7, seed=3).repeat()
        row = v1.data.make_one_shot_iterator(rows).get_next()
        add = v1.assign_add(step, 1)
        hook = v1.data.experimental.CheckpointInputPipelineHook(estimator(folder))
        hooks = [hook, v1.train.StopAtStepHook(num_steps=runs)]
        with v1.train.MonitoredTrainingSession(
            checkpoint_dir=str(folder), hooks=hooks, save_checkpoint_steps=2, log_step_count_steps=None
        ) as session:
            seen = []
            while not session.should_stop():
                seen.append(int(session.run([row, add])[0]))
    return seen


def test_rows_go_on_where_they_were(tmp_path):
    whole = rows_seen(tmp_path / "whole", 12)
    parts = [rows_seen(tmp_path / "parts", n) for n in (5, 3, 4)]
    assert [row for part in parts for row in part] == whole
    assert v1.train.latest_checkpoint(str(tmp_path / "parts"), "checkpoint_input").endswith("input.ckpt-12")


def test_the_input_of_the_models_step_is_taken(tmp_path):
    whole = rows_seen(tmp_path / "whole", 8)
    rows_seen(tmp_path / "killed", 6)
    v1.train.update_checkpoint_state(str(tmp_path / "killed"), str(tmp_path / "killed" / "model.ckpt-4"))
    assert rows_seen(tmp_path / "killed", 4) == whole[4:]


def test_each_worker_has_files_of_its_own_and_policies_are_checked(tmp_path):
    hook = v1.data.experimental.CheckpointInputPipelineHook(estimator(tmp_path, workers=2))
    assert (hook._base, hook._list) == ("input_worker_1.ckpt", "checkpoint_input_worker_1")
    with pytest.raises(ValueError, match="'warn', 'ignore' or 'fail', got 'sing'"):
        v1.data.experimental.CheckpointInputPipelineHook(estimator(tmp_path), external_state_policy="sing")
