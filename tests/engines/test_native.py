"""Machine code against the ops' own kernels: every row, odd numbers, odd shapes, and what the code refuses."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import ebbflow as tf
from ebbflow.core.op import registry
from ebbflow.engines.native import elementwise
from ebbflow.ops.declare import raw
from tests.engines.native_regions import FLOATS, array, by_code, by_numpy, region, same, special

# --- element-wise rows ------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "Exp": 3, "Expm1": 4, "Log": 3, "Log1p": 4, "Tanh": 4, "Sigmoid": 4, "Softplus": 4, "Erf": 6, "Erfc": 8, "Sin": 4,
    "Cos": 4, "Pow": 4,
}  # fmt: skip
"""Units of the last place by which a function may differ: ours is a few off, NumPy's and C's may be too."""

SIGNLESS_ZERO = {"Maximum", "Minimum", "Relu", "Relu6", "LeakyRelu"}
"""Which zero is the larger NumPy decides differently for long and for short arrays."""

ALIKE = ("Grad", "AddN", "BiasAdd", "SelectV2")
"""Ops (by how their names end) whose inputs must be of one shape."""

ELEMENTWISE = sorted({*elementwise.ROWS, *elementwise.FLOATS} - {"BiasAdd"})


def calls(names, dtype):
    """Return a function of x and y (all pairs of special values) that computes each op, and what it takes."""
    values = special(dtype)
    x, y = (np.ascontiguousarray(a).reshape(-1) for a in np.meshgrid(values, values, indexing="ij"))

    def compute(x, y, one, other, choice):
        found = []
        for name in names:
            count = len(registry[name].signature.inputs)
            if name == "AddN":
                found.append(raw.AddN(inputs=[x, y, x]))
            elif name == "SelectV2":
                found += [tf.where(choice, x, y), tf.where(choice, x, other[0, 1])]
            elif count == 1:
                found.append(getattr(raw, name)(x))
            else:
                found.append(getattr(raw, name)(x, y))
                if not name.endswith(ALIKE):
                    found += [getattr(raw, name)(one, other), getattr(raw, name)(one, other[0, 3 % len(values)])]
        return found

    return compute, [x, y, values[:, None], values[None], array(x.shape, "bool")]


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "int64", "bool"])
def test_arithmetic_is_the_same_to_the_last_bit(dtype):
    kind = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "bool"}[dtype]
    names = [n for n in ELEMENTWISE if n not in FUNCTIONS and elementwise.row(n, {}, [kind] * 3) is not None]
    fn, arrays = calls(names, dtype)
    flow = region(fn, *arrays)
    assert {n.op.name for n in flow.nodes} >= set(names)
    compare(flow, arrays)


def compare(flow, arrays, ulps=FUNCTIONS):
    """Check each result of a region; its error names the op it comes from."""
    for value, found, wanted in zip(flow.outputs, by_code(flow, arrays), by_numpy(flow, arrays), strict=True):
        name = made_by(value)
        try:
            same(found, wanted, ulps.get(name, 0), zeros=name not in SIGNLESS_ZERO)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


def made_by(value):
    """Return the op whose result a function returns: there is an Identity behind it."""
    while value.node is not None and value.node.op.name == "Identity":
        value = value.node.inputs[0]
    return value.node.op.name if value.node is not None else "argument"


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_are_right_to_a_few_units(dtype):
    fn, arrays = calls(FUNCTIONS, dtype)
    compare(region(fn, *arrays), arrays)


@pytest.mark.parametrize("dtype", FLOATS)
def test_leaky_relu(dtype):
    x, g = special(dtype), special(dtype)[::-1].copy()
    alphas = [0.2, 0.0, 1.0, 1.5, -0.5]

    def fn(x, g):
        return [raw.LeakyRelu(x, alpha=a) for a in alphas] + [raw.LeakyReluGrad(g, x, alpha=a) for a in alphas]

    compare(region(fn, x, g), [x, g], {})
