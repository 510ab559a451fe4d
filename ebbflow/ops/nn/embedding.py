"""Embeddings: rows of a table, which may be cut into shards, looked up by number.

Shards are either rows dealt out in turn ("mod") or runs of rows ("div"). Looking up in a variable reads only the rows
asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert, operand
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import num_elements
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.creation import building, constant, identity
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.ranges import range as range_of
from ebbflow.ops.arrays.shaping import rank, reshape, size
from ebbflow.ops.arrays.shaping import shape as shape_of_tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise import binary as math_ops
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.clip import clip_by_norm
from ebbflow.ops.reduce.reductions import reduce_sum


def embedding_lookup(
    params: TensorLike, ids: TensorLike, max_norm: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Return the rows of `params` that `ids` name; a list of tables is one, cut into runs of rows.

    >>> embedding_lookup([[1., 2.], [3., 4.]], [1, 0]).numpy().tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    return _lookup(params, ids, "div", name, max_norm)


def embedding_lookup_v1(
    params: TensorLike,
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: TensorLike | None = None,
) -> Tensor:
    """Return the rows of `params` that `ids` name; a list of tables is one, cut up as `partition_strategy` says."""
    return _lookup(params, ids, partition_strategy, name, max_norm)


def _lookup(params: Any, ids: Any, strategy: str, name: Any, max_norm: Any) -> Any:
    shards = _shards(params)
    with name_scope(name, "embedding_lookup", [*shards, ids]) as scope:
        ids = operand(ids, None, None, "ids")
        if not isinstance(ids, Tensor):
            if not ids.flat_values.dtype.is_integer:
                raise ValueError(
                    f"The values contained by the inputs have type {ids.flat_values.dtype} and cannot be processed. "
                    "All values should be indices, either of type `int32` or `int64`."
                )
            return ids.with_flat_values(_lookup(params, ids.flat_values, strategy, None, max_norm))
        if len(shards) == 1:
            with _beside(shards[0]):
                result = _clipped(_rows(shards[0], ids, scope or None), ids, max_norm)
            return result if building() is None else identity(result)
        return _clipped(_lookup_sharded(shards, ids, strategy, scope), ids, max_norm)


def _shards(params: Any) -> list[Any]:
    """Return the tables: what is given, a list of them, or the parts of a partitioned variable."""
    if params is None:
        raise ValueError("Need to specify `params`: params must be specified.")
    if hasattr(params, "_get_variable_list"):
        params = list(params)
    if not isinstance(params, (list, tuple)):
        return [params]
    if not params:
        raise ValueError("Length of `params` is currently 0. Need at least one table: params should not be empty.")
    if isinstance(params[0], (list, tuple, int, float)):
        return [convert(params)]
    return [p if hasattr(p, "dtype") and not isinstance(p, np.ndarray) else convert(p) for p in params]


def _rows(table: Any, ids: Any, name: Any = None) -> Any:
    read = getattr(table, "sparse_read", None)
    return read(ids, name=name) if read is not None else gather(table, ids, name=name)


def _beside(table: Any) -> AbstractContextManager[Any]:
    """Place what is made inside next to the table, where it stands in a graph."""
    graph = building()
    where = getattr(table, "handle", table)  # of a variable that was made eagerly it stands in no graph
    if graph is None or isinstance(where, (EagerTensor, np.ndarray)):
        return nullcontext()
    return graph.colocate_with(where, ignore_existing=True)


def _clipped(rows: Any, ids: Any, max_norm: Any) -> Any:
    if max_norm is None:
        return rows
    if ids._dims is not None and rows._dims is not None:
        axes: Any = list(range(len(ids._dims), len(rows._dims)))
    else:
        axes = range_of(rank(ids), rank(rows))
    return clip_by_norm(rows, max_norm, axes=axes)


def _lookup_sharded(shards: list[Any], ids: Any, strategy: str, scope: str) -> Any:
    flat = reshape(ids, [-1])
    places = range_of(size(flat))
    number, at = _ASSIGN.get(strategy, _unknown)(flat, shards)
    number = cast(number, dtypes.int32)
    wanted = raw.DynamicPartition(at, number, num_partitions=len(shards))
    positions = raw.DynamicPartition(places, number, num_partitions=len(shards))
    parts = []
    for shard, rows in zip(shards, wanted, strict=True):
        with _beside(shard):
            parts.append(_rows(shard, rows))
    result = raw.ParallelDynamicStitch(positions, parts, name=scope or None)
    return _shaped(result, ids, shards)


def _shaped(result: Any, ids: Any, shards: list[Any]) -> Any:
    """Return the stitched rows in the shape of the ids."""
    dims = [tuple(s.shape.as_list()) if s.shape.rank is not None else None for s in shards]
    row = next((d[1:] for d in dims if d is not None and None not in d[1:]), None)
    inner = list(row) if row is not None else shape_of_tensor(shards[0])[1:]
    if row is not None:
        result.set_shape([num_elements(ids._dims), *row])
    result = reshape(result, concat([shape_of_tensor(ids), inner], 0))
    if row is not None and ids._dims is not None:
        result.set_shape([*ids._dims, *row])
    return result


def _dealt(flat: Any, shards: list[Any]) -> tuple[Any, Any]:
    """Rows dealt out in turn: the shard is the remainder."""
    return flat % len(shards), flat // len(shards)


def _runs(flat: Any, shards: list[Any]) -> tuple[Any, Any]:
    """Runs of rows, the first shards one row longer where it does not come out even."""
    total = _total_rows(shards, flat.dtype.base_dtype)
    each, extras = total // len(shards), total % len(shards)
    number = math_ops.maximum(flat // (each + 1), (flat - extras) // each)
    at = raw.Select(number < extras, flat % (each + 1), (flat - extras) % each)
    return number, at


def _total_rows(shards: list[Any], dtype: Any) -> Any:
    lengths: list[Any] = [s.shape.as_list()[0] if s.shape.rank is not None else None for s in shards]
    if None not in lengths:
        return constant(sum(lengths), dtype)
    found = []
    for shard, length in zip(shards, lengths, strict=True):
        if length is not None:
            found.append(length)
            continue
        with _beside(shard):
            found.append(shape_of_tensor(shard)[0])
    return reduce_sum(cast(stack(found), dtype))


def _unknown(flat: Any, shards: list[Any]) -> Any:
    raise ValueError("Unrecognized partition strategy: it is 'mod' or 'div'")


_ASSIGN: dict[str, Callable[..., tuple[Any, Any]]] = {"mod": _dealt, "div": _runs}
