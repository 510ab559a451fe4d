"""`tf.test.StubOutForTesting`: attributes replaced for a test, and put back after it.

>>> import types
>>> clock = types.SimpleNamespace(now=lambda: 12)
>>> stubs = StubOutForTesting()
>>> stubs.Set(clock, "now", lambda: 5)
>>> clock.now()
5
>>> stubs.CleanUp()
>>> clock.now()
12
"""

from __future__ import annotations

import inspect
from typing import Any


class StubOutForTesting:
    """Replaces attributes of objects, classes and modules until it is told to clean up, is left, or is dropped."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *exc: object) -> None:
        self.CleanUp()

    def __del__(self) -> None:
        self.CleanUp()

    def Set(self, parent: Any, child_name: str, new_child: object) -> None:
        """Replace an attribute of exactly this object; it must be there."""
        kept = inspect.getattr_static(parent, child_name) if inspect.isclass(parent) else getattr(parent, child_name)
        self._replaced.append((parent, child_name, kept))
        setattr(parent, child_name, new_child)

    def SmartSet(self, obj: Any, attr_name: str, new_attr: object) -> None:
        """Replace an attribute where it is defined: in the object itself, or in the class that it has it from."""
        around = [obj] if inspect.ismodule(obj) else obj.__mro__ if inspect.isclass(obj) else [obj, *type(obj).__mro__]
        for place in around:
            if attr_name in getattr(place, "__dict__", {}):
                self.Set(place, attr_name, new_attr)
                return
        raise AttributeError(f"Attribute {attr_name!r} not found.")

    def UnsetAll(self) -> None:
        """Put back what `Set` replaced, last first."""
        while self._replaced:
            parent, name, kept = self._replaced.pop()
            setattr(parent, name, kept)

    def SmartUnsetAll(self) -> None:
        """Put back what `SmartSet` replaced."""
        self.UnsetAll()

    def CleanUp(self) -> None:
        """Put back everything."""
        self.UnsetAll()
