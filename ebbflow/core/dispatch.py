"""What becomes of a public function's arguments that are no tensors, but that somebody knows what to do with.

A class that stands for tensors without being one (Keras 2's symbolic inputs) registers a dispatcher. A function that
was given `add_dispatch_support` asks the dispatchers when it fails on its arguments, and returns what the first of them
makes of the call. Public functions get that support from `api.namespace`, once there is a dispatcher to ask; until
then nothing is wrapped and nothing costs. Dispatchers of one function are in `core.op_dispatch`, choices by types of
arguments in `core.type_dispatch`. Knows no tensors and no public names.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebbflow.core.typing import Nested


class NotSupported:
    """The answer of a dispatcher that has nothing to say to a call."""

    def __repr__(self) -> str:
        return "NOT_SUPPORTED"


NOT_SUPPORTED = NotSupported()


class GlobalOpDispatcher:
    """Answers calls of all functions that support dispatch, when they fail on their arguments."""

    NOT_SUPPORTED = NOT_SUPPORTED

    def handle(self, op: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Nested:
        """Return the result of calling `op`, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self) -> None:
        """Ask this dispatcher about calls of every function."""
        _everywhere.append(self)
        for hook in _first_time:
            hook()
        _first_time.clear()


_everywhere: list[GlobalOpDispatcher] = []
_first_time: list[Callable[[], None]] = []
_public: list[Callable[[str], Any]] = []
_elementwise: list[Callable[[str], list[Any]]] = []
OWN = "_tf_fallback_dispatchers"
"""The attribute of a function that holds its own dispatchers: what has it supports dispatch."""
INNER = "_undispatched"
"""The attribute of a wrapped function that holds the function inside."""


def dispatches() -> bool:
    """Return whether any dispatcher answers for all functions."""
    return bool(_everywhere)


def when_registered(hook: Callable[[], None]) -> None:
    """Call `hook()` when the first dispatcher for all functions is registered."""
    _first_time.append(hook)


def support(function: Any) -> None:
    """Let a function have dispatchers of its own."""
    if OWN not in function.__dict__:
        setattr(function, OWN, [])


def supports(function: Any) -> bool:
    """Return whether a function, method or class method can have dispatchers of its own."""
    return hasattr(getattr(function, "__func__", function), OWN)


def answer(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what the dispatchers make of a call that failed; NOT_SUPPORTED where none speaks up."""
    for own in getattr(op, OWN, ()):
        result = own.handle(args, kwargs)
        if result is not NOT_SUPPORTED:
            return result
    for anyone in _everywhere:
        result = anyone.handle(op, args, kwargs)
        if result is not NOT_SUPPORTED:
            return result
    return NOT_SUPPORTED


def add_dispatch_support(target: Nested = None, iterable_parameters: Any = None) -> Callable[..., Any]:
    """Return `target` with its failures on arguments offered to the dispatchers; a decorator, with or without `()`."""
    if iterable_parameters is not None and not (
        isinstance(iterable_parameters, (list, tuple)) and all(isinstance(name, str) for name in iterable_parameters)
    ):
        raise TypeError(f"iterable_parameters should be a list or tuple of string; got {iterable_parameters!r}")
    if target is None:
        return functools.partial(add_dispatch_support, iterable_parameters=iterable_parameters)

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            result = answer(call, args, kwargs)
            if result is NOT_SUPPORTED:
                raise
            return result

    return stand_in(call, target)


def stand_in(call: Any, target: Any) -> Any:
    """Return `call`, which asks the dispatchers, as what stands for the function `target` inside."""
    from inspect import signature  # costs milliseconds, which `import ebbflow` need not spend

    functools.update_wrapper(call, target)
    setattr(call, INNER, target)
    support(call)
    with contextlib.suppress(TypeError, ValueError):
        call.__signature__ = signature(target)  # `*args` tells nobody anything
    return call


# --- operators that another class has taken over from tensors ------------------------------------------------------


def provide_public(find: Callable[[str], Any]) -> None:
    """Let the room of public names say which function a name means."""
    _public[:] = [find]


def provide_elementwise(find: Callable[[str], list[Any]]) -> None:
    """Let the room of public names say which functions are element-wise: `find("unary")`."""
    _elementwise[:] = [find]


def elementwise_functions(kind: str) -> list[Any]:
    """Return the public functions of one kind: unary, binary, or binary assertions."""
    return _elementwise[0](kind)


def borrowed(name: str, *args: Any) -> Any:
    """Return what the public function of that name gives, for an operator of tensors on something else."""
    return _public[0](name)(*args)


def is_function(value: Any) -> bool:
    """Return whether a value can be given dispatch support as it stands: a plain function."""
    return isinstance(value, types.FunctionType)
