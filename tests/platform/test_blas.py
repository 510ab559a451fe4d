"""Small matrices keep to one thread of NumPy's BLAS, and it has its threads again afterwards."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.platform import blas


def counts():
    return [one.get() for one in blas.found()]


def test_small_matrices_are_one_threads():
    before, seen = counts(), []

    @blas.calm
    def kernel(xp, x, *, fails):
        seen.append(counts())
        if fails:
            raise ValueError("as asked")
        return x

    kernel(np, np.zeros([2, 30, 30]), fails=False)
    kernel(np, np.zeros([blas.SMALL + 1, 1]), fails=False)
    with pytest.raises(ValueError, match="as asked"):
        kernel(np, np.zeros([30, 30]), fails=True)
    kernel(np, np.zeros([2, blas.TINY, 3]), fails=False)
    ones = [1] * len(before)
    assert seen == [ones, before, ones, before]
    assert counts() == before


def test_attrs_of_such_kernels_are_known():
    assert tf.raw_ops.MatrixInverse(input=tf.constant([[0.0, 2.0], [1.0, 0.0]]), adjoint=True).numpy().tolist() == [
        [0.0, 0.5],
        [1.0, 0.0],
    ]
