"""Why a gradient is None: finds the place where the way from the source to the target is broken.

Works on what a tape kept: the calls gradients flow through, the calls that broke the flow (an integer cast, a
stop_gradient, an op without a gradient), each with the user's line, and the trail of what came of these.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.core.call import Call


def warn_not_differentiable(item: Any) -> None:
    """Say, through logging, that watching an integer tensor leads nowhere."""
    import logging  # takes longer to load than the rest of a first tape

    logging.getLogger("ebbflow").warning(
        "The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.%s", item.dtype.base_dtype.name
    )


class Trail:
    """Which values came of a break in the flow, without keeping any of them alive."""

    MOST = 8  # breaks remembered behind one value

    def __init__(self) -> None:
        self.marks: dict[int, tuple[Any, tuple[Any, ...]]] = {}

    def mark(self, outputs: Sequence[Any], entries: tuple[Any, ...]) -> None:
        """Entries of a tape broke the flow on the way to these values."""
        for y in outputs:
            self.marks[id(y)] = weakref.ref(y), entries

    def go_on(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """A call without watched inputs was made: its outputs are behind what its inputs are behind."""
        entries: tuple[Any, ...] = ()
        for x in inputs:
            more = self.behind(x)
            if more and more is not entries:
                entries = tuple({id(e): e for e in entries + more}.values())[: self.MOST] if entries else more
        if entries:
            self.mark(outputs, entries)

    def behind(self, tensor: Any) -> tuple[Any, ...]:
        """Return the entries a value is behind."""
        alive, entries = self.marks.get(id(tensor), (None, ()))
        return entries if alive is not None and alive() is tensor else ()


def explain(
    calls: Sequence[Call],
    breaks: Sequence[Call],
    behind: Callable[[Any], Sequence[Call]],
    watched: set[int],
    target: Any,
    source: Any,
) -> str:
    """Return a sentence: why no gradient reaches `source` from `target`, or that one does."""
    if id(source) not in watched:
        return (
            "The source was not watched: it is not a trainable variable read under the tape, and "
            "tape.watch(source) was not called (before it was used)."
        )
    targets = nest.flatten(target)
    ordered = _in_order([*((c, True) for c in calls), *((c, False) for c in breaks)])
    flowing, used = _flowing(ordered, source)
    if any(id(t) in flowing for t in targets):
        return "The target depends on the source: the gradient is not None."
    broken = _where_it_breaks(ordered, behind, targets, flowing)
    if broken is not None:
        return _broken(broken)
    if not used:
        return "The source was never used in an op that the tape recorded."
    made = next((call for call, _ in ordered if any(id(o) == id(t) for o in call.outputs for t in targets)), None)
    if made is not None:
        return f"The target was made from other values than the source, by {made.op.name} at {made.line}."
    return (
        "The target was not made from the source under this tape: what it is made of was made outside the tape (before "
        "it was opened, after it was closed, in NumPy, or in stop_recording)."
    )


def _flowing(ordered: Sequence[tuple[Any, bool]], source: Any) -> tuple[set[int], bool]:
    """Return the ids of the values that gradients flow from to the source, and whether it was used at all."""
    flowing, used = {id(source)}, False
    for call, flows in ordered:
        if any(id(x) in flowing for x in call.inputs):
            used = True
            if flows:
                flowing.update(id(o) for o in call.outputs)
    return flowing, used


def _where_it_breaks(
    ordered: Sequence[tuple[Call, bool]], behind: Callable[[Any], Sequence[Call]], targets: list[Any], flowing: set[int]
) -> Call | None:
    """Walk back from the targets to a call that takes what flows from the source, and does not hand it on."""
    made_by = {id(o): (call, flows) for call, flows in ordered for o in call.outputs}
    waiting, seen = list(targets), set()
    while waiting:
        value = waiting.pop()
        broken = [(call, False) for call in behind(value)]
        for call, flows in [made_by[id(value)]] if id(value) in made_by else broken:
            if id(call) in seen:
                continue
            seen.add(id(call))
            if not flows and any(id(x) in flowing for x in call.inputs):
                return call
            waiting.extend(call.inputs)
    return None


def _in_order(pairs: list[tuple[Any, bool]]) -> list[tuple[Any, bool]]:
    """Order calls so that each comes after those that made its inputs."""
    made_by: dict[int, int] = {}
    for index, (call, _) in enumerate(pairs):
        for output in call.outputs:
            made_by[id(output)] = index
    done: list[tuple[Any, bool]] = []
    state = [0] * len(pairs)
    for start in range(len(pairs)):
        stack = [start]
        while stack:
            index = stack[-1]
            if state[index] == 2:
                stack.pop()
                continue
            before = [made_by[id(x)] for x in pairs[index][0].inputs if id(x) in made_by and not state[made_by[id(x)]]]
            state[index] = 1
            if before:
                stack.extend(before)
            else:
                stack.pop()
                state[index] = 2
                done.append(pairs[index])
    return done


def _broken(call: Call) -> str:
    op, outputs, place = call.op, call.outputs, f"at {call.line}"
    if op.name in ("StopGradient", "PreventGradient"):
        return f"The way is behind a stop_gradient {place}."
    kinds = ", ".join(sorted({o.dtype.name for o in outputs})) or "nothing"
    if op.name == "Cast" or not any(o.dtype.is_floating or o.dtype.is_complex for o in outputs):
        return (
            f"The way goes through {op.name} to {kinds} {place}: no gradient flows through integers, bools or strings."
        )
    return f"The way goes through {op.name} {place}, which has no gradient."
