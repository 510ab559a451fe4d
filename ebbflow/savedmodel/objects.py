"""Objects without a class of their own, as a SavedModel names them: `_generic_user_object`, lists, dicts, signatures.

`register_revived_type` adds classes: an object whose `identifier` is known becomes one of them when it is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ebbflow import messages
from ebbflow.core.typing import Message, Nested
from ebbflow.trackable.auto import AutoTrackable
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import SaveType
from ebbflow.trackable.data_structures import set_list_item, set_tuple_item
from ebbflow.trackable.wrappers import ListWrapper, _DictWrapper, _TupleWrapper


class SignatureMap(Mapping[str, Any], Trackable):
    """The signatures of a model, by name; each is built when it is first asked for."""

    def __init__(self, signatures: Mapping[str, Any] | None = None) -> None:
        self._made: dict[str, Any] = dict(signatures or {})
        self._later: dict[str, Callable[[], Any]] = {}

    @property
    def _signatures(self) -> dict[str, Any]:
        return {name: self[name] for name in self}

    def _add_signature(self, name: str, concrete_function: Any) -> None:
        self._made[name] = concrete_function

    def add_later(self, name: str, make: Callable[[], Any]) -> None:
        """Add a signature that `make` builds."""
        self._later[name] = make

    def __getitem__(self, key: str) -> Any:
        if key in self._later:
            self._made[key] = self._later.pop(key)()
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._made, *self._later])

    def __len__(self) -> int:
        return len(self._made) + len(self._later)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"

    @property
    def _object_identifier(self) -> str:
        return "signature_map"

    def _add_trackable_child(self, name: str, value: Any) -> None:
        self._made[name] = value

    def _trackable_children(
        self, save_type: SaveType = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        return self._signatures if save_type == SaveType.SAVEDMODEL else {}


class LoadedObject(AutoTrackable):
    """An object of a SavedModel whose class is not in the file."""


def _with_special_methods(node: Any) -> Any:
    """Return an object; one with children like `__call__` is of a class of its own, which has those methods."""
    special = [c.local_name for c in node.children if c.local_name.startswith("__") and c.local_name.endswith("__")]
    if not special:
        return LoadedObject()

    def method(name: str) -> Callable[..., Any]:
        return lambda self, *args, **kwargs: self.__dict__[name](*args, **kwargs)

    cls = type("LoadedObject", (LoadedObject,), {name: method(name) for name in special if name == "__call__"})
    return cls()


# --- classes by identifier --------------------------------------------------------------------------------------------


class VersionedTypeRegistration:
    """How objects of one class, at one version, are made from a file."""

    def __init__(
        self,
        object_factory: Callable[[Any], Any],
        version: int,
        min_producer_version: int,
        min_consumer_version: int,
        bad_consumers: Any = None,
        setter: Callable[..., Any] = setattr,
    ):
        self.setter, self.identifier = setter, ""
        self._factory, self.version = object_factory, version
        self._min_producer, self._min_consumer = min_producer_version, min_consumer_version
        self._bad_consumers = list(bad_consumers or ())

    def to_proto(self) -> Message:
        """Return this as a SavedUserObject."""
        return messages.SavedUserObject(
            identifier=self.identifier,
            version=messages.VersionDef(
                producer=self.version, min_consumer=self._min_consumer, bad_consumers=self._bad_consumers
            ),
        )

    def from_proto(self, proto: Message) -> Nested:
        """Return a new object."""
        return self._factory(proto)

    def should_load(self, proto: Message) -> bool:
        """Return whether this version reads what the file's wrote."""
        return (
            proto.identifier == self.identifier
            and self.version >= proto.version.min_consumer
            and proto.version.producer >= self._min_producer
            and self.version not in proto.version.bad_consumers
        )


_REVIVED: dict[str, tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]] = {}


def register_revived_type(
    identifier: str, predicate: Callable[[Any], bool], versions: list[VersionedTypeRegistration]
) -> None:
    """Have objects for which `predicate` holds be written as `identifier`, and made again by one of `versions`."""
    versions = sorted(versions, key=lambda one: one.version, reverse=True)
    if not versions:
        raise AssertionError("Need at least one version of a registered type.")
    numbers = [one.version for one in versions]
    if len(set(numbers)) != len(numbers):
        raise AssertionError(
            f"Got multiple registrations with version {max(numbers, key=numbers.count)} for type {identifier}."
        )
    if identifier in _REVIVED:
        raise AssertionError(f"Duplicate registrations for type '{identifier}'")
    for one in versions:
        one.identifier = identifier
    _REVIVED[identifier] = (predicate, versions)


def serialize(obj: Any) -> Any:
    """Return an object of a registered class as a SavedUserObject, or None."""
    for predicate, versions in _REVIVED.values():
        if predicate(obj):
            return versions[0].to_proto()
    return None


def deserialize(proto: Any) -> tuple[Any, Callable[..., Any]] | None:
    """Return a new object of a registered class and how to set its attributes, or None."""
    for registration in _REVIVED.get(proto.identifier, (None, []))[1]:
        if registration.should_load(proto):
            return registration.from_proto(proto), registration.setter
    return None


def registered_identifiers() -> list[str]:
    """Return the identifiers that have a class."""
    return list(_REVIVED)


def get_setter(proto: Message) -> Callable[..., Any] | None:
    """Return how attributes are set on objects of a registered class."""
    for registration in _REVIVED.get(proto.identifier, (None, []))[1]:
        if registration.should_load(proto):
            return registration.setter
    return None


def revived(node: Any) -> Any:
    """Return the object that a SavedUserObject stands for; one of an unknown kind is a plain one."""
    found = deserialize(node.user_object)
    if found is None:
        return _with_special_methods(node)
    made, setter = found
    if setter is not setattr:
        _SETTERS[type(made)] = setter
    return made


_SETTERS: dict[type, Callable[..., Any]] = {}


def attach(parent: Any, name: str, child: Any) -> None:
    """Make `child` (or, for a signature, what makes it) an attribute, item or entry of `parent`."""
    if isinstance(parent, SignatureMap):
        parent.add_later(name, child)
    elif type(parent) in _SETTERS:
        _SETTERS[type(parent)](parent, name, child)
    elif name.startswith("__") and name.endswith("__"):
        parent.__dict__[name] = child
        parent._track_trackable(child, name, overwrite=True)
    elif isinstance(parent, Trackable) and not isinstance(parent, AutoTrackable):
        parent._add_trackable_child(name, child)
    else:
        setattr(parent, name, child)


def _set_dict_item(wrapper: Any, name: str, value: Any) -> None:
    wrapper[name] = value


def _plain(identifier: str, make: Callable[[Any], Any], kind: type, setter: Callable[..., Any] = setattr) -> None:
    registration = VersionedTypeRegistration(make, 1, 1, 1, setter=setter)
    register_revived_type(identifier, lambda obj: isinstance(obj, kind), [registration])


_plain("trackable_list_wrapper", lambda proto: ListWrapper([]), ListWrapper, set_list_item)
_plain("trackable_dict_wrapper", lambda proto: _DictWrapper({}), _DictWrapper, _set_dict_item)
_plain("trackable_tuple_wrapper", lambda proto: _TupleWrapper(()), _TupleWrapper, set_tuple_item)
_plain("signature_map", lambda proto: SignatureMap(), SignatureMap)
