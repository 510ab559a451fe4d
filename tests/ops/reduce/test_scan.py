"""Running sums, products and log-sum-exps."""

import itertools

import numpy as np
import pytest

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args


def running(fold, neutral):
    """Return the slow, obvious form: every result folded from scratch."""

    def scan(x, axis, exclusive, reverse):
        rows = np.moveaxis(np.asarray(x, np.float64), axis, 0)
        rows = rows[::-1] if reverse else rows
        ends = range(len(rows)) if exclusive else range(1, len(rows) + 1)
        out = [fold(rows[:end]) if end else np.full(rows.shape[1:], neutral) for end in ends]
        out = np.array(out).reshape(rows.shape)
        return np.moveaxis(out[::-1] if reverse else out, 0, axis)

    return scan


ROWS = [
    (tf.cumsum, running(lambda r: r.sum(0), 0.0)),
    (tf.math.cumprod, running(lambda r: r.prod(0), 1.0)),
    (tf.math.cumulative_logsumexp, running(lambda r: np.log(np.exp(r).sum(0)), -np.inf)),
]
CASES = [
    Case(
        lambda x, f=fn, a=axis, e=exclusive, r=reverse: f(x, a, e, r), args(dims, low=0.2, high=2.0),
        lambda x, n=numpy, a=axis, e=exclusive, r=reverse: n(x, a, e, r),
        smooth=0 if fn is tf.math.cumulative_logsumexp and exclusive else 2,
        name=f"{fn.__name__}_{axis}_{exclusive}_{reverse}",
    )
    for (fn, numpy), (dims, axis), exclusive, reverse in itertools.product(
        ROWS, [("4", 0), ("2 3", -1), ("3 0", 0)], (False, True), (False, True)
    )
]  # fmt: skip
CASES += [
    Case(tf.cumsum, args("4", dtype=t), lambda x: np.cumsum(x, dtype=x.dtype), smooth=0, tol=4)
    for t in ("int8", "uint16", "float16", "complex64")
]
CASES += [
    Refusal(
        lambda x: tf.cumsum(x, 2), args("2 3"), says="Expected scan axis in the range [-2, 2), but got 2", name="axis"
    ),
    Refusal(lambda x: tf.cumsum(x, [0]), args("2 3"), says="axis must be a scalar", name="vector"),
    Refusal(tf.math.cumulative_logsumexp, args("2", dtype="int32"), says="not in list of allowed values"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


def test_a_running_logsumexp_does_not_overflow():
    y = tf.math.cumulative_logsumexp([1000.0, 1000.0]).numpy()
    np.testing.assert_allclose(y, [1000.0, 1000.0 + np.log(2)], 1e-6)


def test_the_gradient_of_a_running_product_at_zero_is_zero():
    x = tf.constant([2.0, 0.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.cumprod(x)
    assert np.isfinite(tape.gradient(y, x).numpy()).all()
