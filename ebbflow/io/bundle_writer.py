"""Writing TensorBundles, so that a reader finds the old checkpoint or the new one, whenever the writer is killed.

Data and index are written under other names, brought to the disk, and then renamed. A checkpoint is there once its
index is. Where one of the same prefix is replaced, its data and its index change one after the other; so the new ones
first become `.pending`, the index last, and a reader that finds a pending index takes the pending files. Knows the
format and the file systems; knows nothing of variables.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.dtypes import DType
from ebbflow.core.elsewhere import array_kinds
from ebbflow.core.varint import to_varint
from ebbflow.io import tensor_slices, variants
from ebbflow.io.bundle import PENDING, bundle_exists, bytes_of_array, data_path, index_path
from ebbflow.io.records import crc32c, file_errors, masked, masked_crc32c
from ebbflow.io.sorted_table import read_table, table_bytes
from ebbflow.io.tensor_slices import Slice
from ebbflow.io.write_behind import WriteBehind
from ebbflow.platform.file_systems import system_of

_CHUNK = 1 << 21
_LARGE = 1 << 22
_numbers = itertools.count()


def unfinished(path: str) -> str:
    """Return the name under which a file is written before it is complete."""
    return f"{path}.tempstate{os.getpid()}_{next(_numbers)}"


def durable() -> bool:
    """Return whether files are brought to the disk before they are renamed (EBBFLOW_CHECKPOINT_SYNC=0: they are not).

    A process that is killed leaves what it wrote to the system; only a machine that stops needs this.
    """
    return os.environ.get("EBBFLOW_CHECKPOINT_SYNC", "1") != "0"


class BundleWriter:
    """Writes one bundle of one data file; `finish` makes it visible, `abandon` leaves no trace of it."""

    def __init__(self, prefix: str | os.PathLike[str]):
        self.prefix = os.fspath(prefix)
        self._entries: dict[bytes, Any] = {}
        self._at = 0
        self._final = data_path(self.prefix, 0, 1)
        self._path = unfinished(self._final)
        self._system, self._name = system_of(self._path)
        self._behind: WriteBehind | None = None  # for large tensors, and what comes after the first of them
        with file_errors(self._path):
            self._file: Any = self._system.open(self._name, "wb")

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.finish()
        else:
            self.abandon()

    def add(self, name: str, array: np.ndarray, dtype: DType) -> None:
        """Write a tensor."""
        key = name.encode()
        if key in self._entries:
            raise errors.InvalidArgumentError(None, None, f"Adding duplicate key: {name}")
        if not key:
            raise errors.InvalidArgumentError(None, None, "A tensor in a checkpoint needs a name that is not empty")
        if array.__class__ in array_kinds:
            array = array.whole()  # type: ignore[attr-defined]
        self._entries[key] = self._write(array, dtype)

    def add_slice(self, name: str, shape: Sequence[int], part: Slice, array: np.ndarray, dtype: DType) -> None:
        """Write a slice of a tensor of that shape."""
        if tensor_slices.is_full(part):
            self.add(name, array, dtype)
            return
        whole = self._entries.get(name.encode())
        if whole is None:
            whole = messages.BundleEntryProto(dtype=dtype.as_datatype_enum)
            whole.shape.SetInParent()
            for size in shape:
                whole.shape.dim.add(size=size)
            self._entries[name.encode()] = whole
        elif [d.size for d in whole.shape.dim] != list(shape) or whole.dtype != dtype.as_datatype_enum:
            raise errors.InvalidArgumentError(
                None, None, f"Slices of {name} do not match: {dtype.name} {list(shape)}, and before "
                f"{dtypes.as_dtype(whole.dtype).name} {[d.size for d in whole.shape.dim]}",
            )  # fmt: skip
        whole.slices.append(tensor_slices.to_message(part))
        key = tensor_slices.key_of(name.encode(), part)
        if key in self._entries:
            raise errors.InvalidArgumentError(None, None, f"Adding duplicate slice {part} of {name}")
        self._entries[key] = self._write(array, dtype)

    def _write(self, array: np.ndarray, dtype: DType) -> Any:
        entry = messages.BundleEntryProto(dtype=dtype.as_datatype_enum, offset=self._at)
        entry.shape.SetInParent()
        for size in array.shape:
            entry.shape.dim.add(size=size)
        with file_errors(self._path):
            if dtype in (dtypes.string, dtypes.variant):
                data, entry.crc32c = _string_bytes(array) if dtype is dtypes.string else _variant_bytes(array)
                (self._behind or self._file).write(data)
                entry.size = len(data)
            else:
                entry.size, entry.crc32c = self._write_numbers(array)
        self._at += entry.size
        return entry

    def _write_numbers(self, array: np.ndarray) -> tuple[int, int]:
        array = np.ascontiguousarray(array)
        data = bytes_of_array(array)
        if self._behind is None and len(data) >= _LARGE and hasattr(self._file, "fileno"):
            self._behind = WriteBehind(self._file, durable())
        file, crc = self._behind or self._file, 0
        for start in range(0, len(data), _CHUNK):
            piece = data[start : start + _CHUNK]
            file.write(piece)
            crc = crc32c(piece, crc)
        return len(data), masked(crc)

    def finish(self) -> None:
        """Make the bundle visible."""
        try:
            with file_errors(self._path):
                if self._behind is not None:
                    self._behind.end()
                if durable():
                    self._system.sync(self._file)
                self._file.close()
            publish(self.prefix, [(self._path, self._final)], self._entries, 1)
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Remove what was written."""
        if self._behind is not None:
            self._behind.stop()
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self._system.remove(self._name)


def _string_bytes(array: np.ndarray) -> tuple[bytes, int]:
    """Return the bytes of a tensor of strings, and their checksum."""
    strings = [s.encode() if isinstance(s, str) else bytes(s) for s in array.reshape(-1).tolist()]
    lengths = b"".join(len(s).to_bytes(4 if len(s) < 1 << 32 else 8, "little") for s in strings)
    checked = masked_crc32c(lengths).to_bytes(4, "little")
    contents = b"".join(strings)
    data = b"".join(to_varint(len(s)) for s in strings) + checked + contents
    return data, masked_crc32c(lengths + checked + contents)


def _variant_bytes(array: np.ndarray) -> tuple[bytes, int]:
    """Return the bytes of a tensor of variants, and their checksum."""
    parts: list[bytes] = []
    crc = 0
    for value in array.reshape(-1).tolist():
        content = messages.serialize(variants.to_message(value))
        checked, crc = variants.checksums(content, crc)
        parts += [to_varint(len(content)), content, checked]
    return b"".join(parts), masked(crc)


# --- making a bundle visible ------------------------------------------------------------------------------------------


def publish(prefix: str, data_files: Sequence[tuple[str, str]], entries: dict[bytes, Any], shards: int) -> None:
    """Rename finished data files (from, to), and write the index that makes them a checkpoint."""
    header = messages.BundleHeaderProto(num_shards=shards)
    header.version.producer = 1
    table = [(b"", messages.serialize(header))]
    table += [(key, messages.serialize(entries[key])) for key in sorted(entries)]
    final = index_path(prefix)
    written = _write_file(final, table_bytes(table))
    replaces = bundle_exists(prefix)
    try:
        if replaces:
            _rename_all([(source, target + PENDING) for source, target in data_files])
            _rename_all([(written, final + PENDING)])  # from here on the new one counts
            data_files, written = [(t + PENDING, t) for _, t in data_files], final + PENDING
            _remove(target for _, target in data_files)  # renaming over them would wait until the new ones are on disk
        _rename_all(data_files)
        _rename_all([(written, final)])
    except BaseException:
        if not written.endswith(PENDING):
            with contextlib.suppress(OSError):
                system, name = system_of(written)
                system.remove(name)
        raise
    if replaces:
        _remove_others(prefix, {os.path.basename(target) for _, target in data_files})


def _write_file(path: str, data: bytes) -> str:
    """Write a file under a name of its own, and return that."""
    temporary = unfinished(path)
    system, name = system_of(temporary)
    with file_errors(temporary), system.open(name, "wb") as file:
        file.write(data)
        if durable():
            system.sync(file)
    return temporary


def _rename_all(pairs: Iterable[tuple[str, str]]) -> None:
    folders = {}
    for source, target in pairs:
        system, source_name = system_of(source)
        target_name = system_of(target)[1]
        with file_errors(target):
            system.replace(source_name, target_name)
        folders[os.path.dirname(target_name)] = system
    for folder, system in folders.items():
        if durable():
            with file_errors(folder):
                system.sync_directory(folder)


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        system, name = system_of(path)
        with contextlib.suppress(OSError):
            system.remove(name)


def _remove_others(prefix: str, kept: set[str]) -> None:
    """Remove data files of the replaced bundle whose names the new one does not have."""
    _remove(path for path in data_files_of(prefix) if os.path.basename(path).removesuffix(PENDING) not in kept)


def data_files_of(prefix: str) -> list[str]:
    """Return the data files of a bundle, those that are pending too."""
    system, name = system_of(prefix)
    pattern = _plain(name) + ".data-?????-of-?????"
    return system.glob(pattern) + system.glob(pattern + PENDING)


def _plain(name: str) -> str:
    """Return a name as a pattern that fits only itself."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


@contextlib.contextmanager
def written_atomically(path: str) -> Iterator[Any]:
    """Give a file to write, of which readers see the old contents or all of the new, never a part."""
    temporary = unfinished(path)
    system, name = system_of(temporary)
    try:
        with file_errors(temporary), system.open(name, "wb") as file:
            yield file
            if durable():
                system.sync(file)
        _rename_all([(temporary, path)])
    except BaseException:
        with contextlib.suppress(OSError):
            system.remove(name)
        raise


def write_atomically(path: str, data: bytes) -> None:
    """Write a small file so that readers see the old contents or the new, never a part."""
    with written_atomically(path) as file:
        file.write(data)


# --- several bundles into one -----------------------------------------------------------------------------------------


def merge(prefixes: Sequence[str], destination: str, allow_missing: bool = False) -> None:
    """Make one bundle of several, each of which holds some of the tensors (or slices of them)."""
    entries: dict[bytes, Any] = {}
    files: list[str] = []
    present = [p for p in prefixes if not allow_missing or bundle_exists(p)]
    for prefix in present:
        _merge_in(prefix, entries, files)
    moves = [(path, data_path(destination, i, len(files))) for i, path in enumerate(files)]
    folder_system, folder = system_of(os.path.dirname(destination))
    if folder:
        with file_errors(folder):
            folder_system.makedirs(folder)
    publish(destination, moves, entries, max(len(files), 1))
    for prefix in present:
        system, name = system_of(index_path(prefix))
        with contextlib.suppress(OSError):
            system.remove(name)


def _merge_in(prefix: str, entries: dict[bytes, Any], files: list[str]) -> None:
    path = index_path(prefix)
    table = read_table(path)
    header = messages.parse(messages.BundleHeaderProto, table.pop(b"", b""), path)
    first = len(files)
    files += [data_path(prefix, shard, header.num_shards) for shard in range(header.num_shards)]
    for key, data in table.items():
        entry = messages.parse(messages.BundleEntryProto, data, path)
        known = entries.get(key)
        if known is None:
            if not entry.slices:
                entry.shard_id += first
            entries[key] = entry
        elif known.slices and entry.slices and known.shape == entry.shape and known.dtype == entry.dtype:
            known.slices.extend(entry.slices)
        else:
            raise errors.InvalidArgumentError(
                None, None, f"{path}: {key.decode('utf-8', 'replace')} is in another of the merged checkpoints too"
            )
