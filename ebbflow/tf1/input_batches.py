"""Batches from queues: `tf.train.batch`, `shuffle_batch` and their kin.

Each makes a queue, an operation that puts a row (or the rows of a batch) into it for each thread, a QueueRunner, and
takes batches out. What is given may be a list or a dictionary of tensors, sparse ones included: these travel through
the queue as variants. With `keep_input` only some rows enter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, as_shape
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.graph import scopes
from ebbflow.layers.smart_cond import smart_cond
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.declare import raw
from ebbflow.state.queues.queue import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from ebbflow.summary import ops as summary
from ebbflow.tf1.input_producers import NO_EAGER
from ebbflow.train.queue_runner import QueueRunner, add_queue_runner


def _keys(tensors: dict[Any, Any]) -> list[Any]:
    """Return the keys of a dictionary in the order they enter a queue; they may be of several types."""
    return sorted(tensors, key=str)


def as_tensor_list(tensors: Any) -> Any:
    """Return what a list or a dictionary holds as a list.

    >>> as_tensor_list({"z": 1, 1: 42, ("a", "b"): 100})
    [100, 42, 1]
    """
    return [tensors[key] for key in _keys(tensors)] if isinstance(tensors, dict) else tensors


def as_original_type(original_tensors: Any, tensor_list: Any) -> Any:
    """Return what `as_tensor_list` gave as what it was given."""
    if not isinstance(original_tensors, dict):
        return tensor_list
    return dict(zip(_keys(original_tensors), tensor_list, strict=True))


class Rows:
    """What enters a queue: for each thread the same structure of tensors, flat, sparse ones as variants."""

    def __init__(self, tensors_list: Sequence[Any], many: bool, shapes: Any):
        if context.executing_eagerly():
            raise ValueError(NO_EAGER)
        if not tensors_list:
            raise ValueError("Expected at least one set of tensors")
        self.keys = _keys(tensors_list[0]) if isinstance(tensors_list[0], dict) else None
        rows = [self._flat(tensors) for tensors in tensors_list]
        if any(len(row) != len(rows[0]) for row in rows):
            raise ValueError("all sets of tensors must have the same number of tensors")
        self.many = many
        self.rows = [[_stored(t, many) for t in row] for row in rows]
        self.types = [t.dtype.base_dtype for t in self.rows[0]]
        for row in self.rows:
            if [t.dtype.base_dtype for t in row] != self.types:
                raise TypeError(f"Expected types to be consistent: {[t.dtype.name for t in row]} vs. {self.types}")
        self.ranks = [t.shape.rank for t in rows[0]]
        self.values = [t.values.dtype if isinstance(t, SparseTensor) else None for t in rows[0]]
        self.shapes = [as_shape(s) for s in shapes] if shapes is not None else self._common_shapes()

    def _flat(self, tensors: Any) -> list[Any]:
        if self.keys is not None:
            if _keys(tensors) != self.keys:
                raise ValueError(f"all dictionaries must have the same keys: {self.keys}, got {_keys(tensors)}")
            tensors = [tensors[key] for key in self.keys]
        if not isinstance(tensors, (list, tuple)):
            tensors = [tensors]
        if not tensors:
            raise ValueError("No tensors to enqueue")
        return [t if isinstance(t, SparseTensor) else convert(t) for t in tensors]

    def _common_shapes(self) -> list[TensorShape]:
        columns = zip(*self.rows, strict=True)
        shapes = [_merged([t.shape[1:] if self.many else t.shape for t in column]) for column in columns]
        for tensors, shape in zip(zip(*self.rows, strict=True), shapes, strict=True):
            if shape.rank is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensors[0]}")
        return shapes

    def rebuilt(self, tensors: Any) -> Any:
        """Return what was taken out in the structure of what was put in; a list of one is that one."""
        tensors = tensors if isinstance(tensors, list) else [tensors]
        batch = [
            t if dtype is None else _restored(t, dtype, None if rank is None else rank + (not self.many))
            for t, dtype, rank in zip(tensors, self.values, self.ranks, strict=True)
        ]
        if self.keys is not None:
            return dict(zip(self.keys, batch, strict=True))
        return batch[0] if len(batch) == 1 else batch


def _merged(shapes: Sequence[TensorShape]) -> TensorShape:
    """Return what shapes agree on: unknown lengths where they differ."""
    result = shapes[0]
    for other in shapes[1:]:
        if result.rank is None or other.rank is None or result.rank != other.rank:
            return TensorShape(None)
        pairs = zip(result.as_list(), other.as_list(), strict=True)
        result = TensorShape([a if a == b else None for a, b in pairs])
    return result


def _stored(tensor: Any, many: bool) -> Tensor:
    """Return a tensor that can lie in a queue: a sparse one as a variant of three."""
    if not isinstance(tensor, SparseTensor):
        return tensor
    serialize = raw.SerializeManySparse if many else raw.SerializeSparse
    return serialize(tensor.indices, tensor.values, tensor.dense_shape, out_type=dtypes.variant)


def _restored(stored: Tensor, dtype: Any, rank: int | None) -> SparseTensor:
    indices, values, shape = raw.DeserializeSparse(stored, dtype=dtype)
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


# --- filling and emptying ---------------------------------------------------------------------------------------------


def _keep(keep_input: Any, many: bool) -> Tensor:
    """Return the condition under which rows enter: one for all, or one a row."""
    keep = convert(keep_input)
    if keep.shape.rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not many and keep.shape.rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if keep.shape.rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def _put(queue: QueueBase, row: list[Tensor], many: bool, keep: Tensor) -> Any:
    """Return the operation that puts a row, or the rows of a batch, into a queue if it is to be kept."""
    put: Callable[[Any], Any] = queue.enqueue_many if many else queue.enqueue
    if keep.shape.rank == 1:
        chosen = raw.Where(keep)[:, 0]
        return put([gather(t, chosen) for t in row])
    return smart_cond(keep, lambda: put(row), lambda: scopes.no_op())


def _start(queue: QueueBase, rows: Rows, threads: int, keep: Tensor) -> None:
    """Have threads fill a queue: as many as asked for one set of tensors, one for each of several."""
    if len(rows.rows) == 1:
        operations = [_put(queue, rows.rows[0], rows.many, keep)] * threads
    else:
        operations = [_put(queue, row, rows.many, keep) for row in rows.rows]
    add_queue_runner(QueueRunner(queue, operations))


def _full(queue: QueueBase, capacity: int, minimum: int | None = None) -> None:
    """Have a summary tell how full a queue is."""
    size = queue.size()
    if minimum is None:
        summary.scalar(f"fraction_of_{capacity}_full", raw.Cast(size, DstT=dtypes.float32) * (1.0 / capacity))
        return
    above = raw.Cast(raw.Maximum(0, size - minimum), DstT=dtypes.float32) * (1.0 / (capacity - minimum))
    summary.scalar(f"fraction_over_{minimum}_of_{capacity - minimum}_full", above)


def _taken(queue: QueueBase, rows: Rows, batch_size: Any, smaller: bool, scope: str) -> Any:
    take = queue.dequeue_up_to if smaller else queue.dequeue_many
    tensors = take(batch_size, name=scope)
    return rows.rebuilt(tensors)


def _batch(
    tensors_list: Any, keep_input: Any, batch_size: Any, threads: int, capacity: int, many: bool, shapes: Any,
    pad: bool, smaller: bool, shared_name: str | None, name: str | None, default: str,
) -> Any:  # fmt: skip
    rows = Rows(tensors_list, many, shapes)
    with name_scope(name, default, [t for row in rows.rows for t in row]) as scope:
        keep = _keep(keep_input, many)
        kind = PaddingFIFOQueue if pad else FIFOQueue
        queue = kind(capacity, dtypes=rows.types, shapes=rows.shapes, shared_name=shared_name)
        _start(queue, rows, threads, keep)
        _full(queue, capacity)
        return _taken(queue, rows, batch_size, smaller, scope)


def _shuffled(
    tensors_list: Any, keep_input: Any, batch_size: Any, capacity: int, minimum: int, threads: int, seed: int | None,
    many: bool, shapes: Any, smaller: bool, shared_name: str | None, name: str | None, default: str,
) -> Any:  # fmt: skip
    rows = Rows(tensors_list, many, shapes)
    with name_scope(name, default, [t for row in rows.rows for t in row]) as scope:
        keep = _keep(keep_input, many)
        if capacity <= minimum:
            raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {minimum}.")
        queue = RandomShuffleQueue(
            capacity, minimum, dtypes=rows.types, shapes=rows.shapes, seed=seed, shared_name=shared_name
        )
        _start(queue, rows, threads, keep)
        _full(queue, capacity, minimum)
        return _taken(queue, rows, batch_size, smaller, scope)


# --- the public functions ---------------------------------------------------------------------------------------------


def batch(
    tensors: Nested,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Nested = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nested:
    """Return batches of rows, each row what one run of `tensors` gives."""
    return _batch(
        [tensors], True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name, "batch",
    )  # fmt: skip


def maybe_batch(
    tensors: Nested,
    keep_input: Nested,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Nested = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nested:
    """Return batches of those rows for which `keep_input` is true."""
    return _batch(
        [tensors], keep_input, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name, "batch",
    )  # fmt: skip


def batch_join(
    tensors_list: Nested,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Nested = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nested:
    """Return batches of rows that come from several sets of tensors, a thread for each."""
    return _batch(
        tensors_list, True, batch_size, 1, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name, name, "batch_join",
    )  # fmt: skip


def maybe_batch_join(
    tensors_list: Nested,
    keep_input: Nested,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Nested = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nested:
    """Return batches of those rows of several sets of tensors for which `keep_input` is true."""
    return _batch(
        tensors_list, keep_input, batch_size, 1, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name, "batch_join",
    )  # fmt: skip


def shuffle_batch(
    tensors: Nested,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Nested = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nested:
    """Return batches of rows in random order, out of at least `min_after_dequeue` that stay behind."""
    return _shuffled(
        [tensors], True, batch_size, capacity, min_after_dequeue, num_threads, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name, "shuffle_batch",
    )  # fmt: skip


def maybe_shuffle_batch(
    tensors: Nested,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Nested,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Nested = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nested:
    """Return batches, in random order, of those rows for which `keep_input` is true."""
    return _shuffled(
        [tensors], keep_input, batch_size, capacity, min_after_dequeue, num_threads, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name, "shuffle_batch",
    )  # fmt: skip


def shuffle_batch_join(
    tensors_list: Nested,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Nested = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nested:
    """Return batches in random order of rows that come from several sets of tensors, a thread for each."""
    return _shuffled(
        tensors_list, True, batch_size, capacity, min_after_dequeue, 1, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name, "shuffle_batch_join",
    )  # fmt: skip


def maybe_shuffle_batch_join(
    tensors_list: Nested,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Nested,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Nested = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Nested:
    """Return batches in random order of those rows of several sets of tensors for which `keep_input` is true."""
    return _shuffled(
        tensors_list, keep_input, batch_size, capacity, min_after_dequeue, 1, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name, "shuffle_batch_join",
    )  # fmt: skip
