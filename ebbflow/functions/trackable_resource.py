"""Resources that a SavedModel can make anew: a handle, and functions that create, fill and destroy what it names."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import PathLike
from ebbflow.functions.function import function
from ebbflow.graph.scopes import device_scope, init_scope
from ebbflow.platform.early_eager import eager_mode
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import SaveType

_RESOURCE_TRACKER_STACK: list[Any] = []


class ResourceTracker:
    """Collects the resources that are made while it is in scope."""

    def __init__(self) -> None:
        self._resources: list[Any] = []

    @property
    def resources(self) -> list[Any]:
        return self._resources

    def add_resource(self, resource: Any) -> None:
        """Note a resource."""
        self._resources.append(resource)


@contextlib.contextmanager
def resource_tracker_scope(resource_tracker: ResourceTracker) -> Iterator[None]:
    """Let `resource_tracker` collect the resources made inside."""
    _RESOURCE_TRACKER_STACK.append(resource_tracker)
    try:
        yield
    finally:
        _RESOURCE_TRACKER_STACK.pop()


def _make_getter(captured_getter: Callable[..., Any], captured_previous: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: captured_getter(captured_previous, *args, **kwargs)


class _Creating(type):
    """Asks the creator scopes of the graph before it makes a resource."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        def make(next_creator: Any, *a: Any, **kw: Any) -> Any:
            return type.__call__(cls, *a, **kw)

        getter: Callable[..., Any] = lambda *a, **kw: make(None, *a, **kw)
        for kinds, creator in context.default_graph()._stack("resource_creators"):
            if cls._resource_type() in kinds:  # type: ignore[attr-defined]
                getter = _make_getter(creator, getter)
        return getter(*args, **kwargs)


@contextlib.contextmanager
def resource_creator_scope(resource_type: Any, resource_creator: Callable[..., Any]) -> Iterator[None]:
    """Have `resource_creator(next_creator, *args, **kwargs)` make the resources of a class, or of several."""
    if callable(resource_type):
        resource_type, resource_creator = resource_creator, resource_type
    entry = ((resource_type,) if isinstance(resource_type, str) else tuple(resource_type), resource_creator)
    stack = context.default_graph()._stack("resource_creators")
    stack.append(entry)
    try:
        yield
        if stack[-1] is not entry:
            raise RuntimeError("Exiting resource_creator_scope without proper nesting.")
    finally:
        stack.remove(entry)


class CapturableResource(Trackable, metaclass=_Creating):
    """A resource whose handle is made when first asked for; subclasses say how in `_create_resource`."""

    def __init__(self, device: str = ""):
        self._resource_handle_value: Any = None
        self._resource_device = device
        # It is destroyed where it was made, whichever graph is being built when nobody needs it any more.
        with init_scope():
            made_in: Any = eager_mode if context.executing_eagerly() else context.default_graph().as_default
        self._self_destruction_context = made_in
        self._self_finalizer: Any = None

    @classmethod
    def _resource_type(cls) -> str:
        return cls.__name__

    @property
    def _destruction_context(self) -> Any:
        return getattr(self, "_self_destruction_context", contextlib.suppress)

    def _create_resource(self) -> Any:
        """Make the resource and return its handle."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> Any:
        """Fill the resource."""

    def _destroy_resource(self) -> Any:
        """Free the resource."""

    @property
    def _resource_handle(self) -> Any:
        return self._resource_handle_value

    @_resource_handle.setter
    def _resource_handle(self, value: Any) -> None:
        self._resource_handle_value = value

    @property
    def resource_handle(self) -> Any:
        """The handle of the resource."""
        if self._resource_handle_value is None:
            with init_scope(), device_scope(self._resource_device or None):
                self._resource_handle_value = self._create_resource()
        return self._resource_handle_value

    def _export_to_saved_model_graph(
        self, object_map: Any = None, tensor_map: Any = None, options: Any = None, **kwargs: Any
    ) -> list[Any]:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        copied._resource_handle_value = None
        object_map[self] = copied
        tensor_map[self.resource_handle] = copied.resource_handle
        return [self.resource_handle]

    def _trackable_children(
        self, save_type: SaveType = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        children = super()._trackable_children(save_type, **kwargs)
        if save_type != SaveType.SAVEDMODEL:
            return children

        @function(input_signature=[], autograph=False)
        def _creator() -> Any:
            return self._create_resource()

        @function(input_signature=[], autograph=False)
        def _initializer() -> int:
            self._initialize()
            return 1  # a function in a SavedModel returns something

        @function(input_signature=[], autograph=False)
        def _destroyer() -> int:
            self._destroy_resource()
            return 1

        return {
            **children,
            "_create_resource": _creator,
            "_initialize": _initializer,
            "_destroy_resource": _destroyer,
        }

    def __del__(self) -> None:
        with contextlib.suppress(Exception), self._destruction_context():  # at the end of a process much is gone
            self._destroy_resource()


class TrackableResource(CapturableResource):
    """A resource that is made at once, and known to the trackers in scope."""

    def __init__(self, device: str = ""):
        for tracker in _RESOURCE_TRACKER_STACK:
            tracker.add_resource(self)
        super().__init__(device=device)


class RestoredResource(TrackableResource):
    """A resource read from a SavedModel: its functions are attached to it as children."""

    @classmethod
    def _deserialize_from_proto(cls, object_proto: Any = None, dependencies: Any = None, **kwargs: Any) -> Any:
        return cls(device=object_proto.resource.device)

    def _add_trackable_child(self, name: str, value: Any) -> None:
        setattr(self, name, value)
        if isinstance(value, Trackable) and not callable(value):
            self._track_trackable(value, name)


class Asset(Trackable):
    """A file that goes into a SavedModel's assets.

    >>> Asset("vocabulary.txt").asset_path.numpy()
    b'vocabulary.txt'
    """

    def __init__(self, path: PathLike):
        with init_scope():
            self._path = convert(path.__fspath__() if hasattr(path, "__fspath__") else path, name="asset_path")

    @property
    def asset_path(self) -> Tensor:
        """The path, as a tensor."""
        return self._path

    @property
    def path(self) -> str:
        """The path, where it is known: a tensor of a graph that is no constant has none."""
        value = self._path.constant_value()
        if value is None:
            raise ValueError(f"the path of an asset must be a constant, to be copied; got {self._path!r}")
        return str(np.asarray(value).item().decode())

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return convert(self._path, dtype, name=name)

    @classmethod
    def _deserialize_from_proto(
        cls, object_proto: Any = None, export_dir: str = "", asset_file_def: Any = None, **kwargs: Any
    ) -> Any:
        name = asset_file_def[object_proto.asset.asset_file_def_index].filename
        return cls(f"{export_dir.rstrip('/')}/assets/{name}")
