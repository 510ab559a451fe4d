"""Random regions of the native engine's ops, over arrays of odd shapes, against the ops' own kernels."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import kernel as kernels
from tests.engines.native.regions import array, by_code, by_numpy, region

LENGTHS = (1, 1, 2, 3, 5, 8, 17)


def small(x):
    return tf.tanh(x)


def any_slice(rng, x):
    items = []
    for n in x.shape:
        step = rng.choice([1, 1, 2, -1, -2])
        ends = sorted(rng.choices(range(n + 1), k=2))
        items.append(rng.choice([slice(None, None, step), slice(*ends) if ends[0] < ends[1] else slice(None), n - 1]))
    return x[tuple(items)] if items else x


def any_reshape(rng, x):
    size = x.shape.num_elements()
    first = rng.choice([d for d in range(1, size + 1) if size % d == 0])
    return tf.reshape(x, rng.choice([[-1], [first, -1], [first, 1, -1], [1, size, 1]]))


def any_transpose(rng, x):
    return tf.transpose(x, rng.sample(range(len(x.shape)), len(x.shape)))


def any_fold(rng, x):
    fold = rng.choice([tf.reduce_sum, tf.reduce_max, tf.reduce_mean, tf.reduce_min])
    axes = rng.sample(range(len(x.shape)), rng.randint(0, len(x.shape)))
    return small(fold(x, axes, keepdims=rng.random() < 0.5))


def along(make):
    """Return a choice that wants an axis: of an array without any, it is left out."""
    return lambda rng, x: make(rng, x, rng.randrange(len(x.shape))) if len(x.shape) else small(x)


def any_pad(rng, x):
    pads = [[rng.randint(0, 2), rng.randint(0, 2)] for _ in x.shape]
    return tf.pad(x, pads) if pads else x


def halves(rng, x, axis):
    n = x.shape[axis]
    parts = tf.split(x, [n // 2, n - n // 2], axis)
    return tf.concat(parts[::-1] if rng.random() < 0.5 else [parts[1], x, parts[0]], axis)


ONE = [
    lambda rng, x: small(x), lambda rng, x: -x, lambda rng, x: tf.square(x) * 0.5, lambda rng, x: tf.abs(x) + 0.25,
    lambda rng, x: tf.expand_dims(x, rng.randint(0, len(x.shape))), lambda rng, x: tf.squeeze(x),
    lambda rng, x: tf.where(x > 0.0, x, tf.exp(-tf.abs(x))), lambda rng, x: tf.nn.softmax(x) if len(x.shape) else x,
    lambda rng, x: tf.tile(x, [rng.randint(1, 2) for _ in x.shape]), lambda rng, x: tf.stack([x, x * 2.0], 0),
    lambda rng, x: tf.sigmoid(x) * x, lambda rng, x: tf.nn.relu(x) - 0.5,
    lambda rng, x: tf.linalg.band_part(x, 1, -1) if len(x.shape) > 1 else x,
    lambda rng, x: tf.linalg.diag_part(x) if len(x.shape) > 1 else x,
    any_slice, any_slice, any_reshape, any_reshape, any_transpose, any_transpose, any_fold, any_fold, any_pad,
    along(lambda rng, x, axis: tf.reverse(x, [axis])), along(halves),
    along(lambda rng, x, axis: small(tf.cumsum(x, axis, rng.random() < 0.5, rng.random() < 0.5))),
    along(lambda rng, x, axis: tf.cast(tf.argmax(x, axis), x.dtype)),
    along(lambda rng, x, axis: tf.unstack(x, axis=axis)[0]),
    along(lambda rng, x, axis: tf.gather(x, [0, x.shape[axis] - 1], axis=axis)),
]  # fmt: skip
TWO = [tf.add, tf.subtract, tf.multiply, tf.maximum, tf.math.squared_difference, lambda x, y: tf.where(x > y, x, y)]


def combined(rng, x, y):
    try:
        tf.broadcast_static_shape(x.shape, y.shape)
        return rng.choice(TWO)(x, y)
    except ValueError:
        pass
    a, b = (tf.reshape(v, [-1, v.shape[-1] if len(v.shape) else 1]) for v in (x, y))
    return small(tf.matmul(a, b, transpose_b=True) if a.shape[1] == b.shape[1] else tf.matmul(a[:, :1], b[:1]))


def random_function(rng, nodes):
    def fn(*given):
        values = list(given)
        for _ in range(nodes):
            x = rng.choice(values[-6:])
            made = rng.choice(ONE)(rng, x) if rng.random() < 0.6 else combined(rng, x, rng.choice(values))
            if 0 < made.shape.num_elements() <= 2000:
                values.append(made)
        return rng.sample(values, min(len(values), 5)) + values[-2:]

    return fn


@pytest.mark.parametrize("seed", range(40))
def test_random_regions(seed):
    rng = random.Random(seed)
    shapes = [tuple(rng.choices(LENGTHS, k=rng.randint(0, 3))) for _ in range(3)]
    arrays = [array(dims, "float64", seed + i) for i, dims in enumerate(shapes)]
    flow = region(random_function(rng, 14), *arrays)
    for found, wanted in zip(by_code(flow, arrays), by_numpy(flow, arrays), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_long_work_lets_others_run():
    """Work of some weight gives Python's lock away, and so has memory of its own in every run."""

    def fn(x, y):
        z = tf.nn.softmax(tf.matmul(tf.tanh(x), y))
        return [tf.matmul(z, y, transpose_b=True), tf.reduce_sum(z * x, 0)]

    arrays = [array((64, 64)), array((64, 64), seed=1)]
    flow = region(fn, *arrays)
    kernel = kernels.Kernel(flow)
    assert kernel.work >= kernels.LONG
    wanted = {k: by_numpy(flow, [arrays[0] * k, arrays[1]]) for k in (1.0, 2.0)}
    wrong = []

    def work(k):
        given = [np.float32(k) * arrays[0], arrays[1]]
        for _ in range(50):
            found = [np.empty(v.dims, np.float32) for v in flow.outputs]
            if not kernel.call(*given, *found):
                wrong.append("refused")
            wrong.extend(k for a, b in zip(found, wanted[k], strict=True) if not np.allclose(a, b, 1e-4, 1e-4))

    threads = [threading.Thread(target=work, args=[k]) for k in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
