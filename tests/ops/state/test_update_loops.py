"""Optimizers' steps by machine code: the bits that NumPy's formulas give."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.loops import PAYS
from ebbflow.engines.native import late_code
from ebbflow.ops.state.update_loops import STEPS

NUMBERS = {"lr": 0.01, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-7, "beta1_power": 0.81, "beta2_power": 0.98}
CALLS = {
    "adam": lambda var, m, v, grad: tf.raw_ops.ResourceApplyAdam(
        var=var.handle, m=m.handle, v=v.handle, grad=grad, **NUMBERS
    ),
    "momentum": lambda var, m, v, grad: tf.raw_ops.ResourceApplyMomentum(
        var=var.handle, accum=m.handle, lr=0.1, grad=grad, momentum=0.9
    ),
    "gradient_descent": lambda var, m, v, grad: tf.raw_ops.ResourceApplyGradientDescent(
        var=var.handle, alpha=0.1, delta=grad
    ),
}


def states(name, shape, spent, monkeypatch):
    monkeypatch.setattr(STEPS[name][0], "spent", spent)
    random = np.random.default_rng(0)
    variables = [tf.Variable(random.uniform(0, 1, shape).astype(np.float32)) for _ in range(3)]
    for _ in range(3):
        CALLS[name](*variables, tf.constant(random.normal(size=shape).astype(np.float32)))
    return [v.numpy() for v in variables]


@pytest.mark.parametrize("shape", [(7,), (3, 5), (300_001,)])
@pytest.mark.parametrize("name", CALLS)
def test_steps_are_numpys(name, shape, monkeypatch):
    expected = states(name, shape, -(1 << 60), monkeypatch)
    states(name, shape, PAYS, monkeypatch)
    late_code.settle()
    assert STEPS[name][0].code() is not None or STEPS[name][1] > np.prod(shape)
    for found, wanted in zip(states(name, shape, PAYS, monkeypatch), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
