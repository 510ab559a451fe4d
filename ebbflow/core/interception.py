"""Functions whose calls go to somebody else for a while, though they stay the same objects.

Whoever holds the function, under whatever name, calls the interceptor from then on; before and afterwards a call costs
nothing more than it did, because nothing is wrapped: the function's code is exchanged. Knows Python's functions only.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any, Protocol


class Interceptor(Protocol):
    """What calls go to."""

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a call."""


_MARK = "\0interceptor"  # stands in the source where the code gets the interceptor itself
_before: dict[types.FunctionType, list[tuple[types.CodeType, Any]]] = {}  # code, signature if one was set; last on top
_offered: list[tuple[str, Any]] = []
_takers: list[Callable[[str, Any], None]] = []


def offer(kind: str, function: Any) -> None:
    """Offer a function to those of lower rooms that intercept functions of a kind, now or when they begin to."""
    _offered.append((kind, function))
    for take in _takers:
        take(kind, function)


def take_offers(take: Callable[[str, Any], None]) -> None:
    """Call `take(kind, function)` for every function that was offered or will be."""
    _takers.append(take)
    for kind, function in list(_offered):
        take(kind, function)


def _code(interceptor: Interceptor, replaced: types.CodeType) -> types.CodeType:
    """Return code that takes any arguments and calls the interceptor; it has the free names of the code it replaces."""
    free = replaced.co_freevars
    lines = [
        f"def outer({', '.join(free)}):",
        "  def inner(*args, **kwargs):",
        f"    if False: ({''.join(name + ', ' for name in free)})",
        f"    return {_MARK!r}.call(args, kwargs)",
        "  return inner",
    ]
    space: dict[str, Any] = {}
    exec("\n".join(lines), space)
    code = space["outer"](*free).__code__
    constants = tuple(interceptor if value == _MARK else value for value in code.co_consts)
    return code.replace(co_consts=constants, co_name=replaced.co_name, co_filename=replaced.co_filename)


def intercept(function: types.FunctionType, interceptor: Interceptor) -> types.FunctionType:
    """Let calls of a function go to an interceptor, until `release`; return one that does what the function did."""
    code = function.__code__
    copy = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    _before.setdefault(function, []).append((code, function.__dict__.get("__signature__")))
    function.__dict__["__signature__"] = inspect.signature(function)
    function.__code__ = _code(interceptor, code)
    return copy


def release(function: types.FunctionType) -> None:
    """Let a function be what it was."""
    function.__code__, signature = _before[function].pop()
    del function.__dict__["__signature__"]
    if signature is not None:
        function.__dict__["__signature__"] = signature
