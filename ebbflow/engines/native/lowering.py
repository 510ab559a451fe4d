"""From a region of a flow to one function in LLVM's language.

Nodes are taken in order. Element-wise work is only noted (`Lazy`) until its elements are wanted: by a reduction, which
computes them in its own loop, or as an array, when the loop is written. Arrays of one shape that are wanted one after
the other are written by one loop. Results go to the arrays that the caller hands in, everything else lies in one
scratch array. A row of `OPS` says how an op is lowered; it is given the lowering, the node and what stands for its
inputs, and gives what stands for its outputs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.engines.native import elementwise
from ebbflow.engines.native.text import TYPES, WIDTH, Body, Index, number
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

Row = Callable[["Lowering", Any, list[Held]], "Held | Sequence[Held]"]

OPS: dict[str, Row] = {}

RECOMPUTED = 6
"""What costs no more than so many additions is computed wherever it is used."""

DEEP = 160
"""What costs more than this is written to memory before it is used."""


class Refused(Exception):  # noqa: N818 (it tells why the host goes on, it is no error)
    """A region cannot be lowered: says why."""


def lowers(*names: str) -> Callable[[Row], Row]:
    """Declare how the ops named are lowered."""

    def declare(fn: Row) -> Row:
        for name in names:
            OPS[name] = fn
        return fn

    return declare


class Lowering:
    """A region on its way into a function body."""

    def __init__(self, region: Any):
        self.region = region
        self.body = Body()
        self.arguments: list[Memory] = []
        self.shapes: list[Dims] = []
        self.constants: list[np.ndarray] = []
        self.guards: list[Callable[[Body], str]] = []  # what must hold before anything is written
        self.changed: set[str] = set()  # arguments that are written to though they are inputs
        self.scratch = 0
        self.work = 0
        self._held: dict[Any, Held] = {}
        self._uses = region.uses()
        self._left = {value: len(users) for value, users in self._uses.items()}  # uses that are still to come
        for value in region.outputs:
            self._left[value] = self._left.get(value, 0) + 1
        self._stores: list[tuple[Buffer, Held]] = []
        self._targets: dict[Any, Buffer] = {}
        for value in region.inputs:
            self._held[value] = self._argument(value)
        for value in region.outputs:
            self._targets[value] = self._argument(value)
        for node in region.nodes:
            self._add(node)
        for value, target in self._targets.items():
            held = self._held[value]
            if not isinstance(held, Buffer) or held.memory is not target.memory:
                self.write(target, held)
        self.flush()

    def _argument(self, value: Any) -> Buffer:
        storage = getattr(value, "storage", None)
        if storage is not None:
            value = storage.value
            if value is None or storage.dtype.name not in KINDS:
                raise Refused(f"variable {storage.name} is not set")
            return self._given(KINDS[storage.dtype.name], value.shape)
        return self._given(kind_of(value), tuple(value.dims))

    def _given(self, kind: str, dims: Dims) -> Buffer:
        memory = Memory(f"%a{len(self.arguments)}", kind)
        self.arguments.append(memory)
        self.shapes.append(dims)
        return Buffer(memory, dims)

    def _add(self, node: Any) -> None:
        name = node.op.name
        if name == "Const":
            self._held[node.outputs[0]] = self.constant(np.asarray(node.attrs["value"]), kind_of(node.outputs[0]))
            return
        inputs = [self._held.get(v) for v in node.inputs]
        for value in node.inputs:
            self._left[value] -= 1
        lower = OPS.get("_Update" if "formula" in node.op.facts else name)
        if lower is not None:
            found = lower(self, node, inputs)  # type: ignore[arg-type]
        else:
            found = self._elementwise(node, inputs)  # type: ignore[arg-type]
        results = [found] if isinstance(found, (Buffer, Lazy)) else list(found)
        for value, held in zip(node.outputs, results, strict=True):
            self._held[value] = self._settled(value, held)

    def _settled(self, value: Any, held: Held) -> Held:
        """Return what stands for a value from now on: memory, where it is fetched or dear and used again."""
        if held.dims != tuple(value.dims):
            raise Refused(f"{value!r} came out as {held.dims}")
        target = self._targets.get(value)
        if isinstance(held, Buffer):
            return held
        uses = len(self._uses.get(value, ()))
        if target is not None:
            return self.write(target, held)
        if (uses > 1 and held.cost > RECOMPUTED) or held.cost > DEEP:
            return self.write(self.room(held.kind, held.dims), held)
        return held

    def _elementwise(self, node: Any, inputs: list[Held]) -> Held:
        kinds = [held.kind for held in inputs]
        row = elementwise.row(node.op.name, node.attrs, kinds)
        if row is None:
            raise Refused(f"{node.op.name} has no native form")
        return self.map(row, *inputs, kind=kind_of(node.outputs[0]), cost=elementwise.COST.get(node.op.name, 1))

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
        return Buffer(Memory(f"inttoptr (i64 {kept.ctypes.data} to ptr)", kind), dims)

    def full(self, value: Any, kind: str, dims: Dims) -> Lazy:
        """Return an array of one number."""
        return Lazy(kind, dims, lambda body, index: number(value, kind), {}, 0, True)

    def room(self, kind: str, dims: Dims) -> Buffer:
        """Return memory of the scratch array."""
        at = self.scratch
        self.scratch += -(-size_of(dims) * WIDTH[kind] // 64) * 64
        name = f"%s{at}"
        self.body.prologue.append(f"  {name} = getelementptr inbounds i8, ptr %scratch, i64 {at}")
        return Buffer(Memory(name, kind), dims)

    def in_memory(self, held: Held) -> Buffer:
        """Return an array whose elements lie in memory, and are there when the next instruction runs."""
        if isinstance(held, Lazy):
            held = self.write(self.room(held.kind, held.dims), held)
        if any(target.memory is held.memory for target, _ in self._stores):
            self.flush()
        return held

    def write(self, target: Buffer, held: Held) -> Buffer:
        """Write an array's elements to memory, by the loop that is being made if it goes through the same shape."""
        elsewhere = {memory for memory, same in held.reads.items() if not same}
        if self._stores and (
            self._stores[0][0].dims != target.dims
            or any(t.memory in elsewhere for t, _ in self._stores)
            or any(not h.reads.get(target.memory, True) for _, h in self._stores)
            or not target.is_whole
        ):
            self.flush()
        self._stores.append((target, held))
        self.work += size_of(target.dims) * max(held.cost, 1)
        if not target.is_whole:
            self.flush()
        return target

    def flush(self) -> None:
        """Write the loop that is being made."""
        stores, self._stores = self._stores, []
        if not stores or not size_of(stores[0][0].dims):
            return
        dims = stores[0][0].dims
        with self.over(dims, all(t.flat and h.flat for t, h in stores)) as index:
            for target, held in stores:
                target.store(self.body, index, held.load(self.body, index))

    @contextlib.contextmanager
    def over(self, dims: Dims, flat: bool) -> Iterator[list[Index]]:
        """Repeat for each index of an array; by its last index alone where that finds every element."""
        if flat and dims:
            with self.body.loop(size_of(dims)) as loop:
                yield [0] * (len(dims) - 1) + [loop.index]
        else:
            with self.body.loops([n for n in dims if n != 1]) as found:
                given = iter(found)
                yield [0 if n == 1 else next(given) for n in dims]

    def before_writing(self, memory: Memory) -> None:
        """Write elsewhere what still looks at memory that is about to change, if somebody will ask for it."""
        self.changed.add(memory.pointer)
        for value, held in list(self._held.items()):
            if memory in held.reads and self._left.get(value) and getattr(value, "storage", None) is None:
                target = self._targets.get(value) or self.room(held.kind, held.dims)
                self._held[value] = self.write(target, held)
        self.flush()


def kind_of(value: Any) -> str:
    """Return how a value's elements are called here."""
    kind = KINDS.get(value.dtype.name)
    if kind is None:
        raise Refused(f"{value.dtype.name} has no native form")
    return kind


# --- reductions -------------------------------------------------------------------------------------------------------

_FOLDS: dict[str, tuple[str, Any]] = {
    "sum": ("add", 0),
    "max": ("maximum", None),
    "min": ("minimum", None),
    "prod": ("mul", 1),
}
_ENDS = {"f32": float("inf"), "f64": float("inf"), "i32": 2**31 - 1, "i64": 2**63 - 1}


def fold(body: Body, how: str, kind: str, a: str, b: str) -> str:
    """Return two numbers folded into one; sums may be taken in any order."""
    t = TYPES[kind]
    if how in ("max", "min"):
        x, y = Num(body, kind, a), Num(body, kind, b)
        return (elementwise._larger if how == "max" else elementwise._smaller)(x, y).name
    if kind[0] == "f":
        return body(f"f{_FOLDS[how][0]} reassoc {t} {a}, {b}")
    return body(f"{_FOLDS[how][0]} {t} {a}, {b}")


def start(how: str, kind: str) -> str:
    """Return what folding begins with."""
    if how == "max":
        return number(-_ENDS[kind] - (kind[0] == "i"), kind)
    return number(_ENDS[kind] if how == "min" else _FOLDS[how][1], kind)


def reduce(low: Lowering, how: str, held: Held, axes: Sequence[int], keep: bool = False) -> Buffer:
    """Return an array folded along axes."""
    low.flush()
    dims, body, kind = held.dims, low.body, held.kind
    kept = tuple(1 if i in axes else n for i, n in enumerate(dims))
    out = low.room(kind, kept)
    low.work += size_of(dims) * max(held.cost, 1)
    if size_of(out.dims):
        inner = next((i for i in reversed(range(len(dims))) if dims[i] != 1), None)
        if inner is None or inner in axes:
            _fold_rows(body, how, held, axes, out)
        else:
            _fold_columns(body, how, held, axes, out)
    shape = kept if keep else tuple(n for i, n in enumerate(dims) if i not in axes)
    return Buffer(out.memory, shape)


def _fold_rows(body: Body, how: str, held: Held, axes: Sequence[int], out: Buffer) -> None:
    dims, kind = held.dims, held.kind
    outer = [i for i in range(len(dims)) if i not in axes and dims[i] != 1]
    inner = [i for i in range(len(dims)) if i in axes and dims[i] != 1]
    with body.loops([dims[i] for i in outer]) as at:
        index: list[Index] = [0] * len(dims)
        for i, x in zip(outer, at, strict=True):
            index[i] = x
        if any(dims[i] == 0 for i in axes):
            out.store(body, [0 if i in axes else x for i, x in enumerate(index)], start(how, kind))
            return
        total = _fold_nest(body, how, kind, held, inner, index, start(how, kind))
        out.store(body, [0 if i in axes else x for i, x in enumerate(index)], total)


def _fold_nest(body: Body, how: str, kind: str, held: Held, inner: list[int], index: list[Index], init: str) -> str:
    """Return the elements under the axes `inner` folded, each axis to a number of its own: sums stay exact longer."""
    if not inner:
        return fold(body, how, kind, init, held.load(body, index))
    axis, rest = inner[0], inner[1:]
    with body.loop(held.dims[axis], carried=[(TYPES[kind], init)]) as loop:
        index = [*index[:axis], loop.index, *index[axis + 1 :]]
        if rest:
            part = _fold_nest(body, how, kind, held, rest, index, start(how, kind))
            loop.next = [fold(body, how, kind, loop.carried[0], part)]
        else:
            loop.next = [fold(body, how, kind, loop.carried[0], held.load(body, index))]
    return loop.carried[0]


def _fold_columns(body: Body, how: str, held: Held, axes: Sequence[int], out: Buffer) -> None:
    """Fold row upon row: the innermost axis stays."""
    dims, kind = held.dims, held.kind
    with body.loops([n for n in out.dims if n != 1]) as at:
        given = iter(at)
        out.store(body, [0 if n == 1 else next(given) for n in out.dims], start(how, kind))
    if not size_of(dims):
        return
    order = [i for i in range(len(dims)) if dims[i] != 1]
    with body.loops([dims[i] for i in order]) as at:
        index: list[Index] = [0] * len(dims)
        for i, x in zip(order, at, strict=True):
            index[i] = x
        place = [0 if i in axes else x for i, x in enumerate(index)]
        out.store(body, place, fold(body, how, kind, out.load(body, place), held.load(body, index)))
