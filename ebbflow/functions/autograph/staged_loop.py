"""A loop on its way into the graph: which variables it carries, and the node.

The body is traced with the variables it changes as loop variables. One without a value before the loop gets a stand-in,
shaped as the body leaves it: the body is then traced once before, in a graph that is thrown away, to see what that is
(a *rehearsal*). The rehearsal also tells which lists grow, which become `StagedList`s, and which Python values never
change, which stay what they are. A variable that changes its type or shape is refused by name, with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, nest
from ebbflow.core.composite import TypeSpec
from ebbflow.core.convert import convert
from ebbflow.core.shape import Dims, as_dims, from_dims
from ebbflow.core.tensor import Tensor
from ebbflow.functions.autograph.conditionals import if_exp
from ebbflow.functions.autograph.effortless import is_effortless
from ebbflow.functions.autograph.iteration import Drawn, Items, Reduced
from ebbflow.functions.autograph.lists import StagedList, common_kind
from ebbflow.functions.autograph.state import UNDEFINED, State, Variable, contents, refill
from ebbflow.functions.autograph.values import (
    condition,
    could_be_tensor,
    is_staged,
    kind_text,
    origin_text,
    place_text,
    same_plain,
    shape_text,
)
from ebbflow.functions.control_flow.while_loop import while_loop, within
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw


class Leaf:
    """One tensor of a loop variable, or a part of it that never changes."""

    __slots__ = ("dims", "fixed", "invariant", "tensor", "value")

    def __init__(self, value: Any, tensor: Any = None):
        self.value = value
        self.tensor = tensor
        self.dims: Dims = None if tensor is None else tensor._dims
        self.invariant = False  # the shape was given by `set_loop_options`
        self.fixed = tensor is None  # it never changes


class _AgainError(Exception):
    """Something that a rehearsal left as it was has changed after all: it must be carried."""


class Carried:
    """A variable (or what a container holds) that goes from iteration to iteration."""

    def __init__(self, variable: Variable, structure: Any, container: Any = None):
        self.variable, self.structure, self.container = variable, structure, container
        self.name = variable.name
        self.stands_in = False  # it had no value before the loop
        flat = nest.flatten(structure, expand_composites=True)
        self.leaves = [Leaf(value, convert(value)) if could_be_tensor(value) else Leaf(value) for value in flat]

    @property
    def moving(self) -> list[Leaf]:
        return [leaf for leaf in self.leaves if not leaf.fixed]

    def give(self, tensors: Iterator[Any]) -> None:
        """Let the variable hold these tensors, where it has any."""
        flat = [leaf.value if leaf.fixed else next(tensors) for leaf in self.leaves]
        value = nest.pack_sequence_as(self.structure, flat, expand_composites=True)
        if self.container is None:
            self.variable.set(value)
        else:
            self.variable.set(self.container)
            refill(self.container, value)

    def now(self) -> Any:
        """Return what the variable holds."""
        value = self.variable.get()
        return value if self.container is None or value is UNDEFINED else contents(value)


class StagedLoop:
    """One loop being added to a graph."""

    def __init__(
        self,
        state: State,
        body: Callable[..., Any],
        stop: Variable | None,
        options: Callable[[], dict[str, Any]] | None,
        test: Callable[[], Any] | None = None,
        items: Items | None = None,
    ):
        self.state, self.body, self.stop, self.test, self.items = state, body, stop, test, items
        self.code: Any = body.__code__
        self.graph = context.current_graph()
        self.options = {} if options is None else options()
        self.before = state.save()
        self.carried: list[Carried] = []
        self.left: dict[Variable, Any] = {}  # what a body leaves in variables that hold no tensors
        self.notes: list[tuple[Any, Any]] = []  # what Python noted down in containers while it traced

    def add(self) -> None:
        """Add the node; leave the user's variables as they are after the loop."""
        try:
            waiting = [v for v in self.state.rebound if v.get() is UNDEFINED or v.get() is None]
            self.carried = [Carried(v, v.get()) for v in self.state.rebound if v not in waiting]
            self._take_invariants()
            if waiting or self.state.containers:
                self._rehearse(waiting)
            while True:
                try:
                    results = self._add_node()
                    break
                except _AgainError:
                    continue
        finally:
            self.state.restore(self.before)
        for container, held in self.notes:
            refill(container, held)
        for variable, value in self.left.items():
            variable.set(value)
        tensors = iter(results)
        for carried in self.carried:
            carried.give(tensors)

    def _take_invariants(self) -> None:
        """Note the shapes that `set_loop_options` allows."""
        for value, shape in self.options.get("shape_invariants", ()):
            for carried in self.carried:
                if carried.structure is not value:
                    continue
                for leaf, dims in zip(carried.leaves, _allowed(value, shape), strict=True):
                    if not leaf.fixed and dims is not _OWN:
                        leaf.dims, leaf.invariant = dims, True

    # --- the rehearsal ------------------------------------------------------------------------------------------------

    def _rehearse(self, waiting: Sequence[Variable]) -> None:
        """Trace the body in a graph that is thrown away, and learn from what it leaves behind."""
        scratch = FuncGraph("rehearsal", self.graph)
        with context.scope(scratch):
            given = [
                [scratch.argument(leaf.tensor.dtype.base_dtype, leaf.dims, carried.name) for leaf in carried.moving]
                for carried in self.carried
            ]
            for carried, tensors in zip(self.carried, given, strict=True):
                carried.give(iter(tensors))
            try:
                self._iterate(scratch)
            except NameError as error:
                name = getattr(error, "name", None)
                if name not in [v.name for v in waiting]:
                    raise
                raise ValueError(
                    self._located(f"'{name}' must be defined before the loop: the loop reads it before it sets it")
                ) from None
            after = [carried.now() for carried in self.carried]
            found = [(v, v.get()) for v in waiting]
            held = [(v, contents(v.get())) for v in self.state.containers]
        self.state.restore(self.before)
        for carried, tensors, value in zip(self.carried, given, after, strict=True):
            _fix_unchanged(carried, tensors, value)
        for variable, value in found:
            self._learn_variable(variable, value)
        for (variable, now), (_, was) in zip(held, self.before[1], strict=False):
            self._learn_container(variable, now, was)

    def _iterate(self, graph: FuncGraph) -> None:
        if self.items is None:
            if self.test is not None:
                self.test()
            self.body()
        elif self.items.element_spec is not None:
            spec = self.items.element_spec
            item = nest.map_structure(
                lambda s: graph.argument(s.dtype, s.shape._dims, "item"), spec, expand_composites=True
            )
            self.body(item)
        else:
            start = self.items.start()
            self.body(self.items.item(graph.argument(start.dtype.base_dtype, (), "index")))

    def _learn_variable(self, variable: Variable, value: Any) -> None:
        """A variable without a value before the loop: give it a stand-in like what the body leaves, if tensors."""
        leaves = [] if value is UNDEFINED else nest.flatten(value, expand_composites=True)
        if not any(could_be_tensor(leaf) for leaf in leaves):
            self.left[variable] = variable.get()
            return
        carried = Carried(variable, nest.map_structure(_blank, value, expand_composites=True))
        for leaf, like in zip(carried.leaves, leaves, strict=True):
            if leaf.tensor is not None:
                leaf.dims = like._dims if isinstance(like, Tensor) else leaf.dims
        carried.stands_in = True
        self.carried.append(carried)

    def _learn_container(self, variable: Variable, now: Any, was: Any) -> None:
        """A list or dictionary: carried if tensors of the body end up in it; a growing list becomes staged."""
        before = variable.get()
        if not self.state.differs(variable, now, was, self.graph):
            return
        if isinstance(before, StagedList):
            self.carried.append(Carried(variable, was, container=before))
        elif isinstance(before, list) and (isinstance(now, StagedList) or len(now) != len(was)):
            self.carried.append(Carried(variable, self._growing(variable.name, was, now)))
        else:
            carried = Carried(variable, was, container=before)
            after = nest.flatten(now, expand_composites=True)
            for leaf, value in zip(carried.leaves, after if len(after) == len(carried.leaves) else (), strict=False):
                if value is leaf.value:
                    leaf.fixed = True
            self.carried.append(carried)

    def _growing(self, name: str, was: list[Any], now: Any) -> StagedList:
        """Return a list that grows, as it is before the loop."""
        held = [was, now]
        odd = [item for one in held if isinstance(one, list) for item in one if not could_be_tensor(item)]
        kind = None if odd else common_kind(held)
        if kind is None:
            what = f"it holds a {type(odd[0]).__name__}" if odd else "it holds several"
            raise TypeError(
                self._located(
                    f"the list '{name}' grows in a loop on tensors, where its elements must be tensors of one dtype: "
                    f"{what}. Append to one list for each part, or use tf.TensorArray"
                )
            )
        return StagedList.of(was, *kind)

    # --- the node -----------------------------------------------------------------------------------------------------

    def _add_node(self) -> list[Any]:
        unset = [c.name for c in self.carried if c.stands_in and c.variable in self.state.changes]
        moving = [leaf for carried in self.carried for leaf in carried.moving]
        first: list[tuple[Any, Dims]] = [(leaf.tensor, leaf.dims) for leaf in moving]
        if unset or not (moving or self._counts):
            first.append((convert(False), ()))
        if self._counts:
            first.insert(0, (self.items.start(), ()))  # type: ignore[union-attr]
        results = self._run(first)
        if self._counts:
            results = results[1:]
        return self._checked_to_have_run(results, unset)

    @property
    def _counts(self) -> bool:
        return self.items is not None and not isinstance(self.items, Reduced)

    def _run(self, first: list[tuple[Any, Dims]]) -> list[Any]:
        values = [tensor for tensor, _ in first]
        if isinstance(self.items, Reduced):
            going_on = None if self.stop is None else lambda held: raw.LogicalNot(convert(self._stopped(held)))
            found = self.items.reduce(tuple(values), lambda held, item: self._step([*held], item), going_on)
            return list(found)
        given = {k: v for k, v in self.options.items() if k != "shape_invariants"}
        if self.items is not None and self.items.count is not None:
            given.setdefault("maximum_iterations", self.items.count)
        return list(
            while_loop(
                lambda *held: self._test(list(held)),
                lambda *held: self._count_and_step(list(held)),
                values,
                shape_invariants=[from_dims(dims) for _, dims in first],
                **given,
            )
        )

    def _take(self, held: Sequence[Any]) -> None:
        """Let the user's variables hold the loop variables."""
        self.state.restore(self.before)
        tensors = iter(held)
        for carried in self.carried:
            carried.give(tensors)

    def _stopped(self, held: Sequence[Any]) -> Any:
        self._take(held)
        assert self.stop is not None
        return self.stop.get()

    def _test(self, held: list[Any]) -> Any:
        counter = held.pop(0) if self._counts else None
        self._take(held)
        stopped = False if self.stop is None else self.stop.get()
        if self.items is not None:
            known = self.items.count is not None and "maximum_iterations" not in self.options
            more = True if known else self.items.more(counter)
            return _both(more, stopped)
        assert self.test is not None
        if not is_staged(stopped):
            return self._holds()
        if is_effortless(self.test.__code__):
            return _both(self._holds(), stopped)
        return if_exp(raw.LogicalNot(stopped), self._holds, lambda: False)

    def _holds(self) -> Any:
        holds = self.test()  # type: ignore[misc]
        return condition(holds, "while loop") if is_staged(holds) else bool(holds)

    def _count_and_step(self, held: list[Any]) -> list[Any]:
        if not self._counts:
            return self._step(held)
        counter = held.pop(0)
        assert self.items is not None
        if isinstance(self.items, Drawn):
            return self.items.step(held, lambda item: self._step(held, item))
        return [self.items.next(counter), *self._step(held, self.items.item(counter))]

    def _step(self, held: list[Any], *item: Any) -> list[Any]:
        """Trace the body; return the loop variables after it."""
        self._take(held)
        self.body(*item)
        after = [tensor for carried in self.carried for tensor in self._after(carried)]
        handed = {id(carried.variable) for carried in self.carried}
        self.left = {v: v.get() for v in self.left}
        self.notes = [(v.get(), contents(v.get())) for v in self.state.containers if id(v) not in handed]
        return [*after, convert(True)] if len(held) > len(after) else after

    def _checked_to_have_run(self, results: list[Any], unset: Sequence[str]) -> list[Any]:
        """Refuse, when the graph runs, that a loop never ran that was to give variables their first value."""
        if not unset:
            return results
        ran = results.pop()
        done = Assert(ran, [f"loop must iterate at least once to initialize {', '.join(unset)}"])
        with self.graph.control_dependencies([done]):
            return [raw.Identity(tensor) for tensor in results]

    # --- what may not change ------------------------------------------------------------------------------------------

    def _after(self, carried: Carried) -> list[Any]:
        """Return the tensors that a variable holds after an iteration; refuse them where they are of another kind."""
        value, name = carried.now(), carried.name
        if value is UNDEFINED:
            raise ValueError(self._located(f"'{name}' has no value at the end of the iteration."))
        if value is None:
            raise ValueError(self._located(f"'{name}' is None at the end of the iteration."))
        try:
            nest.assert_same_structure(carried.structure, value, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(
                self._located(f"'{name}' does not have the same nested structure after one iteration.\n\n{error}")
            ) from None
        tensors = []
        for leaf, now in zip(carried.leaves, nest.flatten(value, expand_composites=True), strict=True):
            if not leaf.fixed and could_be_tensor(now):
                tensors.append(self._steady(name, leaf, now))
            elif leaf.fixed and same_plain(leaf.value, now):
                continue
            elif leaf.fixed and leaf.tensor is not None:
                leaf.fixed = False
                raise _AgainError
            else:
                raise TypeError(
                    self._located(
                        f"'{name}' is {kind_text(leaf.value)} before the loop, but {kind_text(now)} after one "
                        "iteration: in a loop on tensors only tensors can change"
                    )
                )
        return tensors

    def _steady(self, name: str, leaf: Leaf, now: Any) -> Any:
        tensor = convert(now)
        before, after = leaf.tensor.dtype.base_dtype.name, tensor.dtype.base_dtype.name
        if before != after:
            raise TypeError(
                self._located(f"'{name}' has dtype {before} before the loop, but dtype {after} after one iteration")
                + origin_text(name, now)
            )
        if within(tensor._dims, leaf.dims):
            return tensor
        if isinstance(self.items, Reduced) and not leaf.invariant:  # `reduce` loosens shapes until they hold
            return tensor
        if leaf.invariant:
            text = (
                f"'{name}' has shape {shape_text(tensor._dims)} after one iteration, which does not conform with the "
                f"shape invariant {shape_text(leaf.dims)}."
            )
        else:
            text = (
                f"'{name}' has shape {shape_text(leaf.dims)} before the loop, but shape {shape_text(tensor._dims)} "
                "after one iteration. Use tf.autograph.experimental.set_loop_options to set shape invariants."
            )
        raise ValueError(self._located(text) + origin_text(name, now))

    def _located(self, message: str) -> str:
        return f"{message}\n  loop at {place_text(self.code)}"


# --- small things -----------------------------------------------------------------------------------------------------

_OWN: Any = object()


def _allowed(value: Any, shape: Any) -> list[Any]:
    """Return the dims that each tensor of a value may have by a shape invariant."""
    if isinstance(value, Mapping):
        return [d for key in sorted(value) for d in _allowed(value[key], shape[key])]
    if nest.is_nested(value):
        return [d for v, s in zip(value, shape, strict=True) for d in _allowed(v, s)]
    if isinstance(shape, TypeSpec):
        return [part.shape._dims for part in nest.flatten(shape, expand_composites=True)]
    count = len(nest.flatten(value, expand_composites=True))
    return [_OWN] * count if shape is None or count != 1 else [as_dims(shape)]


def _fix_unchanged(carried: Carried, given: Sequence[Any], after: Any) -> None:
    """What a rehearsal left as it was is not carried: Python values stay Python values."""
    if after is UNDEFINED or after is None:
        return
    leaves = nest.flatten(after, expand_composites=True)
    if len(leaves) == len(carried.leaves):
        now = {id(leaf): value for leaf, value in zip(carried.leaves, leaves, strict=True)}
        for leaf, tensor in zip(carried.moving, given, strict=True):
            if now[id(leaf)] is tensor:
                leaf.fixed = True


def _blank(like: Any) -> Any:
    """Return a tensor like another, with nothing in it."""
    if not could_be_tensor(like):
        return like
    if isinstance(like, Tensor):
        dtype, dims = like.dtype.base_dtype, like._dims or ()
    else:
        dtype, dims = convert(like).dtype.base_dtype, np.shape(like)
    if dtype is dtypes.variant or dtype is dtypes.resource:
        return raw.FakeParam(dtype=dtype, shape=dims)
    shape = [0 if n is None else n for n in dims]
    return convert(np.full(shape, b"", object) if dtype is dtypes.string else np.zeros(shape, dtype.np), dtype)


def _both(holds: Any, stopped: Any) -> Any:
    """Return that something holds and nothing has stopped it."""
    if not is_staged(stopped):
        return False if stopped else holds
    going = raw.LogicalNot(stopped)
    if holds is True or holds is False:
        return going if holds else False
    return raw.LogicalAnd(holds, going)
