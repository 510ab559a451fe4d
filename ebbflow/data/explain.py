"""`Dataset.explain`: what was planned for a dataset, what its stages cost, and what could be done about it.

An iteration is run for a while with a meter at each stage. A stage's own time is what it took without the stages it
asked. Knows pipes and meters; changes nothing about the dataset: seeds that iterations draw are put back.
"""

from __future__ import annotations

import time
from typing import Any

from ebbflow.data.pipe import AHEAD, GATHERS, INFINITE, UNKNOWN, Pipe, Under, begun_anew, stages
from ebbflow.data.running import Meter, Run

SECONDS = 2.0
"""How long a dataset is watched unless something else is asked for."""


def explanation(pipe: Pipe, seconds: float = SECONDS, elements: int | None = None) -> str:
    """Return what was planned for a pipe and what it costs, as text; it runs for some seconds or elements."""
    kept = [(stage.seeds, stage.seeds.state()) for stage in stages(pipe) if stage.seeds is not None]
    run = Run(measured=True)
    began, count, ended = time.perf_counter(), 0, False
    try:
        with begun_anew({}):
            running = Under(pipe, run)
            while time.perf_counter() - began < seconds and (elements is None or count < elements):
                if next(running, None) is None:
                    ended = True
                    break
                count += 1
            spent = time.perf_counter() - began
            del running
    finally:
        for seeds, state in kept:
            seeds.go_to(state)
    meters: dict[Any, Meter] = run.meters or {}
    lines = [_headline(count, spent, ended), "", f"{'stage':<44}{'how':<24}{'given':>9}{'own time':>10}{'buffer':>12}"]
    _add_stages(lines, pipe, meters, 0, set())
    advice = list(_advice(pipe, meters, spent))
    return "\n".join([*lines, "", *([f"- {a}" for a in advice] or ["- nothing to advise"])])


def _headline(count: int, spent: float, ended: bool) -> str:
    rate = count / spent if spent > 0 else 0.0
    return f"{count} elements in {spent:.3f} s ({rate:,.0f} a second), {'to the end' if ended else 'and more to come'}"


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
        lines.append(f"{name:<44}{how:<24}{meter.elements:>9}{own_time(pipe, meters):>9.3f}s{room:>12}")
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
    """Return the seconds a stage took without what it asked for; where a thread works ahead, the time spent waiting."""
    meter = meters[pipe]
    if meter.asked:
        return meter.waited
    return max(0.0, meter.seconds - sum(meters[source].seconds for source in pipe.inputs if source in meters))


def _advice(pipe: Pipe, meters: dict[Any, Meter], spent: float) -> Any:
    found = [stage for stage in stages(pipe) if stage in meters]
    ahead = [stage for stage in stages(pipe) if stage.role == AHEAD]
    for stage in found:
        meter, own = meters[stage], own_time(stage, meters)
        if stage.call is not None and stage.call.reason and own > 0.2 * spent:
            more = "" if meter.room else "; `num_parallel_calls=tf.data.AUTOTUNE` would call it in several threads"
            yield f"{title(stage)} is called for each element, since {stage.call.reason}{more}."
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
