"""Where time series come from: readers of arrays and files, random windows of a series, and what follows one.

`tf.contrib.timeseries` and its `input_pipeline`. A reader reads its series when its tensors are asked for, so windows
are drawn from what is in memory; an input function's tensors need no queues.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow.core import dtypes, nest
from ebbflow.core.typing import DTypeLike, Nested
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.declare import raw
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.platform.files import GFile
from ebbflow.tf1.input_producers import limit_epochs


class TrainEvalFeatures:
    """Names of features in training and evaluation."""

    TIMES = "times"
    VALUES = "values"


class PredictionFeatures:
    """Names of features in prediction."""

    TIMES = "times"
    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"


class FilteringResults(PredictionFeatures):
    """Names of what an evaluation gives, besides predictions."""


TIMES, VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class TimeSeriesReader:
    """One series: `arrays` gives its columns, each as long as the times."""

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the columns by name."""
        raise NotImplementedError(f"{type(self).__name__} must say what it reads: arrays()")

    def read_full(self) -> dict[str, Any]:
        """Return the whole series as tensors."""
        return {name: constant(values) for name, values in self.arrays().items()}

    def read(self) -> dict[str, Any]:
        """Return the whole series as tensors: it is in memory, so there is nothing to cut it for."""
        return self.read_full()

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Refuse a series that is too short."""
        length = len(self.arrays()[TIMES])
        if length < minimum_dataset_size:
            raise ValueError(
                f"A TimeSeriesInputFn is configured to create windows of size {minimum_dataset_size}, but only "
                f"{length} records were available in the dataset. Either decrease the window size or provide more "
                "records."
            )


class NumpyReader(TimeSeriesReader):
    """A series in arrays: `times`, `values` and whatever goes along with them."""

    def __init__(self, data: Mapping[str, Any], read_num_records_hint: int = 4096):
        features = {name: np.asarray(values) for name, values in data.items()}
        for name in (TIMES, VALUES):
            if name not in features:
                raise ValueError(f"{TIMES} and {VALUES} are required features; there are {sorted(features)}")
        times = features[TIMES]
        if times.ndim == 2 and len(times) == 1:
            features = {name: values[0] for name, values in features.items()}
        elif times.ndim != 1:
            raise ValueError(f"Got batch input, was expecting unbatched input: {TIMES} has shape {times.shape}")
        for name, values in features.items():
            if len(values) != len(features[TIMES]):
                raise ValueError(
                    "All features must have their shapes prefixed by the shape of the times feature. Got shape "
                    f"{values.shape} for feature '{name}', but shape {features[TIMES].shape} for '{TIMES}'"
                )
        features[TIMES] = features[TIMES].astype(np.int64)
        if features[VALUES].ndim == 1:
            features[VALUES] = features[VALUES][:, None]
        self._features = features

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the columns by name."""
        return self._features


class CSVReader(TimeSeriesReader):
    """A series in files of comma-separated values, one after the other; a name that comes twice is one wider column."""

    def __init__(
        self,
        filenames: str | Sequence[str],
        column_names: Sequence[str] = (TIMES, VALUES),
        column_dtypes: Sequence[DTypeLike] | None = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ):
        for name in (TIMES, VALUES):
            if name not in column_names:
                raise ValueError(f"'{name}' is a required column.")
        if list(column_names).count(TIMES) != 1:
            raise ValueError(f"Got more than one times column ('{TIMES}'), but exactly one is required.")
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names "
                f"(got column_dtypes={column_dtypes} and column_names={column_names})."
            )
        self._files = [filenames] if isinstance(filenames, str) else list(filenames)
        self._names, self._header = list(column_names), skip_header_lines or 0
        kinds = column_dtypes or [dtypes.int64 if name == TIMES else dtypes.float32 for name in column_names]
        self._kinds = [np.dtype(dtypes.as_dtype(kind).as_numpy_dtype) for kind in kinds]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the columns by name. ValueError names the file and line of what is no number."""
        columns: list[list[Any]] = [[] for _ in self._names]
        for name in self._files:
            with GFile(name) as file:
                for number, row in enumerate(csv.reader(file.read().splitlines()), 1):
                    if number <= self._header or not row:
                        continue
                    if len(row) != len(self._names):
                        raise ValueError(f"{name}:{number}: Expect {len(self._names)} fields but have {len(row)}")
                    for column, kind, field in zip(columns, self._kinds, row):
                        column.append(_parsed(field, kind, name, number))
        together: dict[str, list[np.ndarray]] = {}
        for name, kind, values in zip(self._names, self._kinds, columns):
            together.setdefault(name, []).append(np.array(values, kind))
        return {name: v[0] if name == TIMES else np.stack(v, 1) for name, v in together.items()}


def _parsed(field: str, kind: np.dtype, file: str, line: int) -> Any:
    if kind.kind == "O":
        return field.encode()
    try:
        return kind.type(field)
    except ValueError as error:
        raise ValueError(f"{file}:{line}: {field!r} is not a valid {kind}") from error


class TimeSeriesInputFn:
    """An input function of an Estimator; call it, or `create_batch`."""

    def create_batch(self) -> Nested:
        """Return features and labels, of which there are none."""
        raise NotImplementedError(f"{type(self).__name__} must say what a batch is: create_batch()")

    def __call__(self) -> Nested:
        return self.create_batch()


class WholeDatasetInputFn(TimeSeriesInputFn):
    """A series as one batch of one window."""

    def __init__(self, time_series_reader: TimeSeriesReader):
        self._reader = time_series_reader

    def create_batch(self) -> Nested:
        """Return the whole series with a batch axis in front."""
        return {name: values[None] for name, values in self._reader.read_full().items()}, None


class RandomWindowInputFn(TimeSeriesInputFn):
    """Random windows of a series, in batches without end. Times never fall within one, or are put in order."""

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int = 2,
        shuffle_seed: int | None = None,
    ):
        self._reader, self._window, self._batch = time_series_reader, window_size, batch_size
        self._discard, self._jitter, self._seed = discard_out_of_order, jitter, shuffle_seed

    def create_batch(self) -> Nested:
        """Return a batch of windows, another at every run."""
        arrays = self._reader.arrays()
        times = arrays[TIMES]
        self._reader.check_dataset_size(self._window)
        starts = np.arange(0, len(times) - self._window + 1, 1 if self._jitter else self._window)
        windows = starts[:, None] + np.arange(self._window)
        if self._discard:
            windows = windows[(np.diff(times[windows], axis=1) >= 0).all(1)]
            if not len(windows):
                raise ValueError(f"no window of {self._window} steps has times that do not fall")
        else:
            windows = np.take_along_axis(windows, np.argsort(times[windows], axis=1, kind="stable"), 1)
        most = np.int64(len(windows))
        chosen = random_uniform([self._batch], 0, most, seed=self._seed, dtype=dtypes.int64)
        rows = gather(constant(windows), chosen)
        return {name: gather(constant(values), rows) for name, values in arrays.items()}, None


def predict_continuation_input_fn(
    evaluation: Mapping[str, Any],
    steps: int | None = None,
    times: Nested = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> Callable[[], Nested]:
    """Return an input function for `predict` that goes on where an evaluation ended: so many steps, or some times."""
    if (steps is None) == (times is None):
        raise ValueError("Only one of `times` and `steps` may be specified, and one of them must be.")
    last = np.asarray(evaluation[TIMES])[:, -1:]
    if steps is not None:
        future = last + 1 + np.arange(steps)
    else:
        future = np.asarray(times)
        future = future[None] if future.ndim == 1 else future
        if len(future) != len(last) or (future[:, :1] <= last).any():
            raise ValueError(f"times must come after those of the evaluation, which end at {last[:, 0].tolist()}")
    state = evaluation[FilteringResults.STATE_TUPLE]
    features = {PredictionFeatures.STATE_TUPLE: state, TIMES: future.astype(np.int64), **(exogenous_features or {})}

    def input_fn() -> Nested:
        return {
            name: nest.map_structure(lambda value: limit_epochs(raw.Identity(constant(value)), num_epochs=1), values)
            for name, values in features.items()
        }, None

    return input_fn
