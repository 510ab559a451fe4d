"""Staging areas: `tf.contrib.staging.StagingArea` and `MapStagingArea`, where values wait between runs of a graph.

An area has no handle: its ops find it by a shared name, which is unique in the graph.
"""

from __future__ import annotations

import itertools
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, as_shape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, Nested, TensorLike
from ebbflow.ops.declare import raw

_numbers = itertools.count()


class BaseStagingArea:
    """What both kinds share: dtypes, shapes and names of the values of a tuple."""

    def __init__(
        self, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None, capacity: int = 0,
        memory_limit: int = 0,
    ):  # fmt: skip
        kind = type(self).__name__
        if shared_name is None:
            eager = context.executing_eagerly()
            shared_name = f"{kind}_{next(_numbers)}" if eager else context.default_graph().unique_name(kind)
        elif not isinstance(shared_name, str):
            raise ValueError(f"shared_name must be a string, but got {shared_name}")
        self._name = shared_name
        self._dtypes = [as_dtype(t) for t in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        self._shapes = [TensorShape(None)] * len(self._dtypes) if shapes is None else [as_shape(s) for s in shapes]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = names
        if capacity < 0:
            raise ValueError("StagingArea capacity must be >= 0")
        if memory_limit < 0:
            raise ValueError("StagingArea memory_limit must be >= 0")
        self._capacity, self._memory_limit = capacity, memory_limit

    @property
    def name(self) -> str:
        """The name by which ops find the area."""
        return self._name

    @property
    def dtypes(self) -> list[DType]:
        """The dtype of each value of a tuple."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shape of each value of a tuple."""
        return self._shapes

    @property
    def names(self) -> Any:
        """The name of each value, where they have names: tuples are dictionaries then."""
        return self._names

    @property
    def capacity(self) -> int:
        """How many tuples it holds; 0: no limit."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """How many bytes it holds; 0: no limit."""
        return self._memory_limit

    def _room(self, name: str | None, kind: str) -> dict[str, Any]:
        return {
            "shared_name": self._name,
            "capacity": self._capacity,
            "memory_limit": self._memory_limit,
            "name": name or f"{self._name}_{kind}",
        }

    def _checked(self, vals: Any, indices: Any = None) -> tuple[list[Tensor], list[int]]:
        """Return values as tensors, and which of a tuple's they are."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            unknown = set(vals) - set(self._names)
            if unknown:
                raise ValueError(f"Keys in dictionary to put do not match names of staging area: {sorted(unknown)}")
            indices = [i for i, name in enumerate(self._names) if name in vals]
            vals = [vals[self._names[i]] for i in indices]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            vals = vals if isinstance(vals, (list, tuple)) else [vals]
            if indices is None:
                if len(vals) != len(self._dtypes):
                    raise ValueError(f"Unexpected number of inputs: {len(vals)} vs {len(self._dtypes)}")
                indices = list(range(len(vals)))
        tensors = []
        for value, i in zip(vals, indices, strict=True):
            tensor = convert(value, self._dtypes[i])
            tensor.shape.assert_is_compatible_with(self._shapes[i])
            tensors.append(tensor)
        return tensors, list(indices)

    def _returned(self, tensors: list[Tensor], indices: list[int]) -> Any:
        for tensor, i in zip(tensors, indices, strict=True):
            if getattr(tensor, "_array", None) is None:
                tensor.set_shape(self._shapes[i])
        if self._names:
            return {self._names[i]: tensor for tensor, i in zip(tensors, indices, strict=True)}
        return tensors


class StagingArea(BaseStagingArea):
    """A first-in, first-out area."""

    def put(self, values: TensorLike, name: str | None = None) -> Effect:
        """Return the operation that puts a tuple, waiting while the area is full."""
        with name_scope(name, f"{self._name}_put") as scope:
            if not isinstance(values, (list, tuple, dict)):
                values = [values]
            tensors, _ = self._checked(values)
            return raw.Stage(tensors, **self._room(scope, "put"))

    def get(self, name: str | None = None) -> Nested:
        """Return the oldest tuple, which leaves the area, waiting until there is one."""
        tensors = raw.Unstage(dtypes=self._dtypes, **self._room(name, "get"))
        return self._returned(list(tensors), list(range(len(self._dtypes))))

    def peek(self, index: TensorLike, name: str | None = None) -> Nested:
        """Return the tuple at a place; it stays in the area."""
        tensors = raw.StagePeek(index, dtypes=self._dtypes, **self._room(name, "peek"))
        return self._returned(list(tensors), list(range(len(self._dtypes))))

    def size(self, name: str | None = None) -> Tensor:
        """Return how many tuples there are."""
        return raw.StageSize(dtypes=self._dtypes, **self._room(name, "size"))

    def clear(self, name: str | None = None) -> Effect:
        """Return the operation that empties the area."""
        return raw.StageClear(dtypes=self._dtypes, **self._room(name, "clear"))


class MapStagingArea(BaseStagingArea):
    """An area of tuples by key; parts of a tuple may come one by one."""

    def __init__(
        self, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None, ordered: bool = False,
        capacity: int = 0, memory_limit: int = 0,
    ):  # fmt: skip
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._prefix = "OrderedMap" if ordered else "Map"

    def _op(self, kind: str) -> Any:
        return getattr(raw, self._prefix + kind)

    def put(self, key: Any, vals: Any, indices: Any = None, name: str | None = None) -> Any:
        """Return the operation that puts (parts of) the tuple of a key."""
        with name_scope(name, f"{self._name}_put") as scope:
            tensors, which = self._checked(vals, indices)
            key = convert(key, dtypes.int64)
            return self._op("Stage")(key, which, tensors, dtypes=self._dtypes, **self._room(scope, "put"))

    def _which(self, indices: Any) -> list[int]:
        if indices is None:
            return list(range(len(self._dtypes)))
        if self._names and all(isinstance(i, str) for i in indices):
            return [self._names.index(i) for i in indices]
        return list(indices)

    def get(self, key: Any = None, indices: Any = None, name: str | None = None) -> Any:
        """Return a key and (parts of) its tuple, which leave the area; any key where none is asked for."""
        which = self._which(indices)
        types = [self._dtypes[i] for i in which]
        if key is None:
            key, tensors = self._op("UnstageNoKey")(which, dtypes=types, **self._room(name, "get_nokey"))
        else:
            key = convert(key, dtypes.int64)
            tensors = self._op("Unstage")(key, which, dtypes=types, **self._room(name, "get"))
        return key, self._returned(list(tensors), which)

    def peek(self, key: Any, indices: Any = None, name: str | None = None) -> Any:
        """Return (parts of) the tuple of a key; it stays."""
        which = self._which(indices)
        types = [self._dtypes[i] for i in which]
        tensors = self._op("Peek")(convert(key, dtypes.int64), which, dtypes=types, **self._room(name, "pop"))
        return self._returned(list(tensors), which)

    def size(self, name: str | None = None) -> Tensor:
        """Return how many whole tuples there are."""
        return self._op("Size")(dtypes=self._dtypes, **self._room(name, "size"))

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """Return how many tuples lack parts."""
        return self._op("IncompleteSize")(dtypes=self._dtypes, **self._room(name, "incomplete_size"))

    def clear(self, name: str | None = None) -> Any:
        """Return the operation that empties the area."""
        return self._op("Clear")(dtypes=self._dtypes, **self._room(name, "clear"))
