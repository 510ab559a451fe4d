"""`tensorflow.core.function.trace_type`: the types that traces are told apart by, for programs that make or cast them.

A thin front of `signature` and `trace_types`. The contexts say how strictly a value is taken.
"""

from __future__ import annotations

from typing import Any

from ebbflow import messages
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import TensorShape
from ebbflow.functions.signature import Given, type_of

_serializable: dict[str, Any] = {}


def register_serializable(cls: Any) -> None:
    """Let values of a class be read back: it says its message (`experimental_type_proto`), and how to go both ways."""
    _serializable[cls.experimental_type_proto().DESCRIPTOR.full_name] = cls


def serialize(to_serialize: Any) -> Any:
    """Return a type as a message that says which class it is of."""
    if not hasattr(to_serialize, "experimental_as_proto"):
        raise ValueError(f"Can not serialize {to_serialize!r}: it has no experimental_as_proto")
    message = messages.Any()
    message.Pack(to_serialize.experimental_as_proto())
    return message


def deserialize(proto: Any) -> Any:
    """Return the type that a message of `serialize` says.

    >>> deserialize(serialize(TensorShape([1, None])))
    TensorShape([1, None])
    """
    if not _serializable:
        for known in (DType, TensorShape):
            register_serializable(known)
    name = proto.type_url.rpartition("/")[2]
    if name not in _serializable:
        raise ValueError(f"Can not deserialize proto of unregistered type {name}")
    inside = _serializable[name].experimental_type_proto()()
    proto.Unpack(inside)
    return _serializable[name].experimental_from_proto(inside)


class InternalCastContext:
    """How values are cast: `allow_specs` lets a spec stand for a value."""

    def __init__(self, allow_specs: bool = False):
        self._allow_specs = allow_specs

    @property
    def allow_specs(self) -> bool:
        """Whether a spec may stand for a value."""
        return self._allow_specs


class InternalTracingContext(Given):
    """What a walk over values collects while their types are found."""

    def __init__(self, is_legacy_signature: bool = False):
        super().__init__()
        self.is_legacy_signature = is_legacy_signature

    __slots__ = ("is_legacy_signature",)


def from_value(value: Any, context: Any = None) -> Any:
    """Return the type by which a function knows a value; `context` is what the walk collects, if somebody looks.

    >>> from_value(3)
    Literal[3]
    """
    return type_of(value, context if isinstance(context, Given) else Given())
