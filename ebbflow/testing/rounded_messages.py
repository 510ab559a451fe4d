"""Messages with their numbers rounded: what `assertProtoEquals` compares, where messages are not equal as they are.

Floats keep six decimals and doubles seven, as TensorFlow's tests have it: a sum in another order is no difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.protobuf.message import Message

DECIMALS = {"TYPE_FLOAT": 6, "TYPE_DOUBLE": 7}


def rounded(message: Message) -> Message:
    """Return a copy of a message whose floats are rounded, in it and in all it holds."""
    copy = type(message)()
    copy.CopyFrom(message)
    _round(copy)
    return copy


def _round(message: Any) -> None:
    for field, value in message.ListFields():
        decimals = next((n for kind, n in DECIMALS.items() if field.type == getattr(type(field), kind)), None)
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if is_map:
            for held in value.values():
                _round(held) if hasattr(held, "ListFields") else None
        elif field.message_type is not None:
            for held in value if hasattr(value, "extend") else [value]:
                _round(held)
        elif decimals is not None and hasattr(value, "extend"):
            value[:] = [round(x, decimals) for x in value]
        elif decimals is not None:
            setattr(message, field.name, round(value, decimals))
