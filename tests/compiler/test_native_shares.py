"""Loops that threads go through side by side: which may be, and that the answers are those of one thread."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import symbols, threads
from ebbflow.engines.native.lowering import Lowering
from ebbflow.engines.native.lowerings.loops import Turns
from ebbflow.engines.native.lowerings.parallel_loops import shared
from tests.compiler.native_runs import close, only_numpy

ROWS, WIDE, TIMES = 24, 40, 7
RANDOM = np.random.RandomState(0)
X = RANDOM.rand(TIMES, ROWS, WIDE).astype("f")
W = (RANDOM.rand(WIDE, WIDE).astype("f") - 0.5) / 4


def loop(step, *start):
    """Return a loop whose step takes the number of the turn."""
    return tf.while_loop(lambda t, *_: t < TIMES, lambda t, *s: (t + 1, *step(t, *s)), (tf.constant(0), *start))[1:]


def recurrent(x, w):
    return loop(lambda t, h: [tf.tanh(tf.matmul(h, w) + x[t])], x[0])


def with_gates(x, w):
    """Parts of a row go different ways."""

    def step(t, h, c):
        a, b = tf.split(tf.matmul(tf.concat([x[t], h], 1), tf.concat([w, w * 0.5], 0)), 2, axis=1)
        c = tf.sigmoid(tf.concat([a, b], 1)) * c + 0.1
        return tf.tanh(c), c

    return loop(step, x[0], x[1])


def summed(x, w):
    """A number that follows from all rows, and decides on them."""

    def step(t, h, total):
        h = tf.tanh(tf.matmul(h, w) + x[t] / (1.0 + total * total))
        return h, total + tf.reduce_mean(h)

    return loop(step, x[0], tf.constant(0.0))


def normalised(x, w):
    """Rows are compared with their mean over the batch, which is larger than a number."""

    def step(t, h):
        h = tf.matmul(h, w) + x[t]
        return [h - tf.reduce_mean(h, 0) + tf.reduce_max(h, axis=0, keepdims=True)]

    return loop(step, x[0])


def folded_rows(x, w):
    """What is folded along a row stays with it."""
    return loop(lambda t, h: [tf.nn.softmax(tf.matmul(h, w) + x[t]) * tf.reduce_sum(h, 1, keepdims=True)], x[0])


def gathered(x, w):
    """What every turn makes is kept, and so is a number of each."""
    found = tf.TensorArray(tf.float32, TIMES, element_shape=[ROWS, WIDE])
    means = tf.TensorArray(tf.float32, TIMES, element_shape=[])

    def step(t, h, ta, tm):
        h = tf.tanh(tf.matmul(h, w) + x[t])
        return h, ta.write(t, h), tm.write(t, tf.reduce_mean(h))

    h, ta, tm = loop(step, x[0], found, means)
    return [h, ta.stack(), tm.stack()]


def backwards(x, w):
    """The gradient goes through the rows as well; those of weights are of all rows."""
    b = tf.zeros([WIDE])
    with tf.GradientTape() as tape:
        tape.watch([x, w, b])
        h, total = loop(
            lambda t, h, s: [h := tf.tanh(tf.matmul(h, w) + b + x[t]), s + tf.reduce_mean(h * h)],
            x[0],
            tf.constant(0.0),
        )
        loss = total + tf.reduce_sum(h)
    return [loss, *tape.gradient(loss, [w, b])]


def half_a_gradient(x, w):
    """Of what was put together, one part's gradient is asked for."""
    with tf.GradientTape() as tape:
        tape.watch(w)
        (h,) = loop(lambda t, h: [tf.tanh(tf.matmul(tf.concat([x[t], h], 1), tf.concat([w, w], 0)))], x[0])
        loss = tf.reduce_sum(h * h)
    return [loss, tape.gradient(loss, w)]


def by_a_bias(x, w):
    """The gradient by a bias is a sum over the rows of every turn."""
    b = tf.zeros([WIDE])
    with tf.GradientTape() as tape:
        tape.watch(b)
        (h,) = loop(lambda t, h: [tf.tanh(tf.matmul(h, w) + b + x[t])], x[0])
        loss = tf.reduce_sum(h * h)
    return [loss, tape.gradient(loss, b)]


def turned(x, w):
    """Rows become columns: nothing can be divided."""
    square = x[0, :, :ROWS]
    return loop(lambda t, h: [tf.tanh(tf.matmul(h, w[:ROWS, :ROWS]) + tf.transpose(h) * 0.5)], square)


def shifted(x, w):
    """Every row takes from its neighbour."""
    return loop(lambda t, h: [tf.tanh(tf.matmul(h, w) + tf.concat([h[1:], h[:1]], 0))], x[0])


def looked_at(x, w):
    """One element decides on all rows."""
    return loop(lambda t, h: [tf.tanh(tf.matmul(h, w) * h[0, 0] + x[t])], x[0])


ALL, NONE = [True], [False]
PROGRAMS = {
    recurrent: ALL,
    with_gates: ALL,
    summed: ALL,
    normalised: ALL,
    folded_rows: ALL,
    gathered: ALL,
    backwards: [True, False],  # the gradient by the weights is a product over all rows
    half_a_gradient: [True, False],
    by_a_bias: ALL,
    turned: NONE,
    shifted: NONE,
    looked_at: NONE,
}


def run(program):
    return tf.function(lambda *given: program(*given), autograph=False)(tf.constant(X), tf.constant(W))


@pytest.fixture(params=[1, 2, 3, 4])
def workers(request, monkeypatch):
    if threads.count() == 1:
        pytest.skip("there is one core, or no libgomp")
    monkeypatch.setattr(threads, "count", lambda: request.param)
    monkeypatch.setattr("ebbflow.engines.native.lowerings.parallel_loops.WORTH", 1)
    monkeypatch.setattr("ebbflow.engines.native.region_functions.LARGE", 1)
    return request.param


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_same_as_by_numpy(program, workers, made, monkeypatch):
    found = [run(program) for _ in range(3)]
    loops = [s for m in made if m.kernel is not None for s in Lowering(m.region).steps if isinstance(s, Turns)]
    can = PROGRAMS[program] if workers > 1 else [False] * len(PROGRAMS[program])
    assert [shared(s, workers) is not None for s in loops] == can * (len(loops) // len(can)) != []
    symbols.busy[()] = 2**62
    try:
        alone = run(program)  # as when others use the machine
    finally:
        symbols.busy[()] = 0
    for again in (*found[1:], alone):
        close(again, found[0], rtol=0)
    only_numpy(monkeypatch)
    close(found[0], run(program))


def test_rows_that_cannot_be_divided_evenly_stay_together(made, monkeypatch):
    monkeypatch.setattr("ebbflow.engines.native.lowerings.parallel_loops.WORTH", 1)
    run(recurrent)
    (turns,) = [s for m in made for s in Lowering(m.region).steps if isinstance(s, Turns)]
    assert shared(turns, 5) is None and shared(turns, 8).rows == 3
