"""What tables and columns of pandas had once: `ix`, `append`, `get_value`, `order`, …

Methods for `old_manners` to lend. Knows pandas only through the objects it is given.
"""

from __future__ import annotations

import sys
from typing import Any


class Index:
    """`table.ix`: rows and columns by label, or by place where the labels are no integers."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getitem__(self, key: Any) -> Any:
        return self._table.loc[self._labels(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._table.loc[self._labels(key)] = value

    def _labels(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        found = tuple(_labels(one, axis) for one, axis in zip(keys, self._table.axes, strict=False))
        return found if isinstance(key, tuple) else found[0]


def _labels(key: Any, axis: Any) -> Any:
    """Return a key as labels of an axis."""
    if axis.dtype.kind in "iu":
        return key
    if isinstance(key, slice):
        ends = [end for end in (key.start, key.stop) if end is not None]
        return axis[key] if ends and all(isinstance(end, int) for end in ends) else key
    if isinstance(key, bool) or not isinstance(key, (int, list)):
        return key
    places = key if isinstance(key, list) else [key]
    if not places or not all(isinstance(one, int) and not isinstance(one, bool) for one in places):
        return key
    return axis[key]


def append(
    self: Any, other: Any, ignore_index: bool = False, verify_integrity: bool = False, sort: bool = False
) -> Any:
    """Return the rows of a table or column, and those of others after them."""
    pandas = sys.modules["pandas"]
    rows = list(other) if isinstance(other, (list, tuple)) else [other]
    if self.ndim == 2:
        if any(isinstance(row, dict) for row in rows) and not ignore_index:
            raise TypeError("Can only append a dict if ignore_index=True")
        rows = [row if getattr(row, "ndim", 1) == 2 else pandas.DataFrame([row]) for row in rows]
    return pandas.concat([self, *rows], ignore_index=ignore_index, verify_integrity=verify_integrity)


def _mean_distance(self: Any, axis: int = 0) -> Any:
    middle = self.mean(axis)
    return (self - middle if self.ndim == 1 else self.sub(middle, 1 - axis)).abs().mean(axis)


def _set_value(self: Any, *place_and_value: Any) -> Any:
    *place, value = place_and_value
    self.at[tuple(place) if len(place) > 1 else place[0]] = value
    return self


def _read(path: Any, index_col: Any = 0, parse_dates: Any = True, **kwargs: Any) -> Any:
    return sys.modules["pandas"].read_csv(path, index_col=index_col, parse_dates=parse_dates, **kwargs)


def _sort(self: Any, columns: Any = None, ascending: Any = True, inplace: bool = False) -> Any:
    if columns is None:
        return self.sort_index(ascending=ascending, inplace=inplace)
    return self.sort_values(columns, ascending=ascending, inplace=inplace)


BOTH = {
    "ix": property(Index),
    "append": append,
    "iteritems": lambda self: self.items(),
    "mad": _mean_distance,
    "get_value": lambda self, *place: self.at[tuple(place) if len(place) > 1 else place[0]],
    "set_value": _set_value,
    "pad": lambda self, *args, **kwargs: self.ffill(*args, **kwargs),
    "backfill": lambda self, *args, **kwargs: self.bfill(*args, **kwargs),
}

TABLE = {
    **BOTH,
    "as_matrix": lambda self, columns=None: (self if columns is None else self[columns]).to_numpy(),
    "applymap": lambda self, func: self.map(func),
    "from_csv": _read,
    "sort": _sort,
}
"""What a `DataFrame` had."""

COLUMN = {
    **BOTH,
    "as_matrix": lambda self, columns=None: self.to_numpy(),
    "ravel": lambda self, order="C": self.to_numpy().ravel(order),
    "nonzero": lambda self: self.to_numpy().nonzero(),
    "order": lambda self, **kwargs: self.sort_values(**kwargs),
    "is_monotonic": property(lambda self: self.is_monotonic_increasing),
}
"""What a `Series` had."""
