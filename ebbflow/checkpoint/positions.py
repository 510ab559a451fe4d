"""Restoring objects: where each stands in a checkpoint's object graph, and what waits until objects exist.

A `Loaded` is a checkpoint being matched with a program's objects; a `Position` is one of its nodes. Positions of
children that do not exist yet wait with their parent (`Trackable._deferred_dependencies`), and of slot variables with
their optimizer. Eagerly values are read one by one when objects are matched; in a graph nodes are made that read them.
"""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from ebbflow import messages
from ebbflow.checkpoint import object_graph
from ebbflow.checkpoint.registered import restore_with
from ebbflow.checkpoint.saveables import has_tensors, saveable_objects_for_op
from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.identity import ObjectIdentityWeakKeyDictionary, ObjectIdentityWeakSet
from ebbflow.core.shape import TensorShape, dims_str
from ebbflow.core.tensor import Tensor, wrap
from ebbflow.graph.scopes import device_scope
from ebbflow.io.save_ops import check_names, open_checkpoint
from ebbflow.io.variants import Foreign
from ebbflow.ops.declare import raw
from ebbflow.platform import logging
from ebbflow.state.base import Variable
from ebbflow.trackable import registration
from ebbflow.trackable.constants import OBJECT_GRAPH_PROTO_KEY, VARIABLE_VALUE_KEY

_uids = itertools.count(1)


class SlotRestoration(NamedTuple):
    """A slot variable of an optimizer that waits for its variable, or for the optimizer."""

    optimizer_id: int
    slot_variable_id: int
    slot_name: str


class RestoreNodes:
    """The nodes of a graph that restore objects, kept so that restoring again makes no new ones."""

    def __init__(self) -> None:
        self.device = "cpu:0"
        self.kept = ObjectIdentityWeakKeyDictionary()
        self.path: Any = None

    def path_tensor(self) -> Any:
        """Return the tensor that is fed with the path of the checkpoint."""
        if self.path is None:
            self.path = raw.PlaceholderWithDefault("", shape=(), name="save_path")
        return self.path


class Loaded:
    """A checkpoint of objects, being matched with the objects of a program."""

    def __init__(self, save_path: str, nodes: RestoreNodes | None = None, skip_slots: bool = False):
        self.save_path = save_path
        self.reader = open_checkpoint(save_path)
        data = self.reader.read(OBJECT_GRAPH_PROTO_KEY).item()
        what = f"{OBJECT_GRAPH_PROTO_KEY} of {save_path}"
        self.object_graph_proto = messages.parse(messages.TrackableObjectGraph, data, what)
        object_graph.check_message(self.object_graph_proto, what)
        self.restore_uid = next(_uids)
        self.object_by_proto_id: Any = weakref.WeakValueDictionary()
        self.matched_proto_ids: set[int] = set()
        self.all_python_objects = ObjectIdentityWeakSet()
        self.unused_attributes: dict[int, list[str]] = {}
        self.slot_restorations: dict[int, list[SlotRestoration]] = {}
        self.deferred_slot_restorations: dict[int, list[tuple[int, SlotRestoration]]] = {}
        self.restore_ops: list[Any] = []
        self.new_restore_ops_callback: Callable[[list[Any]], Any] | None = None
        self.expect_partial = False
        self.nodes = nodes or RestoreNodes()
        if not skip_slots:
            for number, node in enumerate(self.object_graph_proto.nodes):
                for slot in node.slot_variables:
                    self.slot_restorations.setdefault(slot.original_variable_node_id, []).append(
                        SlotRestoration(number, slot.slot_variable_node_id, slot.slot_name)
                    )
        self._watch = weakref.finalize(
            self, _warn_unused, self.object_graph_proto, self.matched_proto_ids, self.unused_attributes, self._quiet()
        )

    def _quiet(self) -> Callable[[], bool]:
        state = self.__dict__
        return lambda: bool(state.get("expect_partial"))

    def read(self, key: str) -> Any:
        """Return a tensor of the checkpoint by key."""
        return wrap(self.reader.read(key), self.reader.dtype_of(key))


def _warn_unused(proto: Any, matched: set[int], unused: dict[int, Any], quiet: Callable[[], bool]) -> None:
    """When a checkpoint is let go without having been used up, say what was left."""
    if quiet():
        return
    left = [i for i, node in enumerate(proto.nodes) if node.attributes and (i not in matched or i in unused)]
    if not left:
        return
    names = object_graph.node_names(proto)
    logging.warning(
        "A checkpoint was restored (e.g. tf.train.Checkpoint.restore or tf.keras.Model.load_weights) but not all "
        "checkpointed values were used. Use `status.expect_partial()` to silence these warnings, or "
        "`status.assert_consumed()` to make them errors. Values not used:"
    )
    for number in left[:200]:
        logging.warning("Value in checkpoint could not be found in the restored object: %s", names.get(number, number))


class Position:
    """A node of a checkpoint's object graph."""

    __slots__ = ("checkpoint", "proto_id")

    def __init__(self, checkpoint: Loaded, proto_id: int):
        self.checkpoint, self.proto_id = checkpoint, proto_id

    @property
    def object_proto(self) -> Any:
        return self.checkpoint.object_graph_proto.nodes[self.proto_id]

    @property
    def restore_uid(self) -> int:
        return self.checkpoint.restore_uid

    def __repr__(self) -> str:
        return repr(self.object_proto)

    def is_simple_variable(self) -> bool:
        """Return whether the node is a variable and nothing else."""
        node = self.object_proto
        return len(node.attributes) == 1 and node.attributes[0].name == VARIABLE_VALUE_KEY and not node.children

    def initial_value(self, shape: Any = None, shard_info: Any = None) -> Any:
        """Return the variable's value in the checkpoint."""
        return self.checkpoint.read(self.object_proto.attributes[0].checkpoint_key)

    def value_shape(self) -> TensorShape:
        """Return the shape of the variable's value in the checkpoint."""
        return TensorShape(self.checkpoint.reader.shape_of(self.object_proto.attributes[0].checkpoint_key))

    def restore(self, trackable: Any) -> None:
        """Match this node with an object, and everything below both; restore what can be now."""
        waiting = deque([(self, trackable)])
        matched: list[tuple[Position, Any]] = []
        while waiting:
            position, each = waiting.popleft()
            if position._bind(each):
                matched.append((position, each))
                waiting.extend(position._children(each))
        outdated = [(p, each) for p, each in matched if p._outdated(each)]
        check_shapes(outdated)
        registered: dict[str, dict[str, Any]] = {}
        for position, each in outdated:
            if not position._note_registered(each, registered):
                position._restore_values(each)
            each._update_uid = self.restore_uid
        self._restore_registered(registered)
        for position, each in matched:
            position._restore_slots(each)

    def bind_object(self, trackable: Any) -> bool:
        """Match this node with an object; return whether it is new."""
        return self._bind(trackable)

    def _bind(self, trackable: Any) -> bool:
        checkpoint = self.checkpoint
        trackable._maybe_initialize_trackable()
        checkpoint.all_python_objects.add(trackable)
        checkpoint.matched_proto_ids.add(self.proto_id)
        current = checkpoint.object_by_proto_id.get(self.proto_id)
        if current is None:
            checkpoint.object_by_proto_id[self.proto_id] = trackable
            return True
        if current is not trackable:
            logging.warning(
                "Inconsistent references when loading the checkpoint into this object graph. For example, in the "
                "saved checkpoint object, `model.layer.weight` and `model.layer_copy.weight` reference the same "
                "variable, while in the current object these are two different variables. The referenced variables "
                "are: (%s and %s).", current, trackable,
            )  # fmt: skip
        return False

    def _children(self, trackable: Any) -> list[tuple[Position, Any]]:
        """Return the children that exist with their positions; positions of the others wait."""
        found = []
        nodes = self.checkpoint.object_graph_proto.nodes
        existing_children = _children_of(trackable) if self.object_proto.children else None
        for child in self.object_proto.children:
            position = Position(self.checkpoint, child.node_id)
            existing = trackable._lookup_dependency(child.local_name, existing_children)
            if existing is None:
                node = nodes[child.node_id]
                if node.HasField("has_checkpoint_values") and not node.has_checkpoint_values.value:
                    continue  # nothing to wait for
                trackable._deferred_dependencies.setdefault(child.local_name, []).append(position)
            else:
                found.append((position, existing))
        return found

    def _outdated(self, trackable: Any) -> bool:
        return trackable._update_uid < self.restore_uid

    # --- values -------------------------------------------------------------------------------------------------------

    def tensor_keys(self, trackable: Any) -> dict[str, str]:
        """Return the keys of the tensors an object takes back, by the names it knows them by."""
        older = getattr(trackable, "_LEGACY_SAVEABLE_NAME", "")
        found = {}
        for attribute in self.object_proto.attributes:
            key = attribute.checkpoint_key
            if older and attribute.name == older:
                found.update({n[len(key) :]: n for n in self.checkpoint.reader.names if n.startswith(key)})
            else:
                found[attribute.name] = key
        return found

    def _restore_values(self, trackable: Any) -> None:
        if not self.object_proto.attributes:
            return
        if has_tensors(trackable):
            keys = self._readable(self.tensor_keys(trackable), trackable)
            if context.executing_eagerly() or not keys or getattr(trackable, "_restores_at_once", False):
                trackable._restore_from_tensors({name: self.checkpoint.read(key) for name, key in keys.items()})
            else:
                self._restore_by_node(trackable, keys, trackable._restore_from_tensors)
            return
        self._restore_saveables(trackable)

    def _readable(self, keys: dict[str, str], trackable: Any) -> dict[str, str]:
        """Return the keys without those of variants, which only the runtime that wrote them understands."""
        reader = self.checkpoint.reader
        check_names(reader, list(keys.values()))
        opaque = [key for key in keys.values() if reader.dtype_of(key) is dtypes.variant and _foreign(reader.read(key))]
        if opaque:
            logging.warning("%s stays as it is: %s is a variant of another runtime", trackable, ", ".join(opaque))
        return {name: key for name, key in keys.items() if key not in opaque}

    def _restore_by_node(self, trackable: Any, keys: dict[str, str], put_back: Callable[[dict[str, Any]], Any]) -> None:
        """In a graph: make the nodes that read tensors and put them back, or take those made before."""
        nodes, checkpoint = self.checkpoint.nodes, self.checkpoint
        known = nodes.kept.get(trackable)
        if known is None or known[0] != keys:
            kinds = [checkpoint.reader.dtype_of(key) for key in keys.values()]
            with device_scope(nodes.device):
                tensors = raw.RestoreV2(nodes.path_tensor(), list(keys.values()), [""] * len(keys), dtypes=kinds)
            for key, tensor in zip(keys.values(), tensors, strict=True):
                tensor.set_shape(checkpoint.reader.shape_of(key))
            known = keys, _operations(put_back(dict(zip(keys, tensors, strict=True))))
            nodes.kept[trackable] = known
        checkpoint.restore_ops += known[1]
        if checkpoint.new_restore_ops_callback is not None:
            checkpoint.new_restore_ops_callback(known[1])

    def _restore_saveables(self, trackable: Any) -> None:
        """Restore an object that says its values the older way."""
        factories = trackable._gather_saveables_for_checkpoint()
        unused = []
        for attribute in self.object_proto.attributes:
            factory = factories.get(attribute.name)
            if factory is None:
                unused.append(attribute.name)
                continue
            saveable = factory(name=attribute.checkpoint_key) if callable(factory) else factory
            for each in saveable_objects_for_op(saveable, attribute.checkpoint_key):
                self._restore_saveable(trackable, each, attribute)
        if unused:
            self.checkpoint.unused_attributes[self.proto_id] = unused

    def _restore_saveable(self, trackable: Any, saveable: Any, attribute: Any) -> None:
        keys = {spec.name: spec.name for spec in saveable.specs}
        if saveable.optional_restore and any(key not in self.checkpoint.reader for key in keys):
            logging.warning("Skipped restoring %s: the checkpoint does not have its key.", attribute.checkpoint_key)
            return

        def put_back(tensors: dict[str, Any]) -> Any:
            return saveable.restore(list(tensors.values()), None)

        if context.executing_eagerly():
            put_back({key: self.checkpoint.read(key) for key in keys})
        else:
            self._restore_by_node(trackable, keys, put_back)

    # --- savers of the program ----------------------------------------------------------------------------------------

    def _note_registered(self, trackable: Any, registered: dict[str, dict[str, Any]]) -> bool:
        """Note an object that a saver of the program restores; return whether one does.

        An object that was saved before its saver was registered is given to it under the keys of its values.
        """
        saved_by = self.object_proto.registered_saver
        if saved_by.name:
            registration.validate_restore_function(trackable, saved_by.name)
            if registration.get_registered_saver_name(trackable) == saved_by.name:
                registered.setdefault(saved_by.name, {})[saved_by.object_name] = trackable
            return True
        saver = registration.get_registered_saver_name(trackable)
        if saver is None or not self.object_proto.attributes:
            return False
        for attribute in self.object_proto.attributes:
            registered.setdefault(saver, {})[attribute.checkpoint_key] = trackable
        return True

    def _restore_registered(self, registered: dict[str, dict[str, Any]]) -> None:
        if not registered:
            return
        checkpoint = self.checkpoint
        eagerly = context.executing_eagerly()
        results = restore_with(registered, checkpoint.save_path if eagerly else checkpoint.nodes.path_tensor())
        if not eagerly:
            nodes = _operations(results)
            checkpoint.restore_ops += nodes
            if checkpoint.new_restore_ops_callback is not None:
                checkpoint.new_restore_ops_callback(nodes)

    # --- slots --------------------------------------------------------------------------------------------------------

    def _restore_slots(self, trackable: Any) -> None:
        """Restore the slot variables of this object: as a variable, and as an optimizer."""
        checkpoint = self.checkpoint
        for slot in checkpoint.slot_restorations.pop(self.proto_id, ()):
            optimizer = checkpoint.object_by_proto_id.get(slot.optimizer_id)
            if optimizer is None:
                checkpoint.deferred_slot_restorations.setdefault(slot.optimizer_id, []).append((self.proto_id, slot))
            else:
                self._give_slot(optimizer, slot, trackable)
        for variable_id, slot in checkpoint.deferred_slot_restorations.pop(self.proto_id, ()):
            variable = checkpoint.object_by_proto_id.get(variable_id)
            if variable is not None:
                self._give_slot(trackable, slot, variable)

    def _give_slot(self, optimizer: Any, slot: SlotRestoration, variable: Any) -> None:
        if hasattr(optimizer, "_create_or_restore_slot_variable"):
            position = Position(self.checkpoint, slot.slot_variable_id)
            found = optimizer._create_or_restore_slot_variable(
                slot_variable_position=position, slot_name=slot.slot_name, variable=variable
            )
            if found is not None:  # Keras 2 leaves the rest to us; optimizers of TF 1 have restored it
                position.restore(found)


def _foreign(variants: Any) -> bool:
    """Return whether another runtime wrote these."""
    return any(isinstance(value, Foreign) for value in variants.reshape(-1))


def _children_of(trackable: Any) -> dict[str, Any] | None:
    """Return an object's children, asked for once; None where it cannot say them all (a list that was rearranged)."""
    try:
        return trackable._trackable_children()
    except ValueError:
        return None


def _operations(result: Any) -> list[Any]:
    """Return what a restoring method gave back as a list of nodes to run."""
    if result is None:
        return []
    if isinstance(result, dict):
        return [each for value in result.values() for each in _operations(value)]
    if isinstance(result, (list, tuple)):
        return [each for value in result for each in _operations(value)]
    return [result.op if isinstance(result, (Tensor, Variable)) else result]


def check_shapes(matched: list[tuple[Position, Any]]) -> None:
    """See that variables can take what the checkpoint holds for them; the error tells of every one that cannot."""
    shapes, kinds = [], []
    for position, variable in matched:
        if not isinstance(variable, Variable) or not position.object_proto.attributes:
            continue
        attribute = position.object_proto.attributes[0]
        reader, key = position.checkpoint.reader, attribute.checkpoint_key
        if attribute.name != VARIABLE_VALUE_KEY:
            continue
        if key not in reader:
            raise errors.NotFoundError(None, None, f"Key {key} not found in checkpoint {position.checkpoint.save_path}")
        stored = reader.shape_of(key)
        if not variable.shape.is_compatible_with(stored):
            shapes.append(
                f"Received incompatible tensor with shape {dims_str(stored)} when attempting to restore variable with "
                f"shape {variable.shape} and name {variable._shared_name}:0 (key {key})."
            )
        if reader.dtype_of(key) is not variable._saved_dtype:
            kinds.append(
                f"tensor_name = {key}; expected dtype {variable._saved_dtype.name} does not equal original dtype "
                f"{reader.dtype_of(key).name}"
            )
    if shapes:
        raise ValueError("\n".join(shapes + kinds))
    if kinds:
        raise errors.InvalidArgumentError(None, None, "\n".join(kinds))


# --- checkpoints by name ----------------------------------------------------------------------------------------------


class LoadedByName:
    """A checkpoint whose keys are names of variables (one of `tf.train.Saver`), for objects."""

    def __init__(self, save_path: str):
        self.save_path = save_path
        self.reader = open_checkpoint(save_path)
        self.restore_uid = next(_uids)
        self.unused_attributes = ObjectIdentityWeakKeyDictionary()

    def globally_named_object_attributes(self, trackable: Any) -> list[Any]:
        """Return the saveables of an object under the names they have everywhere."""
        if isinstance(trackable, Variable):
            name = trackable._shared_name
            return list(saveable_objects_for_op(trackable, name))
        saveables: list[Any] = []
        for name, factory in trackable._gather_saveables_for_checkpoint().items():
            saveable = factory(name=name) if callable(factory) else factory
            saveables += saveable_objects_for_op(saveable, getattr(saveable, "name", name))
        return saveables

    def eager_restore(self, trackable: Any) -> None:
        """Give an object the values that the checkpoint has under its names."""
        if not context.executing_eagerly():
            return
        for saveable in self.globally_named_object_attributes(trackable):
            missing = [spec.name for spec in saveable.specs if spec.name not in self.reader]
            if missing:
                self.unused_attributes.setdefault(trackable, []).append(saveable.name)
                continue
            values = [convert(self.reader.read(spec.name), spec.dtype.base_dtype) for spec in saveable.specs]
            saveable.restore(values, None)


def is_object_based(save_path: str) -> bool:
    """Return whether a checkpoint describes objects."""
    return OBJECT_GRAPH_PROTO_KEY in open_checkpoint(save_path)


def object_metadata(save_path: str) -> Any:
    """Return the TrackableObjectGraph of a checkpoint."""
    reader = open_checkpoint(save_path)
    if OBJECT_GRAPH_PROTO_KEY not in reader:
        raise ValueError(
            f'The specified checkpoint "{save_path}" does not appear to be object-based (saved with TF2) since it is '
            f'missing the key "{OBJECT_GRAPH_PROTO_KEY}". Likely it was created with the TF1 name-based saver and does '
            "not contain an object dependency graph."
        )
    data = reader.read(OBJECT_GRAPH_PROTO_KEY).item()
    return messages.parse(messages.TrackableObjectGraph, data, save_path)
