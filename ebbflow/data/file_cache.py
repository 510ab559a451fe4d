"""The elements of a dataset in a file, once somebody has gone through them: a tensor bundle, as TensorFlow's.

A tensor's name is the number of its element and its own; the bundle gets its name when it is whole. While somebody
writes it, a lock file says so, and whoever else would write is refused, unless it goes on in the place of that one: a
restored iterator writes, and the one that was saved no longer does. Knows pipes and bundles.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from collections.abc import Iterator
from typing import Any

from ebbflow.core import errors
from ebbflow.data.element_records import dtype_of
from ebbflow.data.going_on import Failed, goes_on, told
from ebbflow.data.pipe import GOING_BACK, Element, Pipe
from ebbflow.io.bundle import BundleReader, bundle_exists
from ebbflow.io.bundle_writer import BundleWriter
from ebbflow.io.records import open_file
from ebbflow.ops.random.seeds import iteration
from ebbflow.ops.sizes import invalid
from ebbflow.platform import files

MOST = 10_000_000
"""Elements that names are wide enough for."""


def in_file(source: Pipe, path: str) -> Iterator[Element]:
    """Return the elements of a cache, or those of a pipe, which are written on the way."""
    return _read(path) if bundle_exists(path) else _written(source, path)


def _name(element: int, tensor: int, tensors: int) -> str:
    return f"{element:>{len(str(MOST - 1))}}_{tensor:>{len(str(tensors - 1))}}"


@goes_on
def _written(source: Pipe, path: str) -> Iterator[Any]:
    if bundle_exists(path):  # another was quicker
        yield from _read(path)
        return
    lock, own = f"{path}_0.lockfile", object()
    if lock in _writing and (iteration.streams or {}).get(GOING_BACK):
        with contextlib.suppress(errors.NotFoundError):
            files.remove(lock)
    with contextlib.ExitStack() as held:
        held.enter_context(_lock(lock))
        held.callback(lambda: _writing.pop(lock) if _writing.get(lock) is own else None)
        _writing[lock] = own
        writer = BundleWriter(path)
        unfinished = held.enter_context(contextlib.ExitStack())
        unfinished.callback(writer.abandon)

        def finish() -> None:
            unfinished.pop_all()
            if _writing.get(lock) is own:
                writer.finish()
            else:
                writer.abandon()
            held.close()

        count = 0
        for element in told(source.start()):
            if element.__class__ is not Failed:
                if count == MOST:
                    raise invalid(f"a cache in a file has room for {MOST} elements")
                for i, array in enumerate(element):
                    writer.add(_name(count, i, len(element)), array, dtype_of(array))
                count += 1
                if count == source.size:  # nobody need ask for more
                    finish()
            yield element
        if count != source.size:
            finish()


_writing: dict[str, object] = {}
"""Who writes, of this process, by lock file."""


@contextlib.contextmanager
def _lock(path: str) -> Iterator[None]:
    """Hold a lock file; AlreadyExistsError where another writer does that is not known to have died."""
    _drop_left_behind(path)
    try:
        file = open_file(path, "xb")
    except errors.AlreadyExistsError:
        raise errors.AlreadyExistsError(
            None, None, "There appears to be a concurrent caching iterator running - cache lockfile already exists "
            f"('{path}'). If you are sure no other running TF computations are using this cache prefix, delete the "
            "lockfile and re-initialize the iterator.",
        ) from None  # fmt: skip
    own = f"Created at: {int(time.time())}\n{_here()} {os.getpid()}\n{secrets.token_hex(8)}\n"
    with file:
        file.write(own.encode())
    try:
        yield
    finally:
        with contextlib.suppress(errors.NotFoundError):
            if files.read_bytes(path) == own.encode():  # another may have taken its place
                files.remove(path)


def _here() -> str:
    return socket.gethostname() or "localhost"


def _drop_left_behind(path: str) -> None:
    """Remove the lock of a process of this machine that is gone."""
    if not files.exists(path):  # an error would hold on to the frames of whoever takes the first element
        return
    try:
        machine, process = files.read_bytes(path).decode().split("\n")[1].split()
        if machine == _here():
            os.kill(int(process), 0)
    except ProcessLookupError:
        with contextlib.suppress(errors.NotFoundError):
            files.remove(path)
    except (OSError, ValueError, IndexError, errors.OpError):  # there is none, or it is another's
        return


def _read(path: str) -> Iterator[Element]:
    element: list[Any] = []
    number = ""
    for name, array in BundleReader(path).in_order():
        own, _, _ = name.partition("_")
        if not own.strip().isdigit():
            raise errors.DataLossError(None, None, f"{path} is not a cache of a dataset: it holds {name}")
        if own != number and element:
            yield tuple(element)
            element = []
        number = own
        element.append(array)
    if element:
        yield tuple(element)
