"""Feature columns as boosted trees see them: numbered features, each with as many buckets as it has values.

Numbers are put into buckets by their quantiles, which are known after the first batches. Bucketized columns are
buckets as they are; an indicator column is a feature for each of its values; a categorical one is split by equality.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.feature_column.base import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    OldCategoricalColumn,
    OldDenseColumn,
)
from ebbflow.feature_column.first_generation import transformed_v1, transformed_v2
from ebbflow.feature_column.indicator import IndicatorColumn
from ebbflow.feature_column.numeric import BucketizedColumn
from ebbflow.feature_column.state import LayerState
from ebbflow.ops.arrays.joining import unstack
from ebbflow.ops.arrays.shaping import expand_dims_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import minimum
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.sparse.functions import to_dense

INEQUALITY, EQUALITY = "inequality", "equality"
TWO = 2
"""Buckets of a value that is there or not."""
MORE = 2
"""Buckets of numbers beyond those asked for: summaries are thinned to about as many boundaries, not to at most."""


class Group(NamedTuple):
    """Features with equally many buckets: their numbers, and how each is split."""

    buckets: int
    ids: list[int]
    splits: list[str]


class Features:
    """The columns of a model by name, and the features that they are."""

    def __init__(self, columns: Iterable[Any], num_quantiles: int):
        self._most = num_quantiles + MORE
        self.columns = sorted(columns, key=lambda column: column.name)
        self.floats = [column for column in self.columns if _is_float(column)]
        self.num_floats = sum(map(_width, self.floats))
        self.names = [_shown_name(column) for column in self.columns for _ in range(_width(column))]
        self.groups = _groups(self.columns, self._most)

    def buckets(self, values: Mapping[str, Any], boundaries: list[Tensor]) -> list[Tensor]:
        """Return the buckets of every feature, as a matrix of int32 each; `boundaries` are of the float ones."""
        made, rest, found = transformed(values, self.columns), list(boundaries), []
        for column in self.columns:
            value = made[column]
            if _is_float(column):
                columns = unstack(value, num=_width(column), axis=1)
                mine, rest = rest[: len(columns)], rest[len(columns) :]
                made_buckets = raw.BoostedTreesBucketize(columns, mine)
                found += [expand_dims_v1(minimum(b, self._most - 1), 1) for b in made_buckets]
            elif isinstance(column, IndicatorColumn):
                flags = cast(_flat(value, column), dtypes.int32)
                found += [expand_dims_v1(f, 1) for f in unstack(flags, num=_width(column), axis=1)]
            elif isinstance(column, BucketizedColumn):
                found.append(_flat(cast(value, dtypes.int32), column))
            else:
                found.append(cast(to_dense(value), dtypes.int32))
        return found

    def numbers(self, values: Mapping[str, Any]) -> list[Tensor]:
        """Return the float features, as a vector each."""
        made = transformed(values, self.floats)
        return [x for column in self.floats for x in unstack(made[column], num=_width(column), axis=1)]


def transformed(values: Mapping[str, Any], columns: list[Any]) -> dict[Any, Any]:
    """Return what columns of either generation make of features."""
    second = [column for column in columns if isinstance(column, FeatureColumn)]
    first = [column for column in columns if not isinstance(column, FeatureColumn)]
    found = transformed_v2(values, second, LayerState(None, False)) if second else {}
    return found | transformed_v1(values, first) if first else found


def _flat(value: Tensor, column: Any) -> Tensor:
    if value.shape.rank is not None and value.shape.rank > 2:
        raise ValueError(f"features of boosted trees are vectors, but column {column.name!r} has shape {value.shape}")
    return value


def _is_float(column: Any) -> bool:
    """Return whether a column holds numbers that quantiles put into buckets; refuse what trees cannot take."""
    if isinstance(column, (BucketizedColumn, IndicatorColumn, CategoricalColumn, OldCategoricalColumn)):
        return False
    if isinstance(column, (DenseColumn, OldDenseColumn)):
        return getattr(column, "dtype", dtypes.float32).is_floating
    raise ValueError(f"Encountered unexpected column {column}: boosted trees take dense and categorical columns")


def _width(column: Any) -> int:
    """Return how many features a column is."""
    if isinstance(column, IndicatorColumn):
        return int(column.categorical_column.num_buckets)
    if not _is_float(column):
        return 1
    dims = getattr(column, "variable_shape" if isinstance(column, FeatureColumn) else "_variable_shape").as_list()
    if len(dims) > 1:
        raise ValueError(f"boosted trees take dense columns of rank 1, but {column.name!r} has shape {dims}")
    return dims[0] if dims else 1


def _shown_name(column: Any) -> str:
    return column.categorical_column.name if isinstance(column, IndicatorColumn) else column.name


def _groups(columns: list[Any], most: int) -> list[Group]:
    """Return features by their number of buckets. Bucketized ones share the number that the largest needs."""
    groups: dict[int, Group] = {}
    bucketized: list[int] = []
    largest, number = TWO, 0
    for column in columns:
        ids = range(number, number + _width(column))
        number += len(ids)
        if isinstance(column, BucketizedColumn):
            bucketized += ids
            largest = max(largest, len(column.boundaries) + 1)
            continue
        split = INEQUALITY
        if isinstance(column, IndicatorColumn):
            count = TWO
        elif _is_float(column):
            count = most
        else:
            count, split = int(column.num_buckets), EQUALITY
        group = groups.setdefault(count, Group(count, [], []))
        group.ids.extend(ids)
        group.splits.extend([split] * len(ids))
    if bucketized:
        group = groups.setdefault(largest, Group(largest, [], []))
        group.ids.extend(bucketized)
        group.splits.extend([INEQUALITY] * len(bucketized))
    return list(groups.values())
