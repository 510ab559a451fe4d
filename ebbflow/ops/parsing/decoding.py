"""The public functions of `tf.io` beside examples: raw bytes, CSV, compressed bytes, tensors as messages, files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, Effect, TensorLike
from ebbflow.ops.declare import raw


def decode_raw(
    input_bytes: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the numbers whose bytes texts are; with a fixed length, texts are cut or filled up to it.

    >>> decode_raw(b"abcd", dtypes.uint8).numpy().tolist()
    [97, 98, 99, 100]
    """
    if fixed_length is not None:
        return raw.DecodePaddedRaw(
            input_bytes, fixed_length, out_type=out_type, little_endian=little_endian, name=name
        )  # fmt: skip
    return raw.DecodeRaw(input_bytes, out_type=out_type, little_endian=little_endian, name=name)


def decode_raw_v1(
    input_bytes: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: TensorLike | None = None,
) -> Tensor:
    r"""Return the numbers whose bytes texts are, as TF 1 names the arguments.

    >>> from ebbflow.core import dtypes
    >>> decode_raw_v1(b"\x01\x00\x02\x00", dtypes.int16).numpy().tolist()
    [1, 2]
    """
    if (input_bytes is None) == (bytes is None):
        raise ValueError("give either 'input_bytes' or 'bytes', its old name")
    if out_type is None:
        raise ValueError("decode_raw() missing 1 positional argument: 'out_type'")
    return raw.DecodeRaw(bytes if input_bytes is None else input_bytes, out_type=out_type,
                         little_endian=little_endian, name=name)  # fmt: skip


def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[Any] | None = None,
    name: str | None = None,
) -> list[Any]:
    """Return the columns of lines of CSV, of the types of their defaults; an empty default must not be needed.

    >>> [x.numpy().tolist() for x in decode_csv(["1,a", "2,"], [[0], ["?"]])]
    [[1, 2], [b'a', b'?']]
    """
    if select_cols is not None and sorted(set(select_cols)) != list(select_cols):
        raise ValueError(f"select_cols is not strictly increasing: {list(select_cols)}")
    if select_cols is not None and min(select_cols, default=0) < 0:
        raise ValueError(f"select_cols contains negative values. Received: {list(select_cols)}")
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError(
            f"Length of select_cols and record_defaults do not match. Received: {len(select_cols)} and "
            f"{len(record_defaults)}"
        )
    return raw.DecodeCSV(
        convert(records, dtypes.string), [convert(default) for default in record_defaults], field_delim=field_delim,
        use_quote_delim=use_quote_delim, na_value=na_value, select_cols=list(select_cols or []), name=name,
    )  # fmt: skip


def decode_csv_v1(
    records: TensorLike,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[Any] | None = None,
) -> list[Any]:
    """Return the columns of lines of CSV, as TF 1 orders the arguments."""
    return decode_csv(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols, name)


def decode_compressed(bytes: TensorLike, compression_type: str = "", name: str | None = None) -> Tensor:
    """Return what texts say that ZLIB or GZIP compressed."""
    return raw.DecodeCompressed(bytes, compression_type=compression_type, name=name)


def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Return examples written as JSON in the wire format."""
    return raw.DecodeJSONExample(json_examples, name=name)


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Return a tensor as the bytes of a TensorProto."""
    return raw.SerializeTensor(tensor, name=name)


def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """Return the tensor that the bytes of a TensorProto hold.

    >>> parse_tensor(serialize_tensor([1, 2]), dtypes.int32).numpy().tolist()
    [1, 2]
    """
    return raw.ParseTensor(serialized, out_type=out_type, name=name)


def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """Return the bytes of a file."""
    return raw.ReadFile(filename, name=name)


def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> Effect:
    """Write bytes to a file, whose folders are made where they are missing."""
    return raw.WriteFile(filename, contents, name=name)
