"""Functions that are compiled whole, for values of their arguments too where code differs with them."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.compiler import jit

X = np.arange(24, dtype=np.float32).reshape(4, 6)

BY_VALUE = {
    "a shape": (lambda x, n: tf.reshape(x, n), [[6, 4], [3, 8], [24]]),
    "a shape that is computed": (lambda x, n: tf.reshape(x, [n * 2, -1]), [1, 2, 3]),
    "an axis": (lambda x, n: tf.reduce_sum(x, n), [0, 1, -1]),
    "sizes of parts": (lambda x, n: tf.split(x, n, num=2, axis=1), [[2, 4], [5, 1]]),
    "a length": (lambda x, n: tf.fill([n], x[0, 1]), [3, 5]),
    "an end": (lambda x, n: x[:, :n], [2, 3]),
}


@pytest.mark.parametrize("name", BY_VALUE)
def test_values_that_decide_shapes_are_compiled_for(name):
    function, values = BY_VALUE[name]
    compiled = tf.function(function, jit_compile=True)
    for value in [*values, *values]:
        for ours, plain in zip(
            tf.nest.flatten(compiled(X, tf.constant(value))), tf.nest.flatten(function(X, value)), strict=True
        ):
            np.testing.assert_array_equal(ours, plain)


BESIDE = {
    "where": lambda x: tf.where(x > 9.0),
    "mask": lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 9.0) ** 2),
    "unique": lambda x: tf.math.unsorted_segment_sum(x[0], *segments(x[0] // 2.0)),
    "partition": lambda x: tf.dynamic_partition(x[:, 0], [0, 1, 1, 0], 2),
    "boxes": lambda x: tf.image.non_max_suppression(x[:, :4], x[:, 4], 3),
    "checks": lambda x: (tf.debugging.assert_less(x, 1e9), x * 2.0)[1],
    "resized": lambda x: tf.image.resize(x[None, :, :, None], [3, 3]),
    "segments": lambda x: tf.raw_ops.SegmentSumV2(data=x, segment_ids=[0, 0, 1, 1], num_segments=2),
}


def segments(x):
    values, places = tf.unique(x)
    return places, tf.size(values)


@pytest.mark.parametrize("name", BESIDE)
def test_what_gives_any_number_of_rows_runs_beside_the_code(name):
    compiled = tf.function(BESIDE[name], jit_compile=True)
    for given in (X, X[:, ::-1].copy()):
        for ours, plain in zip(tf.nest.flatten(compiled(given)), tf.nest.flatten(BESIDE[name](given)), strict=True):
            np.testing.assert_allclose(ours, plain, rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="UniqueWithCounts"):  # nor does TensorFlow's XLA
        tf.function(lambda x: tf.unique_with_counts(x)[0], jit_compile=True)(X[0])


def of_a_generator(x):
    return x + GENERATOR.normal(tf.shape(x))


RANDOM = {
    "generator": of_a_generator,
    "in a choice": lambda x: tf.cond(tf.reduce_sum(x) > -1e9, lambda: of_a_generator(x), lambda: x),
    "in a loop": lambda x: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, of_a_generator(x)), [0, x])[1],
}
GENERATOR = tf.random.Generator.from_seed(3)


@pytest.mark.parametrize("name", RANDOM)
def test_what_draws_numbers_runs_beside_the_code(name):
    x = tf.constant(X, tf.float32)
    compiled, results = tf.function(RANDOM[name], jit_compile=True), []
    for function in (compiled, RANDOM[name]):
        GENERATOR.reset_from_seed(5)
        results.append([function(x).numpy() for _ in range(3)])
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)
    assert not np.allclose(results[0][0], results[0][1])


def test_a_step_with_dropout_is_compiled():
    kernel = tf.Variable(tf.ones([5, 3]))

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            hidden = tf.nn.dropout(x @ kernel, 0.5)
            loss = tf.reduce_sum(hidden)
        kernel.assign_sub(tape.gradient(loss, kernel))
        return hidden

    dropped = step(tf.ones([100, 5]))
    assert set(np.unique(dropped)) == {0.0, 10.0}
    kept = np.count_nonzero(dropped, axis=0)
    np.testing.assert_allclose(kernel.numpy(), np.broadcast_to(1 - 2.0 * kept, [5, 3]))


def test_code_for_few_values_is_kept(monkeypatch):
    monkeypatch.setattr(jit, "MOST_VALUES", 2)
    compiled = tf.function(lambda n: tf.range(n), jit_compile=True)
    for n in (1, 2, 3, 1, 4):
        assert compiled(tf.constant(n)).numpy().tolist() == list(range(n))


def test_values_that_come_from_variables_or_many_numbers_are_refused_by_name():
    count = tf.Variable(3)
    for function, given in (
        (lambda x: tf.fill([count], x[0, 0]), X),
        (lambda x: tf.fill([tf.cast(x[0, 1], tf.int32)], 1.0), X),
        (lambda x: tf.fill([x[5]], 1.0), np.arange(1000)),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="dims is known only when it runs"):
            tf.function(function, jit_compile=True)(tf.constant(given))


def test_bands_may_be_as_wide_as_a_loop_says():
    @tf.function(jit_compile=True)
    def bands(x):
        return tf.while_loop(
            lambda i, total: i < 3,
            lambda i, total: (i + 1, total + tf.linalg.band_part(x, i, 1)),
            (0, tf.zeros_like(x)),
        )[1]

    expected = sum(tf.linalg.band_part(X, i, 1).numpy() for i in range(3))
    np.testing.assert_array_equal(bands(tf.constant(X)), expected)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "int4", "uint4"])
def test_casts_to_narrow_types_are_those_of_the_host(name):
    dtype = tf.as_dtype(name)
    x = np.float32([0, 1, 2, 3, 7]) if dtype.is_integer else np.float32([0, -1, 0.1, 449, 1e9, -np.inf, np.nan, 1e-8])
    compiled = tf.function(lambda v: tf.cast(tf.cast(v, dtype), tf.float32), jit_compile=True)
    np.testing.assert_array_equal(compiled(x), tf.cast(tf.cast(x, dtype), tf.float32))
