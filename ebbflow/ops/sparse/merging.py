"""`tf.sparse_merge`: features by number, as columns of one sparse tensor. TensorFlow 1 alone has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor, is_sparse
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.shaping import expand_dims as expand_dense
from ebbflow.ops.declare import raw
from ebbflow.ops.sparse.functions import as_sparse, reorder


def merge(
    sp_ids: Sequence[SparseTensor] | SparseTensor,
    sp_values: SparseTensor,
    vocab_size: TensorLike,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """Return a sparse tensor that has `sp_values` at the places whose last index is the id in `sp_ids`.

    >>> merge(SparseTensor([[0, 0]], [4], [1, 1]), SparseTensor([[0, 0]], [0.5], [1, 1]), 9).indices.numpy().tolist()
    [[0, 4]]
    """
    alone = is_sparse(sp_ids)
    ids: list[Any] = [sp_ids] if alone else list(sp_ids)  # type: ignore[arg-type]
    sizes: list[Any] = [vocab_size] if alone else list(vocab_size)  # type: ignore[arg-type]
    if len(ids) != len(sizes):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    values = as_sparse(sp_values)
    with name_scope(name, "SparseMerge", [values.values]):
        first = as_sparse(ids[0])
        columns = [expand_dense(raw.Cast(as_sparse(sp).values, DstT=dtypes.int64), 1) for sp in ids]
        places = raw.ConcatV2([first.indices[:, :-1], *columns], 1)
        lengths = [raw.Reshape(raw.Cast(n, DstT=dtypes.int64), [1]) for n in sizes]
        merged = SparseTensor(places, values.values, raw.ConcatV2([first.dense_shape[:-1], *lengths], 0))
        return merged if already_sorted else reorder(merged)
