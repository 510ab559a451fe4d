"""`tf.contrib.training.batch_sequences_with_states`: a state saver with threads that feed it, for sparse sequences too.

Sparse steps go through the barrier as handles of a map that holds them; a sparse context goes as a sequence that has it
at the first step of each segment.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor, SparseTensorValue
from ebbflow.core.typing import TensorLike
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.padding import tile
from ebbflow.ops.arrays.shaping import reshape, shape
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.ops.reduce.reductions import reduce_max
from ebbflow.ops.sparse.functions import reshape as reshape_sparse
from ebbflow.ops.strings.format_join import as_string, string_join
from ebbflow.summary import ops as summary
from ebbflow.tf1.state_saver import NextQueuedSequenceBatch, SequenceQueueingStateSaver, multiple_of
from ebbflow.train.queue_runner import QueueRunner, add_queue_runner

FROM_CONTEXT = "_context_in_seq_"
"""How the names of sequences begin that are sparse contexts."""

ENDS = (errors.OutOfRangeError, errors.CancelledError)
KEYS = 100_000_000


def _is_sparse(value: Any) -> bool:
    return isinstance(value, (SparseTensor, SparseTensorValue))


def padded(sequences: Mapping[str, Any], num_unroll: int) -> tuple[Any, dict[str, Any]]:
    """Return the length of sequences, and the sequences with zeros up to a multiple of `num_unroll`."""
    if not isinstance(num_unroll, numbers.Integral):
        raise ValueError(f"Unsupported num_unroll expected int, got: {num_unroll}")
    if not isinstance(sequences, Mapping):
        raise TypeError(f"Unsupported sequences expected dict, got: {sequences}")
    for key in sequences:
        if not isinstance(key, str):
            raise TypeError(f"Unsupported sequences key expected string, got: {key}")
    if not sequences:
        return 0, {}
    given = {key: value if _is_sparse(value) else convert(value) for key, value in sorted(sequences.items())}
    lengths = [shape(value)[0] for value in given.values() if not _is_sparse(value)]
    if lengths:
        said = [string_join(["All sequence lengths must match, but received lengths: ", as_string(stack(lengths))])]
        with control_dependencies([Assert(raw.Equal(other, lengths[0]), said) for other in lengths]):
            length = raw.Identity(lengths[0])
    else:
        length = reduce_max(cast(stack([value.dense_shape[0] for value in given.values()]), dtypes.int32))
    whole = length + raw.FloorMod(num_unroll - raw.FloorMod(length, num_unroll), num_unroll)
    return length, {key: _longer(value, whole) for key, value in given.items()}


def _longer(value: Any, length: Any) -> Any:
    """Return a sequence with zeros up to a length."""
    if _is_sparse(value):
        dims = concat([cast(length, dtypes.int64)[None], value.dense_shape[1:]], 0)
        return SparseTensor(value.indices, value.values, dims)
    nothing = convert("" if value.dtype == dtypes.string else 0, value.dtype)
    more = raw.Fill(concat([[length - shape(value)[0]], shape(value)[1:]], 0), nothing)
    return concat([value, more], 0)


def _whole_segments(key: str, value: Any, num_unroll: Any) -> Any:
    """Return a sequence once its length is a multiple of a segment's."""
    if not _is_sparse(value):
        value = convert(value)
        with control_dependencies([multiple_of(shape(value)[0], num_unroll, f"Tensor {key} first dimension")]):
            return raw.Identity(value, name="multiple_of_checked")
    with control_dependencies([multiple_of(value.dense_shape[0], num_unroll, f"SparseTensor {key} first dimension")]):
        parts = [raw.Identity(part) for part in (value.indices, value.values, value.dense_shape)]
    return SparseTensor(*parts)


def _context_as_sequences(context: dict[str, Any], sequences: dict[str, Any], num_unroll: int) -> None:
    """Move sparse contexts to the sequences, at the first step of each segment."""
    length: Any = 1
    if sequences:
        first = next(iter(sequences.values()))
        length = first.dense_shape[0] if _is_sparse(first) else shape(first)[0]
    length = cast(length, dtypes.int64)
    starts = raw.Range(cast(0, dtypes.int64), length, cast(num_unroll, dtypes.int64))
    count = raw.Size(starts)
    for key in [key for key in sorted(context) if _is_sparse(context[key])]:
        value = context.pop(key)
        entries, rank = raw.Unpack(shape(value.indices), num=2)
        when = tile(starts[:, None, None], stack([1, entries, 1]))
        where = tile(value.indices[None], stack([count, 1, 1]))
        sequences[FROM_CONTEXT + key] = SparseTensor(
            reshape(concat([when, where], 2), stack([entries * count, rank + 1])), tile(value.values, count[None]),
            concat([length[None], value.dense_shape], 0),
        )  # fmt: skip


def _contexts_back(context: dict[str, Any], sequences: dict[str, Any]) -> None:
    """Move what came as sequences back to the context: [batch, time, …] has it at the first step."""
    for key in [key for key in sorted(sequences) if key.startswith(FROM_CONTEXT)]:
        value = sequences.pop(key)
        dims = value.dense_shape
        once = SparseTensor(value.indices, value.values, concat([dims[:1], [1], dims[2:]], 0))
        context[key.removeprefix(FROM_CONTEXT)] = reshape_sparse(once, concat([dims[:1], dims[2:]], 0))


def as_handles(
    sequences: Mapping[str, Any], shared_name: str | None = None
) -> tuple[dict[str, Any], list[str] | None, list[Any]]:
    """Return sequences whose sparse ones are handles of a map, the names of these, and what holds them."""
    keys = [key for key in sorted(sequences) if _is_sparse(sequences[key])]
    if not keys:
        return dict(sequences), None, []
    found = dict(sequences)
    for key in keys:
        value = sequences[key]
        found[key] = raw.AddManySparseToTensorsMap(
            value.indices, value.values, value.dense_shape, container="", shared_name=shared_name or ""
        )
    return found, keys, [found[key].op for key in keys]


def from_handles(
    sequence: dict[str, Any], sparse_tensor_keys: list[str] | None, tensor_op_list: list[Any], batch_size: Any,
    num_unroll: Any,
) -> None:  # fmt: skip
    """Put sparse tensors of [batch, time, …] in the place of handles."""
    steps = convert(num_unroll, dtypes.int64)
    for key, keeper in zip(sparse_tensor_keys or [], tensor_op_list, strict=True):
        shared = keeper.get_attr("shared_name")
        shared = shared.decode() if isinstance(shared, bytes) else shared
        indices, values, dims = raw.TakeManySparseFromTensorsMap(
            reshape(sequence[key], [-1]), dtype=keeper.get_attr("T"), container="", shared_name=shared or keeper.name
        )
        row = indices[:, 0]
        places = [raw.FloorDiv(row, steps)[:, None], raw.FloorMod(row, steps)[:, None], indices[:, 1:]]
        sizes = [cast(batch_size, dtypes.int64)[None], steps[None], dims[1:]]
        sequence[key] = SparseTensor(concat(places, 1), values, concat(sizes, 0))


def batch_sequences_with_states(
    input_key: TensorLike,
    input_sequences: Mapping[str, Any],
    input_context: Mapping[str, Any],
    input_length: TensorLike | None,
    initial_states: Mapping[str, Any],
    num_unroll: int,
    batch_size: TensorLike,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Return batches of segments of a sequence that is read again and again by threads, with states that go on."""
    with name_scope(name or "batch_sequences_with_states"):
        if pad:
            length, sequences = padded(input_sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            sequences = {key: _whole_segments(key, value, num_unroll) for key, value in input_sequences.items()}
        context = dict(input_context)
        _context_as_sequences(context, sequences, num_unroll)
        dense, sparse_keys, keepers = as_handles(sequences)
        if make_keys_unique:
            drawn = random_uniform((), 0, KEYS, dtypes.int32, seed=make_keys_unique_seed)
            input_key = string_join([input_key, as_string(drawn)])
        saver: Any = SequenceQueueingStateSaver(
            batch_size, num_unroll, convert(input_length), input_key, dense, context, dict(initial_states), capacity,
            allow_small_batch,
        )  # fmt: skip
        ready = saver.barrier.ready_size()
        summary.scalar(f"queue/{saver.barrier.name}/ready_segment_batches_", cast(ready, dtypes.float32))
        runner = QueueRunner(saver, [saver.prefetch_op] * num_threads, queue_closed_exception_types=ENDS)
        add_queue_runner(runner)
        batch = saver.next_batch
        from_handles(batch.sequences, sparse_keys, keepers, batch_size, num_unroll)
        _contexts_back(batch.context, batch.sequences)
        return batch
