"""What NumPy alone takes for the same arithmetic: the floor for small work, and this machine's limits."""

from __future__ import annotations

import concurrent.futures
import os

import numpy as np

from benchmarks.problems import PIPELINE, PROBLEMS, million, two_product_cell
from benchmarks.work import Work

VERSION = np.__version__
THREADS = int(os.environ.get("OMP_NUM_THREADS", "1"))


def configure(threads: int) -> None:
    """Leave the threads to the environment: BLAS has read it already."""


def forms(name: str) -> list[str]:
    return ["out="] if name in BUILDERS else []


def build(name: str, form: str, tiny: bool = False) -> Work:
    return Work(BUILDERS[name](*PROBLEMS[name].arrays(tiny)[1].values()))


def _sigmoid(t):
    return 1 / (1 + np.exp(-t))


def _lstm_cell(x, h, c, w):
    def cell():
        g, i, f, o = np.split(np.matmul(np.concatenate([x, h], 1), w), 4, axis=1)
        new = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        return _sigmoid(o) * np.tanh(new), new

    return cell


def _fused(x, y, z):
    out = np.empty_like(x)

    def run():
        np.add(x, y, out=out)
        return np.multiply(out, z, out=out)

    return run


def _gemm(x, y):
    out = np.empty_like(x)
    return lambda: np.matmul(x, y, out=out)


BUILDERS = {"gemm": _gemm, "lstm_cell": _lstm_cell, "fused": _fused, "function_one_op": lambda x: lambda: x + x}


def _square(seed):
    return np.random.RandomState(seed).randn(10, 10).astype(np.float32)


def eager_add_10x10():
    a, b = _square(0), _square(1)
    return Work(lambda: a + b)


def eager_tanh_10x10():
    a = _square(0)
    return Work(lambda: np.tanh(a))


def eager_matmul_10x10():
    a, b = _square(0), _square(1)
    return Work(lambda: np.matmul(a, b))


def eager_lstm_cell_10x10():
    return Work(_lstm_cell(_square(0), _square(1), _square(2), np.random.RandomState(3).randn(20, 40).astype("f")))


def eager_lstm_cell_two_products():
    x, h, c, wx, wh, b = two_product_cell()

    def run():
        i, j, f, o = np.split(x @ wx + h @ wh + b, 4, axis=1)
        new = _sigmoid(f + 1) * c + _sigmoid(i) * np.tanh(j)
        return _sigmoid(o) * np.tanh(new), new

    return Work(run)


def eager_tanh_million():
    x, y, z = million()
    return Work(lambda: np.tanh((x + y) * z))


def memory_byte():
    """Time a byte between processor and memory: two large arrays added in parallel parts."""
    x, y, out = (np.split(np.ones(1 << 25, np.float32), THREADS) for _ in range(3))
    pool = concurrent.futures.ThreadPoolExecutor(THREADS)
    return Work(lambda: list(pool.map(np.add, x, y, out)), 3 * 4 * (1 << 25))


def data_arrays():
    rows, labels = PIPELINE.arrays()
    batch = PIPELINE.batch

    def run():
        order = np.random.permutation(len(rows))
        for first in range(0, len(rows), batch):
            at = order[first : first + batch]
            yielded = rows[at] * 2 + 1, labels[at]  # noqa: F841

    return Work(run)


def data_numbers():
    def run():
        for first in range(0, PIPELINE.numbers, PIPELINE.batch):
            block = np.arange(first, min(first + PIPELINE.batch, PIPELINE.numbers)) * 3 + 1
            yielded = block[block % 2 == 0]  # noqa: F841

    return Work(run)


WORKLOADS = {
    "data_arrays": data_arrays,
    "data_numbers": data_numbers,
    "memory_byte": memory_byte,
    "eager_add_10x10": eager_add_10x10,
    "eager_add_10x10_with_tape": eager_add_10x10,
    "eager_tanh_10x10": eager_tanh_10x10,
    "eager_matmul_10x10": eager_matmul_10x10,
    "eager_lstm_cell_10x10": eager_lstm_cell_10x10,
    "eager_lstm_cell_two_products": eager_lstm_cell_two_products,
    "eager_tanh_million": eager_tanh_million,
}
