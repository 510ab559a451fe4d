"""The program being run: which files are its own.

A file is the program's own when it lies beside the script, in the directory it was started from, in one that
PYTHONPATH names or that the program put on `sys.path` itself; never when it belongs to Python or to Ebbflow, or was
installed, unless it is of a package that nobody will bring up to date. Knows paths only.
"""

from __future__ import annotations

import itertools
import os
import site
import sys
import sysconfig
from collections.abc import Iterable
from types import FrameType

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INSTALLED = ("site-packages", "dist-packages")
FINISHED = ("edward", "prettytensor", "sonnet", "tensorflow_gan", "tflearn")
"""Packages of TF 1's years whose last release was for a Python of those years: they count as the program's own."""


class Program:
    """The files of a program, told from those of the libraries it uses."""

    def __init__(self, directories: Iterable[str], sources: Iterable[str] = ()) -> None:
        self.before = {os.path.abspath(entry) for entry in sys.path}
        given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        self.directories = {os.path.realpath(place) for place in (*directories, *filter(None, given)) if place}
        self.sources = set(sources)
        self.libraries = {os.path.realpath(place) for place in library_places()}
        self._answers: dict[str, bool] = {}

    def owns(self, file: str) -> bool:
        """Return whether a file, named as its code names it, is the program's own."""
        answer = self._answers.get(file)
        if answer is None:
            answer = self._answers[file] = self._look(file)
        return answer

    def _look(self, file: str) -> bool:
        if file in self.sources:
            return True
        if file.startswith("<"):
            return False
        place = os.path.realpath(file)
        parts = place.split(os.sep)
        installed = [top for home, top in itertools.pairwise(parts) if home in INSTALLED]
        if within(place, PACKAGE) or installed:
            return bool(installed) and installed[-1] in FINISHED
        added = {os.path.realpath(entry or ".") for entry in sys.path if os.path.abspath(entry) not in self.before}
        homes = [home for home in self.directories | added if within(place, home)]
        if not homes:
            return False
        nearest = max(homes, key=len)  # a script may lie inside a library's directory, or a library inside the script's
        return not any(within(place, library) and within(library, nearest) for library in self.libraries)

    def asks(self, frame: FrameType | None) -> bool:
        """Return whether it is the program's own code that stands behind a frame, importing or asking directly."""
        while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        return frame is not None and self.owns(frame.f_code.co_filename)


def within(place: str, directory: str) -> bool:
    """Return whether a path lies in a directory.

    >>> within("/a/b/c.py", "/a/b"), within("/a/bc.py", "/a/b")
    (True, False)
    """
    return place == directory or place.startswith(directory.rstrip(os.sep) + os.sep)


def library_places() -> list[str]:
    """Return the directories of Python itself and of installed packages."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return [sysconfig.get_path(name) for name in names] + site.getsitepackages() + [site.getusersitepackages()]
