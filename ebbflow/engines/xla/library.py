"""The door to jax: imported when first used, with the settings that it must find by then.

`jnp` and `lax` stand for `jax.numpy` and `jax.lax` before they are there. A program's own use of jax is left as it is:
64-bit types are switched on only around our own tracing and calls (`wide`), and a jax that was imported before keeps
its settings.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
from typing import Any

from ebbflow.core import errors
from ebbflow.platform import config, imports


class Later:
    """A module that is imported when something of it is first wanted."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        jax()
        found = self.__dict__[name] = getattr(importlib.import_module(self._name), name)
        return found


lax: Any = Later("jax.lax")


_lost: list[bool] = []


def need_threads() -> None:
    """Raise where this process was forked from one with XLA's threads: they are not here, and no call would return."""
    if _lost:
        raise errors.FailedPreconditionError(
            None,
            None,
            "XLA cannot run in this process: it was forked from one that had used XLA, whose threads are not here. "
            "Start processes by 'spawn' (multiprocessing.set_start_method), or fork before anything is compiled",
        )


def _in_child() -> None:
    if is_loaded():
        _lost.append(True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def available() -> bool:
    """Return whether jax is installed, without importing it, and can serve in this process."""
    return not _lost and ("jax" in sys.modules or importlib.util.find_spec("jax") is not None)


def is_loaded() -> bool:
    """Return whether jax was imported through this door."""
    return jax.cache_info().currsize > 0


@functools.cache
def jax() -> Any:
    """Return jax, importing it with our wishes about threads."""
    if "jax" not in sys.modules:
        threads = config.get_intra_op_parallelism_threads()
        if threads:  # read once, when the first computation is made
            os.environ.setdefault("PJRT_NPROC", str(threads))
    with imports.alone():
        importlib.import_module("jax.numpy")
        return importlib.import_module("jax")  # heavy (a second), optional


@functools.cache
def numpy() -> Any:
    """Return `jax.numpy`."""
    jax()
    return importlib.import_module("jax.numpy")


def wide() -> Any:
    """Return a context in which 64-bit types stay what they are."""
    return _enable_x64()(True)


@functools.cache
def _enable_x64() -> Any:
    home = jax() if hasattr(jax(), "enable_x64") else importlib.import_module("jax.experimental")  # before jax 0.8
    return home.enable_x64


def is_narrowed(error: Exception) -> bool:
    """Return whether an error is jax's word for a value that is asked for before anything runs."""
    return isinstance(error, TypeError) and type(error).__module__.startswith("jax")
