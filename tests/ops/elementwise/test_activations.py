"""Activation functions."""

import numpy as np
import pytest
from scipy import special

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805

#   function               NumPy's                                                                       order
ROWS = [
    (tf.nn.relu, lambda x: np.maximum(x, 0), 2),
    (tf.nn.relu6, lambda x: np.clip(x, 0, 6), 2),
    (tf.nn.elu, lambda x: np.where(x < 0, np.expm1(x), x), 2),
    (tf.nn.selu, lambda x: SCALE * np.where(x < 0, ALPHA * np.expm1(x), x), 2),
    (tf.nn.leaky_relu, lambda x: np.where(x < 0, x * np.float64(np.float32(0.2)), x), 2),
    (tf.nn.softplus, lambda x: np.log1p(np.exp(x)), 2),
    (tf.nn.softsign, lambda x: x / (1 + np.abs(x)), 2),
    (tf.math.log_sigmoid, lambda x: -np.log1p(np.exp(-x)), 2),
    (tf.nn.silu, lambda x: x / (1 + np.exp(-x)), 2),
    (tf.nn.gelu, lambda x: x * special.ndtr(x), 2),
    (lambda x: tf.nn.gelu(x, approximate=True),
     lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), 2),
    (tf.nn.crelu, lambda x: np.maximum(np.concatenate([x, -x], -1), 0), 2),
]  # fmt: skip
CASES = [
    Case(fn, args(dims, low=-3.1, high=8.0), numpy, smooth=order)
    for fn, numpy, order in ROWS
    for dims in ("2 3", "4", "0")
]
CASES += [
    Case(fn, args("2 3", low=-3, high=8, dtype=t), numpy, smooth=0, tol=10)
    for fn, numpy, _ in ROWS
    for t in ("float32", "float16", "bfloat16")
]
CASES += [
    Case(tf.nn.relu, args("5", dtype="int32"), lambda x: np.maximum(x, 0)),
    Case(lambda x: tf.nn.leaky_relu(x, alpha=1.5), args("5"), lambda x: np.where(x < 0, 1.5 * x, x), name="leaky_1.5"),
    Case(lambda x: tf.nn.leaky_relu(x, alpha=0.0), args("5"), lambda x: np.maximum(x, 0), name="leaky_0"),
    Case(lambda x: tf.nn.silu(x, beta=2.0), args("5"), lambda x: x / (1 + np.exp(-2 * x)), name="silu_2"),
    Case(
        lambda x: tf.nn.crelu(x, axis=0), args("2 2"), lambda x: np.maximum(np.concatenate([x, -x]), 0), name="crelu_0"
    ),
    Refusal(tf.nn.elu, args("2", dtype="int32"), says="not in list of allowed values"),
    Refusal(tf.nn.gelu, args("2", dtype="int32"), says="floating point"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


#   function           argument                             answer
EXTREME = [
    (tf.nn.softplus, [1000.0, -1000.0, -20.0], [1000.0, 0.0, np.exp(-20.0)]),
    (tf.math.log_sigmoid, [-1000.0, 1000.0], [-1000.0, 0.0]),
    (tf.nn.relu, [np.nan, np.inf, -np.inf], [np.nan, np.inf, 0.0]),
    (tf.nn.elu, [-1000.0, 1000.0], [-1.0, 1000.0]),
    (tf.nn.relu6, [-1.0, 3.0, 100.0], [0.0, 3.0, 6.0]),
]


@pytest.mark.parametrize("fn, given, expected", EXTREME)
def test_extremes_neither_overflow_nor_vanish(fn, given, expected):
    for _ in range(2):
        np.testing.assert_allclose(fn(tf.constant(given)).numpy(), np.float32(expected), 1e-6)


@pytest.mark.parametrize(
    "fn, slope", [(tf.nn.relu, 0.0), (tf.nn.relu6, 0.0), (tf.nn.elu, 1.0), (tf.nn.leaky_relu, 0.2)]
)
def test_slopes_at_the_corner(fn, slope):
    x = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    assert tape.gradient(y, x).numpy() == np.float32(slope)


@pytest.mark.parametrize("name", ["TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad"])
def test_slope_ops_do_not_broadcast(name):
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be equal"):
        getattr(tf.raw_ops, name)(y=tf.ones([2, 3]), dy=tf.ones([3]))


def test_integers_are_made_floats_by_leaky_relu():
    assert tf.nn.leaky_relu(tf.constant([-5, 5])).dtype == tf.float32


def test_a_soft_sign_has_its_third_derivative():
    Case(lambda x: tf.raw_ops.SoftsignGrad(gradients=tf.ones_like(x), features=x), args("4"),
         lambda x: 1 / (1 + np.abs(x)) ** 2, name="SoftsignGrad").check_gradient("eager")  # fmt: skip
