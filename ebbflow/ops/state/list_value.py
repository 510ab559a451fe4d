"""The value behind a list of tensors: cheap to push to, pop from and set in, and never seen to change.

Each op on a list gives a new `TensorList`; the old one stays what it was. Both share one dictionary of elements: the
newest version owns it, and an older one only remembers the single entry in which it differs from its successor. Should
an old version be asked again, it takes the dictionary back, and the others learn how they differ from it; one that is
far behind gets a dictionary of its own, so that two lists that began as one do not pull at it in turns. So a loop that
pushes or sets once an iteration costs the same for each, and an element is freed as soon as no living version has it.
An entry that was never set is not there at all: a list of zeros costs nothing. A list of the rows of an array is that
array until somebody asks for an entry. Knows arrays and nothing of ops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ebbflow.core import forks
from ebbflow.core.dtypes import DType, variant
from ebbflow.core.shape import Dims, is_static
from ebbflow.ops.sizes import invalid, room_for

FAR = 8
"""Versions between one that is asked and the newest, from which on it has entries of its own."""

_MISSING: Any = object()
_lock = forks.lock()  # for all lists: taken for a moment where a dictionary changes hands


class TensorList:
    """A list of arrays of one dtype, of shapes that `element_dims` allows; `limit` bounds its length (-1: not)."""

    __slots__ = ("_change", "_entries", "dtype", "element_dims", "length", "limit", "whole")

    def __init__(self, dtype: DType, element_dims: Dims, length: int = 0, limit: int = -1, entries: Any = None):
        self.dtype = dtype
        self.element_dims = element_dims
        self.length = length
        self.limit = limit
        self._entries: dict[int, np.ndarray] | None = {} if entries is None else entries
        self._change: tuple[int, Any, TensorList] | None = None  # where another version owns the entries: key, ours, it
        self.whole: np.ndarray | None = None  # all elements in one

    @classmethod
    def of_rows(cls, dtype: DType, element_dims: Dims, whole: np.ndarray, limit: int = -1) -> TensorList:
        """Return the list of an array's rows."""
        made = cls(dtype, element_dims, len(whole), limit)
        made._entries, made.whole = None, whole
        return made

    def rows(self, dims: tuple[int, ...]) -> np.ndarray | None:
        """Return all elements as the rows of an array, for reading; None where one is of another shape."""
        if self.whole is not None:
            return self.whole if self.whole.shape[1:] == dims else None
        if not self.length:
            return np.empty((0, *dims), self.dtype.np)
        elements = self.elements()
        if any(x is not None and x.shape != dims for x in elements):
            return None
        return stack_elements(elements, dims, self.dtype)

    def get(self, index: int) -> np.ndarray | None:
        """Return an element, or None where none was set."""
        with _lock:
            return self._own().get(index)

    def elements(self) -> list[np.ndarray | None]:
        """Return all elements in order, None where none was set."""
        with _lock:
            entries = self._own()
            return [entries.get(i) for i in range(self.length)]

    def push(self, item: np.ndarray) -> TensorList:
        """Return the list with one more element."""
        return self._with(self.length, item, self.length + 1)

    def pop(self) -> tuple[TensorList, np.ndarray | None]:
        """Return the list without its last element, and that element."""
        last = self.length - 1
        with _lock:
            entries = self._own()
            item = entries.get(last)
            newer = TensorList(self.dtype, self.element_dims, last, self.limit, entries)
            entries.pop(last, None)
            self._entries, self._change = None, (last, _MISSING if item is None else item, newer)
        return newer, item

    def set(self, index: int, item: np.ndarray) -> TensorList:
        """Return the list with one element replaced, as long as it must be to have it."""
        return self._with(index, item, max(self.length, index + 1))

    def resize(self, length: int) -> TensorList:
        """Return the list cut, or lengthened by elements not set."""
        entries = {i: x for i, x in self._copied().items() if i < length}
        return TensorList(self.dtype, self.element_dims, length, self.limit, entries)

    def extend(self, items: Iterable[np.ndarray | None]) -> TensorList:
        """Return the list with more elements behind."""
        entries, at = self._copied(), self.length
        for item in items:
            if item is not None:
                entries[at] = item
            at += 1
        return TensorList(self.dtype, self.element_dims, at, self.limit, entries)

    def zeros(self) -> TensorList:
        """Return a list of as many elements, none of them set: zeros, to whoever reads them. Lists stay as long."""
        entries = {i: zeros_like(x) for i, x in self._copied().items()} if self.dtype is variant else None
        return TensorList(self.dtype, self.element_dims, self.length, self.limit, entries)

    def plus(self, other: TensorList) -> TensorList:
        """Return the element-wise sum; an element not set is zero. Costs as much as the one with fewer elements has."""
        if isinstance(other, Nothing):
            return self
        if self.length != other.length:
            raise invalid(
                "Trying to add two lists of tensors with different lengths. "
                f"One is {self.length} and the other is {other.length}"
            )
        with _lock:
            total, few = (other, self) if len(self._own()) < len(other._own()) else (self, other)
        for index, item in few._copied().items():
            mine = total.get(index)
            total = total.set(index, item if mine is None else sum_of(mine, item))
        return total

    def __add__(self, other: Any) -> Any:
        return self.plus(other) if isinstance(other, (TensorList, Nothing)) else NotImplemented  # type: ignore[arg-type]  # arrays add their own

    def __repr__(self) -> str:
        return f"<TensorList of {self.length} {self.dtype.name}>"

    def __deepcopy__(self, memo: Any) -> TensorList:
        return self

    # --- versions -----------------------------------------------------------------------------------------------------

    def _with(self, key: int, value: Any, length: int) -> TensorList:
        with _lock:
            entries = self._own()
            newer = TensorList(self.dtype, self.element_dims, length, self.limit, entries or {})
            entries = newer._entries  # type: ignore[assignment]
            if self._entries is entries:
                self._entries, self._change = None, (key, entries.get(key, _MISSING), newer)
            if value is _MISSING:
                entries.pop(key, None)
            else:
                entries[key] = value
            return newer

    def _own(self) -> dict[int, np.ndarray]:
        """Return the entries as this version has them, taking them back from whoever owns them. (The lock is held.)"""
        if self._entries is not None:
            return self._entries
        if self._change is None:
            self._entries = dict(enumerate(rows_of(self.whole)))  # type: ignore[arg-type]
            return self._entries
        path = [self]
        while path[-1]._change is not None:
            path.append(path[-1]._change[2])
        far = len(path) > FAR
        entries: Any = dict(path[-1]._entries) if far else path[-1]._entries  # type: ignore[arg-type]
        for older, newer in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
            key, value, _ = older._change  # type: ignore[misc]
            if not far:
                newer._entries, newer._change = None, (key, entries.get(key, _MISSING), older)
            if value is _MISSING:
                entries.pop(key, None)
            else:
                entries[key] = value
        self._entries, self._change = entries, None
        return entries

    def _copied(self) -> dict[int, np.ndarray]:
        with _lock:
            return dict(self._own())

    def shape_of_others(self) -> Dims:
        """Return the shape of some element that was set, or None."""
        with _lock:
            for item in self._own().values():
                return item.shape
        return None


class Nothing:
    """The variant that stands for a value nobody made: what a branch gives in place of another's list."""

    def zeros(self) -> Nothing:
        """Return the zero that goes with it: itself."""
        return self

    def plus(self, other: Any) -> Any:
        """Return the other."""
        return other

    def __add__(self, other: Any) -> Any:
        return other if isinstance(other, (TensorList, Nothing)) else NotImplemented

    def __repr__(self) -> str:
        return "<no value>"


def zeros_of(dims: Any, dtype: DType) -> np.ndarray:
    """Return zeros; of strings, empty ones, and of variants, those that nobody made."""
    if not is_static(dims):
        raise ValueError(f"zeros need a known shape, got {dims}")
    room_for(dims, dtype.np.itemsize)
    if dtype.np.hasobject:
        array = np.empty(dims, object)
        array.fill(Nothing() if dtype is variant else b"")
        return array
    return np.zeros(dims, dtype.np)


def rows_of(tensor: np.ndarray) -> list[np.ndarray]:
    """Return the rows as arrays of their own (of a vector, scalars as arrays)."""
    return [tensor[i, ...] for i in range(tensor.shape[0])]


def stack_elements(elements: list[Any], dims: Any, dtype: DType) -> np.ndarray:
    """Return elements of one shape as the rows of an array; one that was not set is zero."""
    incomplete = not elements or any(item is None for item in elements)
    whole = zeros_of((len(elements), *dims), dtype) if incomplete else None
    if whole is None and not dtype.np.hasobject:
        return np.array(elements, dtype.np)
    whole = np.empty((len(elements), *dims), dtype.np) if whole is None else whole
    for i, item in enumerate(elements):
        if item is not None:
            whole[i] = item if item.ndim else item[()]
    return whole


def sum_of(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the sum of two arrays, of numbers or of variants."""
    if not a.dtype.hasobject:
        return a + b
    total = np.empty(a.shape, object)
    for index in np.ndindex(a.shape):
        total[index] = a[index].plus(b[index])  # type: ignore[attr-defined]
    return total


def zeros_like(x: np.ndarray) -> np.ndarray:
    """Return an array of variants, each the zero of the one in `x`."""
    zeros = np.empty(x.shape, object)
    for index in np.ndindex(x.shape):
        zeros[index] = x[index].zeros()  # type: ignore[attr-defined]
    return zeros
