"""Objects as a checkpoint has them: nodes with numbers, children by name, keys of their values, slots of optimizers.

`describe(view)` gives the TrackableObjectGraph of what can be reached from a root, and the values to be saved by key.
Nodes are numbered and keys are made as TensorFlow does. Knows trackable objects; knows nothing of files.
"""

from __future__ import annotations

import functools
import importlib
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ebbflow import messages
from ebbflow.checkpoint.saveables import (
    SaveableObject,
    SaveSpec,
    TensorsSaveable,
    has_tensors,
    saveable_objects_for_op,
)
from ebbflow.core import errors
from ebbflow.core.identity import ObjectIdentityDictionary
from ebbflow.trackable import keys
from ebbflow.trackable.base import TrackableReference
from ebbflow.trackable.constants import VARIABLE_VALUE_KEY, SaveType
from ebbflow.trackable.data_structures import convert_to_trackable
from ebbflow.trackable.registration import get_registered_saver_name
from ebbflow.trackable.view import TrackableView

if TYPE_CHECKING:
    from ebbflow.trackable.base import Trackable


class ObjectGraphView(TrackableView):
    """What a root holds, with more objects attached to it by name."""

    def __init__(self, root: Any, attached_dependencies: Sequence[TrackableReference] | None = None):
        self._root_ref = root if isinstance(root, weakref.ref) else weakref.ref(root)
        if self._root_ref() is None:
            raise ValueError("The root of an object graph is gone.")
        self._attached_dependencies = attached_dependencies
        self._strong = None if isinstance(root, weakref.ref) else root

    @property
    def attached_dependencies(self) -> Sequence[TrackableReference] | None:
        """What is attached to the root beside its own children."""
        return self._attached_dependencies

    def list_children(
        self, obj: Any, save_type: SaveType = SaveType.CHECKPOINT, **kwargs: Any
    ) -> list[TrackableReference]:
        """Return references to the children of an object."""
        obj._maybe_initialize_trackable()
        children = [
            TrackableReference(name, convert_to_trackable(child, parent=obj))
            for name, child in obj._trackable_children(save_type, **kwargs).items()
        ]
        if obj is self.root and self._attached_dependencies:
            taken = {reference.name for reference in self._attached_dependencies}
            children = [c for c in children if c.name not in taken] + list(self._attached_dependencies)
        return children

    def children(self, obj: object, save_type: SaveType = SaveType.CHECKPOINT, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        """Return the children of an object by name."""
        return {reference.name: reference.ref for reference in self.list_children(obj, save_type, **kwargs)}

    def serialize_object_graph(self, saveables_cache: Any = None) -> tuple[list[Any], Any, dict[Any, Any]]:
        """Return what is saved (each with the name it has in a checkpoint), the object graph, and nothing to feed."""
        described = describe(self)
        named = [SaveableObject(piece.value, [SaveSpec(piece.value, piece.spec, piece.key)], piece.key)
                 for piece in described.pieces]  # fmt: skip
        return named, described.message, {}

    def frozen_saveable_objects(
        self, object_map: Any = None, to_graph: Any = None, call_with_mapped_captures: object = None
    ) -> list[SaveableObject]:
        """Return what a `tf.compat.v1.train.Saver` takes to write a checkpoint of these objects, as they are now."""
        savers = importlib.import_module("ebbflow.checkpoint.device_saver")  # it knows views
        return savers.frozen_saveable_objects(self, object_map, to_graph)

    def breadth_first_traversal(self) -> tuple[list[Any], ObjectIdentityDictionary]:
        """Return all objects, nearest first, and the path to each."""
        return self._descendants_with_paths()


# --- values -----------------------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """One tensor of a checkpoint: its key, the slice it is ("" for a whole), and its value, or a function for it."""

    key: str
    spec: str
    value: Any


class Attribute(NamedTuple):
    """What the object graph says of one value of an object, and the tensors it is."""

    name: str
    full_name: str
    key: str
    pieces: list[Piece]


def attributes_of(trackable: Any, path: str) -> list[Attribute]:
    """Return the values of an object that stands at a path."""
    if has_tensors(trackable):
        return _serialized(trackable, path)
    attributes = []
    for name, factory in trackable._gather_saveables_for_checkpoint().items():
        key = keys.checkpoint_key(path, name)
        saveable = factory(name=key) if callable(factory) else factory
        pieces: list[Piece] = []
        full_name = getattr(trackable, "_shared_name", "") if name == VARIABLE_VALUE_KEY else ""
        for each in saveable_objects_for_op(saveable, key):
            full_name = full_name or getattr(each, "full_name", "")
            pieces += [Piece(spec.name, spec.slice_spec, _value_of(spec)) for spec in each.specs]
        attributes.append(Attribute(name, full_name, key, pieces))
    return attributes


def _value_of(spec: Any) -> Any:
    return lambda: spec.tensor


def _serialized(trackable: Any, path: str) -> list[Attribute]:
    tensors = trackable._serialize_to_tensors()
    older = getattr(trackable, "_LEGACY_SAVEABLE_NAME", "")
    if older:
        key = keys.checkpoint_key(path, older)
        pieces = [piece for name, value in tensors.items() for piece in _pieces(key + name, value)]
        return [Attribute(older, "", key, pieces)]
    full_name = getattr(trackable, "_shared_name", "")
    attributes = []
    for name, value in tensors.items():
        key = keys.checkpoint_key(path, name)
        known_as = full_name if name == VARIABLE_VALUE_KEY else ""
        attributes.append(Attribute(name, known_as, key, _pieces(key, value)))
    return attributes


def _pieces(key: str, value: Any) -> list[Piece]:
    if isinstance(value, Mapping):
        return [Piece(key, spec, part) for spec, part in value.items()]
    return [Piece(key, "", value)]


# --- the graph --------------------------------------------------------------------------------------------------------


class Described(NamedTuple):
    """Objects, their message, their values, and those that savers of the program take."""

    objects: list[Any]
    message: Any
    pieces: list[Piece]
    registered: dict[str, dict[str, Any]]


def describe(view: ObjectGraphView, values: Callable[[Any, str], list[Attribute]] = attributes_of,
             skip_slots: bool = False) -> Described:  # fmt: skip
    """Return the objects below a root, the TrackableObjectGraph that describes them, and what to save of them."""
    objects, paths = view._descendants_with_paths()
    names = ObjectIdentityDictionary()
    numbers = ObjectIdentityDictionary()
    for number, each in enumerate(objects):
        names[each], numbers[each] = keys.object_path_to_string(paths[each]), number
    slots = {} if skip_slots else slot_variables(objects, names, numbers)
    message = messages.TrackableObjectGraph()
    pieces: list[Piece] = []
    registered: dict[str, dict[str, Any]] = {}
    for number, each in enumerate(objects):
        node = message.nodes.add()
        node.slot_variables.extend(slots.get(number, ()))
        for reference in view.list_children(each):
            node.children.add(node_id=numbers[reference.ref], local_name=reference.name)
        saver = get_registered_saver_name(each)
        if saver is not None:
            node.registered_saver.name, node.registered_saver.object_name = saver, names[each]
            registered.setdefault(saver, {})[names[each]] = each
            continue
        for attribute in values(each, names[each]):
            node.attributes.add(name=attribute.name, full_name=attribute.full_name, checkpoint_key=attribute.key)
            pieces += attribute.pieces
    _mark_values(message)
    return Described(objects, message, pieces, registered)


def serialize_graph_view(
    graph_view: ObjectGraphView, object_map: Any = None, call_with_mapped_captures: Any = None, cache: Any = None
) -> tuple[ObjectIdentityDictionary, dict[Any, Any], dict[str, dict[str, Any]], Any]:
    """Return the values of each object by key, nothing to feed, what savers of the program take, and the graph."""
    tensors = ObjectIdentityDictionary()

    def noted(each: Any, path: str) -> list[Attribute]:
        attributes = attributes_of(each, path)
        found: dict[str, Any] = {}
        for piece in [piece for attribute in attributes for piece in attribute.pieces]:
            if piece.spec:
                found.setdefault(piece.key, {})[piece.spec] = piece.value
            else:
                found[piece.key] = piece.value
        if found:
            tensors[each] = found
        return attributes

    described = describe(graph_view, noted)
    return tensors, {}, described.registered, described.message


class TensorCallable:
    """A value to save that a function gives when the checkpoint is written, for what must not be read earlier."""

    def __init__(self, callable_fn: Callable[[], Any], dtype: Any, device: str):
        self.dtype, self.device = dtype, device
        self._callable = callable_fn

    def __call__(self) -> Any:
        return self._callable()


def _mark_values(message: Any) -> None:
    """Say of each node whether it, or something it leads to, has a value."""
    parents: dict[int, list[int]] = {}
    for number, node in enumerate(message.nodes):
        for child in node.children:
            parents.setdefault(child.node_id, []).append(number)
        for slot in node.slot_variables:
            parents.setdefault(slot.slot_variable_node_id, []).append(number)
    waiting = [number for number, node in enumerate(message.nodes) if node.attributes or node.registered_saver.name]
    marked = set(waiting)
    while waiting:
        for parent in parents.get(waiting.pop(), ()):
            if parent not in marked:
                marked.add(parent)
                waiting.append(parent)
    for number, node in enumerate(message.nodes):
        node.has_checkpoint_values.value = number in marked


def slot_variables(
    objects: list[Any], names: Any, numbers: Any, makers: str = "_create_or_restore_slot_variable"
) -> dict[int, list[Any]]:
    """Number the slot variables of optimizers behind all other objects; return their references by optimizer.

    Optimizers are what has `get_slot_names` and the method `makers`.
    """
    found: dict[int, list[Any]] = {}
    others = list(objects)
    for number, optimizer in enumerate(others):
        if not hasattr(optimizer, makers) or not hasattr(optimizer, "get_slot_names"):
            continue  # Keras's newer optimizers keep theirs as plain children
        for slot_name in optimizer.get_slot_names():
            for original, variable in enumerate(others):
                slot = _slot(optimizer, variable, slot_name)
                if slot is None:
                    continue
                if slot in numbers:
                    raise NotImplementedError(
                        "A slot variable was re-used as a dependency of a Trackable object. This is not currently "
                        "allowed."
                    )
                slot._maybe_initialize_trackable()
                names[slot] = keys.slot_variable_key(names[variable], names[optimizer], slot_name)
                numbers[slot] = len(objects)
                objects.append(slot)
                found.setdefault(number, []).append(
                    messages.TrackableObjectGraph.TrackableObject.SlotVariableReference(
                        original_variable_node_id=original, slot_name=slot_name, slot_variable_node_id=numbers[slot]
                    )
                )
    return found


def _slot(optimizer: Any, variable: Any, slot_name: str) -> Any:
    try:
        return optimizer.get_slot(variable, slot_name)
    except (AttributeError, KeyError, TypeError):
        return None


def list_objects_of(root_trackable: Any) -> list[Any]:
    """Return everything that can be reached from a root: also what only optimizers' slots reach."""
    root = convert_to_trackable(root_trackable)
    return list_objects(ObjectGraphView(root))


def list_objects(view: ObjectGraphView, skip_slots: bool = False) -> list[Any]:
    """Return all objects below a root, slot variables of optimizers among them."""
    objects, paths = view._descendants_with_paths()
    names = ObjectIdentityDictionary()
    numbers = ObjectIdentityDictionary()
    for number, each in enumerate(objects):
        names[each], numbers[each] = keys.object_path_to_string(paths[each]), number
    if not skip_slots:
        slot_variables(objects, names, numbers)
    return objects


def node_names(message: Any) -> dict[int, str]:
    """Return how a reader would call each node of an object graph: (root).layer.kernel."""
    names = {0: "(root)"}
    waiting = [0]
    while waiting:
        number = waiting.pop(0)
        for child in message.nodes[number].children:
            if child.node_id not in names and 0 <= child.node_id < len(message.nodes):
                names[child.node_id] = f"{names[number]}.{child.local_name}"
                waiting.append(child.node_id)
    for number, node in enumerate(message.nodes):
        for slot in node.slot_variables:
            original = names.get(slot.original_variable_node_id, "(unknown)")
            names.setdefault(
                slot.slot_variable_node_id,
                f"{names.get(number, '(optimizer)')}'s state '{slot.slot_name}' for {original}",
            )
    return names


def initializers_of(root_trackable: Any) -> list[Any]:
    """Return what initialises the objects below a root, where something does."""
    view = root_trackable if isinstance(root_trackable, ObjectGraphView) else ObjectGraphView(root_trackable)
    return [each.initializer for each in list_objects(view) if getattr(each, "initializer", None) is not None]


def check_message(message: Any, what: str) -> None:
    """See that an object graph that was read refers only to nodes it has."""
    count = len(message.nodes)
    for number, node in enumerate(message.nodes):
        references = [child.node_id for child in node.children]
        references += [s.original_variable_node_id for s in node.slot_variables]
        references += [s.slot_variable_node_id for s in node.slot_variables]
        if any(not 0 <= reference < count for reference in references):
            raise errors.DataLossError(
                None, None, f"{what}: node {number} of the object graph refers to a node that is not there"
            )
    if not count:
        raise errors.DataLossError(None, None, f"{what}: the object graph has no nodes")


def saveable_objects_from_trackable(obj: Trackable, tf1_saver: bool = False) -> dict[str, Any]:
    """Return what makes the saveable of each value of an object, by name."""
    if has_tensors(obj):
        name = getattr(obj, "_LEGACY_SAVEABLE_NAME", "") or getattr(obj, "_shared_name", "") or "VALUES"
        return {name: functools.partial(TensorsSaveable, obj)}
    return obj._gather_saveables_for_checkpoint()
