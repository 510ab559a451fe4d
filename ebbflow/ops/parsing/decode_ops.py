"""Ops that turn bytes into numbers and tensors: raw bytes, CSV lines, compressed bytes, messages, JSON; whole files."""

from __future__ import annotations

import base64
import io
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.op import op
from ebbflow.messages.tensors import content_proto, make_ndarray, make_tensor_proto
from ebbflow.ops.declare import FLAT, same, scalar, show, unknown
from ebbflow.ops.sizes import invalid, memory
from ebbflow.ops.strings.arrays import each, text_array
from ebbflow.ops.strings.text_ops import number_of, numbers_of
from ebbflow.platform.files import GFile, makedirs, read_bytes

# --- raw bytes --------------------------------------------------------------------------------------------------------

DecodeRaw = op(
    "DecodeRaw(bytes:string) -> (output:out_type) | out_type: type in [half,float,double,int32,uint16,uint8,int16,"
    "int8,int64,complex64,complex128,bool,bfloat16]; little_endian: bool = true",
    gradient=FLAT,
)
DecodePaddedRaw = op(
    "DecodePaddedRaw(input_bytes:string, fixed_length:int32) -> (output:out_type) | out_type: type in [half,float,"
    "double,int32,uint16,uint8,int16,int8,int64,bfloat16]; little_endian: bool = true",
    gradient=FLAT,
)


@DecodeRaw.shape
def _(bytes):
    return None if bytes.dims is None else (*bytes.dims, None)


@DecodeRaw.kernel
def _(xp, bytes, *, out_type, little_endian):
    texts = bytes.reshape(-1).tolist()
    if not texts:
        return np.zeros((*bytes.shape, 0), out_type.np)
    size, item = len(texts[0]), out_type.size
    other = next((i for i, text in enumerate(texts) if len(text) != size), None)
    if other is not None:
        raise invalid(f"DecodeRaw requires input strings to all be the same size, but element {other} has size "
                      f"{size} != {len(texts[other])}")  # fmt: skip
    if size % item:
        words = f"Input to DecodeRaw has length {size} that is not a multiple of {item}, the size of {out_type.name}"
        raise invalid(words)
    return _numbers(b"".join(texts), out_type, little_endian).reshape(*bytes.shape, size // item)


def _numbers(data: bytes, dtype: Any, little_endian: bool) -> np.ndarray:
    if dtype is dtypes.bool:
        return np.frombuffer(data, np.uint8) != 0
    array = np.frombuffer(data, dtype.np)
    if little_endian or dtype.size == 1:
        return array
    part = dtype.size // 2 if dtype.is_complex else dtype.size
    turned = np.frombuffer(data, np.uint8).reshape(-1, part)[:, ::-1].tobytes()
    return np.frombuffer(turned, dtype.np)


@DecodePaddedRaw.shape
def _(input_bytes, fixed_length, *, out_type):
    length = fixed_length.value
    width = int(length.reshape(-1)[0]) // out_type.size if length is not None and length.size == 1 else None
    return None if input_bytes.dims is None else (*input_bytes.dims, width)


@DecodePaddedRaw.kernel
def _(xp, input_bytes, fixed_length, *, out_type, little_endian):
    if fixed_length.size != 1:
        raise invalid(f"fixed_length must be a scalar, got shape {show(fixed_length.shape)}")
    length = int(fixed_length.reshape(-1)[0])
    if length <= 0 or length % out_type.size:
        raise invalid(f"fixed_length ({length}) must be a multiple of the size of out_type ({out_type.size})")
    padded = b"".join([text[:length].ljust(length, b"\0") for text in input_bytes.reshape(-1).tolist()])
    width = length // out_type.size
    if not padded:
        return np.zeros((*input_bytes.shape, width), out_type.np)
    return _numbers(padded, out_type, little_endian).reshape(*input_bytes.shape, width)


# --- CSV --------------------------------------------------------------------------------------------------------------

_WORDS = {dtypes.float32: "float", dtypes.float64: "double"}
"""Dtypes that messages about fields call otherwise than they are named."""

DecodeCSV = op(
    "DecodeCSV(records:string, record_defaults:list(OUT_TYPE)) -> (output:list(OUT_TYPE)) | OUT_TYPE: list(type) in"
    ' [float,double,int32,int64,string] >= 1; field_delim: string = ","; use_quote_delim: bool = true;'
    ' na_value: string = ""; select_cols: list(int) = []',
    gradient=FLAT,
)


@DecodeCSV.shape
def _(records, record_defaults):
    for i, default in enumerate(record_defaults):
        if default.rank is not None and default.rank > 1:
            raise errors.StaticShapeError(
                f"Shape must be at most rank 1 but is rank {default.rank} for the default {i}"
            )
        if default.dims and default.dims[0] is not None and default.dims[0] > 1:
            raise errors.StaticShapeError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return [records.dims] * len(record_defaults)


@DecodeCSV.kernel
def _(xp, records, record_defaults, *, OUT_TYPE, field_delim, use_quote_delim, na_value, select_cols):
    if len(field_delim) != 1:
        raise invalid(f"field_delim should be only 1 char, got {field_delim!r}")
    for i, default in enumerate(record_defaults):
        if default.ndim > 1:
            raise invalid(f"Each record default should be at most rank 1, that of field {i} has rank {default.ndim}")
        if default.size > 1:
            raise invalid(f"There should only be 1 default per field but field {i} has {default.size}")
    if sorted(set(select_cols)) != list(select_cols) or any(n < 0 for n in select_cols):
        raise invalid(f"select_cols should be strictly increasing indices, got {list(select_cols)}")
    if select_cols and len(select_cols) != len(OUT_TYPE):
        raise invalid(f"select_cols should match output size: {len(select_cols)} and {len(OUT_TYPE)}")
    texts = records.reshape(-1).tolist()
    delimiter = field_delim.encode("latin-1")
    split = _quoted if use_quote_delim else lambda text, d: text.split(d) if text else []
    rows = [_chosen(split(text, delimiter), select_cols, len(OUT_TYPE), i) for i, text in enumerate(texts)]
    missing = na_value.encode()
    made = []
    for i, (dtype, default) in enumerate(zip(OUT_TYPE, record_defaults, strict=True)):
        column = _column([row[i] for row in rows], dtype, default, missing, i)
        array = text_array(column, records.shape) if dtype is dtypes.string else np.array(column, dtype.np)
        made.append(array.reshape(records.shape))
    return made


def _chosen(fields: list[bytes], select: Any, count: int, record: int) -> list[bytes]:
    if select:
        if len(fields) <= select[-1]:
            there = sum(i < len(fields) for i in select)
            raise invalid(f"Expect {count} fields but have {there} in record {record}: it has {len(fields)} in all")
        return [fields[i] for i in select]
    if len(fields) != count:
        raise invalid(f"Expect {count} fields but have {len(fields)} in record {record}")
    return fields


def _column(fields: list[bytes], dtype: Any, default: np.ndarray, missing: bytes, i: int) -> list[Any]:
    """Return the values of a column of fields."""
    if b"" not in fields and missing not in fields:
        values = fields if dtype is dtypes.string else numbers_of(fields, dtype)
        if None not in values:
            return values
    return [_field(field, dtype, default, missing, i, record) for record, field in enumerate(fields)]


def _field(field: bytes, dtype: Any, default: np.ndarray, missing: bytes, i: int, record: int) -> Any:
    if not field or field == missing:
        if not default.size:
            raise invalid(f"Field {i} is required but missing in record {record}!")
        return default.reshape(-1)[0]
    if dtype is dtypes.string:
        return field
    value = number_of(field, dtype)
    if value is None:
        shown = field.decode("utf-8", "replace")
        raise invalid(f"Field {i} in record {record} is not a valid {_WORDS.get(dtype, dtype.name)}: {shown}")
    return value


def _quoted(text: bytes, delimiter: bytes) -> list[bytes]:
    """Return the fields of a line; one in quotes may hold delimiters, line ends and doubled quotes."""
    if b'"' not in text and b"\n" not in text and b"\r" not in text:
        return text.split(delimiter) if text else []
    fields, at, end = [], 0, len(text)
    while at < end:
        if text[at : at + 1] == b'"':
            field, at = _in_quotes(text, at + 1, delimiter)
        else:
            stop = text.find(delimiter, at)
            stop = end if stop < 0 else stop
            field, at = text[at:stop], stop
            if any(sign in field for sign in (b'"', b"\n", b"\r")):
                raise invalid("Unquoted fields cannot have quotes/CRLFs inside")
        fields.append(field)
        at += 1
    if text.endswith(delimiter):
        fields.append(b"")
    return fields


def _in_quotes(text: bytes, at: int, delimiter: bytes) -> tuple[bytes, int]:
    field = b""
    while True:
        stop = text.find(b'"', at)
        if stop < 0:
            raise invalid("Quoted field has to end with quote followed by delim or end")
        field += text[at:stop]
        follower = text[stop + 1 : stop + 2]
        if follower == b'"':
            field += b'"'
            at = stop + 2
        elif not follower or follower == delimiter:
            return field, stop + 1
        else:
            raise invalid("Quote inside a string has to be escaped by another quote")


# --- compressed bytes -------------------------------------------------------------------------------------------------

DecodeCompressed = op(
    'DecodeCompressed(bytes:string) -> (output:string) | compression_type: string = ""', shape=same, gradient=FLAT
)
LARGEST, STEP = 1 << 31, 1 << 24
"""Bytes that one text may grow to, and that are inflated before it is looked at how many they are."""


@DecodeCompressed.kernel
def _(xp, bytes, *, compression_type):
    if compression_type == "":
        return bytes
    if compression_type not in ("ZLIB", "GZIP"):
        raise invalid(f"Only ZLIB, GZIP or NONE are supported compressions, got {compression_type!r}")
    window = 15 if compression_type == "ZLIB" else 31
    return each(lambda text: _inflated(text, window), bytes)


def _inflated(text: bytes, window: int) -> bytes:
    """Return inflated bytes; of those that are cut short, as TensorFlow, what is there."""
    most, whole = min(LARGEST, memory() // 2), io.BytesIO()
    try:
        while text:
            reader = zlib.decompressobj(window)
            while text and not reader.eof:
                if whole.write(reader.decompress(text, STEP)) and whole.tell() > most:
                    words = f"the bytes grow beyond {most} when they are inflated"
                    raise errors.ResourceExhaustedError(None, None, words)
                text = reader.unconsumed_tail
            text = reader.unused_data if window == 31 else b""  # a file of gzip may have several parts
    except zlib.error as error:
        raise errors.DataLossError(None, None, f"inflate() failed: {error}") from None
    return whole.getvalue()


# --- messages ---------------------------------------------------------------------------------------------------------

SerializeTensor = op("SerializeTensor(tensor:T) -> (serialized:string) | T: type", shape=scalar, gradient=FLAT)
ParseTensor = op("ParseTensor(serialized:string) -> (output:out_type) | out_type: type", shape=unknown, gradient=FLAT)


def _one(text: bytes) -> np.ndarray:
    box = np.empty((), object)
    box[()] = text
    return box


@SerializeTensor.kernel
def _(xp, tensor, *, T):
    if T is dtypes.variant:
        return _one(write_variants[0](tensor))
    if T is dtypes.resource:
        raise invalid("a handle means something in this process only: it cannot be serialized")
    proto = make_tensor_proto(tensor, T) if T is dtypes.string else content_proto(tensor, T)
    return _one(proto.SerializeToString())


@ParseTensor.kernel
def _(xp, serialized, *, out_type):
    if serialized.ndim:
        raise invalid(f"Expected `serialized` to be a scalar, got shape: {show(serialized.shape)}")
    proto = messages.TensorProto()
    try:
        proto.ParseFromString(serialized.item())
    except Exception:  # protobuf's own error class
        shown = base64.b64encode(serialized.item()[:64]).decode()
        raise invalid(f"Could not parse `serialized` as TensorProto, base64: {shown}") from None
    found = dtypes.as_dtype(proto.dtype)
    if found is not out_type:
        raise invalid(f"Type mismatch between parsed tensor ({found.name}) and dtype ({out_type.name})")
    return read_variants[0](serialized.item(), "serialized") if found is dtypes.variant else make_ndarray(proto)


read_variants: list[Callable[[bytes, str], np.ndarray]] = []
write_variants: list[Callable[[np.ndarray], bytes]] = []
"""How a tensor of variants is read and written, once somebody knows (`data.element_records`)."""


DecodeJSONExample = op("DecodeJSONExample(json_examples:string) -> (binary_examples:string)", shape=same, gradient=FLAT)


@DecodeJSONExample.kernel
def _(xp, json_examples):
    return each(_from_json, json_examples)


def _from_json(text: bytes) -> bytes:
    from google.protobuf import json_format  # heavy, and needed only here

    try:
        return json_format.Parse(text, messages.Example()).SerializeToString()
    except (json_format.ParseError, UnicodeDecodeError) as error:
        raise invalid(f"Error while parsing JSON: {error}") from None


# --- files ------------------------------------------------------------------------------------------------------------

ReadFile = op("ReadFile(filename:string) -> (contents:string)", shape=scalar, gradient=FLAT)
WriteFile = op("WriteFile(filename:string, contents:string) -> () | stateful", gradient=FLAT)


@WriteFile.shape
def _(filename, contents):
    return []


def _name(filename: np.ndarray, what: str = "Input filename") -> str:
    if filename.ndim:
        raise invalid(f"{what} tensor must be scalar, but had shape: {show(filename.shape)}")
    return filename.item().decode("utf-8", "surrogateescape")


@ReadFile.kernel
def _(xp, filename):
    return _one(read_bytes(_name(filename)))


@WriteFile.kernel
def _(xp, filename, contents):
    name = _name(filename)
    if contents.ndim:
        raise invalid(f"Contents tensor must be scalar, but had shape: {show(contents.shape)}")
    folder = name.rpartition("/")[0]
    if folder:
        makedirs(folder)
    with GFile(name, "wb") as file:
        file.write(contents.item())
    return ()
