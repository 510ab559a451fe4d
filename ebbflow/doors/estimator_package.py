"""`tf.estimator`: the package `tensorflow_estimator` itself, with Ebbflow behind it as its TensorFlow.

The package was written against TensorFlow 2.15, whose `tf` is TF 2 with Keras 2, and reaches TF 1 through `compat.v1`.
So it is imported with a `tensorflow` of that kind, whatever the program's is: TF 1, or TF 2 with Keras 3. Nothing here
is imported before somebody asks for `tf.estimator`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from ebbflow.api.namespace import finder, module_or_none
from ebbflow.core import context
from ebbflow.doors import alias, keras_package

PACKAGE = "tensorflow_estimator"
HINT = "tf.estimator is the package {0}: pip install --no-deps {0}; it needs Keras 2 (tf_keras) too"
ROOTS = {alias.TENSORFLOW: 2, f"{alias.TENSORFLOW}.compat.v1": 1, f"{alias.TENSORFLOW}.compat.v2": 2}
"""The namespaces in which the package looks for Keras, and the era each shows."""

TREES = ("BoostedTreesClassifier", "BoostedTreesEstimator", "BoostedTreesRegressor")
"""What the package had up to its release 2.8; later ones leave it out."""


def shown(era: int) -> ModuleType:
    """Return the names `tf.estimator` has in TF 1 or TF 2. ImportError where the package is missing."""
    _package()
    module = importlib.import_module(f"{PACKAGE}._api.v{era}.estimator")
    for name in TREES:
        if not hasattr(module, name):
            setattr(module, name, getattr(importlib.import_module("ebbflow.doors.boosted_trees.estimators"), name))
    if era == 1:
        module.tpu.TPUEstimator = importlib.import_module("ebbflow.doors.tpu_estimator").estimator_class()
    return module


@functools.cache
def _package() -> ModuleType:
    alias.install()
    with alias.needs((PACKAGE,), HINT), prepared():
        importlib.import_module(f"{PACKAGE}._api.v2.estimator")
        return importlib.import_module(PACKAGE)


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """Have the package imported inside the block find the TensorFlow it was written against, whoever imports it."""
    if _within:
        yield
        return
    with _tensorflow_of_its_own():
        for root, era in ROOTS.items():
            names, keras = vars(importlib.import_module(root)), keras_package.keras_2(era)
            names["keras"] = keras
            if era == 2:  # where these are Keras's too
                names.update({name: getattr(keras, name) for name in ("losses", "metrics", "optimizers")})
        if context.switches.tf1:
            _say_nothing_of_its_end()
        _within.append(True)
        try:
            yield
        finally:
            _within.clear()


_within: list[bool] = []
"""Not empty while the package is imported."""


def _say_nothing_of_its_end() -> None:
    """Keep the package from telling programs of TF 1 to use Keras instead of it, and of every hook and its values."""
    notices = importlib.import_module(f"{alias.TENSORFLOW}.python.util.deprecation")
    vars(notices)["deprecated"] = lambda date, instructions: lambda thing: thing


@contextlib.contextmanager
def _tensorflow_of_its_own() -> Iterator[None]:
    """Have `import tensorflow` mean TF 2 inside the block, with modules that nobody outside sees."""
    kept = {module: sys.modules.pop(module) for module in alias.loaded()}
    door, finder.doors[alias.TENSORFLOW] = finder.doors[alias.TENSORFLOW], "v2"
    try:
        yield
    finally:
        finder.doors[alias.TENSORFLOW] = door
        for module in alias.loaded():
            del sys.modules[module]
        sys.modules.update(kept)


def inside(path: str) -> Any:
    """Return what the package has at a path of `tensorflow.python.estimator`; None for nothing."""
    _package()
    place = f"{PACKAGE}.python.estimator"
    if not path:
        return importlib.import_module(place)
    with _tensorflow_of_its_own():
        module = module_or_none(f"{place}.{path}")
    if module is not None:
        return module
    space, _, name = path.rpartition(".")
    return getattr(sys.modules.get(f"{place}.{space}"), name, None)


def __getattr__(name: str) -> ModuleType:
    if name == "estimator":
        return shown(2)
    if name == "estimator_v1":
        return shown(1)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
