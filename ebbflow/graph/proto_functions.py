"""What the items of a collection become in a MetaGraphDef: `register_proto_function`, one row a collection.

A row says which message an item is written as and how to go there and back. Rooms above register theirs when they are
imported; `HOMES` names the modules, so that a file is read the same whether or not its program has used them before.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from ebbflow.core import errors

HOMES = {
    "variables": "ebbflow.state.variables",
    "trainable_variables": "ebbflow.state.variables",
    "local_variables": "ebbflow.state.variables",
    "model_variables": "ebbflow.state.variables",
    "metric_variables": "ebbflow.state.variables",
    "moving_average_variables": "ebbflow.state.variables",
    "global_step": "ebbflow.state.variables",
    "queue_runners": "ebbflow.train.queue_runner",
    "savers": "ebbflow.checkpoint.saver",
}
"""The modules that register collections of their own."""


class Row(NamedTuple):
    """How the items of one collection are written and read."""

    message: Any  # the class of the message, or a function that returns it: protobuf is loaded on first use
    to_proto: Callable[..., Any] | None
    from_proto: Callable[..., Any] | None


_rows: dict[str, Row] = {}


def register_proto_function(
    collection_name: str,
    proto_type: Any = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """Say how items of a collection become messages (`to_proto(item, export_scope=…)`) and come back (`from_proto`)."""
    for role, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function is not None and not callable(function):
            raise TypeError(f"{role} must be callable.")
    if collection_name in _rows:
        raise KeyError(f"Registering two proto_functions with name '{collection_name}'!")
    _rows[collection_name] = Row(proto_type, to_proto, from_proto)


def _row(collection_name: str) -> Row | None:
    home = HOMES.get(collection_name)
    if collection_name not in _rows and home is not None:
        try:
            importlib.import_module(home)
        except ModuleNotFoundError as error:
            if error.name != home:
                raise
    return _rows.get(collection_name)


def get_to_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """Return the function from an item of a collection to its message, or None."""
    row = _row(collection_name)
    return None if row is None else row.to_proto


def get_from_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """Return the function from a message to an item of a collection, or None."""
    row = _row(collection_name)
    return None if row is None else row.from_proto


def get_collection_proto_type(collection_name: str) -> Any:
    """Return the class of message that items of a collection are written as, or None."""
    row = _row(collection_name)
    if row is None or row.message is None:
        return None
    return row.message if hasattr(row.message, "DESCRIPTOR") else row.message()


def parsed(collection_name: str, data: bytes) -> Any:
    """Return the message that an item of a collection was written as."""
    kind = get_collection_proto_type(collection_name)
    try:
        return kind.FromString(data)
    except Exception as error:
        raise errors.DataLossError(
            None, None, f"collection '{collection_name}': {len(data)} bytes are no {kind.__name__}: {error}"
        ) from None
