"""Solvers that need of a matrix only its products with vectors (`tf.contrib.solvers`): conjugate gradients for square
and for rectangular systems, and Lanczos bidiagonalization.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import squeeze
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.complex_numbers import conj
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.linalg.norms import norm
from ebbflow.ops.random.stateful import random_uniform
from ebbflow.ops.reduce.reductions import reduce_sum


class Operator(NamedTuple):
    """What a solver knows of a matrix."""

    shape: Any
    dtype: Any
    apply: Callable[[Any], Any]
    apply_adjoint: Callable[[Any], Any]


def _facts(matrix: Any) -> tuple[Any, Any]:
    known = matrix.shape.is_fully_defined()
    return (matrix.shape.as_list() if known else raw.Shape(matrix)), matrix.dtype


def create_operator(matrix: TensorLike) -> Operator:
    """Return a matrix as what solvers take."""
    tensor = convert(matrix)
    return Operator(*_facts(tensor), lambda v: matmul(tensor, v), lambda v: matmul(tensor, v, adjoint_a=True))


def identity_operator(matrix: TensorLike) -> Operator:
    """Return the identity of a matrix's shape as what solvers take."""
    return Operator(*_facts(convert(matrix)), lambda v: v, lambda v: v)


def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the inner product of two vectors."""
    return reduce_sum(conj(x) * y)


def l2norm_squared(v: TensorLike) -> Tensor:
    """Return the square of a vector's length."""
    return raw.L2Loss(v) * 2


def l2norm(v: TensorLike) -> Tensor:
    """Return a vector's length."""
    return raw.Sqrt(l2norm_squared(v))


def l2normalize(v: TensorLike) -> tuple[Tensor, Tensor]:
    """Return a vector of length 1 in the same direction, and the length."""
    length = l2norm(v)
    return v / length, length


class CGState(NamedTuple):
    """Where conjugate gradients have come to: turns, solution, residual, direction, the residual's square."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


class CGLSState(NamedTuple):
    """Where conjugate gradients of least squares have come to."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


def _columns_gone(state: Any) -> Any:
    return state._replace(x=squeeze(state.x), r=squeeze(state.r), p=squeeze(state.p))


def _nothing(operator: Operator, rhs: Any) -> Any:
    return zeros(concat([operator.shape[1:], [1]], 0), rhs.dtype.base_dtype)


def conjugate_gradient(
    operator: Operator,
    rhs: TensorLike,
    preconditioner: Operator | None = None,
    x: TensorLike | None = None,
    tol: float = 1e-4,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """Return the solution of A x = b for a self-adjoint positive definite A, and how it was found."""
    conditioned = (lambda r: r) if preconditioner is None else preconditioner.apply

    def turn(i: Any, state: CGState) -> tuple[Any, CGState]:
        image = operator.apply(state.p)
        alpha = state.gamma / dot(state.p, image)
        residual = state.r - alpha * image
        better = conditioned(residual)
        gamma = dot(residual, better)
        direction = better + gamma / state.gamma * state.p
        return i + 1, CGState(i + 1, state.x + alpha * state.p, residual, direction, gamma)

    with name_scope(name):
        column = raw.ExpandDims(convert(rhs), -1)
        start = _nothing(operator, column) if x is None else raw.ExpandDims(convert(x), -1)
        residual = column if x is None else column - operator.apply(start)
        direction = conditioned(residual)
        least = tol * norm(residual)
        zero = convert(0, dtypes.int32)
        state = CGState(zero, start, residual, direction, dot(residual, direction))
        found = while_loop(lambda i, s: raw.LogicalAnd(i < max_iter, norm(s.r) > least), turn, [zero, state])
        return _columns_gone(found[1])


def cgls(operator: Operator, rhs: TensorLike, tol: float = 1e-6, max_iter: int = 20, name: str = "cgls") -> CGLSState:
    """Return the x for which A x is nearest to b, and how it was found."""

    def turn(i: Any, state: CGLSState) -> tuple[Any, CGLSState]:
        image = operator.apply(state.p)
        alpha = state.gamma / l2norm_squared(image)
        residual = state.r - alpha * image
        slope = operator.apply_adjoint(residual)
        gamma = l2norm_squared(slope)
        direction = slope + gamma / state.gamma * state.p
        return i + 1, CGLSState(i + 1, state.x + alpha * state.p, residual, direction, gamma)

    with name_scope(name):
        column = raw.ExpandDims(convert(rhs), -1)
        slope = operator.apply_adjoint(column)
        gamma = l2norm_squared(slope)
        least = tol * tol * gamma
        zero = convert(0, dtypes.int32)
        state = CGLSState(zero, _nothing(operator, column), column, slope, gamma)
        found = while_loop(lambda i, s: raw.LogicalAnd(i < max_iter, s.gamma > least), turn, [zero, state])
        return _columns_gone(found[1])


class LanczosBidiagState(NamedTuple):
    """Two bases, and the diagonals of the matrix between them."""

    u: Any
    v: Any
    alpha: Any
    beta: Any


def _apart(vector: Any, basis: list[Any]) -> tuple[Any, Any]:
    """Return a vector of length 1 at right angles to a basis, and the length of what was left: twice, if little was."""
    for column in basis * 2:  # the second time takes away what rounding left
        vector = vector - matmul(column, vector, adjoint_a=True) * column
    return l2normalize(vector)


def lanczos_bidiag(
    operator: Operator,
    k: int,
    orthogonalize: bool = True,
    starting_vector: TensorLike | None = None,
    name: str = "lanczos_bidiag",
) -> LanczosBidiagState:
    """Return bases U, V and a bidiagonal B with A V = U B, of k columns."""
    with name_scope(name):
        if starting_vector is None:
            starting_vector = random_uniform(operator.shape[:1], -1, 1, dtype=operator.dtype)
        u: list[Any] = [raw.ExpandDims(l2normalize(convert(starting_vector))[0], -1)]
        v: list[Any] = []
        alpha: list[Any] = []
        beta: list[Any] = []
        for i in range(k):
            step = operator.apply_adjoint(u[i]) - (beta[i - 1] * v[i - 1] if i else 0)
            column, length = _apart(step, v if orthogonalize else [])
            v.append(column)
            alpha.append(length)
            column, length = _apart(operator.apply(v[i]) - alpha[i] * u[i], u if orthogonalize else [])
            u.append(column)
            beta.append(length)
        return LanczosBidiagState(concat(u, 1), concat(v, 1), raw.Pack(alpha), raw.Pack(beta))


def bidiag_matmul(
    matrix: TensorLike, alpha: TensorLike, beta: TensorLike, adjoint_b: bool = False, name: str = "bidiag_matmul"
) -> Tensor:
    """Return the product of a matrix and a bidiagonal one, or its adjoint, given by its diagonals."""
    with name_scope(name):
        left, main, lower = convert(matrix), convert(alpha)[None, :], convert(beta)[None, :]
        if not adjoint_b:
            return left[:, :-1] * main + left[:, 1:] * lower
        shifted = left[:, :-1] * lower[:, :-1]
        return left * main + concat([zeros(raw.Shape(left)[:1], left.dtype)[:, None], shifted], 1)
