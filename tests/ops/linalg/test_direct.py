"""Factors of small matrices asked of LAPACK directly: what `numpy.linalg` gives, to the last bit, or nothing."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.linalg import direct

SHAPES = [(3, 3), (4, 2), (2, 5), (2, 3, 3), (0, 3), (3, 0), (5, 1, 1), (40, 33)]


def drawn(shape, dtype):
    random = np.random.default_rng(7)
    return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_factors_are_those_of_numpy(shape, dtype):
    x = drawn(shape, dtype)
    kept = x.copy()
    found = direct.qr(x)
    assert np.array_equal(x, kept)
    if not x.size:
        assert found is None
        return
    for ours, numpys in zip(found, np.linalg.qr(x), strict=True):
        np.testing.assert_array_equal(ours.astype(dtype), numpys)
    if shape[-1] == shape[-2]:
        for ours, numpys in zip(direct.eig(x), np.linalg.eig(x), strict=True):
            np.testing.assert_array_equal(ours.astype(numpys.dtype), numpys)


@pytest.mark.parametrize("odd", [np.inf, np.nan])
def test_what_is_not_finite_is_not_given_to_lapack(odd):
    x = np.array([[1.0, odd], [0.0, 1.0]], "f")
    assert direct.eig(x) is None and not direct.sound(x)
    assert np.isnan(tf.linalg.eig(x)[0]).all()
    assert np.isnan(tf.linalg.det(np.array([[1.0, np.nan], [0.0, 1.0]], "f")))


def test_large_numbers_whose_squares_are_not_finite_have_an_answer():
    x = np.diag([1e30, 1.0]).astype("f")
    assert not direct.sound(x)
    np.testing.assert_allclose(tf.linalg.eig(x)[0], [1e30, 1])
    np.testing.assert_allclose(tf.linalg.cholesky(np.diag([1e30, 1.0]).astype("f")), np.diag([1e15, 1]), rtol=1e-6)
    np.testing.assert_allclose(tf.linalg.slogdet(x)[1], np.log(1e30), rtol=1e-6)
    assert tf.linalg.det(x) == 1e30


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_a_numpy_that_has_no_such_functions(monkeypatch):
    x = drawn((3, 3), "f")
    wanted = [*tf.linalg.qr(x), *tf.linalg.eig(x)]
    monkeypatch.setattr(direct, "_functions", None)
    assert direct.qr(x) is None and direct.eig(x) is None
    for ours, before in zip([*tf.linalg.qr(x), *tf.linalg.eig(x)], wanted, strict=True):
        np.testing.assert_array_equal(ours, before)
