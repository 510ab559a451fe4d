"""Names of `tf.contrib.estimator` that the package `tensorflow_estimator` has kept, some in other places.

They are looked for when somebody asks.
"""

from __future__ import annotations

from typing import Any

from ebbflow.doors.estimator_package import inside

PLACES = {
    "BaselineEstimator": "canned.baseline",
    "DNNEstimator": "canned.dnn",
    "DNNLinearCombinedEstimator": "canned.dnn_linear_combined",
    "InMemoryEvaluatorHook": "hooks.hooks",
    "LinearEstimator": "canned.linear",
    "SavedModelEstimator": "canned.saved_model_estimator",
    "add_metrics": "extenders",
    "build_raw_supervised_input_receiver_fn": "export.export",
    "build_supervised_input_receiver_fn_from_input_fn": "export.export",
    "call_logit_fn": "model_fn",
    "dnn_logit_fn_builder": "canned.dnn",
    "linear_logit_fn_builder": "canned.linear",
    "make_early_stopping_hook": "early_stopping",
    "make_stop_at_checkpoint_step_hook": "hooks.hooks",
    "read_eval_metrics": "early_stopping",
    "stop_if_higher_hook": "early_stopping",
    "stop_if_lower_hook": "early_stopping",
    "stop_if_no_decrease_hook": "early_stopping",
    "stop_if_no_increase_hook": "early_stopping",
}
"""The module of each name, in the package."""


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return inside(f"{PLACES[name]}.{name}")
