"""`tf.contrib.learn.datasets.base`: small tables in CSV files, and Fisher's irises (which scikit-learn has)."""

from __future__ import annotations

import csv
import os
import shutil
import urllib.request
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.typing import DTypeLike
from ebbflow.platform.files import GFile

Dataset = namedtuple("Dataset", ["data", "target"])
Datasets = namedtuple("Datasets", ["train", "validation", "test"])


def _rows(reader: Any, target_dtype: Any, features_dtype: Any, target_column: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the features and the targets of rows; a row's target is taken out of it."""
    data, target = [], []
    for row in reader:
        target.append(row.pop(target_column))
        data.append(np.asarray(row, dtype=features_dtype))
    return np.array(data), np.array(target, dtype=target_dtype)


def load_csv_with_header(
    filename: str, target_dtype: DTypeLike, features_dtype: DTypeLike, target_column: int = -1
) -> Dataset:
    """Return the table of a CSV file whose first line says how many rows and features it has."""
    with GFile(filename) as file:
        reader = csv.reader(file)
        header = next(reader, ["", ""])
        try:
            count, width = int(header[0]), int(header[1])
        except (ValueError, IndexError):
            raise ValueError(f"{filename}: the first line should say how many rows and features there are, "
                             f"not {','.join(header)!r}") from None  # fmt: skip
        data, target = _rows(reader, target_dtype, features_dtype, target_column)
    if len(data) < count or (count and data.shape[1:] != (width,)):
        raise ValueError(
            f"{filename}: the first line says {count} rows of {width} features, but there are {data.shape}"
        )
    return Dataset(data[:count], target[:count])


def load_csv_without_header(
    filename: str, target_dtype: DTypeLike, features_dtype: DTypeLike, target_column: int = -1
) -> Dataset:
    """Return the table of a CSV file."""
    with GFile(filename) as file:
        return Dataset(*_rows(csv.reader(file), target_dtype, features_dtype, target_column))


def shrink_csv(filename: str, ratio: int) -> None:
    """Write every n-th line of a CSV file into another, with `_small` in its name."""
    name, ending = os.path.splitext(filename)
    with GFile(filename) as source, GFile(f"{name}_small{ending}", "w") as small:
        for number, line in enumerate(source):
            if number % ratio == 0:
                small.write(line)


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """Return where a file is; fetch it, where it is not there yet."""
    os.makedirs(work_directory, exist_ok=True)
    path = os.path.join(work_directory, filename)
    if not os.path.exists(path):
        part, _ = urllib.request.urlretrieve(source_url)
        shutil.move(part, path)
    return path


def load_iris(data_path: str | None = None) -> Dataset:
    """Return Fisher's irises: from a CSV file with a header, or as scikit-learn has them."""
    if data_path is not None:
        return load_csv_with_header(data_path, np.int64, np.float64)
    try:
        from sklearn.datasets import load_iris as irises
    except ImportError:
        raise ImportError("the irises are scikit-learn's: pip install scikit-learn, or give data_path") from None
    found = irises()
    return Dataset(found.data, found.target)


HOUSES = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
"""Where the table of Boston's houses is that `keras.datasets.boston_housing` reads, too, and keeps."""


def load_boston(data_path: str | None = None) -> Dataset:
    """Return the prices of Boston's houses of 1978: from a CSV file with a header, or the file that Keras keeps."""
    if data_path is not None:
        return load_csv_with_header(data_path, np.float64, np.float64)
    folder = os.path.join(os.environ.get("KERAS_HOME", os.path.expanduser("~/.keras")), "datasets")
    name = "boston_housing.npz"
    try:
        path = maybe_download(name, folder, HOUSES + name)
    except OSError as error:
        raise FileNotFoundError(
            f"{os.path.join(folder, name)} is not there, and cannot be fetched ({error}); give data_path, "
            "a CSV file whose first line says its rows and features"
        ) from error
    with np.load(path) as found:
        return Dataset(found["x"].astype(np.float64), found["y"].astype(np.float64))


TABLES: dict[str, Callable[..., Dataset]] = {"boston": load_boston, "iris": load_iris}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Dataset:
    """Return a table by its name: `boston` or `iris`."""
    if name not in TABLES:
        raise ValueError(f"Name of dataset is not found: {name}; there are {', '.join(sorted(TABLES))}")
    return TABLES[name]()
