"""The steps of common optimizers in one pass over float32 variables, as loops that may become machine code.

The same arithmetic as the formulas of `optimizer_updates`, number by number, so the bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.loops import F32, Loop, Single, loop, sqrt
from ebbflow.ops.parts import SHARE, in_shares


@loop
def adam_step(
    var: F32,
    m: F32,
    v: F32,
    grad: F32,
    begin: int,
    end: int,
    alpha: Single,
    new1: Single,
    new2: Single,
    epsilon: Single,
) -> None:
    """Move both means towards the gradient and its square, and the variable by them."""
    for i in range(begin, end):
        g = grad[i]
        mean = m[i] + (g - m[i]) * new1
        square = v[i] + (g * g - v[i]) * new2
        m[i] = mean
        v[i] = square
        var[i] = var[i] - mean * alpha / (sqrt(square) + epsilon)


@loop
def momentum_step(var: F32, accum: F32, grad: F32, begin: int, end: int, lr: Single, momentum: Single) -> None:
    """Add the gradient to what is left of the last ones, and go there."""
    for i in range(begin, end):
        speed = accum[i] * momentum + grad[i]
        accum[i] = speed
        var[i] = var[i] - speed * lr


@loop
def descent_step(var: F32, delta: F32, begin: int, end: int, alpha: Single) -> None:
    """Go against the gradient."""
    for i in range(begin, end):
        var[i] = var[i] - alpha * delta[i]


def _adam_numbers(given: dict[str, Any]) -> tuple[Any, ...]:
    names = ("lr", "beta1_power", "beta2_power", "beta1", "beta2", "epsilon")
    lr, power1, power2, beta1, beta2, epsilon = [given[name][()] for name in names]  # with arrays it takes 3 µs more
    return lr * np.sqrt(1 - power2) / (1 - power1), 1 - beta1, 1 - beta2, epsilon


STEPS: dict[str, tuple[Loop, int, str, Callable[[dict[str, Any]], tuple[Any, ...]]]] = {
    "adam": (adam_step, 1, "grad", _adam_numbers),
    "momentum": (momentum_step, 1 << 12, "grad", lambda given: (given["lr"], given["momentum"])),
    "gradient_descent": (descent_step, 1 << 14, "delta", lambda given: (given["alpha"],)),
}
"""By formula: the loop, from how many numbers on it is quicker, the gradient's name, and the loop's numbers."""


def stepped(formula: str, arrays: list[np.ndarray], given: dict[str, Any], options: dict[str, Any]) -> bool:
    """Take an optimizer's step by its loop; return whether that was done."""
    step = STEPS.get(formula)
    if step is None or options.get("use_nesterov"):
        return False
    walk, least, name, numbers = step
    if arrays[0].size < least:
        return False
    whole = [*arrays, given[name]]
    if not all([a.dtype == np.float32 and a.flags.c_contiguous and a.ndim for a in whole]):
        return False
    code = walk.worth(arrays[0].size)
    if code is None:
        return False
    values = [float(number) for number in numbers(given)]
    in_shares(lambda begin, end: code(*whole, begin, end, *values), arrays[0].size, SHARE)
    return True
