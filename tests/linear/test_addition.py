"""Sums of linear operators: the cheapest kind that can hold a sum, promises, and what cannot be added."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.linear import addition

linalg = tf.linalg


def test_each_tier_adds_what_it_can():
    diagonal = linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True, name="d")
    identity = linalg.LinearOperatorIdentity(2, name="i")
    triangle = linalg.LinearOperatorLowerTriangular([[1.0, 0.0], [5.0, 1.0]], name="t")
    (twice,) = addition.add_operators([identity, identity])
    assert isinstance(twice, linalg.LinearOperatorScaledIdentity) and twice.is_positive_definite
    (both,) = addition.add_operators([diagonal, identity])
    assert isinstance(both, linalg.LinearOperatorDiag) and both.name == "Add/i__d/"
    (three,) = addition.add_operators([diagonal, triangle, identity], operator_name="sum")
    assert isinstance(three, linalg.LinearOperatorLowerTriangular) and three.name == "sum"
    np.testing.assert_allclose(three.to_dense(), [[3, 0], [5, 4]])
    left = addition.add_operators([diagonal, triangle, identity], addition_tiers=[[addition.AddAndReturnDiag()]])
    assert len(left) == 2


def test_what_cannot_be_added():
    with pytest.raises(ValueError, match="at least one operator"):
        addition.add_operators([])
    with pytest.raises(TypeError, match="only LinearOperator"):
        addition.add_operators([1, 2])
    with pytest.raises(ValueError, match="same domain dimension"):
        addition.add_operators([linalg.LinearOperatorIdentity(2), linalg.LinearOperatorIdentity(3)])
