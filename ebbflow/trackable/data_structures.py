"""Lists, dicts and tuples that are trackable: what is put in them becomes a child, called by its index or key.

`List` and `Mapping` are made by hand and only grow; the wrappers (`wrappers`) are what a list, dict or tuple becomes
when it is set as an attribute. Knows layers only by the attributes they have.
"""

from __future__ import annotations

import collections
import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Mapping as AbstractMapping
from typing import Any

from ebbflow.core.identity import ObjectIdentitySet
from ebbflow.core.typing import Nested
from ebbflow.trackable.base import Trackable

_wrappers: dict[type, Callable[[Any], Any]] = {}


class NoDependency:
    """Marks a value that is set as an attribute without becoming a child.

    >>> from ebbflow.trackable.auto import AutoTrackable
    >>> root = AutoTrackable()
    >>> root.notes = NoDependency([1])
    >>> type(root.notes), root._trackable_children()
    (<class 'list'>, {})
    """

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


class _UntrackableError(ValueError):
    """Something was put where only trackable objects may be."""

    def __init__(self, value: Any):
        super().__init__(value)
        self._value = value

    def __str__(self) -> str:
        return (
            "Only trackable objects (such as Layers or Optimizers) may be stored in a List object. "
            f"Got {self._value}, which does not inherit from Trackable."
        )


def provide_wrappers(wrappers: dict[type, Callable[[Any], Any]]) -> None:
    """Say what a list, dict or tuple becomes."""
    _wrappers.update(wrappers)


def wrap_or_unwrap(value: object) -> Nested:
    """Return a list, dict or tuple as one that is trackable, what `NoDependency` holds, and anything else as it is."""
    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, Trackable):
        return value
    kind = type(value)
    if kind in _wrappers:
        return value if kind is tuple and not _should_wrap_tuple(value) else _wrappers[kind](value)
    if isinstance(value, tuple) and _should_wrap_tuple(value):
        return _wrappers[tuple](value)
    return value


def _should_wrap_tuple(t: Any) -> bool:
    """Return whether a tuple holds anything that is trackable, or would be."""
    for element in t:
        if isinstance(element, (NoDependency, Trackable)) or type(element) in (dict, collections.OrderedDict, list):
            return True
        if isinstance(element, tuple) and _should_wrap_tuple(element):
            return True
    return False


def sticky_attribute_assignment(trackable: Trackable, name: str, value: object) -> Any:
    """Track `value`, which is about to become an attribute, and return what to set."""
    tracked = not isinstance(value, NoDependency)
    value = wrap_or_unwrap(value)
    if tracked and isinstance(value, Trackable):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value


def convert_to_trackable(obj: Any, parent: Any = None) -> Any:
    """Return `obj` as something that can be a child: TypeError if it cannot be one."""
    if isinstance(obj, NoDependency):
        obj = obj.value
    if isinstance(obj, Trackable):
        return obj
    obj = wrap_or_unwrap(obj)
    if isinstance(obj, Trackable):
        return obj
    raise NotImplementedError(f"Cannot convert {type(obj)} to a trackable object (a child of {parent!r}).")


# --- layers, known by what they have ----------------------------------------------------------------------------------


def is_layer(obj: Any) -> bool:
    """Return whether an object is a layer."""
    return hasattr(obj, "_is_layer") and not isinstance(obj, type)


def has_weights(obj: Any) -> bool:
    """Return whether an object's class has weights, trained or not."""
    kind = type(obj)
    return hasattr(kind, "trainable_weights") and hasattr(kind, "non_trainable_weights") and not isinstance(obj, type)


def filter_empty_layer_containers(layer_list: Iterable[Any]) -> Iterator[Any]:
    """Yield the layers in a list of layers and of containers of them, each once."""
    seen = ObjectIdentitySet()
    waiting = list(layer_list)[::-1]
    while waiting:
        obj = waiting.pop()
        if obj in seen:
            continue
        seen.add(obj)
        if is_layer(obj):
            yield obj
        else:
            waiting.extend(reversed(getattr(obj, "layers", None) or []))


class TrackableDataStructure(Trackable):
    """What the containers share: their layers, weights and losses, asked for as those of one layer."""

    def __init__(self) -> None:
        self._self_trainable = True
        self._self_extra_variables: list[Any] = []

    @property
    def _values(self) -> Iterable[Any]:
        raise NotImplementedError("A container says what it holds.")

    def _track_value(self, value: Any, name: str) -> Any:
        """Make a value a child; return it, wrapped where it is a container."""
        value = wrap_or_unwrap(value)
        if not isinstance(value, Trackable):
            raise _UntrackableError(value)
        if hasattr(value, "_use_resource_variables"):
            value._use_resource_variables = True
        self._track_trackable(value, name=name)
        return value

    @property
    def trainable(self) -> bool:
        return self._self_trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._self_trainable = value

    @property
    def _layers(self) -> list[Any]:
        return [v for v in self._values if is_layer(v) or has_weights(v) or isinstance(v, TrackableDataStructure)]

    @property
    def layers(self) -> list[Any]:
        return list(filter_empty_layer_containers(self._layers))

    @property
    def trainable_weights(self) -> list[Any]:
        if not self._self_trainable:
            return []
        own = [v for v in self._variables_of(self._values) if v.trainable]
        return _once([*own, *(w for part in self._parts() for w in part.trainable_variables)])

    @property
    def non_trainable_weights(self) -> list[Any]:
        own = self._variables_of(self._values)
        kept = [v for v in own if not v.trainable or not self._self_trainable]
        frozen = [
            w
            for part in self._parts()
            for w in (part.non_trainable_variables if self._self_trainable else part.variables)
        ]
        return _once([*kept, *frozen])

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights
    variables = weights

    @property
    def updates(self) -> list[Any]:
        return [u for layer in self.layers for u in getattr(layer, "updates", ())]

    @property
    def losses(self) -> list[Any]:
        return [loss for layer in self.layers for loss in getattr(layer, "losses", ())]

    def _parts(self) -> list[Any]:
        """Return what has variables of its own: layers, modules, containers."""
        return [v for v in self._values if not _is_variable(v) and hasattr(type(v), "trainable_variables")]

    def _variables_of(self, values: Iterable[Any]) -> list[Any]:
        return [v for v in [*self._self_extra_variables, *values] if _is_variable(v)]

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> Any:
        return self is other


def _is_variable(value: Any) -> bool:
    return hasattr(value, "trainable") and hasattr(value, "assign") and isinstance(value, Trackable)


def _once(values: Iterable[Any]) -> list[Any]:
    return list(ObjectIdentitySet(values))


class List(TrackableDataStructure, Sequence[Any]):
    """A list that only grows, of trackable objects.

    >>> from ebbflow.trackable.auto import AutoTrackable
    >>> sorted(List([AutoTrackable(), AutoTrackable()])._trackable_children())
    ['0', '1']
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()
        self._storage: Any = self._make_storage(*args, **kwargs)
        for index, element in enumerate(self._storage):
            self._storage[index] = self._track_value(element, name=self._name_element(index))

    def _make_storage(self, *args: Any, **kwargs: Any) -> Any:
        return list(*args, **kwargs)

    def _name_element(self, index: int) -> str:
        return str(index)

    @property
    def _values(self) -> Iterable[Any]:
        return self

    def copy(self) -> Any:
        """Return a list of the same elements."""
        return type(self)(copy.copy(self._storage))

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(copy.deepcopy(self._storage, memo))

    def append(self, value: Any) -> None:
        """Add an element, and track it."""
        value = self._track_value(value, self._name_element(len(self._storage)))
        self._storage.append(value)

    def extend(self, values: Iterable[Any]) -> None:
        """Add several elements, and track them."""
        for value in values:
            self.append(value)

    def __iadd__(self, values: Any) -> Any:
        self.extend(values)
        return self

    def __add__(self, other: Any) -> Any:
        return self._storage + getattr(other, "_storage", other)

    def __radd__(self, other: Any) -> Any:
        return other + self._storage

    def __imul__(self, y: Any) -> Any:
        if y <= 0:
            raise ValueError(f"List only supports append, multiplying in place by {y} removes elements.")
        count = len(self._storage)
        for _ in range(y - 1):
            for index in range(count):
                self.append(self._storage[index])
        return self

    def __mul__(self, n: Any) -> Any:
        return type(self)(self._storage * n)

    __rmul__ = __mul__

    def __getitem__(self, key: Any) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __repr__(self) -> str:
        return f"List({self._storage!r})"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._storage.__sizeof__()


class Mapping(TrackableDataStructure, AbstractMapping[str, Any]):
    """A dict of trackable objects with strings as keys, to which entries are only added."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()
        self._storage: dict[str, Any] = dict(*args, **kwargs)
        for key, value in self._storage.items():
            self._storage[key] = self._track_value(value, name=self._name_element(key))

    def _name_element(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        return key

    @property
    def _values(self) -> Iterable[Any]:
        return [self._storage[key] for key in sorted(self._storage)]

    def __copy__(self) -> Any:
        return type(self)(copy.copy(self._storage))

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(copy.deepcopy(self._storage, memo))

    def __setitem__(self, key: str, value: Any) -> None:
        name, value = self._name_element(key), wrap_or_unwrap(value)
        current = self._storage.get(key, value)
        if current is not value:
            raise ValueError(
                f"Mappings are an append-only data structure. Tried to overwrite the key '{key}' with value {value}, "
                f"but it already contains {current}"
            )
        self._storage[key] = self._track_value(value, name=name)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add several entries."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key: str) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[str]:
        return iter(self._storage)

    def __repr__(self) -> str:
        return f"Mapping({self._storage!r})"


def set_list_item(list_object: Any, index_string: str, value: Any) -> None:
    """Put a child of a list being rebuilt at its place, leaving None before it."""
    index = int(index_string)
    if len(list_object) <= index:
        list_object.extend([None] * (1 + index - len(list_object)))
    list_object[index] = value


def set_tuple_item(list_object: Any, index_string: str, value: Any) -> None:
    """Put a child of a tuple being rebuilt at its place."""
    try:
        index = int(index_string)
    except ValueError:
        return  # a namedtuple's children stand under their field names too
    items = list(list_object)
    items.extend([None] * (1 + index - len(items)))
    items[index] = value
    list_object.__init__(tuple(items))
