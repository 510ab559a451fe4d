"""SavedModels that go both ways: written by Ebbflow and read by TensorFlow, written by TensorFlow and read by Ebbflow.

    python tools/saved_model_exchange.py /path/to/python-with-tensorflow

The same programs make the models on either side. Each model is read as objects (functions, gradients, variables) and
through a session (signatures); what Ebbflow wrote is also converted to LiteRT and run. Numbers must agree. This file is
run by both Pythons: `--write DIR` and `--read DIR` are what each is asked to do.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

WORDS = ["red", "a", "none"]


def mlp(tf: Any, folder: str) -> Any:
    """Return a model of nested modules, a dict, a counter, tables, a loop, a choice and several traces."""

    class Layer(tf.Module):
        def __init__(self, inputs: int, outputs: int):
            values = np.random.RandomState(inputs).randn(inputs, outputs).astype(np.float32)
            self.w = tf.Variable(values, name="w")
            self.b = tf.Variable(tf.zeros([outputs]), name="b")

        @tf.function
        def __call__(self, x: Any) -> Any:
            return tf.nn.relu(x @ self.w + self.b)

    class Model(tf.Module):
        def __init__(self) -> None:
            self.layers = [Layer(3, 5), Layer(5, 2)]
            self.extra = {"scale": tf.Variable(1.5, name="scale")}
            self.steps = tf.Variable(np.int64(0), trainable=False, name="steps")
            self.shift = tf.constant([1.0, 2.0])
            path = pathlib.Path(folder) / "words.txt"
            path.write_text("red\ngreen\nblue\n")
            index = tf.lookup.TextFileIndex
            init = tf.lookup.TextFileInitializer(str(path), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
            self.table = tf.lookup.StaticHashTable(init, -1)
            self.changing = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
            self.changing.insert(tf.constant(["a", "b"]), tf.constant([7, 8], tf.int64))

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
        def __call__(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x)
            return x * self.extra["scale"] + self.shift

        @tf.function(input_signature=[tf.TensorSpec([], tf.int64, name="k")])
        def bump(self, k: Any) -> Any:
            self.steps.assign_add(k)
            return {"steps": self.steps.read_value()}

        @tf.function(
            input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x"), tf.TensorSpec([], tf.int32, name="n")]
        )
        def iterate(self, x: Any, n: Any) -> Any:
            i = 0
            while i < n:
                x = tf.tanh(x * 1.5)
                i += 1
            if tf.reduce_sum(x) > 0:
                x = x + 1.0
            else:
                x = x - 1.0
            return {"z": x, "count": i}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
        def lookup(self, words: Any) -> Any:
            return {"index": self.table.lookup(words), "changing": self.changing.lookup(words)}

        @tf.function
        def poly(self, a: Any, b: Any = 2.0, training: bool = False) -> Any:
            return a * b if training else a + b

    model = Model()
    for arguments in ({}, {"training": True}, {"b": 3.0}):
        model.poly(tf.constant([1.0, 2.0]), **arguments)
    return model


def conv(tf: Any, folder: str) -> Any:
    """Return a small convolutional model with batch norm in both modes."""

    class Model(tf.Module):
        def __init__(self) -> None:
            random = np.random.RandomState(3)
            self.kernel = tf.Variable(random.randn(3, 3, 1, 4).astype(np.float32) * 0.3, name="kernel")
            self.mean = tf.Variable(random.rand(4).astype(np.float32), trainable=False, name="mean")
            self.dense = tf.Variable(random.randn(64, 3).astype(np.float32) * 0.1, name="dense")

        @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 1], tf.float32, name="x")])
        def __call__(self, x: Any) -> Any:
            h = tf.nn.conv2d(x, self.kernel, 1, "SAME") - self.mean
            h = tf.nn.max_pool2d(tf.nn.relu(h), 2, 2, "VALID")
            return tf.nn.softmax(tf.reshape(h, [-1, 64]) @ self.dense)

    return Model()


def own(tf: Any, folder: str) -> Any:
    """Return a model with gradients of its own, in nested functions too, that goes over a dataset it has captured."""

    @tf.custom_gradient
    def softened(x: Any) -> Any:
        power = tf.exp(x)
        return tf.math.log(1 + power), lambda dy: dy * power * 10.0  # not what it is, so that it is known again

    class Model(tf.Module):
        def __init__(self) -> None:
            self.w = tf.Variable(np.random.RandomState(5).randn(3).astype(np.float32), name="w")
            self.numbers = tf.data.Dataset.range(5).map(lambda i: tf.cast(i, tf.float32) ** 2).batch(2)

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
        def __call__(self, x: Any) -> Any:
            @tf.custom_gradient
            def weighted(z: Any) -> Any:
                return z * self.w, lambda dy, variables=None: (dy * 2.0, [tf.reduce_sum(dy * z, 0) for _ in variables])

            @tf.function
            def nested() -> Any:
                return softened(x)

            total = tf.zeros([])
            for batch in self.numbers:
                total += tf.reduce_sum(batch)
            return softened(nested()) + weighted(x) + total

    return Model()


INPUTS = {"mlp": (4, 3), "conv": (2, 8, 8, 1), "own": (2, 3)}
MODELS = {"mlp": mlp, "conv": conv, "own": own}
NOT_LITE = ("own",)  # LiteRT has no datasets


def slopes(tf: Any, model: Any, x: np.ndarray) -> list[Any]:
    """Return gradients of a model: by its input, of the first and the second order, and by a variable."""
    given = tf.constant(x)
    with tf.GradientTape() as outer:
        outer.watch(given)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(given)
            y = tf.reduce_sum(model(given))
        slope = tape.gradient(y, given)
    return [slope, outer.gradient(slope, given), tape.gradient(y, model.w)]


def sample(name: str) -> np.ndarray:
    """Return what a model is asked."""
    return np.random.RandomState(7).randn(*INPUTS[name]).astype(np.float32)


def write(tf: Any, folder: str) -> None:
    """Write every model, and what it answers."""
    for name, make in MODELS.items():
        model = make(tf, folder)
        signatures = {"serving_default": model.__call__}
        answers = {"y": model(tf.constant(sample(name))).numpy()}
        if name == "mlp":
            signatures |= {key: getattr(model, key) for key in ("bump", "iterate", "lookup")}
            answers["z"] = model.iterate(tf.constant(sample(name)), tf.constant(3))["z"].numpy()
        if name == "own":
            answers |= {f"slope{i}": slope.numpy() for i, slope in enumerate(slopes(tf, model, sample(name)))}
        tf.saved_model.save(model, f"{folder}/{name}", signatures=signatures)
        np.savez(f"{folder}/{name}.npz", **answers)


def agree(what: str, ours: Any, theirs: Any) -> None:
    """Compare numbers; those that differ end the program."""
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=what)
    print(f"  {what}: agrees")


def read(tf: Any, folder: str, lite: bool) -> None:
    """Read every model in each way there is, and compare."""
    for name in MODELS:
        path, known = f"{folder}/{name}", np.load(f"{folder}/{name}.npz")
        x = sample(name)
        model = tf.saved_model.load(path)
        agree(f"{name}: object", model(tf.constant(x)), known["y"])
        signature = model.signatures["serving_default"]
        agree(f"{name}: signature", signature(x=tf.constant(x))["output_0"], known["y"])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(tf.constant(x)) ** 2)
        trained = [v for v in signature.variables if v.trainable] or list(model.trainable_variables)
        assert all(g is not None for g in tape.gradient(loss, trained)), "gradients"
        if name == "mlp":
            read_mlp(tf, model, x, known)
        if name == "own":
            for i, slope in enumerate(slopes(tf, model, x)):
                agree(f"own: gradient {i}", slope, known[f"slope{i}"])
        tf.saved_model.save(model, path + "_again", signatures=dict(model.signatures))
        agree(f"{name}: written again", tf.saved_model.load(path + "_again")(tf.constant(x)), known["y"])
        read_in_session(tf, path, name, x, known)
        if lite and name not in NOT_LITE:
            convert(tf, path, name, x, known)


def read_mlp(tf: Any, model: Any, x: np.ndarray, known: Any) -> None:
    """Try what only the larger model has."""
    given = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(given)
        z = model.iterate(given, tf.constant(3))["z"]
    agree("mlp: loop", z, known["z"])
    assert tape.gradient(z, given) is not None
    found = model.lookup(tf.constant(WORDS))
    agree("mlp: table", found["index"], [0, -1, -1])
    agree("mlp: changing table", found["changing"], [-1, 7, -1])
    model.bump(tf.constant(3, tf.int64))
    agree("mlp: counter", model.steps, 3)
    agree("mlp: trace", model.poly(tf.constant([1.0, 2.0]), training=True), [2.0, 4.0])


def read_in_session(tf: Any, path: str, name: str, x: np.ndarray, known: Any) -> None:
    """Read as programs of TF 1 do."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        meta = v1.saved_model.load(session, ["serve"], path)
        signature = meta.signature_def["serving_default"]
        y = session.run(signature.outputs["output_0"].name, {signature.inputs["x"].name: x})
        agree(f"{name}: session", y, known["y"])
        if name == "mlp":
            signature = meta.signature_def["lookup"]
            fetches = {key: info.name for key, info in signature.outputs.items()}
            found = session.run(fetches, {signature.inputs["words"].name: WORDS})
            agree("mlp: tables in a session", [found["index"], found["changing"]], [[0, -1, -1], [-1, 7, -1]])


def convert(tf: Any, path: str, name: str, x: np.ndarray, known: Any) -> None:
    """Convert to LiteRT, and run that."""
    converter = tf.lite.TFLiteConverter.from_saved_model(path, signature_keys=["serving_default"])
    interpreter = tf.lite.Interpreter(model_content=converter.convert())
    runner = interpreter.get_signature_runner("serving_default")
    agree(f"{name}: LiteRT", runner(x=x)["output_0"], known["y"])


def main() -> None:
    """Do one side's part, or have both do theirs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", nargs="?", help="a Python that has TensorFlow 2")
    parser.add_argument("--write", metavar="DIR")
    parser.add_argument("--read", metavar="DIR")
    parser.add_argument("--library", default="ebbflow")
    arguments = parser.parse_args()
    if arguments.write or arguments.read:
        tf = importlib.import_module(arguments.library)
        if arguments.write:
            write(tf, arguments.write)
        else:
            read(tf, arguments.read, lite=arguments.library == "tensorflow")
        return
    sides = {"ebbflow": sys.executable, "tensorflow": arguments.python}
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    for writer, reader in (("ebbflow", "tensorflow"), ("tensorflow", "ebbflow")):
        print(f"{writer} writes, {reader} reads", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for library, what in ((writer, "--write"), (reader, "--read")):
                command = [sides[library], __file__, what, folder, "--library", library]
                subprocess.run(
                    command, check=True, env=environment, stderr=subprocess.DEVNULL if what == "--read" else None
                )


if __name__ == "__main__":
    main()
