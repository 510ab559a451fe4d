"""Identities: what is refused, and which kind their products are."""

from __future__ import annotations

import pytest

import ebbflow as tf

Identity = tf.linalg.LinearOperatorIdentity
Scaled = tf.linalg.LinearOperatorScaledIdentity


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"num_rows": -2}, ValueError, "num_rows must be non-negative"),
        ({"num_rows": 2.0}, TypeError, "num_rows must be integer type"),
        ({"num_rows": [2]}, ValueError, "num_rows must be a 0-D"),
        ({"num_rows": 2, "batch_shape": 2}, ValueError, "batch_shape must be a 1-D"),
        ({"num_rows": 2, "batch_shape": [2.0]}, TypeError, "batch_shape must be integer"),
        ({"num_rows": 2, "batch_shape": [-2]}, ValueError, "batch_shape must be non-negative"),
        ({"num_rows": 2, "is_square": False}, ValueError, "is always square"),
        ({"num_rows": 2, "is_self_adjoint": False}, ValueError, "is always self adjoint"),
    ],
)
def test_what_is_refused(given, error, says):
    with pytest.raises(error, match=says):
        Identity(**given)


@pytest.mark.parametrize("batch", [None, [2], [3, 2]])
@pytest.mark.parametrize("operation", ["matmul", "solve"])
def test_products_of_identities(batch, operation):
    one = Identity(3, batch, tf.float32)
    assert type(getattr(one, operation)(one)) is Identity
    other = Scaled(3, 2.0 * tf.ones(batch or []))
    for left, right in [(one, other), (other, one)]:
        found = getattr(left, operation)(right)
        assert type(found) is Scaled and found.batch_shape.as_list() == (batch or [])
        by_hand = tf.matmul(left.to_dense() if operation == "matmul" else left.inverse().to_dense(), right.to_dense())
        assert (found.to_dense().numpy() == by_hand.numpy()).all()


def test_a_batch_of_identities_makes_a_batch():
    found = Identity(2, [3]).matmul(Scaled(2, 5.0))
    assert found.shape.as_list() == [3, 2, 2]


def test_kaiser_windows_are_even_in_beta():
    windows = [tf.signal.kaiser_window(5, beta).numpy().tolist() for beta in (4.0, -4.0)]
    assert windows[0] == windows[1]


def test_numbers_times_the_identity():
    root = Scaled(2, 9.0, is_positive_definite=True, is_self_adjoint=True).cholesky()
    assert type(root) is Scaled and float(root.multiplier) == 3.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="was singular"):
        Scaled(2, [1.0, 0.0]).assert_non_singular()
    with pytest.raises(tf.errors.InvalidArgumentError, match="not self-adjoint"):
        Scaled(2, [1.0 + 1.0j]).assert_self_adjoint()
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        Identity(2).matmul(tf.ones([3, 3]))
