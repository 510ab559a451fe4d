"""Ragged tensors as text, the way Python writes lists, computed by ops: for `tf.print` and `tf.strings.format`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.tensor import Tensor
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.tensor import RaggedTensor


def ragged_tensor_to_string(rt: RaggedTensor, summarize: int | None = None) -> Tensor:
    """Return a ragged tensor as text; of long rows (more than `summarize` at either end) the middle is left out."""
    if summarize is not None and summarize != -1 and not (isinstance(summarize, int) and summarize > 0):
        raise ValueError(f"Expected summarize to be -1 or a positive int, got {summarize!r}")
    if rt.shape.rank is None:
        raise ValueError("RaggedTensor to_string requires that rt.shape.rank is not None")
    flat = rt.flat_values
    if flat.dtype == dtypes.string:
        words = raw.StringJoin(["'", raw.RegexReplace(flat, "(['\\\\])", "\\\\\\1"), "'"])
    else:
        words = raw.AsString(flat)
    if flat.shape.rank > 1:
        words = RaggedTensor.from_tensor(words, ragged_rank=flat.shape.rank - 1)
    ends = None if summarize == -1 else 3 if summarize is None else summarize
    return _bracketed(_rows(rt.with_flat_values(words), ends), ends)


def _rows(rows: RaggedTensor, ends: int | None) -> Any:
    """Return the text of each row."""
    inner = rows.values
    words = _rows(inner, ends) if isinstance(inner, RaggedTensor) else inner
    lengths, numbers = rows.row_lengths(), rows.value_rowids()
    count = raw.Cast(rows.nrows(), DstT=dtypes.int32)
    if ends is not None:
        place = raw.Range(0, raw.Size(words, out_type=numbers.dtype), 1) - raw.GatherV2(rows.row_starts(), numbers, 0)
        length = raw.GatherV2(lengths, numbers, 0)
        words, kept = _shortened(words, place, length, ends)
        words, numbers = raw.GatherV2(words, kept, 0), raw.GatherV2(numbers, kept, 0)
    return raw.StringJoin(["[", raw.UnsortedSegmentJoin(words, numbers, count, separator=", "), "]"])


def _shortened(words: Any, place: Any, length: Any, ends: int) -> tuple[Any, Any]:
    """Return words with dots after those before which something is left out, and the numbers of the words to keep."""
    long = raw.Greater(length, raw.Cast(2 * ends, DstT=length.dtype))
    last_of_front = raw.LogicalAnd(long, raw.Equal(place, raw.Cast(ends - 1, DstT=place.dtype)))
    words = raw.SelectV2(last_of_front, raw.StringJoin([words, ", ..."]), words)
    middle = raw.LogicalAnd(raw.GreaterEqual(place, raw.Cast(ends, DstT=place.dtype)), raw.Less(place, length - ends))
    return words, raw.Where(raw.LogicalNot(raw.LogicalAnd(long, middle)))[:, 0]


def _bracketed(words: Any, ends: int | None) -> Any:
    """Return the texts of the rows as one text."""
    everything = RaggedTensor.from_row_splits(words, raw.Pack([0, raw.Size(words)]), validate=False)
    return _rows(everything, ends)[0]


def formatted(inputs: Sequence[Any], attrs: dict[str, Any]) -> Tensor:
    """Return a template with texts of tensors, some of them ragged, at its placeholders."""
    summarize = attrs.get("summarize", 3)
    pieces = attrs.get("template", "%s").split(attrs.get("placeholder", "%s"))
    words: list[Any] = [pieces[0]]
    for value, piece in zip(inputs[0], pieces[1:], strict=True):
        ragged = isinstance(value, RaggedTensor)
        plain = {"template": "{}", "placeholder": "{}", "summarize": summarize}
        words.append(ragged_tensor_to_string(value, summarize) if ragged else raw.StringFormat([value], **plain))
        words.append(piece)
    return raw.StringJoin(words, name=attrs.get("name"))
