"""Ops on single texts: case, length, parts, numbers, base64; and texts of many elements joined along axes.

Texts are bytes. Where the unit is a UTF-8 character, a byte that starts one counts; nothing is refused for being no
UTF-8 unless TensorFlow refuses it.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.shape import broadcast_dims
from ebbflow.ops.declare import FLAT, same, show
from ebbflow.ops.sizes import invalid, room_for
from ebbflow.ops.strings.arrays import as_bytes, each, text_array
from ebbflow.ops.strings.number_loops import POWERS, decimals, wholes
from ebbflow.ops.strings.text_loops import (
    LETTERS,
    base64_decoded,
    base64_encoded,
    cased,
    code_for,
    lengths,
    looked_at,
    parts,
    recent_texts,
    stripped,
    walked,
)

# --- case and white space ---------------------------------------------------------------------------------------------

StringLower = op('StringLower(input:string) -> (output:string) | encoding: string = ""', shape=same, gradient=FLAT)
StringUpper = op('StringUpper(input:string) -> (output:string) | encoding: string = ""', shape=same, gradient=FLAT)
StringStrip = op("StringStrip(input:string) -> (output:string)", shape=same, gradient=FLAT)


def _is_utf8(encoding: str) -> bool:
    if encoding not in ("", "utf-8"):
        raise invalid(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    return encoding == "utf-8"


@StringLower.kernel
def _(xp, input, *, encoding):
    if _is_utf8(encoding):
        return each(lambda text: text.decode("utf-8", "replace").lower().encode(), input)
    return each(bytes.lower, input, cased, ord("A"))


@StringUpper.kernel
def _(xp, input, *, encoding):
    if _is_utf8(encoding):
        return each(lambda text: text.decode("utf-8", "replace").upper().encode(), input)
    return each(bytes.upper, input, cased, ord("a"))


@StringStrip.kernel
def _(xp, input):
    return each(bytes.strip, input, stripped, recent_texts())


# --- length and parts -------------------------------------------------------------------------------------------------

_UNIT = 'unit: string in ["BYTE","UTF8_CHAR"] = "BYTE"'
StringLength = op(f"StringLength(input:string) -> (output:int32) | {_UNIT}", shape=same, gradient=FLAT)
_INSIDE = bytes(range(0x80, 0xC0))  # bytes inside a UTF-8 character


@StringLength.kernel
def _(xp, input, *, unit):
    counts = np.empty(input.shape, np.int32)
    if looked_at(lengths, input, counts, unit == "UTF8_CHAR"):
        return counts
    texts = input.reshape(-1).tolist()
    if unit == "UTF8_CHAR":
        texts = [text.translate(None, _INSIDE) for text in texts]
    return np.fromiter(map(len, texts), np.int32, len(texts)).reshape(input.shape)


Substr = op(f"Substr(input:string, pos:T, len:T) -> (output:string) | T: type in [int32,int64]; {_UNIT}", gradient=FLAT)


@Substr.shape
def _(input, pos, len):
    if pos.dims is not None and len.dims is not None:
        alike = pos.rank == len.rank and all(a == b or None in (a, b) for a, b in zip(pos.dims, len.dims, strict=True))
        if not alike:
            raise errors.StaticShapeError(
                f"pos and len should have the same shape, got: {show(pos.dims)} vs. {show(len.dims)}"
            )
    try:
        return broadcast_dims(input.dims, pos.dims)
    except ValueError:
        raise errors.StaticShapeError(f"Incompatible shapes: {show(input.dims)} vs. {show(pos.dims)}") from None


@Substr.kernel
def _(xp, input, pos, len, *, unit):
    if pos.shape != len.shape:
        raise invalid(f"pos and len should have the same shape, got: {show(pos.shape)} vs. {show(len.shape)}")
    if unit == "BYTE" and (not pos.ndim or pos.shape == input.shape):
        flat = (np.ascontiguousarray(a, np.int64) for a in (pos, len))
        result = walked(parts, input, *flat, int(pos.ndim > 0), recent_texts())
        if result is not None:
            return result
    texts, starts, counts = np.broadcast_arrays(input, pos, len)
    cut = _cut_characters if unit == "UTF8_CHAR" else _cut_bytes
    rows = zip(texts.reshape(-1).tolist(), starts.reshape(-1).tolist(), counts.reshape(-1).tolist(), strict=True)
    return text_array((cut(*row, at) for at, row in enumerate(rows)), texts.shape)


def _cut_bytes(text: bytes, start: int, count: int, at: int) -> bytes:
    length = len(text)
    if not -length <= start <= length:
        raise invalid(f"pos {start} out of range for string {text[:200]!r} at index {at}")
    if start < 0:
        start += length
    return text[start:] if count < 0 else text[start : start + count]


def _cut_characters(text: bytes, start: int, count: int, at: int) -> bytes:
    starts = [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80]
    length = len(starts)
    if not -length <= start <= length:
        raise invalid(f"pos {start} out of range for string {text[:200]!r} at index {at}")
    if start < 0:
        start += length
    starts.append(len(text))
    stop = min(start + max(count, 0), length)
    return text[starts[start] : starts[stop]]


# --- numbers ----------------------------------------------------------------------------------------------------------

StringToNumber = op(
    "StringToNumber(string_tensor:string) -> (output:out_type)"
    " | out_type: type in [float,double,int32,int64,uint32,uint64] = float",
    shape=same,
    gradient=FLAT,
)
_FLOAT = re.compile(rb"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan(\(\w*\))?)\s*", re.I)
_HEX = re.compile(rb"\s*[+-]?0x[0-9a-f]*\.?[0-9a-f]*(p[+-]?\d+)?\s*", re.I)
_INT = re.compile(rb"\s*[+-]?\d+\s*")


def number_of(text: bytes, dtype: Any) -> Any:
    """Return the number a text spells in this dtype, or None where it spells none."""
    if dtype.is_floating:
        if _FLOAT.fullmatch(text):
            return float(text.partition(b"(")[0])  # nan(…) is a NaN
        try:
            return float.fromhex(text.decode()) if _HEX.fullmatch(text) else None
        except ValueError:
            return None
    if not _INT.fullmatch(text):
        return None
    value = int(text)
    return value if dtype.min <= value <= dtype.max else None


def numbers_of(texts: list[bytes], dtype: Any) -> list[Any]:
    """Return the number each text spells in this dtype, None where it spells none."""
    # Python reads what TensorFlow does, but for underscores, which it also takes, and rarities, which it does not
    if b"_" not in b"".join(texts):
        try:
            numbers = list(map(float if dtype.is_floating else int, texts))
        except ValueError:
            pass
        else:
            if dtype.is_floating or not numbers or (dtype.min <= min(numbers) and max(numbers) <= dtype.max):
                return numbers
    return [number_of(text, dtype) for text in texts]


def _quick_numbers(texts: np.ndarray, dtype: Any) -> np.ndarray | None:
    """Return the numbers that texts of plain digits spell, by machine code; None where it leaves one to others."""
    code = code_for(decimals if dtype.is_floating else wholes, texts)
    if code is None:
        return None
    numbers = np.empty(texts.shape, np.float64 if dtype.is_floating else np.int64)
    powers = (POWERS,) if dtype.is_floating else ()
    if code(texts, texts.size, *powers, numbers) < 0:
        return None
    if not dtype.is_floating and (numbers.min(initial=0) < dtype.min or numbers.max(initial=0) > dtype.max):
        return None
    return numbers.astype(dtype.np)


@StringToNumber.kernel
def _(xp, string_tensor, *, out_type):
    quick = _quick_numbers(string_tensor, out_type)
    if quick is not None:
        return quick
    texts = string_tensor.reshape(-1).tolist()
    numbers = numbers_of(texts, out_type)
    if None in numbers:
        bad = texts[numbers.index(None)]
        raise invalid(f"StringToNumberOp could not correctly convert string: {bad.decode('utf-8', 'replace')}")
    return np.array(numbers, out_type.np).reshape(string_tensor.shape)


# --- base64 -----------------------------------------------------------------------------------------------------------

EncodeBase64 = op("EncodeBase64(input:string) -> (output:string) | pad: bool = false", shape=same, gradient=FLAT)
DecodeBase64 = op("DecodeBase64(input:string) -> (output:string)", shape=same, gradient=FLAT)
_ALPHABET = re.compile(rb"[A-Za-z0-9_-]*")


@EncodeBase64.kernel
def _(xp, input, *, pad):
    encode = base64.urlsafe_b64encode
    return each(encode if pad else lambda text: encode(text).rstrip(b"="), input, base64_encoded, pad, LETTERS)


@DecodeBase64.kernel
def _(xp, input):
    return each(_decoded, input, base64_decoded)


def _decoded(text: bytes) -> bytes:
    bare = text
    if len(text) % 4 == 0:  # only then may it be filled up
        bare = text[:-2] if text.endswith(b"==") else text.removesuffix(b"=")
    if len(bare) % 4 == 1:
        raise invalid("Base64 string length cannot be 1 modulo 4.")
    if not _ALPHABET.fullmatch(bare):
        raise invalid("Invalid character found in base64.")
    try:
        return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))
    except binascii.Error as error:
        raise invalid(f"Invalid base64: {error}") from None


# --- joined along axes ------------------------------------------------------------------------------------------------

ReduceJoin = op(
    "ReduceJoin(inputs:string, reduction_indices:int32) -> (output:string)"
    ' | keep_dims: bool = false; separator: string = ""',
    gradient=FLAT,
)


@ReduceJoin.shape
def _(inputs, reduction_indices, *, keep_dims):
    if inputs.dims is None or reduction_indices.value is None:
        if inputs.dims is not None and keep_dims:
            return (None,) * len(inputs.dims)
        return None
    axes = _joined_axes(reduction_indices.value.reshape(-1).tolist(), len(inputs.dims))
    if keep_dims:
        return tuple(1 if i in axes else n for i, n in enumerate(inputs.dims))
    return tuple(n for i, n in enumerate(inputs.dims) if i not in axes)


def _joined_axes(axes: list[int], rank: int) -> list[int]:
    places: list[int] = []
    for axis in axes:
        if not -rank <= axis < rank:
            raise errors.StaticShapeError(f"Invalid reduction dimension {axis} for input with {rank} dimension(s)")
        if axis % rank in places:
            raise errors.StaticShapeError(f"Duplicate reduction dimension {axis}")
        places.append(axis % rank)
    return places


@ReduceJoin.kernel
def _(xp, inputs, reduction_indices, *, keep_dims, separator):
    if reduction_indices.ndim > 1:
        raise invalid(f"reduction_indices must be a vector, got shape {show(reduction_indices.shape)}")
    places = reduction_indices.reshape(-1).tolist()
    outside = next((axis for axis in places if not -inputs.ndim <= axis < inputs.ndim), None)
    if outside is not None:
        words = f"Invalid reduction dimension {outside} for input with {inputs.ndim} dimension(s)"
        raise errors.OutOfRangeError(None, None, words)
    axes = _joined_axes(places, inputs.ndim)
    if not axes:
        return inputs
    kept = [i for i in range(inputs.ndim) if i not in axes]
    moved = inputs.transpose(kept + axes[::-1])
    shape = moved.shape[: len(kept)]
    rows = moved.reshape(*shape, math.prod(moved.shape[len(kept) :]))
    glue = as_bytes(separator)
    joined = text_array((glue.join(rows[at].tolist()) for at in np.ndindex(shape)), shape)
    return joined.reshape([1 if i in axes else n for i, n in enumerate(inputs.shape)]) if keep_dims else joined


UnsortedSegmentJoin = op(
    "UnsortedSegmentJoin(inputs:string, segment_ids:Tindices, num_segments:Tnumsegments) -> (output:string)"
    ' | separator: string = ""; Tindices: type in [int32,int64]; Tnumsegments: type in [int32,int64] = int32',
    gradient=FLAT,
)


@UnsortedSegmentJoin.shape
def _(inputs, segment_ids, num_segments):
    if inputs.dims is None or segment_ids.dims is None:
        return None
    lead = len(segment_ids.dims)
    if any(a != b and None not in (a, b) for a, b in zip(segment_ids.dims, inputs.dims, strict=False)):
        raise errors.StaticShapeError(
            f"data.shape = {show(inputs.dims)} does not start with segment_ids.shape = {show(segment_ids.dims)}"
        )
    count = num_segments.value
    return (None if count is None else int(count), *inputs.dims[lead:])


@UnsortedSegmentJoin.kernel
def _(xp, inputs, segment_ids, num_segments, *, separator):
    if num_segments.ndim:
        raise invalid("Number of segments must be a scalar")
    count = int(num_segments)
    if count <= 0 and (count < 0 or segment_ids.size):
        raise invalid(f"num_segments must be positive, got {count}")
    if inputs.shape[: segment_ids.ndim] != segment_ids.shape:
        raise invalid(f"data.shape = {show(inputs.shape)} does not start with segment_ids.shape = "
                      f"{show(segment_ids.shape)}")  # fmt: skip
    tail = inputs.shape[segment_ids.ndim :]
    room_for((count, *tail), 8)
    rows = inputs.reshape(segment_ids.size, math.prod(tail))  # -1 would not do for no rows at all
    parts: dict[int, list[Any]] = {}
    for row, segment in enumerate(segment_ids.reshape(-1).tolist()):
        if not 0 <= segment < count:
            raise invalid(f"segment_ids[{row}] = {segment} is out of range [0, {count})")
        parts.setdefault(segment, []).append(rows[row])
    glue = as_bytes(separator)
    result = np.full((count, rows.shape[1]), b"", object)
    for segment, texts in parts.items():
        result[segment] = [glue.join(column) for column in zip(*texts, strict=True)]
    return result.reshape(count, *tail)
