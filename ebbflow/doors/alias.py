"""`import tensorflow` answered by Ebbflow in a process that was not started by `ebbflow run`: a notebook, a test run.

    from ebbflow.compat import alias
    alias.install()
    import keras                 # its backend "tensorflow" is Ebbflow now

Knows the doors of `api` and the other modules of this room. A real TensorFlow that is imported already is never hidden.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Container, Iterator
from types import ModuleType
from typing import Any

from ebbflow.api.namespace import PACKAGE, finder, open_door
from ebbflow.doors import metadata, watch

TENSORFLOW = "tensorflow"

MODULE_NAMES = {
    "core.tensor:Tensor": "framework.tensor",
    "core.sparse:SparseTensor": "framework.sparse_tensor",
    "ops.ragged.tensor:RaggedTensor": "ops.ragged.ragged_tensor",
    "data.dataset:DatasetV2": "data.ops.dataset_ops",
    "distribute.datasets:DistributedDataset": "distribute.input_lib",
    "distribute.datasets:DistributedDatasetsFromFunction": "distribute.input_lib",
}
"""Classes that Keras knows by the module in which TensorFlow has them: below `tensorflow.python`."""

WRAPPERS = (
    "keras.wrappers",
    "keras._tf_keras.keras.wrappers",
    "keras.api.wrappers",
    "keras.api._tf_keras.keras.wrappers",
)
"""Where Keras 3 has its classes for scikit-learn, which takes longer to import than all else that it imports."""

TRAINER = "keras.src.backend.tensorflow.trainer"
"""Where models with us behind them fit and predict."""

ESTIMATORS = f"{PACKAGE}.doors.estimator_package"
"""Which knows the TensorFlow that `tensorflow_estimator` finds, also if a program imports that itself."""

ORBAX = "keras.src.callbacks.orbax_checkpoint"
"""A module that imports JAX to give releases before ours one name more."""


def install() -> None:
    """Have `import tensorflow` answered by Ebbflow from now on, here and in processes started by `multiprocessing`.

    ImportError if TensorFlow itself is imported already: what it made would not work with Ebbflow's.
    """
    if TENSORFLOW in finder.doors:
        return
    if TENSORFLOW in sys.modules:
        raise ImportError(
            f"TensorFlow itself ({getattr(sys.modules[TENSORFLOW], '__file__', None)}) is imported already, so Ebbflow "
            "cannot stand in for it here: import ebbflow, or call ebbflow.compat.alias.install(), before it",
            name=TENSORFLOW,
        )
    open_door(TENSORFLOW, "v2")
    metadata.announce(TENSORFLOW, 2)
    name_modules()
    watch.after_import("multiprocessing.spawn", _Child().follow)


def uninstall() -> None:
    """Have `import tensorflow` mean again what is installed under that name. Modules that hold Ebbflow keep it."""
    if TENSORFLOW not in finder.doors:
        return
    del finder.doors[TENSORFLOW]
    metadata.withdraw(TENSORFLOW)
    for name in loaded():
        del sys.modules[name]


def installed() -> bool:
    """Return whether `import tensorflow` is answered by Ebbflow."""
    return TENSORFLOW in finder.doors


def loaded() -> list[str]:
    """Return the names of the modules of `tensorflow` that are imported."""
    return [name for name in sys.modules if name == TENSORFLOW or name.startswith(TENSORFLOW + ".")]


@contextlib.contextmanager
def needs(packages: Container[str | None], hint: str) -> Iterator[None]:
    """Import others' packages in the block; where one of these is missing, say what to do, with its name for `{}`."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in packages:
            raise
        raise ModuleNotFoundError(hint.format(error.name), name=error.name) from None


def name_modules() -> None:
    """Once Keras is imported, have the classes it knows by their module say the one it looks for, and short calls of
    `predict` take the short way.

    Of what it imports for others, what it can do without is left until it is used: half of the time, and two thirds of
    the objects that every collection of garbage walks over.
    """
    watch.after_import("keras", lambda keras: _name_classes())
    watch.load_within("tensorflow_estimator", lambda: importlib.import_module(ESTIMATORS).prepared())
    for name in WRAPPERS:
        watch.load_when_used(name)
    watch.load_without(ORBAX, "jax")
    watch.after_import(TRAINER, _shorten_predict)


def _shorten_predict(trainer: ModuleType) -> None:
    if installed():  # whose trainer it is
        importlib.import_module(f"{PACKAGE}.doors.keras_predict").shorten(trainer)


def _name_classes() -> None:
    for target, place in MODULE_NAMES.items():
        room, _, name = target.partition(":")
        getattr(importlib.import_module(f"{PACKAGE}.{room}"), name).__module__ = f"{TENSORFLOW}.python.{place}"


class _Child:
    """What a process started by `multiprocessing` must do before it imports anything of the program's."""

    def follow(self, spawn: ModuleType) -> None:
        """Send ourselves along whenever a child is prepared: unpickling installs the alias over there."""
        prepare: Any = spawn.get_preparation_data

        def get_preparation_data(name: str) -> dict[str, Any]:
            data = prepare(name)
            return {**data, "ebbflow": self} if installed() else data

        spawn.get_preparation_data = get_preparation_data  # type: ignore[attr-defined]

    def __reduce__(self) -> tuple[Any, ...]:
        return install, ()
