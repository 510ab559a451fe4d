"""Why a function was traced again: what changed from what to what, and what to do about it.

Said once a function, through `logging`, when its second trace is made; `traces()` shows all of them as a table. Knows
the types of arguments and the words for them; knows nothing of graphs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ebbflow.core.source import Line
from ebbflow.core.spec import TensorSpec
from ebbflow.functions.signature import FunctionType
from ebbflow.functions.trace_types import Container, Literal, Weakref, common
from ebbflow.platform import logging


class Change(NamedTuple):
    """One difference between two traces."""

    argument: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"argument {self.argument} changed from {self.before!r} to {self.after!r}"


def changes(before: FunctionType, after: FunctionType) -> list[Change]:
    """Return what differs between the types of two calls, argument by argument, as deep as it lies."""
    found: list[Change] = []
    old = dict(zip(before.names, before.types, strict=True))
    new = dict(zip(after.names, after.types, strict=True))
    for name in [*new, *[n for n in old if n not in new]]:
        _compare(repr(name), old.get(name, _Nothing()), new.get(name, _Nothing()), found)
    return found


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Nothing)

    __hash__ = None  # type: ignore[assignment]


def _compare(path: str, old: Any, new: Any, found: list[Change]) -> None:
    if isinstance(old, Container) and isinstance(new, Container) and old._alike(new):
        for key, a, b in zip(old.keys, old.parts, new.parts, strict=True):
            _compare(f"{path}[{key!r}]", a, b, found)
    elif type(old) is not type(new) or old != new:
        found.append(Change(path, old, new))


def advice(change: Change) -> str:
    """Return what to do so that such a change needs no new trace."""
    before, after = change.before, change.after
    if isinstance(before, TensorSpec) and isinstance(after, TensorSpec):
        if before.dtype is not after.dtype:
            return f"tf.cast it to one dtype before the call (tf.{before.dtype.name}, say), or accept a trace for each"
        wide = common(before, [after])
        return (
            f"fix its type with input_signature=[..., tf.TensorSpec({wide.shape}, tf.{wide.dtype.name})], or let the "
            f"function find it: @tf.function(reduce_retracing=True)"
        )
    if isinstance(before, Literal) and isinstance(after, Literal):
        if isinstance(after.value, (int, float)) and not isinstance(after.value, bool):
            return f"pass a tensor, tf.constant({after.value!r}): Python numbers are part of the trace"
        return "there is a trace for each Python value: keep the values few, or pass a tensor"
    if isinstance(before, Weakref) and isinstance(after, Weakref):
        return "pass the same object each time (made once, outside the loop), or tensors"
    return "give it the same type each time"


def find_changes(known: list[FunctionType], new: FunctionType) -> list[Change]:
    """Return how a call differs from the traced one that it differs least from."""
    return min((changes(old, new) for old in reversed(known)), key=len)


def report(name: str, place: Line | None, known: list[FunctionType], new: FunctionType) -> None:
    """Say through `logging` that, and why, a function is traced for the second time."""
    where = "" if place is None else f" ({place})"
    logging.warning("tf.function %s%s is being traced again:%s", name, where, _said(find_changes(known, new)))


def too_many(name: str, limit: int, known: list[FunctionType], new: FunctionType) -> ValueError:
    """Return the error for one trace more than `max_traces` allows."""
    said = _said(find_changes(known, new)) if known else " max_traces must be at least 1"
    return ValueError(
        f"tf.function {name} has max_traces={limit} and would have to be traced for the {_ordinal(limit + 1)} "
        f"time:{said}"
    )


def _said(found: list[Change]) -> str:
    return "".join(f"\n  {change}\n    to avoid it: {advice(change)}" for change in found)


def _ordinal(n: int) -> str:
    suffix = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{suffix}"


class Trace(NamedTuple):
    """One trace of a function."""

    number: int
    signature: str
    because: str
    nodes: int
    seconds: float


class Traces(list[Trace]):
    """The traces of a function, oldest first; prints as a table."""

    def __str__(self) -> str:
        head = ("#", "arguments", "traced because", "nodes", "seconds")
        rows = [head, *[(str(t.number), t.signature, t.because, str(t.nodes), f"{t.seconds:.4f}") for t in self]]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )

    __repr__ = __str__
