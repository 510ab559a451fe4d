"""The block in which a model is being saved: what is traced inside is for the file, not for this process.

Variables with a copy for each replica are one variable there, unless the options ask for all copies. Knows nothing of
files; each thread has a block of its own.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class _Saving(threading.local):
    def __init__(self) -> None:
        self.options: Any = None
        self.active = False


_saving = _Saving()


@contextlib.contextmanager
def save_context(options: Any) -> Iterator[None]:
    """Have functions that are traced inside the block be traced for a file; blocks do not nest."""
    if _saving.active:
        raise ValueError("Already in a SaveContext.")
    _saving.active, _saving.options = True, options
    try:
        yield
    finally:
        _saving.active, _saving.options = False, None


def in_save_context() -> bool:
    """Return whether a model is being saved here.

    >>> in_save_context()
    False
    """
    return _saving.active


def get_save_options() -> Any:
    """Return the options the model is being saved with."""
    if not _saving.active:
        raise ValueError("Not in a SaveContext.")
    return _saving.options


def keeps_one_copy() -> bool:
    """Return whether a model is being saved in which a variable of several replicas is one."""
    if not _saving.active:
        return False
    return not _saving.options.experimental_variable_policy._expand_distributed_variables()
