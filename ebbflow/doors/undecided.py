"""The era of a program that something else starts: decided when a file of it first imports TensorFlow.

`ebbflow run -m pytest tests/` runs pytest, whose source says nothing; the test that imports TensorFlow does, with the
modules of its own that it imports. Until then the door is closed; the first import of `tensorflow` (or `keras`) opens
it. Knows Python's import system and `era`; what opening means, `run` says.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any

from ebbflow.doors import era
from ebbflow.doors.program import Program

ASKED = ("tensorflow", "keras", "tf_keras")


class Undecided:
    """A finder in front of all others that waits for the first import that needs an era."""

    def __init__(self, program: Program, path: Sequence[str], decide: Callable[[era.Era], Any]) -> None:
        self._program, self._path, self._decide = program, list(path), decide
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Decide, if this is the import that was waited for, and let the others find the module."""
        if fullname.partition(".")[0] not in ASKED or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        files = self._importers(sys._getframe(1))
        self._decide(era.of_program(files, [*map(os.path.dirname, files), *self._path]))
        for finder in list(sys.meta_path):  # what was opened now stands in front
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return spec
        return None

    def _importers(self, frame: FrameType | None) -> list[str]:
        """Return the files of the program that this import goes through; a library's, where it goes through none."""
        own: dict[str, None] = {}
        nearest = None
        while frame is not None:
            file = frame.f_code.co_filename
            if frame.f_code is importlib.import_module.__code__:  # what a runner of tests is after, with its package
                file = era.own_file(str(frame.f_locals.get("name")), sys.path) or file
            if self._program.owns(file) and os.path.isfile(file):
                own[file] = None
            elif nearest is None and os.path.isfile(file):
                nearest = file
            frame = frame.f_back
        return list(own) or ([] if nearest is None else [nearest])
