"""What a list, dict or tuple becomes when it is set as an attribute of a trackable object.

They behave as what they wrap, and let the original be changed through them. A wrapper that was changed in a way no
checkpoint could follow (an element replaced, or the original changed behind its back) says so when it is saved, not
before: most lists are never saved.
"""

from __future__ import annotations

import collections
import copy
import operator
from collections.abc import Iterable, MutableSequence
from typing import Any

from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import SaveType
from ebbflow.trackable.data_structures import (
    List,
    NoDependency,
    TrackableDataStructure,
    _UntrackableError,
    provide_wrappers,
    wrap_or_unwrap,
)
from ebbflow.trackable.proxy import ObjectProxy, unwrapped

_IGNORED = "it will be subsequently ignored."


_Listed: Any = list  # a list and a MutableSequence at once, which typing does not allow for


class ListWrapper(List, MutableSequence[Any], _Listed):
    """A list as an attribute: its elements are children as long as it only grows.

    >>> wrapped = ListWrapper([1, 2])
    >>> wrapped.append(3)
    >>> wrapped == [1, 2, 3], isinstance(wrapped, list)
    (True, True)
    """

    def __init__(self, wrapped_list: list[Any]):
        self._non_append_mutation_value = False
        self._external_modification_value = False
        super().__init__(wrapped_list)
        self._last_wrapped_list_snapshot = list(self._storage)

    @property
    def _non_append_mutation(self) -> bool:
        return self._non_append_mutation_value

    @_non_append_mutation.setter
    def _non_append_mutation(self, value: bool) -> None:
        self._non_append_mutation_value = value

    @property
    def _external_modification(self) -> bool:
        return self._external_modification_value

    @_external_modification.setter
    def _external_modification(self, value: bool) -> None:
        self._external_modification_value = value

    def _make_storage(self, wrapped_list: list[Any]) -> list[Any]:
        return wrapped_list

    def __copy__(self) -> Any:
        copied = super().__copy__()
        copied._non_append_mutation = self._non_append_mutation
        copied._external_modification = self._external_modification
        return copied

    def __deepcopy__(self, memo: Any) -> Any:
        copied = super().__deepcopy__(memo)
        copied._non_append_mutation = self._non_append_mutation
        copied._external_modification = self._external_modification
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (self.__class__, (self._storage,))

    # --- what it says when it is saved --------------------------------------------------------------------------------

    def _check_external_modification(self) -> None:
        """Notice that the original changed behind the wrapper's back."""
        if self._external_modification or self._non_append_mutation:
            return
        kept = self._last_wrapped_list_snapshot
        if len(kept) != len(self._storage) or not all(map(operator.is_, kept, self._storage)):
            self._external_modification = True
            self._last_wrapped_list_snapshot = None  # type: ignore[assignment]

    def _update_snapshot(self) -> None:
        if not (self._external_modification or self._non_append_mutation):
            self._last_wrapped_list_snapshot = list(self._storage)

    def _has_mutation_or_trackable(self) -> bool:
        return self._non_append_mutation or any(isinstance(element, Trackable) for element in self._storage)

    def _trackable_children(
        self, save_type: SaveType = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        self._check_external_modification()
        if self._non_append_mutation:
            raise ValueError(
                f"{self._not_saved()}A list element was replaced (__setitem__, __setslice__), deleted (__delitem__, "
                "__delslice__), or moved (sort). In order to support restoration on object creation, tracking is "
                "exclusively for append-only data structures.\n\nIf you don't need this list checkpointed, wrap it in "
                f"a non-trackable object; {_IGNORED}"
            )
        if self._external_modification:
            raise ValueError(
                f"{self._not_saved()}The wrapped list was modified outside the wrapper (its final value was "
                f"{self._storage}, its value when a checkpoint dependency was added was "
                f"{self._last_wrapped_list_snapshot}), which breaks restoration on object creation.\n\nIf you don't "
                f"need this list checkpointed, wrap it in a NoDependency object; {_IGNORED}"
            )
        return super()._trackable_children(save_type, **kwargs)

    def _not_saved(self) -> str:
        return f"Unable to save the object {self} (a list wrapper constructed to track trackable TensorFlow objects). "

    def _track_value(self, value: Any, name: str) -> Any:
        """Track what can be; a list may hold anything."""
        try:
            return super()._track_value(value, name)
        except _UntrackableError:
            return wrap_or_unwrap(value)

    # --- being a list -------------------------------------------------------------------------------------------------

    def _mutated(self, *elements: Any) -> None:
        if any(isinstance(element, Trackable) for element in elements):
            self._non_append_mutation = True

    def __delitem__(self, key: Any) -> None:
        self._check_external_modification()
        gone = self._storage[key]
        self._mutated(*(gone if isinstance(key, slice) else [gone]), *self._behind(key))
        del self._storage[key]
        self._update_snapshot()

    def _behind(self, key: Any) -> list[Any]:
        """Return the elements whose place changes when others go."""
        start = key.indices(len(self))[0] if isinstance(key, slice) else operator.index(key)
        return self._storage[start:]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_external_modification()
        if isinstance(key, slice):
            self._mutated(*self._storage[key])
            self._storage[key] = [wrap_or_unwrap(each) for each in value]
            self._mutated(*self._storage[key])
        else:
            index = operator.index(key)
            index += len(self) if index < 0 else 0
            before = self._storage[key]
            no_dependency = isinstance(value, NoDependency)
            value = wrap_or_unwrap(value)
            self._mutated(*([] if before is value else [before]))
            if isinstance(value, Trackable) and not no_dependency and not isinstance(before, Trackable):
                self._track_value(value, self._name_element(index))
            self._storage[key] = value
        self._update_snapshot()

    def append(self, value: Any) -> None:
        """Add an element, and track it."""
        self._check_external_modification()
        super().append(value)
        self._update_snapshot()

    def extend(self, values: Iterable[Any]) -> None:
        """Add several elements, and track them."""
        self._check_external_modification()
        for value in list(values):
            super().append(value)
            self._last_wrapped_list_snapshot = list(self._storage)
        self._update_snapshot()

    def insert(self, index: Any, obj: Any) -> None:
        """Put an element somewhere in the list: from then on it cannot be saved if anything in it is trackable."""
        self._check_external_modification()
        self._mutated(obj, *self._storage)
        self._storage.insert(index, wrap_or_unwrap(obj))
        self._update_snapshot()

    def sort(self, *args: Any, **kwargs: Any) -> None:
        """Sort the list: from then on it cannot be saved if anything in it is trackable."""
        self._check_external_modification()
        self._mutated(*self._storage)
        self._storage.sort(*args, **kwargs)
        self._update_snapshot()

    def __imul__(self, y: Any) -> Any:
        if y > 0:
            return super().__imul__(y)
        self._check_external_modification()
        self._mutated(*self._storage)
        self._storage *= y
        self._update_snapshot()
        return self

    def __eq__(self, other: object) -> Any:
        return self._storage == getattr(other, "_storage", other)

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __lt__(self, other: Any) -> Any:
        return self._storage < getattr(other, "_storage", other)

    def __le__(self, other: Any) -> Any:
        return self._storage <= getattr(other, "_storage", other)

    def __gt__(self, other: Any) -> Any:
        return self._storage > getattr(other, "_storage", other)

    def __ge__(self, other: Any) -> Any:
        return self._storage >= getattr(other, "_storage", other)

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'ListWrapper'")

    def __iter__(self) -> Any:
        return iter(self._storage)

    def __contains__(self, value: object) -> bool:
        return value in self._storage

    def __reversed__(self) -> Any:
        return reversed(self._storage)

    def __repr__(self) -> str:
        return f"ListWrapper({self._storage!r})"

    @property
    def _object_identifier(self) -> str:
        return "trackable_list_wrapper"


class _DictWrapper(TrackableDataStructure, ObjectProxy):
    """A dict as an attribute: entries with strings as keys are children."""

    def __init__(self, wrapped_dict: Any = None):
        wrapped_dict = {} if wrapped_dict is None else wrapped_dict
        if not isinstance(wrapped_dict, collections.abc.Mapping):
            wrapped_dict = dict(wrapped_dict)  # pairs
        ObjectProxy.__init__(self, wrapped_dict)
        TrackableDataStructure.__init__(self)
        self._self_non_string_key = False
        self._self_external_modification = False
        for key, value in wrapped_dict.items():
            wrapped_dict[key] = self._track_value(value, name=self._name_element(key))
        self._self_last_wrapped_dict_snapshot: Any = None
        self._update_snapshot()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return unwrapped(self).__reduce_ex__(protocol)

    @property
    def _values(self) -> Iterable[Any]:
        return [self.__wrapped__[key] for key in sorted(self.__wrapped__, key=str)]

    @property
    def _dirty(self) -> bool:
        return self._self_external_modification or self._self_non_string_key

    def copy(self) -> Any:
        """Return a wrapper of a copy."""
        return copy.copy(self)

    def __copy__(self) -> Any:
        return self._marked_like_this(type(self)(copy.copy(self.__wrapped__)))

    def __deepcopy__(self, memo: Any) -> Any:
        return self._marked_like_this(type(self)(copy.deepcopy(self.__wrapped__, memo)))

    def _marked_like_this(self, copied: Any) -> Any:
        """Return a copy that cannot be saved if this cannot."""
        self._check_self_external_modification()
        copied._self_external_modification = self._self_external_modification
        copied._self_non_string_key = self._self_non_string_key
        if copied._dirty:
            copied._self_last_wrapped_dict_snapshot = None
        return copied

    # --- what it says when it is saved --------------------------------------------------------------------------------

    def _trackable_children(
        self, save_type: SaveType = SaveType.CHECKPOINT, cache: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        self._check_self_external_modification()
        if self._self_non_string_key:
            raise self._not_saved(
                "contains a non-string key which maps to a trackable object or mutable data structure"
            )
        if self._self_external_modification:
            raise self._not_saved(
                f"was modified outside the wrapper (its final value was {self}, its value when a checkpoint "
                f"dependency was added was {self._self_last_wrapped_dict_snapshot}), which breaks restoration on "
                "object creation"
            )
        children = super()._trackable_children(save_type, **kwargs)
        return {name: ref for name, ref in children.items() if name in self.__wrapped__}

    def _not_saved(self, why: str) -> ValueError:
        return ValueError(
            f"Unable to save the object {self} (a dictionary wrapper constructed automatically on attribute assignment)"
            f". The wrapped dictionary {why}.\n\nIf you don't need this dictionary checkpointed, wrap it in a "
            f"non-trackable object; {_IGNORED}"
        )

    def _check_self_external_modification(self) -> None:
        """Notice that the original changed behind the wrapper's back."""
        if self._dirty:
            return
        kept, now = self._self_last_wrapped_dict_snapshot, self.__wrapped__
        if len(kept) != len(now) or not all(key in now and now[key] is value for key, value in kept.items()):
            self._self_external_modification = True
            self._self_last_wrapped_dict_snapshot = None

    def _update_snapshot(self) -> None:
        if not self._dirty:
            self._self_last_wrapped_dict_snapshot = dict(self.__wrapped__)

    def _track_value(self, value: Any, name: Any) -> Any:
        """Track what can be; a dict may hold anything, under any key."""
        string = isinstance(name, str)
        no_dependency = isinstance(value, NoDependency)
        value = wrap_or_unwrap(value)
        if no_dependency or not isinstance(value, Trackable):
            return value
        if not string:
            self._self_non_string_key = True
            return value
        self._track_trackable(value, name=name, overwrite=True)
        return value

    def _name_element(self, key: Any) -> Any:
        return key

    # --- being a dict -------------------------------------------------------------------------------------------------

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_self_external_modification()
        no_dependency = isinstance(value, NoDependency)
        value = self._track_value(value, self._name_element(key))
        if no_dependency or not isinstance(value, Trackable):
            self._unconditional_dependency_names.pop(key, None)
        self.__wrapped__[key] = value
        self._update_snapshot()

    def __delitem__(self, key: Any) -> None:
        self._check_self_external_modification()
        del self.__wrapped__[key]
        self._unconditional_dependency_names.pop(key, None)
        self._update_snapshot()

    def pop(self, key: Any, *default: Any) -> Any:
        """Remove an entry and return its value."""
        if key not in self.__wrapped__ and default:
            return default[0]
        value = self.__wrapped__[key]
        del self[key]
        return value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return an entry's value, set to `default` if there is none."""
        if key not in self.__wrapped__:
            self[key] = default
        return self.__wrapped__[key]

    def clear(self) -> None:
        """Remove every entry."""
        for key in list(self.__wrapped__):
            del self[key]

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several entries."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __repr__(self) -> str:
        return f"DictWrapper({self.__wrapped__!r})"

    def __str__(self) -> str:
        return str(self.__wrapped__)

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'DictWrapper'")

    def __eq__(self, other: object) -> Any:
        return self.__wrapped__ == unwrapped(other)

    def __ne__(self, other: object) -> Any:
        return not self == other

    @property
    def _object_identifier(self) -> str:
        return "trackable_dict_wrapper"


class _TupleWrapper(TrackableDataStructure, ObjectProxy):
    """A tuple as an attribute: its elements are children; those of a namedtuple under their field names too."""

    def __init__(self, original_wrapped_tuple: Any = ()):
        elements = []
        names: list[tuple[str, Any]] = []
        fields = getattr(original_wrapped_tuple, "_fields", None)
        for index, element in enumerate(original_wrapped_tuple):
            tracked = not isinstance(element, NoDependency)
            value = wrap_or_unwrap(element)
            elements.append(value)
            if tracked and isinstance(value, Trackable):
                names.append((str(index), value))
                if fields is not None:
                    names.append((fields[index], value))
        kind = type(original_wrapped_tuple)
        ObjectProxy.__init__(self, kind._make(elements) if fields is not None else kind(elements))
        TrackableDataStructure.__init__(self)
        self._self_last_wrapped_tuple = original_wrapped_tuple
        for name, value in names:
            self._track_trackable(value, name)

    def __getattribute__(self, name: str) -> Any:
        if name[:2] != "__" and name[:6] != "_self_":
            fields = getattr(object.__getattribute__(self, "__wrapped__"), "_fields", ())
            if name in fields:  # a field may be called as a method of ours is
                return getattr(object.__getattribute__(self, "__wrapped__"), name)
        return object.__getattribute__(self, name)

    @property
    def _values(self) -> Iterable[Any]:
        return self

    def _track_value(self, value: Any, name: str) -> Any:
        """Track what can be; a tuple may hold anything."""
        try:
            return super()._track_value(value, name)
        except _UntrackableError:
            return wrap_or_unwrap(value)

    def __copy__(self) -> Any:
        return type(self)(copy.copy(self.__wrapped__))

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)(copy.deepcopy(self.__wrapped__, memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return unwrapped(self).__reduce_ex__(protocol)

    def __imul__(self, y: Any) -> Any:
        return self.__wrapped__ * y

    def __iadd__(self, y: Any) -> Any:
        return self.__wrapped__ + unwrapped(y)

    def __radd__(self, y: Any) -> Any:
        return unwrapped(y) + self.__wrapped__

    def __repr__(self) -> str:
        return f"_TupleWrapper({self.__wrapped__!r})"

    def __str__(self) -> str:
        return str(self.__wrapped__)

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __eq__(self, other: object) -> Any:
        return self.__wrapped__ == unwrapped(other)

    def __ne__(self, other: object) -> Any:
        return not self == other

    @property
    def _object_identifier(self) -> str:
        return "trackable_tuple_wrapper"


provide_wrappers({list: ListWrapper, dict: _DictWrapper, collections.OrderedDict: _DictWrapper, tuple: _TupleWrapper})
