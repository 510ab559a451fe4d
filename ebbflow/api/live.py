"""Inner names whose value changes while a program runs: asked for anew each time, never kept by a namespace.

What a program assigns to one (`control_flow.PYTHON_MAX_ITERATIONS = 100`, or a mock for the time of a test) goes to
where the value is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from ebbflow.eager import the_context
from ebbflow.functions.autograph import log as autograph_log
from ebbflow.functions.autograph import unrolled
from ebbflow.platform import logging
from ebbflow.platform.eras import control_flow_v2_enabled, disable_control_flow_v2, enable_control_flow_v2


def _of_module(module: Any, name: str) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    return lambda: getattr(module, name), lambda value: setattr(module, name, value)


def _control_flow(on: Any) -> None:
    (enable_control_flow_v2 if on else disable_control_flow_v2)()


def _echo(on: Any) -> None:
    autograph_log._to_stdout[0] = bool(on)


def _set_context(value: Any) -> None:
    if value is None:  # a program that wants its devices configured anew
        the_context._reset_context()


VALUES: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
    "ENABLE_CONTROL_FLOW_V2": (control_flow_v2_enabled, _control_flow),
    "echo_log_to_stdout": (lambda: autograph_log._to_stdout[0], _echo),
    "_context": (the_context.the_context, _set_context),
    **{name: _of_module(logging, name) for name in ("debug", "error", "info", "log", "warn", "warning")},
    **{
        name: _of_module(unrolled, name)
        for name in ("PYTHON_MAX_ITERATIONS", "INEFFICIENT_UNROLL_MIN_ITERATIONS", "INEFFICIENT_UNROLL_MIN_OPS")
    },
}
"""How each is asked for, and how it is set."""


def __getattr__(name: str) -> object:
    if name in VALUES:
        return VALUES[name][0]()
    raise AttributeError(name)


class LiveModule(ModuleType):
    """A namespace that has such names."""

    _live: frozenset[str] = frozenset()

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._live:
            super().__setattr__(name, value)
            return
        get, put = VALUES[name]
        self.__dict__.setdefault("_before", {}).setdefault(name, get())
        put(value)

    def __delattr__(self, name: str) -> None:
        """Forget what was assigned: the value is what it was before."""
        if name not in self._live:
            super().__delattr__(name)
            return
        before = self.__dict__.get("_before", {})
        if name in before:
            VALUES[name][1](before.pop(name))


def enliven(module: ModuleType, names: frozenset[str]) -> None:
    """Have a namespace hand on what is assigned to these names of it."""
    module.__class__ = LiveModule
    module.__dict__["_live"] = names
