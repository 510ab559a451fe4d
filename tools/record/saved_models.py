"""Record SavedModels of both eras, and what their signatures answer.

    python tools/record/saved_models.py

Run it in an environment that has TensorFlow 2.21 (CPU) with Keras 3. Writes `saved_model_tf1`, `saved_model_tf2` and
`keras_export` below tests/golden/tf221, each with the answers beside it. Numbers come from seeds; the fingerprint of a
model holds a random number, and names of functions carry numbers of TensorFlow's own.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

WRITES = ("tf221/saved_model_tf1*", "tf221/saved_model_tf2*", "tf221/keras_export*")
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "tf221"
V1 = tf.compat.v1
WORDS = ("red", "green", "blue")


def main() -> None:
    """Write the models anew."""
    for name, write in {"saved_model_tf2": module, "keras_export": keras_export, "saved_model_tf1": old_model}.items():
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        with tempfile.TemporaryDirectory() as scratch:
            vocabulary = os.path.join(scratch, "vocab.txt")
            pathlib.Path(vocabulary).write_text("\n".join(WORDS) + "\n")
            answers = write(str(GOLDEN / name), vocabulary)
        np.savez(GOLDEN / f"{name}.expected.npz", **answers)


# --- TF 2 -------------------------------------------------------------------------------------------------------------


class Layer(tf.Module):
    """A matrix and a vector."""

    def __init__(self, numbers: np.random.RandomState, n: int, m: int):
        super().__init__()
        self.w = tf.Variable(numbers.randn(n, m).astype(np.float32), name="w")
        self.b = tf.Variable(numbers.randn(m).astype(np.float32), name="b")

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return x @ self.w + self.b


class Model(tf.Module):
    """Layers in a list, a number in a dict, a counter, two tables, and functions of all sorts."""

    def __init__(self, numbers: np.random.RandomState, vocabulary: str):
        super().__init__()
        self.layers = [Layer(numbers, 3, 5), Layer(numbers, 5, 2)]
        self.extra = {"scale": tf.Variable(1.5, name="scale")}
        self.steps = tf.Variable(0, dtype=tf.int64, trainable=False, name="steps")
        lines = tf.lookup.TextFileInitializer(
            vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(lines, -1)
        self.mtable = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -7)
        self.mtable.insert(["cat", "red"], [100, 200])
        self._shift = tf.constant(numbers.randn(2).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self.layers[1](tf.nn.relu(self.layers[0](x))) * self.extra["scale"] + self._shift

    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
    def iterate(self, x: tf.Tensor, n: tf.Tensor) -> dict[str, tf.Tensor]:
        z, count = x, 0
        while count < n:
            z = tf.tanh(z @ tf.transpose(z) @ z * 0.3) - 0.1 * self.extra["scale"]
            count += 1
        if tf.reduce_sum(z) > 0.0:
            z = z * 2.0
        else:
            z = z - 1.0
        return {"z": z, "count": count}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def lookup(self, words: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"index": self.table.lookup(words), "m": self.mtable.lookup(words)}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64, name="k")])
    def bump(self, k: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"steps": self.steps.assign_add(k)}

    @tf.function
    def poly(self, a: tf.Tensor, b: float = 2.0, training: bool = False) -> tf.Tensor:
        return a * b + (1.0 if training else 0.0)


def module(path: str, vocabulary: str) -> dict[str, np.ndarray]:
    """Save a module; return what it answers."""
    numbers = np.random.RandomState(41)
    model = Model(numbers, vocabulary)
    vector = tf.TensorSpec([None])
    for trace in ((vector,), (vector, 2.0, True), (tf.TensorSpec([None, None]),)):
        model.poly.get_concrete_function(*trace)
    x = numbers.randn(4, 3).astype(np.float32)
    answers: dict[str, object] = {"x": x, "y": model(x)}
    for k, (given, n) in enumerate([(x, 3), (-x, 0), (x * 0.1, 2)]):
        result = model.iterate(tf.constant(given), tf.constant(n))
        answers |= {f"iterate{k}/x": given, f"iterate{k}/n": np.int32(n)}
        answers |= {f"iterate{k}/{name}": value for name, value in result.items()}
    words = np.array([b"blue", b"cat", b"red"])
    answers |= {"lookup/words": words} | {f"lookup/{k}": v for k, v in model.lookup(tf.constant(words)).items()}
    signatures = {
        "serving_default": model.__call__,
        "iterate": model.iterate,
        "lookup": model.lookup,
        "bump": model.bump,
    }
    tf.saved_model.save(model, path, signatures=signatures)
    answers["bump/steps_after_k3"] = model.bump(tf.constant(3, tf.int64))["steps"]
    reader = tf.train.load_checkpoint(f"{path}/variables/variables")
    for key in sorted(reader.get_variable_to_shape_map()):
        value = reader.get_tensor(key)
        answers |= {} if key[0] == "_" else {f"ckpt:{key}": np.array(value, "S") if value.dtype == object else value}
    return {name: np.asarray(value) for name, value in answers.items()}


def keras_export(path: str, vocabulary: str) -> dict[str, np.ndarray]:
    """Export a small classifier of images."""
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(42)
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 1), name="img"),
            layers.Conv2D(4, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(6, activation="gelu"),
            layers.Dropout(0.5),
            layers.Dense(3, activation="softmax"),
        ]
    )
    image = np.random.RandomState(43).randn(3, 8, 8, 1).astype(np.float32)
    model.compile("sgd", "mse")
    model.fit(image, np.eye(3, dtype=np.float32), verbose=0)  # moving averages that are not what they began with
    model.export(path, verbose=False)
    served = tf.saved_model.load(path).signatures["serving_default"]
    (given,) = served.structured_input_signature[1]
    ((gives, output),) = served(**{given: tf.constant(image)}).items()
    return {"input": image, "output": output.numpy(), "input_name": np.array(given), "output_name": np.array(gives)}


# --- TF 1 -------------------------------------------------------------------------------------------------------------


def old_model(path: str, vocabulary: str) -> dict[str, np.ndarray]:
    """Save a graph with a resource variable, a reference variable and a table, under two sets of tags."""
    numbers = np.random.RandomState(44)
    given, words = numbers.randn(4, 3).astype(np.float32), np.array([b"blue", b"nope", b"red"])
    with tf.Graph().as_default(), V1.Session() as session:
        x, spoken = V1.placeholder(tf.float32, [None, 3], name="x"), V1.placeholder(tf.string, [None], name="words")
        w = V1.get_variable("w", initializer=numbers.randn(3, 4).astype(np.float32), use_resource=True)
        b = V1.Variable(numbers.randn(4).astype(np.float32), name="b", use_resource=False)
        y = tf.sigmoid(tf.matmul(x, w) + b, name="y")
        asset = tf.constant(vocabulary)
        V1.add_to_collection(V1.GraphKeys.ASSET_FILEPATHS, asset)
        lines = tf.lookup.TextFileInitializer(
            asset, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        index = tf.lookup.StaticHashTable(lines, -1).lookup(spoken)
        session.run([V1.global_variables_initializer(), V1.tables_initializer()])
        build = V1.saved_model.predict_signature_def
        signatures = {
            "serving_default": build({"x": x}, {"y": y}),
            "lookup": build({"words": spoken}, {"index": index}),
        }
        builder = V1.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            signatures,
            assets_collection=V1.get_collection(V1.GraphKeys.ASSET_FILEPATHS),
            main_op=V1.tables_initializer(),
        )
        builder.add_meta_graph(["serve", "extra"], signatures)
        builder.save()
        answers = session.run([y, index, w, b], {x: given, spoken: words})
    return {"x": given, "words": words} | dict(zip(("y", "index", "var:w", "var:b"), answers, strict=True))


if __name__ == "__main__":
    main()
