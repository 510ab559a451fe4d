"""`tf.contrib.tpu.TPUEstimator` and what goes with it: names of the package `tensorflow_estimator`.

They are looked for when somebody asks. With `use_tpu=False` such an Estimator trains on the host like any other, and
calls model functions as one for TPUs does.
"""

from __future__ import annotations

from typing import Any

from ebbflow.doors.estimator_package import inside

PLACES = {
    "InputPipelineConfig": "tpu_config",
    "RunConfig": "tpu_config",
    "TPUConfig": "tpu_config",
    "TPUEstimator": "tpu_estimator",
    "TPUEstimatorSpec": "tpu_estimator",
    "export_estimator_savedmodel": "tpu_estimator",
    "TPUContext": "tpu_context",
    "ErrorRendezvous": "error_handling",
    "check_positive_integer": "util",
    "parse_iterations_per_loop": "util",
}
"""The module of each name, in the package."""


def __getattr__(name: str) -> Any:
    if name == "get_tpu_context":
        return inside("tpu.tpu_context._get_tpu_context")
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return inside(f"tpu.{PLACES[name]}.{name}")
