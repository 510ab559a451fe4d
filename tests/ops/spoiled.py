"""Good arguments spoilt in one place: run as a program, in a process with little memory, it prints what went wrong.

    python -m tests.ops.spoiled [PART OF PARTS] [OPS…]

A recorded case of every op has its good arguments. They are spoilt one thing at a time: no entries along an axis, a
rank too many or too few, an index or a size that is negative or beyond all bounds, NaN and infinity, an attr out of its
range. The op, and its gradient, must answer or refuse with a typed error; eagerly, in a graph that knows its shapes and
in one that does not, it must do the same.
"""

from __future__ import annotations

import faulthandler
import re
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import ebbflow as tf
import ebbflow.ops.foundation
from ebbflow.core.registry import registry
from tests.ops import golden
from tests.ops.good_arguments import call, good_cases

MEMORY = 3 * 2**30
ALLOWED = (tf.errors.OpError, ValueError, TypeError)
EXCUSED = {
    "Range": "TensorFlow takes vectors of one element for scalars eagerly, and not in a graph",
}
REFUSED_WHEN_BUILT = (
    (
        "All|Any|EuclideanNorm|Max|Mean|Min|Prod|Sum",
        r"Shape must be at most rank 1 but is rank \d",
        "kernels fold the axes that a matrix holds; the rule of shapes wants a vector",
    ),
    (
        "(Avg|Max)Pool(3D|V2)?|Conv[23]D",
        r"Negative dimension size caused by subtracting \d+ from 0 ",
        "kernels divide towards zero, so a window a little too large fits nowhere; the rule of shapes refuses it",
    ),
    (
        "Fill",
        r"dims must represent a vector, got shape \[\] ",
        "the kernel takes one length; the rule of shapes a vector",
    ),
)
"""Ops, the words with which building a graph refuses known shapes that kernels answer, and why: as TensorFlow does."""

FAR = (-1, 2**31 - 1, -(2**31), 2**62)


def spoilt(case: dict) -> Iterator[tuple[str, dict]]:
    """Yield the case with one thing spoilt, and what that is."""
    for name, value in case["inputs"].items():
        listed = isinstance(value, list)
        for place, form in enumerate(value[:2] if listed else [value]):
            for what, array in spoilt_arrays(golden.decode(form)):
                changed = golden.encode(array)
                changed = [*value[:place], changed, *value[place + 1 :]] if listed else changed
                yield f"{name} {what}", case | {"inputs": case["inputs"] | {name: changed}}
    for name, value in case["attrs"].items():
        for odd in spoilt_attrs(value):
            yield f"{name}={odd}", case | {"attrs": case["attrs"] | {name: odd}}


def spoilt_arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    for axis in range(array.ndim):
        yield f"with nothing along axis {axis}", array.take([], axis)
    yield "of a rank more", array[None]
    if array.ndim and len(array):
        yield "of a rank less", array[:1].reshape(array.shape[1:])
    if array.dtype.kind in "iu" and array.size <= 16:
        low, high = int(np.iinfo(array.dtype).min), int(np.iinfo(array.dtype).max)
        for place in range(min(array.size, 2)):
            for far in dict.fromkeys(min(max(n, low), high) for n in FAR):
                moved = array.copy()
                moved.reshape(-1)[place] = far
                yield f"[{place}] = {far}", moved
    elif array.dtype.kind in "fc":
        yield "of NaN", np.full_like(array, np.nan)
        yield "of infinity", np.full_like(array, np.inf)


def spoilt_attrs(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield from (n for n in (0, *FAR) if n != value)
    elif isinstance(value, float):
        yield from (-1.0, 1e30)
    elif isinstance(value, list) and value and all(isinstance(n, int) and not isinstance(n, bool) for n in value):
        yield from ([], [*value, 1])
        yield from ([*value[:place], n, *value[place + 1 :]] for place in range(len(value)) for n in (0, -1, 2**31))


def fault(runner: golden.Runner, case: dict) -> str | None:
    """Return what is wrong with the answers to a case, or None."""
    start = time.process_time()
    modes = [mode for mode in golden.MODES if mode not in case.get("skip", ())]
    answers = {mode: with_gradient(runner, case, mode) for mode in modes}
    for mode, answer in answers.items():
        for refusal in (answer.refusal, answer.grad_refusal):
            if refusal is not None and not isinstance(refusal.error, ALLOWED):
                return f"{mode}: {refusal}"
    if case["op"] in EXCUSED or any(answer.outputs == [] for answer in answers.values()):  # no outputs: nothing ran
        return None
    if refused_when_built(case["op"], answers.get("graph")):
        del answers["graph"]
    if len({answer.refusal is None for answer in answers.values()}) > 1:
        return "not alike: " + "; ".join(f"{m} {a.refusal or 'answers'}" for m, a in answers.items())
    shapes = {str([(a.dtype, a.shape) for a in answer.outputs or ()]) for answer in answers.values()}
    if len(shapes) > 1:
        return f"not alike: {shapes}"
    taken = time.process_time() - start
    return f"took {taken:.0f} s" if taken > 20 else None


def refused_when_built(op: str, answer: golden.Answer | None) -> bool:
    """Return whether building refuses what runs, as TensorFlow does."""
    refusal = answer and answer.refusal
    if not refusal or refusal.stage != "build" or not isinstance(refusal.error, tf.errors.InvalidArgumentError):
        return False
    said = str(refusal.error)
    return any(re.fullmatch(ops, op) and re.match(words, said) for ops, words, _ in REFUSED_WHEN_BUILT)


def with_gradient(runner: golden.Runner, case: dict, mode: str) -> golden.Answer:
    """Return the answer to a case, and to its gradient for upstream gradients of ones where it had one."""
    plain = {key: value for key, value in case.items() if key not in ("dy", "dy2")}
    answer = runner.answer(plain, mode)
    flat = "dy" not in case or "grad_error" in case or f"{mode}.grads" in case.get("skip", ())
    if answer.refusal is not None or flat or len(case["dy"]) != len(answer.outputs):
        return answer
    ones = [golden.encode(np.ones_like(y)) if dy else None for y, dy in zip(answer.outputs, case["dy"], strict=True)]
    return runner.answer(plain | {"dy": ones}, mode)


def main() -> None:
    faulthandler.enable()
    warnings.simplefilter("ignore")
    part, parts = (int(word) for word in (sys.argv[1:2] or ["0/1"])[0].split("/"))
    wanted = set(sys.argv[2:])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    runner, calls = golden.Runner(tf, call), 0
    for op, cases in sorted(good_cases().items())[part::parts]:
        if op not in registry.names() or (wanted and op not in wanted):
            continue
        for case in cases:
            for what, changed in spoilt(case):
                calls += 1
                print(f"@ {op}: {what}", file=sys.stderr, flush=True)
                wrong = fault(runner, changed)
                if wrong:
                    print(f"{case['id']}, {what}: {wrong[:400]}", flush=True)
    print(f"{calls} calls made")


if __name__ == "__main__":
    main()
