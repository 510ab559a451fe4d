"""The enums of the messages and their values as plain names: `enums.DataType`, `enums.DT_FLOAT`, `enums.CANCELLED`.

These are what TensorFlow's `types_pb2`, `error_codes_pb2` and other generated modules show beside the messages. Knows
the schema, which has them; it is read with the first name used. Enums inside a message are the message's own.
"""

from __future__ import annotations

import functools
from typing import Any

from ebbflow import messages


@functools.cache
def _homes() -> dict[str, str]:
    """Return the full name of the enum that each name belongs to: an enum's own name, or one of its values."""
    homes: dict[str, str] = {}
    for full_name, values in messages.top_level_enums().items():
        homes[full_name.rpartition(".")[2]] = full_name
        for value in values:
            homes.setdefault(value, full_name)
    return homes


def __getattr__(name: str) -> Any:
    full_name = None if name.startswith("__") else _homes().get(name)
    if full_name is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    kinds = messages.enum(full_name.removeprefix("tensorflow."))
    return kinds if full_name.endswith(f".{name}") else kinds.Value(name)


def __dir__() -> list[str]:
    return sorted(_homes())
