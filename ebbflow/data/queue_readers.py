"""Readers of TF 1: records of files whose names come from a queue, one op call at a time.

A reader takes a name of a file (its work) from the queue it is given, reads it to its end, then takes the next; the
queue's end is the reader's. Each kind is a generator of (key, value) for one piece of work. A reader is a resource of
the session. Knows files and queues, not graphs; the classes of the API are in `readers_v1`.
"""

from __future__ import annotations

import collections
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import errors, forks, stopping
from ebbflow.core.op import Known, Op, op
from ebbflow.data.file_ops import chunks, lines, pieces, text_of
from ebbflow.io.records import FRAME, RecordReader, TFRecordOptions
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.queues.queue import Queue
from ebbflow.ops.queues.queue_ops import HANDLE, NAMED, REFERENCE, queue_of, shared
from ebbflow.ops.shape_rules import ranked
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import held

Record = tuple[bytes, bytes]
Records = Iterator[Record]

AHEAD = 64
"""Records that are taken from a file at once: reading them singly is a dozen calls each."""


class Reader:
    """One reader: the work it is at, and how far it came."""

    def __init__(self, kind: str, name: str, open_work: Callable[[bytes], Records], single: bool = False):
        self.kind, self.name, self.single = kind, name, single
        self._open = open_work
        self._lock = forks.lock()
        self.reset()

    def reset(self) -> None:
        """Start anew, as if nothing had been read."""
        self._records: Records | None = None
        self._given_back: collections.deque[Record] = collections.deque()
        self._error: BaseException | None = None  # met behind records that were still to be handed out
        self.started = self.finished = self._read = 0
        self._work = b""

    def read(self, queue: Queue, stop: stopping.Stop) -> Record:
        """Return the next record, from the next file where one is at its end."""
        return self.read_up_to(queue, 1, stop)[0]

    def read_up_to(self, queue: Queue, count: int, stop: stopping.Stop) -> list[Record]:
        """Return the next records, at most `count`, fewer at the end of a file; at least one.

        An error comes after all records before it were given.
        """
        if count <= 0:
            raise invalid(f"num_records must be greater than 0, got {count}")
        with self._lock:
            records = [self._given_back.popleft() for _ in range(min(count, len(self._given_back)))]
            while not records:
                if self._records is None and self._error is None:
                    self._begin(queue, stop)
                self._read_on(records, count)
                self._read += len(records)
            return records

    def give_back(self, records: list[Record]) -> None:
        """Have the last records that were read be the next ones again; without the lock, which a reader that waits for
        its next file holds.
        """
        self._given_back.extendleft(reversed(records))

    @property
    def produced(self) -> int:
        """How many records were handed out."""
        return self._read - len(self._given_back)

    def _read_on(self, records: list[Record], count: int) -> None:
        """Add records of the work that is being read, until there are `count` or it ends."""
        error, self._error = self._error, None
        if error is not None:
            raise error
        while self._records is not None and len(records) < count:
            try:
                record = self._next()
            except Exception as error:
                if not records:
                    raise
                self._error = error
                return
            if record is not None:
                records.append(record)
            if record is None or self.single:
                self._records, self.finished = None, self.finished + 1

    def _next(self) -> Record | None:
        try:
            return next(self._records, None)  # type: ignore[arg-type]
        except BaseException:  # the next call goes on with other work, or tries the one piece again
            self._records = self._open(self._work) if self.single else None
            raise

    def _begin(self, queue: Queue, stop: stopping.Stop) -> None:
        if len(queue.types) != 1 or queue.types[0].name != "string":
            raise invalid(
                f"{self.kind} '{self.name}': queue '{queue.name}' must have one component of type string, got "
                f"{[t.name for t in queue.types]}"
            )
        self._work = queue.take_one(stop)[0].item()
        self.started += 1
        self._records = self._open(self._work)

    # --- state -------------------------------------------------------------------------------------------------------

    def state(self) -> bytes:
        """Return where the reader is, as a message."""
        if not self.single:
            raise errors.UnimplementedError(None, None, "Reader SerializeState")
        message = messages.message("tensorflow.ReaderBaseState")(
            work_started=self.started,
            work_finished=self.finished,
            num_records_produced=self.produced,
            current_work=self._work,
        )
        return message.SerializeToString()

    def restore(self, state: bytes) -> None:
        """Go on from where a reader was."""
        if not self.single:
            raise errors.UnimplementedError(None, None, "Reader RestoreState")
        kind: Any = messages.message("tensorflow.ReaderBaseState")
        try:
            message = messages.parse(kind, state)
        except errors.DataLossError:
            raise invalid(f"Could not parse state for {self.kind} '{self.name}': {state!r}") from None
        started, finished = message.work_started, message.work_finished
        if started < 0 or finished < 0 or message.num_records_produced < 0 or started < finished:
            raise invalid(
                f"Inconsistent state when restoring {self.kind} '{self.name}': {started} pieces of work started, "
                f"{finished} finished, {message.num_records_produced} records"
            )
        with self._lock:
            self.started, self.finished = started, finished
            self._read, self._work = message.num_records_produced, message.current_work
            self._records = self._open(self._work) if started > finished else None


# --- the kinds --------------------------------------------------------------------------------------------------------


def _whole_file(work: bytes) -> Records:
    yield work, b"".join(chunks(os.fsdecode(work), ""))


def _text_lines(skip: int) -> Callable[[bytes], Records]:
    def start(work: bytes) -> Records:
        for number, line in enumerate(lines(os.fsdecode(work), ""), 1):
            if number > skip:
                yield b"%b:%d" % (work, number), line

    return start


def _records(compression: str) -> Callable[[bytes], Records]:
    def start(work: bytes) -> Records:
        with RecordReader(os.fsdecode(work), TFRecordOptions(compression), whole=True) as reader:
            while True:
                offset = reader.offset
                records = reader.some(AHEAD)
                if not records:
                    return
                for record in records:
                    yield b"%b:%d" % (work, offset), record
                    offset += len(record) + FRAME

    return start


def _pieces(header: int, size: int, footer: int, hop: int, encoding: str) -> Callable[[bytes], Records]:
    for what, value, least in (("header_bytes", header, 0), ("record_bytes", size, 1), ("footer_bytes", footer, 0),
                               ("hop_bytes", hop, 0)):  # fmt: skip
        if value < least:
            raise invalid(f"{what} must be >= {least}, got {value}")
    if encoding not in ("", "ZLIB", "GZIP"):
        raise invalid(f"encoding must be '', 'ZLIB' or 'GZIP', got {encoding!r}")

    def start(work: bytes) -> Records:
        found = pieces(chunks(os.fsdecode(work), encoding), header, size, footer, hop or size)
        for number, piece in enumerate(found):
            yield b"%b:%d" % (work, number), piece

    return start


def _identity(work: bytes) -> Records:
    yield work, work


def lmdb_entries(work: bytes) -> Records:
    """Yield the keys and values of an LMDB database, in the order of keys."""
    try:
        import lmdb  # an optional package
    except ImportError:
        raise errors.UnimplementedError(None, None, "LMDB databases need the package lmdb: pip install lmdb") from None
    path = os.fsdecode(work)
    try:
        environment = lmdb.open(path, readonly=True, lock=False, subdir=os.path.isdir(path))
    except lmdb.Error as error:
        kind = errors.InvalidArgumentError if os.path.exists(path) else errors.NotFoundError
        raise kind(None, None, f"{path} cannot be opened as an LMDB database: {error}") from None
    with environment, environment.begin() as reading:
        for key, value in reading.cursor():
            yield bytes(key), bytes(value)


# --- ops that make one ------------------------------------------------------------------------------------------------


def _plain(kind: str, make: Callable[[bytes], Records]) -> Callable[..., Any]:
    def kernel(xp: Any, *, container: str, shared_name: str, run: Any) -> Any:
        return shared(run, container, shared_name, "reader", lambda name: Reader(kind, name, make, single=True))

    return kernel


def _text_kernel(xp: Any, *, skip_header_lines: int, container: str, shared_name: str, run: Any) -> Any:
    if skip_header_lines < 0:
        raise invalid(f"skip_header_lines must be >= 0 not {skip_header_lines}")
    make = _text_lines(skip_header_lines)
    return shared(run, container, shared_name, "reader", lambda name: Reader("TextLineReader", name, make))


def _records_kernel(xp: Any, *, container: str, shared_name: str, compression_type: str, run: Any) -> Any:
    if compression_type not in ("", "ZLIB", "GZIP"):
        raise invalid(f"Unsupported compression_type: {compression_type}.")
    make = _records(compression_type)
    return shared(run, container, shared_name, "reader", lambda name: Reader("TFRecordReader", name, make))


def _pieces_kernel(
    xp: Any, *, header_bytes: int, record_bytes: int, footer_bytes: int, hop_bytes: int, container: str,
    shared_name: str, encoding: str = "", run: Any,
) -> Any:  # fmt: skip
    make = _pieces(header_bytes, record_bytes, footer_bytes, hop_bytes, encoding)
    return shared(run, container, shared_name, "reader", lambda name: Reader("FixedLengthRecordReader", name, make))


def _pieces_kernel_v1(
    xp: Any, *, header_bytes: int, record_bytes: int, footer_bytes: int, hop_bytes: int, container: str,
    shared_name: str, run: Any,
) -> Any:  # fmt: skip
    return _pieces_kernel(
        xp, header_bytes=header_bytes, record_bytes=record_bytes, footer_bytes=footer_bytes, hop_bytes=hop_bytes,
        container=container, shared_name=shared_name, run=run,
    )  # fmt: skip


_FIXED = "header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0"
_MAKERS: dict[str, tuple[str, Callable[..., Any], str]] = {
    "WholeFileReader": (NAMED, _plain("WholeFileReader", _whole_file), "stateful"),
    "TextLineReader": (f"skip_header_lines: int = 0; {NAMED}", _text_kernel, "stateful deprecated@26"),
    "FixedLengthRecordReader": (f"{_FIXED}; {NAMED}", _pieces_kernel_v1, "stateful deprecated@26"),
    "TFRecordReader": (f'{NAMED}; compression_type: string = ""', _records_kernel, "stateful deprecated@26"),
    "IdentityReader": (NAMED, _plain("IdentityReader", _identity), "stateful deprecated@26"),
}


def _maker(name: str, kind: str, attrs: str, kernel: Callable[..., Any], flags: str) -> Op:
    declared = op(f"{name}() -> (reader_handle:{kind}) | {attrs} | {flags}", kernel=kernel, gradient=FLAT)
    declared.shape(scalar if kind == HANDLE else lambda: (2,))
    return declared


def _lmdb_kernel(xp: Any, *, container: str, shared_name: str, run: Any) -> Any:
    return shared(run, container, shared_name, "reader", lambda name: Reader("LMDBReader", name, lmdb_entries))


_maker("LMDBReader", REFERENCE, NAMED, _lmdb_kernel, "stateful")

for _name, (_text, _kernel, _flags) in _MAKERS.items():
    _maker(_name, REFERENCE, _text, _kernel, _flags)
    if _name == "FixedLengthRecordReader":
        _text, _kernel = f'{_text}; encoding: string = ""', _pieces_kernel
    _maker(f"{_name}V2", HANDLE, _text, _kernel, "stateful")


# --- ops that use one -------------------------------------------------------------------------------------------------


def _reader(handle: np.ndarray) -> Reader:
    reader = held(handle)
    if not isinstance(reader, Reader):
        raise invalid(f"reader_handle is not of a reader, but of {type(reader).__name__}")
    return reader


def _read(xp: Any, reader_handle: Any, queue_handle: Any, *, run: Any) -> Any:
    key, value = _reader(reader_handle).read(queue_of(queue_handle), stopping.current(run.session))
    return text_of(key), text_of(value)


def _read_up_to(xp: Any, reader_handle: Any, queue_handle: Any, num_records: Any, *, run: Any) -> Any:
    stop = stopping.current(run.session)
    records = _reader(reader_handle).read_up_to(queue_of(queue_handle), int(num_records), stop)
    columns = np.empty((2, len(records)), object)
    for i, record in enumerate(records):
        columns[:, i] = record
    return columns[0], columns[1]


def _reset(xp: Any, reader_handle: Any) -> tuple[()]:
    _reader(reader_handle).reset()
    return ()


def _restore(xp: Any, reader_handle: Any, state: Any) -> tuple[()]:
    _reader(reader_handle).restore(state.item())
    return ()


def _one_state(reader: Known, state: Known) -> list[Any]:
    ranked(state, 0)
    return []


_USES: dict[str, tuple[str, Callable[..., Any], Callable[..., Any]]] = {
    "ReaderRead": (", queue_handle:{}) -> (key:string, value:string)", _read, lambda r, q: [(), ()]),
    "ReaderReadUpTo": (
        ", queue_handle:{}, num_records:int64) -> (keys:string, values:string)",
        _read_up_to,
        lambda r, q, n: [(None,), (None,)],
    ),
    "ReaderNumRecordsProduced": (
        ") -> (records_produced:int64)",
        lambda xp, reader_handle: np.array(_reader(reader_handle).produced, np.int64),
        scalar,
    ),
    "ReaderNumWorkUnitsCompleted": (
        ") -> (units_completed:int64)",
        lambda xp, reader_handle: np.array(_reader(reader_handle).finished, np.int64),
        scalar,
    ),
    "ReaderSerializeState": (
        ") -> (state:string)",
        lambda xp, reader_handle: text_of(_reader(reader_handle).state()),
        scalar,
    ),
    "ReaderRestoreState": (", state:string) -> ()", _restore, _one_state),
    "ReaderReset": (") -> ()", _reset, lambda r: []),
}
"""What can be done with a reader: the rest of the interface, the kernel, the shape rule."""

for _name, (_rest, _kernel, _shape) in _USES.items():
    for _form, _kind, _flags in ((_name, REFERENCE, ""), (f"{_name}V2", HANDLE, " | stateful")):
        op(
            f"{_form}(reader_handle:{_kind}{_rest.format(_kind)}{_flags}",
            shape=_shape,
            kernel=_kernel,
            gradient=FLAT,
            facts="waits" if "queue_handle" in _rest else "",
        )
