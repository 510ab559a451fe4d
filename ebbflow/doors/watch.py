"""Doing something to a module as soon as it is imported, without importing it.

Knows Python's import system only. One finder stands first on `sys.meta_path`, and steps aside for every module nobody
waits for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def after_import(name: str, action: Callable[[ModuleType], None]) -> None:
    """Call `action(module)` once the module of that name has been imported, or now if it has."""
    module = sys.modules.get(name)
    if module is not None:
        action(module)
        return
    _finder.waiting.setdefault(name, []).append(action)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


class _Finder:
    def __init__(self) -> None:
        self.waiting: dict[str, list[Callable[[ModuleType], None]]] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.waiting:
            return None
        actions = self.waiting.pop(name)
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            spec = None
        if spec is None or spec.loader is None:
            self.waiting[name] = actions
            return None
        spec.loader = _Loader(spec.loader, actions)  # type: ignore[assignment]
        return spec


class _Loader:
    """The module's own loader, with the actions done after it."""

    def __init__(self, loader: Any, actions: list[Callable[[ModuleType], None]]) -> None:
        self._loader, self._actions = loader, actions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader
        for action in self._actions:
            action(module)


_finder = _Finder()
