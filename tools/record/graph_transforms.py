"""What TensorFlow's TransformGraph makes of small graphs: made with 1.15, compared by the tests.

    python tools/record/graph_transforms.py tests/golden/graph_transforms     (in an environment with TensorFlow 1.15)

`cases.json` lists them: the graph, its inputs and outputs, the transforms, and what came of it, a file or an error.
"""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.tools.graph_transforms import TransformGraph

WRITES = ("graph_transforms/*",)


def numbers(*shape, seed=0):
    """Return numbers that are the same each time."""
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def net():
    """Constants to fold, an Identity, what stands there twice, a node that is waited for, devices."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.constant(numbers(3, 4), name="w")
    with tf.device("/device:GPU:1"):
        product = tf.matmul(x, tf.identity(w, name="read"), name="product")
    total = tf.add(tf.constant([1.0, 2.0, 3.0, 4.0], name="a"), tf.constant(2.0, name="b"), name="total")
    shifted = tf.identity(tf.check_numerics(product + total, "bad", name="checked"), name="shifted")
    unused = tf.nn.relu(shifted, name="unused")
    twice = tf.add(tf.nn.relu(shifted, name="first"), tf.nn.relu(shifted, name="second"), name="twice")
    drawn = tf.multiply(tf.random_uniform([4], seed=1, name="draw"), 0.0, name="nothing")
    with tf.control_dependencies([unused]):
        tf.add(twice, drawn, name="y")
    tf.tanh(shifted, name="z")


def convolutions():
    """Convolutions, a product and a batch normalisation behind them, in the forms that are folded."""
    x = tf.placeholder(tf.float32, [2, 6, 6, 2], name="x")
    first = tf.nn.conv2d(x, tf.constant(numbers(3, 3, 2, 4), name="w1"), [1, 1, 1, 1], "SAME", name="conv1")
    scaled = tf.multiply(first, tf.constant(numbers(4, seed=1), name="scale"), name="scaled")
    deep = tf.nn.depthwise_conv2d_native(
        scaled, tf.constant(numbers(2, 2, 4, 2, seed=2), name="w2"), [1, 1, 1, 1], "VALID", name="deep"
    )
    deep = tf.multiply(deep, tf.constant(numbers(8, seed=3), name="scale2"), name="deep_scaled")
    last = tf.nn.conv2d(deep, tf.constant(numbers(1, 1, 8, 3, seed=4), name="w3"), [1, 1, 1, 1], "VALID", name="conv3")
    moments = [tf.constant(numbers(3, seed=5 + i) if i != 1 else np.abs(numbers(3, seed=6)) + 0.5, name=n)
               for i, n in enumerate(["mean", "variance", "beta", "gamma"])]  # fmt: skip
    mean, variance, beta, gamma = moments
    y, _, _ = tf.nn.fused_batch_norm(last, gamma, beta, mean, variance, is_training=False, name="norm")
    flat = tf.reshape(y, [2, 75], name="flat")
    dense = tf.matmul(flat, tf.constant(numbers(75, 2, seed=9), name="w4"), name="dense")
    tf.multiply(dense, tf.constant(numbers(2, seed=10), name="scale4"), name="y")


def global_norm():
    """The batch normalisation of the first graphs, whose op no public function makes any more."""
    x = tf.placeholder(tf.float32, [2, 5, 5, 2], name="x")
    conv = tf.nn.conv2d(x, tf.constant(numbers(3, 3, 2, 3), name="w"), [1, 1, 1, 1], "SAME", name="conv")
    parts = [tf.constant(np.abs(numbers(3, seed=1 + i)) + 0.1, name=n) for i, n in enumerate("mvbg")]
    with tf.control_dependencies(parts):
        norm = tf.identity(conv, name="norm")
    tf.nn.relu(norm, name="y")


def older(graph_def):
    """Make the node "norm" one that no graph of today may have."""
    for node in graph_def.node:
        if node.name == "norm":
            node.op = "BatchNormWithGlobalNormalization"
            node.input[:] = ["conv", *"mvbg"]
            node.attr["variance_epsilon"].f = 1e-3
            node.attr["scale_after_normalization"].b = True
    graph_def.versions.producer = 8


def dilated():
    """A convolution with holes in the form that TF 1 writes it."""
    x = tf.placeholder(tf.float32, [1, 8, 8, 2], name="x")
    spread = tf.space_to_batch_nd(x, [2, 2], [[2, 2], [2, 2]], name="spread")
    conv = tf.nn.conv2d(spread, tf.constant(numbers(3, 3, 2, 3), name="w"), [1, 1, 1, 1], "VALID", name="conv")
    back = tf.batch_to_space_nd(conv, [2, 2], [[0, 0], [0, 0]], name="back")
    tf.nn.relu(back, name="y")


def many():
    """Many nodes, for names."""
    x = tf.placeholder(tf.float32, [3], name="x")
    for i in range(80):
        x = tf.negative(x, name=f"node_{i}")
    tf.identity(x, name="y")


def weights():
    """Weights of several sizes and ranges."""
    x = tf.placeholder(tf.float32, [None, 40], name="x")
    for i, value in enumerate([numbers(40, 40), np.abs(numbers(40, 40, seed=1)) + 1, np.full((40, 40), 3.0, np.float32),
                               np.full((40, 40), -3.0, np.float32), np.zeros((40, 40), np.float32),
                               numbers(40, 5, seed=2)]):  # fmt: skip
        x = tf.matmul(x, tf.constant(value, name=f"w{i}"), name=f"product{i}")
    tf.add(x, tf.constant(numbers(5, seed=3), name="bias"), name="y")


CASES = [
    (net, ["x"], ["y", "z"], transforms)
    for transforms in [
        [], ["strip_unused_nodes"], ["fold_constants"], ["fold_constants(ignore_errors=true)"],
        ["remove_nodes(op=Identity)"], ["remove_nodes(op=Identity, op=CheckNumerics)"], ["remove_nodes(op=Add)"],
        ["remove_nodes"], ["merge_duplicate_nodes"], ["sort_by_execution_order"], ["remove_control_dependencies"],
        ["rename_op(old_op_name=Relu, new_op_name=Relu6)"], ["rename_op(old_op_name=Relu)"], ["rename_op"],
        ["remove_attribute(attribute_name=T)"], ["remove_attribute(attribute_name=T, op_name=Relu)"],
        ["remove_attribute"], ["rename_attribute(old_attribute_name=T, new_attribute_name=U)"],
        ["rename_attribute(old_attribute_name=T, new_attribute_name=U, op_name=Tanh)"], ["rename_attribute"],
        ["remove_device"], ['set_device(device="/device:CPU:0")'],
        ['set_device(device="/device:CPU:0", if_default=true)'], ["set_device"], ["obfuscate_names"],
        ["add_default_attributes"], ["remove_attribute(attribute_name=transpose_a)", "add_default_attributes"],
        ["nonsense"], ["fold_constants(x"], ["fold_constants)"], ["set_device(device=/cpu:0)"], ["round_weights"],
        ["strip_unused_nodes(type=int32, shape=\"1,2\")"], ["  remove_device   strip_unused_nodes  "],
        ["remove_device,strip_unused_nodes"],
    ]
] + [
    (net, ["shifted"], ["z"], ["strip_unused_nodes"]),
    (net, ["shifted"], ["z"], ['strip_unused_nodes(type=float, shape="1,4")']),
    (net, ["shifted"], ["z"], ['strip_unused_nodes(name=shifted, type_for_name=int32, shape_for_name="1,4")']),
    (net, ["shifted"], ["z"], ["strip_unused_nodes(type=nonsense)"]),
    (net, ["shifted"], ["z"], ["fold_constants"]),
    (net, ["nowhere"], ["z"], ["strip_unused_nodes"]),
    (net, ["x"], ["nowhere"], ["strip_unused_nodes"]),
    (net, ["x"], [], ["strip_unused_nodes"]),
    (net, [], ["z"], ["fold_constants"]),
    (many, ["x"], ["y"], ["obfuscate_names"]),
    (convolutions, ["x"], ["y"], ["fold_batch_norms"]),
    (convolutions, ["x"], ["y"], ["fold_old_batch_norms"]),
    (convolutions, ["x"], ["y"], ["fold_batch_norms", "fold_old_batch_norms", "strip_unused_nodes"]),
    (global_norm, ["x"], ["y"], ["fold_old_batch_norms"]),
    (dilated, ["x"], ["y"], ["flatten_atrous_conv"]),
    (weights, ["x"], ["y"], ["round_weights"]),
    (weights, ["x"], ["y"], ["round_weights(num_steps=4)"]),
    (weights, ["x"], ["y"], ["quantize_weights"]),
    (weights, ["x"], ["y"], ["quantize_weights(minimum_size=10)"]),
]  # fmt: skip


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    rows = []
    made = {}
    for number, (build, inputs, outputs, transforms) in enumerate(CASES):
        if build not in made:
            with tf.Graph().as_default() as graph:
                build()
            made[build] = graph.as_graph_def()
            if build is global_norm:
                older(made[build])
            with open(os.path.join(folder, build.__name__ + ".pb"), "wb") as file:
                file.write(made[build].SerializeToString())
        given = graph_pb2.GraphDef()
        given.CopyFrom(made[build])
        row = {"graph": build.__name__, "inputs": inputs, "outputs": outputs, "transforms": transforms}
        try:
            result = TransformGraph(given, inputs, outputs, transforms)
        except Exception as error:
            row["error"] = [type(error).__name__, str(error)]
        else:
            row["result"] = f"{number:02}.pb"
            with open(os.path.join(folder, row["result"]), "wb") as file:
                file.write(result.SerializeToString())
        rows.append(row)
    with open(os.path.join(folder, "cases.json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
