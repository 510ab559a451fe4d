"""`tensorflow.python.ops.resources`: things beside variables that a graph must make before it runs.

A thing registers its handle with two ops, one that makes it and one that says whether it is made; a graph keeps them in
two collections. Knows graphs and their collections, not what the things are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.graph import collections, scopes
from ebbflow.graph.collections import GraphKeys
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.arrays.masks import boolean_mask
from ebbflow.ops.elementwise.compare import logical_not


class _Registered(NamedTuple):
    handle: Any
    create: Any
    is_initialized: Any


def register_resource(handle: Any, create_op: Any, is_initialized_op: Any, is_shared: bool = True) -> None:
    """Have a thing made with the others: with those of all sessions, or with a session's own."""
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    collections.add_to_collection(key, _Registered(handle, create_op, is_initialized_op))


def shared_resources() -> list[_Registered]:
    """Return what is registered for all sessions."""
    return collections.get_collection(GraphKeys.RESOURCES)


def local_resources() -> list[_Registered]:
    """Return what is registered for each session."""
    return collections.get_collection(GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resource_list: list[_Registered], name: str = "init") -> Any:
    """Return the operation that makes all of a list."""
    if not resource_list:
        return scopes.no_op(name=name)
    return scopes.group(*(item.create for item in resource_list), name=name)


def report_uninitialized_resources(
    resource_list: list[_Registered] | None = None, name: str = "report_uninitialized_resources"
) -> Tensor:
    """Return the names of those that are not made yet, as a string vector."""
    listed = shared_resources() + local_resources() if resource_list is None else resource_list
    with name_scope(name):
        if not listed:
            return constant(np.array([], object), dtype=dtypes.string)
        missing = logical_not(stack([item.is_initialized for item in listed]))
        return boolean_mask(constant([item.handle.name for item in listed]), missing)
