"""The workloads on PyTorch."""

import numpy as np
import torch

from benchmarks.work import workload

VERSION = torch.__version__


def _square(seed):
    return torch.from_numpy(np.random.RandomState(seed).randn(10, 10).astype(np.float32))


@workload
def eager_add_10x10():
    a, b = _square(0), _square(1)
    return lambda: a + b


@workload
def eager_add_10x10_with_tape():
    a, b = _square(0).requires_grad_(), _square(1)

    def run():
        for _ in range(100):
            a + b

    return run, 100


@workload
def eager_tanh_10x10():
    a, tanh = _square(0), torch.tanh
    return lambda: tanh(a)


@workload
def eager_matmul_10x10():
    a, b, matmul = _square(0), _square(1), torch.matmul
    return lambda: matmul(a, b)


@workload
def eager_lstm_cell_10x10():
    x, h, c = _square(0), _square(1), _square(2)
    w = torch.from_numpy(np.random.RandomState(3).randn(20, 40).astype(np.float32))

    def cell():
        y = torch.split(torch.matmul(torch.cat([x, h], 1), w), 10, dim=1)
        i, f, o = [torch.sigmoid(t) for t in y[1:]]
        c2 = f * c + i * torch.tanh(y[0])
        return o * torch.tanh(c2), c2

    return cell


@workload
def tape_over_10000_ops():
    x = torch.tensor(1.0, requires_grad=True)

    def run():
        y = x
        for _ in range(10_000):
            y = y * x
        return torch.autograd.grad(y, x)

    return run
