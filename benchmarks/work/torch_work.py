"""The problems on PyTorch: eager, and through `torch.compile` where a C++ compiler is at hand."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.problems import ADAM, PIPELINE, PROBLEMS, RATE, million, two_product_cell
from benchmarks.work import Work, keras_work, torch_sequences
from benchmarks.work.torch_models import (
    MODELS,
    OTHER_MODELS,
    lstm_cell,
    lstm_nn_gradients,
    lstm_nn_parameters,
    two_layer_net,
)

VERSION = torch.__version__


def configure(threads: int) -> None:
    torch.set_num_threads(threads)


def forms(name: str) -> list[str]:
    return ["eager", *OTHER_MODELS.get(name, {}), *([] if name.startswith("while_") else ["compile"])]


def build(name: str, form: str, tiny: bool = False) -> Work:
    """Return the problem, ready to run in that form."""
    problem = PROBLEMS[name]
    parameters, inputs = problem.arrays(tiny)
    model = OTHER_MODELS.get(name, {}).get(form) or MODELS.get(name, two_layer_net)
    if form == "compile":
        model = torch.compile(model, dynamic=False)
    if name == "two_layer_net":
        return _net(model, inputs)
    inputs = {key: _input(x) for key, x in inputs.items()}
    if problem.kind == "fed_back":
        return _fed_back(model, inputs)
    if problem.kind == "call":
        return _call(model, inputs)
    tensors = {key: _parameter(x) for key, x in parameters.items()}
    if form == "nn.LSTM":
        tensors = lstm_nn_parameters(**tensors)
    tensors = {key: x.requires_grad_() for key, x in tensors.items()}
    if problem.kind == "gradients":
        back = lstm_nn_gradients if form == "nn.LSTM" else lambda *gradients: gradients
        return _gradients(model, tensors, inputs, back)
    filters = {key for key, x in parameters.items() if _is_filter(x)}
    return _step(model, tensors, inputs, problem.kind, filters)


def _input(x):
    if x.dtype == np.int32:
        return torch.from_numpy(x.astype(np.int64))
    return torch.from_numpy(x).permute(0, 3, 1, 2) if x.ndim == 4 else torch.from_numpy(x)


def _is_filter(x):
    return x.ndim == 4 and x.shape[0] == x.shape[1]


def _parameter(x):
    if not _is_filter(x):
        return torch.from_numpy(x)
    return torch.from_numpy(x).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)


def _call(model, inputs):
    values = list(inputs.values())
    if len(values) == 1:
        (x,) = values
        return Work(lambda: model({}, x))
    return Work(lambda: model({}, *values))


def _fed_back(model, inputs):
    first, *others = inputs.values()
    held = [first.clone()]

    def run():
        held[0] = model({}, held[0], *others)
        return held[0]

    return Work(run)


def _gradients(model, parameters, inputs, back):
    leaves = list(parameters.values())

    def run():
        loss = model(parameters, **inputs)
        return loss, torch.autograd.grad(loss, leaves)

    return Work(run, results=lambda raw: [raw[0], *back(*raw[1])])


def _step(model, parameters, inputs, kind, filters):
    leaves = list(parameters.values())
    if kind == "sgd":
        optimizer = torch.optim.SGD(leaves, RATE, fused=True)
    else:
        optimizer = torch.optim.Adam(leaves, ADAM["rate"], (ADAM["beta1"], ADAM["beta2"]), ADAM["epsilon"], fused=True)

    def run():
        optimizer.zero_grad()
        loss = model(parameters, **inputs)
        loss.backward()
        optimizer.step()
        return loss

    def now():
        return {k: (p.permute(2, 3, 1, 0) if k in filters else p).detach().numpy() for k, p in parameters.items()}

    return Work(run, parameters=now)


def _net(model, inputs):
    arrays = list(inputs.values())

    def run():
        x, y, w1, w2 = [torch.from_numpy(a) for a in arrays]
        w1.requires_grad_()
        w2.requires_grad_()
        loss = model(x, y, w1, w2)
        return [loss.detach().numpy(), *[g.numpy() for g in torch.autograd.grad(loss, (w1, w2))]]

    return Work(run)


def _square(seed):
    return torch.from_numpy(np.random.RandomState(seed).randn(10, 10).astype(np.float32))


def eager_add_10x10():
    a, b = _square(0), _square(1)
    return Work(lambda: a + b)


def eager_add_10x10_with_tape():
    a, b = _square(0).requires_grad_(), _square(1)

    def run():
        for _ in range(100):
            a + b

    return Work(run, 100)


def eager_tanh_10x10():
    a, tanh = _square(0), torch.tanh
    return Work(lambda: tanh(a))


def eager_matmul_10x10():
    a, b, matmul = _square(0), _square(1), torch.matmul
    return Work(lambda: matmul(a, b))


def eager_lstm_cell_10x10():
    x, h, c = _square(0), _square(1), _square(2)
    w = torch.from_numpy(np.random.RandomState(3).randn(20, 40).astype(np.float32))
    return Work(lambda: lstm_cell({}, x, h, c, w))


def eager_tanh_million():
    x, y, z = map(torch.from_numpy, million())
    tanh = torch.tanh
    return Work(lambda: tanh((x + y) * z))


def eager_mlp_step():
    parameters, inputs = PROBLEMS["small_mlp_step"].arrays()
    x, labels = torch.from_numpy(inputs["x"]), torch.from_numpy(inputs["labels"]).long()
    w0, b0, w1, b1 = variables = [
        torch.from_numpy(parameters[name]).requires_grad_() for name in ("w0", "b0", "w1", "b1")
    ]

    def run():
        loss = torch.nn.functional.cross_entropy(torch.relu(x @ w0 + b0) @ w1 + b1, labels)
        grads = torch.autograd.grad(loss, variables)
        with torch.no_grad():
            for variable, grad in zip(variables, grads):
                variable.sub_(RATE * grad)
        return loss

    return Work(run)


def eager_lstm_cell_two_products():
    x, h, c, wx, wh, b = map(torch.from_numpy, two_product_cell())

    def run():
        i, j, f, o = torch.split(x @ wx + h @ wh + b, 10, dim=1)
        new = torch.sigmoid(f + 1.0) * c + torch.sigmoid(i) * torch.tanh(j)
        return torch.sigmoid(o) * torch.tanh(new), new

    return Work(run)


def tape_over_10000_ops():
    x = torch.tensor(1.0, requires_grad=True)

    def run():
        y = x
        for _ in range(10_000):
            y = y * x
        return torch.autograd.grad(y, x)

    return Work(run)


def data_arrays():
    """The same rows through a DataLoader, which shuffles all of them."""
    rows, labels = map(torch.from_numpy, PIPELINE.arrays())
    whole = torch.utils.data.TensorDataset(rows, labels)
    loader = torch.utils.data.DataLoader(whole, batch_size=PIPELINE.batch, shuffle=True)

    def run():
        for x, y in loader:
            yielded = x * 2 + 1, y  # noqa: F841

    return Work(run)


WORKLOADS = (
    {
        f.__name__: f
        for f in (
            data_arrays,
            eager_add_10x10,
            eager_add_10x10_with_tape,
            eager_tanh_10x10,
            eager_matmul_10x10,
            eager_lstm_cell_10x10,
            eager_tanh_million,
            eager_mlp_step,
            eager_lstm_cell_two_products,
            tape_over_10000_ops,
        )
    }
    | torch_sequences.WORKLOADS
    | keras_work.WORKLOADS
)
