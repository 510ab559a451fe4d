"""Rounded values far from the middle; mixtures of parts that do not fit; bounds that are no bounds."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.distributions import compound
from ebbflow.distributions.bijectors import elementwise
from ebbflow.distributions.categories import Categorical
from ebbflow.distributions.real import Normal


def test_rounded_values_far_out_have_finite_densities():
    loc = tf.Variable(0.0)
    x = np.arange(-20, 20, 2).astype(np.float32)
    with tf.GradientTape() as tape:
        found = compound.QuantizedDistribution(Normal(loc, 1.0)).log_prob(x)
    assert np.isfinite(found).all() and np.isfinite(tape.gradient(found, loc))
    # the logarithms of the normal's share of (x - 1, x], by double precision
    expected = {-20.0: -203.91716, -2.0: -3.8443534, 0.0: -1.0748623, 2.0: -1.9957983, 18.0: -148.25558}
    for at, value in expected.items():
        np.testing.assert_allclose(found[int((at + 20) / 2)], value, rtol=2e-5)


def test_bounds_are_whole_and_in_order():
    for low, text in ((1.0, "strictly less"), (0.5, "non-integer")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            compound.QuantizedDistribution(Normal(0.0, 1.0), low=low, high=1.0, validate_args=True).sample()


def test_parts_of_a_mixture_have_one_batch():
    with pytest.raises(ValueError, match="compatible"):
        compound.Mixture(Categorical([-0.5, 0.5]), [Normal(1.0, 2.0), Normal([1.0, 1.0], 2.0)])


def test_ways_back_from_below_zero_are_refused():
    both = elementwise.AbsoluteValue(validate_args=True)
    assert [float(x) for x in both.inverse_log_det_jacobian(1.0, event_ndims=0)] == [0.0, 0.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="was negative"):
        both.inverse_log_det_jacobian(-1.0, event_ndims=0)
