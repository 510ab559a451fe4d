"""Sequences of words: embedded (`contrib.layers.embed_sequence`), in batches of like length (`contrib.training`)."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import as_shape
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import InitializerLike, Nested, TensorLike
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import group, no_op
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.shaping import reshape, shape
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.nn.embedding import embedding_lookup_v1
from ebbflow.ops.nn.embedding_sparse import safe_embedding_lookup_sparse_v1
from ebbflow.ops.sparse.functions import from_dense
from ebbflow.state.queues.queue import FIFOQueue, PaddingFIFOQueue, QueueBase
from ebbflow.state.variable_scope import get_variable, variable_scope
from ebbflow.summary import ops as summary
from ebbflow.tf1.input_batches import Rows
from ebbflow.tf1.input_producers import NO_EAGER
from ebbflow.train.queue_runner import QueueRunner, add_queue_runner

ENDS = (errors.OutOfRangeError, errors.CancelledError)
"""What a runner of buckets ends with when there is no more, or when all is to stop."""


def embed_sequence(
    ids: TensorLike,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: InitializerLike | None = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = True,
    scope: str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """Return the rows of a new variable `embeddings` for each of `ids`, which are [batch, time]."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. "
            f"Got vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        dims = [vocab_size, embed_dim] if vocab_size and embed_dim else None
        embeddings = get_variable(
            "embeddings", shape=dims, initializer=initializer, regularizer=regularizer, trainable=trainable
        )
        return _of_unique(embeddings, convert(ids)) if unique else embedding_lookup_v1(embeddings, ids)


def embedding_lookup_unique(
    params: TensorLike, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None
) -> Tensor:
    """Return the rows of `params` for `ids` of any shape; a row that is wanted often is looked up once."""
    with name_scope(name, "EmbeddingLookupUnique", [ids]):
        return _of_unique(params, convert(ids), partition_strategy)


def bow_encoder(
    ids: TensorLike,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: InitializerLike | None = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = True,
    scope: str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """Return the mean of the embeddings of each row of `ids` [batch, words], which may be sparse.

    With `sparse_lookup`, an id of 0 in a dense tensor stands for no word, and a row without words has that of 0.
    """
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = get_variable(
            "embeddings", shape=[vocab_size, embed_dim], initializer=initializer, regularizer=regularizer,
            trainable=trainable, collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES],
        )  # fmt: skip
        if not sparse_lookup:
            if isinstance(ids, SparseTensor):
                raise TypeError("ids are expected to be dense Tensor, got a SparseTensor: see sparse_lookup")
            return raw.Mean(embedding_lookup_v1(embeddings, ids), 1)
        found = ids if isinstance(ids, SparseTensor) else from_dense(ids)
        return safe_embedding_lookup_sparse_v1(embeddings, found, combiner="mean", default_id=0)


def _of_unique(params: Any, ids: Any, strategy: str = "mod") -> Any:
    """Return the rows of `ids`, of which each is looked up once."""
    flat = reshape(ids, [-1])
    words, places = raw.Unique(flat)
    rows = gather(embedding_lookup_v1(params, words, partition_strategy=strategy), places)
    rows = reshape(rows, raw.ConcatV2([shape(ids), shape(rows)[1:]], 0))
    rows.set_shape(ids.shape.concatenate(rows.shape[ids.shape.rank :] if ids.shape.rank is not None else None))
    return rows


def bucket(
    tensors: Nested,
    which_bucket: TensorLike,
    batch_size: TensorLike,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Nested = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: TensorLike = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return (bucket, tensors): batches whose rows all came with the same `which_bucket`."""
    if context.executing_eagerly():
        raise ValueError(NO_EAGER)
    sizes = list(batch_size) if isinstance(batch_size, (list, tuple)) else [batch_size] * num_buckets
    room = list(bucket_capacities) if bucket_capacities is not None else [capacity] * num_buckets
    for values, word in ((sizes, "batch_size"), (room, "bucket_capacities")):
        if len(values) != num_buckets:
            raise ValueError(f"The list {word} must have exactly num_buckets ({num_buckets}) elements, got {values}")
    rows = Rows([tensors], False, shapes)
    row, dims = rows.rows[0], rows.shapes
    with name_scope(name, "bucket"):
        queues = [_queue(row, dims, places, dynamic_pad, shared_name, i) for i, places in enumerate(room)]
        top = _top(sizes, row, dims, dynamic_pad, shared_name)
        which = cast(convert(which_bucket), dtypes.int32)
        entered = _into(queues, which, row, convert(keep_input))
        add_queue_runner(QueueRunner(queues[0], [entered] * num_threads, cancel_op=_all(queues, cancel=True),
                                     close_op=_all(queues, cancel=False),
                                     queue_closed_exception_types=ENDS))  # fmt: skip
        moves = []
        for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
            taken = queue.dequeue_up_to(size) if allow_smaller_final_batch else queue.dequeue_many(size)
            moves.append(top.enqueue([convert(i, dtypes.int32), *_listed(taken)]))
        # One runner, so that the queue is closed when the last bucket is empty, and not the first.
        add_queue_runner(QueueRunner(top, moves, queue_closed_exception_types=ENDS))
        full = cast(raw.AddN([queue.size() for queue in [*queues, top]]), dtypes.float32)
        summary.scalar(f"bucket/{top.name}/size", full)
        number, *batch = top.dequeue()
        _say_sizes(batch, dims, sizes, allow_smaller_final_batch)
        taken = rows.rebuilt(batch)
        return number, taken if isinstance(taken, (dict, list)) else [taken]


def _listed(tensors: Any) -> list[Any]:
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


def _queue(row: Any, dims: Any, capacity: int, pad: bool, shared_name: str | None, i: int) -> QueueBase:
    kind = PaddingFIFOQueue if pad else FIFOQueue
    types = [t.dtype.base_dtype for t in row]
    return kind(capacity, types, dims, shared_name=shared_name, name=f"bucket_queue_{i}")


def _top(sizes: Sequence[Any], row: Any, dims: Any, pad: bool, shared_name: str | None) -> QueueBase:
    types = [dtypes.int32, *[t.dtype.base_dtype for t in row]]
    return FIFOQueue(len(sizes), types, None, shared_name=shared_name, name="top_queue")


def _into(queues: Sequence[QueueBase], which: Any, row: Any, keep: Any) -> Any:
    """Return the operation that puts a row into the queue of its number."""

    def put() -> Any:
        each = [functools.partial(lambda queue: group(queue.enqueue(row)), queue) for queue in queues]
        chosen = [cond_v1(raw.Equal(which, i), enter, no_op) for i, enter in enumerate(each)]
        return group(*chosen, name="group_enqueues")

    known = keep.constant_value()
    return put() if known is not None and bool(known) else cond_v1(keep, put, no_op)


def _all(queues: Sequence[QueueBase], cancel: bool) -> Any:
    return group(*[queue.close(cancel_pending_enqueues=cancel) for queue in queues])


def _say_sizes(batch: Any, dims: Any, sizes: Sequence[Any], smaller: bool) -> None:
    rows = sizes[0] if not smaller and len(set(map(str, sizes))) == 1 and isinstance(sizes[0], int) else None
    for tensor, each in zip(batch, dims, strict=True):
        tensor.set_shape(as_shape([rows]).concatenate(each))


def bucket_by_sequence_length(
    input_length: TensorLike,
    tensors: Nested,
    batch_size: TensorLike,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Nested = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: TensorLike = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return (lengths, tensors): batches of rows whose lengths lie between the same two of `bucket_boundaries`."""
    bounds = list(bucket_boundaries)
    if not bounds:
        raise ValueError("bucket_boundaries must not be empty")
    if not all(isinstance(b, int) for b in bounds):
        raise TypeError(f"bucket_boundaries must be integers, got: {bounds}")
    if any(a >= b for a, b in itertools.pairwise(bounds)):
        raise ValueError(f"Buckets must contain sequences of increasing length, got: {bounds}")
    with name_scope(name, "bucket_by_sequence_length"):
        length = cast(convert(input_length), dtypes.int32)
        which = raw.Sum(cast(raw.GreaterEqual(length, convert(bounds, dtypes.int32)), dtypes.int32), 0)
        named = isinstance(tensors, dict)
        row = {"": length, **tensors} if named else [length, *_listed(tensors)]
        dims = None if shapes is None else [[], *shapes]
        _, batch = bucket(
            row, which, batch_size, len(bounds) + 1, num_threads, capacity, bucket_capacities, dims, dynamic_pad,
            allow_smaller_final_batch, keep_input, shared_name,
        )  # fmt: skip
        if named:
            return batch.pop(""), batch
        return batch[0], batch[1:]
