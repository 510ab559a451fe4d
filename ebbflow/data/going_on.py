"""Stages that are generators, and go on behind an error of what they read.

Python ends a generator that lets an error through, and with it whatever elements it holds. So a generator of this room
reads errors as values (`told`), yields them where they are to be raised, and goes on; `goes_on` raises them for whoever
takes the elements. Knows iterators; knows nothing of pipes or elements.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any


class Failed:
    """An error in the place of an element."""

    __slots__ = ("error",)

    def __init__(self, error: Exception):
        self.error = error


class told:  # noqa: N801  (called like a function)
    """What an iterator gives, its errors included."""

    __slots__ = ("_elements",)

    def __init__(self, elements: Iterator[Any]):
        self._elements = elements

    def __iter__(self) -> told:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._elements)
        except StopIteration:
            raise
        except Exception as error:
            return Failed(error)


def attempt(call: Callable[..., Any], *args: Any) -> Any:
    """Return what a function gives, or how it failed."""
    try:
        return call(*args)
    except Exception as error:
        return Failed(error)


class _Raising:
    """What a generator gives; the errors among it are raised, and end nothing."""

    __slots__ = ("_elements",)

    def __init__(self, elements: Iterator[Any]):
        self._elements = elements

    def __iter__(self) -> _Raising:
        return self

    def __next__(self) -> Any:
        element = next(self._elements)
        if element.__class__ is Failed:
            raise element.error
        return element

    def close(self) -> None:
        """End the generator: what it has open is closed."""
        self._elements.close()  # type: ignore[attr-defined]


def goes_on(generator: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Have the errors that a generator yields raised where they come."""

    @functools.wraps(generator)
    def begin(*args: Any) -> Iterator[Any]:
        return _Raising(generator(*args))

    return begin
