"""Datasets of what files hold: records, lines, pieces of a fixed length; and of the names of files."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.data.columns import Block, Listed
from ebbflow.data.pipe import Element, dataset_op, made
from ebbflow.data.running import current
from ebbflow.io.records import Inflated, RecordReader, TFRecordOptions, file_errors, open_file
from ebbflow.ops.declare import FLAT
from ebbflow.ops.sizes import invalid, room_for
from ebbflow.platform import files

_FILES = '(filenames:string, compression_type:string, buffer_size:int64{}) -> (handle:variant) | metadata: string = "" '
TFRecordDataset = dataset_op("TFRecordDataset" + _FILES.format("") + "| stateful")
TFRecordDatasetV2 = dataset_op("TFRecordDatasetV2" + _FILES.format(", byte_offsets:int64") + "| stateful")
TextLineDataset = dataset_op("TextLineDataset" + _FILES.format("") + "| stateful")
_FIXED = "(filenames:string, header_bytes:int64, record_bytes:int64, footer_bytes:int64, buffer_size:int64{}) -> "
_FIXED += '(handle:variant) | metadata: string = "" | stateful'
FixedLengthRecordDataset = dataset_op("FixedLengthRecordDataset" + _FIXED.format(""))
FixedLengthRecordDatasetV2 = dataset_op("FixedLengthRecordDatasetV2" + _FIXED.format(", compression_type:string"))
MatchingFiles = op("MatchingFiles(pattern:string) -> (filenames:string)", shape=lambda pattern: (None,), gradient=FLAT)
MatchingFilesDataset = dataset_op("MatchingFilesDataset(patterns:string) -> (handle:variant) | stateful")

CHUNK = 1 << 18
"""Bytes read at once."""

LONGEST = 1 << 31
"""Bytes a line may have: compressed ones grow a thousandfold."""


def text_of(value: Any) -> np.ndarray:
    """Return bytes as a scalar of dtype string."""
    found = np.empty((), object)
    found[()] = value
    return found


def names_of(filenames: np.ndarray) -> list[str]:
    """Return the names in a scalar or vector of strings."""
    if filenames.ndim > 1:
        raise invalid("`filenames` must be a scalar or a vector.")
    return [os.fsdecode(name) for name in filenames.reshape(-1)]


def compression_of(compression_type: np.ndarray) -> str:
    """Return how files are compressed; refuse what we do not know."""
    name = compression_type.item().decode()
    if name not in ("", "ZLIB", "GZIP"):
        raise invalid(f"Unsupported compression_type: {name}.")
    return name


# --- records ----------------------------------------------------------------------------------------------------------


def _records(filenames: Any, compression_type: Any, offsets: list[int]) -> Any:
    names, options = names_of(filenames), TFRecordOptions(compression_of(compression_type))
    if offsets and len(offsets) != len(names):
        raise invalid(f"`byte_offsets` has {len(offsets)} entries for {len(names)} `filenames`.")

    def open_one(i: int) -> RecordReader:
        reader = RecordReader(names[i], options, whole=True)
        if offsets:
            reader.offset = offsets[i]
            reader.reopen()
        return reader

    def of_one(i: int) -> Iterator[Element]:
        with open_one(i) as reader:
            for record in reader:
                yield (text_of(record),)

    numbers, spoilt = range(len(names)), errors.DataLossError
    return made(
        lambda: lasting(InTurn(of_one, numbers), spoilt),
        columns=lambda: _LastingColumns(_RecordColumns(open_one, numbers).take, spoilt),
    )


class InTurn:
    """What files hold, one file after the other; behind an error comes what other files hold."""

    __slots__ = ("_begin", "_names", "_now")

    def __init__(self, begin: Callable[[Any], Iterator[Any]], names: Iterable[Any]):
        self._begin, self._names = begin, iter(names)
        self._now: Iterator[Any] = iter(())

    def __iter__(self) -> InTurn:
        return self

    def __next__(self) -> Any:
        while True:
            for found in self._now:  # a generator that has failed is at its end
                return found
            self._now = self._begin(next(self._names))


def lasting(elements: Iterator[Any], passing: Any = ()) -> Iterator[Any]:
    """Have an iterator that has failed fail again each time, but for errors that are `passing`, as in TensorFlow.

    Where errors are left out it goes on instead: TensorFlow asks for ever there.
    """
    return elements if current.run.leaves_out else _Lasting(elements, passing)


class _Lasting:
    __slots__ = ("_elements", "_error", "_passing")

    def __init__(self, elements: Iterator[Any], passing: Any):
        self._elements, self._passing = elements, passing
        self._error: Exception | None = None

    def __iter__(self) -> _Lasting:
        return self

    def __next__(self) -> Any:
        if self._error is not None:
            raise self._error.with_traceback(None)
        try:
            return next(self._elements)
        except StopIteration:
            raise
        except self._passing:
            raise
        except Exception as error:
            self._error = error
            raise


class _LastingColumns:
    """The same, many rows at a time."""

    __slots__ = ("_blocks", "_count")

    def __init__(self, take: Callable[[int], Block | None], passing: Any = ()):
        self._count = 0
        self._blocks = lasting(iter(lambda: take(self._count), None), passing)

    def take(self, count: int) -> Block | None:
        """Return the next rows."""
        self._count = count
        return next(self._blocks, None)


class _RecordColumns:
    """The records of files, many at a time."""

    __slots__ = ("_now", "_numbers", "_open_one")

    def __init__(self, open_one: Callable[[int], RecordReader], numbers: Iterable[int]):
        self._open_one, self._numbers = open_one, iter(numbers)
        self._now: RecordReader | None = None

    def take(self, count: int) -> Block | None:
        """Return the next records of the file at hand."""
        while True:
            if self._now is not None:
                found = None
                try:
                    found = self._now.some(count)
                finally:
                    if not found:  # at its end, or there is nothing to be had behind damage
                        self._now.close()
                        self._now = None
                if found:
                    return (texts_of(found),)
            number = next(self._numbers, None)
            if number is None:
                return None
            self._now = self._open_one(number)


def texts_of(values: list[bytes]) -> np.ndarray:
    """Return byte strings as a vector of dtype string."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


@TFRecordDataset.kernel
def _(xp: Any, filenames: Any, compression_type: Any, buffer_size: Any) -> Any:
    return _records(filenames, compression_type, [])


@TFRecordDatasetV2.kernel
def _(xp: Any, filenames: Any, compression_type: Any, buffer_size: Any, byte_offsets: Any) -> Any:
    return _records(filenames, compression_type, byte_offsets.reshape(-1).tolist())


# --- lines and pieces -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _opened(name: str) -> Iterator[Any]:
    with open_file(name, "rb") as file, file_errors(name):
        yield file


def chunks(name: str, compression: str) -> Iterator[bytes]:
    """Yield the bytes of a file, decompressed, a bounded number at a time."""
    with _opened(name) as file:
        source = Inflated(file, zlib.MAX_WBITS + 32) if compression else file
        try:
            while data := source.read(CHUNK):
                yield data
        except zlib.error as error:
            raise errors.DataLossError(None, None, f"{name}; {error}") from None


def blocks_of_lines(name: str, compression: str, last_end: Callable[[bytes], int]) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks of whole lines; `last_end` says where the last line of some bytes ends."""
    held: list[bytes] = []  # of a line that has begun
    size = 0
    for chunk in chunks(name, compression):
        at = last_end(chunk)
        if at:
            yield b"".join([*held, chunk[:at]])
            held, size = [], 0
        held.append(chunk[at:])
        size += len(chunk) - at
        if size > LONGEST:
            raise errors.ResourceExhaustedError(None, None, f"{name} has a line of more than {LONGEST} bytes")
    if size:
        yield b"".join(held)


def lines(name: str, compression: str) -> Iterator[bytes]:
    """Yield the lines of a file, without what ends them."""
    return (line for block in _lines_of_blocks(name, compression) for line in block)


def _lines_of_blocks(name: str, compression: str) -> Iterator[list[bytes]]:
    for block in blocks_of_lines(name, compression, lambda chunk: chunk.rfind(b"\n") + 1):
        yield [line.removesuffix(b"\r") for line in block.removesuffix(b"\n").split(b"\n")]


def pieces(source: Iterator[bytes], head: int, size: int, foot: int, step: int) -> Generator[bytes, None, int]:
    """Yield `size` bytes each `step` behind a header and in front of a footer; return how many bytes are left over."""
    room_for((size,), 1)
    held, count = [], -head  # bytes that were read and not left behind; below 0, bytes to leave out
    for chunk in source:
        held.append(chunk if count >= 0 else chunk[-count:])
        count += len(chunk)
        if count < size + foot:
            continue
        data, at = b"".join(held), 0
        while count - at >= size + foot:
            yield data[at : at + size]
            at += step
        held, count = [data[at:]], count - at
    return count - foot


@TextLineDataset.kernel
def _(xp: Any, filenames: Any, compression_type: Any, buffer_size: Any) -> Any:
    names, compression = names_of(filenames), compression_of(compression_type)

    def start() -> Iterator[Element]:
        return lasting(InTurn(lambda name: ((text_of(line),) for line in lines(name, compression)), names))

    def blocks() -> Iterator[Block]:
        return lasting(
            InTurn(lambda name: ((texts_of(block),) for block in _lines_of_blocks(name, compression)), names)
        )

    return made(start, columns=lambda: Listed(blocks()))


def _pieces(filenames: Any, header: Any, length: Any, footer: Any, compression: str) -> Any:
    names, head, size, foot = names_of(filenames), int(header), int(length), int(footer)
    if size <= 0:
        raise invalid(f"record_bytes must be positive, got record_bytes = {size}.")
    if head < 0 or foot < 0:
        raise invalid(f"header_bytes and footer_bytes must be >= 0, got {head} and {foot}.")

    def check(name: str, body: int) -> None:
        if body % size or body < 0:
            raise invalid(
                f'Excluding the header ({head} bytes) and footer ({foot} bytes), input file "{name}" has body length '
                f"{body} bytes, which is not an exact multiple of the record length ({size} bytes)."
            )

    def of_one(name: str) -> Iterator[Element]:
        if not compression:
            check(name, files.stat(name).length - head - foot)
        count = 0
        found = pieces(chunks(name, compression), head, size, foot, size)
        try:
            while True:
                piece = next(found)
                count += 1
                yield (text_of(piece),)
        except StopIteration as end:
            check(name, count * size + end.value)

    return made(lambda: lasting(InTurn(of_one, names)))


@FixedLengthRecordDataset.kernel
def _(xp: Any, filenames: Any, header_bytes: Any, record_bytes: Any, footer_bytes: Any, buffer_size: Any) -> Any:
    return _pieces(filenames, header_bytes, record_bytes, footer_bytes, "")


@FixedLengthRecordDatasetV2.kernel
def _(
    xp: Any, filenames: Any, header_bytes: Any, record_bytes: Any, footer_bytes: Any, buffer_size: Any,
    compression_type: Any,
) -> Any:  # fmt: skip
    return _pieces(filenames, header_bytes, record_bytes, footer_bytes, compression_of(compression_type))


# --- names ------------------------------------------------------------------------------------------------------------


def _matching(patterns: np.ndarray) -> list[bytes]:
    return [os.fsencode(name) for pattern in names_of(patterns) for name in sorted(files.glob(pattern))]


@MatchingFiles.kernel
def _(xp: Any, pattern: Any) -> Any:
    found = sorted(_matching(pattern))
    names = np.empty(len(found), object)
    names[:] = found
    return names


@MatchingFilesDataset.kernel
def _(xp: Any, patterns: Any) -> Any:
    if not patterns.size:
        raise invalid("patterns: must not be empty")

    def start() -> Iterator[Element]:
        some = False
        for name in _matching(patterns):
            some = True
            yield (text_of(name),)
        if not some:
            raise errors.NotFoundError(None, None, f"Don't find any matched files: patterns = {patterns.tolist()}")

    return made(start)


def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """Return the names of the files that match a pattern, or any of several, in order."""
    return MatchingFiles(pattern, name=name)
