"""Batches of parsed examples from files: `make_batched_features_dataset`, and how `tf.contrib.data` named it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ebbflow.core.typing import TensorLike
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.dataset_v1 import DatasetV1
from ebbflow.data.readers import TFRecordDatasetV1, TFRecordDatasetV2
from ebbflow.ops.parsing.examples import parse_example


def make_batched_features_dataset(
    file_pattern: TensorLike,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[..., Any] | None = None,
    label_key: str | None = None,
    reader_args: Mapping[Any, Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: TensorLike | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> DatasetV2:
    """Return batches of the features of the examples in files: dictionaries, or pairs with the label if it is named."""
    return _batched(
        DatasetV2, reader or TFRecordDatasetV2, file_pattern, batch_size, features, label_key, reader_args, num_epochs,
        shuffle, shuffle_buffer_size, shuffle_seed, prefetch_buffer_size, reader_num_threads, parser_num_threads,
        drop_final_batch,
    )  # fmt: skip


def make_batched_features_dataset_v1(
    file_pattern: TensorLike,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[..., Any] | None = None,
    label_key: str | None = None,
    reader_args: Mapping[Any, Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: TensorLike | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> DatasetV2:
    """Return batches of the features of the examples in files, for TF 1."""
    return _batched(
        DatasetV1, reader or TFRecordDatasetV1, file_pattern, batch_size, features, label_key, reader_args, num_epochs,
        shuffle, shuffle_buffer_size, shuffle_seed, prefetch_buffer_size, reader_num_threads, parser_num_threads,
        drop_final_batch,
    )  # fmt: skip


def read_batch_features(
    file_pattern: TensorLike,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[..., Any] | None = None,
    reader_args: Mapping[Any, Any] | None = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> DatasetV2:
    """Return batches of the features of the examples in files, as the first `tf.contrib.data` asked for them."""
    return make_batched_features_dataset_v1(
        file_pattern, batch_size, features, reader, reader_args=reader_args, num_epochs=num_epochs,
        shuffle=randomize_input, shuffle_buffer_size=capacity,
    )  # fmt: skip


def _batched(
    family: Any, reader: Any, file_pattern: Any, batch_size: int, features: Any, label_key: Any, reader_args: Any,
    num_epochs: Any, shuffle: bool, room: int, seed: Any, ahead: Any, reads: Any, parses: Any, drop: bool,
) -> Any:  # fmt: skip
    names = family.list_files(file_pattern, shuffle=shuffle, seed=seed)
    records = names.interleave(
        lambda name: reader(name, *(reader_args or [])), cycle_length=reads or 1, num_parallel_calls=reads
    )
    if shuffle:
        records = records.shuffle(room, seed=seed)
    records = records.repeat(num_epochs)
    whole = drop or num_epochs is None
    parsed = records.batch(batch_size, drop_remainder=whole).map(
        lambda texts: parse_example(texts, features), num_parallel_calls=parses
    )
    if label_key is not None:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys.")
        parsed = parsed.map(lambda found: (found, found.pop(label_key)))
    return parsed.prefetch(-1 if ahead is None else ahead)


def make_tf_record_dataset(
    file_pattern: Any,
    batch_size: int,
    parser_fn: Callable[..., Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int | None = None,
    shuffle_seed: Any = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    num_parallel_parser_calls: int | None = None,
    drop_final_batch: bool = False,
) -> Any:
    """Return batches of the records of files, or of what a function makes of each."""
    files = DatasetV2.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    reads = 24 if num_parallel_reads is None else num_parallel_reads
    dataset = files.interleave(TFRecordDatasetV2, cycle_length=reads, num_parallel_calls=reads)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size or 10000, shuffle_seed)
    dataset = dataset.repeat(num_epochs)
    if parser_fn is not None:
        dataset = dataset.map(parser_fn, num_parallel_parser_calls or 2)
    batches = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    return batches if prefetch_buffer_size == 0 else batches.prefetch(prefetch_buffer_size or -1)
