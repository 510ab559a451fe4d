"""TFRecord files: byte strings end to end, each with its length and two checksums, plain or compressed.

    uint64 length | uint32 masked crc of those 8 bytes | data | uint32 masked crc of data

Knows bytes, not what they mean. `open_file` is the one place where this package opens files. A reader trusts nothing: a
length is believed only when its checksum holds, and memory grows with the bytes that are really there.
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any, ClassVar

import google_crc32c
import numpy as np

from ebbflow.core import errors, forks
from ebbflow.ops.sizes import room_for
from ebbflow.platform.file_systems import system_of
from ebbflow.platform.files import file_error

CHUNK = 1 << 20  # bytes asked for at a time, whatever a length claims
_HEADER = struct.Struct("<QI")
_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
MOST_INFLATED = 1032
"""Bytes that one compressed byte can become at most."""

FRAME = _HEADER.size + _CRC.size
"""Bytes around each record."""


def crc32c(data: Any, before: int = 0) -> int:
    """The Castagnoli checksum of bytes, or of any contiguous buffer without copying it; `before`: of those in front."""
    if not isinstance(data, bytes):
        data = np.frombuffer(data, np.uint8) if memoryview(data).nbytes else np.empty(0, np.uint8)
        data.flags.writeable = False  # google_crc32c takes nothing that could change meanwhile
    return google_crc32c.extend(before, data) if before else google_crc32c.value(data)


def masked(crc: int) -> int:
    """A checksum as files hold it: turned and shifted so that checksums of checksums stay good."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def masked_crc32c(data: Any) -> int:
    """The checksum of bytes as files hold it.

    >>> hex(masked_crc32c(b"123456789"))
    '0xc78ab0e5'
    """
    return masked(crc32c(data))


# Files --------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Turn an OSError inside into its `tf.errors` error. (On hot paths `file_error` is quicker by 1 µs.)"""
    try:
        yield
    except OSError as e:
        raise file_error(path, e) from e


def open_file(path: str | os.PathLike[str], mode: str) -> IO[bytes]:
    """Open a file for bytes."""
    path = os.fspath(path)
    system, text = system_of(path)
    with file_errors(path):
        return system.open(text, mode)


# Options ------------------------------------------------------------------------------------------------------------


class TFRecordCompressionType:
    """The numbers by which TensorFlow 1 names how a file is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class TFRecordOptions:
    """How the records of a file are compressed; what is None is left to zlib."""

    compression_type_map: ClassVar[dict[int, str]] = {
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)  # refuses what is none
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """`""`, `"ZLIB"` or `"GZIP"`, for options or for whatever names a compression.

        >>> TFRecordOptions.get_compression_type_string(TFRecordCompressionType.GZIP)
        'GZIP'
        """
        while isinstance(options, TFRecordOptions):
            options = options.compression_type
        if not options:
            return ""
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')


def as_options(options: Any) -> TFRecordOptions:
    """Options from None, a name, a number or options."""
    return options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)


def _window_bits(options: TFRecordOptions) -> int | None:
    """The number by which zlib knows format and window; None for no compression."""
    name = TFRecordOptions.get_compression_type_string(options)
    if not name:
        return None
    if options.window_bits:
        return options.window_bits
    return zlib.MAX_WBITS + 16 if name == "GZIP" else zlib.MAX_WBITS


# Reading ------------------------------------------------------------------------------------------------------------


def _size_of(file: Any) -> int | None:
    """The bytes of an open file of the system; None of anything else."""
    try:
        status = os.fstat(file.fileno())
    except (OSError, AttributeError):  # a file of some other file system
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


class RecordReader:
    """The records of one file, in order. `offset` is where the next one starts, in the uncompressed bytes.

    Of a file that is `whole` a header or compressed data cut short is damage; of others it is the end for now: someone
    is still writing.
    """

    def __init__(self, path: str | os.PathLike[str], options: Any = None, whole: bool = False) -> None:
        self.path = os.fspath(path)
        self._whole = whole
        self.offset = 0
        self._held, self._at = b"", 0  # read from the file for `some`, and how much of it has been given
        self._bits = _window_bits(as_options(options))
        self._source: Any = None
        self.reopen()

    def reopen(self) -> None:
        """Open the file anew and go on where reading stopped: what was appended meanwhile is found."""
        self.close()
        file = open_file(self.path, "rb")
        self._source = file if self._bits is None else Inflated(file, self._bits)
        if self._bits is None:
            with file_errors(self.path):
                file.seek(self.offset)
        else:
            self._skip(self.offset)

    def read(self) -> bytes | None:
        """The next record; None at the end."""
        if self._source is None:
            raise errors.FailedPreconditionError(None, None, f"{self.path}; reader is closed")
        header = self._take(_HEADER.size)
        if len(header) < _HEADER.size:
            self._put_back(header)
            if self._whole and header:
                raise self._loss(f"truncated record at {self.offset}")
            if self._whole and self._bits is not None and self._source.cut_short:
                raise self._loss(f"compressed data is truncated behind the record that ends at {self.offset}")
            return None
        length, crc = _HEADER.unpack(header)
        if crc != masked_crc32c(header[:8]):
            hint = " (Is this even a TFRecord file?)" if self.offset == 0 else ""
            raise self._loss(f"corrupted record at {self.offset}{hint}")
        rest = self._take(length + _CRC.size) if self._may_hold(length) else b""
        if len(rest) < length + _CRC.size:
            raise self._loss(f"truncated record at {self.offset}")
        data = rest[:length]
        if _CRC.unpack(rest[length:])[0] != masked_crc32c(data):
            raise self._loss(f"corrupted record at {self.offset + _HEADER.size}")
        self.offset += _HEADER.size + len(rest)
        return data

    def some(self, most: int) -> list[bytes]:
        """The next records, up to `most`; none at the end. An error comes after all records before it were given."""
        found: list[bytes] = []
        crc, data, at = google_crc32c.value, self._held, self._at
        while len(found) < most:
            stop = at
            if at + _HEADER.size <= len(data):
                length, check = _HEADER.unpack_from(data, at)
                stop = at + _HEADER.size + length + _CRC.size
            if at == stop or stop > len(data):
                more = self._take(CHUNK) if stop - at < CHUNK else b""
                if more:
                    data, at = data[at:] + more, 0
                    continue
            elif check == masked(crc(data[at : at + 8])):
                record = data[at + _HEADER.size : stop - _CRC.size]
                if _CRC.unpack_from(data, stop - _CRC.size)[0] == masked(crc(record)):
                    found.append(record)
                    self.offset += stop - at
                    at = stop
                    continue
            self._give_back(data[at:])  # the end, a long record, or one that is damaged: `read` takes care of it
            data, at = b"", 0
            record_or_none = self.read() if not found else None
            if record_or_none is None:
                break
            found.append(record_or_none)
        self._held, self._at = data, at
        return found

    def _give_back(self, data: bytes) -> None:
        self._held, self._at = b"", 0
        self._put_back(data)

    def __iter__(self) -> RecordReader:
        return self

    def __next__(self) -> bytes:
        record = self.read()
        if record is None:
            self.close()
            raise StopIteration
        return record

    def close(self) -> None:
        """Close the file; iterating ends."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def __enter__(self) -> RecordReader:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def _may_hold(self, length: int) -> bool:
        """Whether so long a record can be there at all; large lengths are held against the size of the file."""
        if length < CHUNK:
            return True
        inflated = self._bits is not None
        size = _size_of(self._source.file if inflated else self._source)
        if size is not None and length > (size * MOST_INFLATED if inflated else size - self.offset):
            return False
        room_for((length,), 1)
        return True

    def _take(self, size: int) -> bytes:
        """`size` bytes, or as many as there are."""
        try:
            if size <= CHUNK:
                return self._source.read(size)
            return b"".join(self._pieces(size))
        except OSError as e:
            raise file_error(self.path, e) from e
        except zlib.error as e:
            text = str(e).replace("Error ", "inflate() failed with error ").replace(" while decompressing data", "")
            raise self._loss(text) from e

    def _pieces(self, size: int) -> Iterator[bytes]:
        while size:
            piece = self._source.read(min(size, CHUNK))
            if not piece:
                return
            yield piece
            size -= len(piece)

    def _put_back(self, data: bytes) -> None:
        if self._bits is not None:
            self._source.put_back(data)
        elif data:
            with file_errors(self.path):
                self._source.seek(self.offset)

    def _skip(self, size: int) -> None:
        while size:
            part = self._take(min(size, CHUNK))
            if not part:
                raise self._loss(f"truncated record at {self.offset}")
            size -= len(part)

    def _loss(self, text: str) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"{text} in {self.path}")


class Inflated:
    """A compressed file read as its plain bytes; several compressed streams may follow each other."""

    def __init__(self, file: IO[bytes], bits: int) -> None:
        self.file = file
        self.bits = bits
        self.inflater = zlib.decompressobj(bits)
        self.packed = b""  # read from the file, not inflated yet
        self.plain = bytearray()  # inflated, not handed out yet
        self.more = False  # zlib had more to give than it was asked for
        self._begun = False  # the inflater has been given something

    @property
    def cut_short(self) -> bool:
        """Whether the file has ended and the stream in it has not."""
        return self._begun and not self.inflater.eof and not self.packed and not self.more

    def read(self, size: int) -> bytes:
        while len(self.plain) < size and self._inflate():
            pass
        data = bytes(self.plain[:size])
        del self.plain[:size]
        return data

    def put_back(self, data: bytes) -> None:
        self.plain[:0] = data

    def _inflate(self) -> bool:
        """Inflate one more piece; False at the end of the file."""
        if self.inflater.eof:
            self.packed = self.inflater.unused_data
            self.inflater = zlib.decompressobj(self.bits)
            self.more = self._begun = False
        if not self.packed and not self.more:
            self.packed = self.file.read(CHUNK)
            if not self.packed:
                return False
        self._begun = True
        piece = self.inflater.decompress(self.packed, CHUNK)
        self.packed = self.inflater.unconsumed_tail
        self.more = len(piece) == CHUNK
        self.plain += piece
        return True

    def close(self) -> None:
        self.file.close()


class GrowingReader(RecordReader):
    """The records of a file that others may still write: at its end, or where a record is cut short, it can be asked
    again. It keeps the file open until it is closed; `reopen` finds a file that has taken its place.
    """

    _again = False

    def __next__(self) -> bytes:
        if self._again:
            self._back_to_offset()
        self._again = True
        record = self.read()
        if record is None:
            raise StopIteration
        self._again = False
        return record

    def _back_to_offset(self) -> None:
        """Forget what was read of a record that had not ended."""
        if self._bits is not None:
            self.reopen()
        elif self._source is not None:
            self._held, self._at = b"", 0
            self._source.seek(self.offset)


def tf_record_iterator(path: str | os.PathLike[str], options: object = None) -> RecordReader:
    """An iterator over the records of a file, each as bytes; what is appended later comes when it is asked again."""
    return GrowingReader(path, options)


class RandomRecordReader:
    """Records by their offset: `read(0)` gives the first record and the offset of the next."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._reader = RecordReader(path)

    def read(self, offset: int) -> tuple[bytes, int]:
        """The record that starts at `offset`, and where the next one does; IndexError at the end."""
        self._reader.offset = offset
        self._reader.reopen()
        record = self._reader.read()
        if record is None:
            raise IndexError(f"Out of range at reading offset {offset}")
        return record, self._reader.offset

    def close(self) -> None:
        """Close the file."""
        self._reader.close()


# Writing ------------------------------------------------------------------------------------------------------------


class TFRecordWriter:
    """Writes records to a file, from the start. Several threads may write."""

    def __init__(self, path: str | os.PathLike[str], options: object = None) -> None:
        self._closed = True  # until everything below has worked
        options = as_options(options)
        self._path = os.fspath(path)
        self._lock = forks.lock()
        self._deflater = _deflater(options)
        self._flush_mode = zlib.Z_SYNC_FLUSH if options.flush_mode is None else options.flush_mode
        self._file = open_file(path, "wb")
        self._closed = False

    def write(self, record: bytes | str) -> None:
        """Append one record."""
        data = record.encode("utf-8") if isinstance(record, str) else bytes(memoryview(record))
        length = _LENGTH.pack(len(data))
        framed = b"".join((length, _CRC.pack(masked_crc32c(length)), data, _CRC.pack(masked_crc32c(data))))
        with self._lock:
            self._check_open()
            try:
                self._file.write(framed if self._deflater is None else self._deflater.compress(framed))
            except OSError as e:
                raise file_error(self._path, e) from e

    def flush(self) -> None:
        """Hand everything written so far to the operating system."""
        with self._lock, file_errors(self._path):
            self._check_open()
            if self._deflater is not None and self._flush_mode != zlib.Z_NO_FLUSH:
                self._file.write(self._deflater.flush(self._flush_mode))
            self._file.flush()

    def close(self) -> None:
        """Write what is left and close the file; a second time does nothing."""
        if self._closed:
            return
        with self._lock, file_errors(self._path):
            self._closed = True
            try:
                if self._deflater is not None:
                    self._file.write(self._deflater.flush())
            finally:
                self._file.close()

    def _check_open(self) -> None:
        if self._closed:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def __del__(self, suppress: Any = contextlib.suppress) -> None:  # held here: modules may be gone at the end
        with suppress(Exception):
            self.close()


def _deflater(options: TFRecordOptions) -> Any:
    bits = _window_bits(options)
    if bits is None:
        return None
    return zlib.compressobj(
        zlib.Z_DEFAULT_COMPRESSION if options.compression_level is None else options.compression_level,
        zlib.DEFLATED if options.compression_method is None else options.compression_method,
        bits,
        zlib.DEF_MEM_LEVEL if options.mem_level is None else options.mem_level,
        zlib.Z_DEFAULT_STRATEGY if options.compression_strategy is None else options.compression_strategy,
    )
