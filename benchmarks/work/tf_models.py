"""The problems as TensorFlow programs: parameters and inputs in, the loss or the outputs out.

Written against the public TensorFlow 2 API, so that one source serves Ebbflow and TensorFlow.
"""

from __future__ import annotations

from benchmarks.problems import EPSILON, LOOP_SCALE, LOOP_SHIFT, LOOP_TIMES, WAVE_SCALE
from benchmarks.work.tf_module import tf


def cross_entropy(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def mean_square(x):
    return tf.reduce_mean(tf.square(x))


def gemm(p, x, y):
    return tf.matmul(x, y)


def lstm_cell(p, x, h, c, w):
    y = tf.split(tf.matmul(tf.concat([x, h], axis=1), w), 4, axis=1)
    i, f, o = [tf.sigmoid(t) for t in y[1:]]
    c = f * c + i * tf.tanh(y[0])
    return o * tf.tanh(c), c


def mlp(p, x, labels):
    depth = len(p) // 2
    for i in range(depth):
        x = tf.matmul(x, p[f"w{i}"]) + p[f"b{i}"]
        if i < depth - 1:
            x = tf.nn.relu(x)
    return cross_entropy(x, labels)


def two_layer_net(x, y, w1, w2):
    h = tf.maximum(tf.matmul(x, w1), 0)
    diff = tf.matmul(h, w2) - y
    return tf.reduce_mean(tf.reduce_sum(diff**2, axis=1))


def fused(p, x, y, z):
    return (x + y) * z


def conv(x, w, stride=1):
    pad = int(w.shape[0]) // 2
    padding = "SAME" if stride == 1 else [[0, 0], [pad, pad], [pad, pad], [0, 0]]
    return tf.nn.conv2d(x, w, stride, padding)


def batch_norm(p, name, x):
    scale, shift = p[f"{name}_scale"], p[f"{name}_shift"]
    return tf.compat.v1.nn.fused_batch_norm(x, scale, shift, epsilon=EPSILON)[0]


def conv_stack(p, x):
    for i in range(len(p) // 2):
        x = tf.nn.relu(tf.nn.bias_add(conv(x, p[f"w{i}"]), p[f"b{i}"]))
    return mean_square(x)


def small_cnn(p, x, labels):
    x = tf.nn.relu(tf.nn.bias_add(conv(x, p["w"]), p["b"]))
    x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    x = tf.reshape(x, [x.shape[0], -1])
    return cross_entropy(tf.matmul(x, p["dense_w"]) + p["dense_b"], labels)


def residual_block(p, x):
    y = tf.nn.relu(batch_norm(p, "n0", conv(x, p["w0"])))
    y = batch_norm(p, "n1", conv(y, p["w1"]))
    return mean_square(tf.nn.relu(x + y))


def bottleneck(p, at, x, stride):
    def normed(name, x, stride=1):
        return batch_norm(p, name, conv(x, p[f"{name}_w"], stride))

    short = normed(f"{at}_short", x, stride) if f"{at}_short_w" in p else x
    x = tf.nn.relu(normed(f"{at}_in", x))
    x = tf.nn.relu(normed(f"{at}_mid", x, stride))
    return tf.nn.relu(short + normed(f"{at}_out", x))


def resnet(p, x, labels):
    x = tf.nn.relu(batch_norm(p, "stem", conv(x, p["stem_w"], 2)))
    x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    for at in dict.fromkeys(name.split("_")[0] for name in p if name.startswith("s") and "b" in name.split("_")[0]):
        x = bottleneck(p, at, x, 2 if at.endswith("b0") and not at.startswith("s0") else 1)
    x = tf.reduce_mean(x, [1, 2])
    return cross_entropy(tf.matmul(x, p["dense_w"]) + p["dense_b"], labels)


def layer_norm(p, name, x):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    centred = x - mean
    variance = tf.reduce_mean(tf.square(centred), -1, keepdims=True)
    return centred * tf.math.rsqrt(variance + EPSILON) * p[f"{name}_scale"] + p[f"{name}_shift"]


def gelu(x):
    return tf.nn.gelu(x, approximate=True)


def layernorm_gelu(p):
    x = p["x"]
    for i in range(len(p) // 2):
        x = gelu(layer_norm(p, f"n{i}", x))
    return mean_square(x)


def softmax_cross_entropy(p, labels):
    return cross_entropy(p["logits"], labels)


def attention(p, at, x):
    batch, length, width = x.shape
    _, _, heads, size = p[f"{at}_qkv"].shape
    qkv = tf.matmul(tf.reshape(x, [-1, width]), tf.reshape(p[f"{at}_qkv"], [width, 3 * width]))
    q, k, v = tf.unstack(tf.transpose(tf.reshape(qkv, [batch, length, 3, heads, size]), [2, 0, 3, 1, 4]))
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * size**-0.5)
    mixed = tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), [-1, width])
    return tf.reshape(tf.matmul(mixed, p[f"{at}_join"]), [batch, length, width])


def feed_forward(p, at, x):
    batch, length, width = x.shape
    x = gelu(tf.matmul(tf.reshape(x, [-1, width]), p[f"{at}_up"]) + p[f"{at}_up_b"])
    return tf.reshape(tf.matmul(x, p[f"{at}_down"]) + p[f"{at}_down_b"], [batch, length, width])


def transformer(p, tokens, labels):
    x = tf.gather(p["embedding"], tokens) + p["position"]
    for i in range(sum(name.endswith("_qkv") for name in p)):
        x = x + attention(p, f"l{i}", layer_norm(p, f"l{i}_n0", x))
        x = x + feed_forward(p, f"l{i}", layer_norm(p, f"l{i}_n1", x))
    x = tf.reshape(layer_norm(p, "last", x), [-1, x.shape[2]])
    return cross_entropy(tf.matmul(x, p["head"]), tf.reshape(labels, [-1]))


def function_one_op(p, x):
    return x + x


def while_1000(p, x):
    def step(i, x):
        return i + 1, x * LOOP_SCALE + LOOP_SHIFT

    return tf.while_loop(lambda i, x: i < LOOP_TIMES, step, (tf.constant(0), x))[1]


def while_sin_cos(p, x):
    def step(i, x):
        return i + 1, tf.sin(x) + WAVE_SCALE * tf.cos(x)

    return tf.while_loop(lambda i, x: i < LOOP_TIMES, step, (tf.constant(0), x))[1]


def _lstm_step(p, x, h, c):
    return _lstm_state(tf.matmul(tf.concat([x, h], axis=1), p["w"]) + p["b"], c)


def _lstm_state(y, c):
    y = tf.split(y, 4, axis=1)
    i, f, o = [tf.sigmoid(t) for t in y[1:]]
    c = f * c + i * tf.tanh(y[0])
    return o * tf.tanh(c), c


def lstm_steps(p, x):
    """Return the mean over the steps of the mean square of the state, by a loop in the graph."""
    steps = x.shape[0]

    def step(t, h, c, total):
        h, c = _lstm_step(p, x[t], h, c)
        return t + 1, h, c, total + mean_square(h)

    start = tf.zeros_like(x[0])
    loop = (tf.constant(0), start, start, tf.constant(0.0))
    return tf.while_loop(lambda t, *_: t < steps, step, loop, maximum_iterations=steps)[3] / float(steps)


def lstm_steps_unrolled(p, x):
    """Return the same, by a loop in Python."""
    h = c = tf.zeros_like(x[0])
    total = 0.0
    for now in tf.unstack(x):
        h, c = _lstm_step(p, now, h, c)
        total += mean_square(h)
    return total / float(x.shape[0])


def projected_lstm(p, x):
    """Return the mean square of all states; inputs are projected at once, and come to the loop by a TensorArray."""
    steps, batch, width = x.shape
    projected = tf.reshape(tf.matmul(tf.reshape(x, [-1, width]), p["wx"]) + p["b"], [steps, batch, 4 * width])
    inputs = tf.TensorArray(tf.float32, steps).unstack(projected)
    outputs = tf.TensorArray(tf.float32, steps)

    def step(t, h, c, outputs):
        h, c = _lstm_state(inputs.read(t) + tf.matmul(h, p["wh"]), c)
        return t + 1, h, c, outputs.write(t, h)

    start = tf.zeros([batch, width])
    loop = (tf.constant(0), start, start, outputs)
    return mean_square(tf.while_loop(lambda t, *_: t < steps, step, loop, maximum_iterations=steps)[3].stack())


def columns_rnn(p, x):
    """Return the mean square of all states of a net that reads `x[:, t]`, and rests in every fourth step."""
    batch, steps, _ = x.shape

    def step(t, h, total):
        h = tf.cond(tf.equal(t % 4, 3), lambda: h * 0.5, lambda: tf.tanh(x[:, t] @ p["w"] + h @ p["u"]))
        return t + 1, h, total + mean_square(h)

    start = (tf.constant(0), tf.zeros([batch, p["u"].shape[0]]), tf.constant(0.0))
    return tf.while_loop(lambda t, *_: t < steps, step, start, maximum_iterations=steps)[2] / steps


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
