"""`tf.contrib.tpu.TPUEstimator` and what goes with it: the package `tensorflow_estimator`, on the devices there are.

The names are looked for when somebody asks. Such an Estimator checks its arguments as one for TPUs does and calls model
functions in that manner (batch sizes in `params`, metrics and host calls as functions of tensors); its steps run on
this machine's devices, as one shard, whether it was made with `use_tpu=True` or not. `params["use_tpu"]` says False.
"""

from __future__ import annotations

import functools
from typing import Any

from ebbflow.doors.estimator_package import inside

PLACES = {
    "InputPipelineConfig": "tpu_config",
    "RunConfig": "tpu_config",
    "TPUConfig": "tpu_config",
    "TPUEstimatorSpec": "tpu_estimator",
    "export_estimator_savedmodel": "tpu_estimator",
    "TPUContext": "tpu_context",
    "ErrorRendezvous": "error_handling",
    "check_positive_integer": "util",
    "parse_iterations_per_loop": "util",
}
"""The module of each name, in the package."""


@functools.cache
def estimator_class() -> type:
    """Return `TPUEstimator`: the package's, told after its checks that there is no TPU to feed."""
    package = inside("tpu.tpu_estimator").TPUEstimator

    class TPUEstimator(package):  # type: ignore[misc, valid-type]
        """An Estimator of model functions that are written for TPUs."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._ctx._use_tpu = False
            self._ctx._model_parallelism_enabled = False

    return TPUEstimator


def __getattr__(name: str) -> Any:
    if name == "TPUEstimator":
        return estimator_class()
    if name == "get_tpu_context":
        return inside("tpu.tpu_context._get_tpu_context")
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return inside(f"tpu.{PLACES[name]}.{name}")
