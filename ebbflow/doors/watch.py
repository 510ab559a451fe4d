"""Doing something to a module as soon as it is imported, without importing it; having it loaded later, or with less.

Knows Python's import system only. One finder stands first on `sys.meta_path`, and steps aside for every module nobody
waits for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib.machinery import ModuleSpec
from importlib.util import LazyLoader, find_spec
from types import ModuleType
from typing import Any


def after_import(name: str, action: Callable[[ModuleType], None]) -> None:
    """Call `action(module)` once the module of that name has been imported, or now if it has."""
    module = sys.modules.get(name)
    if module is not None:
        action(module)
        return
    _wrap(name, lambda loader: _After(loader, action))


def load_when_used(name: str) -> None:
    """Have a module that is imported loaded only when something of it is asked for."""
    _wrap(name, LazyLoader)


def load_without(name: str, other: str) -> None:
    """Have a module find that `other` is not installed while it is loaded, unless somebody has imported that before."""
    _wrap(name, lambda loader: _Without(loader, other))


def load_within(name: str, around: Callable[[], AbstractContextManager[Any]]) -> None:
    """Have a module loaded inside `with around():`."""
    _wrap(name, lambda loader: _Within(loader, around))


def _wrap(name: str, wrap: Callable[[Any], Any]) -> None:
    """Put a loader around that of a module which is not imported yet."""
    if name in sys.modules:
        return
    _finder.waiting.setdefault(name, []).append(wrap)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


class _Finder:
    def __init__(self) -> None:
        self.waiting: dict[str, list[Callable[[Any], Any]]] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.waiting:
            return None
        wraps = self.waiting.pop(name)
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            spec = None
        if spec is None or spec.loader is None:
            self.waiting[name] = wraps
            return None
        for wrap in wraps:
            spec.loader = wrap(spec.loader)
        return spec


class _Around:
    """A loader around the module's own, which is the one that the module shows afterwards."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)


class _After(_Around):
    """Does something with the module once it is loaded."""

    def __init__(self, loader: Any, action: Callable[[ModuleType], None]) -> None:
        super().__init__(loader)
        self._action = action

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self._action(module)


class _Without(_Around):
    """Loads the module as if another one were not installed."""

    def __init__(self, loader: Any, other: str) -> None:
        super().__init__(loader)
        self._other = other

    def exec_module(self, module: ModuleType) -> None:
        hidden = self._other not in sys.modules
        if hidden:
            sys.modules[self._other] = None  # type: ignore[assignment]  # Python's word for "there is none"
        try:
            super().exec_module(module)
        finally:
            if hidden:
                del sys.modules[self._other]


class _Within(_Around):
    """Loads the module in a block."""

    def __init__(self, loader: Any, around: Callable[[], AbstractContextManager[Any]]) -> None:
        super().__init__(loader)
        self._around = around

    def exec_module(self, module: ModuleType) -> None:
        with self._around():
            super().exec_module(module)


_finder = _Finder()
