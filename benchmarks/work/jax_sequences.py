"""Programs whose sizes change from run to run, and sparse rows, on JAX: one compilation for each length."""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.problems import (
    ADAM,
    RATE,
    reading_parameters,
    readings,
    sparse_rows,
    translation_parameters,
    translations,
)
from benchmarks.work import Work


def _cell(p, name, x, state):
    c, h = state
    i, j, f, o = jnp.split(jnp.concatenate([x, h], 1) @ p[f"{name}_w"] + p[f"{name}_b"], 4, axis=1)
    c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
    return c, jax.nn.sigmoid(o) * jnp.tanh(c)


def _kept(done, old, new):
    return tuple(jnp.where(done[:, None], a, b) for a, b in zip(old, new))


def _encode(p, name, words, lengths):
    """Return the state behind each row's last word."""
    start = jnp.zeros((words.shape[1], p[f"{name}_b"].shape[0] // 4))

    def step(state, inputs):
        t, x = inputs
        return _kept(t >= lengths, state, _cell(p, name, x, state)), None

    return lax.scan(step, (start, start), (jnp.arange(len(words)), words))[0]


def _decode(p, first, lengths, steps):
    """Return the logits of all steps: each step is given the word that the one before found most likely."""

    def step(carry, t):
        x, state = carry
        new = _cell(p, "decoder", x, state)
        done = t >= lengths
        logits = jnp.where(done[:, None], 0.0, new[1]) @ p["weights"] + p["bias"]
        return (p["embeddings"][jnp.argmax(logits, 1)], _kept(done, state, new)), logits

    start = jnp.broadcast_to(p["embeddings"][1], (len(lengths), p["embeddings"].shape[1]))
    return lax.scan(step, (start, first), jnp.arange(steps))[1]


def _loss(p, given, lengths, wanted):
    words = p["embeddings"][given]
    at = jnp.arange(len(given))[:, None]
    back = jnp.take_along_axis(words, jnp.where(at < lengths, lengths - 1 - at, at)[:, :, None], 0)
    states = _encode(p, "forwards", words, lengths), _encode(p, "backwards", back, lengths)
    first = tuple(jnp.concatenate(pair, 1) for pair in zip(*states))
    logs = jax.nn.log_softmax(_decode(p, first, lengths + 3, len(wanted)))
    return -jnp.mean(jnp.take_along_axis(logs, wanted[:, :, None], 2))


def _reading_loss(p, x, y):
    start = jnp.zeros((len(x), p["out"].shape[0]))
    step = lambda state, now: (_cell(p, "reader", now, state), None)
    _, h = lax.scan(step, (start, start), jnp.swapaxes(x, 0, 1))[0]
    return jnp.mean((h @ p["out"] - y) ** 2)


@functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
def _step(model, state, *given):
    p, m, v, count = state
    loss, slopes = jax.value_and_grad(model)(p, *given)
    count += 1
    rate = ADAM["rate"] * jnp.sqrt(1 - ADAM["beta2"] ** count) / (1 - ADAM["beta1"] ** count)
    m = {k: x + (1 - ADAM["beta1"]) * (slopes[k] - x) for k, x in m.items()}
    v = {k: x + (1 - ADAM["beta2"]) * (slopes[k] ** 2 - x) for k, x in v.items()}
    p = {k: x - rate * m[k] / (jnp.sqrt(v[k]) + ADAM["epsilon"]) for k, x in p.items()}
    return loss, (p, m, v, count)


def _steps(model, parameters, feeds):
    """Return the work of a training step on each of some batches."""
    parameters = {k: jnp.asarray(x) for k, x in parameters.items()}
    zeros = [{k: jnp.zeros_like(x) for k, x in parameters.items()} for _ in range(2)]
    state, batches = [(parameters, *zeros, jnp.float32(0))], itertools.cycle(feeds)

    def once():
        loss, state[0] = _step(model, state[0], *next(batches))
        return float(loss)

    return Work(lambda: [once() for _ in feeds], len(feeds))


def encoder_decoder_batch():
    return _steps(_loss, translation_parameters(), translations())


def lstm_of_41_lengths():
    return _steps(_reading_loss, reading_parameters(), readings())


def embedding_rows():
    table, ids = map(jnp.asarray, sparse_rows())

    def step(table, ids):
        loss, rows = jax.value_and_grad(lambda rows: jnp.mean(rows**2))(table[ids])
        return loss, table.at[ids].add(-RATE * rows)

    step, held = jax.jit(step, donate_argnums=0), [table]

    def run():
        loss, held[0] = step(held[0], ids)
        return jax.block_until_ready(loss)

    return Work(run, parameters=lambda: {"table": np.asarray(held[0])})


WORKLOADS = {f.__name__: f for f in (encoder_decoder_batch, lstm_of_41_lengths, embedding_rows)}
