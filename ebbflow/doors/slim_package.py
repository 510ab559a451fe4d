"""`tf.contrib.slim`, and what of `tf.contrib.layers` and `tf.contrib.framework` the package `tf_slim` has kept.

`tf_slim` is TensorFlow 1's own code, kept as a package of its own; it runs unmodified with Ebbflow as its TensorFlow.
Nothing here is imported before somebody asks for one of its names.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from ebbflow.doors import alias

HINT = "tf.contrib.slim and tf.contrib.layers are the package {}: pip install 'ebbflow[slim]'"
NETS = ("alexnet", "inception", "overfeat", "resnet_v1", "resnet_v2", "vgg")
"""Modules of nets that `tf_slim` does not import by itself."""


def slim() -> ModuleType:
    """Return `tf_slim`, imported with Ebbflow as its TensorFlow. ImportError where that cannot be."""
    alias.install()
    with alias.needs(
        ("tf_slim",), "tf.contrib.slim and tf.contrib.layers are the package {}: pip install 'ebbflow[slim]'"
    ):
        for net in NETS:
            importlib.import_module(f"tf_slim.nets.{net}")
        return importlib.import_module("tf_slim")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    package = slim()
    # Some names of TensorFlow's, imported there with a star, hide modules of the package.
    return sys.modules.get(f"tf_slim.{name}") or getattr(package, name)
