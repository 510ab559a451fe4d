"""What NumPy alone takes for the same arithmetic: the floor for small work."""

import numpy as np

from benchmarks.work import workload

VERSION = np.__version__


def _square(seed):
    return np.random.RandomState(seed).randn(10, 10).astype(np.float32)


@workload
def eager_add_10x10():
    a, b = _square(0), _square(1)
    return lambda: a + b


@workload
def eager_add_10x10_with_tape():
    return eager_add_10x10()


@workload
def eager_tanh_10x10():
    a = _square(0)
    return lambda: np.tanh(a)


@workload
def eager_matmul_10x10():
    a, b = _square(0), _square(1)
    return lambda: np.matmul(a, b)


@workload
def eager_lstm_cell_10x10():
    x, h, c = _square(0), _square(1), _square(2)
    w = np.random.RandomState(3).randn(20, 40).astype(np.float32)

    def sigmoid(t):
        return 1 / (1 + np.exp(-t))

    def cell():
        i, j, f, o = np.split(np.matmul(np.concatenate([x, h], 1), w), 4, axis=1)
        c2 = sigmoid(f) * c + sigmoid(j) * np.tanh(i)
        return sigmoid(o) * np.tanh(c2), c2

    return cell
