"""Special functions, beside SciPy."""

import numpy as np
import pytest
from scipy import special

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

inf, nan = np.inf, np.nan
POSITIVE = {"low": 0.4, "high": 4.0}

#   function                        SciPy's            where                         order
UNARY = [
    (tf.math.lgamma, special.gammaln, POSITIVE, 2),
    (tf.math.digamma, special.digamma, POSITIVE, 2),
    (tf.math.erf, special.erf, {}, 2),
    (tf.math.erfc, special.erfc, {}, 2),
    (tf.math.erfinv, special.erfinv, {"low": -0.8, "high": 0.8}, 2),
    (tf.math.erfcinv, special.erfcinv, {"low": 0.2, "high": 1.8}, 2),
    (tf.math.ndtri, special.ndtri, {"low": 0.1, "high": 0.9}, 2),
    (tf.math.bessel_i0, special.i0, {}, 2),
    (tf.math.bessel_i0e, special.i0e, POSITIVE, 2),
    (tf.math.bessel_i1, special.i1, {}, 2),
    (tf.math.bessel_i1e, special.i1e, POSITIVE, 2),
    (tf.math.special.bessel_j0, special.j0, {}, 2),
    (tf.math.special.bessel_j1, special.j1, {}, 2),
    (tf.math.special.bessel_y0, special.y0, POSITIVE, 2),
    (tf.math.special.bessel_y1, special.y1, POSITIVE, 2),
    (tf.math.special.bessel_k0, special.k0, POSITIVE, 2),
    (tf.math.special.bessel_k0e, special.k0e, POSITIVE, 2),
    (tf.math.special.bessel_k1, special.k1, POSITIVE, 2),
    (tf.math.special.bessel_k1e, special.k1e, POSITIVE, 2),
    (tf.math.special.dawsn, special.dawsn, {}, 2),
    (tf.math.special.expint, special.expi, POSITIVE, 2),
    (tf.math.special.fresnel_cos, lambda x: special.fresnel(x)[1], {}, 2),
    (tf.math.special.fresnel_sin, lambda x: special.fresnel(x)[0], {}, 2),
    (tf.math.special.spence, special.spence, {"low": 1.2, "high": 3.0}, 2),
]
CASES = [
    Case(fn, args(dims, **where), theirs, smooth=order) for fn, theirs, where, order in UNARY for dims in ("3", "0")
]
CASES += [
    Case(fn, args("3", dtype=t, **where), theirs, smooth=0, tol=10)
    for fn, theirs, where, _ in UNARY
    for t in ("float32", "float16")
]
CASES += [
    Case(tf.math.igamma, args("3", "3", **POSITIVE), special.gammainc, smooth=1),
    Case(tf.math.igamma, [np.array([[0.5], [3.0], [20.0]]), np.array([0.1, 2.5, 40.0])], special.gammainc, smooth=1),
    Case(tf.math.igammac, args("2 2", "2", **POSITIVE), special.gammaincc, smooth=1),
    Case(tf.math.betainc, [*args("3", "3", **POSITIVE), np.array([0.1, 0.5, 0.8])], special.betainc, smooth=0),
    Case(lambda x: tf.math.betainc(tf.constant(2.0, tf.float64), tf.constant(3.0, tf.float64), x),
         [np.array([0.1, 0.5, 0.8])], lambda x: special.betainc(2.0, 3.0, x), name="betainc"),
    Case(lambda q: tf.math.zeta(tf.constant(3.0, tf.float64), q), args("3", **POSITIVE),
         lambda q: special.zeta(3.0, q), name="zeta"),
    Case(lambda x: tf.math.polygamma(tf.constant(2.0, tf.float64), x), args("3", **POSITIVE),
         lambda x: special.polygamma(2, x), name="polygamma"),
    Case(tf.math.lbeta, args("2 3", **POSITIVE), lambda x: special.gammaln(x).sum(-1) - special.gammaln(x.sum(-1))),
    Refusal(tf.math.lgamma, args("2", dtype="int32"), says="not in list of allowed values"),
    Refusal(tf.math.betainc, args("2", "3", "2"), says="inconsistent"),
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


#   function              argument              answer
SPECIAL = [
    (tf.math.lgamma, [0.0, -1.0, inf, -inf, nan], [inf, inf, inf, inf, nan]),
    (tf.math.digamma, [0.0, -2.0, inf], [nan, nan, inf]),
    (tf.math.erf, [inf, -inf, 0.0], [1.0, -1.0, 0.0]),
    (tf.math.erfinv, [1.0, -1.0, 2.0], [inf, -inf, nan]),
    (tf.math.ndtri, [0.0, 1.0, 0.5], [-inf, inf, 0.0]),
]


@pytest.mark.parametrize("fn, given, expected", SPECIAL)
def test_special_values(fn, given, expected):
    np.testing.assert_array_equal(fn(tf.constant(given)).numpy(), np.float32(expected))


def test_zeta_at_its_poles():
    result = tf.math.zeta(tf.constant([2.0, 3.0, 2.0]), tf.constant([-1.0, -1.0, 1.0])).numpy()
    np.testing.assert_allclose(result, [inf, nan, np.pi**2 / 6], 1e-6)


@pytest.mark.parametrize(
    "a, x", [(0.3, 0.05), (2.0, 1.0), (0.7, 30.0), (50.0, 10.0), (50.0, 120.0), (5.0, 5.0), (1e-3, 3.0)]
)
def test_slope_of_igamma_in_its_first_argument(a, x):
    step = 1e-6 * max(a, 1e-2)
    expected = (special.gammainc(a + step, x) - special.gammainc(a - step, x)) / (2 * step)
    ours = tf.raw_ops.IgammaGradA(a=tf.constant([a], tf.float64), x=tf.constant([x], tf.float64)).numpy()[0]
    np.testing.assert_allclose(ours, expected, 1e-5, 1e-9)


def test_slope_of_igamma_outside_its_domain_is_nan():
    ours = tf.raw_ops.IgammaGradA(a=[-1.0, 1.0, nan, 1.0], x=[1.0, -1.0, 1.0, 0.0]).numpy()
    np.testing.assert_array_equal(ours, [nan, nan, nan, 0.0])


def test_the_exponential_integral_begins_at_zero():
    np.testing.assert_array_equal(tf.math.special.expint([-1.0, -0.5, 0.0, nan]), [nan, nan, -np.inf, nan])
