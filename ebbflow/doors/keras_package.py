"""`tf.keras`: the `keras` package itself, with Ebbflow behind it as its TensorFlow.

Knows which package serves which era, and how to say that it is missing. Nothing here is imported before somebody asks
for `tf.keras`.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from ebbflow.doors import alias

KERAS_3 = "keras._tf_keras.keras"
"""Keras 3 with the names that `tf.keras` has besides those of `keras`."""


def keras_3() -> ModuleType:
    """Return Keras 3, imported with Ebbflow as its TensorFlow. ImportError where that cannot be."""
    loaded = sys.modules.get("keras")
    if not alias.installed():
        if loaded is not None and "keras.src.backend.tensorflow" in sys.modules:
            raise ImportError(
                "keras is imported already with TensorFlow itself behind it, so it cannot be Ebbflow's tf.keras: "
                "import ebbflow and use tf.keras before anything imports keras, or run the program by `ebbflow run`",
                name="keras",
            )
        alias.install()
    try:
        return importlib.import_module(KERAS_3)
    except ModuleNotFoundError as error:
        if not (error.name and f"{KERAS_3}.".startswith(f"{error.name}.")):
            raise
        raise ModuleNotFoundError(
            f"tf.keras is the package keras, version 3, but there is no {error.name}: pip install 'ebbflow[keras]'",
            name="keras",
        ) from None


def __getattr__(name: str) -> ModuleType:
    if name == "keras":
        return keras_3()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
