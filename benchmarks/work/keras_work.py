"""Keras: the very package, its own training loop, data from arrays; on Ebbflow, TensorFlow, JAX and PyTorch.

A row of `fit` is the time of a step over an epoch, progress bar left out but for the row that is named after it;
`predict` is one call with one row, which pays for everything around a step, and `direct` the same net called as a
compiled function. Which Keras it is, the environment says (`KERAS_BACKEND`, which the workers set).
"""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.work import Work

BACKEND = os.environ.get("KERAS_BACKEND", "tensorflow")


@functools.cache
def keras_package() -> Any:
    """Return Keras with the backend of this process behind it."""
    if BACKEND == "tensorflow":
        from benchmarks.work.tf_module import tf

        return tf.keras
    import keras

    return keras


BATCH, STEPS = 32, 40


def _mlp(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((784,)),
            layers.Dense(128, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(10, activation="softmax"),
        ]
    )


def _cnn(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(10, activation="softmax"),
        ]
    )


def _lstm(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [keras.Input((20,)), layers.Embedding(1000, 32), layers.LSTM(32), layers.Dense(10, activation="softmax")]
    )


def _transformer(keras: Any) -> Any:
    layers = keras.layers
    tokens = keras.Input((32,))
    x = layers.Embedding(1000, 64)(tokens)
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 16)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(64)(layers.Dense(128, activation="relu")(x)))
    return keras.Model(tokens, layers.Dense(10, activation="softmax")(layers.GlobalAveragePooling1D()(x)))


def data_for(model: Any, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and labels: numbers for images, tokens for texts."""
    random, dims = np.random.RandomState(0), model.input_shape[1:]
    is_text = any(type(layer).__name__ == "Embedding" for layer in model.layers)
    x = random.randint(0, 1000, (rows, *dims)) if is_text else random.rand(rows, *dims).astype(np.float32)
    return x, random.randint(0, 10, rows)


def compiled(build: Callable[[Any], Any]) -> Any:
    """Return a model that is ready to be trained."""
    model = build(keras_package())
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def _fit(build: Callable[[Any], Any], steps: int = STEPS, verbose: int = 0) -> Work:
    model = compiled(build)
    x, y = data_for(model, BATCH * steps)
    return Work(lambda: model.fit(x, y, batch_size=BATCH, verbose=verbose), steps)


def keras_fit_mlp() -> Work:
    return _fit(_mlp)


def keras_fit_mlp_with_progress_bar() -> Work:
    return _fit(_mlp, verbose=1)


def keras_fit_cnn() -> Work:
    return _fit(_cnn)


def keras_fit_lstm() -> Work:
    return _fit(_lstm)


def keras_fit_transformer() -> Work:
    return _fit(_transformer)


def keras_fit_of_one_step() -> Work:
    return _fit(_cnn, steps=1)


def keras_predict_one_row() -> Work:
    model = compiled(_mlp)
    x, _ = data_for(model, 1)
    return Work(lambda: model.predict(x, verbose=0))


def keras_direct_one_row() -> Work:
    from benchmarks.work.tf_module import tf

    model = compiled(_mlp)
    x, _ = data_for(model, 1)
    direct = tf.function(lambda row: model(row, training=False))
    return Work(lambda: direct(x).numpy())


def keras_model_built_and_dropped() -> Work:
    def run() -> None:
        model = compiled(_mlp)
        model.predict(data_for(model, 1)[0], verbose=0)
        keras_package().backend.clear_session()

    return Work(run)


def import_keras() -> Work:
    """A new process that imports Keras with this backend, Python's own start included."""
    name = os.environ.get("BENCHMARKS_TF", "ebbflow")
    program = f"import {name} as tf; tf.keras.Model" if BACKEND == "tensorflow" else "import keras; keras.Model"
    return Work(lambda: subprocess.run([sys.executable, "-c", program], check=True))


_EVERYWHERE = (
    keras_fit_mlp,
    keras_fit_mlp_with_progress_bar,
    keras_fit_cnn,
    keras_fit_lstm,
    keras_fit_transformer,
    keras_fit_of_one_step,
    keras_predict_one_row,
    keras_model_built_and_dropped,
    import_keras,
)
_HERE = () if importlib.util.find_spec("keras") is None else _EVERYWHERE
WORKLOADS = {f.__name__: f for f in (*_HERE, *([keras_direct_one_row] if _HERE and BACKEND == "tensorflow" else []))}
