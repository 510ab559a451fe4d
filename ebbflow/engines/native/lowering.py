"""From a region of a flow to one function in LLVM's language.

Nodes are taken in order. Element-wise work is only noted (`Lazy`) until its elements are wanted: by a fold, which
computes them in its own loop, or as an array, for which there is a step then (`steps.py`). Results go to the arrays
that the caller hands in, everything else to the scratch array. A row of `OPS` says how an op is lowered; it is given
the lowering, the node and what stands for its inputs, and gives what stands for its outputs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core.rule_names import named
from ebbflow.engines.native.lowerings import elementwise
from ebbflow.engines.native.nest_steps import Fold, Step, Store
from ebbflow.engines.native.text import Body, Index, number
from ebbflow.engines.native.values import (
    Buffer,
    Dims,
    Held,
    Lazy,
    Memory,
    Num,
    aligned,
    broadcast,
    reads_of,
    size_of,
)

KINDS = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "bool"}

Lower = Callable[["Lowering", Any, list[Held]], "Held | Sequence[Held]"]

OPS: dict[str, Lower] = {}

SERIAL: set[str] = set()
"""Ops whose rows have code for one thread only."""

LIMITS: dict[str, Callable[[Any], bool]] = {}
"""By op: whether its row serves a node (`preconditions`); rows that are not here serve all."""

RECOMPUTED = 6
"""What costs no more than this many additions is computed wherever it is used."""

DEEP = 160
"""What costs more than this is written to memory before it is used."""


class Refused(Exception):  # noqa: N818 (it tells why the host goes on, it is no error)
    """A region cannot be lowered: says why."""


def lowers(*names: str, serial: bool = False, where: Callable[[Any], bool] | None = None) -> Callable[[Lower], Lower]:
    """Declare how the ops named are lowered; `serial`: for one thread only, `where`: for which nodes."""

    def declare(fn: Lower) -> Lower:
        OPS.update(dict.fromkeys(names, fn))
        SERIAL.update(names if serial else ())
        if where is not None:
            LIMITS.update(dict.fromkeys(names, where))
        return named(fn, f"{names[0]}.native")

    return declare


class Lowering:
    """A region on its way into a function body.

    `expected` are dtypes and dims of variables that it will be given, where it is only tried whether it can be made.
    """

    def __init__(self, region: Any, expected: dict[Any, tuple[Any, Any]] | None = None):
        self.region = region
        self._expected = expected or {}
        self.steps: list[Step] = []
        self.rooms: list[Memory] = []
        self.arguments: list[Memory] = []
        self.constants: list[np.ndarray] = []
        self.guards: list[Callable[[Body], str]] = []  # what must hold before anything is written
        self.alarm: Buffer | None = None  # where it is told that a place is not there: see `alarms`
        self.verdict: Memory | None = None  # what must be a number in the end: else nothing was done
        self.changed: set[str] = set()  # arguments that are written to though they are inputs
        self.ranges: dict[Any, tuple[int, int]] = {}  # what an index is at least and at most
        self._held: dict[Any, Held] = {}
        self._uses: dict[Any, int] = {}
        self._left: dict[Any, int] = {}  # uses that are still to come
        self._note_uses(region)
        self._targets: dict[Any, Buffer] = {}
        variables: dict[Any, Buffer] = {}
        for value in region.inputs:
            given = self._argument(value)
            storage = getattr(value, "storage", None)  # two handles may be of one variable: one memory
            self._held[value] = given if storage is None else variables.setdefault(storage, given)
        again: list[tuple[Any, Buffer]] = []  # what is given more than once
        for value in region.outputs:
            target = self._argument(value)
            if self._targets.setdefault(value, target) is not target:
                again.append((value, target))
        for node in region.nodes:
            self._add(node)
        for value, target in (*self._targets.items(), *again):
            held = self._held[value]
            if not isinstance(held, Buffer) or (held.memory is not target.memory and not self._became(held, target)):
                self.write(target, held)

    def _became(self, held: Buffer, target: Buffer) -> bool:
        """Have memory of the scratch array that is all of a result be the result, if it can; return whether.

        Single numbers stay where they are: a register, and in loops a thread's own.
        """
        memory, size = held.memory, size_of(target.dims)
        can = memory.is_scratch and held.is_whole and not held.offset and size_of(memory.dims) == size > 1
        if can:
            memory.pointer = target.memory.pointer
            self.rooms.remove(memory)
        return can

    def _note_uses(self, flow: Any) -> None:
        found = {value: len(users) for value, users in flow.uses().items()}
        for value in flow.outputs:
            found[value] = found.get(value, 0) + 1
        self._uses |= found
        self._left |= found

    def inside(self, flow: Any, given: Sequence[Any]) -> tuple[list[Step], list[Any]]:
        """Return the steps of a flow on its own, and what stands for its results."""
        self._held |= dict(zip(flow.inputs, given, strict=True))
        self._note_uses(flow)
        with self.apart() as steps:
            for node in flow.nodes:
                self._add(node)
        return steps, [self._held[v] for v in flow.outputs]

    @contextlib.contextmanager
    def apart(self) -> Iterator[list[Step]]:
        """Collect the steps that are added inside in a list of their own."""
        outer, self.steps = self.steps, []
        yield self.steps
        self.steps = outer

    def uses(self, value: Any) -> int:
        """Return how often a value is used."""
        return self._uses.get(value, 0)

    def left(self, value: Any) -> int:
        """Return how often a value is still to be used."""
        return self._left.get(value, 0)

    def held(self, value: Any) -> Held:
        """Return what stands for a value."""
        return self._held[value]

    def keep_in_registers(self, steps: Sequence[Step]) -> None:
        """Take no memory for what one loop of these steps makes and is the only one to look at."""
        for memory in self.rooms:
            users = [s for s in steps if memory in s.reads or memory in s.writes]
            if len(users) == 1 and isinstance(users[0], Store) and users[0].makes_for_itself(memory):
                elsewhere = any(memory in s.reads or memory in s.writes for s in self.steps)
                memory.is_kept = elsewhere

    @property
    def work(self) -> int:
        """What all steps cost, in additions."""
        return sum(step.work for step in self.steps)

    def _argument(self, value: Any) -> Buffer:
        storage = getattr(value, "storage", None)
        if storage is not None:
            if not storage.is_set() or storage.dtype.name not in KINDS:
                raise Refused(f"variable {storage.name} is not set")
            return self._given(KINDS[storage.dtype.name], storage.read().shape)
        if value in self._expected:
            dtype, dims = self._expected[value]
            return self._given(kind_of_dtype(dtype), dims)
        return self._given(kind_of(value), tuple(value.dims))

    def _given(self, kind: str, dims: Dims) -> Buffer:
        memory = Memory(kind, dims, f"%a{len(self.arguments)}")
        self.arguments.append(memory)
        return Buffer(memory, dims)

    def _add(self, node: Any) -> None:
        name = node.op.name
        if name == "Const":
            self._held[node.outputs[0]] = self.constant(np.asarray(node.attrs["value"]), kind_of(node.outputs[0]))
            return
        inputs = [self._held.get(v) for v in node.inputs]
        for value in node.inputs:
            self._left[value] -= 1
        lower = OPS.get("_Update" if node.op.formula is not None else name)
        if lower is not None:
            found = lower(self, node, inputs)  # type: ignore[arg-type]
        else:
            found = self._elementwise(node, inputs)  # type: ignore[arg-type]
        results = list(found) if isinstance(found, (list, tuple)) else [found]
        for value, held in zip(node.outputs, results, strict=True):
            self._held[value] = self._settled(value, held)  # type: ignore[arg-type]

    def _settled(self, value: Any, held: Held) -> Held:
        """Return what stands for a value from now on: memory, where it is fetched or dear and used again."""
        if held.kind == "list":
            return held
        if held.dims != tuple(value.dims):
            raise Refused(f"{value!r} came out as {held.dims}")
        target = self._targets.get(value)
        if isinstance(held, Buffer):
            return held
        uses = self._uses.get(value, 0)
        if target is not None:
            return self.write(target, held)
        if (uses > 1 and held.cost > RECOMPUTED) or held.cost > DEEP:
            return self.write(self.room(held.kind, held.dims), held)
        return held

    def _elementwise(self, node: Any, inputs: list[Held]) -> Held:
        kinds = [held.kind for held in inputs]
        row = elementwise.formula(node.op.name, node.attrs, kinds)
        if row is None:
            raise Refused(f"{node.op.name} has no native form")
        return self.map(row, *inputs, kind=kind_of(node.outputs[0]), cost=getattr(row, "cost", 1))

    # --- what rows are made of ----------------------------------------------------------------------------------------

    def map(self, fn: Callable[..., Num], *held: Held, kind: str | None = None, cost: int = 1) -> Lazy:
        """Return a function of numbers applied to the elements of arrays that broadcast."""
        dims = broadcast(*[h.dims for h in held])

        def element(body: Body, index: Sequence[Index]) -> str:
            return fn(*[Num(body, h.kind, h.load(body, aligned(index, h.dims))) for h in held]).name

        flat = all(size_of(h.dims) == 1 or (h.flat and h.dims == dims) for h in held)
        cost += sum(h.cost for h in held)
        return Lazy(kind or held[0].kind, dims, element, reads_of(held, dims), cost, flat)

    def constant(self, array: np.ndarray, kind: str) -> Held:
        """Return a known array: a number in the code where all elements are the same."""
        dims = tuple(array.shape)
        if array.size and (array == array.flat[0]).all() and not (array == 0).any():
            return self.full(array.flat[0].item(), kind, dims)
        if array.size == 1:
            return self.full(array.item(), kind, dims)
        kept = np.ascontiguousarray(array)
        self.constants.append(kept)
        return Buffer(Memory(kind, dims, f"@known{len(self.constants) - 1}"), dims)

    def full(self, value: Any, kind: str, dims: Dims) -> Lazy:
        """Return an array of one number."""
        return Lazy(kind, dims, lambda body, index: number(value, kind), {}, 0, True)

    def room(self, kind: str, dims: Dims, is_list: bool = False) -> Buffer:
        """Return memory of the scratch array."""
        self.rooms.append(Memory(kind, dims, is_list=is_list))
        return Buffer(self.rooms[-1], dims)

    def target(self, value: Any) -> Buffer:
        """Return where a value is to be written: the result's own place, or a room."""
        return self._targets.get(value) or self.room(kind_of(value), tuple(value.dims))

    def in_memory(self, held: Held) -> Buffer:
        """Return an array whose elements lie in memory."""
        return held if isinstance(held, Buffer) else self.write(self.room(held.kind, held.dims), held)

    def write(self, target: Buffer, held: Held) -> Buffer:
        """Write an array's elements to memory."""
        self.steps.append(Store(target, held))
        return target

    def reduce(self, how: str, held: Held, axes: Sequence[int], keep: bool = False) -> Buffer:
        """Return an array folded along axes ("sum", "max", "min" or "prod")."""
        dims = held.dims
        out = self.room(held.kind, tuple(1 if i in axes else n for i, n in enumerate(dims)))
        self.steps.append(Fold(how, held, axes, out))
        return out if keep else Buffer(out.memory, tuple(n for i, n in enumerate(dims) if i not in axes))

    def refuse_unless_finite(self, held: Buffer) -> None:
        """Have the code say, when it has run, that it could not do it, if an element is no finite number.

        Then somebody else computes what it has written: it is for regions that change nothing else.
        """
        total = self.reduce("sum", self.map(lambda x: x - x, held), range(len(held.dims)))
        self.verdict = self.room("f32", ()).memory
        self.verdict.is_looked_at = True
        self.write(Buffer(self.verdict, ()), total)

    def before_writing(self, memory: Memory) -> None:
        """Write elsewhere what still looks at memory that is about to change, if somebody will ask for it."""
        self.changed.add(memory.pointer)
        for value, held in list(self._held.items()):
            kept = getattr(value, "storage", None) is not None or value in self._expected
            if memory in held.reads and self._left.get(value) and not kept:
                target = self._targets.get(value) or self.room(held.kind, held.dims)
                self._held[value] = self.write(target, held)


def kind_of(value: Any) -> str:
    """Return how a value's elements are called here."""
    return kind_of_dtype(value.dtype)


def kind_of_dtype(dtype: Any) -> str:
    """Return how elements of a dtype are called here."""
    kind = KINDS.get(dtype.name)
    if kind is None:
        raise Refused(f"{dtype.name} has no native form")
    return kind
