"""`tf.contrib.learn.io`: batches of records, or of parsed examples, from files that match a pattern.

Names of files wait in one queue, records in a second, parsed features in a third; each has its runner. Knows the
queues of `tf.train`; nothing of models.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ebbflow.core import dtypes, nest
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Nested
from ebbflow.data.readers_v1 import TFRecordReader
from ebbflow.ops.declare import raw
from ebbflow.ops.parsing.examples import parse_example_v1
from ebbflow.platform import files
from ebbflow.state.queues.queue import FIFOQueue
from ebbflow.summary import ops as summary
from ebbflow.tf1.input_batches import batch_join, shuffle_batch_join
from ebbflow.tf1.input_producers import string_input_producer
from ebbflow.train.queue_runner import QueueRunner, add_queue_runner

Parsed = dict[str, AnyTensor]


def read_batch_examples(
    file_pattern: str | Sequence[str],
    batch_size: int,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Tensor], Nested] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Nested:
    """Return a batch of records of the files that match, as strings or as `parse_fn` gives them."""
    return read_keyed_batch_examples(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size,
        parse_fn, name, seed,
    )[1]  # fmt: skip


def read_keyed_batch_examples(
    file_pattern: str | Sequence[str],
    batch_size: int,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Tensor], Nested] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Nested]:
    """Return the keys of a batch of records, and the records."""
    names = _matching(file_pattern, randomize_input)
    _check(batch_size, queue_capacity, num_threads, read_batch_size, num_epochs)
    with name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        waiting = string_input_producer(
            names,
            num_epochs=num_epochs,
            shuffle=randomize_input,
            capacity=len(names),
            name="file_name_queue",
            seed=seed,
        )
        many = read_batch_size > 1
        read = [_read(reader(), waiting, read_batch_size, parse_fn) for _ in range(num_threads)]
        more: dict[str, Any] = {"capacity": queue_capacity, "enqueue_many": many, "name": scope}
        more["allow_smaller_final_batch"] = num_epochs is not None
        if randomize_input:
            behind = max(queue_capacity - 3 * batch_size, batch_size)
            found = shuffle_batch_join(
                read, batch_size, min_after_dequeue=min(behind, queue_capacity), seed=seed, **more
            )
        else:
            found = batch_join(read, batch_size, **more)
    if isinstance(read[0], dict):
        return found.pop(KEY), found
    return found[0], found[1]


read_keyed_batch_examples_shared_queue = read_keyed_batch_examples
"""The same, for workers that share one list of files: here each program has its own."""

KEY = "__key__"


def _read(reader: Any, names: Any, count: int, parse_fn: Any) -> Any:
    """Return what one thread puts into the queue of records: keys with records, or with what they are parsed to."""
    key, record = reader.read_up_to(names, count) if count > 1 else reader.read(names)
    record = record if parse_fn is None else parse_fn(record)
    return {KEY: key, **record} if isinstance(record, Mapping) else (key, record)


def _matching(pattern: Any, shuffled: bool) -> list[str]:
    """Return the files that a pattern, or each of several, stands for."""
    patterns = list(pattern) if isinstance(pattern, (list, tuple)) else [pattern]
    if not patterns or not all(patterns):
        raise ValueError("No files given to dequeue_examples.")
    found = [name for one in patterns for name in (files.glob(one) if set("*?[") & set(str(one)) else [str(one)])]
    if not found:
        raise ValueError(f"No files match {pattern}.")
    found.sort()
    if shuffled:
        random.shuffle(found)
    return found


def _check(batch_size: Any, capacity: Any, threads: Any, read_batch_size: Any, epochs: Any) -> None:
    for word, value in (("queue_capacity", capacity), ("num_threads", threads), ("read_batch_size", read_batch_size)):
        if value is None or value <= 0:
            raise ValueError(f"Invalid {word} {value}.")
    if batch_size is None or (not isinstance(batch_size, Tensor) and not 0 < batch_size <= capacity):
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {capacity}.")
    if epochs is not None and epochs <= 0:
        raise ValueError(f"Invalid num_epochs {epochs}.")


# --- parsed features --------------------------------------------------------------------------------------------------


def read_keyed_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Tensor], Nested] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> tuple[Tensor, Parsed]:
    """Return the keys of a batch of `tf.Example`s of the files that match, and their features."""
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads,
            batch_size if read_batch_size is None else read_batch_size, parse_fn, name=scope,
        )  # fmt: skip
        parsed = parse_example_v1(examples, features)
        return queue_parsed_features(parsed, keys, feature_queue_capacity, num_enqueue_threads, name=scope)


read_keyed_batch_features_shared_queue = read_keyed_batch_features
"""The same, for workers that share one list of files: here each program has its own."""


def read_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Tensor], Nested] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> Parsed:
    """Return the features of a batch of `tf.Example`s of the files that match."""
    return read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads,
        feature_queue_capacity, num_enqueue_threads, parse_fn, name, read_batch_size,
    )[1]  # fmt: skip


def read_batch_record_features(
    file_pattern: str | Sequence[str],
    batch_size: int,
    features: Mapping[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str | None = "dequeue_record_examples",
) -> Parsed:
    """Return the features of a batch of `tf.Example`s in TFRecord files."""
    return read_batch_features(
        file_pattern, batch_size, features, TFRecordReader, randomize_input, num_epochs, queue_capacity,
        reader_num_threads=reader_num_threads, name=name,
    )  # fmt: skip


def queue_parsed_features(
    parsed_features: Mapping[str, AnyTensor],
    keys: Tensor | None = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> Any:
    """Return parsed features by way of a queue that threads fill: a dictionary, after the keys if there are any."""
    tree = [dict(parsed_features), *([] if keys is None else [keys])]
    flat = nest.flatten(tree, expand_composites=True)
    with name_scope(name, "queue_parsed_features", flat):
        queue = FIFOQueue(feature_queue_capacity, [tensor.dtype for tensor in flat])
        summary.scalar(f"queue/{queue.name}/fraction_of_{feature_queue_capacity}_full",
                       raw.Cast(queue.size(), DstT=dtypes.float32) * (1.0 / feature_queue_capacity))  # fmt: skip
        add_queue_runner(QueueRunner(queue, [queue.enqueue(flat) for _ in range(num_enqueue_threads)]))
        taken = queue.dequeue()
    taken = taken if isinstance(taken, list) else [taken]
    for tensor, before in zip(taken, flat, strict=True):
        tensor.set_shape(before.shape)
    found = nest.pack_sequence_as(tree, taken, expand_composites=True)
    return found[0] if keys is None else (found[1], found[0])
