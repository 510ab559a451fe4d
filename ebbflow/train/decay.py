"""Learning rates that change with the step: the functions of `tf.train`.

In a graph each returns a tensor; eagerly, a function to be called for the rate of the moment (optimizers take either).
A schedule is a formula over tensors of one dtype: the initial rate's. The order of its arithmetic is TensorFlow's, so
that rates agree to the last digits. Knows ops and scopes, and nothing of optimizers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import add, add_tf1, divide
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.random.stateful import random_normal

Formula = Callable[..., Any]


def _decay(learning_rate: Any, global_step: Any, numbers: Sequence[Any], name: str, formula: Formula) -> Any:
    """Return the rate (eagerly: a function that gives it) of `formula(rate, step, *numbers, scope)`."""

    def rate_at(given_step: Any) -> Any:
        with name_scope(name) as scope:
            rate = convert(learning_rate, name="initial_learning_rate")
            dtype = rate.dtype.base_dtype
            cast_numbers = [cast(number, dtype) for number in numbers]
            step = cast(given_step() if callable(given_step) else given_step, dtype)
            return formula(rate, step, *cast_numbers, scope or None)

    if context.executing_eagerly():
        return functools.partial(rate_at, global_step)
    return rate_at(global_step)


def exponential_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor | Callable[[], Tensor]:
    """Return learning_rate · decay_rate ^ (step / decay_steps).

    >>> import ebbflow as tf
    >>> float(exponential_decay(1.0, tf.constant(20), 10, 0.5)())
    0.25
    """

    def formula(rate: Any, step: Any, steps: Any, factor: Any, scope: Any) -> Any:
        p = step / steps
        return raw.Mul(rate, raw.Pow(factor, raw.Floor(p) if staircase else p), name=scope)

    return _decay(learning_rate, global_step, (decay_steps, decay_rate), name or "ExponentialDecay", formula)


def natural_exp_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor | Callable[[], Tensor]:
    """Return learning_rate · exp(-decay_rate · step / decay_steps)."""
    factor = raw.Exp(raw.Neg(float(decay_rate) if isinstance(decay_rate, int) else decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, factor, staircase, name)


def inverse_time_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor | Callable[[], Tensor]:
    """Return learning_rate / (1 + decay_rate · step / decay_steps)."""

    def formula(rate: Any, step: Any, steps: Any, factor: Any, scope: Any) -> Any:
        p = step / steps
        p = raw.Floor(p) if staircase else p
        one = cast(constant(1), rate.dtype.base_dtype)
        return divide(rate, _add(one, raw.Mul(factor, p)), name=scope)

    return _decay(learning_rate, global_step, (decay_steps, decay_rate), name or "InverseTimeDecay", formula)


def polynomial_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    end_learning_rate: TensorLike = 0.0001,
    power: TensorLike = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor | Callable[[], Tensor]:
    """Return the rate on its way from `learning_rate` to `end_learning_rate` in `decay_steps`.

    With `cycle` the way is gone over and over, each time in more steps.
    """

    def formula(rate: Any, step: Any, end: Any, exponent: Any, scope: Any) -> Any:
        dtype = rate.dtype.base_dtype
        steps = cast(decay_steps, dtype)
        if cycle:
            first = raw.Equal(step, convert(0, dtype))
            steps = raw.Mul(steps, raw.SelectV2(first, convert(1.0, dtype), raw.Ceil(step / steps)))
        else:
            step = raw.Minimum(step, decay_steps if context.switches.tf1 and _is_number(decay_steps) else steps)
        p = divide(step, steps)
        return _add(raw.Mul(rate - end, raw.Pow(1 - p, exponent)), end, name=scope)

    return _decay(learning_rate, global_step, (end_learning_rate, power), name or "PolynomialDecay", formula)


def _add(x: Any, y: Any, name: str | None = None) -> Any:
    """Return the sum that `tf.add` gives: each TensorFlow has its own op for it."""
    return (add_tf1 if context.switches.tf1 else add)(x, y, name=name)


def _in_graph() -> bool:
    return not context.executing_eagerly()


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    alpha: float = 0.0,
    name: str | None = None,
) -> Tensor | Callable[[], Tensor]:
    """Return the rate on half a cosine from `learning_rate` down to `alpha` of it."""

    def formula(rate: Any, step: Any, steps: Any, scope: Any) -> Any:
        done = raw.Minimum(step, steps) / steps
        decayed = (1 - alpha) * (0.5 * _one_plus_cosine(done)) + alpha
        return raw.Mul(rate, decayed)

    return _decay(learning_rate, global_step, (decay_steps,), name or "CosineDecay", formula)


def _one_plus_cosine(done: Any) -> Any:
    return 1.0 + raw.Cos(constant(math.pi, done.dtype.base_dtype) * done)


def cosine_decay_restarts(
    learning_rate: TensorLike,
    global_step: TensorLike,
    first_decay_steps: TensorLike,
    t_mul: TensorLike = 2.0,
    m_mul: TensorLike = 1.0,
    alpha: TensorLike = 0.0,
    name: str | None = None,
) -> Tensor | Callable[[], Tensor]:
    """Return the rate on half cosines, each `t_mul` times as long and `m_mul` times as high as the one before."""
    # TensorFlow's sessions (not eager execution) divide by a constant by multiplying with its reciprocal. Elsewhere
    # that is lost in rounding; here whole periods are taken off, and what is left shows it: 1e-4 of the rate at step
    # 10000.

    def formula(rate: Any, step: Any, first: Any, low: Any, longer: Any, higher: Any, scope: Any) -> Any:
        done = step * (1.0 / first) if _is_number(first_decay_steps) and _in_graph() else step / first
        if _is_number(t_mul):
            restart, done = (_even_restart if t_mul == 1.0 else _growing_restart)(done, longer)
        else:
            even, growing = _even_restart(done, longer), _growing_restart(done, longer)
            is_even = raw.Equal(longer, convert(1.0, longer.dtype.base_dtype))
            restart, done = (raw.SelectV2(is_even, a, b) for a, b in zip(even, growing, strict=True))
        decayed = 0.5 * higher**restart * _one_plus_cosine(done)
        return raw.Mul(rate, (1 - low) * decayed + low, name=scope)

    numbers = (first_decay_steps, alpha, t_mul, m_mul)
    return _decay(learning_rate, global_step, numbers, name or "SGDRDecay", formula)


def _even_restart(done: Any, longer: Any) -> tuple[Any, Any]:
    """Return which period it is and how much of it is done, where all are as long as the first."""
    restart = raw.Floor(done)
    return restart, done - restart


def _growing_restart(done: Any, longer: Any) -> tuple[Any, Any]:
    """Return which period it is and how much of it is done, where each is `longer` times the one before."""
    restart = raw.Floor(raw.Log(1.0 - done * (1.0 - longer)) / raw.Log(longer))
    before = (1.0 - longer**restart) / (1.0 - longer)
    return restart, (done - before) / longer**restart


def linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    num_periods: TensorLike = 0.5,
    alpha: TensorLike = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor | Callable[[], Tensor]:
    """Return the rate on a cosine under a falling line."""

    def formula(rate: Any, step: Any, steps: Any, periods: Any, low: Any, floor: Any, scope: Any) -> Any:
        step = raw.Minimum(step, steps)
        line = (steps - step) / steps
        cosine = _periodic(step / steps, periods)
        return raw.Mul(rate, (low + line) * cosine + floor, name=scope)

    numbers = (decay_steps, num_periods, alpha, beta)
    return _decay(learning_rate, global_step, numbers, name or "LinearCosineDecay", formula)


def _periodic(done: Any, periods: Any) -> Any:
    return 0.5 * _one_plus_cosine(2.0 * periods * done)


def noisy_linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    initial_variance: TensorLike = 1.0,
    variance_decay: TensorLike = 0.55,
    num_periods: TensorLike = 0.5,
    alpha: TensorLike = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """Return `linear_cosine_decay` with noise whose variance falls with the step."""

    def formula(rate: Any, step: Any, steps: Any, first: Any, fall: Any, *others: Any) -> Any:
        periods, low, floor, scope = others
        step = raw.Minimum(step, steps)
        line = (steps - step) / steps
        deviation = raw.Sqrt(first / raw.Pow(1.0 + step, fall))
        line = line + random_normal(line.shape, stddev=deviation, dtype=line.dtype.base_dtype)
        cosine = _periodic(step / steps, periods)
        return raw.Mul(rate, (low + line) * cosine + floor, name=scope)

    numbers = (decay_steps, initial_variance, variance_decay, num_periods, alpha, beta)
    return _decay(learning_rate, global_step, numbers, name or "NoisyLinearCosineDecay", formula)


def piecewise_constant(
    x: TensorLike, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Tensor | Callable[[], Tensor]:
    """Return values[i] for the piece where boundaries[i-1] < x <= boundaries[i].

    >>> piecewise_constant(11, [10, 20], [1.0, 0.5, 0.1])().numpy().item()
    0.5
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    rate_at = functools.partial(_piece, boundaries, values, name or "PiecewiseConstant")
    return functools.partial(rate_at, x) if context.executing_eagerly() else rate_at(x)


def _piece(boundaries: Sequence[Any], values: Sequence[Any], name: str, x: Any) -> Any:
    with name_scope(name):
        x = convert(x() if callable(x) else x)
        edges = [_edge(convert(b), x.dtype.base_dtype) for b in boundaries]
        levels = [convert(v) for v in values]
        dtype = levels[0].dtype.base_dtype
        for level in levels[1:]:
            if level.dtype.base_dtype is not dtype:
                raise ValueError(
                    f"Values must have elements all with the same dtype ({dtype} vs {level.dtype.base_dtype})."
                )
        result = levels[0]
        for edge, level in zip(edges, levels[1:], strict=True):
            result = raw.SelectV2(raw.Greater(x, edge), level, result)
        return result


def _edge(edge: Any, wanted: Any) -> Any:
    """Return a boundary in the dtype of what it is compared with: the same already, or int32 for int64."""
    found = edge.dtype.base_dtype
    if found is wanted:
        return edge
    if found is dtypes.int32 and wanted is dtypes.int64:
        return cast(edge, wanted)
    raise ValueError(f"Boundaries ({found}) must have the same dtype as x ({wanted}).")


piecewise_constant_decay = piecewise_constant
