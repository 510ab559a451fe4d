"""Keys of object-based checkpoints: paths of attribute names, escaped and joined.

Knows strings only. A key is `path/.ATTRIBUTES/NAME`; a slot variable's is
`variable/.OPTIMIZER_SLOT/optimizer/slot/.ATTRIBUTES/NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

OBJECT_ATTRIBUTES_NAME = ".ATTRIBUTES"
SERIALIZE_TO_TENSORS_NAME = ".TENSORS"
OPTIMIZER_SLOTS_NAME = ".OPTIMIZER_SLOT"


def escape_local_name(name: str) -> str:
    """Return an attribute's name as it stands in a key.

    >>> escape_local_name("a/b.c")
    'a.Sb..c'
    """
    return name.replace(".", "..").replace("/", ".S")


def object_path_to_string(node_path_arr: Iterable[Any]) -> str:
    """Return the path along references with `.name`, as it stands in a key."""
    return "/".join(escape_local_name(reference.name) for reference in node_path_arr)


def checkpoint_key(object_path: str, local_name: str) -> str:
    """Return the key of one attribute of the object at a path.

    >>> checkpoint_key("model/w", "VARIABLE_VALUE")
    'model/w/.ATTRIBUTES/VARIABLE_VALUE'
    """
    if local_name.endswith(SERIALIZE_TO_TENSORS_NAME):
        local_name = local_name.replace(SERIALIZE_TO_TENSORS_NAME, "")
    return f"{object_path}/{OBJECT_ATTRIBUTES_NAME}/{escape_local_name(local_name)}"


def extract_object_name(key: str) -> str:
    """Return the path in front of `/.ATTRIBUTES`."""
    return key[: key.index("/" + OBJECT_ATTRIBUTES_NAME)]


def extract_local_name(key: str, prefix: str | None = None) -> str:
    """Return the attribute's name, behind `.ATTRIBUTES/` and a prefix of it."""
    start = OBJECT_ATTRIBUTES_NAME + "/" + (prefix or "")
    at = key.index(start)
    return key[at + len(start) :].replace(".S", "/").replace("..", ".")


def slot_variable_key(variable_path: str, optimizer_path: str, slot_name: str) -> str:
    """Return the path of a slot variable of an optimizer.

    >>> slot_variable_key("model/w", "opt", "m")
    'model/w/.OPTIMIZER_SLOT/opt/m'
    """
    return f"{variable_path}/{OPTIMIZER_SLOTS_NAME}/{optimizer_path}/{escape_local_name(slot_name)}"


def pretty_print_node_path(path: Sequence[Any]) -> str:
    """Return a path as a reader would write it: `root.a.b`."""
    if not path:
        return "root object"
    return "root." + ".".join(reference.name for reference in path)


class CyclicDependencyError(Exception):
    """Objects that each wait for the other; `leftover_dependency_map` says which."""

    def __init__(self, leftover_dependency_map: Mapping[Any, Any]):
        self.leftover_dependency_map = leftover_dependency_map
        super().__init__()


def order_by_dependency(dependency_map: Mapping[Any, Iterable[Any]]) -> list[Any]:
    """Return the keys so that each stands behind what it depends on.

    >>> order_by_dependency({2: [1], 1: [3], 3: []})
    [3, 1, 2]
    """
    every = set(dependency_map)
    unknown = [v for values in dependency_map.values() for v in values if v not in every]
    if unknown:
        raise ValueError(
            "Found values in the dependency map which are not keys: "
            f"{sorted(set(unknown), key=str)}. Dependency map: {dict(dependency_map)}"
        )
    waiting = {key: set(values) for key, values in dependency_map.items()}
    ordered: list[Any] = []
    while waiting:
        ready = [key for key, values in waiting.items() if not values]
        if not ready:
            raise CyclicDependencyError({key: list(values) for key, values in waiting.items()})
        for key in ready:
            del waiting[key]
        for values in waiting.values():
            values.difference_update(ready)
        ordered += ready
    return ordered
