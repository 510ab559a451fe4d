"""Looking up and putting in by index, and folding rows by segment.

Nothing can be refused once a program runs: an index outside is clamped by a gather and dropped by a scatter or a
segment; the rules say that the complaint is lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.engines.xla.rules import lowering
from ebbflow.ops.reduce.reductions import is_narrow
from ebbflow.ops.reduce.segment import checked_ids, finite_highest, finite_lowest

# --- segments ---------------------------------------------------------------------------------------------------------


def fold_rows(jnp: Any, data: Any, ids: Any, count: int, how: str, start: Any) -> Any:
    """Return `count` rows: each the rows of `data` with its id, folded; ids outside are passed over."""
    if is_narrow(data.dtype):
        return fold_rows(jnp, data.astype(np.float32), ids, count, how, np.float32(start)).astype(data.dtype)
    rows = jnp.full((count, *data.shape[1:]), start, data.dtype)
    outside = jnp.where(ids < 0, count, ids)  # jax would count negative ones from the end
    return getattr(rows.at[outside], how)(data, mode="drop")


def _unsorted(how: str, start: Callable[[Any], Any]) -> Callable[..., Any]:
    def lower(jnp: Any, data: Any, segment_ids: Any, num_segments: Any) -> Any:
        flat = segment_ids.reshape(-1)
        rows = data.reshape(flat.size, *data.shape[segment_ids.ndim :])
        return fold_rows(jnp, rows, flat, int(num_segments), how, start(data.dtype))

    return lower


def unsorted_lowering(name: str, how: str, start: Callable[[Any], Any]) -> None:
    lowering(name)(_unsorted(how, start))


unsorted_lowering("UnsortedSegmentSum", "add", lambda dtype: 0)
unsorted_lowering("UnsortedSegmentProd", "multiply", lambda dtype: 1)
unsorted_lowering("UnsortedSegmentMax", "max", finite_lowest)
unsorted_lowering("UnsortedSegmentMin", "min", finite_highest)


def _sorted(how: str, start: Callable[[Any], Any], empty: float) -> Callable[..., Any]:
    """Sorted ids decide how many rows there are, so they must be known."""

    def lower(jnp: Any, data: Any, segment_ids: Any) -> Any:
        count = checked_ids(segment_ids, data.shape[0])
        rows = fold_rows(jnp, data, segment_ids, count, how, start(data.dtype))
        missing = np.setdiff1d(np.arange(count), segment_ids)
        return rows.at[missing].set(np.asarray(empty, data.dtype)) if missing.size else rows

    return lower


def _lowest(dtype: Any) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _highest(dtype: Any) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


lowering("SegmentSum")(_sorted("add", lambda dtype: 0, 0))
lowering("SegmentProd")(_sorted("multiply", lambda dtype: 1, 1))
lowering("SegmentMax")(_sorted("max", _lowest, 0))
lowering("SegmentMin")(_sorted("min", _highest, 0))


@lowering("SegmentMean")
def _(jnp: Any, data: Any, segment_ids: Any) -> Any:
    count = checked_ids(segment_ids, data.shape[0])
    wide = data.astype(np.float32) if is_narrow(data.dtype) else data
    total = fold_rows(jnp, wide, segment_ids, count, "add", 0)
    members = np.maximum(np.bincount(segment_ids, minlength=count), 1).astype(wide.dtype)
    members = members.reshape((count,) + (1,) * (data.ndim - 1))
    if data.dtype.kind in "iu":
        return (total - jnp.fmod(total, members)) // members
    return total / members


# --- counting ---------------------------------------------------------------------------------------------------------


@lowering("Bincount", loses="whether all values are at least 0")
def _(jnp: Any, arr: Any, size: Any, weights: Any) -> Any:
    return _counts(jnp, arr.reshape(-1), int(size), weights.reshape(-1))


def _counts(jnp: Any, values: Any, size: int, weights: Any) -> Any:
    ones = weights if math.prod(weights.shape) else jnp.ones(values.shape, weights.dtype)
    return jnp.zeros(size, weights.dtype).at[jnp.where(values < 0, size, values)].add(ones, mode="drop")


@lowering("DenseBincount", loses="whether all values are at least 0")
def _(jnp: Any, input: Any, size: Any, weights: Any, *, binary_output: bool) -> Any:
    count, rows = int(size), input if input.ndim == 2 else input.reshape(1, -1)
    if not input.size:
        return jnp.zeros((*input.shape[:-1], count) if input.ndim == 2 else count, weights.dtype)
    shares = weights.reshape(rows.shape) if math.prod(weights.shape) else jnp.ones(rows.shape, weights.dtype)
    places = jnp.where(rows < 0, count, rows)
    target = jnp.zeros((rows.shape[0], count), weights.dtype)
    at = target.at[jnp.arange(rows.shape[0])[:, None], places]
    total = at.set(1, mode="drop") if binary_output else at.add(shares, mode="drop")
    return total if input.ndim == 2 else total.reshape(count)


# --- scattering -------------------------------------------------------------------------------------------------------


def _extremes(neutral: float) -> Callable[..., Any]:
    """A NaN among the updates loses against whatever is there."""

    def lower(jnp: Any, tensor: Any, indices: Any, updates: Any, *, op: Any, attrs: dict[str, Any]) -> Any:
        if updates.dtype.kind not in "iu":
            updates = jnp.where(jnp.isnan(updates), np.array(neutral, updates.dtype), updates)
        return op.kernel_fn(jnp, tensor, indices, updates, **{name: attrs[name] for name in op.kernel_attrs})

    return lower


lowering("TensorScatterMin")(_extremes(np.inf))
lowering("TensorScatterMax")(_extremes(-np.inf))


@lowering("ScatterNd")
def _(jnp: Any, indices: Any, updates: Any, shape: Any, *, op: Any, attrs: dict[str, Any]) -> Any:
    named = {name: attrs[name] for name in op.kernel_attrs}
    if updates.dtype != bool:
        return op.kernel_fn(jnp, indices, updates, shape, **named)
    return op.kernel_fn(jnp, indices, updates.astype(np.int32), shape, **named) != 0


@lowering("DynamicStitch", "ParallelDynamicStitch")
def _(jnp: Any, indices: Any, data: Any) -> Any:
    rank = indices[0].ndim
    count = max((int(i.max()) for i in indices if i.size), default=-1) + 1
    tail = data[0].shape[rank:]
    result = jnp.zeros((count, *tail), data[0].dtype)
    for at, rows in zip(indices, data, strict=True):
        flat, first = np.unique(at.reshape(-1)[::-1], return_index=True)  # of a row named twice, the last counts
        whole = rows.reshape(at.size, *tail)
        result = result.at[flat].set(whole[at.size - 1 - first]) if at.size else result
    return result


# --- searching --------------------------------------------------------------------------------------------------------


def _bound(side: str) -> Callable[..., Any]:
    def lower(jnp: Any, sorted_inputs: Any, values: Any) -> Any:
        compare = jnp.less if side == "left" else jnp.less_equal
        before = compare(sorted_inputs[:, None, :], values[:, :, None])
        return before.sum(axis=-1)

    return lower


lowering("LowerBound")(_bound("left"))
lowering("UpperBound")(_bound("right"))
