"""Batches of matrices brought to one shape (`linear_operator_util` of TensorFlow's inside).

Knows shapes and arrays of matrices, nothing of operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, TensorLike
from ebbflow.graph.scopes import no_op
from ebbflow.ops.arrays.broadcasting import broadcast_static_shape
from ebbflow.ops.checks.asserts import assert_equal_v1 as assert_equal
from ebbflow.ops.checks.asserts import assert_less_v1 as assert_less
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.complex_numbers import imag
from ebbflow.ops.elementwise.unary import abs as modulus
from ebbflow.ops.linalg.solvers import solve


def broadcast_matrix_batch_dims(batch_matrices: Sequence[TensorLike], name: str | None = None) -> list[Tensor]:
    """Return matrices with their batches spread over each other, so that all have the same batch axes.

    >>> [m.shape.as_list() for m in broadcast_matrix_batch_dims([[[[1.0]]] * 3, [[2.0]]])]
    [[3, 1, 1], [3, 1, 1]]
    """
    if not isinstance(batch_matrices, (list, tuple)):
        raise ValueError(f"batch_matrices must be a list or tuple, got {type(batch_matrices).__name__}")
    matrices = [convert(matrix) for matrix in batch_matrices]
    for matrix in matrices:
        if matrix.shape.rank is not None and matrix.shape.rank < 2:
            raise ValueError(f"Expected matrices with at least two axes, got shape {matrix.shape}")
    if len(matrices) < 2:
        return matrices
    if all(matrix.shape.is_fully_defined() for matrix in matrices):
        common = TensorShape([])
        for matrix in matrices:
            common = broadcast_static_shape(common, matrix.shape[:-2])
        return [m if m.shape[:-2] == common else raw.BroadcastTo(m, [*common, *m.shape[-2:]]) for m in matrices]
    shapes = [raw.Shape(matrix) for matrix in matrices]
    batch: Any = shapes[0][:-2]
    for shape in shapes[1:]:
        batch = raw.BroadcastArgs(batch, shape[:-2])
    return [raw.BroadcastTo(m, raw.ConcatV2([batch, s[-2:]], 0)) for m, s in zip(matrices, shapes, strict=True)]


def matrix_solve_with_broadcast(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Return x with matrix·x = rhs, where one of them may lack batch axes that the other has."""
    matrix, rhs = broadcast_matrix_batch_dims([matrix, rhs])
    return solve(matrix, rhs, adjoint=adjoint)


def matrix_triangular_solve_with_broadcast(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Return X with A X = B for triangular A, batches broadcast."""
    with name_scope(name, "MatrixTriangularSolve", [matrix, rhs]):
        a, b = broadcast_matrix_batch_dims([matrix, convert(rhs, convert(matrix).dtype.base_dtype)])
        return raw.MatrixTriangularSolve(a, b, lower=lower, adjoint=adjoint)


def cholesky_solve_with_broadcast(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Return X with A X = B for A given by its Cholesky factor, batches broadcast."""
    with name_scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        a, b = broadcast_matrix_batch_dims([chol, rhs])
        half = raw.MatrixTriangularSolve(a, b, lower=True)
        return raw.MatrixTriangularSolve(a, half, lower=True, adjoint=True)


def assert_no_entries_with_modulus_zero(
    x: TensorLike, message: str | None = None, name: str = "assert_no_entries_with_modulus_zero"
) -> Effect:
    """Return an assertion that no element is zero."""
    with name_scope(name, None, [x]):
        size = modulus(convert(x))
        return assert_less(convert(0, size.dtype), size, message=message)


def assert_zero_imag_part(x: TensorLike, message: str | None = None, name: str = "assert_zero_imag_part") -> Effect:
    """Return an assertion that no element has an imaginary part."""
    with name_scope(name, None, [x]):
        tensor = convert(x)
        if not tensor.dtype.is_complex:
            return no_op()
        part = imag(tensor)
        return assert_equal(convert(0, part.dtype), part, message=message)


def assert_compatible_matrix_dimensions(operator: Any, x: TensorLike) -> Effect:
    """Return an assertion that an operator can be multiplied by a matrix."""
    return assert_equal(
        raw.Shape(convert(x))[-2], operator.domain_dimension_tensor(),
        message="Dimensions are not compatible.  shape[-2] of argument to be the same as this operator",
    )  # fmt: skip


def use_operator_or_provided_hint_unless_contradicting(
    operator: Any, hint_attr_name: str, provided_hint_value: bool | None, message: str
) -> bool | None:
    """Return what an operator or the caller promises; ValueError where one promises the opposite of the other."""
    promises = {getattr(operator, hint_attr_name), provided_hint_value} - {None}
    if len(promises) > 1:
        raise ValueError(message)
    return promises.pop() if promises else None
