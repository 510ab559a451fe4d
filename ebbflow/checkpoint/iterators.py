"""Iterators of graphs in checkpoints: the object that a `Saver` saves and restores for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.checkpoint.checkpoint import Checkpoint
from ebbflow.checkpoint.manager import CheckpointManager
from ebbflow.checkpoint.saveables import SaveableObject, SaveSpec
from ebbflow.data.iterator_state import DeserializeIterator, SerializeIterator
from ebbflow.data.options import ExternalStatePolicy

if TYPE_CHECKING:
    from ebbflow.data.iterator import IteratorBase


class IteratorSaveable(SaveableObject):
    """What saves where an iterator is."""

    def __init__(self, iterator_resource: Any, name: str, external_state_policy: ExternalStatePolicy):
        state = SerializeIterator(iterator_resource, external_state_policy=external_state_policy.value)
        super().__init__(iterator_resource, [SaveSpec(state, "", f"{name}-state")], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Return the operation that has the iterator go on from where the saved one was."""
        return DeserializeIterator(self.op, restored_tensors[0])


def policy_of(external_state_policy: ExternalStatePolicy | str | None) -> ExternalStatePolicy:
    """Return what is done about state outside an iterator, by default an error; ValueError for an unknown word."""
    policy = external_state_policy or ExternalStatePolicy.FAIL
    if isinstance(policy, str):
        if policy.upper() not in ExternalStatePolicy.__members__:
            raise ValueError(
                f"`external_state_policy` must be 'warn', 'ignore' or 'fail', got {external_state_policy!r}"
            )
        policy = ExternalStatePolicy[policy.upper()]
    return policy


def make_saveable_from_iterator(
    iterator: IteratorBase, external_state_policy: ExternalStatePolicy | str | None = None
) -> SaveableObject:
    """Return the object by which a `tf.compat.v1.train.Saver` keeps where a graph's iterator is.

    Add it to the collection `tf.compat.v1.GraphKeys.SAVEABLE_OBJECTS` before the saver is made.
    """
    policy = policy_of(external_state_policy)
    resource = iterator._iterator_resource
    return IteratorSaveable(resource, resource.op.name, policy)


def go_to_the_end(iterator: Any, checkpoint_args: dict[str, Any]) -> None:
    """Go over an iterator, from where its last checkpoint was; a new one is made as often as the arguments say."""
    if "checkpoint" in checkpoint_args:
        raise ValueError("Invalid `checkpoint_args`. `checkpoint_args` are not allowed to include 'checkpoint'.")
    checkpoint = Checkpoint(iterator=iterator)
    manager = CheckpointManager(checkpoint, **checkpoint_args)
    checkpoint.restore(manager.latest_checkpoint)
    counter = checkpoint_args.get("step_counter")
    for _ in iterator:
        if counter is not None:
            counter.assign_add(1)
        manager.save(check_interval=True)
