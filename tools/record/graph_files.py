"""Record graphs as TensorFlow writes them to files: a frozen one, and loops and choices of both kinds.

    python tools/record/graph_files.py

Run it in an environment that has TensorFlow 2.21 (CPU). Writes `frozen_conv/` and `control_flow/` below
tests/golden/tf221. Numbers come from seeds; names of functions in a library carry numbers of TensorFlow's own, which
are the same again in a fresh process.
"""

from __future__ import annotations

import os
import pathlib
import shutil

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

WRITES = ("tf221/frozen_conv/*", "tf221/control_flow/*")
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "tf221"
V1 = tf.compat.v1


def main() -> None:
    """Write the files anew."""
    V1.disable_eager_execution()
    for name in ("frozen_conv", "control_flow"):
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        (GOLDEN / name).mkdir()
    frozen_conv(GOLDEN / "frozen_conv")
    control_flow(GOLDEN / "control_flow", "v1")
    V1.enable_control_flow_v2()
    control_flow(GOLDEN / "control_flow", "v2")
    (GOLDEN / "control_flow" / "v2.pbtxt").unlink()  # as long as all others together


def write(folder: pathlib.Path, name: str, graph_def: V1.GraphDef) -> None:
    (folder / f"{name}.pb").write_bytes(graph_def.SerializeToString(deterministic=True))
    (folder / f"{name}.pbtxt").write_text(text_format.MessageToString(graph_def), encoding="utf-8")


def frozen_conv(folder: pathlib.Path) -> None:
    """Write a small classifier of images whose weights are constants."""
    numbers = np.random.RandomState(21)

    def weights(*shape: int) -> tf.Tensor:
        return tf.constant((numbers.randn(*shape) * 0.3).astype(np.float32))

    with tf.Graph().as_default() as graph:
        image = V1.placeholder(tf.float32, [None, 12, 12, 3], name="image")
        x = tf.nn.conv2d(image, weights(3, 3, 3, 8), 1, "SAME", name="conv1")
        x = V1.nn.bias_add(x, weights(8))
        scale, offset, mean, variance = weights(8) + 1.0, weights(8), weights(8), tf.abs(weights(8)) + 0.5
        x = V1.nn.fused_batch_norm(x, scale, offset, mean, variance, is_training=False)[0]
        x = tf.nn.max_pool2d(tf.nn.relu(x), 2, 2, "VALID")
        x = tf.nn.relu6(V1.nn.depthwise_conv2d(x, weights(3, 3, 8, 1), [1, 1, 1, 1], "SAME"))
        x = tf.nn.conv2d(x, weights(1, 1, 8, 4), 2, "SAME")
        x = tf.nn.avg_pool2d(x, 3, 1, "SAME")
        x = tf.matmul(tf.reshape(x, [-1, 36]), weights(36, 5)) + weights(5)
        V1.argmax(tf.nn.softmax(x, name="prob"), 1, name="cls")
    write(folder, "graph", graph.as_graph_def())


def control_flow(folder: pathlib.Path, name: str) -> None:
    """Write a loop that fills a TensorArray, its gradient, a choice, and a loop with both in it."""
    with tf.Graph().as_default() as graph:
        n, x = V1.placeholder(tf.int32, [], name="n"), V1.placeholder(tf.float32, [2, 3], name="x")
        w = tf.constant(np.random.RandomState(22).randn(3, 3).astype(np.float32) * 0.5, name="w")
        rows = tf.TensorArray(tf.float32, n)

        def turn(i: tf.Tensor, h: tf.Tensor, rows: tf.TensorArray) -> tuple:
            return i + 1, tf.tanh(tf.matmul(h, w)) + 0.1, rows.write(i, h)

        _, h, rows = V1.while_loop(lambda i, *_: i < n, turn, [tf.constant(0), x, rows], name="loop")
        tf.identity(h, name="loop_out")
        tf.identity(rows.stack(), name="loop_hist")
        chosen = V1.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0 + h, lambda: x - 1.0, name="branch")
        tf.identity(chosen, name="cond_out")
        tf.identity(nested(n), name="nested_out")
        tf.identity(V1.gradients(tf.reduce_sum(h), x)[0], name="loop_grad")
        V1.train.export_meta_graph(str(folder / f"{name}.meta"), clear_extraneous_savers=True)
    write(folder, name, graph.as_graph_def())


def nested(n: tf.Tensor) -> tf.Tensor:
    def turn(i: tf.Tensor, total: tf.Tensor) -> tuple:
        inner = V1.while_loop(
            lambda j, _: j < i, lambda j, sum: (j + 1, sum + tf.cast(j, tf.float32)), [tf.constant(0), total]
        )[1]
        return i + 1, V1.cond(inner > 10.0, lambda: inner * 0.5, lambda: inner)

    return V1.while_loop(lambda i, _: i < n, turn, [tf.constant(0), tf.constant(0.0)], name="nested")[1]


if __name__ == "__main__":
    main()
