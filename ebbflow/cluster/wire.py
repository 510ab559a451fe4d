"""What travels between processes, as bytes: frames, tensors, errors.

A message is a row of frames; a frame is a header (kind, two lengths, a number), some JSON or a key, and a payload.
A tensor is one frame of kind DATA that says key, dtype and shape and carries the first bytes, and as many of kind MORE
as it needs: raw bytes from the array and into one that was allocated once. Nothing is pickled. What arrives is checked
before anything is allocated. Knows arrays and bytes; knows nothing of gRPC, steps or sessions.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import dtypes, errors

PROTOCOL = 2
"""The version of what is said here; both ends must agree."""

PIECE = 1 << 20
"""Bytes of a tensor that one frame carries: larger messages are slower, whatever carries them."""

LARGEST_TENSOR = 1 << 40
"""Bytes. What claims to be larger is refused before anything is allocated."""

LARGEST_RANK = 64
"""Of a NumPy array."""

SHORT = 1 << 10
"""Bytes of a head that is remembered: the steps of a program say the same ones again and again."""

SMALL = 1 << 16
"""Bytes of a tensor that is copied when it is posted: that takes less time than keeping its parts together."""

CALL, ANSWER, FAILURE, RUN, DONE, CANCEL, DATA, MORE = range(1, 9)
_KINDS = range(CALL, MORE + 1)

_HEADER = struct.Struct("<BIIQ")  # kind, bytes of the head, bytes of the payload, step or number of the call
_SHAPE = struct.Struct("<HHBQ")  # bytes of the key, number of the dtype, rank, bytes of the whole tensor


class Frame(NamedTuple):
    """One thing said: the head is JSON, or the key and shape of a tensor."""

    kind: int
    number: int
    head: bytes
    payload: Any  # bytes or a view of them

    @property
    def size(self) -> int:
        return _HEADER.size + len(self.head) + len(self.payload)

    def pieces(self) -> tuple[bytes, bytes, Any]:
        """Return what to write one after the other."""
        return _HEADER.pack(self.kind, len(self.head), len(self.payload), self.number), self.head, self.payload

    def json(self) -> Any:
        """Return the head, which is JSON."""
        try:
            return json.loads(self.head)
        except ValueError as error:
            raise damaged(f"the head of a frame of kind {self.kind} is no JSON ({error})") from None


def damaged(what: str) -> errors.DataLossError:
    """Return the error for bytes that are not what a peer of this version would send."""
    return errors.DataLossError(None, None, f"a message from another task cannot be read: {what}")


def run_content(frame: Frame) -> Any:
    """Return the head of a RUN, which nobody may change: step after step it is the same."""
    return _same_content(frame.head) if len(frame.head) <= SHORT else frame.json()


@lru_cache(1024)
def _same_content(head: bytes) -> Any:
    return Frame(RUN, 0, head, b"").json()


def said(kind: int, number: int, content: Any = None, payload: Any = b"") -> Frame:
    """Return a frame with a head of JSON."""
    return Frame(kind, number, b"" if content is None else json.dumps(content).encode(), payload)


def frames(message: bytes, incoming: Incoming | None = None) -> Iterator[Frame]:
    """Give the frames of a message, without those of whole tensors that `incoming` takes as they lie there."""
    view, at, end = memoryview(message), 0, len(message)
    while at < end:
        if end - at < _HEADER.size:
            raise damaged(f"{end - at} bytes are left where a header takes {_HEADER.size}")
        kind, head, payload, number = _HEADER.unpack_from(view, at)
        at += _HEADER.size
        if kind not in _KINDS or head + payload > end - at:
            raise damaged(f"frame of kind {kind}, {head} + {payload} bytes, of which {end - at} are there")
        if kind != DATA or incoming is None or not incoming.take_whole(message, at, head, payload, number):
            yield Frame(kind, number, bytes(view[at : at + head]), view[at + head : at + head + payload])
        at += head + payload


# --- tensors ----------------------------------------------------------------------------------------------------------


def tensor_frames(step: int, key: str, array: np.ndarray) -> Iterator[Frame]:
    """Give the frames of a tensor, which must not change until the last was taken."""
    first, content = first_frame(step, key, array)
    yield first
    yield from further_frames(step, content)


def packed(step: int, key: str, array: np.ndarray) -> bytes | None:
    """Return a small tensor of ordinary numbers as the bytes of its one frame; None for all others."""
    size = array.nbytes
    if size > SMALL or array.dtype.isbuiltin != 1 or array.dtype.hasobject or not array.flags.c_contiguous:
        return None
    head = _same_head(key, array.dtype, array.shape)
    content: Any = array  # as bytes
    return b"".join((_HEADER.pack(DATA, len(head), size, step), head, content))


def first_frame(step: int, key: str, array: np.ndarray) -> tuple[Frame, memoryview]:
    """Return the frame that a tensor begins with, and all its bytes."""
    if array.dtype.kind == "O":
        content = _packed_strings(array, key)
        head = _head(key, dtypes.string, array.shape, len(content))
    else:
        content = _flat_bytes(array)
        head = _same_head(key, array.dtype, array.shape)
    return Frame(DATA, step, head, content if len(content) <= PIECE else content[:PIECE]), content


def further_frames(step: int, content: memoryview) -> Iterator[Frame]:
    """Give the frames of what the first one does not carry."""
    for at in range(PIECE, len(content), PIECE):
        yield Frame(MORE, step, b"", content[at : at + PIECE])


@lru_cache(4096)
def _same_head(key: str, dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    try:
        return _head(key, dtypes.as_dtype(dtype), shape, math.prod(shape) * dtype.itemsize)
    except TypeError:
        raise unsendable(key, f"an array of {dtype}") from None


def _head(key: str, dtype: dtypes.DType, shape: tuple[int, ...], size: int) -> bytes:
    name = key.encode()
    described = _SHAPE.pack(len(name), dtype.as_datatype_enum, len(shape), size)
    return b"".join((described, name, struct.pack(f"<{len(shape)}Q", *shape)))


def unsendable(key: str, what: str) -> errors.UnimplementedError:
    """Return the error for a value that has no meaning in another process."""
    name = key.split(";")[3] if key.count(";") > 3 else key
    return errors.UnimplementedError(
        None,
        None,
        f"{what} cannot be sent to another task (tensor {name!r}): handles and variants stay in the process that made "
        "them; put what uses it on the same device, or send what was read from it",
    )


def _flat_bytes(array: np.ndarray) -> memoryview:
    flat = (array if array.flags.c_contiguous else np.ascontiguousarray(array)).reshape(-1)
    return flat.view(np.uint8).data if flat.size else memoryview(b"")


def _packed_strings(array: np.ndarray, key: str) -> memoryview:
    """Return the lengths of all strings, and then the strings."""
    for item in array.reshape(-1):
        if not isinstance(item, (bytes, str)):
            raise unsendable(key, f"a {type(item).__name__}")
    items = [s.encode() if isinstance(s, str) else s for s in array.reshape(-1)]
    return memoryview(b"".join([np.array([len(s) for s in items], "<u8").tobytes(), *items]))


class Incoming:
    """Puts tensors together from the frames of one stream, and hands each on with its step and key."""

    def __init__(self, deliver: Callable[[int, str, np.ndarray], None]):
        self._deliver = deliver
        self._current: tuple[int, str, Any, np.ndarray] | None = None  # step, key, how to finish, bytes so far
        self._filled = 0

    def take_whole(self, message: bytes, at: int, head: int, payload: int, number: int) -> bool:
        """Take a frame of a message where it lies, and return True, if it is a whole tensor of ordinary numbers."""
        if head > SHORT or self._current is not None:
            return False
        body = at + head
        key, dtype, dims, size = _same_description(message[at:body])
        if size != payload or size != _same_size(dtype, dims):
            return False
        self._deliver(number, key, np.ndarray(dims, dtype.np, message, body).copy())
        return True

    def take(self, frame: Frame) -> None:
        """Take a frame of kind DATA or MORE."""
        if frame.kind == DATA:
            if self._begin(frame):
                return
        elif self._current is None or frame.number != self._current[0]:
            raise damaged(f"more bytes of a tensor of step {frame.number}, of which none had come")
        step, key, finish, content = self._current  # type: ignore[misc]
        end = self._filled + len(frame.payload)
        if end > len(content):
            raise damaged(f"{end} bytes of a tensor of {len(content)} ({key})")
        content[self._filled : end] = np.frombuffer(frame.payload, np.uint8)
        self._filled = end
        if end == len(content):
            self._current = None
            self._deliver(step, key, finish(content))

    def _begin(self, frame: Frame) -> bool:
        """Take the frame that a tensor begins with, and return whether that is all of it."""
        if self._current is not None:
            raise damaged(f"a tensor begins before {self._current[1]} is complete")
        head = frame.head
        key, dtype, dims, size = _same_description(head) if len(head) <= SHORT else _described(head)
        if dtype is dtypes.string:
            finish = lambda content: _unpacked_strings(content, dims)
        elif size != math.prod(dims) * dtype.np.itemsize:
            raise damaged(f"{size} bytes for {dtype.name}{list(dims)} ({key})")
        elif size == len(frame.payload):
            self._deliver(frame.number, key, np.frombuffer(frame.payload, dtype.np).reshape(dims).copy())
            return True
        else:
            finish = lambda content: content.view(dtype.np).reshape(dims)
        self._current, self._filled = (frame.number, key, finish, np.empty(size, np.uint8)), 0
        return False


@lru_cache(4096)
def _same_size(dtype: dtypes.DType, dims: tuple[int, ...]) -> int:
    """Return the bytes of a tensor; -1 where they do not follow from its shape."""
    return -1 if dtype is dtypes.string else math.prod(dims) * dtype.np.itemsize


@lru_cache(4096)
def _same_description(head: bytes) -> tuple[str, dtypes.DType, tuple[int, ...], int]:
    return _described(head)


def _described(head: bytes) -> tuple[str, dtypes.DType, tuple[int, ...], int]:
    """Return key, dtype, dims and size of a tensor that begins."""
    try:
        length, number, rank, size = _SHAPE.unpack_from(head)
        if rank > LARGEST_RANK or size > LARGEST_TENSOR:
            raise damaged(f"a tensor of rank {rank} and {size} bytes")
        key = head[_SHAPE.size : _SHAPE.size + length].decode()
        dims = struct.unpack_from(f"<{rank}Q", head, _SHAPE.size + length)
        dtype = dtypes.as_dtype(number)
    except (struct.error, UnicodeDecodeError, TypeError) as error:
        raise damaged(f"the head of a tensor ({error})") from None
    if dtype in (dtypes.resource, dtypes.variant):
        raise damaged(f"a tensor of dtype {dtype.name}")
    return key, dtype, dims, size


def _unpacked_strings(content: np.ndarray, dims: tuple[int, ...]) -> np.ndarray:
    count = math.prod(dims)
    if count * 8 > len(content):
        raise damaged(f"{len(content)} bytes for {count} strings")
    lengths = content[: count * 8].view("<u8")
    raw, at = content.tobytes(), count * 8
    if int(lengths.sum(dtype=object) if count else 0) != len(raw) - at:
        raise damaged(f"strings of {int(lengths.sum(dtype=object))} bytes, {len(raw) - at} are there")
    result = np.empty(count, object)
    for i, length in enumerate(lengths.tolist()):
        result[i] = raw[at : at + length]
        at += length
    return result.reshape(dims)


# --- errors -----------------------------------------------------------------------------------------------------------

_PYTHON_ERRORS = {cls.__name__: cls for cls in (ValueError, TypeError, KeyError, IndexError, ZeroDivisionError)}


def error_content(error: BaseException) -> dict[str, Any]:
    """Return what is sent of an error: its kind, its words, and the node it names."""
    if isinstance(error, errors.OpError):
        node = getattr(error.op, "name", None)
        return {"code": error.error_code, "message": error.message, "node": node}
    if isinstance(error, MemoryError):
        return {"code": errors.RESOURCE_EXHAUSTED, "message": f"out of memory: {error}", "node": None}
    return {"python": type(error).__name__, "message": str(error), "node": None}


def error_from(content: Any, graph: Any = None, where: str = "") -> Exception:
    """Return an error that came from another task, with the node of `graph` that it names."""
    message = str(content.get("message", ""))
    if "code" not in content:
        cls = _PYTHON_ERRORS.get(content.get("python", ""))
        if cls is not None:
            return cls(message)
        return errors.UnknownError(None, None, f"{content.get('python')}: {message}{where}")
    node = graph._by_name.get(content.get("node")) if graph is not None else None
    made: Any = errors.exception_type_from_error_code(content["code"]) if content["code"] in _CODES else None
    if made is None:
        return errors.UnknownError(None, node, message + where)
    return made(None if node is None else node.node_def, node, message + where)


_CODES = range(errors.CANCELLED, errors.UNAUTHENTICATED + 1)
