"""Counting the integers of sparse and ragged tensors, row by row, into dense or sparse results; edit distances.

What is counted comes as pairs of a row and an integer. `_dense` puts them into a matrix of fixed width, `_sparse`
into a sparse one with an entry for each integer that occurs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import Known, op
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor, SparseTensorValue
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Axis, TensorLike
from ebbflow.ops.checks.asserts import assert_equal
from ebbflow.ops.declare import FLAT, raw, show
from ebbflow.ops.shape_rules import agreed, equal_length, ranked
from ebbflow.ops.sizes import invalid, room_for
from ebbflow.ops.sparse.arrays import checked, positions, within
from ebbflow.ops.sparse.distance_loops import distances, numbers_of_texts

_WEIGHTS = "T: type in [int32,int64,float,double]"

SparseBincount = op(
    "SparseBincount(indices:int64, values:Tidx, dense_shape:int64, size:Tidx, weights:T) -> (output:T) | Tidx: index; "
    f"{_WEIGHTS}; binary_output: bool = false",
    gradient=FLAT,
)
RaggedBincount = op(
    f"RaggedBincount(splits:int64, values:Tidx, size:Tidx, weights:T) -> (output:T) | Tidx: index; {_WEIGHTS}; "
    "binary_output: bool = false",
    gradient=FLAT,
)


def _dense(
    rows: np.ndarray, values: np.ndarray, count: int, size: np.ndarray, weights: np.ndarray, binary: bool
) -> Any:
    if size.ndim:
        raise invalid(f"Shape must be rank 0 but is rank {size.ndim}")
    width = int(size)
    if width < 0:
        raise invalid(f"size ({width}) must be non-negative")
    if values.size and values.min() < 0:
        raise invalid("Input must be non-negative")
    if weights.size and weights.shape != values.shape:
        raise invalid(f"Weights and values must have the same shape: {show(weights.shape)} and {show(values.shape)}")
    room_for((count, width), weights.dtype.itemsize)
    result = np.zeros((count, width), weights.dtype)
    inside = values < width
    at = rows[inside], values[inside]
    if binary:
        result[at] = 1
    else:
        np.add.at(result, at, weights[inside] if weights.size else 1)
    return result


def _width(size: Known) -> int | None:
    if size.value is None:
        return None
    count = int(size.value)
    if count < 0:
        raise errors.StaticShapeError(f"size ({count}) must be non-negative")
    return count


@SparseBincount.shape
def _(indices, values, dense_shape, size, weights):
    dims = dense_shape.as_dims
    return None if dims is None else (*dims[:-1], _width(size))


@SparseBincount.kernel
def _(xp, indices, values, dense_shape, size, weights, *, binary_output):
    checked(indices, values, dense_shape)
    within(indices, dense_shape)
    if len(dense_shape) not in (1, 2):
        raise invalid(f"Input must be of rank 1 or 2, got dense_shape {dense_shape.tolist()}")
    flat = len(dense_shape) == 1
    rows = np.zeros(len(values), np.int64) if flat else indices[:, 0]
    result = _dense(rows, values, 1 if flat else int(dense_shape[0]), size, weights, binary_output)
    return result[0] if flat else result


@RaggedBincount.shape
def _(splits, values, size, weights):
    (count,) = ranked(splits, 1)
    return (None if count is None else count - 1, _width(size))


def rows_of_splits(splits: np.ndarray, count: int) -> np.ndarray:
    """Return the row of each value, given where rows begin and end."""
    if splits.ndim != 1 or not splits.size:
        raise invalid(f"ragged splits may not be empty: they must be a vector, got shape {show(splits.shape)}")
    if splits[0] != 0:
        raise invalid(f"First value of ragged splits must be 0; got {int(splits[0])}")
    if splits[-1] != count:
        raise invalid(f"Final value of ragged splits must match the number of values, {count}; got {int(splits[-1])}")
    if (np.diff(splits) < 0).any():
        raise invalid(f"ragged splits must rise from 0 to the number of values, {count}; got {splits.tolist()[:20]}")
    return np.repeat(np.arange(len(splits) - 1), np.diff(splits))


@RaggedBincount.kernel
def _(xp, splits, values, size, weights, *, binary_output):
    rows = rows_of_splits(splits, len(values) if values.ndim else 0)
    return _dense(rows, values, len(splits) - 1, size, weights, binary_output)


# --- sparse results ---------------------------------------------------------------------------------------------------

_COUNT = (
    "minlength: int >= -1 = -1; maxlength: int >= -1 = -1; binary_output: bool; "
    "output_type: type in [int32,int64,float,double]"
)
_OUT = "(output_indices:int64, output_values:output_type, output_dense_shape:int64)"
DenseCountSparseOutput = op(
    f"DenseCountSparseOutput(values:T, weights:output_type) -> {_OUT} | T: index; {_COUNT}",
    gradient=FLAT,
    facts="data_dependent",
)
SparseCountSparseOutput = op(
    f"SparseCountSparseOutput(indices:int64, values:T, dense_shape:int64, weights:output_type) -> {_OUT} | T: index; "
    f"{_COUNT}",
    gradient=FLAT,
)
RaggedCountSparseOutput = op(
    f"RaggedCountSparseOutput(splits:int64, values:T, weights:output_type) -> {_OUT} | T: index; {_COUNT}",
    gradient=FLAT,
    facts="data_dependent",
)


def _sparse(
    rows: np.ndarray,
    values: np.ndarray,
    lead: tuple[int, ...],
    weights: np.ndarray,
    least: int,
    most: int,
    binary: bool,
) -> tuple[Any, Any, Any]:
    """Count what is below `most` (where that is given); `lead` is () for a vector, (rows,) for a matrix."""
    if weights.size and weights.shape != values.shape:
        raise invalid(f"Weights and values must have the same shape: {show(weights.shape)} and {show(values.shape)}")
    if values.size and values.min() < 0:
        raise invalid("Input values must all be non-negative")
    seen = int(values.max()) if values.size else -1
    width = most if most >= 0 else max(seen + 1, least)
    inside = values < most if most >= 0 else np.ones(values.shape, bool)
    pairs, which = np.unique(np.stack([rows[inside], values[inside]], 1), axis=0, return_inverse=True)
    counts = np.zeros(len(pairs), weights.dtype)
    if binary:
        counts[:] = 1
    else:
        np.add.at(counts, which.reshape(-1), weights[inside] if weights.size else 1)
    places = pairs if lead else pairs[:, 1:]
    return places.astype(np.int64), counts, np.array([*lead, width], np.int64)


def _matrix_or_vector(rank: int | None) -> list[Any]:
    return [(None, rank), (None,), (rank,)]


@DenseCountSparseOutput.shape
def _(values, weights):
    if (
        weights.dims not in (None, (0,))
        and weights.rank is not None
        and values.rank is not None
        and None not in weights.dims
    ):
        agreed(weights.dims, values.dims)
    return _matrix_or_vector(values.rank)


@DenseCountSparseOutput.kernel
def _(xp, values, weights, *, minlength, maxlength, binary_output):
    if values.ndim not in (1, 2):
        raise invalid(f"Input must be a 1 or 2-dimensional tensor, got shape {show(values.shape)}")
    if weights.shape not in ((0,), values.shape):
        raise invalid(f"Weights and values must have the same shape: {show(weights.shape)} and {show(values.shape)}")
    lead = values.shape[:-1]
    rows = np.repeat(np.arange(lead[0]), values.shape[1]) if lead else np.zeros(values.size, np.int64)
    return _sparse(rows, values.reshape(-1), lead, weights.reshape(-1), minlength, maxlength, binary_output)


@SparseCountSparseOutput.shape
def _(indices, values, dense_shape, weights):
    (rank,) = ranked(dense_shape, 1)
    return _matrix_or_vector(rank)


@SparseCountSparseOutput.kernel
def _(xp, indices, values, dense_shape, weights, *, minlength, maxlength, binary_output):
    checked(indices, values, dense_shape)
    within(indices, dense_shape)
    if len(dense_shape) not in (1, 2):
        raise invalid(f"Input must be of rank 1 or 2, got dense_shape {dense_shape.tolist()}")
    lead = tuple(dense_shape[:-1].tolist())
    rows = indices[:, 0] if lead else np.zeros(len(values), np.int64)
    return _sparse(rows, values, lead, weights, minlength, maxlength, binary_output)


@RaggedCountSparseOutput.shape
def _(splits, values, weights):
    return _matrix_or_vector(2)


@RaggedCountSparseOutput.kernel
def _(xp, splits, values, weights, *, minlength, maxlength, binary_output):
    rows = rows_of_splits(splits, len(values) if values.ndim else 0)
    return _sparse(rows, values, (len(splits) - 1,), weights, minlength, maxlength, binary_output)


def sparse_bincount(
    values: AnyTensor,
    weights: AnyTensor = None,
    axis: Axis = 0,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """Return how often each integer occurs as a sparse tensor: in all (axis 0), or in each row (axis -1)."""
    with name_scope(name, "count", [values, weights]):
        if axis not in (0, -1, None):
            raise ValueError(f"Unsupported axis value {axis}. Only 0 and -1 are currently supported.")
        if weights is not None and binary_output:
            raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.")
        attrs: dict[str, Any] = {
            "minlength": -1 if minlength is None else minlength, "maxlength": -1 if maxlength is None else maxlength,
            "binary_output": binary_output,
        }  # fmt: skip
        _same_kind(values, weights, axis)
        if isinstance(values, SparseTensor):
            flat = _counted_together(weights, values.indices, lambda x: x.indices, "indices")
            if axis in (0, None):
                found = DenseCountSparseOutput(values.values, _weights(flat, binary_output), **attrs)
            else:
                parts = (values.indices, values.values, values.dense_shape)
                found = SparseCountSparseOutput(*parts, _weights(flat, binary_output), **attrs)
        elif _is_ragged(values):
            flat = _counted_together(weights, values.row_splits, lambda x: x.row_splits, "row splits")
            if axis in (0, None):
                found = DenseCountSparseOutput(values.values, _weights(flat, binary_output), **attrs)
            else:
                splits = raw.Cast(values.row_splits, DstT=dtypes.int64)
                found = RaggedCountSparseOutput(splits, values.values, _weights(flat, binary_output), **attrs)
        else:
            values = convert(values, name="values")
            flat = None if weights is None else convert(weights)
            if axis in (0, None):
                values = raw.Reshape(values, [-1])
                flat = None if flat is None else raw.Reshape(flat, [-1])
            found = DenseCountSparseOutput(values, _weights(flat, binary_output), **attrs)
        return SparseTensor(*found)


def _same_kind(values: Any, weights: Any, axis: Any) -> None:
    """Refuse weights of another kind of tensor than the values: they would belong to other places."""
    for kind, belongs in (("SparseTensor", lambda x: isinstance(x, SparseTensor)), ("RaggedTensor", _is_ragged)):
        if weights is not None and belongs(values) and not belongs(weights):
            raise ValueError(
                f"Argument `weights` must be a {kind} if `values` is a {kind}. Received weights={weights} of type: "
                f"{type(weights).__name__}"
            )
    plain = not isinstance(values, SparseTensor) and not _is_ragged(values)
    if plain and axis == -1 and (isinstance(weights, SparseTensor) or _is_ragged(weights)):
        raise ValueError(
            f"Argument `weights` must be a tf.Tensor if `values` is a tf.Tensor. Received weights={weights} of type: "
            f"{type(weights).__name__}"
        )


def _is_ragged(value: Any) -> bool:
    return hasattr(value, "row_splits")


def _counted_together(weights: Any, places: Any, others: Any, what: str) -> Any:
    """Return the weights' own values, once their places are seen to be those of the values."""
    if weights is None:
        return None
    message = f"'weights' and 'values' must have the same {what}."
    check = assert_equal(others(weights), places, message=message)
    if check is None:
        return weights.values
    with context.default_graph().control_dependencies([check]):
        return raw.Identity(weights.values)


def _weights(weights: Any, binary: bool) -> Any:
    if weights is not None:
        return convert(weights)
    return convert(np.zeros((0,), np.int64))


Parts = tuple[np.ndarray, np.ndarray]

# --- edit distance ----------------------------------------------------------------------------------------------------

EditDistance = op(
    "EditDistance(hypothesis_indices:int64, hypothesis_values:T, hypothesis_shape:int64, truth_indices:int64, "
    "truth_values:T, truth_shape:int64) -> (output:float) | normalize: bool = true; T: type",
    gradient=FLAT,
)


@EditDistance.shape
def _(hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape):
    equal_length(ranked(hypothesis_indices, 2)[0], ranked(hypothesis_values, 1)[0])
    equal_length(ranked(truth_indices, 2)[0], ranked(truth_values, 1)[0])
    first, second = hypothesis_shape.as_dims, truth_shape.as_dims
    if first is None or second is None:
        return None
    if len(first) != len(second):
        raise errors.StaticShapeError(f"hypothesis and truth must have the same rank, got {first} and {second}")
    return tuple(None if None in (a, b) else max(a, b) for a, b in zip(first[:-1], second[:-1], strict=True))


@EditDistance.kernel
def _(
    xp, hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape, *, normalize
):
    checked(hypothesis_indices, hypothesis_values, hypothesis_shape)
    checked(truth_indices, truth_values, truth_shape)
    if len(hypothesis_shape) != len(truth_shape):
        raise invalid(
            f"Expected truth tensor to have rank {len(hypothesis_shape)}, but got {len(truth_shape)} dimensions"
        )
    lead = np.maximum(hypothesis_shape[:-1], truth_shape[:-1])
    if len(hypothesis_shape) < 2:
        raise invalid(f"inputs must be at least of rank 2, got shape {hypothesis_shape.tolist()}")
    within(hypothesis_indices, np.append(lead, hypothesis_shape[-1]))
    within(truth_indices, np.append(lead, truth_shape[-1]))
    room_for(lead.tolist(), 4)
    lead_dims = tuple(lead.tolist())
    quick = _quick_distances(
        lead_dims, (hypothesis_indices, hypothesis_values), (truth_indices, truth_values), normalize
    )
    if quick is not None:
        return quick
    said, meant = _sequences(hypothesis_indices, hypothesis_values), _sequences(truth_indices, truth_values)
    result = np.zeros(lead_dims, np.float32)
    for group in {*said, *meant}:
        a, b = said.get(group, []), meant.get(group, [])
        distance = float(_distance(a, b))
        if normalize:
            distance = distance / len(b) if b else np.inf if a else 0.0
        result[group] = distance
    return result


FEW = 256
"""Values from which on machine code compares rows."""


def _quick_distances(dims: tuple[int, ...], said: Parts, meant: Parts, normalize: bool) -> np.ndarray | None:
    """Return the distances by machine code; None where that is not there, or cannot compare such values."""
    code = distances.worth(len(said[1]) + len(meant[1]), FEW)
    numbers = None if code is None else _numbers(said[1], meant[1])
    if code is None or numbers is None:
        return None
    rows = math.prod(dims)
    (a, a_starts), (b, b_starts) = (
        _rows(indices, values, dims) for (indices, _), values in zip((said, meant), numbers, strict=True)
    )
    most = np.empty(int(np.diff(b_starts).max(initial=0)) + 1, np.int64)
    counts = np.empty(rows, np.int64)
    code(a, a_starts, b, b_starts, rows, most, counts)
    result = counts.astype(np.float64)
    if normalize:
        lengths = np.diff(b_starts)
        none = np.where(np.diff(a_starts) > 0, np.inf, 0.0)
        result = np.where(lengths > 0, result / np.maximum(lengths, 1), none)
    return result.astype(np.float32).reshape(dims)


def _numbers(*values: np.ndarray) -> list[np.ndarray] | None:
    """Return whole numbers that are equal where the values are; None for values that are compared otherwise."""
    if values[0].dtype.kind in "iub":
        return [np.ascontiguousarray(v, np.int64) for v in values]
    code = numbers_of_texts.code() if values[0].dtype == object else None
    if code is None:
        return None
    results = []
    for texts in values:
        results.append(np.empty(len(texts), np.int64))
        if code(np.ascontiguousarray(texts), len(texts), results[-1]) < 0:
            return None
    return results


def _rows(indices: np.ndarray, values: np.ndarray, dims: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values row after row, and where each row begins."""
    row = positions(indices[:, :-1], dims)
    if (row[1:] < row[:-1]).any():
        order = np.argsort(row, kind="stable")
        row, values = row[order], values[order]
    starts = np.zeros(math.prod(dims) + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=math.prod(dims)), out=starts[1:])
    return np.ascontiguousarray(values), starts


def _sequences(indices: np.ndarray, values: np.ndarray) -> dict[tuple[int, ...], list[Any]]:
    """Return the values of each row, in order."""
    rows: dict[tuple[int, ...], list[Any]] = {}
    if not len(indices):
        return rows
    places, items = indices[:, :-1], values.tolist()
    firsts = [0, *(np.flatnonzero((places[1:] != places[:-1]).any(axis=1)) + 1).tolist()]
    for place, start, stop in zip(places[firsts].tolist(), firsts, [*firsts[1:], len(items)], strict=True):
        rows.setdefault(tuple(place), []).extend(items[start:stop])
    return rows


def _distance(a: list[Any], b: list[Any]) -> int:
    """Return how many insertions, deletions and replacements lead from one to the other (Levenshtein).

    A column of the table of distances is two whole numbers (Myers): bit i says whether the distance grows, or falls,
    from row i to the next. So a column costs a dozen operations on numbers, not one step for each row.
    """
    if a == b:
        return 0
    if not a or not b:
        return len(a) + len(b)
    where: dict[Any, int] = {}
    for i, y in enumerate(b):
        where[y] = where.get(y, 0) | 1 << i
    rises = everywhere = (1 << len(b)) - 1
    falls, last, distance = 0, 1 << (len(b) - 1), len(b)
    for x in a:
        equal = where.get(x, 0)
        down = equal | falls
        across = (((equal & rises) + rises) ^ rises) | equal
        more, fewer = falls | (everywhere & ~(across | rises)), rises & across
        distance += bool(more & last) - bool(fewer & last)
        more, fewer = (more << 1 | 1) & everywhere, (fewer << 1) & everywhere
        rises, falls = fewer | (everywhere & ~(down | more)), more & down
    return distance


def edit_distance(
    hypothesis: SparseTensor, truth: SparseTensor, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """Return how far each sequence of `hypothesis` is from that of `truth`; normalised, over the truth's length."""
    for value, what in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"{what} must be a SparseTensor, got {type(value)}")
    return EditDistance(
        hypothesis.indices, hypothesis.values, hypothesis.dense_shape, truth.indices, truth.values, truth.dense_shape,
        normalize=normalize, name=name,
    )  # fmt: skip
