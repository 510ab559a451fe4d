"""Layers that the golden programs leave out, with known weights: what TensorFlow 1.15 gives, and what Ebbflow must.

A row is a layer, the shape of its inputs, and how it is called; it sees three batches.
`tools/record/layers.py` writes the answers.
"""

import json
import os

import numpy as np

ANSWERS = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
KEPT = 24  # numbers kept of each output, besides its shape and its sum


def waves(*shape):
    """Inputs that are different everywhere."""
    return np.sin(np.arange(int(np.prod(shape)), dtype=np.float32) * 0.7).reshape(shape).astype(np.float32)


def batches(shape):
    return [waves(*shape), waves(*shape)[::-1] * 2.0 + 0.5, waves(*shape) * 3.0 - 1.0]


def ramp(tf):
    """An initializer anybody can recompute: from -1 to 1 in even steps."""

    def values(shape, dtype=None, partition_info=None):
        sizes = [int(d) for d in shape]
        return tf.constant(np.linspace(-1.0, 1.0, int(np.prod(sizes))).reshape(sizes), dtype or tf.float32)

    return values


def stretch(tf):
    return lambda shape: (tf.fill([1, 3], 2.0), tf.fill([1, 3], -1.0))


LINES, IMAGES, VOLUMES, ROWS = (2, 9, 3), (2, 9, 8, 3), (2, 4, 5, 6, 2), (4, 3)
TRAINING = {"training": True}

# name: layer of (layers, tf, initializer), shape of the inputs, arguments of the call
CASES = {
    "conv1d causal": (
        lambda L, tf, w: L.Conv1D(4, 3, padding="causal", dilation_rate=2, kernel_initializer=w),
        LINES,
        {},
    ),
    "conv1d dilated": (
        lambda L, tf, w: L.Conv1D(4, 3, padding="same", dilation_rate=2, kernel_initializer=w),
        LINES,
        {},
    ),
    "conv2d dilated along one axis": (
        lambda L, tf, w: L.Conv2D(4, 3, padding="same", dilation_rate=(2, 1), kernel_initializer=w),
        IMAGES,
        {},
    ),
    "conv2d by names": (
        lambda L, tf, w: L.Conv2D(2, 3, activation="relu", kernel_initializer="ones", bias_initializer="zeros"),
        IMAGES,
        {},
    ),
    "conv3d": (lambda L, tf, w: L.Conv3D(3, 2, kernel_initializer=w), VOLUMES, {}),
    "conv3d strided": (
        lambda L, tf, w: L.Conv3D(3, 2, (1, 2, 1), padding="same", bias_initializer=w, kernel_initializer=w),
        VOLUMES,
        {},
    ),
    "conv2d transposed, valid": (lambda L, tf, w: L.Conv2DTranspose(3, 3, 2, kernel_initializer=w), IMAGES, {}),
    "conv2d transposed, uneven": (
        lambda L, tf, w: L.Conv2DTranspose(
            3, [2, 4], strides=(3, 2), padding="same", activation=tf.nn.relu, kernel_initializer=w
        ),
        IMAGES,
        {},
    ),
    "conv3d transposed": (
        lambda L, tf, w: L.Conv3DTranspose(2, 3, strides=2, padding="same", kernel_initializer=w),
        VOLUMES,
        {},
    ),
    "conv3d transposed, valid": (
        lambda L, tf, w: L.Conv3DTranspose(2, 3, use_bias=False, kernel_initializer=w),
        VOLUMES,
        {},
    ),
    "separable conv1d": (
        lambda L, tf, w: L.SeparableConv1D(4, 3, depth_multiplier=2, depthwise_initializer=w, pointwise_initializer=w),
        LINES,
        {},
    ),
    "separable conv1d strided": (
        lambda L, tf, w: L.SeparableConv1D(
            4, 3, 2, "same", activation=tf.tanh, depthwise_initializer=w, pointwise_initializer=w, bias_initializer=w
        ),
        LINES,
        {},
    ),
    "separable conv2d dilated": (
        lambda L, tf, w: L.SeparableConv2D(4, 3, dilation_rate=2, depthwise_initializer=w, pointwise_initializer=w),
        IMAGES,
        {},
    ),
    "separable conv2d strided": (
        lambda L, tf, w: L.SeparableConv2D(
            4, 3, strides=2, padding="same", depth_multiplier=2, depthwise_initializer=w, pointwise_initializer=w
        ),
        IMAGES,
        {},
    ),
    "average pooling of lines": (lambda L, tf, w: L.AveragePooling1D(3, 2, padding="same"), LINES, {}),
    "max pooling of volumes": (lambda L, tf, w: L.MaxPooling3D(2, 2, padding="same"), VOLUMES, {}),
    "average pooling of volumes": (lambda L, tf, w: L.AveragePooling3D((1, 2, 2), 1), VOLUMES, {}),
    "max pooling, channels first": (
        lambda L, tf, w: L.MaxPooling3D(2, 2, data_format="channels_first"),
        (2, 2, 4, 5, 6),
        {},
    ),
    "flatten, channels first": (lambda L, tf, w: L.Flatten(data_format="channels_first"), IMAGES, {}),
    "batch norm over two axes": (
        lambda L, tf, w: L.BatchNormalization(axis=[1, 3], momentum=0.9),
        (4, 2, 5, 3),
        TRAINING,
    ),
    "batch norm, channels first": (
        lambda L, tf, w: L.BatchNormalization(axis=1, momentum=0.9, fused=False, gamma_initializer=w),
        (4, 3, 5, 2),
        TRAINING,
    ),
    "batch norm without scale": (
        lambda L, tf, w: L.BatchNormalization(scale=False, momentum=0.9),
        (4, 2, 5, 3),
        TRAINING,
    ),
    "batch renorm": (
        lambda L, tf, w: L.BatchNormalization(renorm=True, momentum=0.9, renorm_momentum=0.8),
        ROWS,
        TRAINING,
    ),
    "batch renorm clipped": (
        lambda L, tf, w: L.BatchNormalization(
            renorm=True,
            renorm_clipping={"rmax": 1.2, "rmin": 0.9, "dmax": 0.3},
            momentum=0.9,
            gamma_initializer=w,
            beta_initializer=w,
        ),
        (4, 2, 2, 3),
        TRAINING,
    ),
    "batch renorm at rest": (lambda L, tf, w: L.BatchNormalization(renorm=True), ROWS, {}),
    "virtual batches": (
        lambda L, tf, w: L.BatchNormalization(virtual_batch_size=2, momentum=0.9, gamma_initializer=w),
        (4, 2, 2, 3),
        TRAINING,
    ),
    "adjusted batch norm": (
        lambda L, tf, w: L.BatchNormalization(adjustment=stretch(tf), momentum=0.9),
        ROWS,
        TRAINING,
    ),
}


def told(array):
    """An output in short: its shape, its first numbers, the sum of all."""
    flat = np.asarray(array, np.float64).ravel()
    return {"shape": list(array.shape), "first": [float(f"{x:.8g}") for x in flat[:KEPT]], "sum": float(flat.sum())}


def play_in_a_graph(tf, v1, layers, name):
    make, shape, options = CASES[name]
    with tf.Graph().as_default():
        layer = make(layers, tf, ramp(tf))
        x = v1.placeholder(tf.float32, (None, *shape[1:]), name="x")
        y = layer(x, **options)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
            outputs = [told(session.run([y, updates], {x: batch})[0]) for batch in batches(shape)]
            variables = {v.name: told(session.run(v)) for v in layer.variables}
            nodes = [op.name for op in v1.get_default_graph().get_operations() if "Initializer" not in op.name]
            return {"outputs": outputs, "variables": variables, "nodes": nodes, "static": y.shape.as_list()}


def play_eagerly(tf, layers, name):
    make, shape, options = CASES[name]
    layer = make(layers, tf, ramp(tf))
    outputs = [told(layer(tf.constant(batch), **options).numpy()) for batch in batches(shape)]
    return {"outputs": outputs, "variables": [told(v.numpy()) for v in layer.variables]}


def answers():
    with open(ANSWERS) as file:
        return json.load(file)
