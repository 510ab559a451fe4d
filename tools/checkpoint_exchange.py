"""Checkpoints that both Ebbflow and TensorFlow read: each writes, the other reads, values are compared.

    python tools/checkpoint_exchange.py PYTHON [PYTHON …]

PYTHON are interpreters with TensorFlow (1.15 or 2.x); this one has Ebbflow. The same program writes a checkpoint of
names (whole, partitioned and sharded variables, every dtype; the first format too) and, where TensorFlow is 2.x, one of
objects with an optimizer; then the same program in the other library restores them into variables and compares.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

PROGRAM = r"""
import sys, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
library, action, folder = sys.argv[1:4]
import importlib
tf = importlib.import_module(library)
two = tf.__version__.startswith("2") and library != "ebbflow.v1"
tf1 = tf.compat.v1 if two else tf
import numpy as np

KINDS = "float32 float64 int32 int64 int8 uint8 int16 uint16 bool complex64 complex128 float16 string".split()

def value(kind, n):
    if kind == "string":
        return np.array([b"", b"a\0b", b"x" * (n + 1)], object)
    return (np.arange(n * 3).reshape(n, 3) % 2 if kind == "bool" else np.arange(n * 3).reshape(n, 3)).astype(kind)

def names(graph_seed):
    made = {}
    for resource in (False, True):
        for kind in KINDS:
            if kind == "string" and resource:
                continue
            array = value(kind, 4 + resource)
            name = "%s_%s" % (kind, "res" if resource else "ref")
            start = np.zeros_like(array) if kind != "string" else np.array([b"", b"", b""], object)
            made[name] = (tf1.get_variable(name, initializer=tf1.constant(start), use_resource=resource), array)
        part = "parts_%s" % resource
        array = np.arange(20, dtype=np.float32).reshape(10, 2) + resource
        variable = tf1.get_variable(part, [10, 2], initializer=tf1.zeros_initializer(), use_resource=resource,
                                    partitioner=tf1.fixed_size_partitioner(3))
        made[part] = (variable, array)
    return made

def fill(sess, made):
    for variable, array in made.values():
        parts = list(variable) if not hasattr(variable, "initializer") else [variable]
        at = 0
        for part in parts:
            n = part.shape.as_list()[0]
            sess.run(part.initializer, {part.initializer.inputs[1]: array[at:at + n]})
            at += n

def by_name():
    with tf1.Graph().as_default(), tf1.Session() as sess:
        made = names(0)
        savers = {"plain": tf1.train.Saver(), "sharded": tf1.train.Saver(sharded=True),
                  "first": tf1.train.Saver({k: v for k, (v, _) in made.items()}, write_version=tf1.train.SaverDef.V1)}
        if action == "write":
            fill(sess, made)
            for name, saver in savers.items():
                saver.save(sess, os.path.join(folder, name))
            return
        for name, saver in savers.items():
            sess.run(tf1.global_variables_initializer())
            saver.restore(sess, os.path.join(folder, name))
            for key, (variable, array) in made.items():
                got = sess.run(tf1.convert_to_tensor(variable))
                assert got.tolist() == array.tolist(), (name, key, got, array)
    if action == "read":
        for name in ("plain", "sharded"):
            with tf1.Graph().as_default() as graph, tf1.Session() as sess:
                saver = tf1.train.import_meta_graph(os.path.join(folder, name + ".meta"))
                saver.restore(sess, os.path.join(folder, name))
                got = sess.run(graph.get_tensor_by_name("float32_ref:0"))
                assert got.tolist() == value("float32", 4).tolist(), name

def by_object():
    class Layer(tf.Module):
        def __init__(self, scale):
            super().__init__()
            self.w = tf.Variable(scale * np.arange(6, dtype=np.float32).reshape(3, 2))
            self.extra = {"a/b.c": tf.Variable([int(scale), 1], dtype=tf.int64), "l": [tf.Variable(scale)]}
    scale = 1.0 if action == "write" else 0.0
    model = Layer(scale)
    optimizer = tf1.train.AdamOptimizer(0.1)
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    generator = tf.random.Generator.from_seed(5)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, table=table, generator=generator)
    rooted = tf.train.Checkpoint(model, step=tf.Variable(int(3 * scale)))
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model.w ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, model.w), model.w)])
    path = os.path.join(folder, "objects")
    if action == "write":
        step()
        table.insert(["k"], [7])
        generator.normal([2])
        checkpoint.save(path)
        rooted.write(os.path.join(folder, "rooted"))
        np.savez(os.path.join(folder, "objects.npz"), w=model.w.numpy(), m=optimizer.get_slot(model.w, "m").numpy(),
                 draw=generator.uniform([3]).numpy())
        step()
        np.save(os.path.join(folder, "after.npy"), model.w.numpy())
        return
    step()
    checkpoint.restore(path + "-1").assert_consumed()
    expected = np.load(os.path.join(folder, "objects.npz"))
    assert (model.w.numpy() == expected["w"]).all()
    assert (optimizer.get_slot(model.w, "m").numpy() == expected["m"]).all()
    assert table.lookup(tf.constant(["k"])).numpy().tolist() == [7]
    np.testing.assert_allclose(generator.uniform([3]).numpy(), expected["draw"])
    step()
    np.testing.assert_allclose(model.w.numpy(), np.load(os.path.join(folder, "after.npy")), rtol=1e-6)
    rooted.read(os.path.join(folder, "rooted")).assert_consumed()
    assert int(rooted.step) == 3 and model.extra["a/b.c"].numpy().tolist() == [1, 1]

by_name() if sys.argv[4] == "names" else by_object()
print("ok")
"""


def run(python: str, library: str, action: str, folder: str, kind: str) -> None:
    """Run the program with one library."""
    done = subprocess.run(
        [python, "-c", PROGRAM, library, action, folder, kind], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        raise SystemExit(f"{library} could not {action} {kind}:\n{done.stderr[-3000:]}")


def main(pythons: list[str]) -> None:
    """Exchange checkpoints with each TensorFlow, both ways."""
    for python in pythons:
        code = "import tensorflow as tf; print(tf.__version__)"
        version = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split()[-1]
        kinds = ("names", "objects") if version.startswith("2") else ("names",)
        for kind in kinds:
            ours = (sys.executable, "ebbflow" if version.startswith("2") else "ebbflow.v1")
            theirs = (python, "tensorflow")
            for writer, reader in ((ours, theirs), (theirs, ours)):
                with tempfile.TemporaryDirectory() as folder:
                    run(*writer, "write", folder, kind)
                    run(*reader, "read", folder, kind)
                    print(f"TensorFlow {version}: {kind} written by {writer[1]}, read by {reader[1]}: equal")


if __name__ == "__main__":
    main(sys.argv[1:])
