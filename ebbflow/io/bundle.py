"""TensorBundle: tensors by name in `PREFIX.index` and `PREFIX.data-00000-of-00001`, as checkpoints hold them.

Reads them, whole or in part, put together from the slices of partitioned variables where they were saved so. The index
is read and checked at once, data only when it is asked for; every checksum is checked. A save that was killed half way
through replacing a checkpoint left `.pending` files (see `bundle_writer`): they are what it had decided on. Knows the
format; knows nothing of variables.
"""

from __future__ import annotations

import difflib
import itertools
import math
import mmap
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors, memory
from ebbflow.core.dtypes import DType
from ebbflow.core.varint import varint
from ebbflow.io import tensor_slices, variants
from ebbflow.io.records import crc32c, file_errors, masked, masked_crc32c, open_file
from ebbflow.io.sorted_table import read_table
from ebbflow.io.tensor_slices import Shape, Slice
from ebbflow.platform import files
from ebbflow.platform.file_systems import LOCAL, system_of

PENDING = ".pending"
_CHUNK = 1 << 21  # bytes that are read, and checked while they are near
LARGEST_RANK = 254


def index_path(prefix: str) -> str:
    """Return the path of a bundle's index."""
    return prefix + ".index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    """Return the path of one of a bundle's data files.

    >>> data_path("m", 0, 1)
    'm.data-00000-of-00001'
    """
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def pending_index(prefix: str) -> str | None:
    """Return the index that a killed save had decided on but not yet put in its place, if there is one."""
    path, pending = index_path(prefix), index_path(prefix) + PENDING
    system, name = system_of(pending)
    if not system.exists(name):
        return None
    with file_errors(pending):
        if system.exists(system_of(path)[1]) and system.stat(system_of(path)[1])[1] > system.stat(name)[1]:
            return None  # somebody else has written this checkpoint since
    return pending


def bundle_exists(prefix: str) -> bool:
    """Return whether there is a bundle of that prefix."""
    system, name = system_of(index_path(prefix))
    return system.exists(name) or pending_index(prefix) is not None


class Entry:
    """What the index says of one tensor."""

    __slots__ = ("crc", "dtype", "offset", "shape", "shard", "size", "slices")

    def __init__(self, message: Any, what: str):
        try:
            self.dtype: DType = dtypes.as_dtype(message.dtype)
        except TypeError:
            raise errors.DataLossError(None, None, f"{what}: unknown dtype {message.dtype}") from None
        self.shape: Shape = tuple(d.size for d in message.shape.dim)
        self.shard, self.offset, self.size = message.shard_id, message.offset, message.size
        self.crc = message.crc32c
        self.slices: list[Slice] = [tensor_slices.from_message(part) for part in message.slices]
        self._check(what)

    def _check(self, what: str) -> None:
        shape = list(self.shape)
        if len(shape) > LARGEST_RANK or min(shape, default=0) < 0 or math.prod(shape) >= 1 << 63:
            raise errors.DataLossError(None, None, f"{what}: impossible shape {shape}")
        if self.slices:
            return
        if self.offset < 0 or self.size < 0 or self.shard < 0:
            raise errors.DataLossError(
                None, None, f"{what}: negative offset, size or shard ({self.offset}, {self.size}, {self.shard})"
            )
        count = math.prod(shape)
        if self.dtype is dtypes.string or self.dtype in (dtypes.variant, dtypes.resource):
            if count > self.size:
                raise errors.DataLossError(None, None, f"{what}: {count} strings in {self.size} bytes")
        elif count * self.dtype.np.itemsize != self.size:
            raise errors.DataLossError(None, None, f"{what}: {self.size} bytes for shape {shape} of {self.dtype.name}")


class BundleReader:
    """The tensors of a checkpoint."""

    def __init__(self, prefix: str | os.PathLike[str]):
        self.prefix = os.fspath(prefix)
        path = pending_index(self.prefix)
        self._pending = path is not None
        if path is None:
            path = index_path(self.prefix)
            system, name = system_of(path)
            if not system.exists(name):
                raise not_found(self.prefix)
        self._index = path
        table = read_table(path)
        if b"" not in table:
            raise errors.DataLossError(None, None, f"{path}: no header entry")
        header = messages.parse(messages.BundleHeaderProto, table.pop(b""), path)
        self._big_endian = header.endianness == 1
        self._shards = header.num_shards
        if self._shards <= 0:
            raise errors.DataLossError(None, None, f"{path}: num_shards is {self._shards}")
        self._entries = {key: self._entry_of(key, data) for key, data in table.items()}
        self.names = [key.decode("utf-8", "replace") for key in self._entries if not key.startswith(b"\0")]
        self._check_ranges()
        self._maps: dict[int, Any] = {}

    def _entry_of(self, key: bytes, data: bytes) -> Entry:
        what = f"{self._index}: entry {key.decode('utf-8', 'replace')!r}"
        entry = Entry(messages.parse(messages.BundleEntryProto, data, what), what)
        if entry.shard >= self._shards:
            raise errors.DataLossError(None, None, f"{what}: shard {entry.shard} of {self._shards}")
        return entry

    def _check_ranges(self) -> None:
        """See that no two tensors share bytes, and that slices lie in their tensors, apart from each other."""
        pieces = sorted((e.shard, e.offset, e.offset + e.size, key) for key, e in self._entries.items()
                        if e.size and not e.slices)  # fmt: skip
        for (shard, _, end, key), (next_shard, start, _, other) in itertools.pairwise(pieces):
            if shard == next_shard and start < end:
                raise errors.DataLossError(
                    None, None, f"{self._index}: entries {_word(key)} and {_word(other)} overlap at byte {start} of "
                    f"{data_path(self.prefix, shard, self._shards)}",
                )  # fmt: skip
        for key, entry in self._entries.items():
            if entry.slices:
                self._check_slices(key, entry)

    def _check_slices(self, key: bytes, entry: Entry) -> None:
        what = f"{self._index}: slices of {_word(key)}"
        parts = []
        for part in entry.slices:
            if len(part) != len(entry.shape):
                raise errors.DataLossError(None, None, f"{what} have rank {len(part)}, the tensor {len(entry.shape)}")
            filled = tensor_slices.settled(part, entry.shape)
            if any(s < 0 or n < 0 or s + n > size for (s, n), size in zip(filled, entry.shape)):
                raise errors.DataLossError(None, None, f"{what}: {part} is not inside {list(entry.shape)}")
            stored = self._entries.get(tensor_slices.key_of(key, part))
            if stored is None:
                raise errors.DataLossError(None, None, f"{what}: {part} is missing")
            if stored.shape != tensor_slices.shape_of(part, entry.shape) or stored.dtype is not entry.dtype:
                raise errors.DataLossError(
                    None, None, f"{what}: {part} is stored as {stored.dtype.name} {list(stored.shape)}"
                )
            parts.append(filled)
        _check_apart(parts, what)

    # --- what is there ------------------------------------------------------------------------------------------------

    def __contains__(self, name: str) -> bool:
        return name.encode() in self._entries

    def dtype_of(self, name: str) -> DType:
        """Return a tensor's dtype."""
        return self._entry(name).dtype

    def shape_of(self, name: str) -> Shape:
        """Return a tensor's shape."""
        return self._entry(name).shape

    def bytes_of(self, name: str) -> int:
        """Return how many bytes a tensor takes."""
        entry = self._entry(name)
        return math.prod(entry.shape) * entry.dtype.np.itemsize if entry.slices else entry.size

    def _entry(self, name: str) -> Entry:
        entry = self._entries.get(name.encode())
        if entry is None:
            near = nearest(name, self.names)
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint {self.prefix}{near}")
        return entry

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self, name: str, part: Slice | None = None) -> np.ndarray:
        """Return a tensor's value, or a part of it."""
        entry = self._entry(name)
        wanted = None if part is None or tensor_slices.is_full(part) else tensor_slices.settled(part, entry.shape)
        if not entry.slices:
            whole = self._read(entry, name)
            return whole if wanted is None else memory.copied(whole[tensor_slices.places(wanted)])
        return self._assembled(name, entry, wanted or tuple((0, n) for n in entry.shape))

    def _assembled(self, name: str, entry: Entry, wanted: Slice) -> np.ndarray:
        """Return a part of a tensor that is stored in slices; only those it touches are read."""
        pieces = []
        for part in entry.slices:
            filled = tensor_slices.settled(part, entry.shape)
            both = tensor_slices.common(filled, wanted)
            if both is not None:
                stored = self._entries[tensor_slices.key_of(name.encode(), part)]
                self._check_inside(stored, name)
                pieces.append((filled, both, stored))
        covered, asked = sum(tensor_slices.elements(both) for _, both, _ in pieces), tensor_slices.elements(wanted)
        if covered != asked:  # before memory is taken: the shape may be anything
            raise errors.DataLossError(
                None, None, f"{self._index}: slices of {name} have {covered} of the {asked} elements asked for"
            )
        result = memory.empty([n for _, n in wanted], entry.dtype.np) if entry.dtype is not dtypes.string else (
            np.empty([n for _, n in wanted], object)
        )  # fmt: skip
        for filled, both, stored in pieces:
            value = self._read(stored, name)
            source = tuple((s - o, n) for (s, n), (o, _) in zip(both, filled))
            target = tuple((s - o, n) for (s, n), (o, _) in zip(both, wanted))
            result[tensor_slices.places(target)] = value[tensor_slices.places(source)]
        return result

    def _check_inside(self, entry: Entry, name: str) -> None:
        """Refuse an entry that says its bytes lie where its file has none."""
        with open_file(self._data_path(entry.shard), "rb") as file:
            length = file.seek(0, os.SEEK_END)
        if entry.offset + entry.size > length:
            raise self._outside(entry, name, length)

    def mapped(self, name: str) -> np.ndarray:
        """Return a tensor as a read-only view of the file, of which only what is looked at is read.

        Nothing is copied and no checksum is checked. Strings, slices and remote files are read as `read` does.
        """
        entry = self._entry(name)
        system = system_of(self.prefix)[0]
        in_pieces = entry.slices or entry.dtype in (dtypes.string, dtypes.variant)
        if in_pieces or self._big_endian or system is not LOCAL or not entry.size:
            return self.read(name)
        if entry.shard not in self._maps:
            with open_file(self._data_path(entry.shard), "rb") as file:
                self._maps[entry.shard] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        whole = self._maps[entry.shard]
        if entry.offset + entry.size > len(whole):
            raise self._outside(entry, name, len(whole))
        count = math.prod(entry.shape)
        return np.frombuffer(whole, entry.dtype.np, count, entry.offset).reshape(entry.shape)

    def _data_path(self, shard: int) -> str:
        path = data_path(self.prefix, shard, self._shards)
        if self._pending:
            system, name = system_of(path + PENDING)
            if system.exists(name):
                return path + PENDING
        return path

    def _outside(self, entry: Entry, name: str, length: int) -> errors.OpError:
        return errors.DataLossError(
            None, None, f"{self._data_path(entry.shard)}: tensor {name} at bytes {entry.offset} to "
            f"{entry.offset + entry.size} lies outside of the file, which has {length}",
        )  # fmt: skip

    def _read(self, entry: Entry, name: str) -> np.ndarray:
        path = self._data_path(entry.shard)
        if entry.dtype is dtypes.resource:
            raise errors.UnimplementedError(None, None, f"{path}: tensor {name} is a {entry.dtype.name}")
        with open_file(path, "rb") as file:
            return self._read_from(file, file.seek(0, os.SEEK_END), entry, path, name)

    def _read_from(self, file: Any, length: int, entry: Entry, path: str, name: str) -> np.ndarray:
        if entry.offset + entry.size > length:
            raise self._outside(entry, name, length)
        file.seek(entry.offset)
        if entry.dtype is dtypes.string:
            return self._strings(file.read(entry.size), entry, path, name)
        if entry.dtype is dtypes.variant:
            return self._variants(file.read(entry.size), entry, path, name)
        return self._numbers(file, entry, path, name)

    def in_order(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the names and values of all tensors of a bundle of one file, ordered by name."""
        path = self._data_path(0)
        with open_file(path, "rb") as file:
            length = file.seek(0, os.SEEK_END)
            for key, entry in self._entries.items():
                name = key.decode()
                yield name, self._read_from(file, length, entry, path, name)

    def _numbers(self, file: Any, entry: Entry, path: str, name: str) -> np.ndarray:
        array = memory.empty(entry.shape, entry.dtype.np)
        target = bytes_of_array(array)
        crc, at = 0, 0
        with file_errors(path):
            while at < entry.size:
                count = file.readinto(target[at : at + _CHUNK])
                if not count:
                    raise self._outside(entry, name, entry.offset + at)
                crc = crc32c(target[at : at + count], crc)
                at += count
        if masked(crc) != entry.crc:
            raise self._wrong_checksum(path, name, entry)
        return array.byteswap() if self._big_endian else array

    def _wrong_checksum(self, path: str, name: str, entry: Entry) -> errors.OpError:
        return errors.DataLossError(
            None, None, f"{path}: checksum does not match for tensor {name}, bytes {entry.offset} to "
            f"{entry.offset + entry.size}",
        )  # fmt: skip

    def _strings(self, data: bytes, entry: Entry, path: str, name: str) -> np.ndarray:
        lengths, at = [], 0
        try:
            for _ in range(math.prod(entry.shape)):
                length, at = varint(data, at)
                lengths.append(length)
        except IndexError as error:
            raise errors.DataLossError(None, None, f"{path}: lengths of strings of {name} are cut off") from error
        contents = data[at + 4 :]
        as_numbers = b"".join(n.to_bytes(4 if n < 1 << 32 else 8, "little") for n in lengths)
        if sum(lengths) != len(contents) or masked_crc32c(as_numbers + data[at:]) != entry.crc:
            raise self._wrong_checksum(path, name, entry)
        result, start = np.empty(len(lengths), object), 0
        for i, length in enumerate(lengths):
            result[i] = contents[start : start + length]
            start += length
        return result.reshape(entry.shape)

    def _variants(self, data: bytes, entry: Entry, path: str, name: str) -> np.ndarray:
        count = math.prod(entry.shape)
        result = np.empty(count, object)
        at = crc = 0
        for i in range(count):
            try:
                length, at = varint(data, at)
            except IndexError:
                raise errors.DataLossError(None, None, f"{path}: variants of {name} are cut off") from None
            content, end = data[at : at + length], at + length
            checked, crc = variants.checksums(content, crc)
            if len(content) != length or data[end : end + 4] != checked:
                raise self._wrong_checksum(path, name, entry)
            result[i], at = variants.from_bytes(content, f"{path}: tensor {name}"), end + 4
        if at != len(data) or masked(crc) != entry.crc:
            raise self._wrong_checksum(path, name, entry)
        return result.reshape(entry.shape)


def bytes_of_array(array: Any) -> memoryview:
    """Return the bytes of a contiguous array, to be read or written in place."""
    return memoryview(array.reshape(-1).view(np.uint8)) if array.size else memoryview(b"")


def nearest(name: str, names: Sequence[str]) -> str:
    """Return the name that is most like another one, as a remark; nothing where none is like it.

    >>> nearest("kernal", ["bias", "kernel"])
    ' (near: kernel)'
    """
    near = difflib.get_close_matches(name, names[:5000], 1, 0.6)
    return f" (near: {near[0]})" if near else ""


def not_found(prefix: str) -> errors.OpError:
    """Return the error for a checkpoint that is not there, or of which there is only a directory of that name."""
    if files.isdir(prefix):
        return errors.DataLossError(
            None, None,
            f"Unable to open table file {prefix}: it is a directory: perhaps your file is in a different file format "
            "and you need to use a different restore operator?",
        )  # fmt: skip
    return errors.NotFoundError(
        None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}"
    )


def _check_apart(parts: Sequence[Slice], what: str) -> None:
    ordered = sorted(part for part in parts if tensor_slices.elements(part))
    for i, part in enumerate(ordered):
        for other in ordered[i + 1 :]:
            if part and other[0][0] >= part[0][0] + part[0][1]:
                break  # those behind begin later still
            if tensor_slices.common(part, other) is not None:
                raise errors.DataLossError(None, None, f"{what} overlap: {part} and {other}")


def _word(key: bytes) -> str:
    return repr(key.decode("utf-8", "replace"))
