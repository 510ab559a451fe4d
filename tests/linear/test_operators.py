"""Every kind of linear operator does what its dense matrix does."""

import numpy as np
import pytest

import ebbflow as tf

L = tf.linalg
RANDOM = np.random.RandomState(5)
SQUARE = np.eye(3) * 3 + 0.5 * RANDOM.randn(3, 3)
POSITIVE = SQUARE @ SQUARE.T
BATCH = np.stack([SQUARE, SQUARE.T])
DIAGONALS = np.array([[0.5, -1.0, 0.0], [4.0, 5.0, 6.0], [0.0, 1.0, 0.25]])


def full(matrix=SQUARE, **hints):
    return L.LinearOperatorFullMatrix(matrix, **hints)


KINDS = {
    "full": full,
    "batch": lambda: full(BATCH),
    "positive": lambda: full(POSITIVE, is_self_adjoint=True, is_positive_definite=True),
    "triangle": lambda: L.LinearOperatorLowerTriangular(BATCH),
    "diag": lambda: L.LinearOperatorDiag(np.array([1.0, -2.0, 3.0])),
    "identity": lambda: L.LinearOperatorIdentity(3, dtype=tf.float64),
    "scaled": lambda: L.LinearOperatorScaledIdentity(3, np.array([2.0, -3.0])),
    "householder": lambda: L.LinearOperatorHouseholder(np.array([1.0, 2.0, -1.0])),
    "permutation": lambda: L.LinearOperatorPermutation([2, 0, 1], dtype=tf.float64),
    "toeplitz": lambda: L.LinearOperatorToeplitz(np.array([5.0, 1.0, 2.0]), np.array([5.0, -1.0, 0.5])),
    "tridiag": lambda: L.LinearOperatorTridiag(DIAGONALS),
    "adjoint": lambda: full().adjoint(),
    "inverse": lambda: full(is_non_singular=True).inverse(),
    "composition": lambda: L.LinearOperatorComposition([full(), L.LinearOperatorDiag(np.array([1.0, 2.0, 3.0]))]),
    "product": lambda: full().matmul(full(SQUARE.T)),
    "kronecker": lambda: L.LinearOperatorKronecker([full(SQUARE[:2, :2]), full()]),
    "blocks": lambda: L.LinearOperatorBlockDiag([full(), L.LinearOperatorDiag(np.array([2.0, 1.0]))]),
    "triangle of blocks": lambda: L.LinearOperatorBlockLowerTriangular(
        [[full()], [full(SQUARE[:2]), full(SQUARE[:2, :2])]]
    ),
    "update": lambda: L.LinearOperatorLowRankUpdate(
        L.LinearOperatorDiag(np.array([4.0, 5.0, 6.0])), SQUARE[:, :2], np.array([0.5, 0.25])
    ),
    "circulant": lambda: L.LinearOperatorCirculant(np.array([3.0, 1.0, 1.0]), tf.float64),
    "complex circulant": lambda: L.LinearOperatorCirculant(np.array([3.0, 1.0 + 1j, 2.0 - 0.5j]), tf.complex128),
    "circulant of blocks": lambda: L.LinearOperatorCirculant2D(np.array([[4.0, 2.0], [1.0, 3.0]]) + 0j, tf.complex128),
}


@pytest.mark.parametrize("name", KINDS)
def test_does_what_its_matrix_does(name):
    operator = KINDS[name]()
    dense = operator.to_dense().numpy()
    assert tuple(operator.shape) == dense.shape == tuple(operator.shape_tensor().numpy())
    rows = dense.shape[-1]
    x = RANDOM.randn(rows, 2).astype(dense.dtype)
    turned = np.conj(np.swapaxes(dense, -1, -2))
    close = {"rtol": 1e-8, "atol": 1e-8}
    np.testing.assert_allclose(operator.matmul(x), dense @ x, **close)
    np.testing.assert_allclose(operator.matmul(x, adjoint=True), turned @ x, **close)
    np.testing.assert_allclose(operator.matmul(x.T.conj(), adjoint_arg=True), dense @ x, **close)
    np.testing.assert_allclose(operator.matvec(x[:, 0]), (dense @ x)[..., 0], **close)
    wide = np.broadcast_to(x, (*dense.shape[:-2], *x.shape))
    np.testing.assert_allclose(operator.solve(x), np.linalg.solve(dense, wide), **close)
    np.testing.assert_allclose(operator.solve(x, adjoint=True), np.linalg.solve(turned, wide), **close)
    np.testing.assert_allclose(operator.determinant(), np.linalg.det(dense), **close)
    logarithm = operator.log_abs_determinant().numpy()
    np.testing.assert_allclose(logarithm, np.linalg.slogdet(dense)[1].astype(logarithm.dtype), **close)
    np.testing.assert_allclose(operator.diag_part(), np.diagonal(dense, axis1=-2, axis2=-1), **close)
    np.testing.assert_allclose(operator.trace(), np.trace(dense, axis1=-2, axis2=-1), **close)
    np.testing.assert_allclose(operator.adjoint().to_dense(), turned, **close)
    np.testing.assert_allclose(operator.inverse().to_dense(), np.linalg.inv(dense), **close)
    np.testing.assert_allclose(operator.add_to_tensor(dense), 2 * dense, **close)


@pytest.mark.parametrize("name", ["full", "triangle", "diag", "kronecker", "blocks", "update"])
def test_in_a_function(name):
    operator = KINDS[name]()
    x = RANDOM.randn(operator.shape[-1], 2)
    found = tf.function(lambda x: operator.solve(operator.matmul(x)))(tf.constant(x))
    np.testing.assert_allclose(found, np.broadcast_to(x, found.shape), 1e-8, 1e-8)


def test_variables_are_read_each_time_and_have_gradients():
    diagonal = tf.Variable([1.0, 2.0])
    operator = L.LinearOperatorDiag(diagonal)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(operator.matvec([3.0, 4.0]))
    assert tape.gradient(y, diagonal).numpy().tolist() == [3.0, 4.0]
    diagonal.assign([5.0, 6.0])
    assert operator.to_dense().numpy().tolist() == [[5.0, 0.0], [0.0, 6.0]]
    assert [v is diagonal for v in operator.trainable_variables] == [True]


def test_cholesky_is_an_operator():
    operator = KINDS["positive"]()
    factor = operator.cholesky().to_dense().numpy()
    np.testing.assert_allclose(factor @ factor.T, POSITIVE)
    with pytest.raises(ValueError, match="Cholesky"):
        full().cholesky()


def test_zeros_and_sides_that_differ():
    zeros = L.LinearOperatorZeros(2, 3)
    assert tuple(zeros.shape) == (2, 3) and not zeros.to_dense().numpy().any() and zeros.is_square is False
    with pytest.raises(NotImplementedError):
        zeros.solve([[1.0], [2.0]])


def test_promises_that_contradict_are_refused():
    with pytest.raises(ValueError, match="non-singular"):
        full(is_positive_definite=True, is_non_singular=False)
    with pytest.raises(ValueError, match="incompatible"):
        full().matmul(np.ones((4, 2)))
    KINDS["positive"]().assert_positive_definite()
    with pytest.raises(tf.errors.InvalidArgumentError):
        full(np.diag([1.0, 0.0])).assert_non_singular()


def test_conjugate_gradients_solve():
    operator = KINDS["positive"]()
    state = L.experimental.conjugate_gradient(operator, np.array([1.0, 2.0, 3.0]), max_iter=50, tol=1e-10)
    np.testing.assert_allclose(state.x, np.linalg.solve(POSITIVE, [1.0, 2.0, 3.0]), 1e-6)


def test_integers_are_applied_and_only_whole_matrices_refuse_them():
    diag, tril = L.LinearOperatorDiag([1, 2]), L.LinearOperatorLowerTriangular([[1, 0], [3, 4]])
    assert diag.matvec([5, 6]).numpy().tolist() == [5, 12] and diag.determinant().numpy() == 2
    assert tril.matvec([5, 6]).numpy().tolist() == [5, 39] and tril.trace().numpy() == 5
    assert L.LinearOperatorScaledIdentity(2, 3).to_dense().numpy().tolist() == [[3, 0], [0, 3]]
    with pytest.raises(
        TypeError, match=r"Argument `matrix` must have dtype in \[tf.float16, .*Received: <dtype: 'int32'>"
    ):
        L.LinearOperatorFullMatrix([[1, 2], [3, 4]])


def test_modules_find_the_variables_of_their_operators():
    class Holder(tf.Module):
        def __init__(self, operator):
            super().__init__()
            self.operator = operator

    first, second = (L.LinearOperatorDiag(tf.Variable([1.0, 2.0])) for _ in range(2))
    composed = L.LinearOperatorComposition([first, second])
    assert [len(x.trainable_variables) for x in (first, Holder(first), composed, Holder([composed]))] == [1, 1, 2, 2]


def test_a_circulant_is_a_convolution():
    spectrum = np.array([6.0, 4.0 + 1j, 4.0 - 1j])
    operator = L.LinearOperatorCirculant(spectrum, tf.complex128)
    assert operator.block_shape == [3] and operator.block_shape_tensor().numpy().tolist() == [3]
    kernel = operator.convolution_kernel().numpy()
    np.testing.assert_allclose(kernel, np.fft.ifft(spectrum))
    np.testing.assert_allclose(operator.to_dense().numpy()[:, 0], kernel)
    operator.assert_hermitian_spectrum()
    with pytest.raises(tf.errors.InvalidArgumentError, match="not Hermitian"):
        L.LinearOperatorCirculant([6.0 + 0j, 4.0, 2.0], tf.complex128).assert_hermitian_spectrum()
    real = L.LinearOperatorCirculant2D([[4.0, 2.0], [1.0, 3.0]], tf.float32)
    np.testing.assert_allclose(real.convolution_kernel(), np.fft.ifft2([[4.0, 2.0], [1.0, 3.0]]).real)


def test_matrices_are_added_by_their_argument_of_old():
    for operator, diagonal in ((L.LinearOperatorIdentity(2), 2.0), (L.LinearOperatorZeros(2), 1.0)):
        np.testing.assert_array_equal(np.diag(operator.add_to_tensor(mat=tf.ones([2, 2]))), [diagonal] * 2)


def test_methods_of_own_operators_have_scopes():
    operator = tf.linalg.LinearOperatorFullMatrix([[1.0]], name="mine")
    with tf.Graph().as_default():
        for scope in ("mine/solve/", "mine/solve_1/"):
            with operator._name_scope("solve") as found:
                assert found == scope


class Doubling(L.LinearOperator):
    """2 I, whose methods say that they were called."""

    def __init__(self, size):
        self.size, self.called = size, []
        super().__init__(tf.float32, is_non_singular=True, is_self_adjoint=True, is_square=True)

    def _said(self, name, result=None):
        self.called.append(name)
        return result

    def _shape(self):
        return tf.TensorShape([self.size, self.size])

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        self._check_input_dtype(x)
        return self._said("_matmul", 2 * (L.adjoint(x) if adjoint_arg else x))

    def _matvec(self, x, adjoint=False):
        return self._said("_matvec", 2 * x)

    def _solvevec(self, rhs, adjoint=False):
        return self._said("_solvevec", rhs / 2)

    def _trace(self):
        return self._said("_trace", tf.constant(2.0 * self.size))

    def _assert_non_singular(self):
        return self._said("_assert_non_singular")

    def _assert_self_adjoint(self):
        return self._said("_assert_self_adjoint")

    def _assert_positive_definite(self):
        return self._said("_assert_positive_definite")

    def _batch_shape_tensor(self, shape=None):
        return self._said("_batch_shape_tensor", tf.constant([], tf.int32))

    def _domain_dimension_tensor(self, shape=None):
        return self._said("_domain_dimension_tensor", tf.constant(self.size))

    def _range_dimension_tensor(self, shape=None):
        return self._said("_range_dimension_tensor", tf.constant(self.size))

    def _tensor_rank_tensor(self, shape=None):
        return self._said("_tensor_rank_tensor", tf.constant(2))


OWN_METHODS = [
    ("matmul", ([[1.0], [1.0], [1.0]],), "_matmul", [[2.0], [2.0], [2.0]]),
    ("matvec", ([1.0, 1.0, 1.0],), "_matvec", [2.0, 2.0, 2.0]),
    ("solvevec", ([1.0, 1.0, 1.0],), "_solvevec", [0.5, 0.5, 0.5]),
    ("trace", (), "_trace", 6.0),
    ("diag_part", (), "_matmul", [2.0, 2.0, 2.0]),
    ("to_dense", (), "_matmul", [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]),
    ("assert_non_singular", (), "_assert_non_singular", None),
    ("assert_self_adjoint", (), "_assert_self_adjoint", None),
    ("assert_positive_definite", (), "_assert_positive_definite", None),
    ("batch_shape_tensor", (), "_batch_shape_tensor", []),
    ("domain_dimension_tensor", (), "_domain_dimension_tensor", 3),
    ("range_dimension_tensor", (), "_range_dimension_tensor", 3),
    ("tensor_rank_tensor", (), "_tensor_rank_tensor", 2),
]


@pytest.mark.parametrize(("method", "args", "hook", "wanted"), OWN_METHODS, ids=lambda x: str(x)[:30])
def test_methods_of_own_operators_are_asked(method, args, hook, wanted):
    operator = Doubling(3)
    result = getattr(operator, method)(*[tf.constant(x) for x in args])
    assert list(operator.called) == [hook]
    assert (result if result is None else result.numpy().tolist()) == wanted


@pytest.mark.parametrize("method", ["matmul", "matvec", "solve", "solvevec", "_check_input_dtype"])
def test_arguments_have_the_dtype_of_the_operator(method):
    x = tf.ones([3] if method.endswith("vec") else [3, 1], tf.float64)
    with pytest.raises(TypeError, match=r"Expected argument to have dtype .*float32.*Found: .*float64"):
        getattr(Doubling(3), method)(x)


@pytest.mark.parametrize("method", ["matvec", "solvevec"])
def test_vectors_have_the_size_of_the_operator(method):
    with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
        getattr(Doubling(3), method)(tf.ones([4]))
