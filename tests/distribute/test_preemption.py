"""Programs that are told to go: the step that runs is finished, a checkpoint written, and a new process goes on."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

import ebbflow as tf

PROGRAM = """
import sys, time
import ebbflow as tf
v = tf.Variable(0.0)
handler = tf.distribute.experimental.PreemptionCheckpointHandler(
    tf.distribute.cluster_resolver.TFConfigClusterResolver(), tf.train.Checkpoint(v=v), sys.argv[1])
step = tf.function(lambda: v.assign_add(1.0))
print("from", handler.total_run_calls, float(v), flush=True)
while handler.total_run_calls < int(sys.argv[2]):
    handler.run(step)
    if handler.total_run_calls == 5:
        print("five", flush=True)
    time.sleep(0.01)
print("done", handler.total_run_calls, float(v), flush=True)
"""


def test_a_process_that_is_told_goes_on_in_the_next(tmp_path):
    first = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path), "100000"], stdout=subprocess.PIPE, text=True
    )
    assert first.stdout.readline() == "from 0 0.0\n" and first.stdout.readline() == "five\n"
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=60)
    assert first.returncode == 143
    saved = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(tmp_path)))
    count = int(saved.get_tensor("_preemption_run_counter/.ATTRIBUTES/VARIABLE_VALUE"))
    second = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(count + 3)], capture_output=True, text=True, timeout=60
    )
    assert f"from {count} {float(count)}" in second.stdout and f"done {count + 3} {count + 3.0}" in second.stdout


def test_a_function_that_watches_and_one_that_leaves(tmp_path):
    told, left, saved = [False], [], []
    config = tf.distribute.experimental.TerminationConfig(
        termination_watcher_fn=lambda: told[0], exit_fn=lambda: left.append(1), save_fn=lambda: saved.append(1)
    )
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), str(tmp_path), 1)
    handler = tf.distribute.experimental.PreemptionCheckpointHandler(None, manager, termination_config=config)
    assert handler.run(lambda x: x + 1, 2) == 3 and not left
    told[0] = True
    assert handler._told.wait(30)
    handler.run(lambda: None)
    assert left == [1] and saved == [1] and handler.total_run_calls == 2


def test_bad_arguments():
    with pytest.raises(ValueError, match="checkpoint_dir"):
        tf.distribute.experimental.PreemptionCheckpointHandler(None, tf.train.Checkpoint())
    with pytest.raises(TypeError, match="CheckpointManager"):
        tf.distribute.experimental.PreemptionCheckpointHandler(None, "here")
