"""Sums and their like, softmax, and cross entropies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ebbflow.engines.native import preconditions
from ebbflow.engines.native.alarms import inside
from ebbflow.engines.native.lowering import Lowering, Refused, kind_of, lowers
from ebbflow.engines.native.lowerings.elementwise import cast
from ebbflow.engines.native.lowerings.structure import known, reshaped
from ebbflow.engines.native.text import Body, Index
from ebbflow.engines.native.values import Buffer, Held, Lazy, Num, limited, size_of


@lowers("Mean", where=preconditions.floats)
@lowers("Sum", "Max", "Min", "Prod")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    x = held[0]
    axes = sorted({int(a) % len(x.dims) for a in known(node, 1).reshape(-1)}) if x.dims else []
    how = "sum" if node.op.name == "Mean" else node.op.name.lower()
    if node.op.name == "Mean" and x.kind[0] != "f":
        raise Refused("the mean of integers is rounded its own way")
    if not axes:
        return x
    folded = low.reduce(how, x, axes, bool(node.attrs["keep_dims"]))
    if node.op.name != "Mean":
        return folded
    count = size_of(x.dims) / max(size_of(folded.dims), 1)
    return low.map(lambda total: total / count, folded)


@lowers("BiasAddGrad", where=preconditions.channels_last)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    if node.attrs["data_format"] != "NHWC":
        raise Refused("BiasAddGrad is lowered for NHWC")
    return low.reduce("sum", held[0], range(len(held[0].dims) - 1))


@lowers("BiasAdd", where=preconditions.channels_last)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    if node.attrs["data_format"] != "NHWC":
        raise Refused("BiasAdd is lowered for NHWC")
    return low.map(lambda value, bias: value + bias, *held)


@lowers("L2Loss", where=preconditions.floats)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    squares = low.map(lambda t: t * t, held[0])
    return low.map(lambda total: total * 0.5, low.reduce("sum", squares, range(len(held[0].dims))))


# --- softmax ----------------------------------------------------------------------------------------------------------


def shifted(low: Lowering, logits: Held) -> tuple[Held, Buffer, Buffer]:
    """Return logits less their row's largest, the exponentials of that, and the sums of these."""
    last = [len(logits.dims) - 1]
    if isinstance(logits, Lazy) and logits.cost > 1:
        logits = low.in_memory(logits)
    largest = low.reduce("max", logits, last, keep=True)
    less = low.map(lambda x, m: x - m, logits, largest)
    powers = low.in_memory(low.map(lambda x: x.function("exp"), less, cost=20))
    return less, powers, low.reduce("sum", powers, last, keep=True)


@lowers("Softmax", "LogSoftmax", where=preconditions.softmax)
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    _need_floats(held[0])
    less, powers, sums = shifted(low, held[0])
    if node.op.name == "Softmax":
        return low.map(lambda e, s: e / s, powers, sums, cost=4)
    logs = low.in_memory(low.map(lambda s: s.function("log"), sums, cost=20))
    return low.map(lambda x, s: x - s, less, logs)


@lowers("SoftmaxCrossEntropyWithLogits", where=preconditions.softmax)
def _(low: Lowering, node: Any, held: list[Held]) -> list[Held]:
    logits, labels = held
    if logits.dims != labels.dims:
        raise Refused("cross entropy is lowered for labels shaped like the logits")
    _need_floats(logits)
    less, powers, sums = shifted(low, logits)
    logs = low.in_memory(low.map(lambda s: s.function("log"), sums, cost=20))
    # a label of zero takes nothing from an infinite logit
    terms = low.map(lambda t, x, s: t.compare("eq", 0).where(0, t * (s - x)), labels, less, logs)
    slope = low.map(lambda e, s, t: e / s - t, powers, sums, labels, cost=4)
    return [low.reduce("sum", terms, [1]), slope]


@lowers("SparseSoftmaxCrossEntropyWithLogits", where=preconditions.softmax)
def _(low: Lowering, node: Any, held: list[Held]) -> list[Held]:
    logits, labels = held
    _need_floats(logits)
    classes = logits.dims[1]
    labels = guard_range(low, labels, classes, node.inputs[1])
    less, powers, sums = shifted(low, logits)

    def wanted(body: Body, index: Sequence[Index]) -> str:
        label = cast(Num(body, labels.kind, labels.load(body, index)), "i64")
        return less.load(body, [index[0], label.name])

    reads = {**limited(less.reads, 1), **labels.reads}
    at_label = Lazy(logits.kind, labels.dims, wanted, reads, less.cost)
    loss = low.map(lambda s, x: s.function("log") - x, reshaped(low, sums, labels.dims), at_label, cost=20)

    def slope(body: Body, index: Sequence[Index]) -> str:
        label = cast(Num(body, labels.kind, labels.load(body, index[:1])), "i64")
        share = Num(body, powers.kind, powers.load(body, index)) / Num(
            body, powers.kind, sums.load(body, [index[0], 0])
        )
        return label.compare("eq", Num(body, "i64", str(index[1]))).where(share - 1, share).name

    reads = {powers.memory: 2, sums.memory: 1, **limited(labels.reads, 1)}
    return [low.in_memory(loss), Lazy(powers.kind, logits.dims, slope, reads, 6)]


def _need_floats(held: Held) -> None:
    if held.kind[0] != "f" or not size_of(held.dims):
        raise Refused("softmax is lowered for floats")


def guard_range(low: Lowering, labels: Held, classes: int, value: Any, column: int | None = None) -> Held:
    """Refuse to run, before anything is written, where a label is no class: the host's kernel says which.

    `value` is what the labels are, or a column of it. Return the labels to take.
    """
    least, most = low.ranges.get(value, (-1, -1))
    if 0 <= least <= most < classes:
        return labels
    if value.known is not None:
        known = np.asarray(value.known if column is None else value.known[..., column])
        if ((known < 0) | (known >= classes)).any():
            raise Refused("a label is no class")
        return labels
    if low.alarm is not None:
        return inside(low, labels, classes)
    given = {m for m in low.arguments[: len(low.region.inputs)] if m.pointer not in low.changed}
    looked_at = labels
    if isinstance(labels, Buffer) and labels.row is not None and labels.memory in given:
        looked_at = Buffer(labels.memory, labels.memory.dims)  # taken at a counter: all that may be are looked at
    if any(memory not in given and not memory.is_constant for memory in looked_at.reads):
        raise Refused("labels are looked at before anything is computed, so they must be given")
    low.guards.append(lambda body: _outside(body, looked_at, classes, looked_at.dims, []))
    return labels


def _outside(body: Body, labels: Held, classes: int, dims: Sequence[int], index: list[Index]) -> str:
    """Return whether any label below an index is no class."""
    if not size_of(tuple(dims)):
        return "false"
    if not dims:
        return body(f"icmp uge {labels.kind} {labels.load(body, index)}, {classes}")
    with body.loop(dims[0], carried=[("i1", "false")]) as loop:
        wrong = _outside(body, labels, classes, dims[1:], [*index, loop.index])
        loop.next = [body(f"or i1 {loop.carried[0]}, {wrong}")]
    return loop.carried[0]


@lowers("OneHot")
def _(low: Lowering, node: Any, held: list[Held]) -> Held:
    indices, _, on, off = held
    rank = len(node.outputs[0].dims)
    axis = node.attrs["axis"] % rank
    kind = kind_of(node.outputs[0])

    def element(body: Body, index: Sequence[Index]) -> str:
        wanted = [i for n, i in enumerate(index) if n != axis]
        label = cast(Num(body, indices.kind, indices.load(body, wanted)), "i64")
        yes, no = (Num(body, kind, h.load(body, [])) for h in (on, off))
        return label.compare("eq", Num(body, "i64", str(index[axis]))).where(yes, no).name

    reads = {**limited(indices.reads, axis), **limited({**on.reads, **off.reads}, 0)}
    return Lazy(kind, tuple(node.outputs[0].dims), element, reads, 2)
