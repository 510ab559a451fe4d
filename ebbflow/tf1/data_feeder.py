"""Arrays and iterators as feeds of a session: `tf.contrib.learn`'s data feeders.

A feeder makes placeholders for what it has, and a function that gives the next batch for them. What it has is an array,
or a dictionary of arrays (then placeholders, dtypes and batches are dictionaries with the same keys). Knows NumPy and
placeholders; knows nothing of models.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.graph.placeholders import placeholder

HAS_PANDAS = importlib.util.find_spec("pandas") is not None
HAS_DASK = importlib.util.find_spec("dask") is not None


def _each(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """Call a function with a value, or with each value of a dictionary and what others have under its key."""
    if not isinstance(value, Mapping):
        return function(value, *others)
    return {
        key: function(item, *(other[key] if isinstance(other, Mapping) else other for other in others))
        for key, item in value.items()
    }


def _array(values: Any) -> np.ndarray:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.dtype == object and not all(isinstance(item, (str, bytes)) for item in array.flat):
        raise TypeError(f"Cannot convert a {type(values).__name__} of objects into an array of numbers or texts")
    return array


def _first(value: Any) -> Any:
    return next(iter(value.values())) if isinstance(value, Mapping) else value


def _placeholder(shape: list[int | None], dtype: Any, name: str) -> Any:
    kind = dtypes.string if np.dtype(dtype).kind in "OSU" else dtypes.as_dtype(dtype)
    return placeholder(kind, shape, name=name)


def _rows_of_classes(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Return labels with a 1 at each one's class, where there are classes."""
    if not n_classes or n_classes < 2:
        return labels
    if labels.size and not (labels.min() >= 0 and labels.max() < n_classes):
        raise ValueError(f"labels must be in [0, {n_classes}), got some in [{labels.min()}, {labels.max()}]")
    return np.eye(n_classes, dtype=np.float32)[labels.astype(np.int64)]


class DataFeeder:
    """Feeds batches of arrays, row by row or in an order that is drawn anew for each epoch."""

    def __init__(
        self,
        x: Any,
        y: Any,
        n_classes: Any,
        batch_size: int | None = None,
        shuffle: bool = True,
        random_state: np.random.RandomState | None = None,
        epochs: int | None = None,
    ):
        if y is not None and isinstance(y, Mapping) and not isinstance(n_classes, Mapping):
            raise ValueError("n_classes must be a dictionary where y is one")
        self._x, self._y = _each(_array, x), None if y is None else _each(_array, y)
        self.n_classes = n_classes
        self.max_epochs = epochs
        self.random_state = np.random.RandomState(42) if random_state is None else random_state
        self._rows = self._count()
        self._batch_size = self._rows if batch_size is None else int(batch_size)
        if self._batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {self._batch_size}")
        self._shuffle = shuffle
        self._input: Any = None
        self._output: Any = None
        self._epoch_placeholder: Any = None
        self.epoch, self.offset = 0, 0
        self.indices = self._new_order()

    def _count(self) -> int:
        found = [value for data in (self._x, self._y) if data is not None for value in _values(data)]
        counts = {len(value) for value in found}
        if len(counts) != 1:
            raise ValueError(f"x and y must have the same number of rows, got {sorted(counts)}")
        return counts.pop()

    def _new_order(self) -> np.ndarray:
        return self.random_state.permutation(self._rows) if self._shuffle else np.arange(self._rows)

    @property
    def x(self) -> Any:
        """The features."""
        return self._x

    @property
    def y(self) -> Any:
        """The labels."""
        return self._y

    @property
    def shuffle(self) -> bool:
        """Whether each epoch has an order of its own."""
        return self._shuffle

    @property
    def batch_size(self) -> int:
        """How many rows a batch has."""
        return self._batch_size

    @property
    def input_dtype(self) -> Any:
        """The dtype of features."""
        return _each(lambda x: x.dtype, self._x)

    @property
    def output_dtype(self) -> Any:
        """The dtype of labels; of classes, that of their rows of zeros and ones."""
        if self._y is None:
            return None
        return _each(lambda y, classes: _rows_of_classes(y[:0], classes).dtype, self._y, self.n_classes)

    def make_epoch_variable(self) -> Any:
        """Return the placeholder that is told the number of the epoch."""
        self._epoch_placeholder = placeholder(dtypes.int32, [1], name="epoch")
        return self._epoch_placeholder

    def input_builder(self) -> tuple[Any, Any]:
        """Return placeholders for features and labels; None for labels that are not there."""

        def made(name: str, data: Any) -> Any:
            shape = lambda array: [None, *array.shape[1:]]
            if isinstance(data, Mapping):
                return {key: _placeholder(shape(v), v.dtype, f"{name}_{key}") for key, v in data.items()}
            return _placeholder(shape(data), data.dtype, name)

        self._input = made("input", self._x)
        if self._y is not None:
            self._output = made("output", _each(lambda y, n: _rows_of_classes(y[:0], n), self._y, self.n_classes))
        return self._input, self._output

    def set_placeholders(self, input_placeholder: Any, output_placeholder: Any) -> None:
        """Take other placeholders."""
        self._input, self._output = input_placeholder, output_placeholder

    def get_feed_params(self) -> dict[str, Any]:
        """Return where the feeder is."""
        return {"epoch": self.epoch, "offset": self.offset, "batch_size": self._batch_size}

    def get_feed_dict_fn(self) -> Callable[[], dict[str, Any]]:
        """Return a function that gives the next batch, by the names of placeholders. StopIteration after the last."""
        return self._next

    def _epoch_feed(self) -> dict[str, Any]:
        return {} if self._epoch_placeholder is None else {self._epoch_placeholder.name: [self.epoch]}

    def _next(self) -> dict[str, Any]:
        if self.max_epochs is not None and self.epoch + 1 > self.max_epochs:
            raise StopIteration
        chosen = self.indices[self.offset : self.offset + self._batch_size]
        feed = self._epoch_feed()
        _feed(feed, self._input, _each(lambda x: x[chosen], self._x))
        if self._y is not None:
            _feed(feed, self._output, _each(lambda y, n: _rows_of_classes(y[chosen], n), self._y, self.n_classes))
        self.offset += self._batch_size
        if self.offset >= self._rows:
            self.indices, self.offset, self.epoch = self._new_order(), 0, self.epoch + 1
        return feed


def _values(data: Any) -> list[Any]:
    return list(data.values()) if isinstance(data, Mapping) else [data]


def _feed(feed: dict[str, Any], placeholders: Any, values: Any) -> None:
    if isinstance(placeholders, Mapping):
        feed.update({placeholders[key].name: values[key] for key in placeholders})
    elif placeholders is not None:
        feed[placeholders.name] = values


class StreamingDataFeeder(DataFeeder):
    """Feeds batches of what iterators give, an item for each row, until they end."""

    def __init__(self, x: Iterator[Any], y: Iterator[Any] | None, n_classes: Any, batch_size: int):
        first_x, self._items = _peeked(x)
        first_y: Any = None
        self._labels: Iterator[Any] | None = None
        if y is not None:
            first_y, self._labels = _peeked(y)
        one = lambda item: np.asarray(item)[np.newaxis]
        super().__init__(_each(one, first_x), None if y is None else _each(one, first_y), n_classes, 1, shuffle=False)
        self._batch_size = batch_size

    def _next(self) -> dict[str, Any]:
        feed = self._epoch_feed()
        _feed(feed, self._input, _stacked(itertools.islice(self._items, self._batch_size)))
        if self._labels is not None:
            labels = _stacked(itertools.islice(self._labels, self._batch_size))
            _feed(feed, self._output, _each(_rows_of_classes, labels, self.n_classes))
        return feed


def _peeked(items: Iterator[Any]) -> tuple[Any, Iterator[Any]]:
    """Return the first item, and all of them."""
    first = next(items)
    return first, itertools.chain([first], items)


def _stacked(items: Iterator[Any]) -> Any:
    rows = list(items)
    if not rows:
        raise StopIteration
    if isinstance(rows[0], Mapping):
        return {key: np.stack([np.asarray(row[key]) for row in rows]) for key in rows[0]}
    return np.stack([np.asarray(row) for row in rows])


def setup_train_data_feeder(
    x: Any, y: Any, n_classes: Any, batch_size: int | None = None, shuffle: bool = True, epochs: int | None = None
) -> DataFeeder:
    """Return a feeder over arrays, or over iterators, which need a `batch_size`."""
    if not isinstance(x, Iterator):
        return DataFeeder(x, y, n_classes, batch_size, shuffle=shuffle, epochs=epochs)
    if y is not None and not isinstance(y, Iterator):
        raise ValueError("Both x and y should be iterators for streaming learning to work.")
    if batch_size is None:
        raise ValueError("Features come from an iterator: batch_size must be given")
    return StreamingDataFeeder(x, y, n_classes, batch_size)


def setup_predict_data_feeder(x: Any, batch_size: int | None = None) -> Any:
    """Return batches of features: all at once where no size is given."""
    if isinstance(x, Iterator):
        return _batches(x, batch_size)
    x = _each(_array, x)
    rows = len(_first(x))
    size = rows if batch_size is None else batch_size
    return [_each(lambda v, at=at: v[at : at + size], x) for at in range(0, rows, size or 1)]


def _batches(items: Iterator[Any], size: int | None) -> Iterator[Any]:
    while True:
        rows = list(itertools.islice(items, size))
        if not rows:
            return
        yield _stacked(iter(rows))
