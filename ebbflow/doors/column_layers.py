"""Layers of feature columns, where `tensorflow.python.feature_column` had them: they are Keras 2's and Estimator's now.

Imported when one of the names is asked for; needs the packages that `keras_package` and `estimator_package` need.
"""

from __future__ import annotations

from typing import Any

from ebbflow.doors import estimator_package, keras_package

HOMES = {
    "DenseFeatures": (keras_package, "feature_column.dense_features", "DenseFeatures"),
    "DenseFeaturesV2": (keras_package, "feature_column.dense_features_v2", "DenseFeatures"),
    "SequenceFeatures": (keras_package, "feature_column.sequence_feature_column", "SequenceFeatures"),
    "LinearModel": (estimator_package, "canned.linear", "LinearModel"),
    "LinearModelLayer": (estimator_package, "canned.linear", "_LinearModelLayer"),
}
"""The package, the module and the name under which each is found today."""


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    package, module, here = HOMES[name]
    return getattr(package.inside(module), here)
