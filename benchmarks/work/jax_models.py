"""The problems as JAX programs: parameters and inputs in, the loss or the outputs out."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from benchmarks.problems import EPSILON, LOOP_SCALE, LOOP_SHIFT, LOOP_TIMES, WAVE_SCALE

relu = jax.nn.relu


def cross_entropy(logits, labels):
    logs = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logs, labels[:, None], axis=1))


def mean_square(x):
    return jnp.mean(jnp.square(x))


def gemm(p, x, y):
    return x @ y


def lstm_cell(p, x, h, c, w):
    y = jnp.split(jnp.concatenate([x, h], 1) @ w, 4, axis=1)
    i, f, o = [jax.nn.sigmoid(t) for t in y[1:]]
    c = f * c + i * jnp.tanh(y[0])
    return o * jnp.tanh(c), c


def mlp(p, x, labels):
    depth = len(p) // 2
    for i in range(depth):
        x = x @ p[f"w{i}"] + p[f"b{i}"]
        if i < depth - 1:
            x = relu(x)
    return cross_entropy(x, labels)


def two_layer_net(weights, x, y):
    w1, w2 = weights
    diff = jnp.maximum(x @ w1, 0) @ w2 - y
    return jnp.mean(jnp.sum(diff**2, axis=1))


def fused(p, x, y, z):
    return (x + y) * z


def conv(x, w, stride=1):
    pad = w.shape[0] // 2
    return lax.conv_general_dilated(
        x, w, (stride, stride), [(pad, pad), (pad, pad)], dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def batch_norm(p, name, x):
    mean = jnp.mean(x, (0, 1, 2))
    variance = jnp.mean(jnp.square(x - mean), (0, 1, 2))
    return (x - mean) * (lax.rsqrt(variance + EPSILON) * p[f"{name}_scale"]) + p[f"{name}_shift"]


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def conv_stack(p, x):
    for i in range(len(p) // 2):
        x = relu(conv(x, p[f"w{i}"]) + p[f"b{i}"])
    return mean_square(x)


def small_cnn(p, x, labels):
    x = max_pool(relu(conv(x, p["w"]) + p["b"]))
    return cross_entropy(x.reshape(x.shape[0], -1) @ p["dense_w"] + p["dense_b"], labels)


def residual_block(p, x):
    y = relu(batch_norm(p, "n0", conv(x, p["w0"])))
    y = batch_norm(p, "n1", conv(y, p["w1"]))
    return mean_square(relu(x + y))


def bottleneck(p, at, x, stride):
    def normed(name, x, stride=1):
        return batch_norm(p, name, conv(x, p[f"{name}_w"], stride))

    short = normed(f"{at}_short", x, stride) if f"{at}_short_w" in p else x
    x = relu(normed(f"{at}_in", x))
    x = relu(normed(f"{at}_mid", x, stride))
    return relu(short + normed(f"{at}_out", x))


def resnet(p, x, labels):
    x = max_pool(relu(batch_norm(p, "stem", conv(x, p["stem_w"], 2))))
    for at in dict.fromkeys(name.split("_")[0] for name in p if name.startswith("s") and "b" in name.split("_")[0]):
        x = bottleneck(p, at, x, 2 if at.endswith("b0") and not at.startswith("s0") else 1)
    return cross_entropy(jnp.mean(x, (1, 2)) @ p["dense_w"] + p["dense_b"], labels)


def layer_norm(p, name, x):
    centred = x - jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(jnp.square(centred), -1, keepdims=True)
    return centred * lax.rsqrt(variance + EPSILON) * p[f"{name}_scale"] + p[f"{name}_shift"]


def layernorm_gelu(p):
    x = p["x"]
    for i in range(len(p) // 2):
        x = jax.nn.gelu(layer_norm(p, f"n{i}", x), approximate=True)
    return mean_square(x)


def softmax_cross_entropy(p, labels):
    return cross_entropy(p["logits"], labels)


def attention(p, at, x):
    batch, length, width = x.shape
    _, _, heads, size = p[f"{at}_qkv"].shape
    qkv = (x @ p[f"{at}_qkv"].reshape(width, 3 * width)).reshape(batch, length, 3, heads, size)
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) * size**-0.5)
    return (weights @ v).transpose(0, 2, 1, 3).reshape(batch, length, width) @ p[f"{at}_join"]


def feed_forward(p, at, x):
    x = jax.nn.gelu(x @ p[f"{at}_up"] + p[f"{at}_up_b"], approximate=True)
    return x @ p[f"{at}_down"] + p[f"{at}_down_b"]


def transformer(p, tokens, labels):
    x = p["embedding"][tokens] + p["position"]
    for i in range(sum(name.endswith("_qkv") for name in p)):
        x = x + attention(p, f"l{i}", layer_norm(p, f"l{i}_n0", x))
        x = x + feed_forward(p, f"l{i}", layer_norm(p, f"l{i}_n1", x))
    logits = layer_norm(p, "last", x) @ p["head"]
    return cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def function_one_op(p, x):
    return x + x


def while_1000(p, x):
    return lax.fori_loop(0, LOOP_TIMES, lambda i, x: x * LOOP_SCALE + LOOP_SHIFT, x)


def while_sin_cos(p, x):
    return lax.fori_loop(0, LOOP_TIMES, lambda i, x: jnp.sin(x) + WAVE_SCALE * jnp.cos(x), x)


def _lstm_state(y, c):
    y = jnp.split(y, 4, axis=1)
    i, f, o = [jax.nn.sigmoid(t) for t in y[1:]]
    c = f * c + i * jnp.tanh(y[0])
    return o * jnp.tanh(c), c


def projected_lstm(p, x):
    def step(carry, now):
        h, c = _lstm_state(now + carry[0] @ p["wh"], carry[1])
        return (h, c), h

    start = jnp.zeros_like(x[0])
    return mean_square(lax.scan(step, (start, start), x @ p["wx"] + p["b"])[1])


def lstm_steps(p, x):
    def step(carry, now):
        h, c = _lstm_state(jnp.concatenate([now, carry[0]], 1) @ p["w"] + p["b"], carry[1])
        return (h, c), mean_square(h)

    start = jnp.zeros_like(x[0])
    return jnp.mean(lax.scan(step, (start, start), x)[1])


def columns_rnn(p, x):
    def step(h, t):
        h = lax.cond(t % 4 == 3, lambda: h * 0.5, lambda: jnp.tanh(x[:, t] @ p["w"] + h @ p["u"]))
        return h, mean_square(h)

    start = jnp.zeros((x.shape[0], p["u"].shape[0]))
    return jnp.mean(lax.scan(step, start, jnp.arange(x.shape[1]))[1])


MODELS = {
    "gemm": gemm,
    "lstm_cell": lstm_cell,
    "small_mlp_step": mlp,
    "big_mlp_step": mlp,
    "conv_stack_step": conv_stack,
    "small_cnn_step": small_cnn,
    "residual_block_step": residual_block,
    "resnet50_step": resnet,
    "fused": fused,
    "layernorm_gelu": layernorm_gelu,
    "softmax_cross_entropy": softmax_cross_entropy,
    "transformer_step": transformer,
    "function_one_op": function_one_op,
    "while_1000": while_1000,
    "while_sin_cos": while_sin_cos,
    "fused_fed_back": fused,
    "lstm_64_steps": lstm_steps,
    "projected_lstm_step": projected_lstm,
    "columns_rnn_step": columns_rnn,
}
