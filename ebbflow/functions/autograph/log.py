"""What AutoGraph says about its work: how much is set by `tf.autograph.set_verbosity` or AUTOGRAPH_VERBOSITY."""

from __future__ import annotations

import os
from typing import Any

from ebbflow.platform import logging

_level: list[int | None] = [None]
_to_stdout = [False]
_warned: set[Any] = set()


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Set how much AutoGraph tells about what it does: 0 nothing, 3 the code it makes, 10 everything."""
    _level[0] = level
    _to_stdout[0] = alsologtostdout


def verbosity() -> int:
    """Return how much is told."""
    if _level[0] is not None:
        return _level[0]
    given = os.environ.get("AUTOGRAPH_VERBOSITY", "0")
    return int(given) if given.lstrip("-").isdigit() else 0


def tell(level: int, message: str, *args: Any) -> None:
    """Log a message if the verbosity is at least `level`."""
    if verbosity() < level:
        return
    logging.info(message, *args)
    if _to_stdout[0]:
        print(message % args)


def warn(message: str, *args: Any) -> None:
    """Log a warning; print it, too, where a program asked for that."""
    logging.warning(message, *args)
    if _to_stdout[0]:
        print("WARNING: " + message % args)


def warn_once(key: Any, message: str, *args: Any) -> None:
    """Log a warning, the first time that this `key` is given."""
    if key not in _warned:
        _warned.add(key)
        logging.warning(message, *args)


def trace(*args: Any) -> None:
    """Print arguments while a function is traced.

    >>> trace("x is", 3)
    x is 3
    """
    print(*args)
