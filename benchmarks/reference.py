"""What the answers are: the problems in plain NumPy and double precision, forwards only.

Gradients are judged by differences of the loss (`slopes`), training steps by the update rule applied to those. Knows
the problems and NumPy; slow, and only used on tiny sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from benchmarks.problems import ADAM, EPSILON, LOOP_SCALE, LOOP_SHIFT, LOOP_TIMES, PROBLEMS, RATE, WAVE_SCALE, Arrays


def answer(name: str, parameters: Arrays, inputs: Arrays) -> list[np.ndarray]:
    """Return the outputs of a problem; for one with parameters, its loss."""
    p, inputs = (
        {k: x.astype(np.float64) if x.dtype == np.float32 else x for k, x in arrays.items()}
        for arrays in (parameters, inputs)
    )
    found = MODELS[name](p, **inputs)
    return list(found) if isinstance(found, tuple) else [found]


def slopes(name: str, parameters: Arrays, inputs: Arrays, entries: Iterable[tuple[str, tuple]]) -> np.ndarray:
    """Return the derivatives of the loss by these entries of the parameters."""
    step = 1e-5
    found = []
    for key, index in entries:
        ends = []
        for sign in (1, -1):
            moved = {k: x.astype(np.float64) for k, x in parameters.items()}
            moved[key][index] += sign * step
            ends.append(answer(name, moved, inputs)[0])
        found.append((ends[0] - ends[1]) / (2 * step))
    return np.array(found)


def updates(kind: str, gradients: list[np.ndarray]) -> list[np.ndarray]:
    """Return by how much each step of training moves the parameters, from the gradient at each step."""
    if kind == "sgd":
        return [-RATE * g for g in gradients]
    m = v = np.zeros_like(gradients[0])
    found = []
    for t, g in enumerate(gradients, 1):
        m = ADAM["beta1"] * m + (1 - ADAM["beta1"]) * g
        v = ADAM["beta2"] * v + (1 - ADAM["beta2"]) * g * g
        rate = ADAM["rate"] * np.sqrt(1 - ADAM["beta2"] ** t) / (1 - ADAM["beta1"] ** t)
        found.append(-rate * m / (np.sqrt(v) + ADAM["epsilon"]))
    return found


def _relu(x):
    return np.maximum(x, 0)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _cross_entropy(logits, labels):
    return -np.mean(np.log(_softmax(logits)[np.arange(len(labels)), labels]))


def _lstm(y, c):
    g, i, f, o = np.split(y, 4, axis=1)
    c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
    return _sigmoid(o) * np.tanh(c), c


def _lstm_cell(p, x, h, c, w):
    return _lstm(np.concatenate([x, h], 1) @ w, c)


def _lstm_steps(p, x):
    h = c = np.zeros_like(x[0])
    squares = []
    for now in x:
        h, c = _lstm(np.concatenate([now, h], 1) @ p["w"] + p["b"], c)
        squares.append(np.mean(h**2))
    return np.mean(squares)


def _mlp(p, x, labels):
    depth = len(p) // 2
    for i in range(depth):
        x = x @ p[f"w{i}"] + p[f"b{i}"]
        x = x if i == depth - 1 else _relu(x)
    return _cross_entropy(x, labels)


def _two_layer_net(p, x, y, w1, w2):
    h = _relu(x @ w1)
    diff = h @ w2 - y
    back = 2 * diff / len(x)
    return np.mean(np.sum(diff**2, 1)), x.T @ (back @ w2.T * (h > 0)), h.T @ back


def _conv(x, w, stride=1):
    size = w.shape[0]
    pad = size // 2
    x = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (1, 2))[:, ::stride, ::stride]
    return np.einsum("bijcuv,uvco->bijo", windows, w)


def _max_pool(x):
    batch, height, width, channels = x.shape
    return x.reshape(batch, height // 2, 2, width // 2, 2, channels).max((2, 4))


def _norm(p, name, x, axes):
    x = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + EPSILON)
    return x * p[f"{name}_scale"] + p[f"{name}_shift"]


def _normed(p, name, x, w, stride=1):
    return _norm(p, name, _conv(x, p[w], stride), (0, 1, 2))


def _conv_stack(p, x):
    for i in range(len(p) // 2):
        x = _relu(_conv(x, p[f"w{i}"]) + p[f"b{i}"])
    return np.mean(x**2)


def _small_cnn(p, x, labels):
    x = _max_pool(_relu(_conv(x, p["w"]) + p["b"]))
    return _cross_entropy(x.reshape(len(x), -1) @ p["dense_w"] + p["dense_b"], labels)


def _residual_block(p, x):
    y = _relu(_normed(p, "n0", x, "w0"))
    return np.mean(_relu(x + _normed(p, "n1", y, "w1")) ** 2)


def _resnet(p, x, labels):
    x = _max_pool(_relu(_normed(p, "stem", x, "stem_w", 2)))
    for at in [name[: -len("_in_w")] for name in p if name.endswith("_in_w")]:
        stride = 2 if at.endswith("b0") and at != "s0b0" else 1
        short = _normed(p, f"{at}_short", x, f"{at}_short_w", stride) if f"{at}_short_w" in p else x
        x = _relu(_normed(p, f"{at}_in", x, f"{at}_in_w"))
        x = _relu(_normed(p, f"{at}_mid", x, f"{at}_mid_w", stride))
        x = _relu(short + _normed(p, f"{at}_out", x, f"{at}_out_w"))
    return _cross_entropy(x.mean((1, 2)) @ p["dense_w"] + p["dense_b"], labels)


def _layernorm_gelu(p):
    x = p["x"]
    for i in range(len(p) // 2):
        x = _gelu(_norm(p, f"n{i}", x, -1))
    return np.mean(x**2)


def _transformer(p, tokens, labels):
    x = p["embedding"][tokens] + p["position"]
    for name in [name for name in p if name.endswith("_qkv")]:
        at = name[: -len("_qkv")]
        q, k, v = np.einsum("btd,dnhs->nbhts", _norm(p, f"{at}_n0", x, -1), p[name])
        weights = _softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
        x = x + (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ p[f"{at}_join"]
        y = _gelu(_norm(p, f"{at}_n1", x, -1) @ p[f"{at}_up"] + p[f"{at}_up_b"])
        x = x + y @ p[f"{at}_down"] + p[f"{at}_down_b"]
    logits = _norm(p, "last", x, -1) @ p["head"]
    return _cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def _while_1000(p, x):
    for _ in range(LOOP_TIMES):
        x = x * LOOP_SCALE + LOOP_SHIFT
    return x


def _while_sin_cos(p, x):
    for _ in range(LOOP_TIMES):
        x = np.sin(x) + WAVE_SCALE * np.cos(x)
    return x


def _projected_lstm(p, x):
    return _lstm_steps({"w": np.concatenate([p["wx"], p["wh"]]), "b": p["b"]}, x)


def _columns_rnn(p, x):
    h = np.zeros((len(x), p["u"].shape[0]), x.dtype)
    total = 0.0
    for t in range(x.shape[1]):
        h = h * 0.5 if t % 4 == 3 else np.tanh(x[:, t] @ p["w"] + h @ p["u"])
        total += np.mean(h**2)
    return total / x.shape[1]


MODELS: dict[str, Callable] = {
    "gemm": lambda p, x, y: x @ y,
    "lstm_cell": _lstm_cell,
    "small_mlp_step": _mlp,
    "two_layer_net": _two_layer_net,
    "big_mlp_step": _mlp,
    "conv_stack_step": _conv_stack,
    "small_cnn_step": _small_cnn,
    "residual_block_step": _residual_block,
    "fused": lambda p, x, y, z: (x + y) * z,
    "layernorm_gelu": _layernorm_gelu,
    "softmax_cross_entropy": lambda p, labels: _cross_entropy(p["logits"], labels),
    "transformer_step": _transformer,
    "resnet50_step": _resnet,
    "function_one_op": lambda p, x: x + x,
    "while_1000": _while_1000,
    "while_sin_cos": _while_sin_cos,
    "fused_fed_back": lambda p, x, y, z: (x + y) * z,
    "lstm_64_steps": _lstm_steps,
    "projected_lstm_step": _projected_lstm,
    "columns_rnn_step": _columns_rnn,
}
assert set(MODELS) == set(PROBLEMS)
