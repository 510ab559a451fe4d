"""Arrays of which a loop takes one row a turn, as lists of their rows.

    x[:, t]                                       =>     TensorListGetItem(rows of x, t)
    dx + StridedSliceGrad(shape of x, t, g)       =>     _TensorListAddItem(rows of dx, t, g)

A loop over sequences of any length knows all sizes of its arrays but one, and along that axis it takes a row at a time:
then code that is made for lists as long as they come serves it, too. The rows lie along the axis of unknown length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.compiler.flow import Flow, Held, Node, Rewrite, Value, make
from ebbflow.compiler.loops import ADD_ITEM
from ebbflow.compiler.passes.prune import prune
from ebbflow.core import dtypes
from ebbflow.core.shape import Dims, is_static
from ebbflow.engines.native.lowering import Refused
from ebbflow.ops.arrays.slicing import MASK_NAMES, entries


class Rows(NamedTuple):
    """An array as the list of its rows along an axis, of that many elements each."""

    list: Value
    axis: int
    dims: tuple[int, ...]


def open_axis(dims: Dims) -> int | None:
    """Return the one axis whose length is not known."""
    places = [i for i, n in enumerate(dims) if n is None] if dims is not None else []
    return places[0] if len(places) == 1 else None


def with_rows(test: Flow, body: Flow) -> tuple[Flow, Flow, dict[int, int]]:
    """Return a loop's functions, which take lists of rows for arrays of open length; and the rows' axes by number."""
    axes: dict[int, int] = {}
    for i, value in enumerate(body.inputs):
        axis = open_axis(value.dims)
        if axis is not None and value.dtype is not dtypes.variant:
            axes[i] = axis
    return _rewritten(test, axes), _rewritten(body, axes), axes


def _rewritten(flow: Flow, axes: dict[int, int]) -> Flow:
    if not axes and not any("_choice" in node.attrs for node in flow.nodes):
        return flow
    rows: dict[Value, Rows] = {}
    for i, axis in axes.items():
        rows[flow.inputs[i]] = _as_rows(flow.inputs[i], i, axis)
    walk = _Walk(flow, rows)
    return walk.done(Rewrite(flow).run(walk.visit))


def _as_rows(value: Value, number: int, axis: int) -> Rows:
    dims = tuple(n for n in value.dims if n is not None)  # type: ignore[union-attr]
    list = Value(None, number, dtypes.variant, ())
    list.held = Held(dims)
    return Rows(list, axis, dims)


class _Walk:
    """One walk over a body; `rows` are the arrays, as they come in and as turns change them."""

    def __init__(self, flow: Flow, rows: dict[Value, Rows]):
        self._uses = flow.uses()
        self._rows = rows
        self._lists = {r.list: r for r in rows.values()}
        self._sums: dict[Value, Value] = {}  # lists to which a choice has added, by what they are then

    def visit(self, node: Node, rewrite: Rewrite) -> Sequence[Value] | None:
        if "_choice" in node.attrs:
            return self.chosen(node, rewrite)
        rule = _RULES.get(node.op.name)
        return None if rule is None else rule(self, node, rewrite)

    def done(self, flow: Flow) -> Flow:
        """Return what was made, if nothing in it takes an array as a whole."""
        rows = self._rows
        inputs, outputs = ([rows[v].list if v in rows else v for v in values] for values in (flow.inputs, flow.outputs))
        now = prune(Flow(inputs, flow.nodes, outputs, flow.roots))
        for node in now.nodes:
            takes_lists = node.op.facts.lists or "_choice" in node.attrs
            if any(v in rows or (self.of(v) and not takes_lists) for v in node.inputs):
                raise Refused(f"{node.op.name} takes an array whose size is not known")
        return now

    def of(self, value: Value) -> Rows | None:
        return self._rows.get(value) or self._lists.get(value)

    def taken(self, node: Node, rewrite: Rewrite) -> Sequence[Value] | None:
        """A slice takes a row, or part of one."""
        rows = self.of(node.inputs[0])
        part = None if rows is None else _part(node, rows.axis, len(rows.dims) + 1)
        if rows is None or part is None:
            return None
        item = _item(rows, part.row, node, rewrite)
        if part.whole:
            return [item]
        bounds = [_numbers_of(b, node, rewrite) for b in part.bounds]
        attrs = {**node.attrs, **part.masks, "Index": dtypes.int32}
        return rewrite.add(make(node.op, [item, *bounds], attrs, node.origin)).outputs

    def shape(self, node: Node, rewrite: Rewrite) -> Sequence[Value] | None:
        """The one size that is not known is the length of the list."""
        rows, kind = self.of(node.inputs[0]), node.attrs["out_type"]
        if rows is None:
            return None
        length = rewrite.call("TensorListLength", [rows.list], {}, node.origin)
        if kind is not dtypes.int32:
            length = rewrite.call(
                "Cast", [length], {"SrcT": dtypes.int32, "DstT": kind, "Truncate": False}, node.origin
            )
        like = Value(None, 0, kind, ())
        sizes = [rewrite.constant(np.array(n, kind.np), like, node.origin) for n in rows.dims]
        sizes.insert(rows.axis, length)
        return [rewrite.call("Pack", sizes, {"N": len(sizes), "T": kind, "axis": 0}, node.origin)]

    def gathered(self, node: Node, rewrite: Rewrite) -> Sequence[Value] | None:
        rows, (_, index, axis) = self.of(node.inputs[0]), node.inputs
        if (
            rows is None
            or axis.known is None
            or index.dims != ()
            or node.attrs.get("batch_dims")
            or _is_negative(index)
        ):
            return None
        return [_item(rows, index, node, rewrite)] if int(axis.known) % (len(rows.dims) + 1) == rows.axis else None

    def added(self, node: Node, rewrite: Rewrite) -> Sequence[Value] | None:
        """Gradients of slices are added to one row each."""
        found = [(i, rows) for i, v in enumerate(node.inputs) if (rows := self.of(v)) is not None]
        if len(found) == 2 and len(node.inputs) == 2:
            return self._sum_of(*[rows.list for _, rows in found])
        if len(found) != 1:
            return None
        at, rows = found[0]
        others = [leaf for i, v in enumerate(node.inputs) if i != at for leaf in _terms(v)]
        parts = [part for v in others if (part := self._gradient(v, rows)) is not None]
        if len(parts) < len(others):
            return None
        for part, one in zip(parts, others, strict=True):
            rows = self._plus(rows, part, one.node, rewrite)  # type: ignore[arg-type]
        return [rows.list]

    def _plus(self, rows: Rows, part: _Part, node: Node, rewrite: Rewrite) -> Rows:
        """Return the list with a slice's gradient added to its row."""
        row = _row_gradient(node, part, rows, rewrite)
        given = [rows.list, _added(part.row, node, rewrite), row]
        list = rewrite.add(make(ADD_ITEM, given, {"element_dtype": row.dtype}, node.origin)).outputs[0]
        self._lists[list] = rows._replace(list=list)
        return self._lists[list]

    def sum_with(self, rows: Rows, value: Value, rewrite: Rewrite) -> Value:
        """Return the list with the sum of slices' gradients added to it, or of nothing but zeros."""
        self._lists[rows.list] = rows
        for term in _terms(value):
            part, node = self._gradient(term, rows), term.node
            if part is not None and node is not None:
                rows = self._plus(rows, part, node, rewrite)
            elif not _is_zero(term):
                raise Refused("a choice gives an array or a list whose size is not known")
        return rows.list

    def _sum_of(self, one: Value, other: Value) -> Sequence[Value] | None:
        """A choice has added to a list already what it gives."""
        for before, after in ((one, other), (other, one)):
            if self._sums.get(after) is before:
                return [after]
        return None

    def chosen(self, node: Node, rewrite: Rewrite) -> Sequence[Value] | None:
        """A choice takes lists of rows, and adds gradients of slices to such a list itself."""
        taken = {i: rows for i, v in enumerate(node.inputs) if (rows := self.of(v)) is not None}
        sums = {k: self._target(v) for k, v in enumerate(rewrite.original.outputs) if _is_open(v)}
        if not taken and not sums:
            return None
        inputs = [taken[i].list if i in taken else v for i, v in enumerate(node.inputs)]
        inputs += [rows.list for rows in sums.values()]
        flows = [
            _branch(flow, {i - 1: rows for i, rows in taken.items()}, sums) for flow in node.attrs["_choice"].flows
        ]
        now = node.taking(inputs, {**node.attrs, "_choice": node.attrs["_choice"].adding(flows)})
        for k, rows in sums.items():
            list = now.outputs[k]
            list.dtype, list.dims, list.held = dtypes.variant, (), Held(rows.dims)
            self._lists[list] = rows._replace(list=list)
            self._sums[list] = rows.list
        return rewrite.add(now).outputs

    def _target(self, value: Value) -> Rows:
        """Return the list that a choice's result is only added to."""
        users = self._uses.get(value, [])
        if len(users) == 1 and _RULES.get(users[0].op.name) is _Walk.added and len(users[0].inputs) == 2:
            (other,) = [v for v in users[0].inputs if v is not value] or [value]
            if len(self._uses[other]) == 1:
                rows = self._rows.get(other) or _of_list(other)
                if rows is not None:
                    return self._lists.setdefault(rows.list, rows)
        raise Refused("a choice gives an array whose size is not known")

    def _gradient(self, value: Value, rows: Rows) -> _Part | None:
        """Return which row a value is the gradient of, all others being zero."""
        maker = value.node
        if maker is not None and maker.op.name == "TensorListSetItem" and _is_zero(maker.inputs[0]):
            return _Part(maker.inputs[1], True, [], {}, maker.inputs[2])
        if maker is None or maker.op.name != "StridedSliceGrad" or open_axis(value.dims) != rows.axis:
            return None
        return _part(maker, rows.axis, len(rows.dims) + 1)


def _branch(flow: Flow, taken: dict[int, Rows], sums: dict[int, Rows]) -> Flow:
    """Return what is chosen, with lists of rows: `taken` are those by input, `sums` those that results are added to."""
    rows = {flow.inputs[i]: _as_rows(flow.inputs[i], i, r.axis) for i, r in taken.items()}
    walk = _Walk(flow, rows)
    rewrite = Rewrite(flow)
    now = rewrite.run(walk.visit)
    inputs, outputs = list(now.inputs), list(now.outputs)
    for k, target in sums.items():
        given = Value(None, len(inputs), dtypes.variant, ())
        given.held = Held(target.dims)
        inputs.append(given)
        outputs[k] = walk.sum_with(target._replace(list=given), outputs[k], rewrite)
    return walk.done(Flow(inputs, now.nodes, outputs, now.roots))


_RULES = {
    "StridedSlice": _Walk.taken,
    "GatherV2": _Walk.gathered,
    "Shape": _Walk.shape,
    "AddN": _Walk.added,
    "AddV2": _Walk.added,
}


def _row_gradient(node: Node, part: _Part, rows: Rows, rewrite: Rewrite) -> Value:
    """Return what a slice's gradient is in the row that the slice is of."""
    grad = node.inputs[4] if part.item is None else part.item
    if part.whole and grad.dims == rows.dims:
        return grad
    bounds = [_numbers_of(b, node, rewrite) for b in (rows.dims, *part.bounds)]
    attrs = {**node.attrs, **part.masks, "Index": dtypes.int32}
    return rewrite.add(make(node.op, [*bounds, grad], attrs, node.origin)).outputs[0]


def _numbers_of(numbers: Sequence[int], node: Node, rewrite: Rewrite) -> Value:
    return rewrite.constant(np.array(numbers, np.int32), Value(None, 0, dtypes.int32, ()), node.origin)


def _is_open(value: Value) -> bool:
    return value.dtype is dtypes.variant or open_axis(value.dims) is not None


def _of_list(value: Value) -> Rows | None:
    """Return a list as what it holds."""
    dims = value.held.dims
    if value.dtype is not dtypes.variant or not is_static(dims) or -1 in dims:  # type: ignore[operator]
        return None
    return Rows(value, 0, dims)  # type: ignore[arg-type]


def _is_zero(value: Value) -> bool:
    node = value.node
    if node is None or node.op.name == "ZerosLike":
        return node is not None
    zero = node.inputs[-1].known if node.op.name == "Fill" else None
    return zero is not None and not zero.any()


def _terms(value: Value) -> list[Value]:
    """Return what a value is the sum of."""
    node = value.node
    if node is None or _RULES.get(node.op.name) is not _Walk.added or any(v.dims != value.dims for v in node.inputs):
        return [value]
    return [term for v in node.inputs for term in _terms(v)]


class _Part(NamedTuple):
    """Which row a slice takes, and what of it: all, or what these bounds and masks say."""

    row: Value
    whole: bool
    bounds: list[list[int]]
    masks: dict[str, int]
    item: Value | None = None  # what is set there, of a list


def _part(node: Node, axis: int, rank: int) -> _Part | None:
    """Return what a slice takes of an array, if that is of one row along the axis."""
    masks = [node.attrs[name] for name in MASK_NAMES]
    begin, end, strides = (_numbers(node.inputs[i]) for i in (1, 2, 3))
    if begin is None or end is None or strides is None:
        return None
    place = next((i for a, i in entries(rank, len(begin), masks[2], masks[3]) if a == axis), None)
    if place is None or not masks[4] >> place & 1 or _is_negative(begin[place]):
        return None
    index = begin[place]
    rest = [numbers[:place] + numbers[place + 1 :] for numbers in (begin, end, strides)]
    if not all(v.known is not None for numbers in rest for v in numbers):
        return None
    bounds = [[int(v.known) for v in numbers] for numbers in rest]  # type: ignore[arg-type]
    left = [mask & ((1 << place) - 1) | mask >> place + 1 << place for mask in masks]
    plain = all(left[0] >> i & left[1] >> i & 1 or left[2] >> i & 1 for i in range(len(bounds[0])))
    whole = plain and not left[3] and not left[4] and all(n == 1 for n in bounds[2])
    return _Part(index, whole, bounds, dict(zip(MASK_NAMES, left, strict=True)))


def _numbers(value: Value) -> list[Value] | None:
    """Return the numbers of a vector, each as a value."""
    if value.known is not None:
        return [_known(n) for n in np.asarray(value.known)]
    if value.node is None or value.node.op.name != "Pack":
        return None
    return value.node.inputs


def _known(number: Any) -> Value:
    value = Value(None, 0, dtypes.as_dtype(number.dtype), ())
    value.known = np.asarray(number)
    return value


def _is_negative(index: Value) -> bool:
    return index.known is not None and int(index.known) < 0


def _added(index: Value, node: Node, rewrite: Rewrite) -> Value:
    """Return an index that is a node's, also where it is only known."""
    return rewrite.constant(index.known, index, node.origin) if index.known is not None else index


def _item(rows: Rows, index: Value, node: Node, rewrite: Rewrite) -> Value:
    """Return a row."""
    shape = _numbers_of(rows.dims, node, rewrite)
    attrs = {"element_dtype": node.outputs[0].dtype}
    given = [rows.list, _added(index, node, rewrite), shape]
    item = rewrite.call("TensorListGetItem", given, attrs, node.origin)
    item.dims = rows.dims
    return item
