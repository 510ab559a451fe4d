"""The problems as PyTorch programs: parameters and inputs in, the loss or the outputs out.

Images are NCHW in channels-last memory and filters OIHW, as PyTorch's convolutions like them best on a CPU.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from benchmarks.problems import EPSILON, LOOP_SCALE, LOOP_SHIFT, LOOP_TIMES, WAVE_SCALE

SCALE, SHIFT, WAVE = float(LOOP_SCALE), float(LOOP_SHIFT), float(WAVE_SCALE)


def mean_square(x):
    return torch.mean(torch.square(x))


def gemm(p, x, y):
    return x @ y


def lstm_cell(p, x, h, c, w):
    y = torch.chunk(torch.cat([x, h], 1) @ w, 4, dim=1)
    i, f, o = [torch.sigmoid(t) for t in y[1:]]
    c = f * c + i * torch.tanh(y[0])
    return o * torch.tanh(c), c


def mlp(p, x, labels):
    depth = len(p) // 2
    for i in range(depth):
        x = torch.addmm(p[f"b{i}"], x, p[f"w{i}"])
        if i < depth - 1:
            x = F.relu(x)
    return F.cross_entropy(x, labels)


def two_layer_net(x, y, w1, w2):
    diff = torch.clamp(x @ w1, min=0) @ w2 - y
    return torch.mean(torch.sum(diff**2, dim=1))


def fused(p, x, y, z):
    return (x + y) * z


def fused_in_place(p, x, y, z):
    return x.add_(y).mul_(z)


def batch_norm(p, name, x):
    return F.batch_norm(x, None, None, p[f"{name}_scale"], p[f"{name}_shift"], training=True, eps=EPSILON)


def conv_stack(p, x):
    for i in range(len(p) // 2):
        x = F.relu(F.conv2d(x, p[f"w{i}"], p[f"b{i}"], padding=1))
    return mean_square(x)


def small_cnn(p, x, labels):
    x = F.max_pool2d(F.relu(F.conv2d(x, p["w"], p["b"], padding=1)), 2)
    x = x.permute(0, 2, 3, 1).reshape(x.shape[0], -1)
    return F.cross_entropy(torch.addmm(p["dense_b"], x, p["dense_w"]), labels)


def residual_block(p, x):
    y = F.relu(batch_norm(p, "n0", F.conv2d(x, p["w0"], padding=1)))
    y = batch_norm(p, "n1", F.conv2d(y, p["w1"], padding=1))
    return mean_square(F.relu(x + y))


def bottleneck(p, at, x, stride):
    def normed(name, x, stride=1):
        w = p[f"{name}_w"]
        return batch_norm(p, name, F.conv2d(x, w, stride=stride, padding=w.shape[2] // 2))

    short = normed(f"{at}_short", x, stride) if f"{at}_short_w" in p else x
    x = F.relu(normed(f"{at}_in", x))
    x = F.relu(normed(f"{at}_mid", x, stride))
    return F.relu(short + normed(f"{at}_out", x))


def resnet(p, x, labels):
    x = F.max_pool2d(F.relu(batch_norm(p, "stem", F.conv2d(x, p["stem_w"], stride=2, padding=3))), 2)
    for at in dict.fromkeys(name.split("_")[0] for name in p if name.startswith("s") and "b" in name.split("_")[0]):
        x = bottleneck(p, at, x, 2 if at.endswith("b0") and not at.startswith("s0") else 1)
    return F.cross_entropy(torch.addmm(p["dense_b"], x.mean((2, 3)), p["dense_w"]), labels)


def layer_norm(p, name, x):
    return F.layer_norm(x, x.shape[-1:], p[f"{name}_scale"], p[f"{name}_shift"], EPSILON)


def layernorm_gelu(p):
    x = p["x"]
    for i in range(len(p) // 2):
        x = F.gelu(layer_norm(p, f"n{i}", x), approximate="tanh")
    return mean_square(x)


def softmax_cross_entropy(p, labels):
    return F.cross_entropy(p["logits"], labels)


def attention(p, at, x):
    batch, length, width = x.shape
    _, _, heads, size = p[f"{at}_qkv"].shape
    qkv = (x @ p[f"{at}_qkv"].reshape(width, 3 * width)).reshape(batch, length, 3, heads, size)
    q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind()
    mixed = F.scaled_dot_product_attention(q, k, v)
    return mixed.transpose(1, 2).reshape(batch, length, width) @ p[f"{at}_join"]


def feed_forward(p, at, x):
    x = F.gelu(x @ p[f"{at}_up"] + p[f"{at}_up_b"], approximate="tanh")
    return x @ p[f"{at}_down"] + p[f"{at}_down_b"]


def transformer(p, tokens, labels):
    x = F.embedding(tokens, p["embedding"]) + p["position"]
    for i in range(sum(name.endswith("_qkv") for name in p)):
        x = x + attention(p, f"l{i}", layer_norm(p, f"l{i}_n0", x))
        x = x + feed_forward(p, f"l{i}", layer_norm(p, f"l{i}_n1", x))
    logits = layer_norm(p, "last", x) @ p["head"]
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def function_one_op(p, x):
    return x + x


def while_1000(p, x):
    for _ in range(LOOP_TIMES):
        x = x * SCALE + SHIFT
    return x


@torch.jit.script
def _while_script(x: torch.Tensor, times: int, scale: float, shift: float) -> torch.Tensor:
    for _ in range(times):
        x = x * scale + shift
    return x


def while_1000_script(p, x):
    return _while_script(x, LOOP_TIMES, SCALE, SHIFT)


def while_sin_cos(p, x):
    for _ in range(LOOP_TIMES):
        x = torch.sin(x) + WAVE * torch.cos(x)
    return x


@torch.jit.script
def _sin_cos_script(x: torch.Tensor, times: int, scale: float) -> torch.Tensor:
    for _ in range(times):
        x = torch.sin(x) + scale * torch.cos(x)
    return x


def while_sin_cos_script(p, x):
    return _sin_cos_script(x, LOOP_TIMES, WAVE)


def _lstm_state(y, c):
    y = torch.chunk(y, 4, dim=1)
    i, f, o = [torch.sigmoid(t) for t in y[1:]]
    c = f * c + i * torch.tanh(y[0])
    return o * torch.tanh(c), c


def projected_lstm(p, x):
    h = c = torch.zeros_like(x[0])
    states = []
    for now in (x @ p["wx"] + p["b"]).unbind():
        h, c = _lstm_state(torch.addmm(now, h, p["wh"]), c)
        states.append(h)
    return mean_square(torch.stack(states))


def columns_rnn(p, x):
    h = x.new_zeros(x.shape[0], p["u"].shape[0])
    total = 0.0
    for t in range(x.shape[1]):
        h = h * 0.5 if t % 4 == 3 else torch.tanh(torch.addmm(x[:, t] @ p["w"], h, p["u"]))
        total = total + mean_square(h)
    return total / x.shape[1]


def lstm_steps(p, x):
    h = c = torch.zeros_like(x[0])
    total = 0.0
    for now in x.unbind():
        h, c = _lstm_state(torch.addmm(p["b"], torch.cat([now, h], 1), p["w"]), c)
        total = total + mean_square(h)
    return total / x.shape[0]


def lstm_steps_nn(p, x):
    """Return the same through the library's own LSTM, which wants its parameters cut up in another way."""
    start = x.new_zeros(1, *x.shape[1:])
    return mean_square(torch.lstm(x, (start, start), list(p.values()), True, 1, 0.0, True, False, False)[0])


GATES = (1, 2, 0, 3)
"""The library's gates in our numbers: ours are value, input, forget, output; its are input, forget, value, output."""


def lstm_nn_parameters(b, w=None, wx=None, wh=None):
    """Return our weights and bias as the library's LSTM wants them: for the input, for the state, and two biases."""
    w = torch.cat([wx, wh]) if w is None else w
    w = torch.cat([torch.chunk(w.t(), 4)[k] for k in GATES])
    b = torch.cat([torch.chunk(b, 4)[k] for k in GATES])
    width = w.shape[1] // 2
    return {"ih": w[:, :width].contiguous(), "hh": w[:, width:].contiguous(), "b": b, "b2": torch.zeros_like(b)}


def lstm_nn_gradients(ih, hh, b, b2):
    """Return gradients of those as gradients of ours."""
    back = [GATES.index(k) for k in range(4)]
    w = torch.cat([torch.chunk(torch.cat([ih, hh], 1), 4)[k] for k in back]).t()
    return w, torch.cat([torch.chunk(b, 4)[k] for k in back])


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
OTHER_MODELS = {
    "while_1000": {"script": while_1000_script},
    "while_sin_cos": {"script": while_sin_cos_script},
    "fused_fed_back": {"in place": fused_in_place},
    "lstm_64_steps": {"nn.LSTM": lstm_steps_nn},
    "projected_lstm_step": {"nn.LSTM": lstm_steps_nn},
}
"""Other forms than eager and compiled."""
