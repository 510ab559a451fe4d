"""`tf.keras`: the package `keras` (Keras 3) or `tf_keras` (Keras 2) itself, with Ebbflow behind it as its TensorFlow.

Knows which package serves which era, where each of its modules was in the years of Keras 2, and how to say that one is
missing. Nothing here is imported before somebody asks for `tf.keras`, and no package is before one of its names is.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, NamedTuple

from ebbflow.api.namespace import module_or_none
from ebbflow.doors import alias

KERAS_3 = "keras._tf_keras.keras"
"""Keras 3 with the names that `tf.keras` has besides those of `keras`."""

KERAS_2 = "tf_keras"
ERAS = {1: "tf_keras.api._v1.keras", 2: "tf_keras.api._v2.keras"}
"""Keras 2 with the names it had in TensorFlow 1 and 2."""

BESIDES = ("tf_keras", "wrapt", "requests", "h5py", "absl")
"""What Keras 2 needs; `tf_keras` itself says only that it needs TensorFlow."""

MISSING_2 = (
    "tf.keras of this program is Keras 2, the package tf_keras, but there is no {}: "
    "pip install 'ebbflow[keras2]' and pip install --no-deps tf_keras"
)

ROOMS = ("core", "convolutional", "normalization", "recurrent", "wrappers", "embeddings", "advanced_activations",
         "noise", "pooling", "local", "merge", "convolutional_recurrent", "cudnn_recurrent")  # fmt: skip
"""Modules of layers that programs of the time imported from; all of their layers are public."""

SAVING = ("hdf5_format", "model_config", "save", "saved_model", "saving_utils")
"""Modules of `keras.saving` until TensorFlow 2.11."""

MIXED = ("autocast_variable", "loss_scale_optimizer", "policy", "test_util")
"""Modules of `keras.mixed_precision.experimental` until TensorFlow 2.4."""

OPTIMIZERS = ("adadelta", "adagrad", "adam", "adamax", "ftrl", "gradient_descent", "nadam", "optimizer_v2", "rmsprop")
"""Modules of `keras.optimizer_v2` until TensorFlow 2.8."""

ENGINE = {
    **{name: f"layers.{name}" for name in ("Input", "InputLayer", "InputSpec", "Layer")},
    "Model": "models.Model",
    "get_source_inputs": "utils.get_source_inputs",
}
"""What `keras.engine` and its `topology` had for layers of one's own until Keras 2.3, and where it is."""

REGISTRATION = (
    "CustomObjectScope", "custom_object_scope", "get_custom_objects", "get_registered_name", "get_registered_object",
    "register_keras_serializable",
)  # fmt: skip
SERIALIZATION = (
    "SharedObjectConfig", "SharedObjectLoadingScope", "SharedObjectSavingScope",
    "class_and_config_for_serialized_keras_object", "deserialize_keras_object", "serialize_keras_class_and_config",
    "serialize_keras_object",
)  # fmt: skip
"""What `keras.utils.generic_utils` had until TensorFlow 2.10."""

MOVED = {
    **{f"utils.generic_utils.{name}": f"saving.object_registration.{name}" for name in REGISTRATION},
    **{f"utils.generic_utils.{name}": f"saving.legacy.serialization.{name}" for name in SERIALIZATION},
    **{f"layers.{room}": "layers" for room in ROOMS},
    "backend.tensorflow_backend": "backend",
    "engine.topology": "engine.base_layer",
    **{f"{place}.{name}": new for place in ("engine", "engine.topology") for name, new in ENGINE.items()},
    "engine.network": "engine.functional",
    "engine.training_generator": "engine.training_generator_v1",
    "keras_parameterized": "testing_infra.test_combinations",
    "testing_utils": "testing_infra.test_utils",
    "model_subclassing_test_util": "tests.model_subclassing_test_util",
    "layers.dense_attention": "layers",
    "layers.recurrent_v2": "layers",
    "layers.rnn_cell_wrapper_v2": "layers.rnn.cell_wrappers",
    "mixed_precision.experimental": "mixed_precision",
    **{f"mixed_precision.experimental.{name}": f"mixed_precision.{name}" for name in MIXED},
    "optimizer_v2": "optimizers.legacy",
    **{f"optimizer_v2.{name}": f"optimizers.legacy.{name}" for name in OPTIMIZERS},
    "optimizer_v2.learning_rate_schedule": "optimizers.schedules.learning_rate_schedule",
    "premade": "premade_models",
    "premade.linear": "premade_models.linear",
    "premade.wide_deep": "premade_models.wide_deep",
    "objectives": "losses",
    **{f"saving.{name}": f"saving.legacy.{name}" for name in SAVING},
    "legacy.layers": "layers",
    "utils.training_utils": "utils",
    "utils.visualize_util": "utils.vis_utils",
    "wrappers": "",
}
"""Where modules of Keras's earlier years have gone."""


class KerasChoice(NamedTuple):
    """What is known of a program's Keras: what the command line asked for, what its source tells (2, 3 or None), and
    whether it makes optimizers as they were until TensorFlow 2.10 (`lr=`, `decay=`).
    """

    asked: int | None = None
    told: int | None = None
    old_optimizers: bool = False


_choice = KerasChoice()


def choose(choice: KerasChoice) -> None:
    """Take what is known of the program that is about to run."""
    global _choice
    _choice = choice


def number(door: int) -> int:
    """Return which Keras a program gets at the door of TF 1 or TF 2: 2 or 3."""
    if _choice.asked is not None:
        return _choice.asked
    wish = os.environ.get("TF_USE_LEGACY_KERAS", "").strip().lower()
    if wish:
        return 2 if wish in ("1", "true", "yes", "on") else 3
    told = _choice.told
    if told == 2 and door == 2 and importlib.util.find_spec(KERAS_2) is None:
        told = None  # only the source speaks for it: Keras 3 may do, and says what it does not do
    return told or (2 if door == 1 else 3)


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


def keras_2(door: int) -> ModuleType:
    """Return Keras 2 as TF 1 or TF 2 had it, with Ebbflow as its TensorFlow. ImportError where that cannot be."""
    alias.install()
    with alias.needs(BESIDES, MISSING_2):
        found = importlib.import_module(ERAS[door])
        vars(found).setdefault("__version__", sys.modules[KERAS_2].__version__)
        if _choice.old_optimizers and door == 2:
            _show_old_optimizers(found)
        if door == 2:
            _show_early_mixed_precision(found.mixed_precision)
        return found


def _show_early_mixed_precision(mixed: ModuleType) -> None:
    """Have `keras.mixed_precision` show its names of TensorFlow 2.1 to 2.10, `experimental`."""
    name = f"{mixed.__name__}.experimental"
    if name in sys.modules:
        return

    def loss_scaled(optimizer: Any, loss_scale: Any) -> Any:
        """Return an optimizer whose loss is scaled: by "dynamic", or by a number that stays."""
        if loss_scale == "dynamic":
            return mixed.LossScaleOptimizer(optimizer)
        return mixed.LossScaleOptimizer(optimizer, dynamic=False, initial_scale=float(loss_scale))

    early = ModuleType(name, "Mixed precision by its first names.")
    vars(early).update(
        Policy=mixed.Policy,
        global_policy=mixed.global_policy,
        set_policy=mixed.set_global_policy,
        get_layer_policy=lambda layer: layer.dtype_policy,
        LossScaleOptimizer=loss_scaled,
    )
    sys.modules[name] = mixed.experimental = early  # type: ignore[attr-defined]


def _show_old_optimizers(keras: ModuleType) -> None:
    """Have `keras.optimizers` show the optimizers of TensorFlow 2.0 to 2.10, which are its `legacy` ones now."""
    for optimizers in (keras.optimizers, importlib.import_module(f"{KERAS_2}.optimizers")):
        shown = vars(optimizers)
        shown.update(
            {name: value for name, value in vars(optimizers.legacy).items() if name in shown and name[0] != "_"}
        )


def inside(path: str) -> Any:
    """Return what Keras 2 has at a path of `tensorflow.python.keras`, or of `keras` in its years; None for nothing."""
    root = keras_2(2)
    if path == "src":  # where Keras 2.13 and later had what was below `keras` itself
        return importlib.import_module(f"{KERAS_2}.src")
    path = path.removeprefix("src.")
    asked, path = path, MOVED.get(path, path)
    if not path:
        return root
    places = [root.__name__, f"{KERAS_2}.src"] if path == "layers" else [f"{KERAS_2}.src", root.__name__]
    for place in places:
        module = module_or_none(f"{place}.{path}")
        if module is not None:
            return _with_moved(module, {asked, path})
    space, _, name = path.rpartition(".")
    return next((vars(m)[name] for place in places if name in vars(m := _module(place, space))), None)


def _with_moved(module: ModuleType, paths: set[str]) -> ModuleType:
    """Return a module that shows what was in it once: `from keras.saving import model_config` asks the module."""
    for old, new in MOVED.items():
        space, _, name = old.rpartition(".")
        if space in paths and not hasattr(module, name):
            setattr(module, name, module if new in paths else inside(new))
    return module


def public(path: str) -> Any:
    """Return what the Keras of TF 2 has at a path of its own, `losses.Huber`; None for nothing."""
    found: Any = __getattr__("keras")
    for word in path.split("."):
        found = getattr(found, word, None)
    return found


def _module(place: str, path: str) -> ModuleType:
    try:
        return importlib.import_module(f"{place}.{path}" if path else place)
    except ModuleNotFoundError:
        return ModuleType(path)


def __getattr__(name: str) -> ModuleType:
    if name == "keras":
        return keras_3() if number(2) == 3 else keras_2(2)
    if name in ("losses", "metrics", "optimizers"):  # in TF 2 also without `keras` in front
        return getattr(keras_3() if number(2) == 3 else keras_2(2), name)
    if name == "optimizers_second":
        return keras_2(2).optimizers
    if name == "keras_second":  # TF 2's names in TensorFlow 1.15
        return keras_2(2)
    if name == "keras_v1":
        return keras_3() if number(1) == 3 else keras_2(1)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
