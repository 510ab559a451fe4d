"""Linear operators as values made of tensors: taken apart, passed to functions, differentiated, sliced, written."""

import itertools

import numpy as np
import pytest

import ebbflow as tf
from tests.linear.test_operators import KINDS, L

STATIC = ("identity", "zeros", "permutation")
"""Operators with no tensor in them that has a gradient."""


@pytest.mark.parametrize("name", KINDS)
def test_an_operator_is_taken_apart_and_put_together(name):
    operator = KINDS[name]()
    again = tf.nest.pack_sequence_as(
        operator, tf.nest.flatten(operator, expand_composites=True), expand_composites=True
    )
    assert type(again) is type(operator) and again._type_spec == operator._type_spec
    np.testing.assert_allclose(again.to_dense(), operator.to_dense())
    assert operator._type_spec.is_compatible_with(again)


@pytest.mark.parametrize("name", KINDS)
def test_a_function_takes_an_operator(name):
    operator = KINDS[name]()
    x = tf.ones([operator.shape[-1], 2], operator.dtype)
    product = tf.function(lambda op, x: op.matmul(x))
    np.testing.assert_allclose(product(operator, x), operator.matmul(x))


@pytest.mark.parametrize("name", [name for name in KINDS if name not in STATIC])
def test_the_gradient_of_an_operator_is_one_of_gradients(name):
    operator = KINDS[name]()
    parts = tf.nest.flatten(operator, expand_composites=True)
    x = tf.ones([operator.shape[-1], 2], operator.dtype)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(operator)
        again = tf.nest.pack_sequence_as(operator, parts, expand_composites=True)
        y, same = operator.matmul(x), again.matmul(x)
    grad = tape.gradient(y, operator)
    assert type(grad) is type(operator)
    for ours, theirs in zip(tf.nest.flatten(grad, expand_composites=True), tape.gradient(same, parts), strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_variables_stay_variables_for_gradients():
    diag = tf.Variable([1.0, 2.0])
    operator = L.LinearOperatorDiag(diag)
    with tf.GradientTape() as tape:
        y = operator.matvec([3.0, 4.0])
    assert tape.gradient(y, operator).diag.numpy().tolist() == [3.0, 4.0]
    fixed = operator._convert_variables_to_tensors()
    diag.assign([5.0, 6.0])
    assert fixed.diag_part().numpy().tolist() == [1.0, 2.0] and operator.diag_part().numpy().tolist() == [5.0, 6.0]


BATCHES = {
    "full": lambda: L.LinearOperatorFullMatrix(np.arange(48.0).reshape(4, 3, 2, 2)),
    "diag": lambda: L.LinearOperatorDiag(np.arange(24.0).reshape(4, 3, 2)),
    "zeros": lambda: L.LinearOperatorZeros(2, batch_shape=[4, 3]),
    "fewer axes": lambda: L.LinearOperatorComposition(
        [L.LinearOperatorDiag(np.arange(24.0).reshape(4, 3, 2)), L.LinearOperatorDiag(np.ones([3, 2]))]
    ),
    "one row for all": lambda: L.LinearOperatorLowRankUpdate(
        L.LinearOperatorDiag(np.arange(24.0).reshape(4, 3, 2)), np.ones([1, 3, 2, 1])
    ),
}
SLICES = [np.s_[1:-1], np.s_[1], np.s_[..., 0:1], np.s_[1:-1, ..., 1], np.s_[:, 2], np.s_[::2, ::-1]]


@pytest.mark.parametrize(("name", "at"), list(itertools.product(BATCHES, SLICES)))
def test_some_of_a_batch(name, at):
    operator = BATCHES[name]()
    some = operator[at]
    assert type(some) is type(operator)
    whole = (*at, slice(None), slice(None)) if isinstance(at, tuple) else (at, ..., slice(None), slice(None))
    np.testing.assert_array_equal(some.to_dense(), operator.to_dense().numpy()[whole])


def diag():
    return L.LinearOperatorDiag([1.0, 2.0, 3.0], is_non_singular=True)


def circulant():
    return L.LinearOperatorCirculant([1.0, 2.0, 2.0], tf.float32, is_non_singular=True)


#             left, right, the kind of their product and of left⁻¹·right, as TensorFlow 2.21 has them
PRODUCTS = [
    (diag, diag, "Diag", "Diag"),
    (diag, lambda: L.LinearOperatorScaledIdentity(3, 2.0, is_non_singular=True), "Diag", "Diag"),
    (lambda: L.LinearOperatorIdentity(3), circulant, "Circulant", "Circulant"),
    (circulant, circulant, "Circulant", "Circulant"),
    (diag, lambda: L.LinearOperatorLowerTriangular(tf.ones([3, 3])), "LowerTriangular", "LowerTriangular"),
    (
        lambda: L.LinearOperatorBlockDiag([diag()]),
        lambda: L.LinearOperatorBlockDiag([diag()]),
        "BlockDiag",
        "BlockDiag",
    ),
    (diag, lambda: L.LinearOperatorZeros(3), "Zeros", "Zeros"),
    (circulant, diag, "Composition", "Composition"),
]


@pytest.mark.parametrize(("left", "right", "product", "quotient"), PRODUCTS)
def test_products_of_known_kinds(left, right, product, quotient):
    a, b = left(), right()
    for found, kind, dense in (
        (a.matmul(b), product, a.to_dense() @ b.to_dense()),
        (a.solve(b), quotient, tf.linalg.solve(a.to_dense(), b.to_dense())),
    ):
        assert type(found).__name__ == f"LinearOperator{kind}"
        np.testing.assert_allclose(found.to_dense(), dense, atol=1e-6)


def test_blocks_are_taken_and_given_one_by_one():
    first, second = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), tf.constant([[7.0, 8.0]])
    blocks = L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(m) for m in (first, second)])
    assert blocks.is_square is False and blocks.shape.as_list() == [3, 5]
    x, y = tf.ones([3, 2]), tf.ones([2, 2])
    for found, wanted in zip(blocks.matmul([x, y]), (first @ x, second @ y), strict=True):
        np.testing.assert_allclose(found, wanted)
    for found, wanted in zip(blocks.matvec([x[:, 0], y[:, 0]]), (first @ x, second @ y), strict=True):
        np.testing.assert_allclose(found, wanted[:, 0])
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        unknown = tf.compat.v1.placeholder_with_default(np.stack([first, first]), None)
        blocks = L.LinearOperatorBlockDiag([L.LinearOperatorFullMatrix(unknown), L.LinearOperatorFullMatrix(second)])
        assert session.run(blocks.to_dense()).shape == (2, 3, 5)
        three = tf.compat.v1.placeholder_with_default(np.tile([[1.0], [4.0], [1.0]], 5), None)
        rows = L.LinearOperatorTridiag(three)
        assert session.run(rows.solve(rows.matmul(np.eye(5)))) == pytest.approx(np.eye(5))
        around = L.LinearOperatorCirculant(
            tf.compat.v1.placeholder_with_default(np.array([3.0, 2.0, 2.0]), None), "float64"
        )
        columns = tf.compat.v1.placeholder_with_default(np.eye(3), None)
        assert session.run(around.solve(around.matmul(columns))) == pytest.approx(np.eye(3))


def test_hints_follow_from_the_parts():
    d, f = (
        L.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True),
        L.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 5.0]]),
    )
    assert L.LinearOperatorKronecker([d, d]).is_positive_definite and L.LinearOperatorKronecker([d, d]).is_self_adjoint
    assert L.LinearOperatorKronecker([d, f]).is_positive_definite is None
    squared = L.LinearOperatorComposition([f, f.adjoint()])
    assert squared.is_self_adjoint and squared.is_positive_definite is None
    with pytest.raises(ValueError, match="is_self_adjoint is False"):
        L.LinearOperatorComposition([f, f.adjoint()], is_self_adjoint=False)
    with pytest.raises(ValueError, match="is_square hint to False"):
        _ = L.LinearOperatorFullMatrix(tf.eye(2), is_square=False).is_square
    turned = L.LinearOperatorDiag(tf.complex([1.0, 2.0], 0.0))
    update = L.LinearOperatorLowRankUpdate(turned, tf.complex(tf.ones([2, 1]), 0.0), tf.complex([2.0], 0.0))
    assert turned.log_abs_determinant().dtype == tf.complex64
    wanted = np.log(np.linalg.det(np.diag([1.0, 2.0]) + 2.0))
    np.testing.assert_allclose(update.log_abs_determinant(), wanted, rtol=1e-5)


def test_a_saved_model_takes_operators(tmp_path):
    class Model(tf.Module):
        def __init__(self):
            self.x = tf.Variable([1.0, 3.0, 5.0])

        @tf.function(input_signature=[diag()._type_spec])
        def product(self, operator):
            return operator.matvec(self.x)

    tf.saved_model.save(Model(), str(tmp_path))
    assert tf.saved_model.load(str(tmp_path)).product(diag()).numpy().tolist() == [1.0, 6.0, 15.0]


def test_a_diagonals_promises():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Singular operator"):
        L.LinearOperatorDiag([1.0, 0.0]).assert_non_singular()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"non-positive.*not positive definite"):
        L.LinearOperatorDiag([1.0, 0.0]).assert_positive_definite()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"imaginary.*not self-adjoint"):
        L.LinearOperatorDiag(tf.complex([1.0, 0.0], [0.0, 1.0])).assert_self_adjoint()


def test_a_kind_of_a_programs_own_is_a_composite():
    from ebbflow.linear.composite import make_composite_tensor

    @make_composite_tensor
    class Mine(tf.linalg.LinearOperatorLowerTriangular):
        pass

    operator = tf.function(lambda operator: operator)(Mine([[2.0, 0.0], [1.0, 3.0]]))
    assert type(operator) is Mine and operator.to_dense().numpy().tolist() == [[2.0, 0.0], [1.0, 3.0]]
