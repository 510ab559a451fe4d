"""Telling `importlib.metadata` that a TensorFlow of the right version is installed, for libraries that ask there, or
ask the older `pkg_resources`.

Knows Python's finders only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from ebbflow.api import versions


def announce(name: str, number: int) -> None:
    """Have `importlib.metadata.version(name)` answer the version of that door."""
    _finder.versions[name] = versions.V1 if number == 1 else versions.V2
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def announce_to_setuptools(name: str, number: int, pkg_resources: Any) -> None:
    """Have `pkg_resources.get_distribution(name)` answer the version of that door."""
    version = versions.V1 if number == 1 else versions.V2
    door = pkg_resources.Distribution(project_name=name, version=version)
    pkg_resources.working_set.add(door, replace=True)


def withdraw(name: str) -> None:
    """Have `importlib.metadata` answer for `name` as before."""
    _finder.versions.pop(name, None)


class _Finder:
    def __init__(self) -> None:
        self.versions: dict[str, str] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Find no module."""

    def find_distributions(self, context: Any) -> Iterator[Any]:
        from importlib.metadata import Distribution  # heavy, and here only when somebody asks

        class Door(Distribution):
            def __init__(self, name: str, version: str) -> None:
                self._text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"

            def read_text(self, filename: str) -> str | None:
                return self._text if filename == "METADATA" else None

            def locate_file(self, path: Any) -> Any:
                return path

        for name, version in self.versions.items():
            if context.name in (None, name):
                yield Door(name, version)


_finder = _Finder()
