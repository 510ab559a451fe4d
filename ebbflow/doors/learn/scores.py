"""The few functions of scikit-learn that `tf.contrib.learn` has of its own, for programs that measure with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.typing import Array


def accuracy_score(y_true: Array, y_pred: Array) -> float:
    """Return the share of labels that are the predicted ones."""
    return np.mean(np.asarray(y_true) == np.asarray(y_pred))


def mean_squared_error(y_true: Array, y_pred: Array) -> float:
    """Return the mean of the squared differences."""
    return np.mean((np.squeeze(y_true) - np.squeeze(y_pred)) ** 2)


def train_test_split(*args: Array, **options: Any) -> tuple[Array, ...]:
    """Return a part of the rows of each array by chance, then the others: `train_size`, or all but `test_size`."""
    test, train, seed = (options.pop(name, None) for name in ("test_size", "train_size", "random_state"))
    if options:
        raise TypeError(f"train_test_split() got unexpected keyword arguments: {', '.join(sorted(options))}")
    share = train if train is not None else 0.75 if test is None else 1 - test
    count = len(args[0])
    np.random.seed(seed)
    order = np.random.permutation(count)
    parts = np.split(order, [int(share * count)])
    return tuple(np.take(each, part, axis=0) for each in args for part in parts)
