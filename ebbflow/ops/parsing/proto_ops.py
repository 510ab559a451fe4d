"""`tf.io.decode_proto` and `encode_proto`: fields of protocol messages of any type as tensors, and back.

Messages are read and written on the wire, field by field, so that sizes count what was written and bytes are
TensorFlow's. Types of messages come from TensorFlow's own (`local://`, and whatever the program has imported), from a
file of descriptors, or from the text of one (`bytes://`).
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.core.varint import to_varint, varint
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid

DecodeProtoV2 = op(
    "DecodeProtoV2(bytes:string) -> (sizes:int32, values:list(output_types)) | message_type: string; field_names: "
    'list(string); output_types: list(type) >= 0; descriptor_source: string = "local://"; message_format: string = '
    '"binary"; sanitize: bool = false',
    gradient=FLAT,
)
EncodeProto = op(
    "EncodeProto(sizes:int32, values:list(Tinput_types)) -> (bytes:string) | field_names: list(string); message_type: "
    'string; descriptor_source: string = "local://"; Tinput_types: list(type) >= 1',
    gradient=FLAT,
)
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5  # kinds of values on the wire


class _Kind(NamedTuple):
    """How values of a type of field stand on the wire, and as which dtypes they may come."""

    wire: int
    types: str
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]


def _signed(bits: int) -> Callable[[int], int]:
    return lambda n: ((n + (1 << bits - 1)) & ((1 << bits) - 1)) - (1 << bits - 1)


def _fixed(code: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    return (lambda data: struct.unpack(code, data)[0]), (lambda value: struct.pack(code, value))


def _low(bits: int) -> Callable[[int], int]:
    return lambda n: int(n) & ((1 << bits) - 1)


def _zigzag(bits: int) -> Callable[[int], int]:
    return lambda n: ((int(n) << 1) ^ (int(n) >> bits - 1)) & ((1 << bits) - 1)


def _same(value: Any) -> Any:
    return value


_INT32, _INT64, _UINT32 = "int32 int64", "int64", "uint32 uint64"
_KINDS = {
    1: _Kind(FIXED64, "float64", *_fixed("<d")),
    2: _Kind(FIXED32, "float32 float64", *_fixed("<f")),
    3: _Kind(VARINT, _INT64, _signed(64), _low(64)),
    4: _Kind(VARINT, "uint64", _low(64), _low(64)),
    5: _Kind(VARINT, _INT32, _signed(32), _low(64)),
    6: _Kind(FIXED64, "uint64", *_fixed("<Q")),
    7: _Kind(FIXED32, _UINT32, *_fixed("<I")),
    8: _Kind(VARINT, "bool", bool, int),
    9: _Kind(LENGTH, "string", _same, _same),
    11: _Kind(LENGTH, "string", _same, _same),
    12: _Kind(LENGTH, "string", _same, _same),
    13: _Kind(VARINT, _UINT32, _low(32), _low(32)),
    14: _Kind(VARINT, "int32", _signed(32), _low(64)),
    15: _Kind(FIXED32, _INT32, *_fixed("<i")),
    16: _Kind(FIXED64, _INT64, *_fixed("<q")),
    17: _Kind(VARINT, _INT32, lambda n: (n >> 1) ^ -(n & 1), _zigzag(32)),
    18: _Kind(VARINT, _INT64, lambda n: (n >> 1) ^ -(n & 1), _zigzag(64)),
}


# --- types of messages ------------------------------------------------------------------------------------------------


@functools.lru_cache(64)
def _descriptor(message_type: str, source: str) -> Any:
    from google.protobuf import descriptor_pool  # loaded on use, as all of protobuf is

    if source in ("", "local://"):
        pools = [messages.pool(), descriptor_pool.Default()]
    else:
        pools = [_pool_of(source)]
    for pool in pools:
        try:
            return pool.FindMessageTypeByName(message_type)
        except KeyError:
            continue
    raise invalid(f"No descriptor found for message type {message_type} in {source or 'local://'!r}")


def _pool_of(source: str | bytes) -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool
    from google.protobuf.message import DecodeError

    try:
        given = source if isinstance(source, bytes) else source.encode("utf-8", "surrogateescape")
        if given.startswith(b"bytes://"):  # bytes that are no text stay bytes on their way through an attr
            data = given[len(b"bytes://") :]
        else:
            with open(source, "rb") as file:
                data = file.read()
        listed = descriptor_pb2.FileDescriptorSet.FromString(data)
        pool = descriptor_pool.DescriptorPool()
        for file_proto in listed.file:
            pool.Add(file_proto)
    except (OSError, DecodeError, UnicodeError, TypeError) as error:
        raise invalid(f"Source does not represent serialized file descriptor set proto: {source!r} ({error})") from None
    return pool


def _fields(message_type: str, names: Sequence[str], source: str) -> list[tuple[Any, _Kind]]:
    descriptor = _descriptor(message_type, source)
    fields = []
    for name in names:
        field = descriptor.fields_by_name.get(name)
        if field is None:
            raise invalid(f"Unknown field: {name} in message type {message_type}")
        if field.type not in _KINDS:
            raise invalid(f"Field {name} of {message_type} is a group, which has no tensor")
        fields.append((field, _KINDS[field.type]))
    return fields


def _repeats(field: Any) -> bool:
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


# --- reading ----------------------------------------------------------------------------------------------------------


def _word(data: bytes, at: int) -> tuple[int, int]:
    """Read a number as a field holds it: the bits beyond 64 do not count."""
    value, at = varint(data, at)
    return value & ((1 << 64) - 1), at


def _on_wire(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yield the number, the kind and the value of every field."""
    at, size = 0, len(data)
    value: Any
    while at < size:
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == VARINT:
            value, at = _word(data, at)
        elif wire in (FIXED64, FIXED32, LENGTH):
            length = {FIXED64: 8, FIXED32: 4}.get(wire, 0)
            if wire == LENGTH:
                length, at = varint(data, at)
            value, at = data[at : at + length], at + length
            if at > size:
                raise IndexError("a field behind the end")
        else:
            raise IndexError(f"a field of kind {wire}")
        if not tag >> 3:
            raise IndexError("a field with the number 0")
        yield tag >> 3, wire, value


def _unpacked(data: bytes, kind: _Kind) -> Iterator[Any]:
    """Yield the values of a packed field."""
    at, step = 0, {FIXED64: 8, FIXED32: 4}.get(kind.wire, 0)
    while at < len(data):
        if step:
            value: Any = data[at : at + step]
            at += step
            if at > len(data):
                raise IndexError("a packed value behind the end")
        else:
            value, at = _word(data, at)
        yield kind.read(value)


def _decoded(data: bytes, fields: Sequence[tuple[Any, _Kind]]) -> list[list[Any]]:
    """Return the values of each field in a message; of a single one the last."""
    values: list[list[Any]] = [[] for _ in fields]
    places: dict[int, list[int]] = {}
    for i, (field, _) in enumerate(fields):
        places.setdefault(field.number, []).append(i)
    for number, wire, value in _on_wire(data):
        for i in places.get(number, ()):
            field, kind = fields[i]
            if wire == kind.wire:
                values[i] = [*values[i], kind.read(value)] if _repeats(field) else [kind.read(value)]
            elif wire == LENGTH and _repeats(field):
                values[i].extend(_unpacked(value, kind))
            else:
                raise IndexError(f"field {field.name} of kind {wire}")
    return values


@DecodeProtoV2.shape
def _(bytes: Any, *, field_names: Any, output_types: Any) -> Any:
    batch = bytes.dims
    sizes = None if batch is None else (*batch, len(field_names))
    return [sizes, *[None if batch is None else (*batch, None) for _ in output_types]]


@DecodeProtoV2.kernel
def _(
    xp: Any, bytes: Any, *, message_type: str, field_names: Sequence[str], output_types: Any, descriptor_source: str,
    message_format: str, sanitize: bool,
) -> Any:  # fmt: skip
    if len(field_names) != len(output_types):
        raise invalid(f"{len(field_names)} field_names, but {len(output_types)} output_types")
    if message_format not in ("binary", "text"):
        raise invalid(f"Invalid message_format: {message_format}; expected 'binary' or 'text'")
    fields = _fields(message_type, field_names, descriptor_source)
    for (field, kind), dtype in zip(fields, output_types, strict=True):
        if dtype.name not in kind.types.split():
            raise invalid(
                f"Unexpected output type for {message_type}.{field.name}: {dtype.name}; it may be one of {kind.types}"
            )
    rows = []
    for number, data in enumerate(bytes.reshape(-1).tolist()):
        try:
            if message_format == "text":
                data = _from_text(data, message_type, descriptor_source)
            rows.append(_decoded(data, fields))
        except (IndexError, struct.error) as error:
            raise errors.DataLossError(
                None, None, f"message {number} cannot be read as {message_type}: {error or 'it is cut off'}"
            ) from None
    return [
        np.array([[len(values) for values in row] for row in rows], np.int32).reshape(*bytes.shape, len(fields)),
        [_column(rows, i, fields[i], dtype, bytes.shape) for i, dtype in enumerate(output_types)],
    ]


def _from_text(data: bytes, message_type: str, source: str) -> bytes:
    from google.protobuf import message_factory, text_format

    kind = message_factory.GetMessageClass(_descriptor(message_type, source))
    try:
        return text_format.Parse(data, kind()).SerializeToString()
    except text_format.ParseError as error:
        raise errors.DataLossError(None, None, f"not the text of a {message_type}: {error}") from None


def _column(rows: list[Any], i: int, field: tuple[Any, _Kind], dtype: Any, batch: tuple[int, ...]) -> np.ndarray:
    """Return the values of a field of all messages, padded to the longest: with zeros, or the field's default."""
    width = max(1, *[len(row[i]) for row in rows]) if rows else 1
    zero: Any = b"" if dtype is dtypes.string else 0
    if not _repeats(field[0]) and field[0].type != 11:
        default = field[0].default_value
        zero = default.encode() if isinstance(default, str) else default
    column = np.full((len(rows), width), zero, dtype.np)
    for row, target in zip(rows, column, strict=True):
        for k, value in enumerate(row[i]):
            target[k] = value
    return column.reshape(*batch, width)


# --- writing ----------------------------------------------------------------------------------------------------------


def _written(kind: _Kind, value: Any) -> bytes:
    found = kind.write(value)
    if kind.wire == VARINT:
        return to_varint(found)
    return to_varint(len(found)) + found if kind.wire == LENGTH else found


def _encoded(field: Any, kind: _Kind, values: Sequence[Any]) -> bytes:
    """Return the bytes of a field with its values."""
    if not values:
        return b""
    if _repeats(field) and field.is_packed:
        content = b"".join([_written(kind, value) for value in values])
        return to_varint(field.number << 3 | LENGTH) + to_varint(len(content)) + content
    tag = to_varint(field.number << 3 | kind.wire)
    return b"".join([tag + _written(kind, value) for value in values])


@EncodeProto.shape
def _(sizes: Any, *values: Any, **attrs: Any) -> Any:
    return None if sizes.dims is None else sizes.dims[:-1]


@EncodeProto.kernel
def _(
    xp: Any, sizes: Any, values: Any, *, field_names: Sequence[str], message_type: str, descriptor_source: str,
    Tinput_types: Any,
) -> Any:  # fmt: skip
    fields = _fields(message_type, field_names, descriptor_source)
    if len(values) != len(fields):
        raise invalid(f"{len(fields)} field_names, but {len(values)} values")
    batch = values[0].shape[:-1]
    if sizes.shape != (*batch, len(fields)):
        raise invalid(f"sizes should be batch_size + [len(field_names)], got {list(sizes.shape)}")
    for i, ((field, kind), array, dtype) in enumerate(zip(fields, values, Tinput_types, strict=True)):
        if dtype.name not in kind.types.split():
            raise invalid(f"Incompatible type for field {field.name}. Saw dtype: {dtype.name}, expected {kind.types}")
        if array.ndim < 1 or array.shape[:-1] != batch:
            raise invalid(f"Values must match up on batch dimensions: values[{i}] has shape {list(array.shape)}")
        if sizes.size and int(sizes[..., i].max()) > array.shape[-1]:
            raise invalid(f"Size to write must not be larger than value tensor: {int(sizes[..., i].max())} > "
                          f"{array.shape[-1]} for field {field.name}")  # fmt: skip
    order = sorted(range(len(fields)), key=lambda i: fields[i][0].number)
    flat = [array.reshape(-1, array.shape[-1]) for array in values]
    counts = sizes.reshape(-1, len(fields))
    result = np.empty(len(counts), object)
    for row in range(len(counts)):
        parts = [_encoded(*fields[i], flat[i][row, : max(0, int(counts[row, i]))].tolist()) for i in order]
        result[row] = b"".join(parts)
    return result.reshape(batch)


# --- public -----------------------------------------------------------------------------------------------------------


class DecodedProto(NamedTuple):
    """How many values each field of each message has, and the values."""

    sizes: Any
    values: Any


def decode_proto(
    bytes: TensorLike,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[Any],
    descriptor_source: str = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> DecodedProto:
    """Return the sizes and the values of some fields of serialized messages."""
    sizes, values = DecodeProtoV2(
        bytes, message_type=message_type, field_names=list(field_names), descriptor_source=descriptor_source,
        output_types=[dtypes.as_dtype(t) for t in output_types], message_format=message_format, sanitize=sanitize,
        name=name,
    )  # fmt: skip
    return DecodedProto(sizes, values)


def encode_proto(
    sizes: TensorLike,
    values: Sequence[TensorLike],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: str = "local://",
    name: str | None = None,
) -> Tensor:
    """Return serialized messages with these values in their fields."""
    return EncodeProto(
        sizes, list(values), field_names=list(field_names), message_type=message_type,
        descriptor_source=descriptor_source, name=name,
    )  # fmt: skip
