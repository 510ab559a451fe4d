"""`distutils`, which Python dropped in 3.12: comparing versions, and the few tools programs used at run time.

Lent to the program being run, by `vanished`. Building packages is not here.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from functools import total_ordering
from shutil import which as find_executable
from typing import Any

__all__ = ["find_executable"]


@total_ordering
class LooseVersion:
    """A version of any form, compared part by part: numbers as numbers, words as words."""

    component_re = re.compile(r"(\d+ | [a-z]+ | \.)", re.VERBOSE)

    def __init__(self, vstring: str | None = None) -> None:
        self.vstring = ""
        self.version: list[Any] = []
        if vstring:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        """Take a version's text apart."""
        self.vstring = vstring
        words = [word for word in self.component_re.split(vstring) if word and word != "."]
        self.version = [int(word) if word.isdigit() else word for word in words]

    def _key(self) -> list[tuple[bool, Any]]:
        return [(isinstance(part, str), part) for part in self.version]  # a number comes before a word

    def _other(self, other: Any) -> Any:
        return type(self)(other) if isinstance(other, str) else other

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, (str, LooseVersion)) and self._key() == self._other(other)._key()

    def __lt__(self, other: Any) -> bool:
        if not isinstance(other, (str, LooseVersion)):
            return NotImplemented
        return self._key() < self._other(other)._key()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"{type(self).__name__} ('{self}')"


class StrictVersion(LooseVersion):
    """A version of the form 1.2, 1.2.3 or 1.2.3a4."""

    version_re = re.compile(r"^(\d+) \. (\d+) (\. (\d+))? ([ab](\d+))?$", re.VERBOSE | re.ASCII)

    def parse(self, vstring: str) -> None:
        """Take a version's text apart."""
        match = self.version_re.match(vstring)
        if not match:
            raise ValueError(f"invalid version number '{vstring}'")
        major, minor, patch, pre, number = match.group(1, 2, 4, 5, 6)
        self.vstring = vstring
        self.prerelease = (pre[0], int(number)) if pre else None
        self.version = [int(major), int(minor), int(patch or 0), *(self.prerelease or ("final", 0))]


_TRUE, _FALSE = ("y", "yes", "t", "true", "on", "1"), ("n", "no", "f", "false", "off", "0")


def strtobool(val: str) -> int:
    """Return 1 for a word that means yes and 0 for one that means no.

    >>> strtobool("Yes"), strtobool("off")
    (1, 0)
    """
    word = val.lower()
    if word not in _TRUE + _FALSE:
        raise ValueError(f"invalid truth value {word!r}")
    return int(word in _TRUE)


def get_platform() -> str:
    """Return the name of this platform."""
    return sysconfig.get_platform()


def get_python_lib(plat_specific: bool = False, standard_lib: bool = False, prefix: str | None = None) -> str:
    """Return the directory of installed, or of standard, modules."""
    kind = (
        ("platstdlib" if plat_specific else "stdlib") if standard_lib else ("platlib" if plat_specific else "purelib")
    )
    return sysconfig.get_path(kind)


def mkpath(name: str, mode: int = 0o777, verbose: int = 1, dry_run: int = 0) -> list[str]:
    """Make a directory and what is missing above it."""
    if os.path.isdir(name):
        return []
    os.makedirs(name, mode)
    return [name]


def copy_tree(src: str, dst: str, *args: Any, **kwargs: Any) -> list[str]:
    """Copy a directory into another, over what is there."""
    shutil.copytree(src, dst, dirs_exist_ok=True)
    return [os.path.join(place, name) for place, _, names in os.walk(dst) for name in names]


def remove_tree(directory: str, verbose: int = 1, dry_run: int = 0) -> None:
    """Remove a directory and everything in it."""
    shutil.rmtree(directory)


def copy_file(src: str, dst: str, *args: Any, **kwargs: Any) -> tuple[str, int]:
    """Copy a file."""
    return shutil.copy2(src, dst), 1


# `from distutils import version, util, dir_util, spawn, sysconfig` all find their functions here.
version = util = dir_util = file_util = spawn = sys.modules[__name__]
