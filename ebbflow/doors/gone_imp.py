"""`imp`, which Python dropped in 3.12: the part that programs used to load source files by path.

Lent to the program being run, by `vanished`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, PathFinder
from types import ModuleType
from typing import Any

PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY, C_BUILTIN, PY_FROZEN = 1, 2, 3, 5, 6, 7

reload = importlib.reload


def new_module(name: str) -> ModuleType:
    """Return an empty module."""
    return ModuleType(name)


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """Load a source file as a module of that name."""
    spec = importlib.util.spec_from_file_location(name, pathname)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {pathname} as a module", name=name, path=pathname)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return sys.modules[name]


def find_module(name: str, path: Any = None) -> tuple[Any, str | None, tuple[str, str, int]]:
    """Return where a module is: an open file, its path, and what kind of file it is."""
    spec = PathFinder.find_spec(name, path) if path or name not in sys.builtin_module_names else None
    if spec is None and name in sys.builtin_module_names:
        return None, None, ("", "", C_BUILTIN)
    if spec is None:
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations is not None:
        return None, next(iter(spec.submodule_search_locations)), ("", "", PKG_DIRECTORY)
    assert spec.origin is not None
    suffix = os.path.splitext(spec.origin)[1]
    if suffix in SOURCE_SUFFIXES:
        return open(spec.origin, encoding="utf-8"), spec.origin, (suffix, "r", PY_SOURCE)
    return open(spec.origin, "rb"), spec.origin, (suffix, "rb", C_EXTENSION)


def load_module(name: str, file: Any, filename: str | None, details: tuple[str, str, int]) -> ModuleType:
    """Load what `find_module` found."""
    if details[2] == C_BUILTIN or filename is None:
        return importlib.import_module(name)
    return load_source(name, os.path.join(filename, "__init__.py") if details[2] == PKG_DIRECTORY else filename)


def get_suffixes() -> list[tuple[str, str, int]]:
    """Return which file names are modules."""
    extensions = [(suffix, "rb", C_EXTENSION) for suffix in EXTENSION_SUFFIXES]
    return extensions + [(suffix, "r", PY_SOURCE) for suffix in SOURCE_SUFFIXES]


def acquire_lock() -> None:
    """Do nothing: imports lock themselves."""


release_lock = acquire_lock
