"""Dispatchers of one function: who answers when it fails on its arguments.

`dispatch_for_types` registers one that answers where some argument is of a class. The function's calls are looked at
from then on (`core.type_dispatch`), or it is one that was given support and looks itself. Knows functions only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ebbflow.core.dispatch import INNER, NOT_SUPPORTED, OWN, supports
from ebbflow.core.type_dispatch import dispatcher_of

if TYPE_CHECKING:
    from ebbflow.core.typing import Nested


class OpDispatcher:
    """Answers calls of the functions it is registered for, when they fail on their arguments."""

    NOT_SUPPORTED = NOT_SUPPORTED

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Nested:
        """Return the result of the call, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self, op: object) -> None:
        """Ask this dispatcher about calls of `op`."""
        op = getattr(op, "__func__", op)
        if not supports(op):
            raise AssertionError(f"Dispatching not enabled for {op}")
        getattr(op, OWN).append(self)
        if not hasattr(op, INNER):
            dispatcher_of(op).look()


class _TypeDispatcher(OpDispatcher):
    def __init__(self, op: Any, function: Callable[..., Any], types: tuple[type, ...]) -> None:
        self._function, self._types = function, types
        self._optional = _only_in(op, function)

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not any(isinstance(value, self._types) for value in _values(args, kwargs)):
            return self.NOT_SUPPORTED
        for name, default in self._optional.items():
            if name in kwargs and kwargs[name] is not default:
                raise AssertionError(
                    f"Dispatched op is called with argument `{name}` set to a non-default value, which is not "
                    "supported by the decorated function"
                )
        return self._function(*args, **{key: value for key, value in kwargs.items() if key not in self._optional})


def _only_in(op: Any, function: Any) -> dict[str, Any]:
    """Return the optional parameters of an op that a function lacks; refuse one whose required ones differ."""
    theirs, own = inspect.signature(op).parameters, inspect.signature(function).parameters
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in (*own.values(), *theirs.values())):
        return {}
    required = [[(p.name, p.kind) for p in some.values() if p.default is p.empty] for some in (theirs, own)]
    if required[0] != required[1]:
        raise AssertionError(
            "The decorated function's non-default arguments must be identical to that of the overridden op. "
            f"The op has {[name for name, _ in required[0]]}, the function {[name for name, _ in required[1]]}."
        )
    return {name: p.default for name, p in theirs.items() if name not in own}


def _values(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """Yield the arguments of a call, and what lists among them hold."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, (list, tuple)):
            yield from _values(tuple(value), {})
        else:
            yield value


def dispatch_for_types(op: Any, *types: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator of the function that `op` is where one of its arguments is of these types."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not supports(op):
            raise AssertionError(f"Dispatching not enabled for {op}")
        _TypeDispatcher(op, function, types).register(op)
        return function

    return decorate
