"""The fingerprint of a dataset: a number of the calls that made it.

Pipes know the op that made them, and what its kernel was given. Functions count by what they do: their nodes, in the
order they stand, by number instead of by name. What is held by handle (random generators, caches, tables) counts as its
place only. Knows pipes, ops and graphs; nothing of users.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.data.pipe import Pipe, pipe_of
from ebbflow.ops.declare import FLAT

DatasetFingerprint = op(
    "DatasetFingerprint(input_dataset:variant) -> (fingerprint:uint64)",
    shape=lambda input_dataset: (),
    gradient=FLAT,
)


@DatasetFingerprint.kernel
def _(xp: Any, input_dataset: Any) -> Any:
    return np.uint64(fingerprint(pipe_of(input_dataset)))


def fingerprint(pipe: Pipe) -> int:
    """Return the fingerprint of a dataset."""
    digest = hashlib.blake2b(digest_size=8)
    for part in _pipe(pipe):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return int.from_bytes(digest.digest(), "little")


def _pipe(pipe: Pipe) -> Iterator[bytes]:
    """Yield what tells a dataset from others."""
    yield pipe.name.encode()
    args, attrs = pipe.given or ((), {})
    yield from _value(args)
    yield from _value({key: value for key, value in attrs.items() if key not in ("metadata", "run")})


def _value(value: Any) -> Iterator[bytes]:
    """Yield what tells an argument or an attr from others."""
    if isinstance(value, (list, tuple)):
        yield b"%d in a row" % len(value)
        for part in value:
            yield from _value(part)
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield str(key).encode()
            yield from _value(value[key])
    elif isinstance(value, (np.ndarray, np.generic)):
        yield from _array(np.asarray(value))
    elif hasattr(value, "_nodes"):
        yield from _body(value)
    elif isinstance(value, bytes):
        yield value
    else:
        yield repr(value).encode()


def _array(array: np.ndarray) -> Iterator[bytes]:
    yield f"{array.dtype.str} {array.shape}".encode()
    if array.dtype != object:
        yield np.ascontiguousarray(array).tobytes()
        return
    for held in array.reshape(-1).tolist():
        if isinstance(held, Pipe):
            yield from _pipe(held)
        else:
            yield held if isinstance(held, bytes) else str(held if isinstance(held, str) else type(held)).encode()


def _body(body: Any) -> Iterator[bytes]:
    """Yield what a function does: of each node its op, its attrs, and the numbers of what it reads."""
    number = {id(tensor): (i, j) for i, node in enumerate(body._nodes) for j, tensor in enumerate(node._outputs)}
    for node in body._nodes:
        yield node.type.encode()
        yield repr([number.get(id(tensor)) for tensor in node._inputs]).encode()
        yield from _value({key: value for key, value in node._attrs.items() if not key.startswith("_")})
    yield repr([number.get(id(tensor)) for tensor in body.outputs]).encode()
