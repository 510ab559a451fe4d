"""What a lookup table holds: keys, and a row of values for each.

Keys are found through a dictionary from key to row, values stand in one array, so that a lookup of many keys is one
pass over the dictionary and one gather. Three kinds: filled once (`StaticTable`), changing (`MutableTable`), and
changing with two keys set apart (`DenseTable`, whose keys may be vectors). Knows arrays; nothing of handles or files.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ebbflow.core import errors, forks
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import Dims
from ebbflow.ops.declare import show
from ebbflow.ops.sizes import invalid


class Table:
    """Keys of one dtype, each with a value of one dtype and shape."""

    key_dims: tuple[int, ...] = ()

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType, value_dims: Dims = ()):
        self.name, self.key_dtype, self.value_dtype = name, key_dtype, value_dtype
        self.value_dims: tuple[int, ...] = tuple(n or 0 for n in value_dims or ())
        self.lock = forks.rlock()
        self._rows: dict[Any, int] = {}
        self._values = self._zeros(0)

    def _zeros(self, count: int) -> np.ndarray:
        zeros = np.zeros((count, *self.value_dims), self.value_dtype.np)
        if self.value_dtype.np.kind == "O":
            zeros[...] = b""
        return zeros

    # --- reading ------------------------------------------------------------------------------------------------------

    def size(self) -> int:
        """Return the number of keys."""
        return len(self._rows)

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """Return the values of keys; of those that are not there, `default`: one value, or one for each key."""
        lead = self.lead(keys)
        self._check_default(default, lead)
        with self.lock:
            listed = self.listed(keys)
            rows = np.fromiter(map(self._rows.get, listed, itertools.repeat(-1)), np.intp, len(listed))
            if not self._rows:
                values = np.empty((len(rows), *self.value_dims), self.value_dtype.np)
            else:
                values = self._values[rows]
        missing = rows < 0
        if default.size == max(1, int(np.prod(self.value_dims))):
            values[missing] = default.reshape(self.value_dims)
        else:
            values[missing] = default.reshape(values.shape)[missing]
        return values.reshape((*lead, *self.value_dims))

    def _check_default(self, default: np.ndarray, lead: tuple[int, ...]) -> None:
        if default.shape == self.value_dims or default.shape == (*lead, *self.value_dims):
            return
        if not self.value_dims and default.size == 1:
            return
        other = show((*lead, *self.value_dims)) if self.value_dims else "[1]"
        raise invalid(f"Expected shape {show(self.value_dims)} or {other} for default value, got {show(default.shape)}")

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all keys and their values, in the order in which the keys came."""
        with self.lock:
            keys = self.key_array(list(self._rows))
            rows = np.fromiter(self._rows.values(), np.intp, len(self._rows))
            return keys, self._values[rows]

    # --- keys ---------------------------------------------------------------------------------------------------------

    def lead(self, keys: np.ndarray) -> tuple[int, ...]:
        """Return the dims of `keys` in front of those of one key."""
        return keys.shape

    def listed(self, keys: np.ndarray) -> list[Any]:
        """Return keys as a list of what the dictionary knows them by."""
        return keys.reshape(-1).tolist()

    def key_array(self, keys: list[Any]) -> np.ndarray:
        """Return the array of some of the dictionary's keys."""
        array = np.empty(len(keys), self.key_dtype.np)
        array[:] = keys
        return array

    def check_pairs(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Refuse values that do not belong to keys one by one."""
        wanted = (*self.lead(keys), *self.value_dims)
        if values.shape != wanted:
            raise invalid(f"Expected shape {show(wanted)} for value, got {show(values.shape)}")

    # --- writing ------------------------------------------------------------------------------------------------------

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Give keys new values."""
        raise errors.UnimplementedError(None, None, "Insert not supported by InitializableLookupTable implementations")

    def remove(self, keys: np.ndarray) -> None:
        """Forget keys."""
        raise errors.UnimplementedError(None, None, "Remove not supported by InitializableLookupTable implementations")

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Forget everything, and hold these pairs."""
        raise NotImplementedError(f"{type(self).__name__} says in replace() how it takes all its pairs anew")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {self.key_dtype.name} -> {self.value_dtype.name}>"


class StaticTable(Table):
    """A table that is filled once."""

    initialized = False

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """Return the values of keys; a table that was never filled has none to give."""
        if not self.initialized:
            raise errors.FailedPreconditionError(None, None, f"Table not initialized. (table '{self.name}')")
        return super().find(keys, default)

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Fill the table; one that is full stays as it is."""
        self.check_pairs(keys, values)
        if not keys.size:
            raise invalid("keys and values cannot be empty tensors.")
        with self.lock:
            if self.initialized:
                return
            listed, flat = self.listed(keys), values.reshape(-1)
            rows = dict(zip(reversed(listed), range(len(listed) - 1, -1, -1), strict=True))  # the first one stays
            if len(rows) < len(listed):
                _refuse_contradictions(listed, flat, rows)
            self._rows = {key: rows[key] for key in dict.fromkeys(listed)}
            self._values = np.array(flat)
            self.initialized = True


def _refuse_contradictions(keys: list[Any], values: np.ndarray, rows: dict[Any, int]) -> None:
    """Refuse a key that comes twice with two values."""
    for key, value in zip(keys, values, strict=True):
        first = values[rows[key]]
        if value != first:
            raise errors.FailedPreconditionError(
                None,
                None,
                f"HashTable has different value for same key. Key {_text(key)} has {_text(first)} and trying to add "
                f"value {_text(value)}",
            )


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


class MutableTable(Table):
    """A table that may change at any time. Rows of forgotten keys are used again."""

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType, value_dims: Dims = ()):
        super().__init__(name, key_dtype, value_dtype, value_dims)
        self._free: list[int] = []

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Give keys new values; where a key comes twice, the last one counts."""
        self.check_pairs(keys, values)
        listed = self.listed(keys)
        with self.lock:
            rows = np.fromiter(map(self._row_for, listed), np.intp, len(listed))
            if len(rows):
                self._make_room(int(rows.max()) + 1)
            self._values[rows] = values.reshape(len(listed), *self.value_dims)

    def _row_for(self, key: Any) -> int:
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = self._free.pop() if self._free else len(self._rows)
        return row

    def _make_room(self, count: int) -> None:
        have = len(self._values)
        if count > have:
            grown = self._zeros(max(count, 2 * have, 16))
            grown[:have] = self._values
            self._values = grown
        # an export or a lookup copies, so nobody else holds the array

    def remove(self, keys: np.ndarray) -> None:
        """Forget keys; those that are not there are no error."""
        with self.lock:
            for key in self.listed(keys):
                row = self._rows.pop(key, None)
                if row is not None:
                    self._free.append(row)

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Forget everything, and hold these pairs."""
        self.check_pairs(keys, values)
        with self.lock:
            self._clear()
            self.insert(keys, values)

    def _clear(self) -> None:
        self._rows, self._free, self._values = {}, [], self._zeros(0)


class DenseTable(MutableTable):
    """A changing table whose keys may be vectors, and which has two keys that stand for none and for a removed one.

    TensorFlow keeps such a table in buckets, and exports them all; the number of buckets is counted here for that only.
    """

    def __init__(
        self,
        name: str,
        value_dtype: DType,
        value_dims: Dims,
        empty_key: np.ndarray,
        deleted_key: np.ndarray | None,
        key_dtype: DType,
        buckets: int,
        load: float,
    ):
        super().__init__(name, key_dtype, value_dtype, value_dims)
        self.key_dims = empty_key.shape
        self._buckets, self._load = buckets, load
        self._removed: list[np.ndarray] = []
        self._first_buckets = buckets
        self._empty, self._deleted = empty_key, deleted_key
        self._apart = {"empty_key": self._known_as(empty_key)}
        if deleted_key is not None:
            self._apart["deleted_key"] = self._known_as(deleted_key)

    def _known_as(self, key: np.ndarray) -> Any:
        return self._names(key.reshape(1, *self.key_dims))[0]

    def _names(self, keys: np.ndarray) -> list[Any]:
        if not self.key_dims:
            return keys.reshape(-1).tolist()
        return [tuple(row) for row in keys.reshape(-1, int(np.prod(self.key_dims))).tolist()]

    def lead(self, keys: np.ndarray) -> tuple[int, ...]:
        """Return the dims of `keys` in front of those of one key."""
        at = keys.ndim - len(self.key_dims)
        if at < 0 or keys.shape[at:] != self.key_dims:
            raise invalid(
                f"Input key shape {show(keys.shape)} must end with the table's key shape {show(self.key_dims)}"
            )
        if int(np.prod(keys.shape[1:at])) != 1:
            raise invalid(f"Expected key shape {show((keys.shape[0], *self.key_dims))}, got {show(keys.shape)}")
        return keys.shape[:at]

    def listed(self, keys: np.ndarray) -> list[Any]:
        """Return keys as the dictionary knows them; the two that are set apart are refused."""
        names = self._names(keys)
        for what, key in self._apart.items():
            if key in names:
                raise invalid(f"Using the {what} as a table key is not allowed")
        return names

    def key_array(self, keys: list[Any]) -> np.ndarray:
        """Return the array of some of the dictionary's keys."""
        array = np.empty((len(keys), *self.key_dims), self.key_dtype.np)
        if keys:
            array[...] = np.array(keys, self.key_dtype.np).reshape(array.shape)
        return array

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Give keys new values."""
        with self.lock:
            self.check_pairs(keys, values)
            self._grow(len(self._rows) + int(np.prod(self.lead(keys))))
            super().insert(keys, values)

    def _grow(self, pending: int) -> None:
        if pending > self._buckets * self._load:
            self._removed = []
            while pending > self._buckets * self._load:
                self._buckets *= 2

    def remove(self, keys: np.ndarray) -> None:
        """Forget keys; each leaves a removed key behind."""
        with self.lock:
            known = [key for key in dict.fromkeys(self.listed(keys)) if key in self._rows]
            self._removed += [self._values[self._rows[key]].copy() for key in known]
            super().remove(keys)

    def _clear(self) -> None:
        super()._clear()
        self._buckets, self._removed = self._first_buckets, []

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Forget everything, and hold these pairs, leaving out those of the keys that are set apart."""
        if not keys.size:
            raise invalid("keys has no buckets: a dense table is imported with at least one")
        names = self._names(keys)
        kept = np.array([name not in self._apart.values() for name in names], bool)
        keys, values = keys.reshape(-1, *self.key_dims)[kept], values.reshape(-1, *self.value_dims)[kept]
        super().replace(keys, values)

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """Return keys and values of all buckets: those in use, then those of removed keys, then those never used."""
        with self.lock:
            keys, values = super().export()
            rest = self._buckets - len(keys)
            more = np.broadcast_to(self._empty, (rest, *self.key_dims)).copy()
            rest_values = self._zeros(rest)
            if self._removed:
                more[: len(self._removed)] = self._deleted
                rest_values[: len(self._removed)] = self._removed
            joined = np.concatenate([keys, more]), np.concatenate([values, rest_values])
        return (joined[0] if self.key_dims else joined[0].reshape(-1, 1)), (
            joined[1] if self.value_dims else joined[1].reshape(-1, 1)
        )
