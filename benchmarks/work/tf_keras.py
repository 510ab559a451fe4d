"""Keras on Ebbflow and on TensorFlow: the very package, its own training loop, data from arrays.

A row of `fit` is the time of a step over an epoch, progress bar left out; `predict` is one call with one row, which
pays for everything around a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.work import Work
from benchmarks.work.tf_module import tf

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


def _compiled(build: Callable[[Any], Any]) -> Any:
    model = build(tf.keras)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def _fit(build: Callable[[Any], Any]) -> Work:
    model = _compiled(build)
    x, y = data_for(model, BATCH * STEPS)
    return Work(lambda: model.fit(x, y, batch_size=BATCH, verbose=0), STEPS)


def keras_fit_mlp() -> Work:
    return _fit(_mlp)


def keras_fit_cnn() -> Work:
    return _fit(_cnn)


def keras_fit_lstm() -> Work:
    return _fit(_lstm)


def keras_fit_transformer() -> Work:
    return _fit(_transformer)


def keras_predict_one_row() -> Work:
    model = _compiled(_mlp)
    x, _ = data_for(model, 1)
    return Work(lambda: model.predict(x, verbose=0))


def keras_model_built_and_dropped() -> Work:
    def run() -> None:
        model = _compiled(_mlp)
        model.predict(data_for(model, 1)[0], verbose=0)
        tf.keras.backend.clear_session()

    return Work(run)


WORKLOADS = {
    f.__name__: f
    for f in (
        keras_fit_mlp,
        keras_fit_cnn,
        keras_fit_lstm,
        keras_fit_transformer,
        keras_predict_one_row,
        keras_model_built_and_dropped,
    )
}
