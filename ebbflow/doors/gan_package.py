"""`tf.contrib.gan`: the package `tensorflow_gan`, which is TensorFlow 1's own code grown up, with Ebbflow behind it.

Nothing of it is changed or copied, and nothing is imported before somebody asks for `tf.contrib.gan`. It stands on
`tensorflow_probability`, whose last release for TensorFlow 1.15 is 0.8.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from ebbflow.api.namespace import module_or_none
from ebbflow.doors import alias

PACKAGE = "tensorflow_gan"
BESIDES = (PACKAGE, "tensorflow_probability", "tensorflow_hub", "gast", "decorator", "cloudpickle", "six")
"""The package, and what it needs."""

HINT = (
    "tf.contrib.gan is the package tensorflow_gan, but there is no {}: pip install --no-deps tensorflow-gan==2.1.0 "
    "tensorflow-probability==0.8.0 gast==0.2.2 and pip install tensorflow_hub decorator cloudpickle six"
)


def inside(path: str) -> Any:
    """Return what the package has at a path of `tf.contrib.gan`, public or inner; None for nothing."""
    package = _package()
    if not path:
        return package
    if path.partition(".")[0] == "python":  # `python.losses.python.losses_impl` is `python.losses.losses_impl` now
        words = [word for word in path.split(".") if word != "python"]
        return module_or_none(".".join([PACKAGE, "python", *words]))
    try:
        return functools.reduce(getattr, path.split("."), package)
    except AttributeError:
        return None


def _package() -> Any:
    alias.install()
    with alias.needs(BESIDES, HINT):
        return importlib.import_module(PACKAGE)
