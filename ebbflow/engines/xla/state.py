"""Variables inside a trace: a storage whose value is what it will be at that point of the program.

Kernels of variables and optimizers work on a `Storage`. A `TracedStorage` looks like one and remembers jax values, so
the very same kernels say what is read and written. Formulas that write into arrays are traced with `Cell`s: an array
that can be written to, made of values that cannot. Knows jax arrays; the executable reads and writes the real storages.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ebbflow.engines.xla import library
from ebbflow.engines.xla.refusal import Refusal
from ebbflow.ops.state.storage import Storage


class TracedStorage(Storage):
    """The value of a variable while a program that uses it is traced."""

    __slots__ = ("changed",)

    def __init__(self, like: Storage, value: Any):
        super().__init__(like.name, like.dtype, like.dims, like.is_resource)
        self.value = value
        self.changed = False

    def __enter__(self) -> TracedStorage:
        return self

    def __exit__(self, *exc: Any) -> None:
        return None

    def set(self, value: Any) -> None:
        """Set the value to a jax (or known) one."""
        self.value = library.numpy().asarray(_bare(value), self.dtype.np)
        self.changed = True

    def writable(self) -> Any:
        return Cell(self.value, self)

    def assign(self, array: Any, validate: bool = True) -> None:
        self._check(array, validate)
        if array.shape != self.read().shape:
            raise Refusal(f"variable '{self.name}' changes its shape from {self.read().shape} to {array.shape}")
        self.set(array)

    take = assign

    def update(self, function: Any, delta: Any) -> None:
        if self.read().shape != delta.shape:
            raise self.wrong_shape(delta)
        self.set(getattr(library.numpy(), function.__name__)(self.value, delta))

    def clear(self) -> None:
        raise Refusal(f"variable '{self.name}' is destroyed")


def _bare(value: Any) -> Any:
    return value.value if value.__class__ is Cell else value


class Cell:
    """An array for formulas that write into arrays: every write makes a new value, and tells the variable it is of."""

    __slots__ = ("storage", "value")
    __array_priority__ = 1000

    def __init__(self, value: Any, storage: TracedStorage | None = None):
        self.value = value
        self.storage = storage

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)
    ndim = property(lambda self: self.value.ndim)

    def astype(self, dtype: Any, copy: bool = True) -> Cell:
        return Cell(self.value.astype(dtype))

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not Ellipsis:
            raise Refusal("writes into a part of a variable")
        self._write(_bare(value))

    def _write(self, value: Any) -> Cell:
        self.value = value
        if self.storage is not None:
            self.storage.set(value)
            self.value = self.storage.value
        return self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        result = _like(ufunc.__name__, inputs)
        return Cell(result) if out is None else out[0]._write(result)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if options:
            return NotImplemented
        return Cell(_like(function.__name__, args))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __neg__(self) -> Cell:
        return Cell(-self.value)


def _like(name: str, inputs: Any) -> Any:
    """Return what NumPy's function of this name gives, said in jax."""
    bare = [_bare(x) for x in inputs]
    module: Any = np if all(isinstance(x, (np.ndarray, np.generic, int, float)) for x in bare) else library.numpy()
    return getattr(module, name)(*bare)


def _forward(function: Any) -> Any:
    return lambda self, other: Cell(function(self.value, _bare(other)))


def _reflected(function: Any) -> Any:
    return lambda self, other: Cell(function(_bare(other), self.value))


def _inplace(function: Any) -> Any:
    return lambda self, other: self._write(function(self.value, _bare(other)))


for _name in ("add", "sub", "mul", "truediv", "pow"):
    _function = getattr(operator, _name)
    setattr(Cell, f"__{_name}__", _forward(_function))
    setattr(Cell, f"__r{_name}__", _reflected(_function))
    setattr(Cell, f"__i{_name}__", _inplace(_function))
for _name in ("gt", "ge", "lt", "le", "eq", "ne"):
    setattr(Cell, f"__{_name}__", _forward(getattr(operator, _name)))
