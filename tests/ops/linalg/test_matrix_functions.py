"""Functions of matrices: values against NumPy and SciPy, gradients against finite differences; compositions on them."""

import numpy as np
import pytest
import scipy.linalg

import ebbflow as tf
from tests.ops.cases import MODES, Case, args

SQUARE = np.array([[2.0, -0.5, 0.3], [0.4, 1.5, 0.2], [-0.1, 0.6, 1.1]])
BANDED = np.array([[0.5, 0.3, 0.0], [2.0, 3.0, 2.5], [0.0, -0.4, 0.7]])
FULL = np.diag(BANDED[1]) + np.diag(BANDED[0, :-1], 1) + np.diag(BANDED[2, 1:], -1)

CASES = [
    Case(tf.linalg.expm, [SQUARE], scipy.linalg.expm, tol=100),
    Case(tf.linalg.expm, [np.stack([SQUARE, SQUARE.T])], scipy.linalg.expm, tol=100),
    Case(tf.linalg.sqrtm, [SQUARE], lambda a: scipy.linalg.sqrtm(a).real, tol=100),
    Case(lambda a: tf.linalg.lu(a)[0], [SQUARE], lambda a: packed_lu(a), name="lu"),
    Case(lambda a: tf.linalg.lu(a)[0], [SQUARE[::-1].copy()], lambda a: packed_lu(a), name="lu"),
    Case(lambda a: tf.linalg.lu_reconstruct(*tf.linalg.lu(a)), [SQUARE[::-1].copy()], lambda a: a, name="lu_again"),
    Case(lambda a: tf.linalg.lu_matrix_inverse(*tf.linalg.lu(a)), [SQUARE], np.linalg.inv, tol=100, name="lu_inverse"),
    Case(tf.linalg.pinv, [SQUARE[:, :2].copy()], np.linalg.pinv, tol=1000, smooth=0),
    Case(tf.linalg.tridiagonal_solve, [BANDED, *args("3 2")], lambda _, b: np.linalg.solve(FULL, b), smooth=0, tol=100),
    Case(tf.linalg.tridiagonal_matmul, [BANDED, *args("3 2")], lambda _, b: FULL @ b, smooth=0),
    Case(
        lambda a: tf.math.real(tf.linalg.eigvals(a)), [np.diag([1.0, 2.0, 4.0]) + 0.1 * SQUARE],
        lambda a: np.linalg.eigvals(a).real, name="eigvals", tol=100, smooth=1,
    ),
]  # fmt: skip


def packed_lu(a):
    """Return L below and U above the diagonal."""
    _, low, up = scipy.linalg.lu(a)
    return np.tril(low, -1) + up


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions_of_matrices(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


def test_lu_solves_batches():
    a, b = np.stack([SQUARE, SQUARE[::-1]]), np.ones((2, 3, 1))
    np.testing.assert_allclose(tf.linalg.lu_solve(*tf.linalg.lu(a), b), np.linalg.solve(a, b))


def test_rank_counts_what_is_not_zero():
    assert tf.linalg.matrix_rank(
        np.stack([np.eye(3), np.diag([1.0, 1.0, 0.0]), np.zeros((3, 3))])
    ).numpy().tolist() == [3, 2, 0]


@pytest.mark.parametrize(
    "select, bounds, wanted", [("a", None, slice(None)), ("i", (0, 1), slice(2)), ("v", (1.0, 9.0), None)]
)
def test_eigenvalues_of_three_diagonals(select, bounds, wanted):
    alpha, beta = np.array([1.0, 2.0, 3.0]), np.array([0.5, -0.25])
    expected = np.linalg.eigvalsh(np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1))
    expected = expected[expected > 1.0] if wanted is None else expected[wanted]
    values, vectors = tf.linalg.eigh_tridiagonal(alpha, beta, False, select, bounds)
    np.testing.assert_allclose(values, expected)
    assert vectors.shape == (3, len(expected))


@pytest.mark.parametrize("form", ["sequence", "matrix"])
def test_diagonals_come_in_several_forms(form):
    given = (BANDED[0, :-1], BANDED[1], BANDED[2, 1:]) if form == "sequence" else FULL
    rhs = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(tf.linalg.tridiagonal_solve(given, rhs, form), np.linalg.solve(FULL, rhs))


def test_older_names_are_the_ops_of_today():
    a = np.array([[4.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(tf.raw_ops.BatchCholesky(input=a), np.linalg.cholesky(a))
    both = tf.raw_ops.SelfAdjointEig(input=a)
    np.testing.assert_allclose(both[0], np.linalg.eigvalsh(a))
    assert both.shape == (3, 2)


def test_systems_of_three_diagonals_whose_right_sides_are_rows():
    rhs = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], tf.float64)
    wanted = tf.linalg.tridiagonal_solve(BANDED, tf.transpose(rhs))
    np.testing.assert_array_equal(tf.linalg.tridiagonal_solve(BANDED, rhs, transpose_rhs=True), wanted)


NO_SYSTEMS = {
    "rank 1": (([4], [4]), "compact", "rank at least 2"),
    "two diagonals": (([2, 4], [4]), "compact", "Expected 3 diagonals, got 2"),
    "too few equations": (([3, 4], [5, 1]), "compact", "as many right sides as equations, got 5 and 4"),
    "ranks apart": (([5, 3, 4], [4]), "compact", "rank of `rhs` to be 2 or 3, got 1"),
    "other batches": (([5, 3, 4], [4, 4, 1]), "compact", "Batch shapes"),
    "no square": (([5, 3], [5]), "matrix", "same, got"),
}


@pytest.mark.parametrize("name", NO_SYSTEMS)
def test_what_makes_no_systems(name):
    (diagonals, rhs), form, says = NO_SYSTEMS[name]
    with pytest.raises(ValueError, match=says):
        tf.linalg.tridiagonal_solve(tf.ones(diagonals), tf.ones(rhs), form)
    with pytest.raises(ValueError, match="length 5 or 4, got 6"):
        tf.linalg.tridiagonal_solve([tf.ones([2, 5]), tf.ones([2, 5]), tf.ones([2, 6])], tf.ones([2, 5]), "sequence")


def test_systems_of_an_unknown_size():
    with tf.Graph().as_default():
        rows = tf.compat.v1.placeholder(tf.float32, [None, 4])
        assert tf.linalg.tridiagonal_solve(rows, tf.ones([4]), "matrix").shape.rank == 1


def test_vectors_of_complex_matrices_of_three_diagonals():
    beta = np.array([1.0 + 2j, -0.5j])
    matrix = np.diag([1.0, 2.0, 3.0]) + np.diag(beta, 1) + np.diag(beta.conj(), -1)
    values, vectors = tf.linalg.eigh_tridiagonal(tf.constant([1.0, 2.0, 3.0], tf.complex128), beta, eigvals_only=False)
    np.testing.assert_allclose(matrix @ vectors.numpy(), vectors.numpy() * values.numpy(), atol=1e-12)
