"""Ops between encodings: texts to code points and back, from one encoding to another, the script of a character.

Python's codecs decode; a sequence that is not valid is one error (the longest part that could have begun a character),
as in ICU, which TensorFlow uses.
"""

from __future__ import annotations

import codecs
import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, same, show
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid
from ebbflow.ops.strings.arrays import each, text_array
from ebbflow.ops.strings.scripts import script_table, scripts_of_all

CODECS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_ERRORS = 'errors: string in ["strict","replace","ignore"] = "replace"; replacement_char: int = 65533'
_CONTROL = "replace_control_characters: bool = false"
_SPLITS = "Tsplits: type in [int32,int64] = int64"
BAD_INPUT = "Invalid formatting on input string"


@functools.lru_cache(maxsize=100)
def codec(encoding: str) -> str:
    """Return Python's name of an encoding."""
    try:
        return CODECS.get(encoding) or codecs.lookup(encoding).name
    except LookupError:
        raise invalid(f"Could not create converter for input encoding: {encoding}") from None


def characters(text: bytes, encoding: str) -> Iterator[tuple[str, int]]:
    """Yield stretches of valid characters with the place of their first byte; "" stands for what is not valid."""
    encoding, at = _with_order(text, encoding)
    while at < len(text):
        try:
            yield text[at:].decode(encoding), at
            return
        except UnicodeDecodeError as error:
            if error.start:
                yield text[at : at + error.start].decode(encoding), at
            yield "", at + error.start
            at += max(error.end, error.start + 1)


def _with_order(text: bytes, encoding: str) -> tuple[str, int]:
    """Return an encoding that says which byte comes first, and where the text begins: a mark in front may say it."""
    marks = _MARKS.get(encoding, ())
    for mark, marked in marks:
        if text.startswith(mark):
            return marked, len(mark)
    return marks[0][1] if marks else encoding, 0


_MARKS = {
    "utf-16": ((codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le")),
    "utf-32": ((codecs.BOM_UTF32_BE, "utf-32-be"), (codecs.BOM_UTF32_LE, "utf-32-le")),
}
"""Encodings that leave the order of bytes open, and marks that say it. Without one the first byte is the higher."""


def _code_points(stretch: str) -> np.ndarray:
    return np.frombuffer(stretch.encode("utf-32-le", "surrogatepass"), "<i4")


def _widths(codes: np.ndarray, encoding: str) -> np.ndarray:
    """Return how many bytes each character takes."""
    if encoding == "utf-8":
        return 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
    if encoding.startswith("utf-16"):
        return 2 + 2 * (codes >= 0x10000)
    if encoding.startswith("utf-32"):
        return np.full(codes.shape, 4)
    return np.array([len(chr(c).encode(encoding)) for c in codes.tolist()], np.int64)


def points(text: bytes, encoding: str, rules: tuple[str, int, bool]) -> tuple[np.ndarray, np.ndarray]:
    """Return the code points of a text and the byte at which each starts; `rules`: errors, replacement, controls."""
    errors, replacement, controls = rules
    codes, starts = [], []
    for stretch, at in characters(text, encoding):
        if stretch:
            found = _code_points(stretch)
            codes.append(found)
            starts.append(at + np.cumsum(np.concatenate([[0], _widths(found, encoding)[:-1]])))
        elif errors == "strict":
            raise invalid(BAD_INPUT)
        elif errors == "replace":
            codes.append(np.array([replacement], np.int32))
            starts.append(np.array([at]))
    joined = np.concatenate(codes) if codes else np.zeros(0, np.int32)
    places = (np.concatenate(starts) if starts else np.zeros(0)).astype(np.int64)
    if len(places) and _with_order(text, encoding)[1]:
        places[0] = 0  # a mark belongs to the first character
    if controls and errors == "ignore":
        joined, places = joined[joined > 0x1F], places[joined > 0x1F]
    elif controls:
        joined = np.where(joined <= 0x1F, replacement, joined)
    return joined.astype(np.int32), places


def _check_replacement(replacement: int) -> None:
    if not is_character(replacement):
        raise invalid(f"replacement_char out of unicode codepoint range: {replacement}")


def is_character(code: int) -> bool:
    """Return whether a number is a code point that may stand in a text."""
    return 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF


# --- decode -----------------------------------------------------------------------------------------------------------

_DECODED = f"input_encoding: string; {_ERRORS}; {_CONTROL}; {_SPLITS}"
UnicodeDecode = op(
    f"UnicodeDecode(input:string) -> (row_splits:Tsplits, char_values:int32) | {_DECODED}", gradient=FLAT
)
UnicodeDecodeWithOffsets = op(
    "UnicodeDecodeWithOffsets(input:string) -> (row_splits:Tsplits, char_values:int32, char_to_byte_starts:int64)"
    f" | {_DECODED}",
    gradient=FLAT,
)


def _split_dims(input: Any) -> tuple[int | None]:
    if input.dims is None or None in input.dims:
        return (None,)
    return (int(np.prod(input.dims)) + 1,)


@UnicodeDecode.shape
def _(input):
    return [_split_dims(input), (None,)]


@UnicodeDecodeWithOffsets.shape
def _(input):
    return [_split_dims(input), (None,), (None,)]


def _decode(input: np.ndarray, encoding: str, rules: tuple[str, int, bool], kind: Any) -> list[np.ndarray]:
    _check_replacement(rules[1])
    name = codec(encoding)
    texts = input.reshape(-1).tolist()
    whole = b"".join(texts)
    if name == "utf-8" and whole.isascii():
        return _decode_ascii(texts, whole, rules, kind)
    rows = [points(text, name, rules) for text in texts]
    splits = np.cumsum([0, *(len(codes) for codes, _ in rows)])
    codes = np.concatenate([c for c, _ in rows]) if rows else np.zeros(0, np.int32)
    starts = np.concatenate([s for _, s in rows]) if rows else np.zeros(0, np.int64)
    return [splits.astype(kind), codes, starts]


def _decode_ascii(texts: list[bytes], whole: bytes, rules: tuple[str, int, bool], kind: Any) -> list[np.ndarray]:
    """Decode texts of plain letters, a byte each: all of them at once."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    splits = np.concatenate([[0], np.cumsum(lengths)])
    codes = np.frombuffer(whole, np.uint8).astype(np.int32)
    if rules[2]:
        codes = np.where(codes <= 0x1F, np.int32(rules[1]), codes)
    starts = np.arange(len(codes), dtype=np.int64) - np.repeat(splits[:-1], lengths)
    return [splits.astype(kind), codes, starts]


@UnicodeDecode.kernel
def _(xp, input, *, input_encoding, errors, replacement_char, replace_control_characters, Tsplits):
    return _decode(input, input_encoding, (errors, replacement_char, replace_control_characters), Tsplits.np)[:2]


@UnicodeDecodeWithOffsets.kernel
def _(xp, input, *, input_encoding, errors, replacement_char, replace_control_characters, Tsplits):
    return _decode(input, input_encoding, (errors, replacement_char, replace_control_characters), Tsplits.np)


# --- encode -----------------------------------------------------------------------------------------------------------

_TO = 'output_encoding: string in ["UTF-8","UTF-16-BE","UTF-32-BE"]'
UnicodeEncode = op(
    "UnicodeEncode(input_values:int32, input_splits:Tsplits) -> (output:string)"
    f' | errors: string in ["ignore","replace","strict"] = "replace"; {_TO}; replacement_char: int = 65533; {_SPLITS}',
    gradient=FLAT,
)


@UnicodeEncode.shape
def _(input_values, input_splits):
    ranked(input_values, 1)
    (count,) = ranked(input_splits, 1)
    return (None if count is None else max(count - 1, 0),)


@UnicodeEncode.kernel
def _(xp, input_values, input_splits, *, errors, output_encoding, replacement_char):
    if input_values.ndim != 1 or input_splits.ndim != 1 or not input_splits.size:
        raise invalid(f"input_values and input_splits must be vectors, the second not empty, got "
                      f"{show(input_values.shape)} and {show(input_splits.shape)}")  # fmt: skip
    _check_replacement(replacement_char)
    splits = input_splits.tolist()
    if splits[0] != 0 or any(a > b for a, b in itertools.pairwise(splits)) or splits[-1] > len(input_values):
        raise invalid(f"Invalid input_splits {splits[:20]}: they must start with 0, be sorted, and end with the size "
                      f"of input_values ({len(input_values)})")  # fmt: skip
    codes = [
        code if is_character(code) else _instead(errors, replacement_char) for code in input_values.tolist()
    ]  # fmt: skip
    name = CODECS[output_encoding]
    texts = ("".join(chr(c) for c in codes[a:b] if c is not None).encode(name) for a, b in itertools.pairwise(splits))
    return text_array(texts, (len(splits) - 1,))


def _instead(errors: str, replacement: int) -> int | None:
    if errors == "strict":
        raise invalid("Code point is out of range for Unicode, or a noncharacter.")
    return replacement if errors == "replace" else None


UnicodeTranscode = op(
    f"UnicodeTranscode(input:string) -> (output:string) | input_encoding: string; {_TO}; {_ERRORS}; {_CONTROL}",
    shape=same,
    gradient=FLAT,
)


@UnicodeTranscode.kernel
def _(xp, input, *, input_encoding, output_encoding, errors, replacement_char, replace_control_characters):
    _check_replacement(replacement_char)
    source, target = codec(input_encoding), CODECS[output_encoding]
    rules = (errors, replacement_char, replace_control_characters)

    def transcoded(text: bytes) -> bytes:
        if source == "utf-8" and text.isascii() and not replace_control_characters:
            return text if target == "utf-8" else text.decode("ascii").encode(target)
        codes, _ = points(text, source, rules)
        return codes.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass").encode(target, "surrogatepass")

    return each(transcoded, input)


# --- scripts ----------------------------------------------------------------------------------------------------------

UnicodeScript = op("UnicodeScript(input:int32) -> (output:int32)", shape=same, gradient=FLAT)


_MANY_CHARACTERS = 1 << 12


@UnicodeScript.kernel
def _(xp, input):
    if input.size >= _MANY_CHARACTERS and input.min() >= 0 and input.max() <= 0x10FFFF:
        return scripts_of_all()[input]
    starts, scripts = script_table()
    inside = (input >= 0) & (input <= 0x10FFFF)
    found = scripts[np.searchsorted(starts, np.where(inside, input, 0), "right") - 1]
    return np.where(inside, found, np.int32(-1))
