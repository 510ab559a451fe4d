"""A checkpoint's objects without the program that saved them: `tf.train.CheckpointView`.

Nodes are numbers; children have names. A view compares what a checkpoint holds with objects that are there. Reads the
description of objects, never the values.
"""

from __future__ import annotations

import collections
from typing import Any

from ebbflow.checkpoint.positions import object_metadata
from ebbflow.core.identity import ObjectIdentityDictionary, ObjectIdentitySet
from ebbflow.platform import files, logging
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.view import TrackableView


class CheckpointView:
    """The objects that a checkpoint describes."""

    def __init__(self, save_path: Any):
        nodes = object_metadata(files.text_of(save_path)).nodes
        self._children: list[dict[str, int]] = []
        for number, node in enumerate(nodes):
            children = {child.local_name: child.node_id for child in node.children}
            beyond = [i for i in children.values() if not 0 <= i < len(nodes)]
            if beyond:
                raise ValueError(f"{save_path}: node {number} has the child {beyond[0]}, of {len(nodes)} nodes")
            self._children.append(children)

    def children(self, node_id: int) -> dict[str, int]:
        """Return the numbers of a node's children by name."""
        return dict(self._children[node_id])

    def descendants(self) -> list[int]:
        """Return the numbers of all nodes, nearest to the root first."""
        return list(self._descendants_with_paths())

    def _descendants_with_paths(self) -> dict[int, str]:
        """Return the paths to all nodes by number, nearest to the root first."""
        paths, waiting = {0: "root"}, collections.deque([0])
        while waiting:
            current = waiting.popleft()
            for name, child in self._children[current].items():
                if child not in paths:
                    paths[child] = f"{paths[current]}.{name}"
                    waiting.append(child)
        return paths

    def match(self, obj: object) -> dict[int, Any]:
        """Return the objects below `obj` that stand where nodes of the checkpoint do, by the nodes' numbers."""
        if not isinstance(obj, Trackable):
            raise ValueError(f"Expected a trackable object to match a checkpoint with, got {obj!r}")
        view = TrackableView(obj)
        matched: dict[int, Any] = {0: obj}
        numbers = ObjectIdentityDictionary()
        numbers[obj] = 0
        waiting: collections.deque[tuple[int, Any]] = collections.deque([(0, obj)])
        while waiting:
            number, current = waiting.popleft()
            children = view.children(current)
            for name, child_number in self._children[number].items():
                child = children.get(name)
                if child is None:
                    continue
                if child_number not in matched and child not in numbers:
                    matched[child_number], numbers[child] = child, child_number
                    waiting.append((child_number, child))
                elif matched.get(child_number) is not child:
                    logging.warning(
                        "Inconsistent references when matching the checkpoint into this object graph. The referenced "
                        "objects are: (%s and %s).", child, matched.get(child_number, numbers.get(child)),
                    )  # fmt: skip
        return matched

    def diff(self, obj: object) -> tuple[dict[int, Any], list[int], list[Any]]:
        """Return what matches, the nodes that no object stands for, and the objects that the checkpoint has not."""
        matched = self.match(obj)
        known = ObjectIdentitySet(matched.values())
        only_nodes = [number for number in self.descendants() if number not in matched]
        return matched, only_nodes, [one for one in TrackableView(obj).descendants() if one not in known]
