"""`FLAGS` as programs knew it until TensorFlow 1.4: a plain object, with the values of all flags in its `__flags`.

The program being run may set names that nobody defined (`FLAGS.words = 10`); later TensorFlow refuses that, and so do
flags for everybody else. Knows both kinds of flags; nothing of what they are for.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from ebbflow.doors.old_manners import Keeper
from ebbflow.platform import own_flags


class Values(Mapping[str, Any]):
    """What the flags are now, by name."""

    def __init__(self, flags: Any) -> None:
        self._flags = flags

    def __getitem__(self, name: str) -> Any:
        return values(self._flags)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(values(self._flags))

    def __len__(self) -> int:
        return len(values(self._flags))


def values(flags: Any) -> dict[str, Any]:
    """Return the values of all flags, after the command line has been read."""
    if not flags.is_parsed():
        flags(sys.argv, known_only=True)
    found: dict[str, Any] = flags.flag_values_dict()
    return found


def teach(keeper: Keeper, module: ModuleType) -> None:
    """Have `FLAGS` of a module, `ebbflow.platform.flags`, be as it was."""
    kind: Any = type(module.FLAGS)
    kind.__setattr__ = _forgiving(keeper, kind.__setattr__)
    setattr(kind, "__flags", property(values))
    module.FLAGS.__dict__["__flags"] = Values(module.FLAGS)


def take_back(module: ModuleType) -> None:
    """Undo `teach`, for a process that goes on to something else."""
    kind: Any = type(module.FLAGS)
    kind.__setattr__ = kind.__setattr__.__wrapped__
    delattr(kind, "__flags")
    del module.FLAGS.__dict__["__flags"]


def _forgiving(keeper: Keeper, now: Callable[[Any, str, Any], None]) -> Callable[[Any, str, Any], None]:
    @functools.wraps(now)
    def set_flag(self: Any, name: str, value: Any) -> None:
        if name not in self and keeper.program.asks(sys._getframe(1)):
            self[name] = _flag(self, name)
            keeper.lent["FLAGS of any name"] = None
        now(self, name, value)

    return set_flag


def _flag(flags: Any, name: str) -> Any:
    """Return a new flag that takes any value."""
    if isinstance(flags, own_flags.FlagValues):
        return own_flags.Flag(name, None, None, parser=lambda value: value)
    absl = importlib.import_module("absl.flags")  # the program has it, or these would be flags of our own
    return absl.Flag(absl.ArgumentParser(), None, name, None, "")
