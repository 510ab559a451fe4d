"""The ways to run a function of arrays: eagerly, as a TF 1 graph, as a tf.function, compiled by XLA; and its slopes."""

from __future__ import annotations

import numpy as np

import ebbflow as tf

v1 = tf.compat.v1
MODES = ("eager", "graph", "function", "xla")


def run(mode, f, *arrays):
    """Return the results of a function of tensors, as arrays in its structure; the last of two runs."""
    if mode == "eager":
        return tf.nest.map_structure(_array, f(*[tf.constant(a) for a in arrays]))
    if mode == "graph":
        with tf.Graph().as_default(), v1.Session() as session:
            xs = [v1.placeholder(np.asarray(a).dtype, np.shape(a)) for a in arrays]
            ys = f(*xs)
            for _ in range(2):  # the second time by a Program
                found = session.run(ys, dict(zip(xs, arrays, strict=True)))
        return found
    compiled = tf.function(f, autograph=False, jit_compile=mode == "xla" or None)
    for _ in range(2):
        found = compiled(*[tf.constant(a) for a in arrays])
    return tf.nest.map_structure(_array, found)


def _array(result):
    return result.numpy() if hasattr(result, "numpy") else result


def derived(f):
    """Return a function that gives the gradients of the sum of a function's (float) results, by each argument."""

    def gradient(*xs):
        if tf.executing_eagerly():
            with tf.GradientTape() as tape:
                tape.watch(list(xs))
                total = _total(f(*xs))
            found = tape.gradient(total, list(xs))
        else:
            found = tf.gradients(_total(f(*xs)), list(xs))
        return [tf.zeros_like(x) if g is None else tf.convert_to_tensor(g) for g, x in zip(found, xs, strict=True)]

    return gradient


def _total(results):
    flat = [y for y in tf.nest.flatten(results) if y.dtype.is_floating]
    return tf.add_n([tf.reduce_sum(y * tf.cast(i + 1, y.dtype)) for i, y in enumerate(flat)])


def slopes(f, arrays, step=1e-6):
    """Return the gradients of the sum of a function's results by finite differences; arguments are float64."""
    found = []
    for number, array in enumerate(arrays):
        gradient = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = [np.array(a) for a in arrays]
                moved[number][place] += sign * step
                ends.append(float(_total(f(*[tf.constant(a) for a in moved]))))
            gradient[place] = (ends[0] - ends[1]) / (2 * step)
        found.append(gradient)
    return found


def check_gradients(mode, f, *arrays):
    """Check first and second gradients against finite differences."""
    once, twice = derived(f), derived(derived(f))
    for name, gradient, function in (("first", once, f), ("second", twice, once)):
        wanted = slopes(function, arrays)
        for mine, theirs in zip(run(mode, gradient, *arrays), wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6, err_msg=name)
