"""Files of records in whatever form they are: plain, of zlib or gzip, or blocks of Snappy, as saved datasets have them.

A file is read in the form it has, whatever was asked for. Knows records and Snappy; nothing of what records mean.
"""

from __future__ import annotations

from ebbflow.io.records import FRAME, RecordReader, TFRecordWriter, masked_crc32c, open_file
from ebbflow.io.snappy import Snapped, Unsnapped


class _SnappyReader(RecordReader):
    def reopen(self) -> None:
        """Open the file anew and go on where reading stopped."""
        self.close()
        self._bits = 0  # it is compressed: what is taken too much goes back to the source
        self._source = Unsnapped(open_file(self.path, "rb"), self.path)
        self._skip(self.offset)


class _SnappyWriter(TFRecordWriter):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._deflater = Snapped()


def form_of(path: str) -> str:
    """Return how the records of a file are compressed: `""`, `"GZIP"`, `"ZLIB"` or `"SNAPPY"`."""
    with open_file(path, "rb") as file:
        head = file.read(FRAME)
    if len(head) < 12 or int.from_bytes(head[8:12], "little") == masked_crc32c(head[:8]):
        return ""
    if head.startswith(b"\x1f\x8b"):
        return "GZIP"
    if head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0:
        return "ZLIB"
    return "" if head[0] else "SNAPPY"  # a block of less than 16 MB


def reader_of(path: str) -> RecordReader:
    """Return the records of a file."""
    form = form_of(path)
    return _SnappyReader(path) if form == "SNAPPY" else RecordReader(path, form)


def writer_of(path: str, form: str) -> TFRecordWriter:
    """Return what writes records to a file."""
    return _SnappyWriter(path) if form == "SNAPPY" else TFRecordWriter(path, form)
