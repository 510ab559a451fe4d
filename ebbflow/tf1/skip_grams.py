"""Pairs of words that stand near each other (`tf.contrib.text`), as word2vec is trained with."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.masks import boolean_mask
from ebbflow.ops.arrays.padding import repeat
from ebbflow.ops.arrays.shaping import shape
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.platform import files
from ebbflow.state.lookup.initializers import TextFileInitializer
from ebbflow.state.lookup.static import StaticHashTableV1
from ebbflow.tf1.input_batches import batch


def skip_gram_sample(
    input_tensor: TensorLike,
    min_skips: int = 1,
    max_skips: int = 5,
    start: int = 0,
    limit: int = -1,
    emit_self_as_target: bool = False,
    vocab_freq_table: Any = None,
    vocab_min_count: float | None = None,
    vocab_subsampling: float | None = None,
    corpus_size: TensorLike | None = None,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return words and their labels: for each word all that stand at most a drawn number of places from it."""
    if vocab_freq_table is None and (vocab_min_count, vocab_subsampling, corpus_size) != (None, None, None):
        raise ValueError(
            "vocab_freq_table is not provided, but vocab_min_count="
            f"{vocab_min_count}, vocab_subsampling={vocab_subsampling} or corpus_size={corpus_size!r} is"
        )
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(
            f"vocab_subsampling={vocab_subsampling} and corpus_size={corpus_size!r} must both be given, or neither"
        )
    with name_scope(name, "skip_gram_sample", [input_tensor, min_skips, max_skips, start, limit]):
        words = kept_words(input_tensor, vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size, seed)
        rows, columns = _near(words, min_skips, max_skips, start, limit, emit_self_as_target, seed)
        found = [gather(words, rows), gather(words, columns)]
        if batch_size is None:
            return found[0], found[1]
        capacity = 100 * batch_size if batch_capacity is None else batch_capacity
        tokens, labels = batch(found, batch_size, capacity=capacity, enqueue_many=True)
        return tokens, labels


def _near(words: Any, least: Any, most: Any, start: Any, limit: Any, own: bool, seed: Any) -> tuple[Any, Any]:
    """Return places of words and of what stands near them."""
    words.shape.assert_has_rank(1)
    least, most, start, limit = (convert(v, dtypes.int32) for v in (least, most, start, limit))
    rules = [
        Assert(raw.GreaterEqual(least, 0), ["min_skips must not be negative, got", least]),
        Assert(raw.LessEqual(least, most), ["min_skips must not be larger than max_skips, got", least, most]),
        Assert(raw.GreaterEqual(start, 0), ["start must not be negative, got", start]),
    ]
    with control_dependencies(rules):
        size = shape(words)[0]
    end = raw.SelectV2(raw.Less(limit, 0), size, raw.Minimum(start + limit, size))
    start = raw.Minimum(start, end)
    places = raw.Range(start, end, 1)
    skips = random_uniform([end - start], least, most + 1, dtypes.int32, seed)
    first, last = raw.Maximum(places - skips, start), raw.Minimum(places + skips + 1, end)
    lengths = last - first
    rows = repeat(places, lengths)
    begins = repeat(first - raw.Cumsum(lengths, 0, exclusive=True), lengths)
    columns = raw.Range(0, shape(rows)[0], 1) + begins
    if own:
        return rows, columns
    others = raw.NotEqual(rows, columns)
    return boolean_mask(rows, others), boolean_mask(columns, others)


def kept_words(
    input_tensor: TensorLike,
    vocab_freq_table: Any,
    vocab_min_count: float | None,
    vocab_subsampling: float | None,
    corpus_size: Any,
    seed: int | None,
) -> Any:
    """Return the words that a table of frequencies has, often enough; of frequent ones some are left out at random."""
    if vocab_freq_table is None:
        return convert(input_tensor)
    with name_scope(None, "filter_vocab", [input_tensor]):
        words = convert(input_tensor)
        often = vocab_freq_table.lookup(words)
        known = raw.NotEqual(often, convert(vocab_freq_table.default_value))
        if vocab_min_count is not None:
            known = raw.LogicalAnd(known, raw.GreaterEqual(often, convert(vocab_min_count, often.dtype)))
        words, often = boolean_mask(words, known), boolean_mask(often, known)
        if vocab_subsampling is None or corpus_size is None:
            return words
        often = raw.Cast(often, DstT=dtypes.float64)
        common = raw.Cast(convert(corpus_size), DstT=dtypes.float64) * convert(vocab_subsampling, dtypes.float64)
        chance = (raw.Sqrt(often / common) + 1.0) * (common / often)
        return boolean_mask(words, raw.LessEqual(random_uniform(shape(chance), 0, 1, chance.dtype, seed), chance))


def skip_gram_sample_with_text_vocab(
    input_tensor: TensorLike,
    vocab_freq_file: str,
    vocab_token_index: int = 0,
    vocab_token_dtype: DTypeLike = dtypes.string,
    vocab_freq_index: int = 1,
    vocab_freq_dtype: DTypeLike = dtypes.float64,
    vocab_delimiter: str = ",",
    vocab_min_count: float = 0,
    vocab_subsampling: float | None = None,
    corpus_size: TensorLike | None = None,
    min_skips: int = 1,
    max_skips: int = 5,
    start: int = 0,
    limit: int = -1,
    emit_self_as_target: bool = False,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return what `skip_gram_sample` does, with frequencies from a file: a word and its frequency in each row."""
    places = (vocab_token_index, vocab_freq_index)
    if min(places) < 0 or places[0] == places[1]:
        raise ValueError(f"vocab_token_index={places[0]} and vocab_freq_index={places[1]} must be two columns")
    total = _total(vocab_freq_file, vocab_delimiter, places, dtypes.as_dtype(vocab_freq_dtype))
    if corpus_size is None:
        corpus_size = total
    elif corpus_size < total:
        raise ValueError(f"corpus_size={corpus_size!r} is less than the sum of the file's frequencies, {total}")
    entries = TextFileInitializer(
        vocab_freq_file, vocab_token_dtype, vocab_token_index, vocab_freq_dtype, vocab_freq_index,
        delimiter=vocab_delimiter,
    )  # fmt: skip
    return skip_gram_sample(
        input_tensor, min_skips, max_skips, start, limit, emit_self_as_target, StaticHashTableV1(entries, -1),
        vocab_min_count, vocab_subsampling, corpus_size if vocab_subsampling is not None else None,
        batch_size, batch_capacity, seed, name,
    )  # fmt: skip


def _total(path: str, delimiter: str, places: tuple[int, int], dtype: Any) -> Any:
    """Return the sum of a file's frequencies; every row must have both columns."""
    total = dtype.as_numpy_dtype(0)
    with files.GFile(path) as lines:
        for number, row in enumerate(csv.reader(lines, delimiter=delimiter), 1):
            if max(places) >= len(row):
                raise ValueError(f"{path}:{number}: has {len(row)} columns, vocab_token_index={places[0]}, "
                                 f"vocab_freq_index={places[1]}")  # fmt: skip
            total = np.add(total, dtype.as_numpy_dtype(row[places[1]]))
    return total
