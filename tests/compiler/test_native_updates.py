"""Updates of many variables in one region: written once for all that are alike, with the answers of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines.native import kernel
from tests.compiler.native_runs import both_ways
from tests.engines.native.regions import array, region

train = tf.compat.v1.train
SHAPES = [(300, 500), (), (7,), (0, 4), (500, 1), (1,), (2, 3, 5), (256, 700)]
RULES = {
    "sgd": lambda: train.GradientDescentOptimizer(0.1),
    "momentum": lambda: train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: train.AdamOptimizer(0.1),
    "rmsprop": lambda: train.RMSPropOptimizer(0.1),
}


def numbers(shape, seed):
    return np.random.default_rng([seed, len(shape)]).normal(size=shape).astype(np.float32)


def stepped(rule, times=3):
    """Return a run of some steps: gradients are given, computed in the region, or one number for all elements."""
    variables = [tf.Variable(numbers(shape, 0)) for shape in SHAPES]
    optimizer = RULES[rule]()

    @tf.function
    def step(*given):
        grads = [g if i % 3 == 0 else g * 2.0 - v if i % 3 == 1 else tf.zeros_like(v) + 0.5 for i, (g, v) in
                 enumerate(zip(given, variables, strict=True))]  # fmt: skip
        optimizer.apply_gradients(zip(grads, variables, strict=True))
        return tf.add_n([tf.reduce_sum(v) for v in variables])

    given = [tf.constant(numbers(shape, 1)) for shape in SHAPES]
    for _ in range(times):
        step(*given)
    slots = [optimizer.get_slot(v, name) for v in variables for name in optimizer.get_slot_names()]
    return [v.numpy() for v in (*variables, *slots)]


@pytest.mark.parametrize("rule", RULES)
def test_variables_of_all_shapes_are_updated_as_by_numpy(monkeypatch, made, rule):
    by_code, by_numpy = both_ways(monkeypatch, made, lambda: stepped(rule))
    for found, wanted in zip(by_code, by_numpy, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_updates_that_are_alike_are_written_once(made):
    stepped("adam")
    text = max((m.kernel.text for m in made if m.kernel is not None), key=len)
    assert text.count("call void @alike") >= 6
    assert text.count("define internal void @alike") < text.count("call void @alike")


def test_a_function_takes_no_array_that_it_does_not_touch(made):
    stepped("adam")
    text = max((m.kernel.text for m in made if m.kernel is not None), key=len)
    heads = [line for line in text.splitlines() if line.startswith("define internal void @work")]
    assert heads and all(head.count("ptr noalias") < 12 for head in heads)


@pytest.mark.parametrize("several", [1, kernel.SEVERAL, 1000])
def test_arrays_are_looked_at_the_same_by_one_function_and_one_by_one(monkeypatch, several):
    monkeypatch.setattr(kernel, "SEVERAL", several)
    x, y = array((3, 4)), array((4,), "int32")
    call = kernel.Kernel(region(lambda x, y: x * tf.cast(y, tf.float32), x, y)).call
    out = np.zeros((3, 4), np.float32)
    assert call(x, y, out) is True
    np.testing.assert_array_equal(out, x * y.astype("f"))
    fixed = np.zeros((3, 4), np.float32)
    fixed.flags.writeable = False
    refused = [
        (x.T.copy(), y, out), (x.reshape(12), y, out), (x[:2], y, out), (x.astype("f8"), y, out), (x, y[:3], out),
        (x, y.astype("i8"), out), (np.asfortranarray(x), y, out), (x, y, fixed), (x, 3, out), (None, y, out),
        (x[None], y, out),
    ]  # fmt: skip
    for given in refused:
        out[...] = 7
        assert call(*given) is False and (out == 7).all()
