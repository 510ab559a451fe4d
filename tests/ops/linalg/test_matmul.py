"""Products, contractions, solvers, factorisations: against NumPy, with gradients, in every mode."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg import einsum, factorizations, matmul, norms, solvers
from tests.ops.cases import MODES, Case, Refusal, args


def named(name, fn, dims, numpy, **more):
    return Case(fn, args(*dims), numpy=numpy, name=name, **more)


def adjoint(x):
    return x.conj().swapaxes(-1, -2)


def matmul_case(a, b, **flags):
    """A row for matmul with every way of turning its arguments."""
    turns = {"transpose": lambda x: x.swapaxes(-1, -2), "adjoint": adjoint}

    def numpy(x, y):
        for flag in flags:
            turn, _, side = flag.partition("_")
            x, y = (turns[turn](x), y) if side == "a" else (x, turns[turn](y))
        return np.matmul(x, y)

    return named(f"matmul {' '.join(flags)}", lambda x, y: matmul.matmul(x, y, **flags), [a, b], numpy)


PRODUCTS = [
    matmul_case("2 3", "3 4"),
    matmul_case("3 2", "3 4", transpose_a=True),
    matmul_case("2 3", "4 3", transpose_b=True),
    matmul_case("3 2", "4 3", adjoint_a=True, transpose_b=True),
    matmul_case("2 2 3", "2 3 2"),
    matmul_case("2 3 2", "2 3 2", adjoint_a=True),
    matmul_case("2 2 3", "2 2 3", adjoint_b=True),
    matmul_case("2 3 2", "2 2 3", adjoint_a=True, adjoint_b=True),
    matmul_case("2 1 2 3", "3 3 2"),
    matmul_case("2 3", "4 3 2"),
    matmul_case("0 3", "3 4"),
    matmul_case("2 0", "0 3"),
    matmul_case("2 0 3", "2 3 1"),
    named("matvec", matmul.matvec, ["2 3", "3"], np.matmul),
    named("matvec of a batch", matmul.matvec, ["2 2 3", "2 3"], lambda a, b: np.einsum("bij,bj->bi", a, b)),
    named("@", lambda a, b: a @ b, ["2 3", "3 2"], np.matmul),
    named("cross", matmul.cross, ["2 3", "2 3"], np.cross),
    named("trace", matmul.trace, ["2 3 3"], lambda x: np.trace(x, axis1=-2, axis2=-1)),
    named("adjoint", lambda x: matmul.adjoint(x) * 2.0, ["2 3"], lambda x: adjoint(x) * 2.0),
    named("tensordot", lambda a, b: einsum.tensordot(a, b, 1), ["2 3", "3 2"], lambda a, b: np.tensordot(a, b, 1)),
    named(
        "tensordot of axes",
        lambda a, b: einsum.tensordot(a, b, [[0, 2], [1, 0]]),
        ["2 3 4", "4 2 2"],
        lambda a, b: np.tensordot(a, b, [[0, 2], [1, 0]]),
    ),
    named(
        "tensordot of one axis each",
        lambda a, b: einsum.tensordot(a, b, [-1, 0]),
        ["2 3", "3 2"],
        lambda a, b: np.tensordot(a, b, [-1, 0]),
    ),
    named("tensordot to a scalar", lambda a, b: einsum.tensordot(a, b, 2), ["2 3", "2 3"], lambda a, b: (a * b).sum()),
    named("outer", lambda a, b: einsum.tensordot(a, b, 0), ["2", "3"], np.multiply.outer),
]

EQUATIONS = [
    ("ij,jk->ik", "2 3", "3 2"),
    ("ij,kj->ik", "2 3", "2 3"),
    ("bij,bjk->bik", "2 2 3", "2 3 2"),
    ("bij,bjk->ibk", "2 2 3", "2 3 2"),
    ("ij,ij->", "2 3", "2 3"),
    ("ij,ij->ij", "2 3", "2 3"),
    ("i,j->ij", "2", "3"),
    ("i,j->ji", "2", "3"),
    ("ij,k->ik", "2 3", "2"),
    ("ijk,jl->ikl", "2 3 2", "3 2"),
    ("ij->ji", "2 3"),
    ("ij->i", "2 3"),
    ("ij->", "2 3"),
    ("ii->i", "3 3"),
    ("ii->", "3 3"),
    ("iij->j", "2 2 3"),
    ("ii,ij->j", "2 2", "2 3"),
    ("...ij,...jk->...ik", "2 2 3", "2 3 2"),
    ("...ij,...jk->...ik", "2 1 2 3", "3 3 2"),
    ("...ij,jk->...ik", "2 2 3", "3 2"),
    ("ij,...jk->...ik", "2 3", "2 3 2"),
    ("...i,...i->...", "2 1 3", "4 3"),
    ("i...->...i", "2 3 2"),
    ("ij,jk", "2 3", "3 2"),
    ("ba", "2 3"),
    ("ij,jk->ik", "0 3", "3 2"),
    ("ij,jk->ik", "2 0", "0 2"),
    ("ij,jk,kl->il", "2 3", "3 2", "2 2"),
]
CONTRACTIONS = [
    named(
        f"einsum {equation}",
        lambda *xs, equation=equation: einsum.einsum(equation, *xs),
        dims,
        lambda *xs, equation=equation: np.einsum(equation, *xs),
    )
    for equation, *dims in EQUATIONS
]


def well(x):
    """A batch of matrices that are easily inverted."""
    return np.matmul(x, x.swapaxes(-1, -2)) + 2 * np.eye(x.shape[-2])


def on_good(fn, numpy, *dims, name, **more):
    """A row whose first argument is made symmetric and positive definite on both sides."""

    def ours(x, *rest):
        return fn(raw.BatchMatMulV2(x, x, adj_y=True) + 2 * np.eye(int(dims[0].split()[-2])), *rest)

    return Case(ours, args(*dims), numpy=lambda x, *rest: numpy(well(x), *rest), name=name, **more)


def lower(x):
    return np.tril(x) + 3 * np.eye(x.shape[-1])


SOLVERS = [
    on_good(solvers.inv, np.linalg.inv, "2 2 2", name="inv"),
    on_good(lambda x: solvers.inv(x, adjoint=True), lambda x: adjoint(np.linalg.inv(x)), "3 3", name="inv adjoint"),
    on_good(solvers.det, np.linalg.det, "2 2 2", name="det"),
    on_good(solvers.logdet, lambda x: np.linalg.slogdet(x)[1], "3 3", name="logdet"),
    on_good(lambda x: solvers.slogdet(x)[1], lambda x: np.linalg.slogdet(x)[1], "2 3 3", name="slogdet"),
    on_good(solvers.solve, np.linalg.solve, "2 2 2", "2 2 1", name="solve"),
    on_good(
        lambda a, b: solvers.solve(a, b, adjoint=True),
        lambda a, b: np.linalg.solve(adjoint(a), b),
        "3 3",
        "3 2",
        name="solve adjoint",
    ),
    on_good(
        solvers.triangular_solve, lambda a, b: np.linalg.solve(np.tril(a), b), "2 2 2", "2 2 1", name="triangular_solve"
    ),
    on_good(
        lambda a, b: solvers.triangular_solve(a, b, lower=False, adjoint=True),
        lambda a, b: np.linalg.solve(adjoint(np.triu(a)), b),
        "3 3",
        "2 3 1",
        name="triangular_solve upper adjoint",
    ),
    on_good(
        solvers.cholesky_solve,
        lambda a, b: np.linalg.solve(np.tril(a) @ np.tril(a).T, b),
        "3 3",
        "3 1",
        name="cholesky_solve",
    ),
    named(
        "lstsq tall",
        lambda a, b: solvers.lstsq(a, b, 0.1),
        ["4 2", "4 1"],
        lambda a, b: np.linalg.solve(a.T @ a + 0.1 * np.eye(2), a.T @ b),
    ),
    named(
        "lstsq wide",
        lambda a, b: solvers.lstsq(a, b, 0.1),
        ["2 3", "2 1"],
        lambda a, b: a.T @ np.linalg.solve(a @ a.T + 0.1 * np.eye(2), b),
    ),
    named(
        "lstsq by pseudo-inverse",
        lambda a, b: solvers.lstsq(a, b, fast=False),
        ["2 4 2", "2 4 1"],
        lambda a, b: np.matmul(np.linalg.pinv(a), b),
        smooth=0,
    ),
]


def reconstructed(outputs):
    s, u, v = outputs
    return raw.BatchMatMulV2(u * raw.ExpandDims(s * s, -2), v, adj_y=True)


def numpy_reconstructed(x):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return (u * s[..., None, :] ** 2) @ vh


def shifted(name, fn, dims, numpy):
    """A row whose argument has 3 added to its diagonal: made-up numbers are not always of full rank."""
    eye = 3 * np.eye(*map(int, dims[0].split()[-2:]))
    return Case(lambda x: fn(x + eye), args(*dims), numpy=lambda x: numpy(x + eye), name=name)


FACTORS = [
    on_good(factorizations.cholesky, np.linalg.cholesky, "2 3 3", name="cholesky"),
    shifted("qr", lambda x: factorizations.qr(x)[1] ** 2, ["3 2"], lambda x: np.linalg.qr(x)[1] ** 2),
    shifted("qr of q", lambda x: factorizations.qr(x)[0] ** 2, ["2 3 3"], lambda x: np.linalg.qr(x)[0] ** 2),
    shifted(
        "qr wide",
        lambda x: raw.ConcatV2([t * t for t in factorizations.qr(x)], -1),
        ["2 3"],
        lambda x: np.concatenate([t * t for t in np.linalg.qr(x)], -1),
    ),
    named(
        "singular values",
        lambda x: factorizations.svd(x, compute_uv=False),
        ["2 3 2"],
        lambda x: np.linalg.svd(x, compute_uv=False),
    ),
    named("svd tall", lambda x: reconstructed(factorizations.svd(x)), ["3 2"], numpy_reconstructed, smooth=1),
    named("svd wide", lambda x: reconstructed(factorizations.svd(x)), ["2 3"], numpy_reconstructed, smooth=1),
    named("svd square", lambda x: reconstructed(factorizations.svd(x)), ["2 2 2"], numpy_reconstructed, smooth=1),
    on_good(lambda x: factorizations.eigh(x)[0], lambda x: np.linalg.eigh(x)[0], "2 3 3", name="eigh values"),
    on_good(lambda x: factorizations.eigh(x)[1] ** 2, lambda x: np.linalg.eigh(x)[1] ** 2, "3 3", name="eigh vectors"),
    on_good(factorizations.eigvalsh, np.linalg.eigvalsh, "3 3", name="eigvalsh"),
]

NORMS = [
    named("norm", norms.norm, ["2 3"], np.linalg.norm),
    named("norm of rows", lambda x: norms.norm(x, axis=1), ["2 3"], lambda x: np.linalg.norm(x, axis=1)),
    named("norm 1", lambda x: norms.norm(x, ord=1, axis=0), ["2 3"], lambda x: np.linalg.norm(x, 1, axis=0)),
    named("norm 3", lambda x: norms.norm(x, ord=3, axis=-1), ["2 3"], lambda x: np.linalg.norm(x, 3, axis=-1)),
    named("norm ∞", lambda x: norms.norm(x, ord=np.inf), ["2 3"], lambda x: np.abs(x).max()),
    named(
        "norm kept",
        lambda x: norms.norm(x, axis=1, keepdims=True),
        ["2 3"],
        lambda x: np.linalg.norm(x, axis=1, keepdims=True),
    ),
    named("matrix norm", lambda x: norms.norm(x, "fro", (1, 2)), ["2 2 3"], lambda x: np.linalg.norm(x, "fro", (1, 2))),
    named("matrix norm 1", lambda x: norms.norm(x, 1, (0, 1)), ["2 3"], lambda x: np.linalg.norm(x, 1)),
    named("matrix norm ∞", lambda x: norms.norm(x, np.inf, (0, 1)), ["2 3"], lambda x: np.linalg.norm(x, np.inf)),
    named("normalize", lambda x: norms.normalize(x)[0], ["2 3"], lambda x: x / np.linalg.norm(x)),
    named(
        "l2_normalize", lambda x: norms.l2_normalize(x, 1), ["2 3"], lambda x: x / np.linalg.norm(x, axis=1)[:, None]
    ),
    named(
        "l2_normalize of a short vector",
        lambda x: norms.l2_normalize(x * 1e-9),
        ["3"],
        lambda x: x * 1e-9 / 1e-6,
    ),
]

REFUSALS = [
    Refusal(raw.MatMul, args("2 3", "2 3"), says="In[0]: [2,3], In[1]: [2,3]", name="MatMul"),
    Refusal(raw.MatMul, args("2 3 4", "4 3"), says="[2,3,4]", name="MatMul of rank 3"),
    Refusal(raw.BatchMatMulV2, args("2 2 3", "3 3 3"), says="2", name="BatchMatMulV2"),
    Refusal(matmul.cross, args("2 3", "3"), says="[2,3]", name="cross"),
    Refusal(lambda a, b: einsum.einsum("ij,jk->ik", a, b), args("2 3", "2 3"), says="3", name="einsum"),
    Refusal(lambda a: einsum.einsum("ij->ik", a), args("2 3"), says="k", name="einsum of a stray label"),
    Refusal(lambda a: einsum.einsum("i+j->i", a), args("2 3"), says="incorrect format", name="einsum of signs"),
    Refusal(solvers.inv, [np.zeros((2, 2))], says="not invertible", name="inv of nothing"),
    Refusal(solvers.solve, [np.zeros((2, 2)), np.zeros((2, 1))], says="not invertible", name="solve"),
    Refusal(
        lambda a, b: solvers.lstsq(a, b), [np.zeros((2, 2)), np.zeros((2, 1))], says="rank deficient", name="lstsq"
    ),
    Refusal(lambda x: norms.norm(x, ord="fro"), args("2"), says="vector norm", name="norm"),
    Refusal(lambda x: norms.norm(x, 3, axis=(0, 1)), args("2 2"), says="matrix norm", name="matrix norm"),
    Refusal(lambda x: norms.norm(x, axis=(0, 0)), args("2 2"), says="unique", name="norm of one axis twice"),
    Refusal(lambda x: norms.norm(x, axis=[[0], [1]]), args("2 2"), says="2 unique integers", name="norm of lists"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", PRODUCTS + CONTRACTIONS + SOLVERS + FACTORS + NORMS, ids=str)
def test_value(case, mode):
    case.check_value(mode)


@pytest.mark.parametrize("case", PRODUCTS + CONTRACTIONS + SOLVERS + FACTORS + NORMS, ids=str)
def test_gradient(case):
    case.check_gradient("eager")


@pytest.mark.parametrize("case", PRODUCTS + CONTRACTIONS[:24] + SOLVERS, ids=str)
def test_gradient_in_graphs(case):
    case.check_gradient("graph")


@pytest.mark.parametrize("case", REFUSALS, ids=str)
def test_refused(case):
    case.check_value("eager")


GRAPH_REFUSALS = [
    Refusal(matmul.matmul, args("2 3", "2 3"), says="Dimensions must be equal, but are 3 and 2 for", name="matmul"),
    Refusal(matmul.matmul, args("3", "3 2"), says="Shape must be rank 2 but is rank 1", name="matmul of a vector"),
    Refusal(matmul.matmul, args("2 2 3", "3 3 3"), says="Dimensions must be equal, but are 2 and 3", name="batches"),
    Refusal(matmul.cross, args("2 3", "3"), says="equal rank, but are 2 and 1", name="cross"),
    Refusal(solvers.inv, args("2 3"), says="Dimensions must be equal, but are 2 and 3", name="inv"),
    Refusal(solvers.solve, args("2 2", "3 1"), says="Dimensions must be equal, but are 2 and 3", name="solve"),
    Refusal(factorizations.qr, args("2"), says="at least rank 2 but is rank 1", name="qr"),
]


@pytest.mark.parametrize("case", GRAPH_REFUSALS, ids=str)
def test_refused_when_a_graph_is_built(case):
    case.check_value("graph")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64", "int32", "int64", "uint8"])
def test_dtypes_of_matmul(dtype):
    a, b = args("5 7", "7 3", dtype=dtype, low=0.0, high=3.0)
    wide = a.astype(np.complex128 if dtype == "complex64" else np.float64) @ b.astype(
        np.float64 if dtype != "complex64" else np.complex128
    )
    found = matmul.matmul(tf.constant(a), tf.constant(b))
    assert found.dtype.name == dtype
    np.testing.assert_allclose(
        np.asarray(found.numpy()).astype(wide.dtype),
        wide.astype(a.dtype).astype(wide.dtype),
        rtol=2e-2 if "16" in dtype else 1e-6,
    )


def test_integers_wrap_around_as_numpy_has_it():
    big = np.full((64, 64), 2**20, np.int32)
    assert (matmul.matmul(big, big).numpy() == np.matmul(big, big)).all()


def test_large_integers_are_exact():
    a = np.arange(200 * 30).reshape(200, 30)
    assert (matmul.matmul(a, a.T).numpy() == a @ a.T).all()


def test_complex_products_conjugate():
    a, b = args("2 3", "2 3", dtype="complex128")
    np.testing.assert_allclose(matmul.matmul(a, b, adjoint_b=True).numpy(), a @ b.conj().T)
    np.testing.assert_allclose(matmul.matmul(a, b, transpose_b=True).numpy(), a @ b.T)
    np.testing.assert_allclose(matmul.matmul(a[None], b[None], transpose_b=True).numpy(), (a @ b.T)[None])


def test_both_ways_of_turning_at_once_are_refused():
    with pytest.raises(ValueError, match="Only one of `transpose_a` and `adjoint_a`"):
        matmul.matmul([[1.0]], [[1.0]], transpose_a=True, adjoint_a=True)


@pytest.mark.parametrize("repeated", ["i->ii", "ij->iji"])
def test_repeated_output_labels_make_diagonals(repeated):
    (x,) = args("3" if repeated == "i->ii" else "2 3")
    found = raw.Einsum([x], equation=repeated).numpy()
    source, _, target = repeated.partition("->")
    assert found.sum() == pytest.approx(x.sum())
    back = np.einsum(f"{target}->{source}", found)
    np.testing.assert_allclose(back, x)


def test_what_has_no_factor_is_not_a_number_and_the_rest_is_right():
    good, bad = np.eye(2), -np.eye(2)
    found = factorizations.cholesky(np.stack([good, bad])).numpy()
    np.testing.assert_array_equal(found[0], good)
    assert np.isnan(found[1][np.tril_indices(2)]).all()
    values = factorizations.svd(np.stack([good, np.full((2, 2), np.nan)]), compute_uv=False).numpy()
    np.testing.assert_allclose(values[0], [1, 1])
    assert np.isnan(values[1]).all()


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_empty_matrices(shape):
    x = np.zeros(shape, np.float32)
    assert solvers.det(x).shape == shape[:-2]
    assert solvers.inv(x).shape == shape
    assert factorizations.cholesky(x).shape == shape
    assert factorizations.eigh(x)[0].shape == shape[:-1]
    assert [t.shape for t in factorizations.svd(x)] == [shape[:-1], shape, shape]


def test_a_large_triangle_is_solved_in_blocks():
    a, b = args("70 70", "70 3")
    a = lower(a * 0.1)
    np.testing.assert_allclose(solvers.triangular_solve(a, b).numpy(), np.linalg.solve(a, b), rtol=1e-9)
    np.testing.assert_allclose(solvers.triangular_solve(a, b, adjoint=True).numpy(), np.linalg.solve(a.T, b), rtol=1e-9)


def test_factors_multiply_back():
    (x,) = args("4 3", dtype="complex128")
    q, r = factorizations.qr(x)
    np.testing.assert_allclose(q.numpy() @ r.numpy(), x)
    s, u, v = factorizations.svd(x, full_matrices=True)
    assert u.shape == (4, 4) and v.shape == (3, 3) and s.dtype.name == "float64"
    np.testing.assert_allclose((u.numpy()[:, :3] * s.numpy()) @ v.numpy().conj().T, x)


def test_zero_fraction():
    assert norms.zero_fraction([0.0, 1.0, 0.0, 0.0]).numpy() == 0.75


def test_tensordot_knows_its_shape_for_axes_of_numpy():
    with tf.Graph().as_default():
        for axes in ((np.array([1]), np.array([0])), np.array([[1], [0]])):
            assert tf.tensordot(np.ones((2, 3)), np.ones((3,)), axes).shape.as_list() == [2]


def test_an_equation_names_each_output_label_once():
    with pytest.raises(ValueError, match="more than once"):
        tf.einsum("ij,jk->ii", tf.ones([2, 2]), tf.ones([2, 2]))


@pytest.mark.parametrize("rows", [[[np.nan, 1], [1, 1]], [[np.nan, np.nan], [np.nan, 1]], [[np.inf, np.inf], [1, 1]]])
def test_determinants_of_no_numbers_are_none(rows):
    assert np.isnan(tf.linalg.det(np.float32(rows)))
    assert np.isnan(tf.linalg.slogdet(np.float32(rows))).all()
