"""`tf.flags`: absl's flags where the program has brought absl, Ebbflow's own otherwise.

TensorFlow 1 kept its flags in absl. A program that imports `absl.flags` or `absl.app` beside `tf.flags` expects one
set of flags, so absl's is then used; a program that does not needs no absl. Which one is decided when `tf.flags` is
first used. Either way `FLAGS.name` reads the command line if nobody has yet, as TensorFlow's did.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.platform import own_flags

source: Any = sys.modules.get("absl.flags") or own_flags


class ReadOnFirstUse:
    """absl's flags, which read the command line when a flag is first looked at."""

    def __init__(self, flags: Any) -> None:
        self.__dict__["_flags"] = flags

    def __getattr__(self, name: str) -> Any:
        flags = self._flags
        if name == "__flags":
            return flags.flag_values_dict()
        if not flags.is_parsed() and name in flags:
            flags(sys.argv, known_only=True)
        return getattr(flags, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._flags, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._flags, name)

    def __call__(self, argv: list[str], known_only: bool = False) -> list[str]:
        return self._flags(argv, known_only=known_only)

    def _parse_flags(self, args: list[str] | None = None) -> list[str]:
        return self(sys.argv if args is None else [sys.argv[0], *args], known_only=True)

    def __getitem__(self, name: str) -> Any:
        return self._flags[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        self._flags[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self._flags

    def __iter__(self) -> Iterator[str]:
        return iter(self._flags)

    def __len__(self) -> int:
        return len(self._flags)

    def __str__(self) -> str:
        return str(self._flags)

    def __dir__(self) -> list[str]:
        return dir(self._flags)


FLAGS: Any = own_flags.FLAGS if source is own_flags else ReadOnFirstUse(source.FLAGS)


def __getattr__(name: str) -> Any:
    value = getattr(source, name)
    return with_old_names(value) if name.startswith("DEFINE_") and source is not own_flags else value


def with_old_names(define: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `DEFINE_*` that also takes TensorFlow's first words for its arguments."""
    renamed = {"flag_name": "name", "default_value": "default", "docstring": "help"}

    @functools.wraps(define)
    def DEFINE(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{renamed.get(key, key): value for key, value in kwargs.items()})

    return DEFINE


def define_test_folders() -> None:
    """Define the flags that say where tests find and put files, as absl's tests do."""
    if source is not own_flags:
        with contextlib.suppress(ImportError):
            importlib.import_module("absl.testing.absltest")  # defines them
        return
    temporary = os.path.join(tempfile.gettempdir(), "absl_testing")
    for name, folder in (("test_srcdir", ""), ("test_tmpdir", temporary)):
        if name not in FLAGS:
            own_flags.DEFINE_string(name, os.environ.get(name.upper(), folder), "Folder of tests")
