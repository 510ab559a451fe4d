"""The ops that read `tf.train.SequenceExample`s: a context like an Example's, and lists of features over time.

The context is read as examples are; a feature list becomes a sparse part with a time axis, a dense part filled up to
the longest, or rows of rows. Works record by record.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.core.varint import to_varint
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.parsing import values, wire
from ebbflow.ops.parsing.example_ops import KINDS, Dense, Records, _text, _word, _zero, dense_features, key_list
from ebbflow.ops.sizes import invalid

_LISTS = "list(type) in [float,int64,string] >= 0 = []"
_SPLITS = "list(type) in [int32,int64] >= 0 = []"
_SHAPES = "list(shape) >= 0 = []"

Steps = list[np.ndarray]
"""The values of one feature at each time."""


class Sequences:
    """Serialized sequence examples: the context as records, and the feature lists by key."""

    def __init__(self, serialized: np.ndarray, names: np.ndarray, context_keys: list[bytes], keys: list[bytes]) -> None:
        self.names = names
        self.records = serialized.reshape(-1).tolist()
        contexts = np.empty(len(self.records), object)
        wanted = set(keys)
        self.lists: list[dict[bytes, list[tuple[int, int]]]] = []
        for row, data in enumerate(self.records):
            try:
                contexts[row], found = _parted(data, wanted)
            except (wire.MalformedError, IndexError):
                text = f"Name: {self.name(row)}, Index: {row}.  Could not parse example input, value: {data[:64]!r}"
                raise invalid(text) from None
            self.lists.append(found)
        self.context = Records(contexts, names, context_keys)

    def name(self, row: int) -> str:
        flat = self.names.reshape(-1)
        return flat[row].decode("utf-8", "replace") if flat.size > row else "<unknown>"

    def steps(self, key: bytes, dtype: Any) -> list[Steps | None]:
        """Return the values at each time of each record, or None where the record has no such list."""
        return [self._steps(row, key, dtype) for row in range(len(self.records))]

    def _steps(self, row: int, key: bytes, dtype: Any) -> Steps | None:
        places = self.lists[row].get(key)
        if places is None:
            return None
        data, kind = self.records[row], KINDS[dtype]
        found: Steps = []
        for at, (start, end) in enumerate(places):
            try:
                own, a, b = wire.feature_at(data, start, end)
                step = values.ONE[kind](data, a, b) if own == kind else np.zeros(0, dtype.np)
            except (wire.MalformedError, IndexError) as error:
                raise invalid(f"Name: {self.name(row)}, Feature list: {_text(key)}, Index: {at}.  {error}") from None
            if own not in (0, kind):
                raise invalid(
                    f"Name: {self.name(row)}, Feature list: {_text(key)}, Index: {at}.  Data types don't match. "
                    f"Expected type: {_word(dtype)}"
                )
            found.append(step)
        return found

    # -- what the lists become

    def sparse(self, key: bytes, dtype: Any, single: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return indices, values and shape [records, times, values] (without the first axis for a single record)."""
        rows = [steps or [] for steps in self.steps(key, dtype)]
        places = [
            (row, time, i)
            for row, steps in enumerate(rows)
            for time, step in enumerate(steps)
            for i in range(len(step))
        ]
        indices = np.array(places, np.int64).reshape(-1, 3)
        times = max((len(steps) for steps in rows), default=0)
        width = max((len(step) for steps in rows for step in steps), default=0)
        shape = np.array([len(rows), times, width], np.int64)
        flat = _joined([step for steps in rows for step in steps], dtype)
        return (indices[:, 1:], flat, shape[1:]) if single else (indices, flat, shape)

    def dense(self, feature: Dense, may_lack: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the values [records, times, …], filled up with zeros, and how many times each record has."""
        rows = []
        for row, steps in enumerate(self.steps(feature.key, feature.dtype)):
            if steps is None and not may_lack:
                raise invalid(
                    f"Name: {self.name(row)}, Feature list '{_text(feature.key)}' is required but could not be found.  "
                    "Did you mean to include it in feature_list_dense_missing_assumed_empty or "
                    "feature_list_dense_defaults?"
                )
            rows.append([self._sized(feature, row, at, step) for at, step in enumerate(steps or [])])
        counts = np.array([len(steps) for steps in rows], np.int64)
        longest = int(counts.max(initial=0))
        result = np.empty((len(rows), longest, feature.size), feature.dtype.np)
        result[...] = _zero(feature.dtype)
        for row, steps in enumerate(rows):
            for at, step in enumerate(steps):
                result[row, at] = step
        return result.reshape(len(rows), longest, *feature.dims), counts

    def _sized(self, feature: Dense, row: int, at: int, step: np.ndarray) -> np.ndarray:
        if len(step) != feature.size:
            raise invalid(
                f"Name: {self.name(row)}, Key: {_text(feature.key)}, Index: {at}.  Number of {_word(feature.dtype)} "
                f"values != expected.  values size: {len(step)} but output shape: {show(feature.dims)}"
            )
        return step

    def ragged(self, key: bytes, dtype: Any, splits: Any, single: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return values, outer splits (times of each record) and inner splits (values of each time)."""
        rows = [steps or [] for steps in self.steps(key, dtype)]
        inner = np.cumsum([0, *(len(step) for steps in rows for step in steps)])
        outer = np.zeros(0) if single else np.cumsum([0, *(len(steps) for steps in rows)])
        flat = _joined([step for steps in rows for step in steps], dtype)
        return flat, outer.astype(splits.np), inner.astype(splits.np)


def _joined(steps: Steps, dtype: Any) -> np.ndarray:
    return np.concatenate(steps) if steps else np.zeros(0, dtype.np)


def _parted(data: bytes, wanted: set[bytes]) -> tuple[bytes, dict[bytes, list[tuple[int, int]]]]:
    """Return the context of a sequence example as an Example, and where the features of each list lie."""
    context, found = b"", {}
    for number, kind, start, end in wire.fields(data, 0, len(data)):
        if kind != wire.RANGE:
            continue
        if number == 1:
            context += data[start:end]
        elif number == 2:
            for key, a, b in wire.entries_of(data, start, end):
                if key in wanted:
                    found[key] = [(c, d) for n, form, c, d in wire.fields(data, a, b) if n == 1 and form == wire.RANGE]
    return b"\x0a" + to_varint(len(context)) + context, found


def _context_dims(context_dense_shapes: Any, lead: tuple[int | None, ...]) -> list[Any]:
    return [None if d is None else (*lead, *d) for d in context_dense_shapes]


# --- ops --------------------------------------------------------------------------------------------------------------

ParseSequenceExampleV2 = op(
    "ParseSequenceExampleV2(serialized:string, debug_name:string, context_sparse_keys:string,"
    " context_dense_keys:string, context_ragged_keys:string, feature_list_sparse_keys:string,"
    " feature_list_dense_keys:string, feature_list_ragged_keys:string,"
    " feature_list_dense_missing_assumed_empty:bool, context_dense_defaults:list(Tcontext_dense)) ->"
    " (context_sparse_indices:Ncontext_sparse*int64, context_sparse_values:list(context_sparse_types),"
    " context_sparse_shapes:Ncontext_sparse*int64, context_dense_values:list(Tcontext_dense),"
    " context_ragged_values:list(context_ragged_value_types),"
    " context_ragged_row_splits:list(context_ragged_split_types),"
    " feature_list_sparse_indices:Nfeature_list_sparse*int64,"
    " feature_list_sparse_values:list(feature_list_sparse_types),"
    " feature_list_sparse_shapes:Nfeature_list_sparse*int64,"
    " feature_list_dense_values:list(feature_list_dense_types), feature_list_dense_lengths:Nfeature_list_dense*int64,"
    " feature_list_ragged_values:list(feature_list_ragged_value_types),"
    " feature_list_ragged_outer_splits:list(feature_list_ragged_split_types),"
    " feature_list_ragged_inner_splits:list(feature_list_ragged_split_types)) | Ncontext_sparse: int >= 0 = 0;"
    f" Tcontext_dense: {_LISTS}; context_sparse_types: {_LISTS}; context_ragged_value_types: {_LISTS};"
    f" context_ragged_split_types: {_SPLITS}; context_dense_shapes: {_SHAPES}; Nfeature_list_sparse: int >= 0 = 0;"
    f" Nfeature_list_dense: int >= 0 = 0; feature_list_dense_types: {_LISTS}; feature_list_sparse_types: {_LISTS};"
    f" feature_list_ragged_value_types: {_LISTS}; feature_list_ragged_split_types: {_SPLITS};"
    f" feature_list_dense_shapes: {_SHAPES}",
    gradient=FLAT,
)


@ParseSequenceExampleV2.shape
def _(
    serialized, debug_name, context_sparse_keys, context_dense_keys, context_ragged_keys, feature_list_sparse_keys,
    feature_list_dense_keys, feature_list_ragged_keys, feature_list_dense_missing_assumed_empty,
    context_dense_defaults, *, context_sparse_types, context_ragged_value_types, context_dense_shapes,
    feature_list_sparse_types, feature_list_ragged_value_types, feature_list_dense_shapes,
):  # fmt: skip
    lead, width = serialized.dims, None if serialized.dims is None else len(serialized.dims) + 1
    sparse, ragged = len(context_sparse_types), len(context_ragged_value_types)
    lists, rows = len(feature_list_sparse_types), len(feature_list_ragged_value_types)
    dense = [None if lead is None or d is None else (*lead, *d) for d in context_dense_shapes]
    over_time = [None if lead is None or d is None else (*lead, None, *d) for d in feature_list_dense_shapes]
    deeper = None if width is None else width + 1
    return [
        *[(None, width)] * sparse, *[(None,)] * sparse, *[(width,)] * sparse, *dense, *[(None,)] * (2 * ragged),
        *[(None, deeper)] * lists, *[(None,)] * lists, *[(deeper,)] * lists, *over_time, *[lead] * len(over_time),
        *[(None,)] * (3 * rows),
    ]  # fmt: skip


@ParseSequenceExampleV2.kernel
def _(
    xp, serialized, debug_name, context_sparse_keys, context_dense_keys, context_ragged_keys, feature_list_sparse_keys,
    feature_list_dense_keys, feature_list_ragged_keys, feature_list_dense_missing_assumed_empty,
    context_dense_defaults, *, Tcontext_dense, context_sparse_types, context_ragged_value_types,
    context_ragged_split_types, context_dense_shapes, feature_list_dense_types, feature_list_sparse_types,
    feature_list_ragged_value_types, feature_list_ragged_split_types, feature_list_dense_shapes,
):  # fmt: skip
    if serialized.ndim > 1:
        raise invalid(f"Expected serialized to be a scalar or vector, got shape: {show(serialized.shape)}")
    may_lack = feature_list_dense_missing_assumed_empty.reshape(-1).tolist()
    context = dense_features(
        key_list(context_dense_keys), Tcontext_dense, context_dense_shapes, context_dense_defaults
    )  # fmt: skip
    asked = (
        list(zip(key_list(context_sparse_keys), context_sparse_types, strict=True)),
        list(zip(key_list(context_ragged_keys), context_ragged_value_types, context_ragged_split_types, strict=True)),
        list(zip(key_list(feature_list_sparse_keys), feature_list_sparse_types, strict=True)),
        _lists(feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes, may_lack),
        list(zip(key_list(feature_list_ragged_keys), feature_list_ragged_value_types, feature_list_ragged_split_types,
                 strict=True)),
    )  # fmt: skip
    return _parsed(serialized, debug_name, context, *asked)


def _lists(keys: Any, types: Any, shapes: Any, may_lack: list[bool]) -> list[tuple[Dense, bool]]:
    """Return the dense features over time, and which of them a record may lack."""
    named = key_list(keys)
    if not len(named) == len(types) == len(shapes) == len(may_lack):
        raise invalid(f"feature_list_dense_keys, types, shapes and missing_assumed_empty must be alike in number, got "
                      f"{len(named)}, {len(types)}, {len(shapes)} and {len(may_lack)}")  # fmt: skip
    for key, dims in zip(named, shapes, strict=True):
        if dims is None or None in dims:
            raise invalid(f"feature_list_dense_shapes of {_text(key)} must be fully known, got {show(dims)}")
    return [
        (Dense(key, dtype, tuple(dims), np.zeros(0)), lacks)
        for key, dtype, dims, lacks in zip(named, types, shapes, may_lack, strict=True)
    ]


def _parsed(
    serialized: Any, names: Any, context: Any, sparse: Any, ragged: Any, lists: Any, dense_lists: Any, rows: Any
) -> list[list[np.ndarray]]:
    single = serialized.ndim == 0
    keys = [key for key, *_ in (*sparse, *ragged)] + [f.key for f in context]
    over_time = [key for key, *_ in (*lists, *rows)] + [f.key for f, _ in dense_lists]
    read = Sequences(serialized, names, keys, over_time)
    context_sparse = [read.context.sparse(key, dtype, single) for key, dtype in sparse]
    context_ragged = [read.context.ragged(key, dtype, splits, single) for key, dtype, splits in ragged]
    context_dense = [read.context.dense(feature) for feature in context]
    list_sparse = [read.sparse(key, dtype, single) for key, dtype in lists]
    list_dense = [read.dense(feature, lacks) for feature, lacks in dense_lists]
    list_ragged = [read.ragged(key, dtype, splits, single) for key, dtype, splits in rows]
    first = (lambda x: x[0]) if single else (lambda x: x)
    return [
        *([part[i] for part in context_sparse] for i in range(3)),
        [first(x) for x in context_dense],
        *([part[i] for part in context_ragged] for i in range(2)),
        *([part[i] for part in list_sparse] for i in range(3)),
        [first(x) for x, _ in list_dense], [first(n) for _, n in list_dense],
        *([part[i] for part in list_ragged] for i in range(3)),
    ]  # fmt: skip


ParseSequenceExample = op(
    "ParseSequenceExample(serialized:string, debug_name:string, context_dense_defaults:list(Tcontext_dense)) ->"
    " (context_sparse_indices:Ncontext_sparse*int64, context_sparse_values:list(context_sparse_types),"
    " context_sparse_shapes:Ncontext_sparse*int64, context_dense_values:list(Tcontext_dense),"
    " feature_list_sparse_indices:Nfeature_list_sparse*int64,"
    " feature_list_sparse_values:list(feature_list_sparse_types),"
    " feature_list_sparse_shapes:Nfeature_list_sparse*int64,"
    " feature_list_dense_values:list(feature_list_dense_types), feature_list_dense_lengths:Nfeature_list_dense*int64)"
    " | feature_list_dense_missing_assumed_empty: list(string) >= 0; context_sparse_keys: list(string) >= 0;"
    " context_dense_keys: list(string) >= 0; feature_list_sparse_keys: list(string) >= 0;"
    " feature_list_dense_keys: list(string) >= 0; Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0;"
    " Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0;"
    f" context_sparse_types: {_LISTS}; Tcontext_dense: {_LISTS}; feature_list_dense_types: {_LISTS};"
    f" context_dense_shapes: {_SHAPES}; feature_list_sparse_types: {_LISTS}; feature_list_dense_shapes: {_SHAPES}",
    gradient=FLAT,
)


@ParseSequenceExample.shape
def _(
    serialized, debug_name, context_dense_defaults, *, context_sparse_types, context_dense_shapes,
    feature_list_sparse_types, feature_list_dense_shapes,
):  # fmt: skip
    count = None if serialized.dims is None or len(serialized.dims) != 1 else serialized.dims[0]
    sparse, lists = len(context_sparse_types), len(feature_list_sparse_types)
    over_time = [None if d is None else (count, None, *d) for d in feature_list_dense_shapes]
    return [
        *[(None, 2)] * sparse, *[(None,)] * sparse, *[(2,)] * sparse, *_context_dims(context_dense_shapes, (count,)),
        *[(None, 3)] * lists, *[(None,)] * lists, *[(3,)] * lists, *over_time, *[(count,)] * len(over_time),
    ]  # fmt: skip


@ParseSequenceExample.kernel
def _(
    xp, serialized, debug_name, context_dense_defaults, *, feature_list_dense_missing_assumed_empty,
    context_sparse_keys, context_dense_keys, feature_list_sparse_keys, feature_list_dense_keys, context_sparse_types,
    Tcontext_dense, feature_list_dense_types, context_dense_shapes, feature_list_sparse_types,
    feature_list_dense_shapes,
):  # fmt: skip
    if serialized.ndim != 1:
        raise invalid(f"Expected serialized to be a vector, got shape: {show(serialized.shape)}")
    lacking = set(key_list(feature_list_dense_missing_assumed_empty))
    may_lack = [key in lacking for key in key_list(feature_list_dense_keys)]
    parts = _parsed(
        serialized, debug_name,
        dense_features(key_list(context_dense_keys), Tcontext_dense, context_dense_shapes, context_dense_defaults),
        list(zip(key_list(context_sparse_keys), context_sparse_types, strict=True)), [],
        list(zip(key_list(feature_list_sparse_keys), feature_list_sparse_types, strict=True)),
        _lists(feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes, may_lack), [],
    )  # fmt: skip
    return [*parts[:4], *parts[6:11]]


ParseSingleSequenceExample = op(
    "ParseSingleSequenceExample(serialized:string, feature_list_dense_missing_assumed_empty:string,"
    " context_sparse_keys:Ncontext_sparse*string, context_dense_keys:Ncontext_dense*string,"
    " feature_list_sparse_keys:Nfeature_list_sparse*string, feature_list_dense_keys:Nfeature_list_dense*string,"
    " context_dense_defaults:list(Tcontext_dense), debug_name:string) ->"
    " (context_sparse_indices:Ncontext_sparse*int64, context_sparse_values:list(context_sparse_types),"
    " context_sparse_shapes:Ncontext_sparse*int64, context_dense_values:list(Tcontext_dense),"
    " feature_list_sparse_indices:Nfeature_list_sparse*int64,"
    " feature_list_sparse_values:list(feature_list_sparse_types),"
    " feature_list_sparse_shapes:Nfeature_list_sparse*int64,"
    " feature_list_dense_values:list(feature_list_dense_types)) | Ncontext_sparse: int >= 0 = 0;"
    " Ncontext_dense: int >= 0 = 0; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0;"
    f" context_sparse_types: {_LISTS}; Tcontext_dense: {_LISTS}; feature_list_dense_types: {_LISTS};"
    f" context_dense_shapes: {_SHAPES}; feature_list_sparse_types: {_LISTS}; feature_list_dense_shapes: {_SHAPES}",
    gradient=FLAT,
)


@ParseSingleSequenceExample.shape
def _(
    serialized, feature_list_dense_missing_assumed_empty, context_sparse_keys, context_dense_keys,
    feature_list_sparse_keys, feature_list_dense_keys, context_dense_defaults, debug_name,
    *, context_dense_shapes, feature_list_dense_shapes,
):  # fmt: skip
    sparse, lists = len(context_sparse_keys), len(feature_list_sparse_keys)
    return [
        *[(None, 1)] * sparse, *[(None,)] * sparse, *[(1,)] * sparse, *_context_dims(context_dense_shapes, ()),
        *[(None, 2)] * lists, *[(None,)] * lists, *[(2,)] * lists,
        *[None if d is None else (None, *d) for d in feature_list_dense_shapes],
    ]  # fmt: skip


@ParseSingleSequenceExample.kernel
def _(
    xp, serialized, feature_list_dense_missing_assumed_empty, context_sparse_keys, context_dense_keys,
    feature_list_sparse_keys, feature_list_dense_keys, context_dense_defaults, debug_name,
    *, context_sparse_types, Tcontext_dense, feature_list_dense_types, context_dense_shapes,
    feature_list_sparse_types, feature_list_dense_shapes,
):  # fmt: skip
    if serialized.ndim:
        raise invalid(f"Expected serialized to be a scalar, got shape: {show(serialized.shape)}")
    lacking = set(key_list(feature_list_dense_missing_assumed_empty))
    may_lack = [key in lacking for key in key_list(feature_list_dense_keys)]
    parts = _parsed(
        serialized, debug_name,
        dense_features(key_list(context_dense_keys), Tcontext_dense, context_dense_shapes, context_dense_defaults),
        list(zip(key_list(context_sparse_keys), context_sparse_types, strict=True)), [],
        list(zip(key_list(feature_list_sparse_keys), feature_list_sparse_types, strict=True)),
        _lists(feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes, may_lack), [],
    )  # fmt: skip
    return [*parts[:4], *parts[6:10]]
