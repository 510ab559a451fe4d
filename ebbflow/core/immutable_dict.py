"""A mapping that cannot be changed: what fields of extension types hold where they are mappings.

Knows Python only. `nest` opens it as any mapping, and makes one again from pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class ImmutableDict(Mapping[Any, Any]):
    """A mapping made like a dict, equal to any mapping with the same items, and never different afterwards.

    >>> ImmutableDict({"a": 1})["a"], ImmutableDict(a=1) == {"a": 1}
    (1, True)
    """

    __slots__ = ("_items",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return ImmutableDict, (self._items,)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items!r})"
