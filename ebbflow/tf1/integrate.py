"""Ordinary differential equations: `tf.contrib.integrate`.

`odeint` takes steps of Dormand and Prince, as long as the error allows, and reads the solution off between them;
`odeint_fixed` takes steps whose lengths are given. Both are loops of ops: they run eagerly and in graphs, and gradients
go through them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.shaping import size
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_all, reduce_mean

Slope = Callable[[Any, Any], Any]

TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
WEIGHTS: tuple[tuple[float, ...], ...] = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
"""Where in a step slopes are taken, and what is added up to get there; the last sum is the step's end."""

LOWER_ORDER = (1951 / 21600, 0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60)
ERROR = tuple(a - b for a, b in zip((*WEIGHTS[-1], 0), LOWER_ORDER, strict=True))
"""The end less the one that a method of one order less would have found."""

MIDDLE = tuple(
    x / 2
    for x in (
        6025192743 / 30085553152, 0, 51252292925 / 65400821598, -2691868925 / 45128329728,
        187940372067 / 1594534317056, -1776094331 / 19743644256, 11237099 / 235043384,
    )
)  # fmt: skip
"""The middle of the step, for reading the solution off inside of it."""


class Stretch(NamedTuple):
    """Where the solution is: value and slope at `t1`, the last step's polynomial, the length to try next."""

    y1: Any
    f1: Any
    t0: Any
    t1: Any
    dt: Any
    polynomial: tuple[Any, ...]


def _as(value: Any, kind: Any) -> Any:
    """Return a value as a tensor of a dtype; numbers of Python without a loss on the way."""
    return convert(value, kind) if isinstance(value, (int, float)) else cast(value, kind)


def _sum(weights: Sequence[Any], values: Sequence[Any]) -> Any:
    terms = [_as(w, v.dtype) * v for w, v in zip(weights, values, strict=True) if not isinstance(w, int) or w]
    return sum(terms[1:], terms[0])


def _runge_kutta_step(func: Slope, y0: Any, f0: Any, t0: Any, dt: Any) -> tuple[Any, Any, Any, list[Any]]:
    """Return the value and slope at the end of a step, its error, and the slopes on the way."""
    slopes, dt_y, y = [f0], _as(dt, y0.dtype), y0
    for time, weights in zip(TIMES, WEIGHTS, strict=True):
        y = y0 + dt_y * _sum(weights, slopes)
        slopes.append(func(y, t0 + _as(time, dt.dtype) * dt))
    return y, slopes[-1], dt_y * _sum(ERROR, slopes), slopes


def interp_fit(y0: Any, y1: Any, y_mid: Any, f0: Any, f1: Any, dt: Any) -> list[Any]:
    """Return the polynomial of order 4, its highest power first, with these values and slopes at its ends."""
    values = [convert(v) for v in (f0, f1, y0, y1, y_mid)]
    return [
        _sum([-2 * dt, 2 * dt, -8.0, -8.0, 16.0], values),
        _sum([5 * dt, -3 * dt, 18.0, 14.0, -32.0], values),
        _sum([-4 * dt, dt, -11.0, -5.0, 16.0], values),
        _as(dt, values[0].dtype) * values[0],
        values[2],
    ]


def interp_evaluate(coefficients: Sequence[Any], t0: Any, t1: Any, t: Any) -> Any:
    """Return the value at `t` of a polynomial over the time from `t0` to `t1`; an error outside of it."""
    kind = convert(coefficients[0]).dtype
    t0, t1, t = convert(t0), convert(t1), convert(t)
    inside = raw.LogicalAnd(raw.LessEqual(t0, t), raw.LessEqual(t, t1))
    check = Assert(inside, ["invalid interpolation, fails `t0 <= t <= t1`:", t0, t, t1])
    with control_dependencies([] if check is None else [check]):
        x = _as((t - t0) / (t1 - t0), kind)
    y = coefficients[0]
    for coefficient in coefficients[1:]:
        y = y * x + coefficient
    return y


def optimal_step_size(
    last_step: Any, error_ratio: Any, safety: float = 0.9, ifactor: float = 10.0, dfactor: float = 0.2, order: int = 5
) -> Any:
    """Return the length to try next: longer after a small error, shorter after a large one, within bounds."""
    kind = last_step.dtype
    ratio = raw.Pow(_as(error_ratio, kind), _as(1 / order, kind))
    factor = raw.Minimum(ratio / _as(safety, kind), 1 / _as(dfactor, kind))
    return last_step / raw.Maximum(1 / _as(ifactor, kind), factor)


def _square(x: Any) -> Any:
    return raw.Square(raw.ComplexAbs(x, Tout=x.dtype.real_dtype)) if x.dtype.is_complex else raw.Square(x)


def _magnitude(x: Any) -> Any:
    return raw.ComplexAbs(x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else raw.Abs(x)


class _Adaptive:
    """Steps as long as tolerances allow."""

    def __init__(self, func: Slope, t: Any, rtol: Any, atol: Any, options: dict[str, Any]):
        self.func, self.t, self.rtol, self.atol = func, t, rtol, atol
        self.limit = convert(options.pop("max_num_steps", 1000), dtypes.int32)
        first = options.pop("first_step", None)
        self.first_step = convert(1.0 if first is None else first, t.dtype)
        self.factors: dict[str, Any] = {"safety": 0.9, "ifactor": 10.0, "dfactor": 0.2}
        unknown = set(options) - set(self.factors)
        if unknown:
            raise TypeError(f"odeint has no options {sorted(unknown)}")
        self.factors.update(options)

    def step(self, state: Stretch, points: Any, ratios: Any, count: Any) -> tuple[Any, ...]:
        """Try one step; where its error is too large, stay and make the next one shorter."""
        y0, f0, _, t0, dt, polynomial = state
        checks = [
            Assert(raw.Greater(t0 + dt, t0), ["underflow in dt", dt]),
            Assert(raw.Less(count, self.limit), ["max_num_steps exceeded"]),
            Assert(reduce_all(raw.IsFinite(_magnitude(y0))), ["non-finite values in state `y`", y0]),
        ]
        with control_dependencies([check for check in checks if check is not None]):
            y1, f1, error, slopes = _runge_kutta_step(self.func, y0, f0, t0, dt)
        allowed = self.atol + self.rtol * raw.Maximum(_magnitude(y0), _magnitude(y1))
        ratio = raw.Sqrt(reduce_mean(_square(error) / _square(allowed)))
        accepted = raw.LessEqual(ratio, _as(1, ratio.dtype))
        middle = y0 + _as(dt, y0.dtype) * _sum(MIDDLE, slopes)
        fitted = interp_fit(y0, y1, middle, slopes[0], slopes[-1], dt)
        choose = lambda new, old: raw.SelectV2(accepted, new, old)
        state = Stretch(
            choose(y1, y0),
            choose(f1, f0),
            t0,
            choose(t0 + dt, t0),
            optimal_step_size(dt, ratio, **self.factors),
            tuple(map(choose, fitted, polynomial)),
        )
        return state, points.write(points.size(), t0 + dt), ratios.write(ratios.size(), ratio), count + 1

    def until(self, solution: Any, points: Any, ratios: Any, state: Stretch, i: Any) -> tuple[Any, ...]:
        """Go on until the next time that is asked for has been passed, and read the solution off there."""
        time = self.t[i]
        state, points, ratios, _ = while_loop(
            lambda state, *_: raw.Greater(time, state.t1), self.step, (state, points, ratios, convert(0))
        )
        y = interp_evaluate(state.polynomial, state.t0, state.t1, time)
        return solution.write(i, y), points, ratios, state, i + 1


def odeint(
    func: Slope,
    y0: TensorLike,
    t: TensorLike,
    rtol: TensorLike = 1e-6,
    atol: TensorLike = 1e-12,
    method: str | None = None,
    options: dict[str, Any] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Nested:
    """Return y at the times `t`, where dy/dt = func(y, t) and y is `y0` at the first of them.

    >>> import math
    >>> y = odeint(lambda y, t: -y, 1.0, [0.0, 1.0])
    >>> abs(float(y[1]) - math.exp(-1)) < 1e-5
    True
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    if method is None and options:
        raise ValueError("cannot supply `options` without specifying `method`")
    with name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0, t = convert(y0, name="y0"), convert(t, hint=dtypes.float64, name="t")
        _check_dtypes(y0, t)
        kind = _magnitude(y0).dtype
        rtol, atol = convert(rtol, kind, name="rtol"), convert(atol, kind, name="atol")
        solver = _Adaptive(func, t, rtol, atol, dict(options or {}))
        with control_dependencies(_increasing(t)):
            times = size(t)
        solution = TensorArray(y0.dtype, size=times, element_shape=y0.shape).write(0, y0)
        points = TensorArray(t.dtype, size=0, dynamic_size=True, element_shape=())
        ratios = TensorArray(kind, size=0, dynamic_size=True, element_shape=())
        state = Stretch(y0, func(y0, t[0]), t[0], t[0], solver.first_step, (y0,) * 5)
        solution, points, ratios, _, _ = while_loop(
            lambda solution, points, ratios, state, i: raw.Less(i, times),
            solver.until,
            (solution, points, ratios, state, convert(1)),
        )
        y = solution.stack(name=scope or None)
        y.set_shape(t.shape.concatenate(y0.shape))
        if not full_output:
            return y
        told = points.stack()
        return y, {"num_func_evals": 6 * size(told) + 1, "integrate_points": told, "error_ratio": ratios.stack()}


def _check_dtypes(y0: Tensor, t: Tensor, dt: Tensor | None = None) -> None:
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError(f"`y0` must have a floating point or complex floating point dtype, got {y0.dtype.name}")
    if not t.dtype.is_floating:
        raise TypeError(f"`t` must have a floating point dtype, got {t.dtype.name}")
    if dt is not None and not dt.dtype.is_floating:
        raise TypeError(f"`dt` must have a floating point dtype, got {dt.dtype.name}")


def _increasing(t: Any) -> list[Any]:
    check = Assert(reduce_all(raw.Greater(t[1:], t[:-1])), ["`t` must be monotonic increasing"])
    return [] if check is None else [check]


# --- steps of given lengths -------------------------------------------------------------------------------------------


def _midpoint(func: Slope, y: Any, t: Any, dt: Any) -> Any:
    half, dt_y = dt / 2, _as(dt, y.dtype)
    return dt_y * func(y + func(y, t) * dt_y / 2, t + half)


def _rk4(func: Slope, y: Any, t: Any, dt: Any) -> Any:
    dt_y = _as(dt, y.dtype)
    k1 = func(y, t)
    k2 = func(y + dt_y * k1 / 2, t + dt / 2)
    k3 = func(y + dt_y * k2 / 2, t + dt / 2)
    k4 = func(y + dt_y * k3, t + dt)
    return dt_y * (k1 + 2 * k2 + 2 * k3 + k4) / 6


METHODS = {"midpoint": _midpoint, "rk4": _rk4}


def odeint_fixed(
    func: Slope,
    y0: TensorLike,
    t: TensorLike,
    dt: TensorLike | None = None,
    method: str = "rk4",
    name: str | None = None,
) -> Nested:
    """Return y at the times `t`, where dy/dt = func(y, t): by steps of length `dt`, one for all times or one for each.

    Without `dt` there is one step from each time to the next; a step that would pass a time ends there.
    """
    if method not in METHODS:
        raise ValueError(f"method not supported: {method!r}; there are {sorted(METHODS)}")
    advance = METHODS[method]
    with name_scope(name, "odeint_fixed", [y0, t, dt]):
        y0, t = convert(y0, name="y0"), convert(t, hint=dtypes.float64, name="t")
        spans = t[1:] - t[:-1] if t.shape.rank == 1 else t
        lengths = spans if dt is None else convert(dt, hint=dtypes.float64, name="dt")
        _check_dtypes(y0, t, lengths)
        if lengths.shape.rank == 0:
            lengths = raw.Fill(raw.Shape(spans), lengths)
        _check_sizes(t, lengths)
        lengths = _as(lengths, t.dtype)
        with control_dependencies(_increasing(t)):
            counts = _as(raw.Ceil(spans / lengths), dtypes.int32)

        def interval(solution: Any, y: Any, i: Any) -> tuple[Any, ...]:
            def one(y: Any, at: Any, k: Any) -> tuple[Any, ...]:
                step = raw.Minimum(lengths[i], t[i + 1] - at)
                return y + advance(func, y, at, step), at + step, k + 1

            y, _, _ = while_loop(lambda y, at, k: raw.Less(k, counts[i]), one, (y, t[i], convert(0)))
            return solution.write(i + 1, y), y, i + 1

        solution = TensorArray(y0.dtype, size=size(t), element_shape=y0.shape).write(0, y0)
        last = size(t) - 1
        solution, _, _ = while_loop(lambda s, y, i: raw.Less(i, last), interval, (solution, y0, convert(0)))
        y = solution.stack()
        y.set_shape(t.shape.concatenate(y0.shape))
        return y


def _check_sizes(t: Tensor, dt: Tensor) -> None:
    if t.shape.rank != 1 or dt.shape.rank != 1:
        raise ValueError(f"t and dt must be vectors, got shapes {t.shape} and {dt.shape}")
    times, lengths = t.shape.as_list()[0], dt.shape.as_list()[0]
    if times is not None and lengths is not None and times != lengths + 1:
        raise ValueError(f"t and dt have incompatible lengths, must be N and N-1, got {times} and {lengths}")
