"""Monitored sessions: made ready, hooked, recovered, ended, and going on where they were killed."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import ebbflow as tf
import ebbflow.v1 as tf1


@pytest.fixture(autouse=True)
def graph():
    with tf1.Graph().as_default() as graph:
        yield graph


def counting():
    """A global step, and what adds one to it."""
    step = tf1.train.get_or_create_global_step()
    return step, tf1.assign_add(step, 1)


class Note(tf1.train.SessionRunHook):
    """A hook that notes how it is called."""

    def __init__(self, fetches=None, feed_dict=None, stop_at=None):
        self.calls, self.fetches, self.feed_dict, self.stop_at = [], fetches, feed_dict, stop_at

    def begin(self):
        self.calls.append("begin")

    def after_create_session(self, session, coord):
        self.calls.append("session")

    def before_run(self, run_context):
        self.calls.append("before")
        return tf1.train.SessionRunArgs(self.fetches, self.feed_dict) if self.fetches is not None else None

    def after_run(self, run_context, run_values):
        self.calls.append(run_values.results)
        if self.stop_at is not None and self.calls.count("before") >= self.stop_at:
            run_context.request_stop()

    def end(self, session):
        self.calls.append("end")


def test_hooks_are_called_around_runs():
    _, add = counting()
    seven = tf1.constant(7)
    quiet, note = Note(), Note({"seven": seven}, stop_at=2)
    with tf1.train.MonitoredSession(hooks=[quiet, note]) as session:
        assert not session.should_stop()
        values = []
        while not session.should_stop():
            values.append(session.run(add))
        assert values == [1, 2]
        with pytest.raises(RuntimeError, match="after should_stop"):
            session.run(add)
    assert note.calls == ["begin", "session", "before", {"seven": 7}, "before", {"seven": 7}, "end"]
    assert quiet.calls == ["begin", "session", "before", None, "before", None, "end"]


def test_hooks_feed_and_may_not_feed_twice():
    x = tf1.placeholder(tf.float32, [])
    double = x * 2
    hook = tf1.train.FeedFnHook(lambda: {x: 4.0})
    with tf1.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(double) == 8
        with pytest.raises(RuntimeError, match="fed by a SessionRunHook and user"):
            session.run(double, {x: 1.0})


def test_the_graph_is_final_while_it_runs(graph):
    with tf1.train.MonitoredSession() as session:
        assert graph.finalized and session.graph is graph
        with pytest.raises(RuntimeError, match="finalized"):
            tf1.constant(1)
    assert not graph.finalized


@pytest.mark.parametrize("error", [tf.errors.OutOfRangeError(None, None, "end"), StopIteration()])
def test_the_end_of_the_input_ends_quietly(error):
    note = Note()
    with tf1.train.MonitoredSession(hooks=[note]):
        raise error
    assert note.calls[-1] == "end"


def test_an_error_ends_without_telling_hooks():
    note = Note()
    with pytest.raises(ValueError, match="mine"), tf1.train.MonitoredSession(hooks=[note]):
        raise ValueError("mine")
    assert note.calls[-1] == "session"


def test_a_lost_session_is_made_anew(tmp_path):
    _, add = counting()
    lost = [2, 4]  # runs of the function after which the session is lost

    def fail():
        if lost and lost[0] == fail.calls:
            lost.pop(0)
            raise tf.errors.AbortedError(None, None, "gone")
        fail.calls += 1
        return np.int64(0)

    fail.calls = 0

    class Lose(tf1.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            fail()

    saver = tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=1)
    note = Note()
    creator = tf1.train.ChiefSessionCreator(checkpoint_dir=str(tmp_path))
    with tf1.train.MonitoredSession(creator, hooks=[saver, Lose(), note]) as session:
        values = [int(session.run(add)) for _ in range(6)]
    assert note.calls.count("session") == 3 and not lost
    assert values == sorted(set(values)) and values[-1] >= 6


def test_errors_of_threads_come_out_of_run():
    def fail():
        raise ValueError("broken input")

    queue = tf1.FIFOQueue(5, tf.float32, shapes=[[]])
    tf1.train.add_queue_runner(tf1.train.QueueRunner(queue, [queue.enqueue([tf1.py_func(fail, [], tf.float32)])]))
    take = queue.dequeue()
    with pytest.raises(tf.errors.InvalidArgumentError, match="broken input"), tf1.train.MonitoredSession() as session:
        session.run(take)


def test_queues_end_training():
    _, add = counting()
    n = tf1.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    seen = []
    with tf1.train.MonitoredTrainingSession() as session:
        while not session.should_stop():
            seen.append(session.run([n, add])[0])
    assert seen == [0, 1, 2, 3, 4]


def test_step_functions():
    _, add = counting()
    note = Note()
    with tf1.train.MonitoredSession(hooks=[note]) as session:

        def step(step_context):
            step_context.session.run(add)
            return step_context.run_with_hooks(add)

        assert session.run_step_fn(step) == 2
        with pytest.raises(ValueError, match="step_context"):
            session.run_step_fn(lambda context: None)
        session.run_step_fn(lambda step_context: step_context.request_stop())
    assert note.calls.count("before") == 1


def test_a_training_session_writes_and_goes_on(tmp_path):
    for expected in (10, 20):
        with tf1.Graph().as_default():
            step, add = counting()
            tf1.summary.scalar("twice", step * 2)
            hooks = [tf1.train.StopAtStepHook(last_step=expected)]
            with tf1.train.MonitoredTrainingSession(
                checkpoint_dir=str(tmp_path), hooks=hooks, save_checkpoint_steps=4, save_summaries_steps=5,
                log_step_count_steps=5,
            ) as session:  # fmt: skip
                while not session.should_stop():
                    value = session.run(add)
            assert value == expected
    assert tf1.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-20")
    assert (tmp_path / "graph.pbtxt").read_text().startswith("node {")
    tags = {
        value.tag
        for path in tmp_path.glob("events*")
        for event in tf1.train.summary_iterator(str(path))
        for value in event.summary.value
    }
    assert {"twice", "global_step/sec"} <= tags


def test_singular_sessions_show_the_plain_one():
    _, add = counting()
    with tf1.train.SingularMonitoredSession() as session:
        assert isinstance(session.raw_session(), tf1.Session)
        assert session.raw_session().run(add) == 1


def test_a_scaffold_may_bring_its_own(tmp_path):
    v = tf1.Variable(3.0)
    done = []
    scaffold = tf1.train.Scaffold(init_fn=lambda scaffold, sess: done.append(sess.run(v)))
    with tf1.train.SingularMonitoredSession(scaffold=scaffold) as session:
        assert session.run(v) == 3.0 and done == [3.0]
    with pytest.raises(TypeError, match="copy_from_scaffold"):
        tf1.train.Scaffold(copy_from_scaffold=3)
    assert tf1.train.Scaffold(copy_from_scaffold=scaffold).init_op is scaffold.init_op


def test_workers_wait_for_the_chief():
    tf1.Variable(1.0, name="v")
    manager = tf1.train.SessionManager(ready_op=tf1.report_uninitialized_variables(), recovery_wait_secs=0.01)
    with pytest.raises(tf.errors.DeadlineExceededError, match="not ready"):
        manager.wait_for_session("", max_wait_secs=0.05)
    with pytest.raises(RuntimeError, match="no init_op"):
        manager.prepare_session("")
    session, restored = manager.recover_session("")
    assert not restored
    session.close()


def test_a_chief_waits_no_longer_for_a_checkpoint_than_it_was_told(tmp_path):
    """The pause between two looks, 30 s as it is, is no shorter wait's."""
    v = tf1.Variable(1.0, name="v")
    manager = tf1.train.SessionManager(ready_op=tf1.report_uninitialized_variables())
    begun = time.monotonic()
    session = manager.prepare_session(
        "", v.initializer, tf1.train.Saver(), str(tmp_path), wait_for_checkpoint=True, max_wait_secs=0.1
    )
    assert time.monotonic() - begun < 29
    session.close()


PROGRAM = """
import sys
import numpy as np
import ebbflow.v1 as tf

folder, last = sys.argv[1], int(sys.argv[2])
step = tf.train.get_or_create_global_step()
rows = tf.data.Dataset.range(40).shuffle(17, seed=5).repeat().batch(3).prefetch(2)
rows = rows.map(lambda row: tf.cast(row, tf.float32) / 40.0, num_parallel_calls=2)
iterator = rows.make_one_shot_iterator()
saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
x = iterator.get_next()[:, None]
w = tf.get_variable("w", initializer=np.linspace(-1.0, 1.0, 64, dtype=np.float32).reshape(1, 64))
v = tf.get_variable("v", initializer=np.linspace(-0.5, 0.5, 64 * 40, dtype=np.float32).reshape(64, 40))
logits, labels = tf.matmul(tf.tanh(tf.matmul(x, w)), v), tf.cast(40.0 * x[:, 0], tf.int32)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
train = tf.train.AdamOptimizer(0.01).minimize(loss, step)
hooks = [tf.train.StopAtStepHook(last_step=last)]
with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=20) as session:
    while not session.should_stop():
        _, value, at = session.run([train, w, step])
        print(at, value.tobytes().hex(), flush=True)
"""


def run_program(folder, last, kill_after=None):
    command = [sys.executable, "-c", PROGRAM, str(folder), str(last)]
    root = str(pathlib.Path(tf.__file__).parents[1])
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": root})
    lines = []
    for line in child.stdout:
        lines.append(line.split())
        if kill_after is not None and len(lines) >= kill_after:
            child.send_signal(signal.SIGKILL)
            break
    child.communicate(timeout=60)
    assert child.returncode == (0 if kill_after is None else -signal.SIGKILL)
    return lines


def test_a_killed_training_goes_on_with_the_same_weights(tmp_path):
    """Functions and sums that machine code rounds otherwise than NumPy, over as many steps as it takes to be made."""
    whole = run_program(tmp_path / "whole", 400)
    run_program(tmp_path / "killed", 400, kill_after=250)
    run_program(tmp_path / "killed", 400, kill_after=30)
    rest = run_program(tmp_path / "killed", 400)
    assert rest[-1] == whole[-1] and len(rest) < len(whole)


def test_a_damaged_checkpoint_is_passed_over(tmp_path):
    step, add = counting()
    saved = tf1.train.Saver()
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(2):
            session.run(add)
            saved.save(session, str(tmp_path / "model.ckpt"), step)
    data = tmp_path / "model.ckpt-2.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-1])
    manager = tf1.train.SessionManager()
    with manager.prepare_session("", None, tf1.train.Saver(), str(tmp_path)) as session:
        assert session.run(step) == 1
    (tmp_path / "model.ckpt-1.index").unlink()
    with pytest.raises(tf.errors.DataLossError):  # that of the newest
        manager.prepare_session("", None, tf1.train.Saver(), str(tmp_path))
