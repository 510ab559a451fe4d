"""The public functions that make rows of texts: `tf.strings.split` of both eras, n-grams, and rows of characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.typing import AnyTensor, Nested, TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.conversion import ragged_or_tensor
from ebbflow.ops.ragged.rows import expand_dims
from ebbflow.ops.ragged.tensor import RaggedTensor

# --- any rank ---------------------------------------------------------------------------------------------------------


def _rows_of(input: Any, cut: Callable[[Any], RaggedTensor]) -> Any:
    """Return what `cut` makes of each text, whatever the rank: it takes a vector and gives a row for each text."""
    input = ragged_or_tensor(input, dtypes.string)
    if not isinstance(input, RaggedTensor):
        rank = input.shape.rank
        if rank is None:
            raise ValueError("Rank of `input` must be statically known.")
        if rank == 0:
            return cut(raw.Reshape(input, np.array([1], np.int32))).values
        if rank == 1:
            return cut(input)
        input = RaggedTensor.from_tensor(input, ragged_rank=rank - 1)
    return input.with_flat_values(cut(input.flat_values))


# --- split ------------------------------------------------------------------------------------------------------------


def split(input: TensorLike, sep: TensorLike | None = None, maxsplit: int = -1, name: str | None = None) -> AnyTensor:
    """Return the parts of each text between separators (white space where none is given), a row for each text.

    >>> split(["a b", "c"]).to_list()
    [[b'a', b'b'], [b'c']]
    """
    with name_scope(name, "StringSplit"):
        return _rows_of(input, lambda texts: _ragged(_sparse_parts(texts, sep, maxsplit)))


def _sparse_parts(texts: Any, sep: Any, maxsplit: int) -> Any:
    return raw.StringSplitV2(texts, "" if sep is None else sep, maxsplit=maxsplit)


def _ragged(parts: Any) -> RaggedTensor:
    rows = parts.indices[:, 0]
    return RaggedTensor.from_value_rowids(parts.values, rows, nrows=parts.shape[0], validate=False)


def split_v1(
    input: TensorLike | None = None,
    sep: TensorLike | None = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Nested = None,
    name: str | None = None,
) -> AnyTensor:
    """Return the parts of each text between separators, as a sparse (or ragged) tensor."""
    if (input is None) == (source is None):
        raise ValueError("give either 'input' or 'source', its old name")
    if result_type not in ("RaggedTensor", "SparseTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    with name_scope(name, "StringSplit"):
        texts = ragged_or_tensor(source if input is None else input, dtypes.string)
        if texts.shape.rank == 0 and not (context.switches.tf1 and result_type == "RaggedTensor"):
            texts = raw.Reshape(texts, np.array([1], np.int32))
        if result_type == "RaggedTensor":
            return split(texts, sep, maxsplit)
        if texts.shape.rank == 1:
            return string_split_v2(texts, sep, maxsplit)
        return split(texts, sep, maxsplit).to_sparse()


def string_split_v2(source: TensorLike, sep: Any = None, maxsplit: int = -1) -> SparseTensor:
    """Return the parts of each text of a vector, as a sparse tensor."""
    parts = _sparse_parts(convert(source, dtypes.string), sep, maxsplit)
    return SparseTensor(parts.indices, parts.values, parts.shape)


def string_split(
    source: TensorLike,
    sep: TensorLike | None = None,
    skip_empty: bool = True,
    delimiter: TensorLike | None = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> AnyTensor:
    """Return the parts of each text between any of the delimiter's characters, as a sparse tensor.

    >>> string_split(["a b", "c"]).values.numpy().tolist()
    [b'a', b'b', b'c']
    """
    if delimiter is not None and sep is not None:
        raise ValueError("Cannot specify both 'delimiter' and 'sep'.")
    with name_scope(name, "StringSplit"):
        between = convert(
            " " if sep is None and delimiter is None else delimiter if sep is None else sep, dtypes.string
        )
        parts = raw.StringSplit(convert(source, dtypes.string), between, skip_empty=skip_empty)
        if result_type == "SparseTensor":
            return SparseTensor(parts.indices, parts.values, parts.shape)
        if result_type == "RaggedTensor":
            return _ragged(parts)
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def string_bytes_split(input: TensorLike, name: str | None = None) -> AnyTensor:
    """Return the bytes of each text, a row for each text.

    >>> string_bytes_split(["ab", "c"]).to_list()
    [[b'a', b'b'], [b'c']]
    """
    with name_scope(name, "StringsByteSplit"):
        return _rows_of(input, lambda texts: _ragged(raw.StringSplit(texts, "", skip_empty=False)))


# --- n-grams ----------------------------------------------------------------------------------------------------------


def ngrams(
    data: TensorLike,
    ngram_width: int | Sequence[int],
    separator: str = " ",
    pad_values: TensorLike | None = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> AnyTensor:
    """Return stretches of that many texts of each row, joined.

    >>> ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']
    """
    left, right, pads, widths = _ngram_rules(ngram_width, pad_values, padding_width)
    with name_scope(name, "StringNGrams"):
        was_dense = not isinstance(data, RaggedTensor)
        rows: Any = convert(data, dtypes.string) if was_dense else data
        rank = rows.shape.rank
        if was_dense and rank is None:
            raise ValueError("Rank of data must be known.")
        if was_dense and rank < 1:
            raise ValueError("Data must have rank>0")
        if rank == 1:
            rows = expand_dims(rows, 0)
        if was_dense:
            rows = RaggedTensor.from_tensor(rows, ragged_rank=max(rank, 2) - 1)
        found = _ngrams(rows, separator, widths, left, right, pads, preserve_short_sequences)
        if rank == 1:
            return found.flat_values
        return found.to_tensor() if was_dense else found


def _ngrams(rows: Any, separator: str, widths: list[int], left: Any, right: Any, pads: int, keep: bool) -> Any:
    if isinstance(rows.values, RaggedTensor):
        return rows.with_values(_ngrams(rows.values, separator, widths, left, right, pads, keep))
    if rows.values.dtype is not dtypes.string:
        raise TypeError(f"data must be of dtype string, got {rows.values.dtype!r}")
    found = raw.StringNGrams(
        rows.values, rows.row_splits, separator=separator, ngram_widths=widths, left_pad=left, right_pad=right,
        pad_width=pads, preserve_short_sequences=keep,
    )  # fmt: skip
    return RaggedTensor.from_row_splits(found.ngrams, found.ngrams_splits, validate=False)


def _ngram_rules(width: Any, pad_values: Any, padding_width: Any) -> tuple[str, str, int, list[int]]:
    left = right = ""
    if pad_values is not None:
        pair: Any = (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
        two = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not two or not all(isinstance(each, (str, bytes)) for each in pair):
            raise TypeError(f"pad_values must be a string, tuple of strings, or None. Got {pad_values!r}")
        left, right = pair
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    if padding_width is not None and padding_width < 1:
        raise ValueError(f"padding_width must be greater than 0. Got {padding_width}")
    pads = (-1 if padding_width is None else padding_width) if pad_values is not None else 0
    widths = [width] if isinstance(width, int) else list(width)
    if not widths or any(w < 1 for w in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Got {width}")
    return left, right, pads, widths


# --- characters -------------------------------------------------------------------------------------------------------


def _code_rows(texts: Any, encoding: str, errors: str, replacement: Any, controls: bool) -> tuple[Any, Any]:
    found = raw.UnicodeDecodeWithOffsets(
        texts, input_encoding=encoding, errors=errors, replacement_char=_code(replacement),
        replace_control_characters=controls,
    )  # fmt: skip
    make = lambda values: RaggedTensor.from_row_splits(values, found.row_splits, validate=False)
    return make(found.char_values), make(found.char_to_byte_starts)


def _code(character: Any) -> int:
    if isinstance(character, (str, bytes)):
        text = character.decode() if isinstance(character, bytes) else character
        if len(text) != 1:
            raise ValueError(f"replacement_char must be one character, got {character!r}")
        return ord(text)
    return int(character)


def unicode_decode(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: TensorLike = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> AnyTensor:
    """Return the code points of each text, a row for each text.

    >>> unicode_decode(["aé"], "UTF-8").to_list()
    [[97, 233]]
    """
    with name_scope(name, "UnicodeDecode"):
        rules = (input_encoding, errors, replacement_char, replace_control_characters)
        return _rows_of(input, lambda texts: _code_rows(texts, *rules)[0])


def unicode_decode_with_offsets(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: TensorLike = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return the code points of each text, and at which byte each starts."""
    with name_scope(name, "UnicodeDecodeWithOffsets"):
        rules = (input_encoding, errors, replacement_char, replace_control_characters)
        return (
            _rows_of(input, lambda texts: _code_rows(texts, *rules)[0]),
            _rows_of(input, lambda texts: _code_rows(texts, *rules)[1]),
        )


def unicode_encode(
    input: TensorLike,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: TensorLike = 65533,
    name: str | None = None,
) -> AnyTensor:
    """Return the texts that rows of code points spell.

    >>> unicode_encode([97, 233], "UTF-8").numpy()
    b'a\\xc3\\xa9'
    """
    with name_scope(name, "UnicodeEncode"):
        rules = {"output_encoding": output_encoding, "errors": errors, "replacement_char": _code(replacement_char)}
        rows: Any = ragged_or_tensor(input, dtypes.int32)
        if isinstance(rows, RaggedTensor):
            return _encode_rows(rows, rules)
        rank = rows.shape.rank
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if rank == 1:
            splits = raw.Pack([0, raw.Size(rows)])
            return raw.Reshape(raw.UnicodeEncode(rows, splits, **rules), np.zeros(0, np.int32))
        if rank == 2:
            return _encode_rows(RaggedTensor.from_tensor(rows), rules)
        shape = raw.Shape(rows)
        flat = raw.Reshape(rows, raw.Pack([-1, shape[-1]]))
        return raw.Reshape(_encode_rows(RaggedTensor.from_tensor(flat), rules), shape[:-1])


def _encode_rows(rows: RaggedTensor, rules: dict[str, Any]) -> Any:
    if isinstance(rows.values, RaggedTensor):
        return rows.with_values(_encode_rows(rows.values, rules))
    if len(rows.values._dims or ()) > 1:
        inner = RaggedTensor.from_tensor(rows.values)
        return rows.with_values(_encode_rows(inner, rules))
    return raw.UnicodeEncode(rows.values, rows.row_splits, **rules)


def _characters(codes: Any, encoding: str, errors: str, replacement: Any) -> RaggedTensor:
    """Return each code point as a text of its own."""
    column = raw.ExpandDims(codes.values, np.array(1, np.int32))
    flat = unicode_encode(column, encoding, errors, replacement)
    return codes.with_values(flat)


def unicode_split(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: TensorLike = 65533,
    name: str | None = None,
) -> AnyTensor:
    """Return the characters of each text, a row for each text.

    >>> unicode_split(["aé"], "UTF-8").to_list()
    [[b'a', b'\\xc3\\xa9']]
    """
    with name_scope(name, "UnicodeSplit"):
        cut = lambda texts: _code_rows(texts, input_encoding, errors, replacement_char, False)[0]
        return _rows_of(input, lambda texts: _characters(cut(texts), input_encoding, errors, replacement_char))


def unicode_split_with_offsets(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: TensorLike = 65533,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return the characters of each text, and at which byte each starts."""
    with name_scope(name, "UnicodeSplitWithOffsets"):
        cut = lambda texts: _code_rows(texts, input_encoding, errors, replacement_char, False)
        return (
            _rows_of(input, lambda texts: _characters(cut(texts)[0], input_encoding, errors, replacement_char)),
            _rows_of(input, lambda texts: cut(texts)[1]),
        )


def unicode_transcode(
    input: TensorLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: TensorLike = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> AnyTensor:
    """Return texts in another encoding."""
    return raw.UnicodeTranscode(
        input, input_encoding=input_encoding, output_encoding=output_encoding, errors=errors,
        replacement_char=_code(replacement_char), replace_control_characters=replace_control_characters, name=name,
    )  # fmt: skip


def unicode_script(input: TensorLike, name: str | None = None) -> AnyTensor:
    """Return the number of the script that each code point belongs to (ICU's numbers; -1 for none)."""
    return raw.UnicodeScript(input, name=name)
