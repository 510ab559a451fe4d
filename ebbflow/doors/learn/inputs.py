"""Arrays, dictionaries of arrays, frames and iterators as what `fit` and `predict` of `tf.contrib.learn` are fed with.

Knows NumPy and the package's `numpy_input_fn`; knows nothing of models.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.doors import estimator_package
from ebbflow.graph.graph import Graph
from ebbflow.tf1.feature_inputs import infer_real_valued_columns

ALL = "features"
"""The key of features that came as one array: canned models take dictionaries only."""

NAMELESS = ""
"""What programs call the column of features that came as one array: `real_valued_column("", dimension=4)`."""

InputFn = Callable[[], Any]


def input_of(
    x: Any, y: Any, input_fn: InputFn | None, batch_size: int | None, shuffle: bool, epochs: int | None,
    doubles: bool = False,
) -> InputFn:  # fmt: skip
    """Return an input function, which is the given one or one over arrays; refuses both, and neither.

    Arrays of 64-bit floats become 32-bit ones, as canned models take them; with `doubles` they stay.
    """
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        if batch_size is not None:
            raise ValueError("Can not provide both input_fn and batch_size.")
        return input_fn
    _check_arrays(x, y)
    x, y = _drawn(x, y)
    features, labels = _columns(x, doubles), None if y is None else _array(y, doubles)
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


def _drawn(x: Any, y: Any) -> tuple[Any, Any]:
    """Return what iterators give as lists; of an iterator of rows and one of labels, as many as both have."""
    if isinstance(x, Iterator):
        x = list(x)
    if isinstance(y, Iterator):
        y = list(itertools.islice(y, len(x))) if isinstance(x, list) else list(y)
        x = x[: len(y)] if isinstance(x, list) else x
    return x, y


def _check_arrays(x: Any, y: Any = None) -> None:
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        raise ValueError("Inputs cannot be tensors. Please provide input_fn.")


def _columns(x: Any, doubles: bool = False) -> dict[str, np.ndarray]:
    if isinstance(x, Mapping):
        return {key: _array(value, doubles) for key, value in x.items()}
    return {ALL: _array(x, doubles)}


def _array(values: Any, doubles: bool = False) -> np.ndarray:
    """Return values as an array; 64-bit floats, which models do not take, as 32-bit ones."""
    if isinstance(values, Iterator):
        values = list(values)
    array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    return array.astype(np.float32) if array.dtype == np.float64 and not doubles else array


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
    _check_arrays(x)
    columns = _columns(x, doubles=True)
    named = columns if isinstance(x, Mapping) else {NAMELESS: columns[ALL]}
    like: dict[str, Any] = {k: TensorSpec((None, *each.shape[1:]), each.dtype) for k, each in sorted(named.items())}
    return infer_real_valued_columns(like)


def infer_real_valued_columns_from_input_fn(input_fn: InputFn) -> list[Any]:
    """Return a column of numbers for each of the features that an input function gives."""
    with Graph().as_default():
        features, _ = as_features(input_fn())
        return infer_real_valued_columns(features)
