"""Ops of the first releases that are other names of today's: Batch… for what took no batches then, and SelfAdjointEig.

Graphs that were exported long ago hold them. Each has the kernel, the shape rule and the gradient of the op of today.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core.op import Known, Op, op
from ebbflow.core.registry import registry
from ebbflow.ops.linalg.factorizations import SelfAdjointEigV2
from ebbflow.ops.linalg.solvers import square_dims


def same_as(text: str, today: str) -> Op:
    """Declare an op that is another one under an older name."""
    newer = registry[today]
    older = op(text, shape=newer.shape_fn)
    older.shape(newer.shape_fn)
    older.kernel(newer.kernel_fn)
    older.gradient(newer.gradient_fn)
    return older


_BOTH = "T: type in [double,float] | deprecated@13"
BatchCholesky = same_as(f"BatchCholesky(input:T) -> (output:T) | {_BOTH}", "Cholesky")
BatchCholeskyGrad = same_as(
    "BatchCholeskyGrad(l:T, grad:T) -> (output:T) | T: type in [float,double] | deprecated@13", "CholeskyGrad"
)
BatchMatrixDeterminant = same_as(
    "BatchMatrixDeterminant(input:T) -> (output:T) | T: type in [float,double,complex64,complex128] | deprecated@13",
    "MatrixDeterminant",
)
BatchMatrixInverse = same_as(
    f"BatchMatrixInverse(input:T) -> (output:T) | adjoint: bool = false; {_BOTH}", "MatrixInverse"
)
BatchMatrixSolve = same_as(
    f"BatchMatrixSolve(matrix:T, rhs:T) -> (output:T) | adjoint: bool = false; {_BOTH}", "MatrixSolve"
)
BatchMatrixSolveLs = same_as(
    "BatchMatrixSolveLs(matrix:T, rhs:T, l2_regularizer:double) -> (output:T) | T: type in [double,float]; "
    "fast: bool = true | deprecated@13",
    "MatrixSolveLs",
)
BatchMatrixTriangularSolve = same_as(
    f"BatchMatrixTriangularSolve(matrix:T, rhs:T) -> (output:T) | lower: bool = true; adjoint: bool = false; {_BOTH}",
    "MatrixTriangularSolve",
)
BatchSelfAdjointEigV2 = same_as(
    f"BatchSelfAdjointEigV2(input:T) -> (e:T, v:T) | compute_v: bool = true; {_BOTH}", "SelfAdjointEigV2"
)
BatchSvd = same_as(
    "BatchSvd(input:T) -> (s:T, u:T, v:T) | compute_uv: bool = true; full_matrices: bool = false; "
    "T: type in [double,float,complex64,complex128] | deprecated@13",
    "Svd",
)

# --- eigenvalues above eigenvectors, in one matrix --------------------------------------------------------------------


def _one_row_more(input: Known) -> Any:
    dims = square_dims(input)
    if dims is None:
        return None
    *lead, rows, columns = dims
    return (*lead, None if rows is None else rows + 1, columns)


def _stacked(xp: Any, input: Any) -> Any:
    e, v = SelfAdjointEigV2.kernel_fn(xp, input, compute_v=True)
    return np.concatenate([e[..., None, :], v], -2)


def _stacked_gradient(call: Any, grad: Any) -> Any:
    both = call.output
    again = type("Again", (), {"compute_v": True, "e": both[..., 0, :], "v": both[..., 1:, :], "input": call.input})
    return SelfAdjointEigV2.gradient_fn(again, grad[..., 0, :], grad[..., 1:, :])


for _text in (
    "SelfAdjointEig(input:T) -> (output:T) | T: type in [double,float,half] | deprecated@11",
    "BatchSelfAdjointEig(input:T) -> (output:T) | T: type in [double,float] | deprecated@11",
):
    _declared = op(_text, shape=_one_row_more)
    _declared.kernel(_stacked)
    _declared.gradient(_stacked_gradient)
