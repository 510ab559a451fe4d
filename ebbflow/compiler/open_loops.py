"""Loops whose lists are as long as they come, as machine code for any number of turns.

Sequences of another length in every batch, sentences that end when they end: the arrays of a turn have the same shapes
in every turn, only how many turns there are differs. The code is made once. A list comes in as the array of its
elements, and one that the loop adds to gets an array with room; where that was too little, the loop is run again with
more. What the code cannot do, a place in a list that is not there, it says, and nothing has happened.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ebbflow.compiler.flow import Flow, Node, Value
from ebbflow.compiler.growing_lists import may_grow
from ebbflow.compiler.loops import GROWS, LoopFlows
from ebbflow.compiler.native_region import as_whole
from ebbflow.compiler.open_rows import with_rows
from ebbflow.compiler.passes.native import fits_inside
from ebbflow.compiler.shapes_through import entering
from ebbflow.core import dtypes, stopping
from ebbflow.core.dtypes import DType
from ebbflow.core.op import op
from ebbflow.core.shape import is_static
from ebbflow.engines.native.alarms import FULL
from ebbflow.engines.native.kernel import Kernel
from ebbflow.engines.native.lowering import KINDS, Refused
from ebbflow.engines.native.values import OPEN
from ebbflow.ops.state.list_value import TensorList
from ebbflow.ops.state.storage import boxed

OPEN_LOOP = op(
    "_OpenLoop(inputs:Tin) -> (outputs:Tout) | Tin: list(type) >= 0; Tout: list(type) >= 0; loop: func; plan: func",
    internal=True,
)
"""A loop as its code knows it: see `engines.native.lowerings.open_loops`."""

ROOM = 32
"""Elements for which there is room at first, beyond those of the longest list that comes in."""

MOST_ROOM = 1 << 16
"""For so many at most: a loop that goes on behind that does so turn by turn."""


TOO_LONG = 8
"""Times the room that is wanted, from which on memory of an earlier run is given back."""


class Kept(NamedTuple):
    """What a list holds, and whether the loop changes that."""

    dims: tuple[int, ...]
    dtype: DType
    written: bool
    grows: bool


class Plan(NamedTuple):
    """Which variables of a loop its code takes, and where; which it gives, and where; what its lists hold."""

    taken: dict[int, int]
    given: dict[int, int]
    carried: list[int]
    lists: dict[int, Kept]
    axes: dict[int, int]  # of arrays that are lists inside: see `open_rows`


class OpenLoop:
    """A loop as a function of its variables that answers None where it cannot."""

    def __init__(self, node: Node, session: Any):
        flows = LoopFlows(node, {}, entering(node))
        flows.test, flows.body, axes = with_rows(flows.test, _asked_first(flows.body))
        _check(flows)
        self._plan = plan = _planned(flows, axes, [v.dtype for v in node.inputs])
        inputs = [_argument(flows.body.inputs[i], plan.lists.get(i)) for i in plan.taken]
        inputs.append(Value(None, 0, dtypes.int64, (2 * len(plan.lists),)))
        loop = Node(OPEN_LOOP, inputs, {"loop": flows, "plan": plan}, node.origin)
        given = [_argument(flows.body.inputs[i], plan.lists.get(i)) for i in plan.given]
        loop.outputs = [Value(loop, n, v.dtype, v.dims) for n, v in enumerate(given)]
        loop.outputs.append(Value(loop, len(given), dtypes.int64, (1 + len(plan.lists),)))
        self._shapes: list[tuple[Any, Any]] = [(v.dims, v.dtype.np) for v in given]
        self._kernel: Any = Kernel(Flow(inputs, [loop], loop.outputs))
        self._session = session if hasattr(session, "stop") else None
        self._room = ROOM
        self._spare: dict[int, np.ndarray] = {}

    def __call__(self, values: Sequence[Any]) -> list[Any] | None:
        """Return the variables after the last turn; None where the code refuses."""
        plan = self._plan
        rows: dict[int, np.ndarray] = {}
        for i, kept in plan.lists.items():
            found = _rows(values[i], kept) if i not in plan.axes else _along(values[i], plan.axes[i], kept)
            if found is None:
                return None
            rows[i] = found
        most = max([len(a) for a in rows.values()], default=0)
        while True:
            given = self._places(rows, most + self._room)
            sizes = [n for i, kept in plan.lists.items() for n in (len(rows[i]), len(given.get(i, rows[i])))]
            answer = np.empty(1 + len(plan.lists), np.int64)
            taken = [_present(rows[i]) if i in rows else as_whole(values[i]) for i in plan.taken]
            if not self._run(*taken, np.array(sizes, np.int64), *given.values(), answer):
                return None
            alarm, *counts = answer.tolist()
            if alarm != FULL:
                lengths = dict(zip(plan.lists, counts, strict=True))
                return None if alarm or _too_long(values, lengths) else self._results(values, given, rows, lengths)
            if self._room >= MOST_ROOM:
                return None
            self._room *= 2

    def _run(self, *arrays: np.ndarray) -> bool:
        if self._session is None:
            return self._kernel.call(*arrays)
        with stopping.heeding(stopping.current(self._session)):
            return self._kernel.call(*arrays)

    def _places(self, rows: dict[int, np.ndarray], room: int) -> dict[int, np.ndarray]:
        """Return arrays for what the loop gives; lists that it adds to begin with what is in them."""
        found: dict[int, np.ndarray] = {}
        for (i, _), (dims, dtype) in zip(self._plan.given.items(), self._shapes, strict=True):
            if i not in rows:
                found[i] = np.empty(dims, dtype)
                continue
            before = rows[i]
            length = max(len(before) + (room if self._plan.lists[i].grows else 0), 1)
            found[i] = self._array(i, length, before)
            found[i][: len(before)] = before
        return found

    def _array(self, i: int, length: int, like: np.ndarray) -> np.ndarray:
        """Return an array for a list: the last one, if nobody has it any more, and it is not far too long."""
        spare = self._spare.get(i)
        if spare is None or not length <= len(spare) <= TOO_LONG * length or sys.getrefcount(spare) > 3:
            spare = self._spare[i] = np.empty((length, *like.shape[1:]), like.dtype)
        return spare

    def _results(
        self, values: Sequence[Any], given: dict[int, np.ndarray], rows: dict[int, np.ndarray], counts: dict[int, int]
    ) -> list[Any]:
        found = list(values)
        for i in self._plan.carried:
            if i not in counts:
                found[i] = given[i]
                continue
            whole = given.get(i, rows[i])[: counts[i]]
            if i in self._plan.axes:
                found[i] = np.moveaxis(whole, 0, self._plan.axes[i])
            else:
                before = values[i].item()
                found[i] = boxed(TensorList.of_rows(before.dtype, before.element_dims, whole, before.limit))
        return found


def _asked_first(body: Flow) -> Flow:
    """Return a loop's body that asks how long its lists are before it changes them."""
    given = set(body.inputs)
    asks = [n for n in body.nodes if n.op.name == "TensorListLength" and n.inputs[0] in given]
    rest = [n for n in body.nodes if n not in asks]
    return Flow(body.inputs, [*asks, *rest], body.outputs, body.roots) if asks else body


def _check(loop: LoopFlows) -> None:
    """Raise where a loop is not for machine code."""
    for node in (*loop.test.nodes, *loop.body.nodes):
        if not fits_inside(node):
            raise Refused(f"{node.op.name} has no native form, or one that is slower")
    for before, after in zip(loop.body.inputs, loop.body.outputs, strict=True):
        if before.dtype is not after.dtype or before.dims != after.dims:
            raise Refused("a variable changes its shape")


def _planned(loop: LoopFlows, axes: dict[int, int], kinds: Sequence[DType]) -> Plan:
    body = loop.body
    used = {v for flow in (loop.test, body) for n in flow.nodes for v in n.inputs}
    used |= {loop.test.outputs[0]}
    carried = [i for i, v in enumerate(body.outputs) if v is not body.inputs[i]]
    lists: dict[int, Kept] = {}
    taken: list[int] = []
    given: list[int] = []
    for i, value in enumerate(body.inputs):
        if i not in carried and value not in used and loop.test.inputs[i] not in used:
            continue
        if value.dtype is not dtypes.variant:
            if not value.is_static or value.dtype.name not in KINDS:
                raise Refused(f"{value!r} is not for machine code")
            taken.append(i)
            given += [i] if i in carried else []
            continue
        if i not in carried and not any(n.op.facts.lists for n in _users(body, value)[0]):
            continue  # handed to a choice that does nothing with it
        kept = lists[i] = _kept(body, i, kinds[i] if i in axes else None)
        (given if kept.written else taken).append(i)
    axes = {i: axis for i, axis in axes.items() if i in lists}
    return Plan({i: n for n, i in enumerate(taken)}, {i: n for n, i in enumerate(given)}, carried, lists, axes)


def _kept(body: Flow, i: int, kind: DType | None) -> Kept:
    """Return what is known of a list that goes through a loop, of elements of a kind if that is known."""
    dims: Any = body.inputs[i].held.dims
    users, versions = _users(body, body.inputs[i])
    kinds = {n.attrs["element_dtype"] for n in users if "element_dtype" in n.attrs} | ({kind} if kind else set())
    if body.outputs[i] not in versions or len(kinds) != 1 or not is_static(dims) or -1 in dims:
        raise Refused("lists are for machine code where their elements are of one shape, which is known")
    kind = kinds.pop()
    if kind.name not in KINDS:
        raise Refused(f"{kind.name} has no native form")
    grows = any(GROWS.get(n.op.name, 0) > 0 or may_grow(n) for n in users)
    return Kept(dims, kind, any(GROWS.get(n.op.name, -1) >= 0 for n in users), grows)


def _users(flow: Flow, value: Value) -> tuple[list[Node], set[Value]]:
    """Return all that takes a list, also inside of choices, and what the list becomes."""
    users: list[Node] = []
    versions = {value}
    for node in flow.nodes:
        if not versions.intersection(node.inputs):
            continue
        users.append(node)
        versions |= {v for v in node.outputs[:1] if v.dtype is dtypes.variant and "_choice" not in node.attrs}
        for branch in node.attrs["_choice"].flows if "_choice" in node.attrs else ():
            for given, inside in zip(node.inputs[1:], branch.inputs, strict=True):
                if given in versions:
                    more, after = _users(branch, inside)
                    users += more
                    versions |= {v for v, result in zip(node.outputs, branch.outputs, strict=False) if result in after}
    return users, versions


def _argument(value: Value, kept: Kept | None) -> Value:
    if kept is None:
        return Value(None, 0, value.dtype, value.dims)
    return Value(None, 0, kept.dtype, (OPEN, *kept.dims))


def _rows(value: Any, kept: Kept) -> np.ndarray | None:
    """Return the elements of a list; None where they are not what the code was made for."""
    found = value.item()
    if not isinstance(found, TensorList) or found.dtype is not kept.dtype:
        return None
    rows = found.rows(kept.dims)
    return None if rows is None else as_whole(rows)


def _too_long(values: Sequence[Any], lengths: dict[int, int]) -> bool:
    """Return whether a list has become longer than it may."""
    lists = [(values[i].item(), n) for i, n in lengths.items() if values[i].dtype.hasobject]
    return any(0 <= found.limit < n for found, n in lists)


def _along(value: np.ndarray, axis: int, kept: Kept) -> np.ndarray | None:
    """Return the rows of an array along an axis; None where they are not what the code was made for."""
    rows = np.moveaxis(value, axis, 0) if value.ndim == len(kept.dims) + 1 else None
    return None if rows is None or rows.shape[1:] != kept.dims else as_whole(rows)


def _present(rows: np.ndarray) -> np.ndarray:
    """Return rows of which there is one, at least: the code looks at one even if it is not there."""
    return rows if len(rows) else np.zeros((1, *rows.shape[1:]), rows.dtype)
