"""`Dataset.explain`: what was planned for a dataset, what its stages cost, and what could be done about it.

An iteration is run for a while with a meter at each stage. A stage's own time is what it took without the stages it
asked. What the first element takes is told apart: functions are compiled for it. Knows pipes and meters; changes
nothing about the dataset: seeds that iterations draw are put back.
"""

from __future__ import annotations

import time
from typing import Any

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.data.pipe import AHEAD, GATHERS, INFINITE, UNKNOWN, Pipe, Under, begun_anew, pipe_of, stages
from ebbflow.data.running import Meter, Run, usual

SECONDS = 2.0
"""How long a dataset is watched unless something else is asked for."""


class Explanation(str):
    """A text that has been printed: a prompt that shows what a call gave need not show it once more."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<what was printed: {self.partition(chr(10))[0]}>"


def explanation(pipe: Pipe, seconds: float = SECONDS, elements: int | None = None) -> Explanation:
    """Return what was planned for a pipe and what it costs, as text; it runs for some seconds or elements."""
    kept = [(stage.seeds, stage.seeds.state()) for stage in stages(pipe) if stage.seeds is not None]
    as_usual = usual(pipe.options)
    run = Run(measured=True, processes=as_usual.processes, in_order=as_usual.in_order, most=as_usual.most)
    try:
        with begun_anew({}):
            count, first, spent, ended = _watched(pipe, run, seconds, elements)
    finally:
        for seeds, state in kept:
            seeds.go_to(state)
    meters: dict[Any, Meter] = run.meters or {}
    titles = f"{'stage':<44}{'how':<24}{'given':>9}{'own time':>10}{'waits':>9}{'buffer':>12}"
    lines = [_headline(count, first, spent, ended), "", titles]
    _add_stages(lines, pipe, meters, 0, set())
    advice = list(_advice(pipe, meters, first + spent))
    return Explanation("\n".join([*lines, "", *([f"- {a}" for a in advice] or ["- nothing to advise"])]))


LONG = 0.05
"""Seconds from which on a first element is left out of the account."""


def _watched(pipe: Pipe, run: Run, seconds: float, elements: int | None) -> tuple[int, float, float, bool]:
    """Run a pipe; return how many elements it gave, the seconds for the first if those were many, and for the others,
    and whether it came to its end.
    """
    running = Under(pipe, run)
    began, count, first = time.perf_counter(), 0, 0.0
    while time.perf_counter() - began < seconds and (elements is None or count < elements):
        if next(running, None) is None:
            return count, first, time.perf_counter() - began, True
        count += 1
        if count == 1 and time.perf_counter() - began > LONG and pipe.size != 1:
            now = time.perf_counter()
            first, began = now - began, now
            for meter in (run.meters or {}).values():
                meter.forget_waiting()
    return count, first, time.perf_counter() - began, False


def _headline(count: int, first: float, spent: float, ended: bool) -> str:
    timed = count - bool(first)
    rate = timed / spent if spent > 0 else 0.0
    before = f", {timed} of them in {spent:.3f} s after {first:.3f} s for the first" if first else f" in {spent:.3f} s"
    return f"{count} elements{before} ({rate:,.0f} a second), {'to the end' if ended else 'and more to come'}"


def _add_stages(lines: list[str], pipe: Pipe, meters: dict[Any, Meter], depth: int, seen: set[int]) -> None:
    meter = meters.get(pipe)
    name = "  " * depth + title(pipe)
    if id(pipe) in seen:
        lines.append(f"{name:<44}(as above)")
        return
    seen.add(id(pipe))
    how = _how(pipe, meter)
    first = meters.get(pipe.inputs[0]) if pipe.inputs else None
    if pipe.role == GATHERS and first is not None and first.note:
        how = "whole blocks"
    if meter is None:
        lines.append(f"{name:<44}{how:<24}")
    else:
        room = f"{meter.filled / meter.asked:.1f} of {meter.room}" if meter.asked else ""
        own, waits = own_time(pipe, meters), f"{meter.waited:.3f}s" if meter.asked else ""
        lines.append(f"{name:<44}{how:<24}{meter.elements:>9}{own:>9.3f}s{waits:>9}{room:>12}")
    for source in pipe.inputs:
        _add_stages(lines, source, meters, depth + 1, seen)


def title(pipe: Pipe) -> str:
    """Return what a stage is called, and how many elements it has."""
    count = {INFINITE: "endless", UNKNOWN: "?"}.get(pipe.size, str(pipe.size))
    name = pipe.name.removesuffix("V2").removesuffix("V3").removesuffix("V4").removesuffix("Dataset") or "source"
    return f"{name} [{count}]"


def _how(pipe: Pipe, meter: Meter | None) -> str:
    if meter is not None and meter.note:
        return meter.note
    if pipe.role == AHEAD:
        return "ahead, in a thread"
    if pipe.call is not None and meter is not None and meter.room:
        return f"{meter.room} calls at once"
    return "element by element" if meter is not None else ""


def own_time(pipe: Pipe, meters: dict[Any, Meter]) -> float:
    """Return the seconds a stage took without what it asked for, and without waiting where threads work for it."""
    meter = meters[pipe]
    if meter.asked:
        return max(0.0, meter.warm_seconds - meter.waited) if pipe.role != AHEAD else 0.0
    inputs = [meters[source].warm_seconds for source in pipe.inputs if source in meters]
    return max(0.0, meter.warm_seconds - sum(inputs))


def _advice(pipe: Pipe, meters: dict[Any, Meter], spent: float) -> Any:
    found = [stage for stage in stages(pipe) if stage in meters]
    ahead = [stage for stage in stages(pipe) if stage.role == AHEAD]
    for stage in found:
        meter, own = meters[stage], own_time(stage, meters)
        if stage.call is not None and stage.call.reason and own > 0.2 * spent:
            yield f"{title(stage)} is called for each element, since {stage.call.reason}{_wider(stage, meter)}."
        if meter.asked and meter.filled < 0.5 * meter.asked and meter.waited > 0.2 * spent:
            yield f"{title(stage)} waits for what is before it: its buffer is mostly empty, a larger one is no help."
        if meter.asked and meter.filled > 0.9 * meter.asked * meter.room:
            yield f"{title(stage)} is always full: elements are made faster than they are taken."
    working = [stage for stage in found if not meters[stage].asked]
    slow = max(working, key=lambda stage: own_time(stage, meters), default=None)
    if slow is not None and own_time(slow, meters) > 0.3 * spent:
        yield f"{title(slow)} takes most of the time: {own_time(slow, meters):.3f} of {spent:.3f} s."
    if not ahead and spent > 0:
        yield "Nothing is made ahead: `.prefetch(tf.data.AUTOTUNE)` at the end hides this time behind that of the step."


def _wider(stage: Pipe, meter: Meter) -> str:
    """Return what would have a function called several times at once, "" where that is so."""
    if not meter.room:
        return "; `num_parallel_calls=tf.data.AUTOTUNE` would call it in several threads"
    if stage.call is not None and stage.call.facts.in_python and "processes" not in meter.note:
        return "; where it computes in Python, `options.experimental_python_processes` would call it in processes"
    return ""


def get_model_proto(iterator: Any) -> Any:
    """Return the stages of an iterator as TensorFlow's message of a model, with how many elements were taken.

    What each of them costs is measured by `Dataset.explain` alone.
    """
    inner = getattr(iterator, "_iterator", iterator)
    position, dataset = inner._position, inner._dataset
    pipe = position.pipe if dataset is None else pipe_of(dataset._variant_tensor._array)
    options = pipe.options
    if options is not None and options.autotune.enabled is False:
        raise errors.NotFoundError(
            None, None, "Cannot find this iterator's analytical model. Did you disable autotune for the dataset used "
            "to create this iterator?",
        )  # fmt: skip
    model = messages.message("tensorflow.data.model.ModelProto")(output=1)
    root = model.nodes[1]
    root.id, root.name, root.autotune, root.num_elements = 1, "Root", True, position.taken
    numbers = {id(stage): i for i, stage in enumerate(stages(pipe), 2)}
    root.inputs.append(2)
    for stage in stages(pipe):
        node = model.nodes[numbers[id(stage)]]
        node.id, node.autotune = numbers[id(stage)], True
        node.name = stage.name.partition("Dataset")[0] or "Dataset"
        node.inputs.extend([numbers[id(before)] for before in stage.inputs])
    model.id_counter = len(numbers) + 2
    return model
