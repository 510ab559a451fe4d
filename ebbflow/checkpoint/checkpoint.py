"""`tf.train.Checkpoint`: what is set as its attributes is saved and restored, with everything below it."""

from __future__ import annotations

import copy
import os
import weakref
from typing import Any

from ebbflow.checkpoint import management
from ebbflow.checkpoint.object_graph import ObjectGraphView
from ebbflow.checkpoint.object_saver import TrackableSaver
from ebbflow.checkpoint.options import CheckpointOptions
from ebbflow.checkpoint.status import LoadStatus, NameBasedSaverStatus, get_session
from ebbflow.core import context, dtypes, errors
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, PathLike, SessionLike
from ebbflow.graph.scopes import device_scope, init_scope
from ebbflow.platform import files
from ebbflow.state.initializers import GlorotUniform, Zeros
from ebbflow.state.variables import VariableV1
from ebbflow.trackable.auto import AutoTrackable
from ebbflow.trackable.base import Trackable, TrackableReference, WeakTrackableReference
from ebbflow.trackable.data_structures import convert_to_trackable

_COUNTER = "save_counter"


class CheckpointBase(AutoTrackable):
    """What the checkpoints of TF 1 and TF 2 share."""

    _save_counter: Any = None
    _save_assign_op: Any = None
    _saver: TrackableSaver

    def _make_counter(self) -> Any:
        with device_scope("/cpu:0"):
            return VariableV1(0, trainable=False, dtype=dtypes.int64, name=_COUNTER, use_resource=True)

    def _maybe_create_save_counter(self) -> None:
        if self._save_counter is None:
            with init_scope() if context.executing_eagerly() else _here():
                counter = self._make_counter()
            # Tracked under its public name; restored at once where a checkpoint holds one.
            object.__setattr__(self, "_save_counter", counter)
            self._track_counter(counter)

    def _track_counter(self, counter: Any) -> None:
        self._track_trackable(counter, _COUNTER, overwrite=True)

    @property
    def save_counter(self) -> Any:
        """How often this was saved; part of the number in the names of checkpoints."""
        self._maybe_create_save_counter()
        return self._save_counter

    def _counter_ready(self, session: Any) -> Any:
        """Have a counter with a value; return the session that has it (None where there are only eager variables)."""
        new = self._save_counter is None
        self._maybe_create_save_counter()
        if context.executing_eagerly():
            return None
        session = session or get_session()
        if new:
            session.run(self._save_counter.initializer)
        return session

    def _counted(self, session: Any) -> int:
        """Add one to the counter and return it."""
        session = self._counter_ready(session)
        if session is None:
            self._save_counter.assign_add(1, read_value=False)
            return int(self._save_counter.numpy())
        if self._save_assign_op is None:
            object.__setattr__(self, "_save_assign_op", self._save_counter.assign_add(1, read_value=True))
        return int(session.run(self._save_assign_op))

    def sync(self) -> None:
        """Wait for what is being written in the background."""
        self._saver.sync()


def _here() -> Any:
    return device_scope("")


class Checkpoint(CheckpointBase):
    """Saves and restores objects, TF 2's way.

    >>> import tempfile
    >>> from ebbflow.state.variables import Variable
    >>> checkpoint = Checkpoint(step=Variable(1), weights=[Variable([2.0])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = checkpoint.save(folder + "/ckpt")
    ...     _ = checkpoint.step.assign(0)
    ...     _ = checkpoint.restore(path).assert_consumed()
    >>> int(checkpoint.step)
    1
    """

    _attached: list[TrackableReference] | None = None

    def __init__(self, root: Any = None, **kwargs: Any):
        weak = isinstance(root, weakref.ref)
        target = root() if weak else root
        attached: list[TrackableReference] = []
        if root is not None:
            _check_trackable(target, "root")
            target._maybe_initialize_trackable()
            attached.append(WeakTrackableReference("root", target))
            if not weak:
                self.root = target
        for name, value in sorted(kwargs.items()):
            _check_trackable(_converted(value, self), name)
            setattr(self, name, value)
            if root is None:
                continue
            child = getattr(self, name)
            current = target._lookup_dependency(name)
            if current is not None and current is not child:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already exists."
                )
            attached.append(WeakTrackableReference(name, child))
        object.__setattr__(self, "_attached", None if root is None else attached)
        self._make_saver(self if root is None else target)

    def _make_saver(self, root: Any) -> None:
        view = ObjectGraphView(weakref.ref(root), self._attached)
        object.__setattr__(self, "_saver", TrackableSaver(view))

    def __deepcopy__(self, memo: Any) -> Checkpoint:
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        for name, value in self.__dict__.items():
            if name not in ("_saver", "_attached"):
                twin.__dict__[name] = copy.deepcopy(value, memo)
        if self._attached is not None:
            twin.__dict__["_attached"] = [
                WeakTrackableReference(each.name, memo.get(id(each.ref), each.ref)) for each in self._attached
            ]
        twin._make_saver(twin if self._attached is None else twin._attached[0].ref)  # type: ignore[index]
        return twin

    def _track_counter(self, counter: Any) -> None:
        super()._track_counter(counter)
        if self._attached is not None:
            self._attached.append(TrackableReference(_COUNTER, counter))
            root = self._saver._graph_view.root
            for position in root._deferred_dependencies.pop(_COUNTER, ()):  # it was waiting with the root
                position.restore(counter)

    def write(self, file_prefix: PathLike, options: CheckpointOptions | None = None) -> str | Tensor:
        """Write a checkpoint of exactly that prefix; return it. Nothing is counted or listed."""
        return self._saver.save(_fspath(file_prefix), options=options)

    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write a numbered checkpoint, list it in its folder, and return its prefix."""
        prefix = _fspath(file_prefix)
        graph = context.current_graph() if context.graph_scopes else None
        if graph is not None and graph.building_function:
            raise NotImplementedError(
                "Calling tf.train.Checkpoint.save() from a function is not supported, as save() modifies saving "
                "metadata in ways not supported by TensorFlow Operations. Consider using "
                "tf.train.Checkpoint.write(), a lower-level API which does not update metadata. "
                "tf.train.latest_checkpoint and related APIs will not see this checkpoint."
            )
        number = self._counted(None)
        return self._saver.save(f"{prefix}-{number}", options=options, when_written=_list_alone)

    def read(self, save_path: Any, options: CheckpointOptions | None = None) -> LoadStatus:
        """Restore a checkpoint that `write` made; return a status that tells what was matched."""
        return self._saver.restore(_fspath(save_path), options=options)

    def restore(self, save_path: Any, options: CheckpointOptions | None = None) -> LoadStatus:
        """Restore a checkpoint that `save` made; return a status that tells what was matched."""
        path = None if save_path is None else files.text_of(_fspath(save_path))
        if path is not None and files.isdir(path):
            path = _within(path)
        try:
            status = self.read(path, options=options)
        except errors.NotFoundError as error:
            raise errors.NotFoundError(
                None, None, f"Error when restoring from checkpoint or SavedModel at {save_path}: {error.message}\n"
                "Please double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the "
                "'-1' in 'path/to/ckpt-1').",
            ) from None  # fmt: skip
        self._maybe_create_save_counter()
        if isinstance(status, NameBasedSaverStatus):
            status.add_to_optionally_restored(self.save_counter)
        return status


def _converted(value: Any, parent: Any) -> Any:
    try:
        return convert_to_trackable(value, parent=parent)
    except NotImplementedError:
        return value


def _within(folder: str) -> str:
    """Return the checkpoint that a folder stands for: that of a SavedModel."""
    inner = os.path.join(folder, "variables", "variables")
    return inner if management.checkpoint_exists_internal(inner) else folder


def _list_alone(path: str) -> None:
    management.update_checkpoint_state_internal(
        os.path.dirname(path), path, all_model_checkpoint_paths=[path], save_relative_paths=True
    )


def _fspath(path: Any) -> Any:
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def _check_trackable(value: Any, name: str) -> None:
    if not isinstance(value, Trackable):
        extra = ""
        if name == "root" or callable(value):
            extra = "\n\nA trackable object is a tf.Module, a tf.Variable, an optimizer, or a structure of these."
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from `Trackable`), got "
            f"{value}. If you believe this object should be trackable (i.e. it is part of the TensorFlow Python API "
            f"and manages state), please open an issue.{extra}"
        )


class CheckpointV1(CheckpointBase):
    """Saves and restores objects, TF 1's way: with sessions where there are graphs."""

    def __init__(self, **kwargs: Any):
        for name, value in sorted(kwargs.items()):
            if not isinstance(value, Trackable) and not hasattr(value, "_trackable_children"):
                value = _converted(value, self)
                _check_trackable(value, name)
            setattr(self, name, value)
        object.__setattr__(self, "_saver", TrackableSaver(ObjectGraphView(weakref.ref(self))))

    def write(
        self, file_prefix: PathLike, session: SessionLike | None = None, options: CheckpointOptions | None = None
    ) -> str | Tensor:
        """Write a checkpoint of exactly that prefix; return it."""
        return self._saver.save(_fspath(file_prefix), session=session, options=options)

    def save(self, file_prefix: Any, session: Any = None, options: CheckpointOptions | None = None) -> str:
        """Write a numbered checkpoint, list it in its folder, and return its prefix."""
        number = self._counted(session)
        prefix = f"{_fspath(file_prefix)}-{number}"
        return self._saver.save(prefix, session=session, options=options, when_written=_list_alone)

    def restore(self, save_path: Any) -> LoadStatus:
        """Restore a checkpoint; return a status that tells what was matched."""
        status = self._saver.restore(_fspath(save_path))
        self._maybe_create_save_counter()
        if isinstance(status, NameBasedSaverStatus):
            status.add_to_optionally_restored(self.save_counter)
        return status


def add_variable(
    trackable: Any,
    name: str,
    shape: Any = None,
    dtype: DTypeLike = dtypes.float32,
    initializer: Any = None,
    trainable: bool = True,
) -> Any:
    """Make a variable and track it as `name`; it starts with what a checkpoint holds for it, if one does."""
    return trackable._add_variable_with_custom_getter(
        name=name, shape=shape, dtype=dtype, initializer=initializer, getter=_make_variable, trainable=trainable
    )


def _make_variable(name: str, shape: Any, dtype: Any, initializer: Any, trainable: bool) -> Any:
    if initializer is not None and not callable(initializer):
        if shape is not None:
            raise ValueError(
                f"If initializer is a constant, do not specify shape. Got shape={shape} for the variable '{name}'"
            )
        return VariableV1(initializer, trainable=trainable, name=name, dtype=dtype, use_resource=True)
    if initializer is None:
        initializer = GlorotUniform() if dtypes.as_dtype(dtype).is_floating else Zeros()
    if isinstance(initializer, type):
        initializer = initializer()
    dims = None if shape is None else TensorShape(shape).as_list()

    def first() -> Any:
        return initializer(dims, dtype=dtype)

    return VariableV1(first, trainable=trainable, name=name, dtype=dtype, use_resource=True)
