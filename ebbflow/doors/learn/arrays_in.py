"""`tf.contrib.learn.io` for what is in memory: input functions over arrays, frames and generators."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ebbflow.data.dataset_v1 import DatasetV1
from ebbflow.doors import estimator_package
from ebbflow.doors.learn.inputs import InputFn


def numpy_input_fn(
    x: Mapping[str, np.ndarray],
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> InputFn:
    """Return an input function over a dictionary of arrays."""
    make = estimator_package.shown(1).inputs.numpy_input_fn
    return make(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> InputFn:
    """Return an input function over the columns of a frame."""
    make = estimator_package.shown(1).inputs.pandas_input_fn
    return make(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column)


def generator_input_fn(
    x: Callable[[], Iterator[Mapping[str, Any]]],
    target_key: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    pad_value: Any = None,
) -> InputFn:
    """Return an input function over the dictionaries that a generator yields; `target_key` says which are targets."""
    if not callable(x):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    targets = _targets(target_key)

    def rows() -> Iterator[dict[str, np.ndarray]]:
        for row in x():
            yield {key: np.asarray(value) for key, value in row.items()}

    def input_fn() -> Any:
        first = _first(x, targets)
        found = _batches(rows, first, batch_size, num_epochs, queue_capacity if shuffle else 0, pad_value)
        taken = {key: found.pop(key) for key in targets}
        if target_key is None:
            return found
        return found, taken[target_key] if isinstance(target_key, str) else taken

    return input_fn


def _targets(target_key: Any) -> list[str]:
    keys = [] if target_key is None else [target_key] if isinstance(target_key, str) else target_key
    if not isinstance(keys, (list, tuple)) or not all(isinstance(key, str) for key in keys):
        raise TypeError(f"target_key must be string or Container of Strings; got {target_key!r}")
    return list(keys)


def _first(x: Any, targets: list[str]) -> dict[str, np.ndarray]:
    """Return the first dictionary that a generator yields: names, dtypes and ranks are those of all."""
    generator = x()
    if not inspect.isgenerator(generator):
        raise TypeError(f"x() must be generator; got {type(generator).__name__}")
    row = next(generator)
    if not isinstance(row, Mapping):
        raise TypeError(f"x() must yield dict; got {type(row).__name__}")
    for key in targets:
        if key not in row:
            raise KeyError(f"target_key not yielded by x(): {key!r} is none of {sorted(row)}")
    return {key: np.asarray(value) for key, value in row.items()}


def _batches(rows: Any, first: Any, batch_size: int, epochs: int | None, shuffled: int, pad_value: Any) -> Any:
    types = {key: value.dtype.type if value.dtype.kind not in "US" else "string" for key, value in first.items()}
    shapes = {key: value.shape if pad_value is None else (None,) * value.ndim for key, value in first.items()}
    data = DatasetV1.from_generator(rows, types, shapes)
    data = data.shuffle(shuffled) if shuffled else data
    data = data.repeat(epochs)
    if pad_value is None:
        data = data.batch(batch_size)
    else:
        pads = pad_value if isinstance(pad_value, Mapping) else dict.fromkeys(first, pad_value)
        data = data.padded_batch(
            batch_size, shapes, {key: np.asarray(pads.get(key, 0), first[key].dtype) for key in first}
        )
    return data.make_one_shot_iterator().get_next()


# --- frames as arrays -------------------------------------------------------------------------------------------------


def _is_frame(data: Any) -> bool:
    return all(hasattr(data, name) for name in ("columns", "dtypes", "to_numpy"))


def extract_pandas_data(data: Any) -> Any:
    """Return a frame of numbers as an array of floats; what is no frame, as it is."""
    if not _is_frame(data):
        return data
    bad = [
        f"{column}: {dtype}" for column, dtype in itertools.zip_longest(data.columns, data.dtypes)
        if getattr(dtype, "kind", "O") not in "biuf"
    ]  # fmt: skip
    if bad:
        raise ValueError(f"Data types for extracting pandas data must be int, float, or bool. Found: {', '.join(bad)}")
    return data.to_numpy().astype("float")


def extract_pandas_matrix(data: Any) -> Any:
    """Return the values of a frame as they are; what is no frame, as it is."""
    return data.to_numpy() if _is_frame(data) else data


def extract_pandas_labels(labels: Any) -> Any:
    """Return a frame of one column as its values; what is no frame, as it is."""
    if not _is_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return extract_pandas_data(labels)
