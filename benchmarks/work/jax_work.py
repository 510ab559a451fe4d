"""The workloads on JAX, op by op (compiled work has rows of its own)."""

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.work import workload

VERSION = jax.__version__


def _square(seed):
    return jnp.asarray(np.random.RandomState(seed).randn(10, 10).astype(np.float32))


@workload
def eager_add_10x10():
    a, b = _square(0), _square(1)
    return lambda: (a + b).block_until_ready()


@workload
def eager_tanh_10x10():
    a = _square(0)
    return lambda: jnp.tanh(a).block_until_ready()


@workload
def eager_matmul_10x10():
    a, b = _square(0), _square(1)
    return lambda: jnp.matmul(a, b).block_until_ready()


@workload
def eager_lstm_cell_10x10():
    x, h, c = _square(0), _square(1), _square(2)
    w = jnp.asarray(np.random.RandomState(3).randn(20, 40).astype(np.float32))

    def cell():
        y = jnp.split(jnp.matmul(jnp.concatenate([x, h], 1), w), 4, axis=1)
        i, f, o = [jax.nn.sigmoid(t) for t in y[1:]]
        c2 = f * c + i * jnp.tanh(y[0])
        return (o * jnp.tanh(c2)).block_until_ready(), c2

    return cell
