"""Loops that draw random numbers: drawn in front of them, nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.compiler.flow import is_loop
from ebbflow.compiler.passes import draws
from ebbflow.ops.declare import raw
from tests.compiler.native_runs import only_numpy

W = np.random.RandomState(0).rand(4, 4).astype("f") / 2


def net(x, w, turns=6):
    """Dropout and noise in every turn, of three streams."""

    def turn(i, h):
        h = tf.nn.dropout(tf.tanh(tf.matmul(h, w)), 0.5, seed=3) + 0.1 * tf.random.normal(tf.shape(h), seed=4)
        return i + 1, h + 0.01 * tf.cast(tf.random.uniform([3, 1], 0, 9, tf.int32, seed=5), tf.float32)

    return tf.while_loop(lambda i, h: i < turns, turn, [0, x])[1]


def steps(f, *args):
    tf.random.set_seed(1)
    return [[t.numpy() for t in f(*args)] for _ in range(4)]


def trained():
    def step(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = tf.reduce_sum(net(x, w) ** 2)
        return loss, tape.gradient(loss, w)

    return steps(tf.function(step, autograph=False), tf.ones([3, 4]), tf.constant(W))


def test_seeded_loops_draw_what_they_drew_turn_by_turn(made, monkeypatch):
    by_code = trained()
    assert sum(is_loop(n) for m in made for n in m.region.nodes) == 2  # there and back
    assert not any(m.refusal for m in made)
    only_numpy(monkeypatch)
    tf.config.optimizer.set_experimental_options({"loop_optimization": False})
    try:
        by_turns = trained()
    finally:
        tf.config.optimizer.set_experimental_options({"loop_optimization": True})
    assert not np.allclose(by_code[0][0], by_code[1][0])
    for one, other in zip(by_code, by_turns, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_draws_without_a_seed_differ_from_turn_to_turn(made):
    def drawn():
        rows = tf.TensorArray(tf.float32, 5)
        turn = lambda i, a: (i + 1, a.write(i, tf.random.uniform([200])))
        return [tf.while_loop(lambda i, a: i < 5, turn, [0, rows])[1].stack()]

    (first,), (second,), *_ = steps(tf.function(drawn, autograph=False))
    assert len({*map(bytes, first), *map(bytes, second)}) == 10
    assert made and 0 <= first.min() < 0.1 and 0.9 < first.max() < 1


CASES = {
    "turns that the numbers decide": (lambda x, w: _until(x), 0),
    "what is drawn depends on the turn": (lambda x, w: _poisson(x), 0),
    "too many numbers": (lambda x, w: net(x, w), 1 << 4),
    "no turn": (lambda x, w: net(x, w, 0), 0),
}


def _until(x):
    turn = lambda h: (h + tf.random.uniform([3, 4], seed=2),)
    return tf.while_loop(lambda h: tf.reduce_sum(h) < 50, turn, [x])[0]


def _poisson(x):
    turn = lambda i, h: (i + 1, h + tf.reshape(tf.random.poisson([1], h, seed=2), [3, 4]))
    return tf.while_loop(lambda i, h: i < 5, turn, [0, x])[1]


@pytest.mark.parametrize("case", CASES)
def test_others_draw_turn_by_turn(case, monkeypatch):
    run, most = CASES[case]
    if most:
        monkeypatch.setattr(draws, "MOST", most)
    found = []
    monkeypatch.setattr(draws, "_drawn", lambda *args: found.append(args))
    (once,), (twice,), *_ = steps(tf.function(lambda x, w: [run(x, w)], autograph=False), tf.ones([3, 4]), W)
    assert once.shape == (3, 4) and not found
    assert case == "no turn" or not np.array_equal(once, twice)


def test_several_draws_of_a_sampler_with_parameters_are_its_own():
    attrs = {"seed": 0, "seed2": 0, "S": tf.int32, "R": tf.float32, "dtype": tf.float32}
    draw = draws.Draw(raw.RandomPoissonV2, attrs, (2, 3))
    given = [np.array([2], np.int32), np.array([1.0, 100.0, 1000.0], "f")]
    found = draws.DRAWN.kernel_fn(np, given, turns=4, draw=draw, run=None)
    assert found.shape == (4, 2, 3) and found[..., 2].min() > 500 > found[..., 0].max()
