"""`tf.logging`: Python's logging under the name "tensorflow", with TensorFlow's functions.

Knows only the standard library. Nothing is written unless the program logs; the handler is made on the first use.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from ebbflow.core import forks

DEBUG, INFO, WARN, ERROR, FATAL = logging.DEBUG, logging.INFO, logging.WARN, logging.ERROR, logging.FATAL

_lock = forks.lock()
_logger: logging.Logger | None = None
_counts: dict[tuple[str, int], int] = {}


def get_logger() -> logging.Logger:
    """Return the logger that `tf.logging` writes to.

    >>> get_logger().name
    'tensorflow'
    """
    global _logger
    if _logger is None:
        with _lock:
            if _logger is None:
                _logger = _make_logger()
    return _logger


def _make_logger() -> logging.Logger:
    logger = logging.getLogger("tensorflow")  # its level is the root's, until the program sets one
    if not logging.getLogger().handlers and not logger.handlers:
        interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
        if interactive:
            logger.setLevel(INFO)
        handler = logging.StreamHandler(sys.stdout if interactive else sys.stderr)
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT, None))
        logger.addHandler(handler)
    return logger


def log(level: int, msg: object, *args: Any, **kwargs: Any) -> None:
    """Log `msg % args` at a level."""
    get_logger().log(level, msg, *args, **{"stacklevel": 2, **kwargs})


def debug(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level DEBUG."""
    log(DEBUG, msg, *args, **{"stacklevel": 3, **kwargs})


def info(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level INFO."""
    log(INFO, msg, *args, **{"stacklevel": 3, **kwargs})


def warning(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level WARN."""
    log(WARN, msg, *args, **{"stacklevel": 3, **kwargs})


warn = warning


def error(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level ERROR."""
    log(ERROR, msg, *args, **{"stacklevel": 3, **kwargs})


def exception(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level ERROR, with the exception being handled."""
    log(ERROR, msg, *args, **{"stacklevel": 3, "exc_info": True, **kwargs})


def fatal(msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at level FATAL. The program goes on, as it did in TensorFlow."""
    log(FATAL, msg, *args, **{"stacklevel": 3, **kwargs})


def vlog(level: int, msg: object, *args: Any, **kwargs: Any) -> None:
    """Log at a level given as a number."""
    log(level, msg, *args, **{"stacklevel": 3, **kwargs})


def log_if(level: int, msg: object, condition: bool, *args: Any) -> None:
    """Log where a condition holds."""
    if condition:
        log(level, msg, *args, stacklevel=3)


def log_every_n(level: int, msg: object, n: int, *args: Any) -> None:
    """Log on the first and then every n-th call from this line."""
    if not _count() % n:
        log(level, msg, *args, stacklevel=3)


def log_first_n(level: int, msg: object, n: int, *args: Any) -> None:
    """Log on the first n calls from this line."""
    if _count() < n:
        log(level, msg, *args, stacklevel=3)


def _count() -> int:
    frame = sys._getframe(2)
    line = (frame.f_code.co_filename, frame.f_lineno)
    with _lock:
        _counts[line] = _counts.get(line, -1) + 1
        return _counts[line]


def get_verbosity() -> int:
    """Return the lowest level that is written."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: int) -> None:
    """Set the lowest level that is written.

    >>> before = get_verbosity()
    >>> set_verbosity(ERROR)
    >>> get_verbosity() == ERROR
    True
    >>> set_verbosity(before)
    """
    get_logger().setLevel(v)


def flush() -> None:
    """Write out what handlers hold back."""
    for handler in get_logger().handlers:
        handler.flush()


def TaskLevelStatusMessage(msg: object) -> None:
    """Log a message about the whole task, at level ERROR."""
    log(ERROR, msg, stacklevel=3)
