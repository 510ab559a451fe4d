"""Lists of tensors whose elements are known while a flow is built: what is read from them is what was put there.

Where loops are unrolled, a list is pushed to and popped from in a straight line. `Lists` remembers for each list which
values it holds; a node that reads from one gets these, and nobody needs the list itself any more (`prune` drops it).
The nodes that make lists stay in the flow, for those who take the list as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.compiler.flow import Node, Value, constant, make
from ebbflow.core import dtypes
from ebbflow.core.dtypes import DType
from ebbflow.core.registry import registry
from ebbflow.core.shape import Dims, is_compatible, is_static

Put = Callable[[Node], Node]
"""Adds a node to the flow that is being built."""

LONGEST = 256
"""Longer lists are left alone."""


class Known(NamedTuple):
    """What is in a list (None: an element that was not set), and what may be."""

    elements: tuple[Value | None, ...]
    dims: Dims
    dtype: DType

    def of(self, elements: Sequence[Value | None]) -> Known | None:
        """Return a list like this with other elements; None where it is too long."""
        return self._replace(elements=tuple(elements)) if len(elements) <= LONGEST else None

    def takes(self, item: Value) -> bool:
        """Return whether a value may for sure be put into it."""
        if self.dims is None or item.dims is None:
            return self.dims is None and item.dtype is self.dtype
        alike = all(m in (None, n) for m, n in zip(self.dims, item.dims, strict=False))
        return alike and len(self.dims) == len(item.dims) and item.dtype is self.dtype


class Lists:
    """What is in the lists of a flow."""

    def __init__(self) -> None:
        self._known: dict[Value, Known] = {}

    def results(self, node: Node, put: Put) -> Sequence[Value] | None:
        """Return what a node gives, where that is known of the lists it takes; note what is in those it makes."""
        rule = _RULES.get(node.op.name)
        if rule is None:
            return None
        lists = [self._known.get(v) for v in node.inputs if v.dtype is dtypes.variant]
        if rule in _MAKERS:
            found = rule(node, put)
        elif not lists or lists[0] is None:  # none that is known; of two the second may be an element
            return None
        else:
            found = rule(node, lists[0], self, put)
        if isinstance(found, Known):
            self._known[node.outputs[0]] = found
            return None
        return found

    def of(self, value: Value) -> Known | None:
        """Return what is in a list."""
        return self._known.get(value)

    def note(self, value: Value, known: Known) -> None:
        """Say what is in a list."""
        self._known[value] = known


def _number(value: Value) -> int | None:
    return None if value.known is None or value.known.size != 1 else int(value.known.item())


def _new(node: Node, elements: Sequence[Value | None]) -> Known | None:
    """Return a list made anew, of elements of the shape that the node's `element_shape` says."""
    known = node.inputs[1 if node.op.name == "TensorListFromTensor" else 0].known
    if known is None:
        return None
    dims = None if known.ndim == 0 else tuple(None if n < 0 else int(n) for n in known)
    return Known(tuple(elements), dims, node.attrs["element_dtype"])


def _empty(node: Node, put: Put) -> Known | None:
    return _new(node, ()) if _number(node.inputs[1]) == -1 else None


def _reserved(node: Node, put: Put) -> Known | None:
    length = _number(node.inputs[1])
    return None if length is None or not 0 <= length <= LONGEST else _new(node, (None,) * length)


def _rows(node: Node, put: Put) -> Known | None:
    tensor, made = node.inputs[0], _new(node, ())
    if made is None or not tensor.is_static or not tensor.dims or not 0 < tensor.dims[0] <= LONGEST:  # type: ignore[operator]
        return None
    attrs = {"num": tensor.dims[0], "T": tensor.dtype, "axis": 0}
    rows = put(make(registry["Unpack"], [tensor], attrs, node.origin)).outputs
    return made.of(rows) if made.takes(rows[0]) else None


def _same(node: Node, held: Known, lists: Lists, put: Put) -> list[Value]:
    return node.inputs


def _pushed(node: Node, held: Known, lists: Lists, put: Put) -> Known | None:
    return held.of([*held.elements, node.inputs[1]]) if held.takes(node.inputs[1]) else None


def _popped(node: Node, held: Known, lists: Lists, put: Put) -> list[Value] | None:
    item = _element(node, held, len(held.elements) - 1, put)
    if item is None:
        return None
    lists.note(node.outputs[0], held._replace(elements=held.elements[:-1]))
    return [node.outputs[0], item]


def _element(node: Node, held: Known, index: int | None, put: Put) -> Value | None:
    """Return an element; zeros where it was not set."""
    if index is None or not 0 <= index < len(held.elements) or node.attrs["element_dtype"] is not held.dtype:
        return None
    item = held.elements[index]
    return _zeros(held, node, put) if item is None else item


def _zeros(held: Known, node: Node, put: Put) -> Value | None:
    if not is_static(held.dims) or held.dtype is dtypes.variant:
        return None
    dims = put(constant(np.array(held.dims, np.int32), dtypes.int32, node.origin)).outputs[0]
    zero = put(constant(np.zeros((), held.dtype.np), held.dtype, node.origin)).outputs[0]
    attrs = {"T": held.dtype, "index_type": dtypes.int32}
    return put(make(registry["Fill"], [dims, zero], attrs, node.origin)).outputs[0]


def _at(node: Node, held: Known, lists: Lists, put: Put) -> list[Value] | None:
    item = _element(node, held, _number(node.inputs[1]), put)
    return None if item is None else [item]


def _set(node: Node, held: Known, lists: Lists, put: Put) -> Known | None:
    index, item, elements = _number(node.inputs[1]), node.inputs[2], list(held.elements)
    if index is None or not 0 <= index < LONGEST or not held.takes(item):
        return None
    if index >= len(elements):
        if not node.attrs["resize_if_index_out_of_bounds"]:
            return None
        elements += [None] * (index + 1 - len(elements))
    elements[index] = item
    return held.of(elements)


def _resized(node: Node, held: Known, lists: Lists, put: Put) -> Known | None:
    length = _number(node.inputs[1])
    if length is None or not 0 <= length <= LONGEST:
        return None
    return held.of(held.elements[:length] + (None,) * (length - len(held.elements)))


def _length(node: Node, held: Known, lists: Lists, put: Put) -> list[Value]:
    return put(constant(np.array(len(held.elements), np.int32), dtypes.int32, node.origin)).outputs


def _all_set(node: Node, held: Known, put: Put) -> list[Value] | None:
    """Return all elements, where they are of one shape: zeros for those that were not set."""
    like = next((v for v in held.elements if v is not None), None)
    if like is None or held.dtype is dtypes.variant or node.attrs["element_dtype"] is not held.dtype:
        return None
    if not like.is_static or any(v is not None and v.dims != like.dims for v in held.elements):
        return None
    rest = _zeros(held._replace(dims=like.dims), node, put) if None in held.elements else like
    return None if rest is None else [rest if v is None else v for v in held.elements]


def _stacked(node: Node, held: Known, lists: Lists, put: Put) -> list[Value] | None:
    elements, wanted, shape = _all_set(node, held, put), node.attrs["num_elements"], node.inputs[1].known
    if elements is None or wanted not in (-1, len(elements)) or shape is None:
        return None
    if not is_compatible(elements[0].dims, None if shape.ndim == 0 else tuple(n if n >= 0 else None for n in shape)):
        return None
    attrs = {"N": len(elements), "T": held.dtype, "axis": 0}
    return put(make(registry["Pack"], elements, attrs, node.origin)).outputs


def _joined(node: Node, held: Known, lists: Lists, put: Put) -> list[Value] | None:
    elements = [v for v in held.elements if v is not None and v.is_static and v.dims]
    if len(elements) < max(2, len(held.elements)) or len({v.dims[1:] for v in elements}) > 1:  # type: ignore[index]
        return None
    axis = put(constant(np.array(0, np.int32), dtypes.int32, node.origin)).outputs[0]
    attrs = {"N": len(elements), "T": held.dtype, "Tidx": dtypes.int32}
    whole = put(make(registry["ConcatV2"], [*elements, axis], attrs, node.origin)).outputs[0]
    lengths = np.array([v.dims[0] for v in elements], np.int64)  # type: ignore[index]
    return [whole, put(constant(lengths, dtypes.int64, node.origin)).outputs[0]]


def _cleared(node: Node, held: Known, lists: Lists, put: Put) -> Known | None:
    """Return as many zeros; what is a list in a list stays as long."""
    return None if held.dtype is dtypes.variant else held.of((None,) * len(held.elements))


def _added(node: Node, held: Known, lists: Lists, put: Put) -> Known | None:
    sums = list(held.elements)
    for other in node.inputs[1:]:
        more = lists.of(other)
        if more is None or len(more.elements) != len(sums) or more.dtype is dtypes.variant:
            return None
        for i, value in enumerate(more.elements):
            mine = sums[i]
            if value is not None and mine is not None:
                attrs = {"N": 2, "T": held.dtype}
                sums[i] = put(make(registry["AddN"], [mine, value], attrs, node.origin)).outputs[0]
            elif value is not None:
                sums[i] = value
    return held.of(sums)


_RULES: dict[str, Callable[..., Any]] = {
    "EmptyTensorList": _empty,
    "TensorListReserve": _reserved,
    "TensorListFromTensor": _rows,
    "Identity": _same,
    "TensorListPushBack": _pushed,
    "TensorListPopBack": _popped,
    "TensorListGetItem": _at,
    "TensorListSetItem": _set,
    "TensorListResize": _resized,
    "TensorListLength": _length,
    "TensorListStack": _stacked,
    "TensorListConcatV2": _joined,
    "ZerosLike": _cleared,
    "AddN": _added,
}
_MAKERS = (_empty, _reserved, _rows)
