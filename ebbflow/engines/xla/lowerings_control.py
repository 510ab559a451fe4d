"""Branches, loops and calls of functions: `lax.cond`, `lax.switch`, `lax.while_loop`, and tracing right through.

What is not carried (invariants of a loop, inputs of a branch) is simply used inside: jax finds it. Variables that a
body may write to are carried along. A loop whose counters start from known numbers is counted beforehand: then the
values they end with are known, and lists that grow in the loop know how much room they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ebbflow.engines.xla import library
from ebbflow.engines.xla.library import lax
from ebbflow.engines.xla.lower import Trace, is_known
from ebbflow.engines.xla.lowerings_lists import Items
from ebbflow.engines.xla.refusal import Refusal, needed
from ebbflow.engines.xla.rules import lowering

MOST_TURNS = 10_000
"""Loops are counted beforehand up to this many iterations."""


# --- values as jax carries them ---------------------------------------------------------------------------------------


def pack(values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the arrays that values are made of, and the values with None where an array was."""
    asarray = library.numpy().asarray
    leaves: list[Any] = []
    forms: list[Any] = []
    for value in values:
        if isinstance(value, Items):
            leaves.append(asarray(value.length))
            if value.room is not None:
                leaves.append(value.room)
            forms.append(replace(value, length=None, room=None if value.room is None else value.room.shape))
        elif is_handle(value):
            forms.append(value)
        else:
            leaves.append(asarray(value))
            forms.append(None)
    return leaves, forms


def unpack(leaves: Sequence[Any], forms: Sequence[Any]) -> list[Any]:
    """Return the values that arrays make up."""
    rest = iter(leaves)
    values: list[Any] = []
    for form in forms:
        if isinstance(form, Items):
            length = next(rest)
            values.append(replace(form, length=length, room=None if form.room is None else next(rest)))
        else:
            values.append(next(rest) if form is None else form)
    return values


def is_handle(value: Any) -> bool:
    """Return whether a value is a handle on a variable."""
    return value.__class__ is np.ndarray and value.dtype.hasobject


class _State:
    """The variables that a body may write to, set aside while it is traced."""

    def __init__(self, trace: Trace):
        self.storages = list(trace.storages)
        self.before = [(s.value, s.changed) for s in self.storages]

    def values(self) -> list[Any]:
        return [s.value for s in self.storages]

    def put(self, values: Sequence[Any]) -> None:
        for storage, value in zip(self.storages, values, strict=True):
            storage.value = value

    def restore(self) -> list[bool]:
        """Set everything back to before the body; return which variables it wrote to."""
        written = []
        for storage, (value, changed) in zip(self.storages, self.before, strict=True):
            written.append(storage.changed and storage.value is not value)
            storage.value, storage.changed = value, changed
        return written

    def finish(self, values: Sequence[Any], written: Sequence[bool]) -> None:
        for storage, value, new in zip(self.storages, values, written, strict=True):
            if new:
                storage.set(value)


# --- calls ------------------------------------------------------------------------------------------------------------


@lowering("PartitionedCall", "StatefulPartitionedCall", keeps="args", variants=True)
def _(jnp: Any, args: Any, *, f: Any, trace: Trace) -> Any:
    return trace.body(f, args)


# --- branches ---------------------------------------------------------------------------------------------------------


@lowering("If", "StatelessIf", keeps="cond input", variants=True)
def _(jnp: Any, cond: Any, input: Any, *, then_branch: Any, else_branch: Any, trace: Trace) -> Any:
    if cond.ndim:
        return trace.body(then_branch if cond.size else else_branch, input)
    if is_known(cond):
        return trace.body(then_branch if cond.item() else else_branch, input)
    return _choose(cond != 0, [else_branch, then_branch], input, trace)


@lowering("Case", "StatelessCase", keeps="branch_index input", variants=True)
def _(jnp: Any, branch_index: Any, input: Any, *, branches: Any, trace: Trace) -> Any:
    last = len(branches) - 1
    if is_known(branch_index):
        at = int(branch_index)
        return trace.body(branches[at if 0 <= at <= last else last], input)
    inside = (branch_index >= 0) & (branch_index <= last)  # anything else is the last branch
    return _choose(jnp.where(inside, branch_index, last), branches, input, trace)


def _choose(which: Any, graphs: Sequence[Any], inputs: Any, trace: Trace) -> list[Any]:
    forms: list[Any] = []
    written: list[list[bool]] = []

    def branch(graph: Any) -> Any:
        def run() -> list[Any]:
            state = _State(trace)
            try:
                leaves, form = pack(trace.body(graph, inputs))
                kept, _ = pack(state.values())
            finally:
                written.append(state.restore())
            forms.append(form)
            return [*leaves, *kept]

        return run

    state = _State(trace)
    try:
        results = lax.switch(which.astype(np.int32), [branch(graph) for graph in graphs])
    except TypeError as error:
        if library.is_narrowed(error):
            raise
        raise Refusal(f"the branches give values of different shapes ({str(error).splitlines()[0]})") from error
    if any(not _alike(form, forms[0]) for form in forms[1:]):
        raise Refusal("the branches give different variables or lists")
    count = len(results) - len(state.storages)
    state.finish(results[count:], [any(each) for each in zip(*written, strict=True)])
    return unpack(results[:count], forms[0])


def _alike(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return all(x is y or (isinstance(x, Items) and x == y) for x, y in zip(a, b, strict=True))


# --- loops ------------------------------------------------------------------------------------------------------------


@lowering("While", "StatelessWhile", keeps="input", variants=True)
def _(jnp: Any, input: Any, *, cond: Any, body: Any, trace: Trace) -> Any:
    return _LoweredLoop(cond, body, list(input), trace).run(jnp)


class _LoweredLoop:
    """One loop being lowered."""

    def __init__(self, cond: Any, body: Any, values: list[Any], trace: Trace):
        self.cond, self.body, self.values, self.trace = cond, body, values, trace
        self.varying = [i for i in range(len(values)) if not _handed_on(body, i)]
        self.turns, self.ends = _counted(cond, body, values, self.varying)

    def run(self, jnp: Any) -> list[Any]:
        if self.turns == 0:
            return self.values
        after = self._after_one(jnp)
        for i, value in after.items():
            if isinstance(value, Items):
                self.values[i] = self._roomy(jnp, self.values[i], value)
        results = self._loop(jnp)
        for i, value in enumerate(results):
            if i in self.ends:
                results[i] = self.ends[i]
            elif isinstance(value, Items) and i in after and is_known(after[i].length) and self.turns is not None:
                length = int(self.values[i].length)
                length += (int(after[i].length) - length) * self.turns
                results[i] = replace(value, length=np.array(length, np.int32))
        return results

    def _after_one(self, jnp: Any) -> dict[int, Any]:
        """Return what one iteration makes of the lists, which are traced with the lengths they have now."""
        lists = [i for i in self.varying if isinstance(self.values[i], Items)]
        if not lists:
            return {}
        found: dict[int, Any] = {}

        def once() -> list[Any]:
            state = _State(self.trace)
            try:
                results = self.trace.body(self.body, self.values)
            finally:
                state.restore()
            for i in lists:
                room = results[i].room
                found[i] = replace(results[i], room=None if room is None else room.shape)
            return []

        library.jax().eval_shape(once)
        return found

    def _roomy(self, jnp: Any, before: Items, after: Items) -> Items:
        """Return a list with the room that it needs while the loop runs."""
        if not is_known(before.length) or not is_known(after.length):
            return before
        grown = int(after.length) - int(before.length)
        count = int(before.length)
        if grown > 0:
            if self.turns is not None:
                count += grown * self.turns
            elif before.limit >= 0:
                count = before.limit
            else:
                raise Refusal("a list grows in a loop without a bound: set maximum_iterations")
        if after.room is None and before.room is None:
            return before
        return before.with_room(jnp, count, after.dims)

    def _loop(self, jnp: Any) -> list[Any]:
        carried = _Carried(self)
        try:
            _, results = lax.while_loop(
                partial(self._test, jnp, carried), partial(self._step, carried), (jnp.int32(0), carried.first)
            )
        except TypeError as error:
            if library.is_narrowed(error):
                raise
            raise Refusal("an iteration changes the shape of a loop variable") from error
        return carried.finish(results)

    def _test(self, jnp: Any, carried: _Carried, carry: Any) -> Any:
        turn, leaves = carry
        if self.turns is not None:
            return turn < self.turns
        try:
            (answer,) = self.trace.body(self.cond, carried.inside(leaves))[:1]
        finally:
            carried.state.restore()
        return jnp.asarray(answer).size > 0 if answer.ndim else jnp.asarray(answer) != 0

    def _step(self, carried: _Carried, carry: Any) -> Any:
        turn, leaves = carry
        try:
            results = self.trace.body(self.body, carried.inside(leaves))
            after = carried.leaves(results)
        finally:
            carried.note_written()
        return turn + 1, after


class _Carried:
    """What XLA's loop carries from turn to turn: the leaves of the variables that vary, and of the state."""

    def __init__(self, loop: Any):
        self.state = _State(loop.trace)
        self._values, self._varying = loop.values, loop.varying
        packed, self._forms = pack([loop.values[i] for i in loop.varying])
        kept, _ = pack(self.state.values())
        self._count = len(packed)
        self._written: list[bool] = [False] * len(kept)
        self.first = [*packed, *kept]

    def inside(self, leaves: Any) -> list[Any]:
        """Return the loop variables in a turn, and have the state as it is then."""
        self.state.put(leaves[self._count :])
        return self._with(leaves)

    def _with(self, leaves: Any) -> list[Any]:
        found = list(self._values)
        for i, value in zip(self._varying, unpack(leaves[: self._count], self._forms), strict=True):
            found[i] = value
        return found

    def leaves(self, results: Any) -> list[Any]:
        """Return what is carried after a turn that gave these results."""
        new, _ = pack([results[i] for i in self._varying])
        after, _ = pack(self.state.values())
        return [*new, *after]

    def note_written(self) -> None:
        """Note what of the state a turn has written, and have it as it was."""
        self._written = [a or b for a, b in zip(self._written, self.state.restore(), strict=True)]

    def finish(self, results: Any) -> list[Any]:
        """Return the loop variables behind the loop, and keep the state it leaves."""
        self.state.finish(results[self._count :], self._written)
        return self._with(results)


def _handed_on(body: Any, i: int) -> bool:
    """Return whether an iteration leaves a loop variable as it is."""
    tensor = body.outputs[i]
    while tensor.op._op.name == "Identity" and tensor is not body.inputs[i]:
        tensor = tensor.op._inputs[0]
    return tensor is body.inputs[i]


# --- counting beforehand ----------------------------------------------------------------------------------------------


def _counted(cond: Any, body: Any, values: Sequence[Any], varying: Sequence[int]) -> tuple[int | None, dict[int, Any]]:
    """Return how many iterations there will be, and what the counters end with; None where that is not known."""
    counters = _counters(cond, body, values, set(varying))
    if counters is None:
        return None, {}
    try:
        test = _HostBody(cond, [cond.outputs[0]])
        step = _HostBody(body, [body.outputs[i] for i in counters])
        now = [value if is_known(value) else None for value in values]
        for turns in range(MOST_TURNS):
            (answer,) = test.run(now)
            if not (answer.size > 0 if answer.ndim else answer.item()):
                return turns, {i: now[i] for i in counters}
            for i, value in zip(counters, step.run(now), strict=True):
                now[i] = value
    except Exception:  # whatever goes wrong here goes wrong again where it can be explained
        return None, {}
    return None, {}


def _counters(cond: Any, body: Any, values: Sequence[Any], varying: set[int]) -> list[int] | None:
    """Return the loop variables that can be followed beforehand: known single numbers that depend on nothing but each
    other and known values; None where the condition depends on others too.
    """
    felt = {i: _felt(body, body.outputs[i]) for i in varying if is_known(values[i]) and values[i].size == 1}
    fixed = {i for i, value in enumerate(values) if i not in varying and is_known(value)}
    found = set(felt)
    while lost := {i for i in found if not felt[i] <= found | fixed}:
        found -= lost
    return sorted(found) if _felt(cond, cond.outputs[0]) <= found | fixed else None


def _felt(graph: Any, output: Any) -> set[int]:
    """Return which arguments of a function's graph a result depends on."""
    places = {id(t): i for i, t in enumerate(graph.inputs)}
    felt = {places[id(output)]} if id(output) in places else set()
    for node in needed([output], graph.inputs):
        if node._op.stateful and node._op.name != "Placeholder":
            return set(range(len(graph.inputs))) | {-1} if graph.inputs else set()
        felt |= {places[id(t)] for t in node._inputs if id(t) in places}
    return felt


class _HostBody:
    """A few nodes of a function, run on NumPy arrays by their kernels."""

    def __init__(self, graph: Any, outputs: Sequence[Any]):
        nodes = needed(outputs, graph.inputs)
        if any(n._op.stateful or n._op.needs_run or n._op.kernel_fn is None for n in nodes if n._inputs):
            raise ValueError("no plain arithmetic")
        self.inputs = [id(t) for t in graph.inputs]
        self.outputs = [id(t) for t in outputs]
        self.known = {id(n._outputs[0]): np.asarray(n._attrs["value"]) for n in nodes if n._op.name == "Const"}
        self.nodes = [n for n in nodes if n._op.name != "Const"]

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        values = {**self.known, **dict(zip(self.inputs, arguments, strict=True))}
        for node in self.nodes:
            op, attrs = node._op, node._attrs
            results = op.run(op.signature.group_inputs([values[id(t)] for t in node._inputs], attrs), attrs)
            for tensor, result in zip(node._outputs, op.signature.flat_results(results), strict=True):
                values[id(tensor)] = np.asarray(result, tensor.dtype.np)
        return [values[i] for i in self.outputs]
