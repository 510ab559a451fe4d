"""The objects of a model, numbered: those that can be reached from the root, each once, breadth first.

A SavedModel writes two graphs of them, the object graph and that of the checkpoint; both use these numbers. Knows what
`_trackable_children` says.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ebbflow.checkpoint.object_graph import slot_variables
from ebbflow.core.identity import ObjectIdentityDictionary
from ebbflow.functions.concrete import ConcreteFunction
from ebbflow.functions.function import BoundFunction, Function
from ebbflow.trackable.base import Trackable, TrackableReference
from ebbflow.trackable.constants import SaveType
from ebbflow.trackable.data_structures import convert_to_trackable
from ebbflow.trackable.keys import escape_local_name


class ObjectView:
    """The objects that a root holds."""

    def __init__(self, root: Any, signatures: Any, of_root: dict[str, Any] | None = None, cache: Any = None):
        self.objects: list[Any] = []
        self.children: list[dict[str, int]] = []
        self.paths: list[str] = []
        self._numbers: dict[int, int] = {}
        self._cache: dict[Any, Any] = {} if cache is None else cache
        self._root, self._of_root = root, of_root
        waiting = deque([(self._number(root, ""), root)])
        while waiting:
            number, obj = waiting.popleft()
            children = dict(self._children_of(obj))
            if obj is root:
                children["signatures"] = signatures
            for name, child in children.items():
                known = self._key(child) in self._numbers
                prefix = f"{self.paths[number]}/" if self.paths[number] else ""
                there = self._number(child, prefix + escape_local_name(name))
                self.children[number][name] = there
                if not known:
                    waiting.append((there, child))
        self.slots = self._add_slots()

    def _add_slots(self) -> dict[int, list[Any]]:
        """Number the slot variables of optimizers that can have them made again; return their references."""
        names, numbers, objects = ObjectIdentityDictionary(), ObjectIdentityDictionary(), list(self.objects)
        for number, obj in enumerate(objects):
            names[obj], numbers[obj] = self.paths[number], number
        found = slot_variables(objects, names, numbers, makers="add_slot")
        for slot in objects[len(self.objects) :]:
            self._number(slot, names[slot])
        return found

    def _children_of(self, obj: Any) -> dict[str, Any]:
        if isinstance(obj, (Function, ConcreteFunction)) or not isinstance(obj, Trackable):
            return {}
        found = self._of_root if obj is self._root else None
        if found is None:
            found = obj._trackable_children(SaveType.SAVEDMODEL, cache=self._cache)
        return {name: convert_to_trackable(child, parent=obj) for name, child in found.items()}

    def _key(self, obj: Any) -> int:
        return id(obj.__dict__) if isinstance(obj, BoundFunction) else id(obj)

    def _number(self, obj: Any, path: str) -> int:
        """Return an object's number; one met for the first time gets the next."""
        key = self._key(obj)
        if key not in self._numbers:
            self._numbers[key] = len(self.objects)
            self.objects.append(obj)
            self.children.append({})
            self.paths.append(path)
        return self._numbers[key]

    def number_of(self, obj: Any, name: str) -> int:
        """Return the number of an object of the model; `name` is what whoever needs it calls it."""
        number = self._numbers.get(self._key(obj))
        if number is None:
            raise ValueError(
                f"Found an untracked dependency: an object needs '{name}' to be made again, {obj!r}, which nothing "
                "that is saved has among its children"
            )
        return number

    def references(self) -> ObjectIdentityDictionary:
        """Return by object the way to it from the root, as a tuple of names with their objects."""
        ways: dict[int, tuple[TrackableReference, ...]] = {0: ()}
        waiting = deque([0])
        while waiting:
            number = waiting.popleft()
            for name, child in self.children[number].items():
                if child not in ways:
                    ways[child] = (*ways[number], TrackableReference(name, self.objects[child]))
                    waiting.append(child)
        found = ObjectIdentityDictionary()
        for number, way in ways.items():
            found[self.objects[number]] = way
        return found

    def add(self, obj: Any) -> int:
        """Return the number of an object that belongs to the model without being anybody's child."""
        return self._number(obj, "")
