"""Diagonals and bands: against NumPy, with gradients, in every mode."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context
from ebbflow.ops.linalg import diag as diagonals
from ebbflow.ops.linalg import diag_ops
from tests.ops.arrays.test_joining import case
from tests.ops.cases import MODES, Refusal, args

PARTS = [
    case("diag", diagonals.diag, ["2 3"], lambda x: np.stack([np.diag(r) for r in x])),
    case("diag above", lambda x: diagonals.diag(x, k=1), ["3"], lambda x: np.diag(x, 1)),
    case("diag below", lambda x: diagonals.diag(x, k=-2), ["3"], lambda x: np.diag(x, -2)),
    case(
        "diag in a frame",
        lambda x: diagonals.diag(x, num_rows=3, num_cols=2, padding_value=5.0),
        ["2"],
        lambda x: np.array([[x[0], 5], [5, x[1]], [5, 5]]),
    ),
    case(
        "two diagonals",
        lambda x: diagonals.diag(x, k=(-1, 0)),
        ["2 3"],
        lambda x: np.diag(x[0]) + np.diag(x[1, :2], -1),
    ),
    case(
        "two diagonals, right",
        lambda x: diagonals.diag(x, k=(-1, 0), align="RIGHT_RIGHT"),
        ["2 3"],
        lambda x: np.diag(x[0]) + np.diag(x[1, 1:], -1),
    ),
    case("diag_part", diagonals.diag_part, ["2 3 4"], lambda x: np.diagonal(x, 0, 1, 2)),
    case("diag_part above", lambda x: diagonals.diag_part(x, k=2), ["3 4"], lambda x: np.diagonal(x, 2)),
    case(
        "diagonal parts",
        lambda x: diagonals.diag_part(x, k=(-1, 1), padding_value=9.0),
        ["2 3"],
        lambda x: np.array([[x[0, 1], x[1, 2]], [x[0, 0], x[1, 1]], [x[1, 0], 9]]),
    ),
    case("set_diag", diagonals.set_diag, ["3 2", "2"], lambda x, d: with_diagonal(x, d)),
    case(
        "set two diagonals",
        lambda x, d: diagonals.set_diag(x, d, k=(0, 1)),
        ["2 3", "2 2"],
        lambda x, d: np.array([[d[1, 0], d[0, 0], x[0, 2]], [x[1, 0], d[1, 1], d[0, 1]]]),
    ),
    case("band_part", lambda x: diagonals.band_part(x, 1, 0), ["2 3 3"], lambda x: np.tril(x) - np.tril(x, -2)),
    case("lower triangle", lambda x: diagonals.band_part(x, -1, 0), ["3 4"], np.tril),
    case("tensor_diag", diagonals.tensor_diag, ["2 2"], lambda x: np.diag(x.ravel()).reshape(2, 2, 2, 2)),
    case("tensor_diag_part", diagonals.tensor_diag_part, ["3 3"], np.diagonal),
    case("MatrixDiag", diag_ops.MatrixDiag, ["2 2"], lambda x: np.stack([np.diag(r) for r in x])),
    case("MatrixDiagPart", diag_ops.MatrixDiagPart, ["2 3"], np.diagonal),
    case("MatrixSetDiag", diag_ops.MatrixSetDiag, ["3 2", "2"], lambda x, d: with_diagonal(x, d)),
]


def with_diagonal(x, d):
    result = x.copy()
    np.fill_diagonal(result, d)
    return result


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", PARTS, ids=lambda c: c.name)
def test_diagonals(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


REFUSALS = [
    Refusal(diagonals.diag, args(""), says="diagonal must be at least 1-dim", name="diag"),
    Refusal(lambda x: diagonals.diag(x, num_rows=1), args("2"), says="The number of rows is too small."),
    Refusal(lambda x: diagonals.diag(x, k=(1, 0)), args("2"), says="lower_diag_index must not be larger than upper"),
    Refusal(lambda x: diagonals.diag(x, k=(0, 2)), args("2 2"), says="The number of diagonals provided in the input"),
    Refusal(diagonals.diag_part, args("2"), says="input must be at least 2-dim", name="diag_part"),
    Refusal(lambda x: diagonals.diag_part(x, k=5), args("2 3"), says="lower_diag_index is out of bound: 5."),
    Refusal(diagonals.set_diag, args("2 2", "3"), says="Expected diagonal shape: [2]", name="set_diag"),
    Refusal(lambda x: diagonals.band_part(x, 5, 0), args("3 3"), says="num_lower must be negative or less or equal to"),
    Refusal(diagonals.tensor_diag_part, args("2 3"), says="dimensions 0 and 1 do not match.", name="tensor_diag_part"),
    Refusal(diagonals.tensor_diag, args(""), says="Input must be at least rank 1, got 0", name="tensor_diag"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.says["eager"][:40])
def test_refusals(refusal, mode):
    refusal.check_value(mode)


def test_empty_matrices_have_empty_diagonals():
    assert diagonals.diag_part(np.zeros((0, 3), np.float32)).shape.as_list() == [0]
    assert diagonals.diag(np.zeros((2, 0), np.float32)).shape.as_list() == [2, 0, 0]
    assert diagonals.eye(0).shape.as_list() == [0, 0]


def test_eye_in_a_graph_of_unknown_size():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        n = tf.compat.v1.placeholder(tf.int32, [])
        square, oblong = diagonals.eye(n), diagonals.eye(2, n)
        for size in (1, 3):
            a, b = session.run([square, oblong], {n: size})
            np.testing.assert_array_equal(a, np.eye(size))
            np.testing.assert_array_equal(b, np.eye(2, size))


def test_bands_of_tf_1_are_packed_to_the_left(monkeypatch):
    matrix = tf.constant([[1, 2, 3], [4, 5, 6]])
    assert tf.linalg.diag_part(matrix, k=(-1, 1)).numpy().tolist() == [[2, 6], [1, 5], [4, 0]]
    assert tf.linalg.diag_part(matrix, k=(1, 2)).numpy().tolist() == [[0, 3], [2, 6]]
    monkeypatch.setattr(context.switches, "tf1", True)
    assert tf.linalg.diag_part(matrix, k=(1, 2)).numpy().tolist() == [[3, 0], [2, 6]]
    assert tf.linalg.diag([[3, 0], [2, 6]], k=(1, 2), num_rows=2).numpy().tolist() == [[0, 2, 3], [0, 0, 6]]
