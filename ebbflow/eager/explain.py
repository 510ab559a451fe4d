"""Why a gradient is None: finds the place where the way from the source to the target is broken.

Works on what a tape kept: the calls gradients flow through, and the calls that broke the flow (an integer cast, a
stop_gradient, an op without a gradient), each with the user's line.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.core.call import Call

_logger = logging.getLogger("ebbflow")


def warn_not_differentiable(item: Any) -> None:
    """Say, through logging, that watching an integer tensor leads nowhere."""
    _logger.warning(
        "The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.%s", item.dtype.base_dtype.name
    )


def explain(
    calls: Sequence[Call],
    breaks: Sequence[Call],
    watched: set[int],
    target: Any,
    source: Any,
) -> str:
    """Return a sentence: why no gradient reaches `source` from `target`, or that one does."""
    targets = {id(t) for t in nest.flatten(target)}
    if id(source) not in watched:
        return (
            "The source was not watched: it is not a trainable variable read under the tape, and "
            "tape.watch(source) was not "
            "called (before it was used)."
        )
    reached, flowing = {id(source)}, {id(source)}
    blame = None
    used = False
    everything = [*((c, True) for c in calls), *((c, False) for c in breaks)]
    for call, flows in _in_order(everything):
        inputs, outputs = call.inputs, call.outputs
        touched = [x for x in inputs if id(x) in reached]
        if not touched:
            continue
        used = True
        reached.update(id(o) for o in outputs)
        if flows and any(id(x) in flowing for x in inputs):
            flowing.update(id(o) for o in outputs)
        elif (any(id(x) in flowing for x in inputs) and any(id(o) in targets for o in outputs)) or (
            any(id(x) in flowing for x in inputs) and blame is None
        ):
            blame = call
    if targets & flowing:
        return "The target depends on the source: the gradient is not None."
    if blame is not None and targets & reached:
        return _broken(blame)
    if blame is not None:
        return _broken(blame) + " What the target is made of after that was made outside the tape."
    if not used:
        return "The source was never used in an op that the tape recorded."
    return (
        "The target was not made from the source under this tape: it was made outside the tape (before it was "
        "opened, after it was "
        "closed, in NumPy, or in stop_recording)."
    )


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
