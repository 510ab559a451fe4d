"""Special functions fitted by polynomials: SciPy's numbers to the last bit of 32 but one, SciPy itself outside."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.registry import registry
from ebbflow.ops.elementwise.element_loops import LARGE
from ebbflow.ops.elementwise.fitted_loops import FITS, ROWS, polynomial
from ebbflow.ops.elementwise.special import scipy_function

NAMES = {
    "BesselI0": "i0", "BesselI0e": "i0e", "BesselI1": "i1", "BesselI1e": "i1e", "BesselK0": "k0", "BesselK1": "k1",
    "Expint": "expi", "Dawsn": "dawsn", "Erfinv": "erfinv", "Ndtri": "ndtri", "Lgamma": "gammaln",
}  # fmt: skip


def numbers(op):
    row, random = ROWS[op], np.random.default_rng(0)
    low, high = max(row.low, -60), min(row.high, 60)
    sizes = np.exp(random.uniform(-14, np.log(high), LARGE))
    x = np.concatenate([random.uniform(low, high, LARGE), sizes, -sizes, high - sizes]).astype(np.float32)
    return x[(x > row.low) & (x < row.high)]


@pytest.mark.parametrize("op", ROWS)
def test_numbers_are_scipys(op, monkeypatch):
    monkeypatch.delenv("EBBFLOW_ENGINES", raising=False)
    tf.constant(0.0) + 0.0
    x = numbers(op)
    assert x.size > LARGE
    kernel = registry[op].large_fn(tf.float32, lambda x: pytest.fail("there is code"))
    expected = scipy_function("numpy", NAMES[op])(x.astype(np.float64))
    found = kernel(x)
    assert found.dtype == np.float32
    assert (np.abs(found - expected) <= np.spacing(np.abs(expected).astype(np.float32))).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, -1e30])
@pytest.mark.parametrize("op", ROWS)
def test_outside_of_the_domain_scipy_answers(op, value):
    """For what is there; others are what they are without it."""
    x = numbers(op)
    plain = scipy_function("numpy", NAMES[op])
    kernel = registry[op].large_fn(tf.float32, plain)
    expected = kernel(x)
    x[7] = value
    expected[7] = plain(x)[7]
    np.testing.assert_array_equal(kernel(x), expected)


def test_every_polynomial_is_used_and_short():
    for name, fit in FITS.items():
        assert any(f"P_{name}(" in row.lines for row in ROWS.values())
        assert len(polynomial(fit)) < 20


def test_other_dtypes_have_no_such_form():
    assert registry["Erfinv"].large_fn(tf.float64, None) is None
