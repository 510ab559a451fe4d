"""`tf.losses` of TF 2: Keras's own, from whichever Keras serves the program, imported when first asked for."""

from __future__ import annotations

from typing import Any

from ebbflow.doors import keras_package


def __getattr__(name: str) -> Any:
    return getattr(keras_package.losses, name)
