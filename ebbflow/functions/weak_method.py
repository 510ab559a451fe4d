"""Methods whose instances are held weakly: a traced method must not keep its object alive."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import MethodType
from typing import Any

from ebbflow.functions.signature import FunctionSignature


class WeakMethod:
    """A method whose instance is held weakly."""

    def __init__(self, function: Callable[..., Any], ref: weakref.ref[Any], signature: FunctionSignature):
        functools.update_wrapper(self, function)
        del self.__wrapped__  # type: ignore[attr-defined]
        self.function, self._ref = function, ref
        self.__signature__ = signature.python

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self._ref(), *args, **kwargs)

    def method(self) -> Callable[..., Any]:
        """Return the method itself, or its function once the instance is gone."""
        instance = self._ref()
        return self.function if instance is None else MethodType(self.function, instance)

    def converted(self, convert: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method with its function converted."""
        return functools.partial(convert(self.function), self._ref())

    def __repr__(self) -> str:
        return repr(self.function)


def drop(bound: dict[int, Any], number: int, ref: Any) -> None:
    """Forget what was kept for an instance that is gone, unless another one has its number by now."""
    if number in bound and bound[number][0] is ref:
        del bound[number]


def call_if_alive(method: Any, *args: Any) -> None:
    """Call what a weak reference to a method means, while its instance lives."""
    found = method()
    if found is not None:
        found(*args)
