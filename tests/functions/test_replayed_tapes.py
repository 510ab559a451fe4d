"""Backward passes that come by again are run as Programs, and give what the plain walk gives to the last bit."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.eager import tape as tapes
from ebbflow.functions import replayed_tapes
from ebbflow.functions.replayed_tapes import KEPT, TRIALS, Replays

STEPS = 12


@pytest.fixture
def replays(monkeypatch):
    fresh = Replays()
    monkeypatch.setattr(tapes, "_replay", fresh.backward)
    return fresh


def numbers(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def mlp(step, made):
    w, b, v = made(numbers(6, 8)), made(numbers(8)), made(numbers(8, 3))
    labels = tf.constant(np.random.default_rng(step).integers(0, 3, 5).astype(np.int32))

    def loss():
        h = tf.nn.relu(tf.constant(numbers(5, 6, seed=step)) @ w + b)
        cost = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.matmul(h, v))
        return tf.reduce_mean(cost) + 0.01 * tf.reduce_sum(w * w)

    return loss, [w, b, v]


def convolution(step, made):
    k, s = made(numbers(3, 3, 2, 4)), made(np.float32(0.5))

    def loss():
        y = tf.nn.conv2d(tf.constant(numbers(2, 7, 7, 2, seed=step)), k, 1, "SAME")
        y = tf.nn.max_pool2d(tf.nn.bias_add(tf.tanh(y), tf.zeros(4)), 2, 2, "VALID")
        return tf.reduce_sum(tf.nn.softmax(tf.reshape(y, [2, -1])) ** 2) * s

    return loss, [k, s]


def rows(step, made):
    table = made(numbers(10, 4))
    at = tf.constant(np.random.default_rng(step).integers(0, 10, 6))
    return lambda: tf.reduce_mean(tf.nn.embedding_lookup(table, at) ** 2), [table]


def arranged(step, made):
    x = made(numbers(3, 4, 5))

    def loss():
        y = tf.transpose(x, [2, 0, 1]) * tf.constant(numbers(5, 3, 4, seed=step))
        parts = tf.split(tf.concat([y, tf.sin(y)], 0), 2, axis=2)
        picked = tf.stack([tf.reduce_max(parts[0], [0, 1]), tf.reduce_mean(parts[1], (0, 1))])
        return tf.reduce_sum(picked[0] * tf.pad(x[1:, ::2, :1], [[0, 0], [1, 0], [1, 0]])[:, :2, 1])

    return loss, [x]


def recurrent(step, made):
    w, c = made(numbers(6, 4)), made(np.zeros((2, 2), np.float32))

    def loss():
        h, state = tf.zeros([2, 4]), c
        for t in range(4):
            gates = tf.concat([h[:, :2], tf.constant(numbers(2, 4, seed=step + t))], 1) @ w
            i, j = tf.split(gates, 2, 1)
            state = tf.sigmoid(i) * state + tf.tanh(j)
            h = tf.concat([state, tf.nn.elu(state)], 1)
        return tf.norm(h) + tf.reduce_logsumexp(h)

    return loss, [w, c]


def unconnected(step, made):
    x, y = made(numbers(3)), made(numbers(2))
    return lambda: tf.reduce_prod(x) if step % 2 else tf.reduce_sum(tf.cumsum(x) / 3), [x, y]


def double(step, made):
    x = made(numbers(4, 4).astype(np.float64) + 4 * np.eye(4))
    return lambda: tf.linalg.logdet(tf.matmul(x, x, transpose_b=True)) + tf.reduce_sum(tf.linalg.inv(x)), [x]


PROGRAMS = [mlp, convolution, rows, arranged, recurrent, unconnected, double]


def gradients(program, step, made, **options):
    loss, by = program(step, made)
    with tf.GradientTape(**options) as tape:
        for x in by:
            if not isinstance(x, tf.Variable):
                tape.watch(x)
        cost = loss()
    return tape.gradient(cost, by)


def parts(grads):
    found = []
    for g in grads:
        for part in (g.values, g.indices, g.dense_shape) if isinstance(g, tf.IndexedSlices) else (g,):
            found.append(
                None if part is None else (part.dtype, part.shape, part._array.strides, part.numpy().tobytes())
            )
    return found


@pytest.mark.parametrize("made", [tf.Variable, tf.constant], ids=["variables", "tensors"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_what_a_program_gives_is_what_the_walk_gives(program, made, replays, monkeypatch):
    replayed = [parts(gradients(program, step, made)) for step in range(2 * STEPS)]
    assert any(replay.trials == TRIALS for replay in replays.by_signature.values()), "it was walked every time"
    monkeypatch.setattr(tapes, "_replay", None)
    assert replayed == [parts(gradients(program, step, made)) for step in range(2 * STEPS)]


def test_what_is_believed_is_not_walked(replays, monkeypatch):
    for step in range(STEPS):
        gradients(mlp, step, tf.Variable)
    monkeypatch.setattr(tf.GradientTape, "_walk", None)
    assert len(gradients(mlp, STEPS, tf.Variable)) == 3


def test_other_shapes_and_other_wiring_are_told_apart(replays):
    def run(n, swapped, factor):
        x, y = tf.Variable(numbers(n)), tf.Variable(numbers(n, seed=1))
        with tf.GradientTape() as tape:
            z = (y - x if swapped else x - y) * factor
            z = tf.reduce_sum(z * x)
        return [g.numpy() for g in tape.gradient(z, [x, y])]

    for _ in range(STEPS):
        for n in (2, 3):
            for swapped in (False, True):
                x, y = numbers(n), numbers(n, seed=1)
                found = run(n, swapped, 2.0)
                sign = -2 if swapped else 2
                np.testing.assert_allclose(found[0], sign * (2 * x - y), rtol=1e-6)
                np.testing.assert_allclose(found[1], -sign * x, rtol=1e-6)
    assert sum(replay.trials == TRIALS for replay in replays.by_signature.values()) == 4


def test_axes_are_part_of_what_is_told_apart(replays):
    x = tf.Variable(numbers(3, 3))
    for step in range(4 * STEPS):
        axis = step % 2
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.reduce_max(x, axis))
        expected = (x.numpy() == x.numpy().max(axis, keepdims=True)).astype(np.float32)
        np.testing.assert_array_equal(tape.gradient(y, x), expected)


def test_what_is_watched_is_part_of_what_is_told_apart(replays):
    x, y = tf.constant(numbers(3)), tf.constant(numbers(3, seed=1))
    for step in range(4 * STEPS):
        with tf.GradientTape() as tape:
            tape.watch(x if step % 2 else [x, y])
            z = x * y
        gx, gy = tape.gradient(z, [x, y])
        np.testing.assert_array_equal(gx, y)
        assert gy is None if step % 2 else np.array_equal(gy, x)


def test_gradients_of_gradients_see_every_call(replays):
    x = tf.Variable(2.0)
    for _ in range(STEPS):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = x**3
            slope = inner.gradient(y, x)
        assert float(outer.gradient(slope, x)) == 12.0


def test_a_persistent_tape_gives_each_of_its_gradients(replays):
    x = tf.Variable(3.0)
    for _ in range(STEPS):
        with tf.GradientTape(persistent=True) as tape:
            y = x * x
            z = y * x
        assert [float(tape.gradient(t, x)) for t in (y, z, y)] == [6.0, 27.0, 6.0]


def test_rules_of_ones_own_are_asked_each_time(replays):
    asked = []

    @tf.custom_gradient
    def doubled(x):
        def rule(grad):
            asked.append(1)
            return grad * len(asked)

        return x * 2, rule

    x = tf.Variable(1.0)
    for step in range(STEPS):
        with tf.GradientTape() as tape:
            y = doubled(x * 1.0)
        assert float(tape.gradient(y, x)) == step + 1


def test_a_gradient_given_for_the_target_is_used(replays):
    x = tf.Variable(numbers(3))
    for step in range(STEPS):
        with tf.GradientTape() as tape:
            y = x * 2
        np.testing.assert_array_equal(tape.gradient(y, x, output_gradients=tf.fill([3], float(step))), [2.0 * step] * 3)


def test_nothing_is_kept_of_what_was_recorded(replays):
    for step in range(STEPS):
        gradients(mlp, step, tf.Variable)
    replay = next(p for p in replays.by_signature.values() if p.trials == TRIALS)
    assert not any(isinstance(part, (np.ndarray, tf.Tensor)) for key in replays.by_signature for part in key)
    assert not any(isinstance(part, (np.ndarray, tf.Tensor)) for part in (*replay.fed, *replay.places))


def test_few_signatures_are_remembered(replays):
    x = tf.Variable(numbers(400))
    for n in range(1, 2 * KEPT):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x[:n] ** 2)
        assert tape.gradient(y, x).shape == (400,)
    assert len(replays.by_signature) <= KEPT


def test_programs_in_use_are_not_forgotten_for_what_comes_by_once(replays, monkeypatch):
    x = tf.Variable(numbers(4 * KEPT))

    def step(n):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x[:n] ** 2)
        tape.gradient(y, x)

    for _ in range(STEPS):
        step(3)
    used = next(replay for replay in replays.by_signature.values() if replay.trials == TRIALS)
    for n in range(4, 4 * KEPT):
        step(n)
    assert used in replays.by_signature.values() and len(replays.by_signature) <= KEPT
    monkeypatch.setattr(replayed_tapes, "STALE", 8)
    for replay in replays.by_signature.values():
        replay.runner = used.runner  # as if all had Programs
    step(4 * KEPT)
    assert used not in replays.by_signature.values()


def test_what_differs_is_walked_for_good(replays, monkeypatch):
    monkeypatch.setattr(replayed_tapes, "_same", lambda a, b: False)
    for step in range(STEPS):
        gradients(mlp, step, tf.Variable)
    assert all(replay.refused and replay.runner is None for replay in replays.by_signature.values() if replay.met > 2)


def test_threads_share_programs(replays):
    wrong = []

    def work(seed):
        x = tf.Variable(numbers(20, seed=seed))
        for _ in range(60):
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(x * x)
            if not np.array_equal(tape.gradient(y, x), 2 * x.numpy()):
                wrong.append(seed)

    workers = [threading.Thread(target=work, args=[seed]) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_large_arrays_are_computed_as_single_calls_compute_them(replays, monkeypatch):
    """Engines prepare kernels for Programs that round, or treat infinities, otherwise than single calls do."""

    def program(step, made):
        x, w = made(numbers(200, 300)), made(numbers(300, 200))

        def loss():
            y = tf.nn.relu(tf.matmul(x, w) + float(step))
            return tf.reduce_sum(tf.sigmoid(y) * tf.constant([np.inf if step > 8 else 1.0] * 200)) + tf.reduce_sum(y)

        return loss, [x, w]

    replayed = [parts(gradients(program, step, tf.Variable)) for step in range(STEPS)]
    assert any(replay.trials == TRIALS for replay in replays.by_signature.values())
    monkeypatch.setattr(tapes, "_replay", None)
    assert replayed == [parts(gradients(program, step, tf.Variable)) for step in range(STEPS)]
