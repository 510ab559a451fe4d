"""Checkpoints of the first format: a sorted table with the tensors in it, in one file or one for each shard.

The entry under the empty key lists the tensors and their slices; each slice is a message with its values. Files match
`PREFIX` or a pattern such as `PREFIX-?????-of-00002`. Reads and writes them; knows nothing of variables.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.dtypes import DType
from ebbflow.io import tensor_slices
from ebbflow.io.bundle import not_found
from ebbflow.io.bundle_writer import write_atomically
from ebbflow.io.sorted_table import is_table, read_table, table_bytes
from ebbflow.io.tensor_slices import Shape, Slice
from ebbflow.messages.tensors import make_ndarray, make_tensor_proto
from ebbflow.platform.file_systems import system_of

VERSION = 1


def matching_files(pattern: str) -> list[str]:
    """Return the files that a pattern names."""
    system, name = system_of(pattern)
    return [path for path in system.glob(name) if not system.isdir(path)]


class OldReader:
    """The tensors of a checkpoint of the first format."""

    def __init__(self, pattern: str | os.PathLike[str]):
        self.prefix = os.fspath(pattern)
        files = matching_files(self.prefix)
        if not files:
            raise not_found(self.prefix)
        self._tensors: dict[str, Any] = {}
        self._stored: dict[bytes, tuple[str, bytes]] = {}
        for path in files:
            if not is_table(path):
                raise errors.DataLossError(
                    None, None, f"Unable to open table file {path}: Data loss: not an sstable (bad magic number): "
                    "perhaps your file is in a different file format and you need to use a different restore operator?",
                )  # fmt: skip
            self._take(path)
        self.names = sorted(self._tensors)

    def _take(self, path: str) -> None:
        table = read_table(path)
        meta = messages.parse(messages.SavedTensorSlices, table.pop(b"", b""), path).meta
        for tensor in meta.tensor:
            self._check(tensor, path)
            known = self._tensors.get(tensor.name)
            if known is None:
                self._tensors[tensor.name] = tensor
            elif known.shape != tensor.shape or known.type != tensor.type:
                raise errors.DataLossError(None, None, f"{path}: {tensor.name} has another shape or dtype elsewhere")
            else:
                known.slice.extend(tensor.slice)
        self._stored.update({key: (path, data) for key, data in table.items()})

    def _check(self, tensor: Any, path: str) -> None:
        shape = [d.size for d in tensor.shape.dim]
        if min(shape, default=0) < 0 or math.prod(shape) >= 1 << 63:
            raise errors.DataLossError(None, None, f"{path}: {tensor.name} has impossible shape {shape}")
        for part in tensor.slice:
            pairs = tensor_slices.settled(tensor_slices.from_message(part), shape)
            if len(part.extent) != len(shape) or any(s < 0 or n < 0 or s + n > d for (s, n), d in zip(pairs, shape)):
                raise errors.DataLossError(None, None, f"{path}: a slice of {tensor.name} is not inside {shape}")

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def dtype_of(self, name: str) -> DType:
        """Return a tensor's dtype."""
        return dtypes.as_dtype(self._tensor(name).type)

    def shape_of(self, name: str) -> Shape:
        """Return a tensor's shape."""
        return tuple(d.size for d in self._tensor(name).shape.dim)

    def bytes_of(self, name: str) -> int:
        """Return how many bytes a tensor takes in memory."""
        return math.prod(self.shape_of(name)) * self.dtype_of(name).np.itemsize

    def mapped(self, name: str) -> np.ndarray:
        """Return a tensor's value; this format cannot be looked at without reading it."""
        return self.read(name)

    def _tensor(self, name: str) -> Any:
        tensor = self._tensors.get(name)
        if tensor is None:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint files {self.prefix}")
        return tensor

    def read(self, name: str, part: Slice | None = None) -> np.ndarray:
        """Return a tensor's value, or a part of it, put together from the slices that are there."""
        shape = self.shape_of(name)
        wanted = tensor_slices.settled(part or tuple((0, tensor_slices.WHOLE) for _ in shape), shape)
        size = tensor_slices.elements(wanted)
        result, covered = None, 0
        for message in self._tensor(name).slice:
            stored = tensor_slices.from_message(message)
            filled = tensor_slices.settled(stored, shape)
            both = tensor_slices.common(filled, wanted)
            if both is None:
                continue
            value = self._slice(name, stored, [n for _, n in filled])
            if result is None:
                result = np.empty([n for _, n in wanted], value.dtype)
            source = tuple((s - o, n) for (s, n), (o, _) in zip(both, filled))
            target = tuple((s - o, n) for (s, n), (o, _) in zip(both, wanted))
            result[tensor_slices.places(target)] = value[tensor_slices.places(source)]
            covered += tensor_slices.elements(both)
        if covered < size:
            raise errors.NotFoundError(
                None, None, f"Checkpoint files {self.prefix} have {covered} of the {size} elements of {name} asked for"
            )
        return np.empty([n for _, n in wanted], self.dtype_of(name).np) if result is None else result

    def _slice(self, name: str, part: Slice, shape: list[int]) -> np.ndarray:
        path, data = self._stored.get(tensor_slices.key_of(name.encode(), part), ("", b""))
        if not path:
            raise errors.DataLossError(None, None, f"{self.prefix}: slice {part} of {name} is missing")
        proto = messages.parse(messages.SavedTensorSlices, data, path).data.data
        dtype = self.dtype_of(name)
        del proto.tensor_shape.dim[:]
        for n in shape:
            proto.tensor_shape.dim.add(size=n)
        if not proto.dtype:
            proto.dtype = dtype.as_datatype_enum
        count = math.prod(shape)
        if count > max(len(data), 1) and not proto.tensor_content:
            raise errors.DataLossError(None, None, f"{path}: {len(data)} bytes cannot hold {count} values of {name}")
        value = make_ndarray(proto)
        if value.dtype != dtype.np and dtype is not dtypes.string:
            raise errors.DataLossError(None, None, f"{path}: {name} is stored as {value.dtype}, listed as {dtype.name}")
        return value


class OldWriter:
    """Writes a checkpoint of the first format; nothing is there before `finish`."""

    def __init__(self, path: str):
        self.path = path
        self._meta: dict[str, Any] = {}
        self._table: dict[bytes, bytes] = {}

    def add(self, name: str, shape: Shape, part: Slice, array: np.ndarray, dtype: DType) -> None:
        """Add a slice of a tensor of that shape."""
        meta = self._meta.get(name)
        if meta is None:
            meta = messages.SavedSliceMeta(name=name, type=dtype.as_datatype_enum)
            meta.shape.SetInParent()
            for n in shape:
                meta.shape.dim.add(size=n)
            self._meta[name] = meta
        message = tensor_slices.to_message(part)
        meta.slice.append(message)
        key = tensor_slices.key_of(name.encode(), part)
        if key in self._table:
            raise errors.InvalidArgumentError(None, None, f"Adding duplicate slice {part} of {name}")
        saved = messages.SavedTensorSlices()
        saved.data.name = name
        saved.data.slice.CopyFrom(message)
        saved.data.data.CopyFrom(_as_values(array, dtype))
        self._table[key] = messages.serialize(saved)

    def finish(self) -> None:
        """Write the file."""
        first = messages.SavedTensorSlices()
        for meta in self._meta.values():
            first.meta.tensor.append(meta)
        first.meta.versions.producer = VERSION
        table = [(b"", messages.serialize(first)), *sorted(self._table.items())]
        write_atomically(self.path, table_bytes(table))


def _as_values(array: np.ndarray, dtype: DType) -> Any:
    """Return an array as a message with its values one by one, as this format has them."""
    proto = make_tensor_proto(array, dtype)
    if proto.tensor_content:
        raw = array.reshape(-1)
        proto.ClearField("tensor_content")
        field, values = _VALUES[dtype.name](raw)
        getattr(proto, field).extend(values)
    proto.ClearField("tensor_shape")
    proto.ClearField("version_number")
    return proto


def _ints(raw: np.ndarray) -> tuple[str, Any]:
    return "int_val", raw.astype(np.int64).tolist()


def _pairs(field: str, real: Any) -> Any:
    return lambda raw: (field, raw.view(real).tolist())


_VALUES: dict[str, Any] = {
    "float32": lambda raw: ("float_val", raw.tolist()),
    "float64": lambda raw: ("double_val", raw.tolist()),
    "int64": lambda raw: ("int64_val", raw.tolist()),
    "uint64": lambda raw: ("uint64_val", raw.tolist()),
    "uint32": lambda raw: ("uint32_val", raw.tolist()),
    "bool": lambda raw: ("bool_val", raw.tolist()),
    "float16": lambda raw: ("half_val", raw.view(np.uint16).tolist()),
    "bfloat16": lambda raw: ("half_val", raw.view(np.uint16).tolist()),
    "complex64": _pairs("scomplex_val", np.float32),
    "complex128": _pairs("dcomplex_val", np.float64),
    **dict.fromkeys(("int32", "int16", "int8", "uint8", "uint16"), _ints),
    **dict.fromkeys(("qint8", "quint8", "qint16", "quint16", "qint32"), _ints),
}
