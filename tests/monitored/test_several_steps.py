"""Training whose one run makes several steps stops where it should."""

import ebbflow as tf
from ebbflow.monitored import several_steps
from ebbflow.train import step_counter

v1 = tf.compat.v1


def test_the_last_run_makes_fewer_steps():
    with tf.Graph().as_default():
        step = v1.train.get_or_create_global_step()
        count = several_steps.get_or_create_steps_per_run_variable()
        assert several_steps.get_or_create_steps_per_run_variable() is count
        train = v1.assign_add(step, tf.cast(count, tf.int64))
        hook = several_steps.MultiStepStopAtStepHook(last_step=7, steps_per_run=3)
        seen = []
        with v1.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                seen.append(int(session.run(train)))
        assert seen == [3, 6, 7]


def test_the_global_step_is_read_once_in_a_graph():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        assert step_counter.get_or_create_global_step_read() is None
        step = v1.train.get_or_create_global_step()
        value = step_counter.get_or_create_global_step_read(graph)
        assert step_counter.get_or_create_global_step_read() is value
        session.run(step.initializer)
        session.run(v1.assign_add(step, 4))
        assert session.run(value) == 4
