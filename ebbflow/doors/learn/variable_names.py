"""What the variables of canned models were called in `tf.contrib.learn`, and what they are called today."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ebbflow.feature_column.base import is_categorical

LATER = (
    (re.compile(r"^(dnn/(?:hiddenlayer_\d+|logits))/kernel(?=$|/)"), r"\1/weights"),
    (re.compile(r"^(dnn/(?:hiddenlayer_\d+|logits))/bias(?=$|/)"), r"\1/biases"),
    (re.compile(r"^dnn/input_from_feature_columns/input_layer/(.*)/embedding_weights(?=$|/)"),
     r"dnn/input_from_feature_columns/\1/weights"),
    (re.compile(r"^linear/linear_model/bias_weights(?=$|/)"), "linear/bias_weight"),
)  # fmt: skip
"""Names of today, and the early name of each."""

OF_A_COLUMN = re.compile(r"^linear/linear_model/(.*?)/weights(?=$|/)")


def numeric_names(arguments: Mapping[str, Any]) -> set[str]:
    """Return the names of the columns of numbers among a model's arguments."""
    columns: Iterable[Any] = [
        column
        for key in ("feature_columns", "linear_feature_columns")
        for column in arguments.get(key) or ()
    ]  # fmt: skip
    return {column.name for column in columns if not is_categorical(column)}


def early_name(name: str, numeric: set[str]) -> str:
    """Return what a variable was called; a column of numbers has one weight, one of ids has weights.

    >>> early_name("dnn/hiddenlayer_0/kernel", set())
    'dnn/hiddenlayer_0/weights'
    >>> early_name("linear/linear_model/age/weights", {"age"})
    'linear/age/weight'
    """
    for pattern, early in LATER:
        name = pattern.sub(early, name)
    found = OF_A_COLUMN.match(name)
    if found is None:
        return name
    column = found[1]
    return f"linear/{column}/weight{'' if column in numeric else 's'}{name[found.end() :]}"
