"""Variants in files: what a scalar of dtype variant holds, as a message and back.

A kind of value says under which name it is written and which arrays it is made of (`register`). What is read under a
name that nobody has registered stays a message: it is handed on as it came, and written again as it was. Knows
messages; knows nothing of what the values mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.io.records import crc32c, masked
from ebbflow.messages.tensors import make_ndarray, make_tensor_proto

Arrays = Sequence[np.ndarray]


class _Kind(NamedTuple):
    name: str
    to_arrays: Callable[[Any], Arrays]


class Foreign:
    """A value of a kind that only the program that wrote it understands."""

    def __init__(self, message: Any):
        self.message = message

    @property
    def name(self) -> str:
        """The name of its kind."""
        return self.message.type_name


_kinds: dict[type, _Kind] = {}
_makers: dict[str, Callable[[Arrays], Any]] = {}


def register(kind: type, name: str, to_arrays: Callable[[Any], Arrays], from_arrays: Callable[[Arrays], Any]) -> None:
    """Have values of a class written under a name, as arrays."""
    _kinds[kind] = _Kind(name, to_arrays)
    _makers[name] = from_arrays


def to_message(value: Any) -> Any:
    """Return the message for what a variant holds."""
    if isinstance(value, Foreign):
        return value.message
    kind = _kinds.get(type(value))
    if kind is None:
        raise errors.UnimplementedError(
            None, None, f"A variant that holds {type(value).__name__} cannot be written to a file"
        )
    message: Any = messages.message("tensorflow.VariantTensorDataProto")(type_name=kind.name)
    message.tensors.extend([make_tensor_proto(array) for array in kind.to_arrays(value)])
    return message


def checksums(content: bytes, crc: int) -> tuple[bytes, int]:
    """Return the checksum that follows a message in a bundle, and that of all up to its end; `crc` is that before."""
    crc = crc32c(content, crc32c(len(content).to_bytes(8, "little"), crc))
    checked = masked(crc).to_bytes(4, "little")
    return checked, crc32c(checked, crc)


def from_bytes(data: bytes, what: str) -> Any:
    """Return what a variant holds, from the bytes of its message; `what` is named in errors."""
    kind: Any = messages.message("tensorflow.VariantTensorDataProto")
    try:
        message = messages.parse(kind, data)
        maker = _makers.get(message.type_name)
        return Foreign(message) if maker is None else maker([make_ndarray(tensor) for tensor in message.tensors])
    except (errors.DataLossError, TypeError, ValueError, IndexError) as error:
        raise errors.DataLossError(None, None, f"{what}: not the message of a variant: {error}") from None
