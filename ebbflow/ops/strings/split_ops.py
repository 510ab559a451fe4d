"""Ops that cut texts into parts, and rows of texts into n-grams."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable

import numpy as np

from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid
from ebbflow.ops.strings.arrays import as_bytes, one_text, text_array
from ebbflow.ops.strings.split_loops import counts_of_parts, joined_neighbours, split_texts
from ebbflow.ops.strings.text_loops import FEW, code_for, looked_at, recent_texts

StringSplit = op(
    "StringSplit(input:string, delimiter:string) -> (indices:int64, values:string, shape:int64)"
    " | skip_empty: bool = true",
    "data_dependent",
    gradient=FLAT,
)
StringSplitV2 = op(
    "StringSplitV2(input:string, sep:string) -> (indices:int64, values:string, shape:int64) | maxsplit: int = -1",
    gradient=FLAT,
)


@StringSplit.shape
def _(input, delimiter):
    ranked(input, 1)
    ranked(delimiter, 0)
    return [(None, 2), (None,), (2,)]


@StringSplitV2.shape
def _(input, sep):
    ranked(input, 1)
    ranked(sep, 0)
    return [(None, 2), (None,), (2,)]


def _as_sparse(input: np.ndarray, cut: Callable[[bytes], list[bytes]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the parts of each text as the parts of a sparse matrix with a row for each text."""
    if input.ndim != 1:
        raise invalid(f"input must be a vector, got shape: {show(input.shape)}")
    parts = [cut(text) for text in input.tolist()]
    counts = np.fromiter(map(len, parts), np.int64, len(parts))
    indices, shape = _places(counts)
    return indices, text_array([part for row in parts for part in row], (len(indices),)), shape


def _places(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of rows with so many parts, and the shape of the matrix."""
    indices = np.empty((int(counts.sum()), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(counts)), counts)
    indices[:, 1] = np.arange(len(indices)) - np.repeat(np.cumsum(counts) - counts, counts)
    return indices, np.array([len(counts), counts.max(initial=0)], np.int64)


@StringSplit.kernel
def _(xp, input, delimiter, *, skip_empty):
    if delimiter.ndim:
        raise invalid(f"delimiter must be a scalar, got shape: {show(delimiter.shape)}")
    if not delimiter[()]:
        return _bytes_as_sparse(input)
    return _as_sparse(input, functools.partial(_by_characters, delimiter[()], skip_empty))


def _bytes_as_sparse(input: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each byte of each text, as `_as_sparse` does."""
    if input.ndim != 1:
        raise invalid(f"input must be a vector, got shape: {show(input.shape)}")
    texts = input.tolist()
    counts = np.fromiter(map(len, texts), np.int64, len(texts))
    letters = text_array((bytes([i]) for i in range(256)), (256,))
    indices, shape = _places(counts)
    return indices, letters[np.frombuffer(b"".join(texts), np.uint8)], shape


def _by_characters(delimiters: bytes, skip_empty: bool, text: bytes) -> list[bytes]:
    """Return what stands between any of the delimiters' bytes."""
    if not text:
        return []
    if len(delimiters) == 1:
        parts = text.split(delimiters)
    else:
        parts = re.split(b"[" + re.escape(delimiters) + b"]", text)
    return [part for part in parts if part] if skip_empty else parts


@StringSplitV2.kernel
def _(xp, input, sep, *, maxsplit):
    between = one_text(sep, "sep")
    quick = _by_code(input, between, maxsplit) if between or maxsplit < 0 else None
    if quick is not None:
        return quick
    if between:
        return _as_sparse(input, lambda text: text.split(between, maxsplit))
    return _as_sparse(input, functools.partial(_words, maxsplit))


def _by_code(input: np.ndarray, mark: bytes, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return what `_as_sparse` does of texts between marks, where there is machine code for it."""
    marks = text_array([mark], (1,))
    code = code_for(split_texts, input) if input.ndim == 1 else None
    counts = np.empty(input.shape, np.int64)
    if code is None or not looked_at(counts_of_parts, input, counts, marks, most):
        return None
    total = int(counts.sum())
    indices, parts = np.empty((total, 2), np.int64), np.empty(total, object)
    if code(input, input.size, marks, most, recent_texts(), indices, parts) < 0:
        return None
    return indices, parts, np.array([len(counts), counts.max(initial=0)], np.int64)


def _words(most: int, text: bytes) -> list[bytes]:
    """Return what stands between white space; behind as many words as asked for there is always a rest."""
    if not most:
        return [text]
    words = text.split(None, most)
    return [*words, b""] if len(words) == most else words


# --- n-grams ----------------------------------------------------------------------------------------------------------

StringNGrams = op(
    "StringNGrams(data:string, data_splits:Tsplits) -> (ngrams:string, ngrams_splits:Tsplits)"
    " | separator: string; ngram_widths: list(int) >= 0; left_pad: string; right_pad: string; pad_width: int;"
    " preserve_short_sequences: bool; Tsplits: type in [int32,int64] = int64",
    gradient=FLAT,
)


@StringNGrams.shape
def _(data, data_splits):
    ranked(data, 1)
    ranked(data_splits, 1)
    return [(None,), data_splits.dims]


@StringNGrams.kernel
def _(xp, data, data_splits, *, separator, ngram_widths, left_pad, right_pad, pad_width, preserve_short_sequences):
    if data.ndim != 1 or data_splits.ndim != 1:
        raise invalid(f"data and data_splits must be vectors, got {show(data.shape)} and {show(data_splits.shape)}")
    splits = _checked_splits(data_splits, data.size)
    if any(width < 1 for width in ngram_widths):
        raise invalid(f"ngram_widths must contain positive values, got {list(ngram_widths)}")
    glue, left, right = as_bytes(separator), as_bytes(left_pad), as_bytes(right_pad)
    grams: list[bytes] = []
    ends = [0] if splits else []
    if len(splits) == 2 and len(ngram_widths) == 1 and _padding(ngram_widths[0], pad_width) == 0:
        alone = _neighbours(data, ngram_widths[0], glue)
        if alone is not None:
            return alone, np.array([0, len(alone)], data_splits.dtype)
    tokens = data.tolist()
    for start, stop in itertools.pairwise(splits):
        row = tokens[start:stop]
        before = len(grams)
        for width in ngram_widths:
            grams += _grams(row, width, _padding(width, pad_width), glue, left, right)
        if preserve_short_sequences and len(grams) == before and row:
            pad = max(pad_width, 0)
            grams += _grams(row, len(row) + 2 * pad, pad, glue, left, right)
        ends.append(len(grams))
    return text_array(grams, (len(grams),)), np.array(ends, data_splits.dtype)


def _padding(width: int, pad_width: int) -> int:
    return width - 1 if pad_width < 0 else min(pad_width, width - 1)


def _checked_splits(data_splits: np.ndarray, size: int) -> list[int]:
    splits: list[int] = data_splits.tolist()
    if not splits:
        return splits
    if splits[0] != 0:
        raise invalid(f"First split value must be 0, got {splits[0]}")
    for a, b in itertools.pairwise(splits):
        if a > b:
            raise invalid(f"Invalid split value {b}, must be in [{a}, {size}]")
        if b > size:
            raise invalid(f"Invalid split value {b}, must be in [{a}, {size}]")
    if splits[-1] != size:
        raise invalid(f"Last split value must be data size. Expected {size}, got {splits[-1]}")
    return splits


def _grams(row: list[bytes], width: int, pad: int, glue: bytes, left: bytes, right: bytes) -> list[bytes]:
    """Return the grams of one width of a row that is filled up by `pad` texts on either side."""
    filled = [left] * pad + row + [right] * pad
    if len(filled) >= max(width, FEW):  # of a short row the array alone would take longer
        joined = _neighbours(text_array(filled, (len(filled),)), width, glue)
        if joined is not None:
            grams: list[bytes] = joined.tolist()
            return grams
    return [glue.join(filled[i : i + width]) for i in range(len(filled) - width + 1)]


def _neighbours(texts: np.ndarray, width: int, glue: bytes) -> np.ndarray | None:
    """Return each text joined with those behind it by machine code; None where there is none, or few texts."""
    code = code_for(joined_neighbours, texts) if len(texts) >= max(width, FEW) else None
    if code is None:
        return None
    out = np.empty(len(texts) - width + 1, object)
    return out if code(texts, texts.size, width, text_array([glue], (1,)), out) >= 0 else None
