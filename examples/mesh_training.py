"""One net, one training step, any mesh: by data, by model, by both, and on one device, with the same numbers.

    ebbflow run examples/mesh_training.py

A mesh is devices in a rectangle with named sides, here four CPUs. The layout of a weight says which of its axes is
divided along which side; the program is otherwise the one for a single device.
"""

import numpy as np
import tensorflow as tf
from tensorflow.experimental import dtensor

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4
)
MESHES = {"data": (4, 1), "model": (1, 4), "both": (2, 2)}
BATCH, LENGTH, WIDTH, HEADS, HIDDEN, WORDS = 8, 6, 16, 4, 32, 12
rng = np.random.default_rng(7)


def weight(*shape):
    return (rng.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32)


# --- two nets: weights with the sides they are divided along, and what is computed from them --------------------------

MLP = {
    "w1": (weight(WIDTH, HIDDEN), ["unsharded", "model"]),
    "b1": (np.zeros(HIDDEN, np.float32), ["model"]),
    "w2": (weight(HIDDEN, WORDS), ["model", "unsharded"]),
}

TRANSFORMER = {
    "embedding": (weight(WORDS, WIDTH), ["unsharded", "model"]),
    "query": (weight(WIDTH, HEADS, WIDTH // HEADS), ["unsharded", "model", "unsharded"]),
    "key": (weight(WIDTH, HEADS, WIDTH // HEADS), ["unsharded", "model", "unsharded"]),
    "value": (weight(WIDTH, HEADS, WIDTH // HEADS), ["unsharded", "model", "unsharded"]),
    "out": (weight(HEADS, WIDTH // HEADS, WIDTH), ["model", "unsharded", "unsharded"]),
    "w1": (weight(WIDTH, HIDDEN), ["unsharded", "model"]),
    "w2": (weight(HIDDEN, WIDTH), ["model", "unsharded"]),
    "logits": (weight(WIDTH, WORDS), ["unsharded", "unsharded"]),
}


def mlp(w, x):
    return tf.matmul(tf.nn.relu(tf.matmul(x, w["w1"]) + w["b1"]), w["w2"])


def normalised(x):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-6)


def transformer(w, words):
    x = tf.einsum("blv,vd->bld", tf.one_hot(words, WORDS), w["embedding"])
    y = normalised(x)
    query, key, value = (tf.einsum("bld,dhk->bhlk", y, w[name]) for name in ("query", "key", "value"))
    scores = tf.einsum("bhqk,bhmk->bhqm", query, key) / np.float32(np.sqrt(WIDTH // HEADS))
    mask = np.where(np.tri(LENGTH, dtype=bool), 0.0, -1e9).astype(np.float32)
    mixed = tf.einsum("bhqm,bhmk->bhqk", tf.nn.softmax(scores + mask), value)
    x = x + tf.einsum("bhqk,hkd->bqd", mixed, w["out"])
    x = x + tf.einsum("blh,hd->bld", tf.nn.relu(tf.einsum("bld,dh->blh", normalised(x), w["w1"])), w["w2"])
    return tf.einsum("bld,dv->blv", normalised(x), w["logits"])


INPUTS = {
    "mlp": (rng.normal(size=(BATCH, WIDTH)).astype(np.float32), rng.integers(0, WORDS, BATCH)),
    "transformer": (rng.integers(0, WORDS, (BATCH, LENGTH)), rng.integers(0, WORDS, (BATCH, LENGTH))),
}


def trained(net, weights, inputs, mesh):
    """Return the losses of ten steps and the weights after them; `mesh` None is one device."""

    def placed(array, sides):
        return tf.constant(array) if mesh is None else dtensor.copy_to_mesh(array, dtensor.Layout(sides, mesh))

    kind = tf.Variable if mesh is None else dtensor.DVariable
    w = {name: kind(placed(array, sides)) for name, (array, sides) in weights.items()}
    x, y = (placed(array, ["batch"] + ["unsharded"] * (array.ndim - 1)) for array in inputs)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            found = net(w, x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=found))
        for variable, gradient in zip(w.values(), tape.gradient(loss, list(w.values()))):
            variable.assign_sub(0.5 * gradient)
        return loss

    losses = [float(step(x, y)) for _ in range(10)]
    if mesh is not None:
        for name, (_, sides) in weights.items():
            dtensor.check_layout(w[name], dtensor.Layout(sides, mesh))
    return np.array(losses), {name: v.numpy() for name, v in w.items()}


for name, net, weights in (("mlp", mlp, MLP), ("transformer", transformer, TRANSFORMER)):
    losses, alone = trained(net, weights, INPUTS[name], None)
    print(f"{name} on one device: the loss falls: {bool(losses[-1] < 0.7 * losses[0])}")
    for how, shape in MESHES.items():
        mesh = dtensor.create_mesh(list(zip(("batch", "model"), shape)), device_type="CPU")
        same, spread = trained(net, weights, INPUTS[name], mesh)
        near = all(np.allclose(alone[key], spread[key], rtol=1e-4, atol=1e-5) for key in alone)
        print(f"{name} divided by {how}: the same losses: {np.allclose(losses, same, rtol=1e-5)} and weights: {near}")
