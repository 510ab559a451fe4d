"""Identities: what is refused, and which kind their products are."""

from __future__ import annotations

import pytest

import ebbflow as tf

Identity = tf.linalg.LinearOperatorIdentity
Scaled = tf.linalg.LinearOperatorScaledIdentity
Zeros = tf.linalg.LinearOperatorZeros


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


SIZED = {
    "identity": lambda rows, batch: Identity(rows, batch),
    "scaled": lambda rows, batch: Scaled(rows, tf.fill(batch, 2.0)),
    "zeros": lambda rows, batch: Zeros(rows, batch_shape=batch),
    "wide zeros": lambda rows, batch: Zeros(rows, 2, batch, is_square=False, is_self_adjoint=False),
}


@pytest.mark.parametrize("name", SIZED)
def test_sizes_that_only_a_run_knows(name):
    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32), tf.TensorSpec(None, tf.int32)])
    def run(rows, batch):
        made = SIZED[name](rows, batch)
        assert not made.shape.is_fully_defined()
        if made.is_square:
            return made.to_dense(), made.shape_tensor(), made.matmul(tf.ones([3, 3]))
        return made.to_dense(), made.shape_tensor(), made.adjoint().to_dense()

    wanted = SIZED[name](3, [2])
    dense, shape, other = run(3, [2])
    assert other.shape == ([2, 3, 3] if wanted.is_square else [2, 2, 3])
    assert dense.numpy().tolist() == wanted.to_dense().numpy().tolist()
    assert shape.numpy().tolist() == wanted.shape.as_list()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"num_rows": -3}, "num_rows must be non-negative"),
        ({"num_rows": [3]}, "num_rows must be a 0-D"),
        ({"batch_shape": [[1]]}, "batch_shape must be a 1-D"),
        ({"batch_shape": [-2]}, "batch_shape must be non-negative"),
    ],
)
@pytest.mark.parametrize("kind", [Identity, Zeros])
def test_sizes_are_checked_as_they_come(kind, given, says):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        given = {name: tf.compat.v1.placeholder_with_default(value, None) for name, value in given.items()}
        made = kind(**{"num_rows": 3, **given}, assert_proper_shapes=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match=says):
            session.run(made.to_dense())
            session.run(made.matmul(tf.ones([3, 3])))


@pytest.mark.parametrize("kind", [Identity, Zeros])
def test_variables_are_no_sizes(kind):
    with pytest.raises(TypeError, match="num_rows cannot be reference type"):
        kind(tf.Variable(3))
    with pytest.raises(TypeError, match="batch_shape cannot be reference type"):
        kind(3, batch_shape=tf.Variable([3]))


def test_what_zeros_never_are():
    zeros = Zeros(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="always non-invertible"):
        zeros.assert_non_singular()
    with pytest.raises(tf.errors.InvalidArgumentError, match="always non-positive definite"):
        zeros.assert_positive_definite()
    zeros.assert_self_adjoint()


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
