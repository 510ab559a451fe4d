"""Arrays, dictionaries of arrays, frames and iterators as what `fit` and `predict` of `tf.contrib.learn` are fed with.

Knows NumPy and the package's `numpy_input_fn`; knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ebbflow.core.typing import TensorLike
from ebbflow.doors import estimator_package

ALL = "features"
"""The key of features that came as one array: canned models take dictionaries only."""

NAMELESS = ""
"""What programs call the column of features that came as one array: `real_valued_column("", dimension=4)`."""

InputFn = Callable[[], Any]


def input_of(
    x: Any, y: Any, input_fn: InputFn | None, batch_size: int | None, shuffle: bool, epochs: int | None
) -> InputFn:
    """Return an input function, which is the given one or one over arrays; refuses both, and neither."""
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        return input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    features, labels = _columns(x), None if y is None else _array(y)
    rows = len(next(iter(features.values())))
    feed = estimator_package.shown(1).inputs.numpy_input_fn(
        features, labels, batch_size=min(batch_size or rows, rows), num_epochs=epochs, shuffle=shuffle
    )
    if isinstance(x, Mapping):
        return feed

    def plain() -> Any:
        found = feed()
        return found[ALL] if labels is None else (found[0][ALL], found[1])

    return plain


def _columns(x: Any) -> dict[str, np.ndarray]:
    if isinstance(x, Mapping):
        return {key: _array(value) for key, value in x.items()}
    return {ALL: _array(x)}


def _array(values: Any) -> np.ndarray:
    """Return values as an array; 64-bit floats, which models do not take, as 32-bit ones."""
    if isinstance(values, Iterator):
        values = list(values)
    array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def as_features(found: Any) -> tuple[Any, Any]:
    """Return what an input function gave as features and labels."""
    if hasattr(found, "make_one_shot_iterator"):  # a dataset
        found = found.make_one_shot_iterator().get_next()
    return found if isinstance(found, tuple) and len(found) == 2 else (found, None)


def named(input_fn: InputFn, names: tuple[str, ...] = (ALL, NAMELESS)) -> InputFn:
    """Return an input function whose features are a dictionary, as canned models take them."""

    def call() -> Any:
        features, labels = as_features(input_fn())
        return (features if isinstance(features, Mapping) else dict.fromkeys(names, features)), labels

    return call


def infer_real_valued_columns_from_input(x: TensorLike) -> list[Any]:
    """Return a column of numbers for an array, or for each array of a dictionary."""
    return _real_valued(_columns(x) if isinstance(x, Mapping) else {NAMELESS: _array(x)})


def infer_real_valued_columns_from_input_fn(input_fn: InputFn) -> list[Any]:
    """Return a column of numbers for each of the features that an input function gives."""
    from ebbflow.graph.graph import Graph

    with Graph().as_default():
        features, _ = as_features(input_fn())
        return _real_valued(features if isinstance(features, Mapping) else {NAMELESS: features})


def _real_valued(columns: Mapping[str, Any]) -> list[Any]:
    from ebbflow.feature_column.numeric import numeric_column

    found = []
    for key, values in sorted(columns.items()):
        kind = np.dtype(getattr(values.dtype, "as_numpy_dtype", values.dtype))
        if kind.kind not in "fiu":
            raise ValueError(f"on integer or non floating types are not supported: {key!r} is {kind}")
        dims = [int(d) for d in values.shape[1:]]
        found.append(numeric_column(key, shape=dims or (1,)))
    return found
