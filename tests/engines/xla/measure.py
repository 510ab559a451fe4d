"""How long calls, loops and clusters take: `python -m tests.engines.xla.measure`. Asserts nothing."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import ebbflow as tf
from ebbflow.engines.xla import executable, library
from ebbflow.engines.xla.refusal import needed

v1 = tf.compat.v1


def best(function: Any, seconds: float = 0.4) -> float:
    """Return the least time of a call, in microseconds."""
    function()
    end, least = time.perf_counter() + seconds, float("inf")
    while time.perf_counter() < end:
        start = time.perf_counter()
        function()
        least = min(least, time.perf_counter() - start)
    return least * 1e6


def aligned(*shape: int) -> np.ndarray:
    count = int(np.prod(shape)) * 4
    room = np.empty(count + 64, np.uint8)
    start = -room.ctypes.data % 64
    array = room[start : start + count].view(np.float32).reshape(shape)
    array[...] = np.random.default_rng(0).standard_normal(shape)
    return array


def compiled(function: Any, feeds: list[np.ndarray]) -> tuple[Any, float]:
    """Return the executable of a function of placeholders, and the seconds it took to compile."""
    with tf.Graph().as_default():
        inputs = [v1.placeholder(a.dtype, a.shape) for a in feeds]
        outputs = function(*inputs)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    region = executable.Region(inputs, needed(outputs, inputs), outputs)
    start = time.perf_counter()
    return executable.compile(region), time.perf_counter() - start


def normalised(x: Any) -> Any:
    mean = tf.reduce_mean(x, -1, keepdims=True)
    y = (x - mean) * tf.math.rsqrt(tf.reduce_mean(tf.square(x - mean), -1, keepdims=True) + 1e-5)
    y = 0.5 * y * (1.0 + tf.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))
    return [y, *tf.gradients(tf.reduce_sum(y * y), [x])]


def entropy(x: Any, labels: Any) -> Any:
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x))
    return [loss, *tf.gradients(loss, [x])]


def looped(x: Any) -> Any:
    return tf.while_loop(lambda i, a: i < 1000, lambda i, a: (i + 1, a * 1.0001 + 0.5), (tf.constant(0), x))[1]


def convolved(x: Any, f: Any) -> Any:
    y = tf.nn.relu(tf.nn.conv2d(x, f, 1, "SAME"))
    return [y, *tf.gradients(tf.reduce_sum(y), [x, f])]


def main() -> None:
    library.jax()
    small, big = aligned(4), aligned(1 << 22)
    rows, images, filters = aligned(2048, 1024), aligned(32, 56, 56, 64), aligned(3, 3, 64, 64)
    labels = np.arange(1024, dtype=np.int32)
    table = [
        ("call, 1 array in, 1 out", lambda x: x + 1, [small]),
        ("call, 3 in, 1 out", lambda x, y, z: x + y * z, [small] * 3),
        ("call, 10 in, 10 out", lambda *xs: [x + 1 for x in xs], [small.copy() for _ in range(10)]),
        ("call, 64-bit", lambda x: x + 1, [np.ones(4)]),
        ("16 MB in, 16 bytes out", lambda x: x[:4] + 1, [big]),
        ("(x + y) * z, 4M floats", lambda x, y, z: (x + y) * z, [big, big.copy(), big.copy()]),
        ("loop of 1000 turns", looped, [np.float32(1)]),
        ("layer norm, gelu, forth and back", normalised, [rows]),
        ("softmax cross entropy 1024 x 32000", entropy, [aligned(1024, 32000), labels]),
        ("conv 3x3, 32x56x56x64, forth and back", convolved, [images, filters]),
    ]
    for name, function, feeds in table:
        run, seconds = compiled(function, feeds)
        print(f"{name:40} {best(lambda run=run, feeds=feeds: run(*feeds)):10.1f} µs   compiled in {seconds:5.2f} s")


if __name__ == "__main__":
    main()
