"""Proxies: an object that behaves as another one does, and passes for an instance of its class.

What the proxy keeps for itself has a name that starts with `_self_`; everything else is the other object's. Programs
that know the package `wrapt` tell proxies by its class: where it has been imported, ours are of that class, too.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

_FORWARDED = (  # noqa: SIM905
    "__str__ __len__ __iter__ __contains__ __getitem__ __bytes__ __dir__ __lt__ __le__ __gt__ __ge__ "
    "__add__ __mul__ __rmul__ __or__ __ror__ __and__ __sub__ __xor__"
).split()


def _forward(method: str) -> Callable[..., Any]:
    def forwarded(self: Any, *args: Any) -> Any:
        own = getattr(type(self.__wrapped__), method, None)
        return NotImplemented if own is None else own(self.__wrapped__, *(unwrapped(each) for each in args))

    forwarded.__name__ = method
    return forwarded


class ObjectProxy:
    """Stands for `wrapped`."""

    __wrapped__: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return a proxy that is not filled yet."""
        wrapt = sys.modules.get("wrapt")
        known = getattr(wrapt, "ObjectProxy", None)  # not yet there while it is being imported
        if known is None or issubclass(cls, known):
            return super().__new__(cls)
        both = _of_both(cls, known)  # type: ignore[arg-type]
        return super().__new__(cls) if both is cls else known.__new__(both)

    def __init__(self, wrapped: Any):
        self.__wrapped__ = wrapped

    def _class_of_wrapped(self) -> Any:
        return type(self.__wrapped__)

    __class__ = property(_class_of_wrapped)

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__" or name.startswith("_self_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.__wrapped__, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "__wrapped__" or name.startswith("_self_") or hasattr(type(self), name):
            object.__setattr__(self, name, value)
        else:
            setattr(self.__wrapped__, name, value)

    def __bool__(self) -> bool:
        return bool(self.__wrapped__)

    def __reversed__(self) -> Any:
        return reversed(self.__wrapped__)  # a tuple has no method of that name


@functools.cache
def _of_both(cls: Any, known: Any) -> Any:
    """Return the class of proxies of class `cls` that are of the class `known` as well."""
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    both = type(cls.__name__, (cls, known), {**names, "__setattr__": known.__setattr__})
    try:
        made = known.__new__(both)
        made.__wrapped__ = {}
        kept = made.__dict__  # before wrapt 2 this is that of what is wrapped
    except AttributeError:
        return cls
    return both if isinstance(kept, dict) else cls


for _method in _FORWARDED:
    setattr(ObjectProxy, _method, _forward(_method))


def unwrapped(value: Any) -> Any:
    """Return what a proxy stands for, and anything else as it is."""
    return value.__wrapped__ if isinstance(type(value), type) and issubclass(type(value), ObjectProxy) else value
