"""Objects that a program saves and restores by functions of its own (`trackable/registration.py`), in a checkpoint.

Such functions write files of their own, under a prefix they are told, and these are merged with what is written here,
so that there is one checkpoint in the end. Works on paths that are tensors, eagerly and in graphs alike.
"""

from __future__ import annotations

import functools
import os
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ebbflow.core import context, nest
from ebbflow.core.convert import convert
from ebbflow.functions.function import function
from ebbflow.graph.scopes import control_dependencies
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.declare import raw
from ebbflow.platform import files
from ebbflow.trackable.registration import get_restore_function, get_save_function

Registered = Mapping[str, Mapping[str, Any]]
"""The objects by the name of their saver, and their own in the checkpoint."""


class Parts(NamedTuple):
    """What savers of the program have written: the prefixes, and the one under which the rest is to be."""

    prefixes: list[Any]
    rest: Any


def save_parts(registered: Registered, path: Any) -> Parts:
    """Have each saver write its objects, beside a checkpoint's path."""
    beside = raw.StringJoin([convert(path), f"_temp_{uuid.uuid4().hex}/part"])
    if type(beside) is not SymbolicTensor:
        files.makedirs(os.path.dirname(beside.numpy().decode()))
    prefixes: list[Any] = []
    for name, trackables in registered.items():
        own = raw.StringJoin([beside, f"-{name}"])
        prefixes += _in_order(functools.partial(call_saver, name, trackables), own)
    with control_dependencies([prefix.op for prefix in prefixes if type(prefix) is SymbolicTensor]):
        return Parts([convert(prefix) for prefix in prefixes], raw.ShardedFilename(beside, 0, 1))


def call_saver(name: str, trackables: Mapping[str, Any], file_prefix: Any) -> list[Any]:
    """Have a saver write its objects; return the prefixes of what it wrote, which may be none."""
    written = get_save_function(name)(trackables=dict(trackables), file_prefix=file_prefix)
    return [] if written is None else nest.flatten(written)


def merge_parts(parts: Parts, path: Any, written: Any = None) -> Any:
    """Make one checkpoint of all parts; in a graph, return the node that does, which waits for `written`."""
    with control_dependencies([] if written is None else [written]):
        return raw.MergeV2Checkpoints([*parts.prefixes, parts.rest], path, delete_old_dirs=True)


def restore_with(registered: Registered, path: Any) -> list[Any]:
    """Have each saver restore its objects from a finished checkpoint; return, in a graph, what to run for it."""
    return [
        _in_order(functools.partial(call_restorer, name, trackables), convert(path))
        for name, trackables in registered.items()
    ]


def call_restorer(name: str, trackables: Mapping[str, Any], merged_prefix: Any) -> Any:
    """Have a saver restore its objects; return the prefix."""
    get_restore_function(name)(trackables=dict(trackables), merged_prefix=merged_prefix)
    return raw.Identity(merged_prefix)


def _in_order(body: Callable[[Any], Any], path: Any) -> Any:
    """Return `body(path)`; in the graph of a session as a function, in which effects come in the order written."""
    graph = context.current_graph()
    if graph is None or graph.building_function:
        return body(path)
    return function(body, autograph=False)(path)
