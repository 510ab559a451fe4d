"""Namespaces that programs look through: `vars(tf.train)` has every name, though names are fetched one by one.

A module's dictionary has what was fetched so far, so a walk over it would miss most and change it on the way. Here a
namespace answers for `__dict__` with a view: one name fetches one, a walk fetches all first.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from types import ModuleType
from typing import Any

OFTEN = ("", "nn", "math")
"""Namespaces that stay plain modules: an attribute of one costs 30 ns less, and these are asked for at every call."""


class WholeNamespace(ModuleType):
    """A namespace whose `__dict__` is whole."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return Names(self)

    def __dir__(self) -> list[str]:
        return own_dictionary(self)["__dir__"]()


def own_dictionary(module: ModuleType) -> dict[str, Any]:
    """Return the dictionary a module has as an object, with what has been fetched so far."""
    return vars(ModuleType)["__dict__"].__get__(module)


class Names(MutableMapping[str, Any]):
    """The names of a namespace, as a dictionary of all that can be had."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.fetched = module, own_dictionary(module)

    def _fetch_all(self) -> dict[str, Any]:
        for name in dir(self.module):
            if name not in self.fetched:
                getattr(self.module, name, None)  # a name whose package is missing stays out
        return self.fetched

    def __getitem__(self, name: str) -> Any:
        if name in self.fetched:
            return self.fetched[name]
        if name.startswith("__"):
            raise KeyError(name)
        try:
            return getattr(self.module, name)
        except AttributeError:
            raise KeyError(name) from None

    def __setitem__(self, name: str, value: Any) -> None:
        self.fetched[name] = value

    def __delitem__(self, name: str) -> None:
        del self.fetched[name]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._fetch_all()))

    def __len__(self) -> int:
        return len(self._fetch_all())

    def copy(self) -> dict[str, Any]:
        """Return all names as a dictionary of their own."""
        return dict(self._fetch_all())
