"""Graphs with loops and choices that both Ebbflow and TensorFlow read: each writes, the other reads, runs and compares.

    python tools/graph_exchange.py PYTHON [PYTHON …]

PYTHON are interpreters with TensorFlow (1.15 or 2.x); this one has Ebbflow. The same program builds graphs as in
TensorFlow 1 (loops, choices, both nested, gradients through them, lists of tensors, a training step) and exports them
with values that they give. Then each library imports what the others wrote, runs it and compares; Ebbflow also exports
again what it has imported, and TensorFlow reads that. `--write`, `--read` and `--again` are what a process is asked.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback
from typing import Any

import numpy as np

FEEDS = ([0.1, 0.2, 0.3], [-0.1, -0.2, 0.1], [2.0, 3.0, -9.0])


def library(name: str) -> Any:
    """Return TensorFlow 1's names, of the library called so, with graphs as its mode."""
    tf = importlib.import_module(name)
    if not hasattr(tf, "placeholder"):
        tf = tf.compat.v1
    if hasattr(tf, "disable_eager_execution"):
        tf.disable_eager_execution()
    if hasattr(tf, "disable_control_flow_v2"):
        tf.disable_control_flow_v2()
    return tf


# --- the graphs -------------------------------------------------------------------------------------------------------


def loop(tf: Any, x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 1.5 + x), [tf.constant(0), x])[1]


def choice(tf: Any, x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)


def choice_of_effects(tf: Any, x: Any) -> Any:
    v = tf.get_variable("v", initializer=[1.0, 1.0, 1.0])
    changed = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.assign_add(v, x), lambda: tf.assign(v, x * 3))
    with tf.control_dependencies([changed]):
        return tf.identity(changed)


def slope_of_loop(tf: Any, x: Any) -> Any:
    y = tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, tf.tanh(y * 1.5 + x)), [tf.constant(0), x])[1]
    return tf.gradients(tf.reduce_sum(y), x)[0]


def slope_of_choice(tf: Any, x: Any) -> Any:
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sin(x), lambda: x * x)
    return tf.gradients(y, x)[0]


def nested(tf: Any, x: Any) -> Any:
    def inner(j: Any, z: Any) -> Any:
        return j + 1, tf.cond(tf.reduce_sum(z) > 3, lambda: z - 1.0, lambda: z * 2)

    def outer(i: Any, y: Any) -> Any:
        return i + 1, tf.while_loop(lambda j, z: j < i, inner, [tf.constant(0), y])[1]

    return tf.while_loop(lambda i, y: i < 5, outer, [tf.constant(0), x])[1]


def rows(tf: Any, x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 4)

    def step(i: Any, array: Any) -> Any:
        return i + 1, array.write(i, x * tf.cast(i, tf.float32))

    return tf.while_loop(lambda i, _: i < 4, step, [tf.constant(0), array])[1].stack()


def mapped(tf: Any, x: Any) -> Any:
    y = tf.map_fn(lambda row: tf.tanh(row) * tf.reduce_sum(x), x)
    return tf.gradients(y, x)[0] + y


def training(tf: Any, x: Any) -> Any:
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0])
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), [tf.constant(0), x])[1]
    train = tf.train.GradientDescentOptimizer(0.001).minimize(tf.reduce_sum(y * y))
    with tf.control_dependencies([train]):
        return tf.identity(v.read_value())


def recurrent(tf: Any, x: Any) -> Any:
    w = tf.get_variable("w", initializer=np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32))

    def step(state: Any, value: Any) -> Any:
        return tf.tanh(state + tf.matmul(tf.reshape(value * x, [1, 3]), w))

    return tf.scan(step, tf.stack([1.0, 2.0, 3.0, 4.0]), initializer=tf.zeros([1, 4]))


def functions(tf: Any, x: Any) -> Any:
    """A function in a function, one that captures, and one whose gradient is another."""
    if tf.__name__.startswith("tensorflow"):
        defun = importlib.import_module("tensorflow.python.framework.function").Defun
    else:
        defun = importlib.import_module("ebbflow.functions.typed_function").Defun
    outside = tf.identity(x * 2)

    @defun(tf.float32, tf.float32)
    def threefold(value: Any, grad: Any) -> Any:
        return grad * 3.0 + value

    @defun(tf.float32, grad_func=threefold)
    def squared(value: Any) -> Any:
        return value * value

    @defun(tf.float32)
    def outer(value: Any) -> Any:
        @defun(tf.float32)
        def inner(value: Any) -> Any:
            return tf.sin(value), value + outside

        first, second = inner(value)
        return first - second

    y = squared(x, name="squared")
    y.set_shape([3])
    z = outer(y, name="outer")
    return z + tf.gradients(z, x)[0]


GRAPHS = (loop, choice, choice_of_effects, slope_of_loop, slope_of_choice, nested, rows, mapped, training, recurrent,
          functions)  # fmt: skip


# --- what a process does ----------------------------------------------------------------------------------------------


def values(tf: Any, graph: Any) -> list[Any]:
    """Return what a graph gives for every feed; variables are started once."""
    with tf.Session(graph=graph) as session:
        session.run(graph.get_operation_by_name("start"))
        return [session.run("out:0", {"x:0": feed}) for feed in FEEDS]


def write(name: str, folder: str) -> None:
    """Build all graphs, export them, and note their values."""
    tf = library(name)
    for build in GRAPHS:
        graph = tf.Graph()
        with graph.as_default():
            x = tf.placeholder(tf.float32, [3], name="x")
            tf.identity(build(tf, x), name="out")
            tf.group(tf.global_variables_initializer(), name="start")
            tf.train.export_meta_graph(os.path.join(folder, build.__name__ + ".meta"))
        np.savez(os.path.join(folder, build.__name__ + ".npz"), *values(tf, graph))


def read(name: str, folder: str, export_to: str | None = None) -> int:
    """Import all graphs, run them and compare; export them again where that is asked. Return how many differ."""
    tf, failures = library(name), 0
    for build in GRAPHS:
        graph = tf.Graph()
        try:
            with graph.as_default():
                tf.train.import_meta_graph(os.path.join(folder, build.__name__ + ".meta"))
                if export_to:
                    tf.train.export_meta_graph(os.path.join(export_to, build.__name__ + ".meta"))
            expected = np.load(os.path.join(folder, build.__name__ + ".npz"))
            for i, value in enumerate(values(tf, graph)):
                np.testing.assert_allclose(value, expected[f"arr_{i}"], rtol=1e-5, atol=1e-6)
            if export_to:
                np.savez(os.path.join(export_to, build.__name__ + ".npz"), *expected.values())
        except Exception as error:
            failures += 1
            last = traceback.extract_tb(error.__traceback__)[-1]
            print(f"    {build.__name__}: {type(error).__name__}: {str(error)[:300]} ({last[0]}:{last[1]})")
    return failures


def main() -> None:
    """Do what is asked of this process, or ask others."""
    if sys.argv[1] == "--write":
        write(*sys.argv[2:4])
    elif sys.argv[1] in ("--read", "--again"):
        sys.exit(read(*sys.argv[2:]) > 0)
    else:
        exchange(sys.argv[1:])


def exchange(pythons: list[str]) -> None:
    """Have every library write, and every other read."""
    failed = False
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}

    def ask(title: str, python: str, *words: str) -> None:
        nonlocal failed
        done = subprocess.run([python, __file__, *words], env=environment, capture_output=True, text=True)
        failed |= done.returncode != 0
        print(f"{title}: {'all graphs agree' if not done.returncode else 'FAILED'}")
        if done.returncode:
            print(done.stdout or done.stderr[-2000:])

    with tempfile.TemporaryDirectory() as top:
        folders = {key: str(pathlib.Path(top, key)) for key in ("ebbflow", "tensorflow", "again")}
        for folder in folders.values():
            os.mkdir(folder)
        ask("Ebbflow writes", sys.executable, "--write", "ebbflow.v1", folders["ebbflow"])
        ask("Ebbflow reads its own", sys.executable, "--read", "ebbflow.v1", folders["ebbflow"])
        for python in pythons:
            ask(f"{python} reads Ebbflow's", python, "--read", "tensorflow", folders["ebbflow"])
            ask(f"{python} writes", python, "--write", "tensorflow", folders["tensorflow"])
            ask("Ebbflow reads that", sys.executable, "--again", "ebbflow.v1", folders["tensorflow"], folders["again"])
            ask(f"{python} reads it again", python, "--read", "tensorflow", folders["again"])
    sys.exit(failed)


if __name__ == "__main__":
    main()
