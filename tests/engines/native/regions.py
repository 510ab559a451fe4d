"""Regions for the native engine's tests: a function becomes a flow, runs node by node and as machine code."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import ebbflow as tf
from ebbflow.compiler.build import build
from ebbflow.compiler.flow import Flow
from ebbflow.engines.native.kernel import Kernel
from ebbflow.runtime.executor import needed_nodes
from ebbflow.runtime.programs import bind

NOBODY = SimpleNamespace(resources={})  # no session keeps anything
FLOATS = ("float32", "float64")
NUMBERS = (*FLOATS, "int32", "int64")


def region(fn, *arrays) -> Flow:
    """Return the flow of a function of arrays like these, just as it is written: no pass has seen it."""
    graph = tf.function(fn, autograph=False).get_concrete_function(*[tf.TensorSpec(a.shape, a.dtype) for a in arrays])
    graph = graph.graph
    nodes = needed_nodes(graph.outputs, {id(t) for t in graph.inputs})
    return build(nodes, graph.inputs, [a.shape for a in arrays], graph.outputs)


def by_numpy(flow: Flow, arrays) -> list[np.ndarray]:
    """Return what the ops' own kernels make of the arrays."""
    values = dict(zip(flow.inputs, arrays, strict=True))
    with np.errstate(all="ignore"):
        for node in flow.nodes:
            found = bind(node, NOBODY)(*[values[v] for v in node.inputs])
            found = found if isinstance(found, (tuple, list)) else [found]
            values.update(zip(node.outputs, found, strict=True))
    return [np.asarray(values[v], v.dtype.np) for v in flow.outputs]


def by_code(flow: Flow, arrays) -> list[np.ndarray]:
    """Return what machine code makes of the arrays; what it should not write to stays as it was."""
    outputs = [np.full(v.dims, 77, v.dtype.np) for v in flow.outputs]
    before = [a.copy() for a in arrays]
    assert Kernel(flow).call(*arrays, *outputs) is True
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)
    return outputs


def array(dims, dtype="float32", seed=0) -> np.ndarray:
    """Return an array of numbers that sums and products of stay small with."""
    rng = np.random.default_rng([seed, *dims])
    if np.dtype(dtype).kind == "b":
        return np.asarray(rng.random(dims) < 0.5)
    if np.dtype(dtype).kind == "f":
        return np.asarray(rng.normal(size=dims), dtype)
    return np.asarray(rng.integers(-5, 6, dims), dtype)


def special(dtype) -> np.ndarray:
    """Return the numbers at which arithmetic turns odd."""
    if dtype == "bool":
        return np.array([True, False])
    if np.dtype(dtype).kind != "f":
        ends = np.iinfo(dtype)
        return np.array([0, 1, -1, 2, 3, -7, 6, 7, 1000, ends.max, ends.min, ends.max - 1], dtype)
    ends = np.finfo(dtype)
    some = [0, 1, 0.5, 2.5, 1.5, 3.7, 6, 6.5, 1e-3, 1e-20, 88.0, 1e10, ends.tiny, ends.smallest_subnormal]
    some += [ends.tiny / 4, ends.max, np.inf, 1 - ends.epsneg, 1 + ends.eps]
    return np.array([*some, *[-s for s in some], np.nan], dtype)


def same(found, wanted, ulps=0, loose=0.0, zeros=True) -> None:
    """Check results: by bits (NaN is NaN), in units of the last place, or within a share of the largest number."""
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    if loose:
        scale = max(np.abs(wanted[np.isfinite(wanted)]).max(initial=0), 1e-30)
        np.testing.assert_allclose(found, wanted, rtol=loose, atol=loose * scale)
        return
    if wanted.dtype.kind != "f":
        np.testing.assert_array_equal(found, wanted)
        return
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    there = ~np.isnan(wanted)
    a, b = found[there], wanted[there]
    if ulps:
        np.testing.assert_array_equal(np.isinf(a), np.isinf(b))
        with np.errstate(all="ignore"):
            off = np.where(a == b, 0, np.abs(a - b) / np.spacing(np.maximum(np.abs(b), np.finfo(b.dtype).tiny)))
        worst = int(np.argmax(off)) if off.size else 0
        assert not off.size or off[worst] <= ulps, f"{a[worst]!r} for {b[worst]!r}: {off[worst]} ulp"
        return
    np.testing.assert_array_equal(a, b)
    if zeros:
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))
