"""`tensorflow.core.framework.types_pb2`: the numbers of the dtypes as messages write them, DT_FLOAT and so on.

Knows the message schema, which has them.
"""

from __future__ import annotations

from typing import Any

from ebbflow import messages


def __getattr__(name: str) -> Any:
    kinds = messages.enum("DataType")
    if name == "DataType":
        return kinds
    if name in kinds.keys():  # noqa: SIM118 (an enum, not a dict)
        return kinds.Value(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
