"""What restoring gives back: status objects that say whether everything was matched, and run what a graph needs."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from ebbflow.checkpoint.object_graph import ObjectGraphView, list_objects, node_names
from ebbflow.checkpoint.options import CheckpointOptions
from ebbflow.checkpoint.positions import Loaded, LoadedByName
from ebbflow.checkpoint.saveables import has_tensors
from ebbflow.checkpoint.saver import Saver
from ebbflow.core import context
from ebbflow.core.identity import ObjectIdentitySet
from ebbflow.core.typing import Message, SessionLike
from ebbflow.trackable.data_structures import TrackableDataStructure

_session_provider: Callable[[], Any] | None = None


def register_session_provider(session_provider: Callable[[], Any]) -> None:
    """Say where a session comes from when there is no default one."""
    global _session_provider
    if _session_provider is None:
        _session_provider = session_provider


def get_session() -> Any:
    """Return the session to run things in."""
    if context.thread.sessions:
        return context.thread.sessions[-1]
    if _session_provider is not None:
        return _session_provider()
    raise RuntimeError(
        "There is no default session to run this in. Please create a session (`with tf.Session() as sess:`), or pass "
        "session=."
    )


class LoadStatus(abc.ABC):
    """What all status objects can be asked."""

    @abc.abstractmethod
    def assert_consumed(self) -> Any:
        """Raise AssertionError unless checkpoint and program match in both directions."""

    @abc.abstractmethod
    def assert_existing_objects_matched(self) -> Any:
        """Raise AssertionError unless all objects of the program have values in the checkpoint."""

    @abc.abstractmethod
    def assert_nontrivial_match(self) -> Any:
        """Raise AssertionError if only the root was matched."""

    @abc.abstractmethod
    def run_restore_ops(self, session: Any = None) -> None:
        """Run what restores, in a graph."""

    @abc.abstractmethod
    def initialize_or_restore(self, session: Any = None) -> None:
        """Run what restores, and the initializers of what the checkpoint does not have, in a graph."""

    def expect_partial(self) -> Any:
        """Say nothing of values that were not used."""
        return self


class CheckpointLoadStatus(LoadStatus):
    """Of a checkpoint of objects."""

    def __init__(self, checkpoint: Loaded, feed_dict: Any, graph_view: ObjectGraphView, options: CheckpointOptions):
        self._checkpoint = checkpoint
        self._feed_dict = feed_dict
        self._object_graph_view = graph_view
        self._root = graph_view.root  # keeps it alive until it is asked
        self._options = options

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raise AssertionError unless checkpoint and program match in both directions."""
        self.assert_existing_objects_matched()
        checkpoint = self._checkpoint
        skipped: set[int] = set()
        if self._options.experimental_skip_slot_variables:
            nodes = checkpoint.object_graph_proto.nodes
            skipped = {slot.slot_variable_node_id for node in nodes for slot in node.slot_variables}
        names = node_names(checkpoint.object_graph_proto)
        unresolved = [
            f"{names.get(number, number)} ({', '.join(a.checkpoint_key for a in node.attributes)})"
            for number, node in enumerate(checkpoint.object_graph_proto.nodes)
            if node.attributes and number not in skipped and checkpoint.object_by_proto_id.get(number) is None
        ]
        if unresolved:
            raise AssertionError(
                f"Unresolved object in checkpoint {unresolved[0]}\n{len(unresolved)} objects of the checkpoint have no "
                "counterpart in the program:\n  " + "\n  ".join(unresolved[:200])
            )
        waiting = {k: v for k, v in checkpoint.slot_restorations.items() if v}
        if waiting and not skipped:
            raise AssertionError(f"Unresolved slot restorations: {waiting}")
        if checkpoint.unused_attributes:
            lines = [f"{names.get(i, i)}: {a}" for i, a in checkpoint.unused_attributes.items()]
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but were not restored):\n"
                + "\n".join(lines)
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raise AssertionError unless all objects of the program have values in the checkpoint."""
        checkpoint = self._checkpoint
        for number, node in enumerate(checkpoint.object_graph_proto.nodes):
            matched = checkpoint.object_by_proto_id.get(number)
            if matched is not None and matched._update_uid < checkpoint.restore_uid:
                raise AssertionError(f"Object {node} not assigned a value from checkpoint.")
        unmatched = self._unmatched()
        if unmatched:
            shown = ", ".join(_called(each) for each in unmatched[:200])
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, likely due to "
                f"changes in the Python program. Showing {min(len(unmatched), 200)} of {len(unmatched)} unmatched "
                f"objects: [{shown}]"
            )
        return self

    def _unmatched(self) -> list[Any]:
        skip = self._options.experimental_skip_slot_variables
        for each in list_objects(self._object_graph_view, skip):
            if not (isinstance(each, TrackableDataStructure) and not each._trackable_children()):
                self._checkpoint.all_python_objects.add(each)
        matched = ObjectIdentitySet(self._checkpoint.object_by_proto_id.values())
        everything = list(self._checkpoint.all_python_objects)
        return [each for each in everything if has_values(each) and each not in matched]

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raise AssertionError if only the root was matched."""
        if len(self._checkpoint.object_by_proto_id) > 1:
            return self
        unmatched = self._unmatched()
        if unmatched:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint "
                "does not match the Python program. The following objects have no matching checkpointed value: "
                f"{[_called(each) for each in unmatched]}"
            )
        raise AssertionError(f"Nothing to load. No dependencies have been added to {self._object_graph_view.root} yet.")

    def run_restore_ops(self, session: Any = None) -> None:
        """Run what restores; eagerly that is done."""
        if context.executing_eagerly():
            return
        session = session or get_session()
        session.run(self._checkpoint.restore_ops, feed_dict=self._feed_dict())

    def initialize_or_restore(self, session: Any = None) -> None:
        """Run what restores, and the initializers of what the checkpoint does not have; eagerly that is done."""
        if context.executing_eagerly():
            return
        session = session or get_session()
        uid = self._checkpoint.restore_uid
        matched = ObjectIdentitySet(self._checkpoint.object_by_proto_id.values())
        initializers = [
            each.initializer
            for each in list_objects(self._object_graph_view)
            if getattr(each, "initializer", None) is not None
            and each not in matched
            and getattr(each, "_update_uid", uid - 1) < uid
        ]
        self.run_restore_ops(session)
        session.run(initializers)

    def expect_partial(self) -> CheckpointLoadStatus:
        """Say nothing of values that were not used."""
        self._checkpoint.expect_partial = True
        return self


def has_values(trackable: Any) -> bool:
    """Return whether an object has values of its own in checkpoints."""
    if has_tensors(trackable):
        return getattr(trackable, "_checkpointed", True)
    return bool(trackable._gather_saveables_for_checkpoint())


def _called(trackable: Any) -> str:
    text = repr(trackable)
    return text if len(text) < 300 else f"{text[:300]}…"


class InitializationOnlyStatus(LoadStatus):
    """Of restoring from nothing: objects can only be initialised."""

    def __init__(self, object_graph_view: ObjectGraphView, restore_uid: int):
        self._restore_uid = restore_uid
        self._object_graph_view = object_graph_view
        self._root = object_graph_view.root

    def assert_consumed(self) -> Any:
        """Raise AssertionError: there is no checkpoint."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: Any = None) -> None:
        """Raise AssertionError: there is no checkpoint."""
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore)."
        )

    def initialize_or_restore(self, session: Any = None) -> None:
        """Run the initializers of all objects; eagerly that is done."""
        if context.executing_eagerly():
            return
        session = session or get_session()
        session.run([
            each.initializer
            for each in list_objects(self._object_graph_view)
            if getattr(each, "initializer", None) is not None
            and getattr(each, "_update_uid", self._restore_uid - 1) < self._restore_uid
        ])  # fmt: skip


class NameBasedSaverStatus(LoadStatus):
    """Of a checkpoint whose keys are names of variables."""

    def __init__(self, checkpoint: LoadedByName, object_graph_view: ObjectGraphView):
        self._checkpoint = checkpoint
        self._object_graph_view = object_graph_view
        self._optionally_restored: list[Any] = []
        self._root = object_graph_view.root

    def add_to_optionally_restored(self, var: Any) -> None:
        """Let the checkpoint do without this variable."""
        self._optionally_restored.append(var)

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Raise AssertionError unless every object was restored."""
        unused = [
            (each, names)
            for each, names in self._checkpoint.unused_attributes.items()
            if all(each is not other for other in self._optionally_restored)
        ]
        if unused:
            lines = "".join(f"\n    {each}: {names}" for each, names in unused)
            raise AssertionError(f"Some objects had attributes which were not restored: {lines}")
        for each in list_objects(self._object_graph_view):
            each._maybe_initialize_trackable()
            if each._update_uid < self._checkpoint.restore_uid:
                raise AssertionError(f"Object not restored: {each}")
        return self

    def assert_existing_objects_matched(self) -> NameBasedSaverStatus:
        """Raise AssertionError unless every object was restored."""
        return self.assert_consumed()

    def assert_nontrivial_match(self) -> NameBasedSaverStatus:
        """Raise AssertionError unless every object was restored."""
        return self.assert_consumed()

    def run_restore_ops(self, session: Any = None) -> None:
        """Restore by name, in a graph."""
        if context.executing_eagerly():
            return
        session = session or get_session()
        saveables: list[Any] = []
        for each in list_objects(self._object_graph_view):
            each._maybe_initialize_trackable()
            if each._update_uid < self._checkpoint.restore_uid:
                each._update_uid = self._checkpoint.restore_uid
                saveables += self._checkpoint.globally_named_object_attributes(each)
        Saver(saveables).restore(session, self._checkpoint.save_path)

    def initialize_or_restore(self, session: Any = None) -> None:
        """Restore by name, in a graph."""
        self.run_restore_ops(session)


def streaming_restore(status: Message, session: SessionLike | None = None) -> None:
    """Restore what there is now, and have what is made later restored when it is made (in a graph)."""
    if context.executing_eagerly():
        return
    session = session or get_session()
    if isinstance(status, NameBasedSaverStatus):
        raise NotImplementedError(
            "Streaming restore not supported from name-based checkpoints when graph building. File a feature request "
            "if this limitation bothers you: save with tf.train.Checkpoint instead"
        )
    status.run_restore_ops(session=session)
    status._checkpoint.new_restore_ops_callback = lambda ops: session.run(ops, feed_dict=status._feed_dict())
