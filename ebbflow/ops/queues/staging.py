"""Staging areas: places where values wait between two runs of a graph, in order or by key.

`Stage` puts a tuple, `Unstage` takes the oldest. The areas by key (`MapStage`, `OrderedMapStage`) gather the parts of a
tuple, which may come one by one, and give it when it is whole. Putting waits while an area is full, by number or by
bytes; taking waits until there is what is asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import stopping
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.variable_ops import find_or_make

Tuple = list[Any]


class _Area:
    """What areas share: room for a number of tuples and bytes, and waiting."""

    def __init__(self, capacity: int, memory_limit: int):
        self._capacity, self._limit = capacity, memory_limit
        self._changed = threading.Condition()
        self._bytes = 0

    def _wait(self, ready: Callable[[], bool], stop: stopping.Stop) -> None:
        if not ready():
            stop.wait_for(self._changed, ready, "Staging operation was cancelled")

    def _make_room(self, held: Callable[[], int], size: int, stop: stopping.Stop) -> None:
        """Wait until another tuple of that many bytes fits."""
        if self._limit and size > self._limit:
            raise invalid(f"Attempted to insert tensors with combined size of {size} bytes into Staging Area with a "
                          f"memory limit of {self._limit}.")  # fmt: skip
        self._wait(
            lambda: (
                (not self._capacity or held() < self._capacity)
                and (not self._limit or self._bytes + size <= self._limit)
            ),
            stop,
        )
        self._bytes += size

    def _release(self, size: int) -> None:
        self._bytes -= size
        self._changed.notify_all()


class Stage(_Area):
    """First in, first out."""

    def __init__(self, capacity: int, memory_limit: int):
        super().__init__(capacity, memory_limit)
        self._held: list[Tuple] = []

    def put(self, values: Tuple, stop: stopping.Stop) -> None:
        """Add a tuple at the end."""
        with self._changed:
            self._make_room(lambda: len(self._held), _size(values), stop)
            self._held.append(values)
            self._changed.notify_all()

    def take(self, stop: stopping.Stop) -> Tuple:
        """Return the oldest tuple, and forget it."""
        with self._changed:
            self._wait(lambda: bool(self._held), stop)
            values = self._held.pop(0)
            self._release(_size(values))
            return values

    def peek(self, index: int, stop: stopping.Stop) -> Tuple:
        """Return the tuple at a place; it stays."""
        with self._changed:
            self._wait(lambda: len(self._held) > index, stop)
            return self._held[index]

    def size(self) -> int:
        """Return how many tuples there are."""
        return len(self._held)

    def clear(self) -> None:
        """Forget all."""
        with self._changed:
            self._held.clear()
            self._release(self._bytes)


class MapStage(_Area):
    """Tuples by key, of which some may lack parts; with `ordered` the smallest key is given first."""

    def __init__(self, capacity: int, memory_limit: int, count: int, ordered: bool):
        super().__init__(capacity, memory_limit)
        self._count, self._ordered = count, ordered
        self._parts: dict[int, dict[int, Any]] = {}
        self._whole: dict[int, dict[int, Any]] = {}

    def put(self, key: int, indices: list[int], values: Tuple, stop: stopping.Stop) -> None:
        """Add parts of the tuple of a key."""
        self._check(indices, values)
        with self._changed:
            if key in self._whole:
                raise invalid(f"The key '{key}' is already complete")
            parts = self._parts.get(key, {})
            twice = [i for i in indices if i in parts]
            if twice:
                raise invalid(f"The tensor for index '{twice[0]}' for key '{key}' was already initialized")
            self._make_room(lambda: len(self._whole), _size(values), stop)
            parts = self._parts.setdefault(key, {})
            parts.update(zip(indices, values, strict=True))
            if len(parts) == self._count:
                self._whole[key] = self._parts.pop(key)
                self._changed.notify_all()

    def _check(self, indices: list[int], values: Tuple) -> None:
        if len(indices) != len(values):
            raise invalid(f"{len(indices)} indices and {len(values)} values were given")
        for i in indices:
            if not 0 <= i < self._count:
                raise invalid(f"Index '{i}' for key is out of range [0, {self._count})")
        if len(set(indices)) != len(indices):
            raise invalid(f"indices {indices} name a part twice")

    def take(self, key: int | None, indices: list[int], stop: stopping.Stop, stays: bool = False) -> tuple[int, Tuple]:
        """Return a key (any, where none is asked for) and parts of its tuple, which leave unless `stays`."""
        with self._changed:
            self._wait(lambda: key in self._whole if key is not None else bool(self._whole), stop)
            if key is None:
                key = min(self._whole) if self._ordered else next(iter(self._whole))
            whole = self._whole[key]
            missing = [i for i in indices if i not in whole]
            if missing:
                raise invalid(f"Tensor at index '{missing[0]}' for key '{key}' has already been removed.")
            values = [whole[i] for i in indices]
            if not stays:
                for i in indices:
                    del whole[i]
                if not whole:
                    del self._whole[key]
                self._release(_size(values))
            return key, values

    def size(self) -> int:
        """Return how many whole tuples there are."""
        return len(self._whole)

    def incomplete(self) -> int:
        """Return how many tuples lack parts."""
        return len(self._parts)

    def clear(self) -> None:
        """Forget all."""
        with self._changed:
            self._parts.clear()
            self._whole.clear()
            self._release(self._bytes)


def _size(values: Tuple) -> int:
    return sum(v.nbytes for v in values)


# --- ops --------------------------------------------------------------------------------------------------------------

_ROOM = "capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type){}; "
_NAMED = 'container: string = ""; shared_name: string = "" | stateful'
_ONE, _ANY = _ROOM.format(" >= 1") + _NAMED, _ROOM.format("") + _NAMED


def _stage(run: Any, container: str, shared_name: str, capacity: int, memory_limit: int) -> Stage:
    name = shared_name or (run.node.name if run.node is not None else "")
    return find_or_make((container, name, "stage"), run, lambda: Stage(capacity, memory_limit))


def _areas_op(text: str, shape: Any, use: Callable[..., Any], facts: str) -> None:
    """Declare an op of the plain area: `use(area, stop, *inputs)`."""

    def kernel(
        xp: Any, *inputs: Any, capacity: int, memory_limit: int, container: str, shared_name: str, run: Any
    ) -> Any:
        area = _stage(run, container, shared_name, capacity, memory_limit)
        return use(area, stopping.current(run.session), *inputs)

    op(text, shape=shape, kernel=kernel, gradient=FLAT, facts=facts)


def _unknown(*inputs: Any, dtypes: Any) -> list[Any]:
    return [None] * len(dtypes)


def _number(value: int) -> np.ndarray:
    return np.array(value, np.int32)


_areas_op(
    f"Stage(values:list(dtypes)) -> () | {_ONE}",
    lambda values: [],
    lambda area, stop, values: area.put(values, stop) or (),
    "waits keeps",
)
_areas_op(f"Unstage() -> (values:list(dtypes)) | {_ONE}", _unknown, lambda area, stop: area.take(stop), "waits")
_areas_op(
    f"StagePeek(index:int32) -> (values:list(dtypes)) | {_ONE}",
    _unknown,
    lambda area, stop, index: area.peek(int(index), stop),
    "waits",
)
_areas_op(f"StageSize() -> (size:int32) | {_ANY}", scalar, lambda area, stop: _number(area.size()), "")
_areas_op(f"StageClear() -> () | {_ANY}", lambda: [], lambda area, stop: area.clear() or (), "")


def _map_op(text: str, ordered: bool, shape: Any, use: Callable[..., Any], facts: str) -> None:
    """Declare an op of an area by key: `use(area, stop, *inputs)`."""

    def kernel(
        xp: Any, *inputs: Any, capacity: int, memory_limit: int, dtypes: Any, container: str, shared_name: str, run: Any
    ) -> Any:
        name = shared_name or (run.node.name if run.node is not None else "")
        key = (container, name, "ordered map stage" if ordered else "map stage")
        area = find_or_make(key, run, lambda: MapStage(capacity, memory_limit, len(dtypes), ordered))
        return use(area, stopping.current(run.session), *inputs)

    op(text, shape=shape, kernel=kernel, gradient=FLAT, facts=facts)


def _scalar(key: Any) -> int:
    if key.ndim:
        raise invalid(f"key must be an int64 scalar, got shape {list(key.shape)}")
    return int(key)


def _map_take(area: MapStage, stop: Any, key: Any, indices: Any) -> Tuple:
    return area.take(_scalar(key), indices.tolist(), stop)[1]


def _map_peek(area: MapStage, stop: Any, key: Any, indices: Any) -> Tuple:
    return area.take(_scalar(key), indices.tolist(), stop, stays=True)[1]


def _map_take_any(area: MapStage, stop: Any, indices: Any) -> Any:
    key, values = area.take(None, indices.tolist(), stop)
    return np.array(key, np.int64), values


def _map_put(area: MapStage, stop: Any, key: Any, indices: Any, values: Any) -> tuple[()]:
    area.put(_scalar(key), indices.tolist(), values, stop)
    return ()


_STAGED = _ROOM.format("") + "fake_dtypes: list(type) >= 1; " + _NAMED
_KEYED = "(key:int64, indices:int32) -> (values:list(dtypes)) | " + _ONE
for _prefix, _ordered in (("Map", False), ("OrderedMap", True)):
    _map_op(
        f"{_prefix}Stage(key:int64, indices:int32, values:list(fake_dtypes)) -> () | {_STAGED}",
        _ordered,
        lambda key, indices, values: [],
        _map_put,
        "waits keeps",
    )
    _map_op(f"{_prefix}Unstage{_KEYED}", _ordered, _unknown, _map_take, "waits")
    _map_op(f"{_prefix}Peek{_KEYED}", _ordered, _unknown, _map_peek, "waits")
    _map_op(
        f"{_prefix}UnstageNoKey(indices:int32) -> (key:int64, values:list(dtypes)) | {_ONE}",
        _ordered,
        lambda indices, *, dtypes: [(), *[None] * len(dtypes)],
        _map_take_any,
        "waits",
    )
    _map_op(f"{_prefix}Size() -> (size:int32) | {_ANY}", _ordered, scalar, lambda a, s: _number(a.size()), "")
    _map_op(
        f"{_prefix}IncompleteSize() -> (size:int32) | {_ANY}",
        _ordered,
        scalar,
        lambda a, s: _number(a.incomplete()),
        "",
    )
    _map_op(f"{_prefix}Clear() -> () | {_ANY}", _ordered, lambda: [], lambda a, s: a.clear() or (), "")
