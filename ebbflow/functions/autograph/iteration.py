"""What a loop of a graph iterates over: rows of a tensor, numbers of a range, arrays, and several of them side by side.

Each says how the loop counts (`start`, `more`, `next`) and which item belongs to a count. `zip`, `enumerate` and `map`
of tensors give such items, too. Other rooms add their kinds with `register`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.functions.autograph.lists import StagedList
from ebbflow.functions.autograph.values import is_staged
from ebbflow.functions.control_flow.cond import cond
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.graph.symbolic import SymbolicTensor
from ebbflow.ops.declare import raw
from ebbflow.ops.ragged.tensor import RaggedTensor

_kinds: list[tuple[type, Callable[[Any], Any]]] = []


def register(kind: type, items: Callable[[Any], Items | None]) -> None:
    """Have `for` over values of a class go over the `Items` that `items(value)` gives; None: Python's way."""
    _kinds.append((kind, items))


def items_of(value: Any) -> Items | None:
    """Return how a loop of the graph goes over a value; None where the loop is Python's."""
    if isinstance(value, Items):
        return value
    if not context.graph_scopes or context.executing_eagerly():
        return None
    for kind, make in _kinds:
        if isinstance(value, kind):
            return make(value)
    if isinstance(value, TensorArray):
        return Elements(value.size(), value.read)
    if isinstance(value, StagedList):
        return Elements(value.length(), value.__getitem__)
    if isinstance(value, RaggedTensor):
        return Elements(value.nrows(dtypes.int32), value.__getitem__)
    if hasattr(value, "element_spec") and hasattr(value, "reduce"):
        return Reduced(value)
    if getattr(type(value), "iterated_by_parts", False) or not is_staged(value):
        return None
    tensor = convert(value)
    return _range(tensor) or Rows(tensor)


def _range(tensor: Any) -> Items | None:
    """Return the numbers of `tf.range`, without making the tensor, where its step is a known integer."""
    if type(tensor) is not SymbolicTensor or tensor.op.type != "Range" or not tensor.dtype.is_integer:
        return None
    start, limit, step = tensor.op._inputs
    by = step.constant_value()
    return None if by is None or int(by) == 0 else Numbers(start, limit, step, tensor)


class Items:
    """Items that are counted from 0."""

    count: int | None = None  # how many there are, where that is known
    element_spec: Any = None  # the type of an item, where items cannot be asked for before the loop runs
    length: Any = None

    def start(self) -> Any:
        """Return the first count."""
        return convert(0, dtypes.int32)

    def more(self, counter: Any) -> Any:
        """Return whether there is an item for this count."""
        return counter < self.length

    def item(self, counter: Any) -> Any:
        """Return the item for a count."""
        raise NotImplementedError(f"{type(self).__name__} must define `item(counter)`")

    def next(self, counter: Any) -> Any:
        """Return the count after this one."""
        return counter + 1

    def __iter__(self) -> Iterator[Any]:
        if self.count is None:
            raise TypeError("items of a tensor whose length is not known can be iterated over by `for` statements only")
        return (self.item(convert(i)) for i in builtins.range(self.count))


class Rows(Items):
    """The rows of a tensor."""

    def __init__(self, tensor: Any):
        dims = tensor._dims
        if dims == ():
            raise ValueError(
                f"len requires a non-scalar tensor, got one of shape (): {tensor} cannot be iterated over; to repeat "
                "something that often, write `for i in tf.range(x)`"
            )
        self.tensor = tensor
        self.count = None if dims is None else dims[0]
        self.length = raw.Shape(tensor)[0] if self.count is None else self.count
        self._handle = None
        if tensor.dtype.is_floating or tensor.dtype.is_complex:  # a list of rows has a gradient that costs one row each
            rows = None if dims is None else dims[1:]
            self._shape = np.array(-1 if rows is None else [-1 if n is None else n for n in rows], np.int32)
            self._handle = raw.TensorListFromTensor(tensor, self._shape)

    def item(self, counter: Any) -> Any:
        if self._handle is None:
            return raw.GatherV2(self.tensor, counter, 0)
        return raw.TensorListGetItem(self._handle, counter, self._shape, element_dtype=self.tensor.dtype)


class Numbers(Items):
    """The numbers of a range: the count is the number itself."""

    def __init__(self, first: Any, limit: Any, step: Any, tensor: Any):
        self.first, self.limit, self.step = first, limit, step
        self.upwards = int(step.constant_value()) > 0
        self.count = None if tensor._dims is None else tensor._dims[0]
        self.tensor = tensor

    def start(self) -> Any:
        return self.first

    def more(self, counter: Any) -> Any:
        return counter < self.limit if self.upwards else counter > self.limit

    def item(self, counter: Any) -> Any:
        return counter

    def next(self, counter: Any) -> Any:
        return counter + self.step


class Elements(Items):
    """What a function gives for each count."""

    def __init__(self, length: Any, read: Callable[[Any], Any], count: int | None = None):
        self.length, self.item, self.count = length, read, count  # type: ignore[assignment,method-assign]


class Reduced(Items):
    """A dataset, which goes over its elements itself."""

    def __init__(self, dataset: Any):
        self.dataset = dataset
        self.element_spec = dataset.element_spec

    def reduce(self, state: tuple[Any, ...], step: Callable[..., Any], going_on: Callable[..., Any] | None) -> Any:
        """Return the state after `step(state, element)` for every element, for as long as `going_on(state)` holds."""
        if going_on is None:
            return self.dataset.reduce(state, lambda held, element: tuple(step(held, element)))

        def scan(held: Any, element: Any) -> Any:
            goes_on = going_on(held)
            after = cond(goes_on, lambda: tuple(step(held, element)), lambda: held)
            return after, (after, goes_on)

        steps = self.dataset.scan(state, scan).take_while(lambda after, goes_on: goes_on)
        return steps.reduce(state, lambda held, found: found[0])


class Drawn(Items):
    """What an iterator gives, taken when the body needs it: none is lost where the loop ends early.

    The count says whether the iterator has had an element so far.
    """

    def __init__(self, iterator: Any):
        self.iterator = iterator
        self.element_spec = iterator.element_spec

    def start(self) -> Any:
        return convert(True)

    def more(self, counter: Any) -> Any:
        return counter

    def step(self, held: Sequence[Any], body: Callable[[Any], Sequence[Any]]) -> list[Any]:
        """Return whether there was an element, and what `body` makes of it; where there was none, what was held."""
        drawn = self.iterator.get_next_as_optional()
        return list(
            cond(
                drawn.has_value(),
                lambda: [convert(True), *body(drawn.get_value())],
                lambda: [convert(False), *held],
            )
        )


# --- several at once --------------------------------------------------------------------------------------------------


def _as_items(value: Any) -> Items:
    """Return any iterable as items of the graph: what is Python's becomes a tensor."""
    found = items_of(value)
    if found is not None:
        return found
    return Rows(convert(value if isinstance(value, (Tensor, np.ndarray, list, tuple)) else list(value)))


def _indexed(items: Items) -> Items:
    """Return items that are counted from 0."""
    if isinstance(items, Numbers):
        return Rows(items.tensor)
    if isinstance(items, Reduced):
        raise TypeError("a dataset cannot be joined with tensors: use tf.data.Dataset.zip with from_tensor_slices")
    if isinstance(items, Drawn):
        raise TypeError("an iterator cannot be numbered or joined in a graph: do so with its dataset (`Dataset.zip`)")
    return items


def side_by_side(values: Sequence[Any]) -> Items:
    """Return tuples of the items of several iterables, as many as the shortest has."""
    parts = [_indexed(_as_items(value)) for value in values]
    counts = [part.count for part in parts]
    count = None if None in counts else builtins.min(counts)  # type: ignore[type-var]
    length: Any = count
    if count is None:
        length = convert(parts[0].length)
        for part in parts[1:]:
            length = raw.Minimum(length, convert(part.length))
    return Elements(length, lambda counter: tuple(part.item(counter) for part in parts), count)


def numbered(value: Any, start: Any) -> Items:
    """Return pairs of a number, counted from `start`, and an item."""
    part = _indexed(_as_items(value))
    return Elements(part.length, lambda counter: (counter + start, part.item(counter)), part.count)


def mapped(function: Callable[..., Any], values: Sequence[Any]) -> Items:
    """Return what a function gives for the items of iterables taken side by side."""
    parts = side_by_side(values)
    return Elements(parts.length, lambda counter: function(*parts.item(counter)), parts.count)
