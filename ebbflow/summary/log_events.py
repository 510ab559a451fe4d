"""Lines of a log that also go to an event file (`tensorflow.python.training.tensorboard_logging`)."""

from __future__ import annotations

import time
from typing import Any

from ebbflow import messages
from ebbflow.platform import logging

DEBUG, INFO, WARN, ERROR, FATAL = "DEBUG", "INFO", "WARN", "ERROR", "FATAL"
_LEVELS = {DEBUG: 10, INFO: 20, WARN: 30, ERROR: 40, FATAL: 50}
_NOBODY = object()
_state: dict[str, Any] = {"verbosity": WARN, "writer": _NOBODY}


def _check(level: str) -> None:
    if level not in _LEVELS:
        raise ValueError(f"Level {level} is not a valid tensorboard_logging level")


def get_verbosity() -> str:
    """Return the least level that goes to the event file."""
    return _state["verbosity"]


def set_verbosity(verbosity: str) -> None:
    """Set the least level that goes to the event file."""
    _check(verbosity)
    _state["verbosity"] = verbosity


def set_summary_writer(summary_writer: Any) -> None:
    """Say who writes the events; None: nobody."""
    _state["writer"] = summary_writer


def clear_summary_writer() -> None:
    """Forget who writes the events: the next line is an error."""
    _state["writer"] = _NOBODY


def log(level: str, message: str, *args: Any) -> None:
    """Log a line, and write it as an event if its level is high enough."""
    if _state["writer"] is _NOBODY:
        raise RuntimeError("Must call set_summary_writer before doing any logging from tensorboard_logging")
    _check(level)
    if _LEVELS[level] >= _LEVELS[_state["verbosity"]] and _state["writer"]:
        line = messages.LogMessage(level=_LEVELS[level], message=message % args)
        _state["writer"].add_event(messages.Event(wall_time=time.time(), log_message=line))
    logging.log(getattr(logging, level), message, *args)


def debug(message: str, *args: Any) -> None:
    """Log a line of level DEBUG."""
    log(DEBUG, message, *args)


def info(message: str, *args: Any) -> None:
    """Log a line of level INFO."""
    log(INFO, message, *args)


def warn(message: str, *args: Any) -> None:
    """Log a line of level WARN."""
    log(WARN, message, *args)


def error(message: str, *args: Any) -> None:
    """Log a line of level ERROR."""
    log(ERROR, message, *args)


def fatal(message: str, *args: Any) -> None:
    """Log a line of level FATAL."""
    log(FATAL, message, *args)
