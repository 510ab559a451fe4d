"""`tf.data.experimental.SqlDataset`: the rows of a query to a database, a tuple of columns each."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.spec import TensorSpec
from ebbflow.data import structure
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.dataset_v1 import DatasetV1
from ebbflow.data.file_ops import lasting, text_of
from ebbflow.data.pipe import TYPED, Element, dataset_op, made
from ebbflow.ops.sizes import invalid

SqlDataset = dataset_op(
    "SqlDataset(driver_name:string, data_source_name:string, query:string) -> (handle:variant) | "
    + TYPED
    + " | stateful"
)


@SqlDataset.kernel
def _(xp: Any, driver_name: Any, data_source_name: Any, query: Any, *, output_types: Any) -> Any:
    driver, place, text = driver_name.item().decode(), os.fsdecode(data_source_name.item()), query.item().decode()
    if driver != "sqlite":
        raise invalid(f"The set of supported databases is: {{'sqlite'}}; got driver_name = {driver!r}")

    def start() -> Iterator[Element]:
        return lasting(tuple([_value(v, t) for v, t in zip(row, output_types, strict=True)]) for row in rows())

    def rows() -> Iterator[Any]:
        with _named(place), contextlib.closing(sqlite3.connect(place, check_same_thread=False)) as database:
            cursor = database.execute(text)
            columns = len(cursor.description or ())
            if columns != len(output_types):
                raise invalid(
                    f"The number of columns in query ({columns}) must match the number of elements in output_types "
                    f"({len(output_types)})"
                )
            yield from cursor

    return made(start)


@contextlib.contextmanager
def _named(place: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise errors.UnknownError(None, None, f"{place}: {error}") from None
    except sqlite3.Error as error:
        raise errors.InvalidArgumentError(None, None, f"{place}: {error}") from None


def _value(value: Any, dtype: Any) -> np.ndarray:
    if dtype is dtypes.string:
        return text_of(b"" if value is None else value if isinstance(value, bytes) else str(value).encode())
    if dtype is dtypes.bool:
        return np.array(bool(value))
    try:
        number = float(value or 0)
    except ValueError:
        number = 0.0  # as SQLite itself reads a text as a number
    if dtype.is_floating:
        return np.array(number, dtype.np)
    whole = value if isinstance(value, int) else int(number)
    return np.array(whole, np.int64).astype(dtype.np)


class _Sql:
    _make: Any

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any):
        """Make the dataset of the rows of `query`; the database is a file of SQLite."""
        spec = structure.map_structure(lambda dtype: TensorSpec([], dtypes.as_dtype(dtype)), output_types)
        given = [
            convert(value, dtypes.string, name=name)
            for value, name in (
                (driver_name, "driver_name"), (data_source_name, "data_source_name"), (query, "query"),
            )
        ]  # fmt: skip
        made_of = self._make(SqlDataset, *given, spec=spec, kind="SqlDataset")
        DatasetV2.__init__(self, made_of._variant_tensor, spec, "SqlDataset")  # type: ignore[arg-type]


class SqlDatasetV2(_Sql, DatasetV2):
    """The rows of a query to a database."""


class SqlDatasetV1(_Sql, DatasetV1):
    """The rows of a query to a database, for TF 1."""
