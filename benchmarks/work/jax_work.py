"""The problems on JAX: compiled by `jax.jit`, state given up to the next step; and ops one by one."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.problems import ADAM, PROBLEMS, RATE, TRACED_OPS, million, two_product_cell
from benchmarks.work import Work, jax_sequences, keras_work
from benchmarks.work.jax_models import MODELS, lstm_cell, two_layer_net

VERSION = jax.__version__


def configure(threads: int) -> None:
    """Leave the threads to the processor mask: XLA takes one per core that it may use."""


def forms(name: str) -> list[str]:
    return ["jit"]


def build(name: str, form: str, tiny: bool = False) -> Work:
    """Return the problem, ready to run."""
    problem = PROBLEMS[name]
    parameters, inputs = problem.arrays(tiny)
    if name == "two_layer_net":
        return _net(inputs)
    parameters, inputs = ({k: jnp.asarray(x) for k, x in arrays.items()} for arrays in (parameters, inputs))
    if problem.kind == "call":
        return _call(MODELS[name], inputs)
    if problem.kind == "fed_back":
        return _fed_back(MODELS[name], inputs)
    if problem.kind == "gradients":
        function = jax.jit(jax.value_and_grad(MODELS[name]))
        return Work(
            lambda: jax.block_until_ready(function(parameters, **inputs)),
            results=lambda raw: [raw[0], *[raw[1][key] for key in parameters]],
        )
    return _step(MODELS[name], parameters, inputs, problem.kind)


def _call(model, inputs):
    function, values = jax.jit(functools.partial(model, {})), list(inputs.values())
    if len(values) == 1:
        (x,) = values
        return Work(lambda: function(x).block_until_ready())
    return Work(lambda: jax.block_until_ready(function(*values)))


def _fed_back(model, inputs):
    function = jax.jit(functools.partial(model, {}), donate_argnums=0)
    first, *others = inputs.values()
    held = [jnp.array(first)]

    def run():
        held[0] = function(held[0], *others)
        return held[0].block_until_ready()

    return Work(run)


def _sgd(p, gradient, state):
    return p - RATE * gradient, state


def _adam(p, gradient, state, rate):
    m, v = state
    m += (1 - ADAM["beta1"]) * (gradient - m)
    v += (1 - ADAM["beta2"]) * (gradient * gradient - v)
    return p - rate * m / (jnp.sqrt(v) + ADAM["epsilon"]), (m, v)


def _step(model, parameters, inputs, kind):
    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, inputs):
        parameters, slots, count = state
        loss, gradients = jax.value_and_grad(model)(parameters, **inputs)
        count += 1
        rule = _sgd
        if kind == "adam":
            rate = ADAM["rate"] * jnp.sqrt(1 - ADAM["beta2"] ** count) / (1 - ADAM["beta1"] ** count)
            rule = functools.partial(_adam, rate=rate)
        moved = {key: rule(p, gradients[key], slots[key]) for key, p in parameters.items()}
        return loss, ({k: p for k, (p, _) in moved.items()}, {k: s for k, (_, s) in moved.items()}, count)

    slots = {k: (jnp.zeros_like(p), jnp.zeros_like(p)) if kind == "adam" else () for k, p in parameters.items()}
    state = [(parameters, slots, jnp.float32(0))]

    def run():
        loss, state[0] = step(state[0], inputs)
        jax.block_until_ready(state[0])
        return loss

    return Work(run, parameters=lambda: {k: np.asarray(p) for k, p in state[0][0].items()})


def _net(inputs):
    function = jax.jit(jax.value_and_grad(two_layer_net))
    x, y, w1, w2 = inputs.values()

    def run():
        loss, (g1, g2) = function((w1, w2), x, y)
        return [np.asarray(loss), np.asarray(g1), np.asarray(g2)]

    return Work(run)


def _square(seed):
    return jnp.asarray(np.random.RandomState(seed).randn(10, 10).astype(np.float32))


def eager_add_10x10():
    a, b = _square(0), _square(1)
    return Work(lambda: (a + b).block_until_ready())


def eager_tanh_10x10():
    a = _square(0)
    return Work(lambda: jnp.tanh(a).block_until_ready())


def eager_matmul_10x10():
    a, b = _square(0), _square(1)
    return Work(lambda: jnp.matmul(a, b).block_until_ready())


def eager_lstm_cell_10x10():
    x, h, c = _square(0), _square(1), _square(2)
    w = jnp.asarray(np.random.RandomState(3).randn(20, 40).astype(np.float32))
    return Work(lambda: jax.block_until_ready(lstm_cell({}, x, h, c, w)))


def eager_tanh_million():
    x, y, z = map(jnp.asarray, million())
    return Work(lambda: jnp.tanh((x + y) * z).block_until_ready())


def eager_lstm_cell_two_products():
    x, h, c, wx, wh, b = map(jnp.asarray, two_product_cell())

    def run():
        i, j, f, o = jnp.split(x @ wx + h @ wh + b, 4, axis=1)
        new = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
        return jax.block_until_ready((jax.nn.sigmoid(o) * jnp.tanh(new), new))

    return Work(run)


def trace_2000_ops():
    x = _square(0)

    def run():
        def chain(x):
            for _ in range(TRACED_OPS // 2):
                x = jnp.tanh(x + x)
            return x

        return jax.jit(chain).trace(x)

    return Work(run)


WORKLOADS = (
    {
        f.__name__: f
        for f in (
            eager_add_10x10,
            eager_tanh_10x10,
            eager_matmul_10x10,
            eager_lstm_cell_10x10,
            eager_tanh_million,
            eager_lstm_cell_two_products,
            trace_2000_ops,
        )
    }
    | jax_sequences.WORKLOADS
    | keras_work.WORKLOADS
)
