"""Loops that are run turn by turn, their turns Programs that know the shapes."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow import v1 as tf
from ebbflow.compiler import turn_by_turn
from ebbflow.compiler.decisions import MOST_TURNS
from tests.compiler.native_runs import close, only_numpy

LONG = MOST_TURNS + 8


@pytest.fixture
def bodies(monkeypatch):
    """The flows of loops' bodies that Programs were made of."""
    found = []
    made = turn_by_turn.TurnByTurn._made

    def noted(self):
        programs = made(self)
        found.append(programs[1].flow)
        return programs

    monkeypatch.setattr(turn_by_turn.TurnByTurn, "_made", noted)
    return found


def trained(lengths):
    """Return losses and gradients of a net that goes on until every row has ended."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x, length = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.int32, [None])
        w = tf.get_variable("w", initializer=np.linspace(-0.5, 0.5, 35, dtype="f").reshape(7, 5))
        rows = tf.TensorArray(tf.float32, 0, dynamic_size=True)

        def turn(time, done, h, rows):
            done |= time + 1 >= length
            now = tf.cond(tf.reduce_all(done), lambda: tf.zeros_like(h[:, :2]), lambda: x[:, time, :2])
            h = tf.tanh(tf.matmul(tf.concat([h, now], 1), w))
            return time + 1, done, h, rows.write(time, tf.where(done, tf.zeros_like(h), h))

        first = (0, length <= 0, tf.zeros([tf.shape(x)[0], 5]), rows)
        *_, rows = tf.while_loop(lambda time, done, *_: ~tf.reduce_all(done), turn, first)
        loss = tf.reduce_sum(tf.square(rows.stack()))
        fetches = [loss, *tf.gradients(loss, [w, x])]
        sess.run(tf.global_variables_initializer())
        random = np.random.RandomState(0)
        found = []
        for longest in lengths:
            given = random.randint(2, longest + 1, 4)
            given[0] = longest
            found.append(sess.run(fetches, {x: random.rand(4, longest, 3), length: given}))
        return found


def test_loops_that_values_end_give_what_they_give_node_by_node(bodies, monkeypatch):
    lengths = [LONG, LONG, LONG, LONG + 1, LONG + 2, LONG + 3, LONG + 4, LONG]
    by_programs = trained(lengths)
    assert {flow.outputs[2].dims for flow in bodies} >= {(4, 5)}
    popped = [n.outputs[1] for flow in bodies for n in flow.nodes if n.op.name == "TensorListPopBack"]
    assert popped and all(v.is_static for v in popped)  # of what lists hold, which the graph does not say
    only_numpy(monkeypatch)
    tf2.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        close(by_programs, trained(lengths))
    finally:
        tf2.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


def test_an_error_in_a_turn_is_told_at_its_line(bodies):
    @tf2.function(autograph=False, input_signature=[tf2.TensorSpec([None]), tf2.TensorSpec([], tf2.int32)])
    def f(x, last):
        turn = lambda i, total: (i + 1, total + tf2.gather(x, i))
        return tf2.while_loop(lambda i, total: i * i < last + tf2.cast(total * 0.0, tf2.int32), turn, [0, 0.0])[1]

    for _ in range(3):
        assert f(tf2.ones([50]), tf2.constant(2000)).numpy() == 45
    assert bodies
    with pytest.raises(tf2.errors.InvalidArgumentError, match=r"indices\S* = 50 is not in \[0, 50\)") as told:
        f(tf2.ones([50]), tf2.constant(2600))
    assert "test_turn_by_turn.py" in str(told.value)


def test_a_loop_ends_when_its_session_does(bodies):
    with tf.Graph().as_default(), tf.Session() as sess:
        limit = tf.placeholder(tf.float32, [])
        turn = lambda x: x + tf.cast(tf.strings.length(tf.as_string(x)) > 0, tf.float32)
        last = tf.while_loop(lambda x: x < limit, turn, [0.0])
        for _ in range(3):
            assert sess.run(last, {limit: 5.0}) == 5
        assert bodies
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(last, {limit: np.inf}, options=tf.RunOptions(timeout_in_ms=300))
