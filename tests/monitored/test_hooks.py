"""The hooks of the library, one by one."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ebbflow.v1 as tf1
from ebbflow.monitored import hooks as library
from ebbflow.testing.summaries import FakeSummaryWriter
from ebbflow.train.step_counter import increment_global_step


@pytest.fixture(autouse=True)
def graph():
    with tf1.Graph().as_default() as graph:
        yield graph


def counting(by=1):
    step = tf1.train.get_or_create_global_step()
    return step, tf1.assign_add(step, by)


def run(hooks, fetches, most=50):
    with tf1.train.MonitoredSession(hooks=hooks) as session:
        count = 0
        while not session.should_stop() and count < most:
            session.run(fetches)
            count += 1
    return count


def events(folder):
    return [e for path in sorted(folder.glob("events*")) for e in tf1.train.summary_iterator(str(path))]


@pytest.mark.parametrize("arguments, runs", [({"num_steps": 4}, 4), ({"last_step": 7}, 7)])
def test_stop_at_step(arguments, runs):
    _, add = counting()
    assert run([tf1.train.StopAtStepHook(**arguments)], add) == runs


def test_nan():
    x = tf1.placeholder_with_default(float("nan"), [])
    with pytest.raises(tf1.train.NanLossDuringTrainingError, match="NaN loss"):
        run([tf1.train.NanTensorHook(x)], x)
    assert run([tf1.train.NanTensorHook(x, fail_on_nan_loss=False)], x) == 1


def test_logging(monkeypatch):
    lines = []
    monkeypatch.setattr(library.logging, "info", lambda text, *args: lines.append(text % args if args else text))
    value = tf1.constant([1.5, 2.5], name="value")
    run([tf1.train.LoggingTensorHook({"v": value}, every_n_iter=2)], value, 4)
    run([tf1.train.LoggingTensorHook(["value:0"], at_end=True)], value, 2)
    run([tf1.train.LoggingTensorHook([value], every_n_iter=9, formatter=lambda d: f"{len(d)} items")], value, 1)
    assert tf1.train.LoggingTensorHook({"v": value}, 2)._tag_order == ["v"]  # which subclasses of programs read
    logged = [line for line in lines if "value" in line or line.startswith("v =") or "items" in line]
    assert logged[0] == "v = [1.5 2.5]" and logged[1].startswith("v = [1.5 2.5] (") and len(logged) == 4
    assert logged[2] == "value:0 = [1.5 2.5]" and logged[3] == "1 items"


def test_checkpoints_and_listeners(tmp_path):
    _, add = counting()
    calls = []

    class Listener(tf1.train.CheckpointSaverListener):
        def begin(self):
            calls.append("begin")

        def before_save(self, session, global_step_value):
            calls.append(("before", int(global_step_value)))

        def after_save(self, session, global_step_value):
            calls.append(("after", int(global_step_value)))
            return global_step_value >= 6

        def end(self, session, global_step_value):
            calls.append(("end", int(global_step_value)))

    saver = tf1.train.Saver(max_to_keep=None)
    hook = tf1.train.CheckpointSaverHook(str(tmp_path), save_steps=3, saver=saver, listeners=[Listener()])
    assert run([hook], add) == 6
    steps = [call[1] for call in calls if call[0] == "after"]
    assert steps == [0, 3, 6] and calls[0] == "begin" and calls[-1] == ("end", 6)
    assert sorted(p.name for p in tmp_path.glob("*.index")) == [f"model.ckpt-{s}.index" for s in steps]
    tf1.summary.FileWriterCache.get(str(tmp_path)).flush()
    logs = [e.session_log for e in events(tmp_path) if e.HasField("session_log")]
    assert [log.status for log in logs].count(3) == 3


def test_summaries(tmp_path):
    step, add = counting()
    summary = tf1.summary.scalar("s", step * 10)
    hook = tf1.train.SummarySaverHook(save_steps=4, output_dir=str(tmp_path), summary_op=summary)
    run([hook], add, 10)
    found = [e.step for e in events(tmp_path) if e.summary.value]
    assert found == [1, 5, 9]
    with pytest.raises(ValueError, match="Exactly one"):
        tf1.train.SummarySaverHook(save_steps=1)


def test_summaries_of_steps_that_wait_for_the_read_of_the_step():
    tf1.train.get_or_create_global_step()
    step, writer = increment_global_step(1), FakeSummaryWriter("")
    summary = tf1.summary.scalar("one", 1.0)
    hook = tf1.train.SummarySaverHook(8, summary_writer=writer, summary_op=summary)
    run([hook, tf1.train.StepCounterHook(10, summary_writer=writer)], step, 30)
    tags = [(at, value.tag) for at, each in writer.summaries.items() for s in each for value in s.value]
    assert [at for at, tag in tags if tag == "one"] == [1, 9, 17, 25]
    assert [at for at, tag in tags if tag == "global_step/sec"] == [11, 21]


def test_step_counter(tmp_path):
    _, add = counting()
    run([tf1.train.StepCounterHook(every_n_steps=5, output_dir=str(tmp_path))], add, 11)
    tf1.summary.FileWriterCache.get(str(tmp_path)).flush()
    found = [(e.step, v.tag, v.simple_value > 0) for e in events(tmp_path) for v in e.summary.value]
    assert found == [(6, "global_step/sec", True), (11, "global_step/sec", True)]


def test_final_ops():
    step, add = counting()
    hook = tf1.train.FinalOpsHook({"step": step})
    run([hook], add, 3)
    assert hook.final_ops_values == {"step": 3}


def test_waiting_for_a_step():
    _, add = counting(5)
    assert run([tf1.train.GlobalStepWaiterHook(0)], add, 2) == 2


def test_profiles(tmp_path):
    _, add = counting()
    run([tf1.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))], add, 5)
    traces = sorted(tmp_path.glob("timeline-*.json"))
    assert traces and json.loads(traces[0].read_text())["traceEvents"]


def test_timers():
    timer = tf1.train.SecondOrStepTimer(every_secs=1000)
    assert timer.should_trigger_for_step(1) and timer.last_triggered_step() is None
    assert timer.update_last_triggered_step(1) == (None, None)
    assert not timer.should_trigger_for_step(1) and not timer.should_trigger_for_step(50)
    elapsed, steps = timer.update_last_triggered_step(5)
    assert elapsed >= 0 and steps == 4
    timer.reset()
    assert timer.should_trigger_for_step(5)
    with pytest.raises(ValueError, match="Either"):
        tf1.train.SecondOrStepTimer()
    with pytest.raises(ValueError, match="both"):
        tf1.train.SecondOrStepTimer(1, 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf1.train.StopAtStepHook(),
        lambda: tf1.train.StopAtStepHook(1, 2),
        lambda: tf1.train.LoggingTensorHook(["x"]),
        lambda: tf1.train.LoggingTensorHook(["x"], every_n_iter=0),
        lambda: tf1.train.LoggingTensorHook(["x"], every_n_iter=1, every_n_secs=1),
        lambda: tf1.train.StepCounterHook(every_n_steps=1, every_n_secs=1),
        lambda: tf1.train.CheckpointSaverHook("d", 1, saver=1, scaffold=1),
    ],
)
def test_refused(make):
    with pytest.raises(ValueError):
        make()


@pytest.mark.parametrize("hook", ["StopAtStepHook(1)", "CheckpointSaverHook('{}', 1)", "StepCounterHook()"])
def test_a_global_step_is_needed(hook, tmp_path):
    with pytest.raises(RuntimeError, match="Global step should be created"):
        eval(f"tf1.train.{hook.format(tmp_path)}").begin()


# --- loops ------------------------------------------------------------------------------------------------------------


def test_train_then_evaluate(tmp_path):
    with tf1.Graph().as_default():
        step, add = counting()
        tf1.get_variable("w", initializer=2.0)
        hooks = [tf1.train.StopAtStepHook(last_step=5)]
        assert tf1.contrib.training.train(add, str(tmp_path), hooks=hooks) == 5
    with tf1.Graph().as_default():
        step = tf1.train.get_or_create_global_step()
        w = tf1.get_variable("w", initializer=0.0)
        total, update = tf1.metrics.mean(w * 3)
        tf1.summary.scalar("total", total)
        values = tf1.contrib.training.evaluate_repeatedly(
            str(tmp_path),
            eval_ops=[update],
            final_ops={"total": total, "step": step},
            hooks=[
                tf1.contrib.training.StopAfterNEvalsHook(4),
                tf1.contrib.training.SummaryAtEndHook(str(tmp_path / "eval")),
            ],
            max_number_of_evaluations=1,
        )
    np.testing.assert_allclose(values["total"], 6.0)
    assert values["step"] == 5
    assert [v.tag for e in events(tmp_path / "eval") for v in e.summary.value] == ["total"]
    with pytest.raises(ValueError, match="logdir"):
        tf1.contrib.training.train(add, None)


def test_supervised(tmp_path):
    step, add = counting()
    tf1.summary.scalar("s", step)
    supervisor = tf1.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=0.05, save_model_secs=0.05)
    with supervisor.managed_session() as session:
        while not supervisor.should_stop():
            last = tf1.train.latest_checkpoint(str(tmp_path))
            if session.run(add) >= 5 and last and not last.endswith("-0"):
                supervisor.request_stop()
    assert (tmp_path / "graph.pbtxt").exists()
    assert any(e.summary.value for e in events(tmp_path))
    with tf1.Graph().as_default():
        step, add = counting()
        supervisor = tf1.train.Supervisor(logdir=str(tmp_path))

        def train(sess):
            assert sess.run(step) >= 1
            supervisor.request_stop()

        tf1.train.basic_train_loop(supervisor, train)


def test_errors_end_supervised_training(tmp_path):
    counting()
    supervisor = tf1.train.Supervisor(logdir=str(tmp_path))
    with pytest.raises(ValueError, match="mine"), supervisor.managed_session():
        raise ValueError("mine")
    with tf1.Graph().as_default():
        counting()
        supervisor = tf1.train.Supervisor()

        def fail():
            raise KeyError("looped")

        with pytest.raises(KeyError, match="looped"), supervisor.managed_session():
            supervisor.loop(0.01, fail)
            supervisor.coord.wait_for_stop(10)


def test_the_end_of_the_input_ends_supervised_training():
    n = tf1.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    supervisor = tf1.train.Supervisor()
    seen = []
    with supervisor.managed_session() as session:
        while not supervisor.should_stop():
            seen.append(int(session.run(n)))
    assert seen == [0, 1, 2]
