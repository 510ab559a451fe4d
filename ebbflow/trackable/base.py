"""Trackable: an object that knows its children by name, and what a checkpoint holds for children it has not met yet.

Knows names and children; knows nothing of files. What a checkpoint holds for an object is a *position* (made in
`checkpoint/`): something with `restore_uid` and `restore(object)`. Those for children that do not exist yet are kept
here, and are given to the child when it is attached.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ebbflow.core import context
from ebbflow.core.typing import AnyTensor, ShapeLike
from ebbflow.trackable.constants import SaveType

if TYPE_CHECKING:
    from ebbflow.core.dtypes import DType
    from ebbflow.core.shape import TensorShape


class TrackableReference:
    """A child and its name."""

    __slots__ = ("_name", "_ref")

    def __init__(self, name: str, ref: Any):
        self._name, self._ref = name, ref

    @property
    def name(self) -> str:
        return self._name

    @property
    def ref(self) -> Any:
        return self._ref

    def __iter__(self) -> Iterator[Any]:
        yield self.name
        yield self.ref

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}(name={self.name}, ref={self.ref})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple):
            return (self.name, self.ref) == other
        if isinstance(other, TrackableReference):
            return self.name == other.name and self.ref == other.ref
        return False

    __hash__ = None  # type: ignore[assignment]


class WeakTrackableReference(TrackableReference):
    """A child that is not kept alive, and its name."""

    __slots__ = ()

    def __init__(self, name: str, ref: Any):
        super().__init__(name, weakref.ref(ref))

    @property
    def ref(self) -> Any:
        return self._ref()


class ShardInfo(NamedTuple):
    """Which part of a partitioned variable is wanted."""

    shape: tuple[int, ...]
    offset: tuple[int, ...]


def keep(obj: Any, name: str, value: Any) -> None:
    """Set what an object keeps for itself, whatever its class does where attributes are set."""
    try:
        object.__setattr__(obj, name, value)
    except TypeError:  # a proxy made in C, which has no other way
        setattr(obj, name, value)


class Trackable:
    """Something with named children, whose values are saved and restored with them.

    What it keeps has names that start with `_self_`, and is made when first asked for: subclasses need not call
    `__init__`.
    """

    # --- what it keeps ------------------------------------------------------------------------------------------------

    def _maybe_initialize_trackable(self) -> None:
        if "_self_unconditional_dependency_names" in self.__dict__:
            return
        if "_self_update_uid" in self.__dict__:
            raise AssertionError("The object has an update number, though it has not begun to track anything.")
        state = {
            "_self_unconditional_dependency_names": {},
            "_self_unconditional_deferred_dependencies": {},
            "_self_name_based_restores": set(),
            "_self_update_uid": -1,
        }
        for name, value in state.items():
            keep(self, name, value)

    @property
    def _setattr_tracking(self) -> bool:
        return self.__dict__.get("_self_setattr_tracking", True)

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        keep(self, "_self_setattr_tracking", value)

    @property
    def _update_uid(self) -> int:
        return self._self_update_uid  # type: ignore[attr-defined]

    @_update_uid.setter
    def _update_uid(self, value: int) -> None:
        keep(self, "_self_update_uid", value)

    @property
    def _unconditional_dependency_names(self) -> dict[str, Any]:
        self._maybe_initialize_trackable()
        return self._self_unconditional_dependency_names  # type: ignore[attr-defined]

    @property
    def _unconditional_checkpoint_dependencies(self) -> list[TrackableReference]:
        return [TrackableReference(name, ref) for name, ref in self._unconditional_dependency_names.items()]

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        children = self._trackable_children(SaveType.CHECKPOINT)
        return [TrackableReference(name, ref) for name, ref in children.items()]

    @property
    def _deferred_dependencies(self) -> dict[str, list[Any]]:
        self._maybe_initialize_trackable()
        return self._self_unconditional_deferred_dependencies  # type: ignore[attr-defined]

    @property
    def _name_based_restores(self) -> set[Any]:
        self._maybe_initialize_trackable()
        return self._self_name_based_restores  # type: ignore[attr-defined]

    @property
    def _object_identifier(self) -> str:
        return "_generic_user_object"

    @property
    def _tracking_metadata(self) -> str:
        return ""

    def _no_dependency(self, value: Any) -> Any:
        return value

    # --- children -----------------------------------------------------------------------------------------------------

    def _trackable_children(
        self, save_type: SaveType = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return the children by name."""
        return dict(self._unconditional_dependency_names)

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        """Return the child of that name, or None."""
        if cached_dependencies is not None:
            return cached_dependencies.get(name)
        return self._unconditional_dependency_names.get(name)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Make `trackable` a child called `name`, restore what was waiting for it, and return it."""
        if not isinstance(trackable, Trackable):
            raise TypeError(
                "Trackable._track_trackable() can only be used to track objects of type Trackable. "
                f"Got type {type(trackable)}."
            )
        if not self.__dict__.get("_manual_tracking", True):
            return trackable
        names = self._unconditional_dependency_names
        current = self._lookup_dependency(name)
        if current is not None and current is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is already "
                "declared as a dependency. Names must be unique (or overwrite=True)."
            )
        names[name] = trackable
        if current is None:
            self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _add_trackable_child(self, name: str, value: Any) -> None:
        """Attach a child while a saved object is rebuilt."""
        self._track_trackable(value, name, overwrite=True)

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Give a new child what checkpoints hold for it, the latest first."""
        self._maybe_initialize_trackable()
        trackable._maybe_initialize_trackable()
        waiting = self._deferred_dependencies.pop(name, ())
        for position in sorted(waiting, key=lambda each: each.restore_uid, reverse=True):
            position.restore(trackable)
        for checkpoint in sorted(self._name_based_restores, key=lambda each: each.restore_uid, reverse=True):
            trackable._name_based_attribute_restore(checkpoint)

    def _name_based_attribute_restore(self, checkpoint: Any) -> None:
        """Restore this object and its children from a checkpoint whose keys are variables' names."""
        self._name_based_restores.add(checkpoint)
        if self._update_uid < checkpoint.restore_uid:
            checkpoint.eager_restore(self)
            self._update_uid = checkpoint.restore_uid

    def _preload_simple_restoration(self, name: str) -> Any:
        """Return the initial value that a checkpoint holds for a variable about to be called `name`, or None."""
        waiting = self._deferred_dependencies.get(name)
        if not waiting:
            return None
        latest = max(waiting, key=lambda position: position.restore_uid)
        return CheckpointInitialValueCallable(latest) if latest.is_simple_variable() else None

    def _add_variable_with_custom_getter(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, getter: Any = None,
        overwrite: bool = False, **kwargs_for_getter: Any,
    ) -> Any:  # fmt: skip
        """Make a variable with `getter`, restored if a checkpoint waits for it, and track it as `name`."""
        if not overwrite and self._lookup_dependency(name) is not None:
            raise ValueError(
                f"A variable named '{name}' already exists in this Trackable: it is already declared as a dependency, "
                "and names must be unique within an object. Pass overwrite=True to put another in its place."
            )
        preloaded = None if not context.executing_eagerly() else self._preload_simple_restoration(name)
        if preloaded is not None and not (
            isinstance(initializer, CheckpointInitialValueCallable) and initializer.restore_uid > preloaded.restore_uid
        ):
            initializer = preloaded
            shape = None
        variable = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs_for_getter)
        if not overwrite or isinstance(variable, Trackable):
            return self._track_trackable(variable, name=name, overwrite=overwrite)
        return variable

    # --- values -------------------------------------------------------------------------------------------------------

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """Return values to save the older way: an object that can be saved, or a function that makes one, by name."""
        return {}

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """Return the values to save, by name."""
        raise NotImplementedError("An object with values to save says them in `_serialize_to_tensors`.")

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        """Take back what `_serialize_to_tensors` gave."""
        raise NotImplementedError("An object with values to save takes them back in `_restore_from_tensors`.")

    def _serialize_to_proto(self, object_proto: Any = None, **kwargs: Any) -> Any:
        """Return a message that describes the object in a SavedModel, or None."""
        return None

    @classmethod
    def _deserialize_from_proto(cls, **kwargs: Any) -> Any:
        """Return an object made from its message in a SavedModel."""
        return cls()

    def _deserialization_dependencies(self, children: dict[str, Any]) -> dict[str, Any]:
        """Return the children that must exist before this object can be made from a SavedModel."""
        return {}

    def _export_to_saved_model_graph(
        self, object_map: Any = None, tensor_map: Any = None, options: Any = None, **kwargs: Any
    ) -> list[Any]:
        """Put what a SavedModel needs of this object into the graph that is written; return the tensors captured."""
        return []

    def _copy_trackable_to_cpu(self, object_map: Any) -> None:
        """Put a copy on the host into `object_map`, for a save that goes on beside the program."""
        raise NotImplementedError(
            f"{type(self).__name__} cannot be saved in the background: it has no _copy_trackable_to_cpu()."
        )

    def _checkpoint_adapter(self, path: str) -> Any:
        """Return how values of an older layout become this object's, or None."""
        return None


# --- initial values from a checkpoint ---------------------------------------------------------------------------------


class CheckpointInitialValue:
    """An initial value that stands in a checkpoint; converted to a tensor, it is read."""

    def __init__(self, checkpoint_position: Any, shape: ShapeLike = None, shard_info: ShardInfo | None = None):
        self._checkpoint_position = checkpoint_position
        self.wrapped_value = checkpoint_position.initial_value(shape, shard_info)

    @property
    def checkpoint_position(self) -> Any:
        return self._checkpoint_position

    @property
    def shape(self) -> TensorShape:
        return self.wrapped_value.shape

    @property
    def dtype(self) -> DType:
        return self.wrapped_value.dtype

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return self.wrapped_value


class CheckpointInitialValueCallable:
    """An initializer that reads its value from a checkpoint when it is called."""

    def __init__(self, checkpoint_position: Any):
        self._checkpoint_position = checkpoint_position

    @property
    def checkpoint_position(self) -> Any:
        return self._checkpoint_position

    @property
    def restore_uid(self) -> int:
        return self._checkpoint_position.restore_uid

    def __call__(self, shape: Any = None, dtype: Any = None, shard_info: ShardInfo | None = None) -> AnyTensor:
        return CheckpointInitialValue(self._checkpoint_position, shape, shard_info)


# --- switching tracking off -------------------------------------------------------------------------------------------


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return `method` so that attributes set in it are not tracked."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    untracked.__wrapped__ = method
    return untracked


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """Set attributes of `obj` without tracking them."""
    before = getattr(obj, "_self_setattr_tracking", True)
    keep(obj, "_self_setattr_tracking", False)  # its own, also where tracking is passed on to another
    try:
        yield
    finally:
        keep(obj, "_self_setattr_tracking", before)


@contextlib.contextmanager
def no_manual_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """Let `obj._track_trackable` do nothing for a while."""
    before = getattr(obj, "_manual_tracking", True)
    keep(obj, "_manual_tracking", False)
    try:
        yield
    finally:
        keep(obj, "_manual_tracking", before)
