"""The work itself, said once for every framework: what goes in, how big it is, and what no machine can undercut.

A problem is parameters, inputs, and a kind: `call` (outputs), `gradients` (the loss and its gradients by the
parameters), `sgd` and `adam` (a training step). Arrays are NumPy's, images NHWC, filters HWIO; each framework turns
them into what suits it best before the clock runs. How a framework computes the answer is in `work/`; what the answer
is, in `reference.py`. Knows NumPy only.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]

RATE = 0.01
ADAM = {"rate": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
EPSILON = 1e-3
"""What batch and layer normalisation add to the variance."""

LOOP_TIMES, LOOP_SCALE, LOOP_SHIFT = 1000, np.float32(0.999), np.float32(0.5)
WAVE_SCALE = np.float32(0.9)
TRACED_OPS = 2000


@dataclass(frozen=True)
class Problem:
    """One piece of work; `sizes` are what is timed, `tiny` what is checked."""

    name: str
    kind: str
    data: Callable[..., tuple[Arrays, Arrays]]
    sizes: dict[str, Any]
    tiny: dict[str, Any]
    flops: Callable[..., float] | None = None  # of multiplications in matrix products and convolutions
    bytes: Callable[..., float] | None = None  # that must come from memory or go there

    def arrays(self, tiny: bool = False) -> tuple[Arrays, Arrays]:
        """Return the parameters and the inputs, the same in every process."""
        return self.data(np.random.RandomState(0), **(self.tiny if tiny else self.sizes))

    def limit(self, flops_per_second: float, bytes_per_second: float) -> float | None:
        """Return the seconds that this machine cannot undercut, where that is known."""
        least = [self.flops(**self.sizes) / flops_per_second] if self.flops else []
        least += [self.bytes(**self.sizes) / bytes_per_second] if self.bytes else []
        return max(least, default=None)


@dataclass(frozen=True)
class Pipeline:
    """How much goes through the input pipelines."""

    rows: int = 100_000
    buffer: int = 10_000
    batch: int = 128
    numbers: int = 200_000
    examples: int = 50_000
    pictures: int = 200
    slow: int = 100

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and their labels, the same in every process."""
        return np.random.RandomState(0).rand(self.rows, 32).astype(np.float32), np.arange(self.rows)


PIPELINE = Pipeline()


def _normal(random: np.random.RandomState, *dims: int, scale: float = 1.0) -> np.ndarray:
    return (random.standard_normal(dims) * scale).astype(np.float32)


def _weights(random: np.random.RandomState, *dims: int) -> np.ndarray:
    """He's choice: activations keep their size through ReLUs."""
    return _normal(random, *dims, scale=float(np.sqrt(2 / np.prod(dims[:-1]))))


def _bias(random: np.random.RandomState, n: int) -> np.ndarray:
    return _normal(random, n, scale=0.1)


def _labels(random: np.random.RandomState, dims: tuple[int, ...], classes: int) -> np.ndarray:
    return random.randint(0, classes, dims).astype(np.int32)


def million() -> list[np.ndarray]:
    """Return three vectors of a million numbers, the same in every process."""
    random = np.random.RandomState(0)
    return [_normal(random, 1 << 20) for _ in range(3)]


def two_product_cell() -> list[np.ndarray]:
    """Return an LSTM cell's x, h and c, its weights for x and for h, and its bias, the same in every process."""
    random = np.random.RandomState(0)
    return [_normal(random, *dims) for dims in ((10, 10),) * 3 + ((10, 40),) * 2 + ((40,),)]


def translations() -> list[list[np.ndarray]]:
    """Return batches of 100 rows of 3 to 8 words, each as long as its longest row: words, lengths, words wanted."""
    random, found = np.random.RandomState(0), []
    for longest in (8, 3, 6, 4, 7, 5):
        lengths = np.minimum(random.randint(3, 9, 100), longest).astype(np.int32)
        lengths[0] = longest
        words = random.randint(2, 10, (longest, 100)).astype(np.int32)
        words[np.arange(longest)[:, None] >= lengths] = 0
        wanted = np.zeros((longest + 3, 100), np.int32)
        wanted[:longest] = words
        wanted[lengths, np.arange(100)] = 1  # the end
        found.append([words, lengths, wanted])
    return found


def translation_parameters(words: int = 10, width: int = 20, units: int = 20) -> Arrays:
    """Return the weights of an encoder in both directions and a decoder twice as wide, the same in every process."""
    random = np.random.RandomState(0)
    found = {"embeddings": random.uniform(-0.4, 0.4, (words, width)), "bias": np.zeros(words)}
    found["weights"] = random.uniform(-0.3, 0.3, (2 * units, words))
    for name, size in (("forwards", units), ("backwards", units), ("decoder", 2 * units)):
        limit = (6 / (width + 5 * size)) ** 0.5
        found[f"{name}_w"] = random.uniform(-limit, limit, (width + size, 4 * size))
        found[f"{name}_b"] = np.zeros(4 * size)
    return {key: x.astype(np.float32) for key, x in found.items()}


def readings(batch: int = 32, depth: int = 16) -> list[list[np.ndarray]]:
    """Return batches of sequences of 20 to 60 steps, each of another length: numbers, and one that is wanted a row."""
    random = np.random.RandomState(0)
    lengths = random.permutation(np.arange(20, 61))
    return [[_normal(random, batch, n, depth), _normal(random, batch, 1)] for n in lengths]


def reading_parameters(depth: int = 16, units: int = 64) -> Arrays:
    """Return the weights of an LSTM and of the layer behind its last state, the same in every process."""
    random = np.random.RandomState(0)
    kernel = _normal(random, depth + units, 4 * units, scale=(depth + units) ** -0.5)
    return {
        "reader_w": kernel,
        "reader_b": _bias(random, 4 * units),
        "out": _normal(random, units, 1, scale=units**-0.5),
    }


def sparse_rows() -> tuple[np.ndarray, np.ndarray]:
    """Return a table of 50,000 rows, and 512 of them, some named several times."""
    random = np.random.RandomState(0)
    return _normal(random, 50_000, 64), random.randint(0, 50_000, 512).astype(np.int32) // 7


# --- small and dense ------------------------------------------------------------------------------------------------


def gemm_data(random, n):
    return {}, {"x": _normal(random, n, n), "y": _normal(random, n, n)}


def gemm_flops(n):
    return 2 * n**3


def lstm_cell_data(random, n):
    inputs = {name: _normal(random, n, n) for name in "xhc"}
    return {}, {**inputs, "w": _normal(random, 2 * n, 4 * n)}


def mlp_data(random, batch, widths):
    parameters = {}
    for i, (m, n) in enumerate(itertools.pairwise(widths)):
        parameters[f"w{i}"], parameters[f"b{i}"] = _weights(random, m, n), _bias(random, n)
    return parameters, {"x": _normal(random, batch, widths[0]), "labels": _labels(random, (batch,), widths[-1])}


def mlp_flops(batch, widths):
    products = [2 * batch * m * n for m, n in itertools.pairwise(widths)]
    return 3 * sum(products) - products[0]  # nobody asks for the gradient by the input


def two_layer_net_data(random, n, d, h):
    feeds = {"x": (n, d), "y": (n, d), "w1": (d, h), "w2": (h, d)}
    return {}, {name: _normal(random, *dims) for name, dims in feeds.items()}


def two_layer_net_flops(n, d, h):
    return 5 * 2 * n * d * h


def fused_data(random, n):
    return {}, {name: _normal(random, n) for name in "xyz"}


def fused_bytes(n):
    return 4 * 4 * n


def fed_back_data(random, n):
    """Numbers that stay small however often the result takes the place of x."""
    return {}, {**fused_data(random, n)[1], "z": random.uniform(-0.9, 0.9, n).astype(np.float32)}


# --- images ---------------------------------------------------------------------------------------------------------


def conv_stack_data(random, batch, side, channels, depth):
    parameters = {}
    for i in range(depth):
        parameters[f"w{i}"] = _weights(random, 3, 3, channels, channels)
        parameters[f"b{i}"] = _bias(random, channels)
    return parameters, {"x": _normal(random, batch, side, side, channels)}


def conv_stack_flops(batch, side, channels, depth):
    return (3 * depth - 1) * 2 * batch * side**2 * channels**2 * 9


def small_cnn_data(random, batch, side, filters, classes):
    flat = (side // 2) ** 2 * filters
    parameters = {
        "w": _weights(random, 3, 3, 1, filters),
        "b": _bias(random, filters),
        "dense_w": _weights(random, flat, classes),
        "dense_b": _bias(random, classes),
    }
    return parameters, {"x": _normal(random, batch, side, side, 1), "labels": _labels(random, (batch,), classes)}


def _norm(random, parameters, name, n):
    parameters[f"{name}_scale"] = 1 + _bias(random, n)
    parameters[f"{name}_shift"] = _bias(random, n)


def residual_block_data(random, batch, side, channels):
    parameters: Arrays = {}
    for i in "01":
        parameters[f"w{i}"] = _weights(random, 3, 3, channels, channels)
        _norm(random, parameters, f"n{i}", channels)
    return parameters, {"x": _normal(random, batch, side, side, channels)}


def residual_block_flops(batch, side, channels):
    return 5 * 2 * batch * side**2 * channels**2 * 9


def resnet_data(random, batch, side, width, stages, classes):
    parameters: Arrays = {}
    for name, dims in _resnet_filters(width, stages):
        parameters[f"{name}_w"] = _weights(random, *dims)
        _norm(random, parameters, name, dims[-1])
    last = width * 4 * 2 ** (len(stages) - 1)
    parameters["dense_w"], parameters["dense_b"] = _weights(random, last, classes), _bias(random, classes)
    return parameters, {"x": _normal(random, batch, side, side, 3), "labels": _labels(random, (batch,), classes)}


def _resnet_filters(width, stages):
    """Yield the name and the dims of each filter, in the order they are used."""
    yield "stem", (7, 7, 3, width)
    channels = width
    for stage, blocks in enumerate(stages):
        inner = width * 2**stage
        for block in range(blocks):
            at = f"s{stage}b{block}"
            if block == 0:
                yield f"{at}_short", (1, 1, channels, 4 * inner)
            yield f"{at}_in", (1, 1, channels, inner)
            yield f"{at}_mid", (3, 3, inner, inner)
            yield f"{at}_out", (1, 1, inner, 4 * inner)
            channels = 4 * inner


def resnet_flops(batch, side, width, stages, classes):
    total, stem = 0.0, 0.0
    for name, dims in _resnet_filters(width, stages):
        if name == "stem":
            stem = 2 * np.prod(dims) * batch * (side // 2) ** 2
            continue
        stage = int(name[1])
        here = side // 4 // 2**stage
        if stage and name.endswith("b0_in"):  # this one still works on the larger image: the stride is in the middle
            here *= 2
        total += 2 * np.prod(dims) * batch * here**2
    return 3 * total + 2 * stem


# --- sequences and wide rows ----------------------------------------------------------------------------------------


def layernorm_gelu_data(random, rows, columns, depth):
    parameters: Arrays = {"x": _normal(random, rows, columns)}
    for i in range(depth):
        _norm(random, parameters, f"n{i}", columns)
    return parameters, {}


def layernorm_gelu_bytes(rows, columns, depth):
    return 4 * rows * columns * 5 * depth  # forward reads and writes once; back reads both sides and writes


def softmax_data(random, rows, classes):
    return {"logits": _normal(random, rows, classes)}, {"labels": _labels(random, (rows,), classes)}


def softmax_bytes(rows, classes):
    return 4 * rows * classes * 2


def transformer_data(random, batch, length, width, heads, layers, vocabulary):
    parameters: Arrays = {"embedding": _normal(random, vocabulary, width)}
    parameters["position"] = _normal(random, length, width, scale=0.1)
    for i in range(layers):
        _norm(random, parameters, f"l{i}_n0", width)
        parameters[f"l{i}_qkv"] = _weights(random, width, 3 * width).reshape(width, 3, heads, width // heads)
        parameters[f"l{i}_join"] = _weights(random, width, width)
        _norm(random, parameters, f"l{i}_n1", width)
        for name, dims in (("up", (width, 4 * width)), ("down", (4 * width, width))):
            parameters[f"l{i}_{name}"], parameters[f"l{i}_{name}_b"] = _weights(random, *dims), _bias(random, dims[1])
    _norm(random, parameters, "last", width)
    parameters["head"] = _weights(random, width, vocabulary)
    tokens, labels = (_labels(random, (batch, length), vocabulary) for _ in range(2))
    return parameters, {"tokens": tokens, "labels": labels}


def transformer_flops(batch, length, width, heads, layers, vocabulary):
    rows = batch * length
    return 3 * 2 * rows * (layers * (12 * width**2 + 2 * length * width) + width * vocabulary)


def lstm_steps_data(random, steps, batch, width):
    parameters = {"w": _normal(random, 2 * width, 4 * width, scale=(2 * width) ** -0.5), "b": _bias(random, 4 * width)}
    return parameters, {"x": _normal(random, steps, batch, width)}


def lstm_steps_flops(steps, batch, width):
    return 3 * 2 * steps * batch * 2 * width * 4 * width - 2 * steps * batch * width * 4 * width


def projected_lstm_data(random, steps, batch, width):
    parameters = {
        "wx": _normal(random, width, 4 * width, scale=(2 * width) ** -0.5),
        "wh": _normal(random, width, 4 * width, scale=(2 * width) ** -0.5),
        "b": _bias(random, 4 * width),
    }
    return parameters, {"x": _normal(random, steps, batch, width)}


def columns_rnn_data(random, batch, steps, width, units):
    parameters = {
        "w": _normal(random, width, units, scale=(width + units) ** -0.5),
        "u": _normal(random, units, units, scale=(width + units) ** -0.5),
    }
    return parameters, {"x": _normal(random, batch, steps, width)}


def one_tensor_data(random, n):
    return {}, {"x": _normal(random, n, n)}


def scalar_data(random):
    return {}, {"x": np.array(1.0, np.float32)}


_CONV = {"batch": 32, "side": 56, "channels": 64}
_TINY_CONV = {"batch": 2, "side": 4, "channels": 3}

PROBLEMS = {
    p.name: p
    for p in (
        Problem("gemm", "call", gemm_data, {"n": 2048}, {"n": 3}, flops=gemm_flops),
        Problem("lstm_cell", "call", lstm_cell_data, {"n": 10}, {"n": 3}),
        Problem(
            "small_mlp_step",
            "sgd",
            mlp_data,
            {"batch": 32, "widths": (64, 64, 10)},
            {"batch": 4, "widths": (5, 4, 3)},
        ),
        Problem(
            "two_layer_net",
            "call",
            two_layer_net_data,
            {"n": 64, "d": 1000, "h": 100},
            {"n": 4, "d": 6, "h": 3},
            flops=two_layer_net_flops,
        ),
        Problem(
            "big_mlp_step",
            "sgd",
            mlp_data,
            {"batch": 256, "widths": (1024, 1024, 1024, 10)},
            {"batch": 4, "widths": (5, 4, 4, 3)},
            flops=mlp_flops,
        ),
        Problem(
            "conv_stack_step",
            "sgd",
            conv_stack_data,
            {**_CONV, "depth": 4},
            {**_TINY_CONV, "depth": 3},
            flops=conv_stack_flops,
        ),
        Problem(
            "small_cnn_step",
            "adam",
            small_cnn_data,
            {"batch": 64, "side": 28, "filters": 32, "classes": 10},
            {"batch": 3, "side": 4, "filters": 2, "classes": 3},
        ),
        Problem("residual_block_step", "sgd", residual_block_data, _CONV, _TINY_CONV, flops=residual_block_flops),
        Problem("fused", "call", fused_data, {"n": 4_000_000}, {"n": 7}, bytes=fused_bytes),
        Problem(
            "layernorm_gelu",
            "gradients",
            layernorm_gelu_data,
            {"rows": 1024, "columns": 1024, "depth": 3},
            {"rows": 3, "columns": 5, "depth": 2},
            bytes=layernorm_gelu_bytes,
        ),
        Problem(
            "softmax_cross_entropy",
            "gradients",
            softmax_data,
            {"rows": 1024, "classes": 32_000},
            {"rows": 3, "classes": 5},
            bytes=softmax_bytes,
        ),
        Problem(
            "transformer_step",
            "adam",
            transformer_data,
            {"batch": 8, "length": 128, "width": 256, "heads": 4, "layers": 2, "vocabulary": 1000},
            {"batch": 2, "length": 3, "width": 4, "heads": 2, "layers": 2, "vocabulary": 5},
            flops=transformer_flops,
        ),
        Problem(
            "resnet50_step",
            "sgd",
            resnet_data,
            {"batch": 8, "side": 64, "width": 32, "stages": (3, 4, 6, 3), "classes": 100},
            {"batch": 2, "side": 16, "width": 2, "stages": (2, 1), "classes": 3},
            flops=resnet_flops,
        ),
        Problem("fused_fed_back", "fed_back", fed_back_data, {"n": 1 << 20}, {"n": 7}, bytes=fused_bytes),
        Problem("function_one_op", "call", one_tensor_data, {"n": 10}, {"n": 3}),
        Problem("while_1000", "call", scalar_data, {}, {}),
        Problem("while_sin_cos", "call", scalar_data, {}, {}),
        Problem(
            "lstm_64_steps",
            "gradients",
            lstm_steps_data,
            {"steps": 64, "batch": 32, "width": 128},
            {"steps": 3, "batch": 2, "width": 4},
            flops=lstm_steps_flops,
        ),
        Problem(
            "projected_lstm_step",
            "sgd",
            projected_lstm_data,
            {"steps": 64, "batch": 32, "width": 128},
            {"steps": 3, "batch": 2, "width": 4},
            flops=lstm_steps_flops,
        ),
        Problem(
            "columns_rnn_step",
            "sgd",
            columns_rnn_data,
            {"batch": 20, "steps": 40, "width": 32, "units": 64},
            {"batch": 2, "steps": 5, "width": 3, "units": 4},
        ),
    )
}
