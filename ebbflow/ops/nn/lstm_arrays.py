"""The arithmetic of LSTM layers on arrays: one step, or all steps of a sequence, forwards and backwards.

The four gates of a step stand side by side in one matrix, in the order the weights have them ("icfo" or "ifco": input
gate, new input, forget gate, output gate). What does not depend on the step before is one matrix product for the whole
sequence. Arrays in, arrays out; of ops it knows the matrix product, whose engine has the threads for large ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ebbflow.core.registry import registry
from ebbflow.ops.sizes import invalid

WAKES = 1 << 18
"""Multiplications from which on NumPy's BLAS would wake threads of its own, which then spin beside the engines'."""


class Layer(NamedTuple):
    """What all steps share: weights, peepholes (None where the gates do not see the memory), and how it is done."""

    w: Any
    b: Any
    peepholes: tuple[Any, Any, Any] | None
    forget_bias: float
    clip: float
    order: str

    def columns(self) -> dict[str, slice]:
        """Return where each gate's columns stand in a matrix of all gates."""
        units = self.w.shape[1] // 4
        return {gate: slice(at * units, (at + 1) * units) for at, gate in enumerate(self.order)}


def sigmoid(xp: Any, x: Any) -> Any:
    """Return 1 / (1 + exp(-x)), which is half a tanh."""
    half = x.dtype.type(0.5)
    return half * xp.tanh(half * x) + half


def steps_taken(seq_len_max: Any, length: int) -> int:
    """Return how many steps of a sequence are taken."""
    count = int(seq_len_max)
    if not 0 <= count <= length:
        raise invalid(f"seq_len_max = {count} is not in [0, {length}], the steps that there are")
    return count


def product(xp: Any, a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Return the product of two matrices: by the op, where it is large, so that one set of threads serves all."""
    if xp is np and a.size * b.shape[0 if transpose_b else 1] > WAKES:
        attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
        return registry["MatMul"].run([np.ascontiguousarray(a), np.ascontiguousarray(b)], attrs)
    return (a.T if transpose_a else a) @ (b.T if transpose_b else b)


# --- one step ---------------------------------------------------------------------------------------------------------


def step(xp: Any, x: Any, cs_prev: Any, h_prev: Any, layer: Layer) -> tuple[Any, ...]:
    """Return i, cs, f, o, ci, co, h of one step."""
    z = product(xp, xp.concatenate([x, h_prev], 1), layer.w) + layer.b
    number, at = z.dtype.type, layer.columns()
    zi, zc, zf, zo = (z[:, at[gate]] for gate in "icfo")
    if layer.peepholes is not None:
        zi, zf = zi + layer.peepholes[0] * cs_prev, zf + layer.peepholes[1] * cs_prev
    i, ci, f = sigmoid(xp, zi), xp.tanh(zc), sigmoid(xp, zf + number(layer.forget_bias))
    cs = ci * i + f * cs_prev
    if layer.clip > 0:
        cs = xp.clip(cs, number(-layer.clip), number(layer.clip))
    o = sigmoid(xp, zo if layer.peepholes is None else zo + layer.peepholes[2] * cs)
    co = xp.tanh(cs)
    return i, cs, f, o, ci, co, o * co


def step_back(
    xp: Any, cs_prev: Any, kept: tuple[Any, ...], cs_grad: Any, h_grad: Any, layer: Layer
) -> tuple[Any, Any, Any]:
    """Return the gradients of the memory before, of all gates' inputs, and of the peepholes, of one step.

    `kept` is what the step gave: i, cs, f, o, ci, co. Where the memory was clipped the gradient passes unhindered, as
    TensorFlow lets it.
    """
    i, cs, f, o, ci, co = kept
    do = h_grad * co * o * (1 - o)
    dcs = h_grad * o * (1 - co * co) + cs_grad
    if layer.peepholes is not None:
        dcs = dcs + do * layer.peepholes[2]
    dci, df, di = dcs * i * (1 - ci * ci), dcs * cs_prev * f * (1 - f), dcs * ci * i * (1 - i)
    cs_prev_grad = dcs * f
    peep_grads = None
    if layer.peepholes is not None:
        cs_prev_grad = cs_prev_grad + di * layer.peepholes[0] + df * layer.peepholes[1]
        peep_grads = (di * cs_prev).sum(0), (df * cs_prev).sum(0), (do * cs).sum(0)
    gates = {"i": di, "c": dci, "f": df, "o": do}
    return cs_prev_grad, xp.concatenate([gates[gate] for gate in layer.order], 1), peep_grads


# --- all steps, one by one --------------------------------------------------------------------------------------------


def steps(xp: Any, x: Any, cs_prev: Any, h_prev: Any, layer: Layer, count: int) -> list[Any]:
    """Return i, cs, f, o, ci, co, h of all steps; those behind the first `count` are zero."""
    found = []
    for t in range(count):
        found.append(step(xp, x[t], cs_prev, h_prev, layer))
        cs_prev, h_prev = found[-1][1], found[-1][6]
    rest = [xp.zeros_like(cs_prev)] * (x.shape[0] - count)
    if not found:
        return [xp.zeros((x.shape[0], *cs_prev.shape), x.dtype)] * 7
    return [xp.stack([*each, *rest]) for each in zip(*found, strict=True)]


def steps_back(
    xp: Any,
    x: Any,
    first: tuple[Any, Any],
    kept: tuple[Any, ...],
    cs_grad: Any,
    h_grad: Any,
    layer: Layer,
    count: int,
) -> tuple[Any, ...]:
    """Return the gradients of x, cs_prev, h_prev, w, the three peepholes, and b.

    `first` is the state before the first step, `kept` what `steps` gave.
    """
    *gates, h = kept
    depth = x.shape[2]
    dcs, dh = xp.zeros_like(first[0]), xp.zeros_like(first[1])
    peeps: Any = [xp.zeros(layer.w.shape[1] // 4, x.dtype)] * 3
    dz = [xp.zeros((x.shape[1], layer.w.shape[1]), x.dtype)] * x.shape[0]
    for t in reversed(range(count)):
        before = gates[1][t - 1] if t else first[0]
        dcs, dz[t], more = step_back(xp, before, tuple(g[t] for g in gates), cs_grad[t] + dcs, h_grad[t] + dh, layer)
        dh = product(xp, dz[t], layer.w[depth:], transpose_b=True)
        peeps = peeps if more is None else [a + b for a, b in zip(peeps, more, strict=True)]
    all_dz = xp.stack(dz) if dz else xp.zeros((0, x.shape[1], layer.w.shape[1]), x.dtype)
    dx, dw, db = weight_gradients(xp, x, first[1], h, all_dz, layer)
    return dx, dcs, dh, dw, *peeps, db


def weight_gradients(xp: Any, x: Any, h_first: Any, h: Any, dz: Any, layer: Layer) -> tuple[Any, Any, Any]:
    """Return the gradients of x, w and b from those of all gates' inputs, in a product each for all steps."""
    length, batch, depth = x.shape
    flat = dz.reshape(length * batch, -1)
    before = xp.concatenate([h_first[None], h[:-1]]) if length else h
    dx = product(xp, flat, layer.w[:depth], transpose_b=True).reshape(x.shape)
    dw = [product(xp, v.reshape(length * batch, v.shape[2]), flat, transpose_a=True) for v in (x, before)]
    return dx, xp.concatenate(dw), flat.sum(0)


# --- all steps, quickly -----------------------------------------------------------------------------------------------


def forwards(
    x: np.ndarray, cs_prev: np.ndarray, h_prev: np.ndarray, layer: Layer, count: int
) -> tuple[np.ndarray, ...]:
    """Return what `steps` does, for a layer without peepholes, in place.

    A sigmoid is half a tanh of half its argument: with the halves in the weights, one tanh serves all four gates. The
    gates given back are views of one array.
    """
    (length, batch, depth), (_, width), dtype = x.shape, layer.w.shape, layer.w.dtype
    units, at = width // 4, layer.columns()
    half, rest = np.full(width, 0.5, dtype), np.full(width, 0.5, dtype)
    half[at["c"]], rest[at["c"]] = 1, 0
    shift = layer.b * half
    shift[at["f"]] += dtype.type(0.5 * layer.forget_bias)
    wx, wh = layer.w[:depth] * half, layer.w[depth:] * half
    gates = np.empty((length, batch, width), dtype)
    gates[:count] = product(np, x[:count].reshape(count * batch, depth), wx).reshape(count, batch, width)
    cs, co, h = (np.empty((length, batch, units), dtype) for _ in range(3))
    kept = np.empty((batch, units), dtype)
    for t in range(count):
        z, memory = gates[t], cs[t]
        z += product(np, h_prev, wh)
        z += shift
        np.tanh(z, out=z)
        z *= half
        z += rest
        np.multiply(z[:, at["c"]], z[:, at["i"]], out=memory)
        np.multiply(z[:, at["f"]], cs_prev, out=kept)
        memory += kept
        if layer.clip > 0:
            np.clip(memory, -layer.clip, layer.clip, out=memory)
        np.tanh(memory, out=co[t])
        np.multiply(z[:, at["o"]], co[t], out=h[t])
        cs_prev, h_prev = memory, h[t]
    for whole in (gates, cs, co, h):
        whole[count:] = 0
    return gates[..., at["i"]], cs, gates[..., at["f"]], gates[..., at["o"]], gates[..., at["c"]], co, h


def backwards(
    x: np.ndarray,
    first: tuple[np.ndarray, np.ndarray],
    kept: tuple[np.ndarray, ...],
    cs_grad: np.ndarray,
    h_grad: np.ndarray,
    layer: Layer,
    count: int,
) -> tuple[np.ndarray, ...]:
    """Return what `steps_back` does, for a layer without peepholes, in place.

    What a step needs stays in the cache: slopes for all steps at once took twice as long.
    """
    cs, h = kept[1], kept[6]
    (length, batch, depth), (_, width), dtype = x.shape, layer.w.shape, layer.w.dtype
    units = width // 4
    back = np.ascontiguousarray(layer.w[depth:].T)
    dz = np.empty((length, batch, width), dtype)
    dh, carry = np.zeros((batch, units), dtype), np.zeros((batch, units), dtype)
    room = tuple(np.empty((batch, units), dtype) for _ in range(3))
    into = [dz[:, :, columns] for columns in map(layer.columns().get, "icfo")]
    for t in reversed(range(count)):
        dh += h_grad[t]
        gates = [kept[k][t] for k in (0, 2, 3, 4, 5)]
        _step_back(gates, cs[t - 1] if t else first[0], cs_grad[t], dh, carry, [gate[t] for gate in into], room)
        dh[...] = product(np, dz[t], back)
    dz[count:] = 0
    dx, dw, db = weight_gradients(np, x, first[1], h, dz, layer)
    return dx, carry, dh, dw, *[np.zeros(units, dtype) for _ in range(3)], db


def _step_back(
    gates: list[np.ndarray],
    before: np.ndarray,
    cs_grad: np.ndarray,
    dh: np.ndarray,
    carry: np.ndarray,
    into: list[np.ndarray],
    room: tuple[np.ndarray, ...],
) -> None:
    """Write the gradients of the gates' inputs of one step, and into `carry` that of the memory before it."""
    (i, f, o, ci, co), (di, dci, df, do), (s, dcs, taken) = gates, into, room
    multiply, subtract = np.multiply, np.subtract
    multiply(co, co, s)
    multiply(s, o, s)
    subtract(o, s, s)
    multiply(dh, s, dcs)  # through the output: dh·o·(1 - co²)
    dcs += cs_grad
    dcs += carry
    multiply(o, o, s)
    subtract(o, s, s)
    s *= co
    multiply(s, dh, do)
    multiply(f, f, s)
    subtract(f, s, s)
    s *= before
    multiply(s, dcs, df)
    multiply(dcs, f, carry)
    multiply(dcs, i, taken)
    multiply(ci, ci, s)
    s *= taken
    subtract(taken, s, dci)
    taken *= ci
    multiply(taken, i, s)
    subtract(taken, s, di)
