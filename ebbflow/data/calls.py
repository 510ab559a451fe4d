"""Calls of the user's functions, element by element or a block of rows at once.

Both give the same bit for bit. A function is called with whole blocks only if all its ops have rules that promise so
(`functions.vectorize.whole_blocks`), and then only after some rows of the first block have been compared. Where a block
fails, its rows are called one by one: everything before the element in question is delivered, then the error, which
says the element's number. Knows traced functions and columns; knows nothing of pipes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.shape import is_static
from ebbflow.core.tensor import EagerTensor, ndarray
from ebbflow.data.columns import Block, Columns, length, part, stacked
from ebbflow.data.running import DEBUG, current
from ebbflow.data.structure import _tensor
from ebbflow.functions.vectorize.whole_blocks import stacked_body, unfit
from ebbflow.ops.control.script import IN_PYTHON

Element = Sequence[np.ndarray]

WIDE = 1 << 16
"""Bytes of a row from which on a function gains nothing by rows side by side: its arrays are long enough."""

FEW = 16
"""Rows for which it does not pay to make a function of blocks."""


class Facts:
    """What matters about a body that elements are computed by; one serves all datasets that have the body."""

    def __init__(self, body: Any, count: int):
        nodes = body._nodes
        self.types = [t.dtype.base_dtype.np for t in body.outputs]
        self.in_python = _anywhere(body, lambda op: op in IN_PYTHON)
        self.draws = draws(body)
        """Whether the function, or one that it gives to a dataset, draws random numbers."""
        self.chance = self.draws or _anywhere(body, lambda op: getattr(op, "seeded", False))
        """Whether it does, or makes datasets in random order."""
        repeats = any(node.type == "Enter" for node in nodes)
        self.drawn_once = frozenset([node for node in nodes if node._op.facts.random and not repeats])
        """The nodes of random ops that each call comes to once, at most."""
        self.too_wide = _too_wide(body, count)


def _too_wide(body: Any, count: int) -> str:
    """Return why rows are not computed side by side, as far as the shapes of arguments and results say."""
    wide = max([_row_bytes(t) for t in (*body.inputs[:count], *body.outputs)], default=0)
    if wide > WIDE:
        return f"its rows of {wide} bytes are long enough one by one"
    if not all(is_static(t._dims) for t in body.outputs):
        return "the shape of its results is not known beforehand"
    return ""


class Call:
    """A traced function of elements, with what it captured."""

    def __init__(self, body: Any, captured: Sequence[Any], run: Any):
        self.body = body
        self._extra = list(captured)
        self.count = len(body.inputs) - len(self._extra)  # of the parts of an element
        self._session, self._run = run.session, body.run
        if body.derived.for_elements is None:
            body.derived.for_elements = Facts(body, self.count)
        self.facts: Facts = body.derived.for_elements
        self._whole: Any = None  # the function of blocks, once it is made
        self._agrees = False  # whether some rows of blocks have been compared
        self.reason = ""  # why there is no function of blocks

    def __call__(self, element: Element) -> Element:
        if current.run.mode is DEBUG and self.body.in_python is not None:
            return self._as_python(element)
        return self._arrays(self._run(self._session, [*element, *self._extra]))

    def numbered(self, number: int, element: Element, call: Callable[[Element], Element] | None = None) -> Element:
        """Return what the function, or `call` in its place, gives for an element; an error says its number."""
        try:
            return self(element) if call is None else call(element)
        except errors.OpError as error:
            raise numbered(error, number, "map") from error.__cause__

    def elsewhere(self, call: Callable[[Element], Element]) -> Callable[[int, Element], Element]:
        """Return `numbered` for calls that something else makes in our place."""
        return functools.partial(self.numbered, call=call)

    @property
    def outside(self) -> str:
        """What the function uses that has state of its own: something it captured, or Python; "" if nothing."""
        if any(t.dtype.base_dtype is dtypes.resource for t in self.body.inputs[self.count :]):
            return "a resource"
        return "a function in Python" if self.facts.in_python else ""

    def _arrays(self, results: Sequence[Any]) -> Element:
        for value in results:
            if value.__class__ is not ndarray:
                return tuple([np.asarray(v, t) for v, t in zip(results, self.facts.types, strict=True)])
        return tuple(results)

    def _as_python(self, element: Element) -> Element:
        given = [_tensor(a, t.dtype.base_dtype) for a, t in zip(element, self.body.inputs, strict=False)]
        return tuple([t._array if isinstance(t, EagerTensor) else np.asarray(t) for t in self.body.in_python(*given)])

    # --- whole blocks -------------------------------------------------------------------------------------------------

    def obstacle(self, surely: bool = False) -> str:
        """Return why this cannot be called with blocks of rows; "" if it can. To be sure, the function is made."""
        if self.reason or self._agrees:
            return self.reason
        self.reason = self.facts.too_wide
        if not self.reason:
            found = stacked_body(self.body, self.count) if surely else unfit(self.body, self.count)
            self.reason = found if isinstance(found, str) else ""
        return self.reason

    def on_block(self, block: Block) -> Block | None:
        """Return the results for all rows of a block; None where they must be computed one by one."""
        whole = self._whole
        if whole is None:
            if length(block) < FEW or self.obstacle(surely=True):
                return None
            whole = self._whole = stacked_body(self.body, self.count)
        found = tuple(self._arrays(whole.run(self._session, [*block, *self._extra])))
        if not self._agrees and not self._compared(block, found):
            self._whole, self.reason = None, "rows side by side are rounded otherwise"
            return None
        return found

    def _compared(self, block: Block, found: Block) -> bool:
        """Return whether blocks give what their rows do, one by one; then they are believed."""
        rows = length(block)
        for i in {0, rows // 2, rows - 1}:
            single = self([column[i, ...] for column in block])
            if not all(same(a[i, ...], b) for a, b in zip(found, single, strict=True)):
                return False
        self._agrees = True
        return True


def draws(body: Any) -> bool:
    """Return whether a body, or a function in it, draws random numbers."""
    return _anywhere(body, lambda op: op.facts.random)


def _anywhere(body: Any, said: Callable[[Any], bool]) -> bool:
    """Return whether something is true of an op of a body, or of a function in it."""
    inner = lambda node: any(_anywhere(inside, said) for inside in bodies_in(node._attrs.values()))
    return any(said(node._op) or inner(node) for node in body._nodes)


def bodies_in(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the graphs of functions among the attrs of a node."""
    for value in values:
        if hasattr(value, "_nodes"):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from bodies_in(value)


def _row_bytes(tensor: Any) -> int:
    dims = tensor._dims
    if not dims or None in dims:
        return 0
    return int(np.prod(dims, dtype=np.int64)) * tensor.dtype.base_dtype.np.itemsize


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays are equal in type, shape and every bit; a NaN is a NaN, whatever its sign."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype == object:
        return a.tolist() == b.tolist()
    return a.tobytes() == b.tobytes() or (a.dtype.kind in "fc" and _same_but_for_nans(a, b))


def _same_but_for_nans(a: np.ndarray, b: np.ndarray) -> bool:
    nans = np.isnan(a)
    return bool((nans == np.isnan(b)).all()) and a[~nans].tobytes() == b[~nans].tobytes()


def numbered(error: errors.OpError, number: int, what: str) -> errors.OpError:
    """Have an error say which element it arose for, unless it does already.

    In TF 2 one that says that something is at its end is another: it is not this dataset that ends.
    """
    if isinstance(error, errors.OutOfRangeError) and not context.switches.tf1:
        text = f"Function invocation produced OutOfRangeError: {error.message}"
        error = errors.InvalidArgumentError(error.node_def, error.op, text)
    if getattr(error, "element_number", None) is None:
        first, line, rest = str(error.message).partition("\n")
        error._message = f"{first}\n  while `{what}` was called for element {number}, counted from 0{line}{rest}"
        error.element_number = number  # type: ignore[attr-defined]
    return error


class OneByOne:
    """What a function gives for each element; an error ends nothing, and says the number of its element."""

    __slots__ = ("_call", "_elements", "_number", "_what")

    def __init__(self, call: Callable[[Any], Any], elements: Iterator[Any], what: str):
        self._call, self._elements, self._what = call, elements, what
        self._number = -1

    def __iter__(self) -> OneByOne:
        return self

    def __next__(self) -> Any:
        element = next(self._elements)
        self._number += 1
        try:
            return self._call(element)
        except errors.OpError as error:
            raise numbered(error, self._number, self._what) from error.__cause__


class Mapped:
    """What a function gives for the rows of columns."""

    __slots__ = ("_call", "_held", "_number", "_source", "_what")

    def __init__(self, source: Columns, call: Call, what: str = "map"):
        self._source, self._call, self._what = source, call, what
        self._number = 0  # of the next row
        self._held: Block | None = None  # rows behind one that failed

    def take(self, count: int) -> Block | None:
        """Return the results for the next rows."""
        block = self._rows(count)
        if block is None:
            return None
        results = self._results(block)
        self._number += length(results)
        return results

    def _rows(self, count: int) -> Block | None:
        held, self._held = self._held, None
        if held is None:
            return self._source.take(count)
        if length(held) > count:
            held, self._held = part(held, 0, count), part(held, count, length(held))
        return held

    def _results(self, block: Block) -> Block:
        try:
            found = self._call.on_block(block)
        except (errors.OpError, ArithmeticError, MemoryError):
            found = None
        return self._each(block) if found is None else found

    def _each(self, block: Block) -> Block:
        """Call the rows one by one, up to the first that fails; if that is the first of all, so does this."""
        found: list[Element] = []
        rows = length(block)
        for i in range(rows):
            try:
                found.append(self._call([column[i, ...] for column in block]))
            except errors.OpError as error:
                if found:
                    self._hold(part(block, i, rows))
                    break
                self._hold(part(block, 1, rows))
                self._number += 1
                raise numbered(error, self._number - 1, self._what) from error.__cause__
        return tuple([stacked(parts, i) for i, parts in enumerate(zip(*found, strict=True))])

    def _hold(self, rows: Block) -> None:
        if not length(rows):
            return
        if self._held is not None:
            rows = tuple([np.concatenate(pair) for pair in zip(rows, self._held, strict=True)])
        self._held = rows


class Masked(Mapped):
    """The rows for which a function holds."""

    __slots__ = ()

    def take(self, count: int) -> Block | None:
        """Return those of the next rows for which it holds."""
        while True:
            block = self._rows(count)
            if block is None:
                return None
            keep = self._results(block)[0]
            rows = len(keep)  # fewer where one failed
            self._number += rows
            kept = int(np.count_nonzero(keep))
            if kept == length(block):
                return block
            if kept:
                return tuple([column[:rows][keep] for column in block])
