"""Dictionaries and sets by identity: `a is b`, whatever `==` and `hash` say.

Variables compare by value and have no hash; what keeps something for each variable keeps it here.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any


class _Key:
    """Stands for one object."""

    __slots__ = ("__weakref__", "_hash", "_object")

    def __init__(self, wrapped: Any):
        self._object: Any = wrapped
        self._hash = id(wrapped)

    @property
    def unwrapped(self) -> Any:
        return self._object

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Key) and other is not None:
            raise TypeError(f"Cannot compare what stands for an object with the object itself: {other!r}")
        return isinstance(other, _Key) and self.unwrapped is other.unwrapped

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<{type(self).__name__} wrapping {self.unwrapped!r}>"


class _WeakKey(_Key):
    """Stands for one object without keeping it alive."""

    __slots__ = ()

    def __init__(self, wrapped: Any):
        self._object = weakref.ref(wrapped)
        self._hash = id(wrapped)

    @property
    def unwrapped(self) -> Any:
        return self._object()

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, _Key) and other.unwrapped is not None and self.unwrapped is other.unwrapped
        )

    __hash__ = _Key.__hash__


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A dict whose keys are objects themselves.

    >>> d = ObjectIdentityDictionary()
    >>> a, b = [1], [1]
    >>> d[a] = "a"
    >>> d[a], b in d
    ('a', False)
    """

    _wrap_key: Any = _Key

    def __init__(self, *args: Any):
        self._storage: dict[_Key, Any] = {}
        self.update(*args)

    def __getitem__(self, key: Any) -> Any:
        return self._storage[self._wrap_key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._wrap_key(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[self._wrap_key(key)]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        for key in self._storage:
            yield key.unwrapped

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._storage!r})"


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """The same, that does not keep its keys alive."""

    _wrap_key = _WeakKey

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Any]:
        for key in list(self._storage):
            value = key.unwrapped
            if value is None:
                del self._storage[key]
            else:
                yield value


class ObjectIdentitySet(MutableSet[Any]):
    """A set of objects themselves."""

    _wrap_key: Any = _Key

    def __init__(self, *args: Iterable[Any]):
        self._storage: dict[_Key, None] = {self._wrap_key(x): None for x in (args[0] if args else ())}

    def __contains__(self, key: object) -> bool:
        return self._wrap_key(key) in self._storage

    def add(self, value: Any) -> None:
        """Put an object in."""
        self._storage[self._wrap_key(value)] = None

    def discard(self, value: Any) -> None:
        """Take an object out, if it is there."""
        self._storage.pop(self._wrap_key(value), None)

    def update(self, items: Iterable[Any]) -> None:
        """Put several objects in."""
        for item in items:
            self.add(item)

    def clear(self) -> None:
        """Take everything out."""
        self._storage.clear()

    def intersection(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """Return those of `items` that are in the set."""
        return type(self)([item for item in items if item in self])

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """Return what is in the set and not in `items`."""
        others = type(self)(items)
        return type(self)([item for item in self if item not in others])

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        for key in list(self._storage):
            yield key.unwrapped


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """The same, that does not keep its objects alive."""

    _wrap_key = _WeakKey

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Any]:
        for key in list(self._storage):
            value = key.unwrapped
            if value is None:
                del self._storage[key]
            else:
                yield value
