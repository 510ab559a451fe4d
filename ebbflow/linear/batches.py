"""Batches of matrices brought to one shape (`linear_operator_util` of TensorFlow's inside).

Knows shapes and arrays of matrices, nothing of operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.broadcasting import broadcast_static_shape
from ebbflow.ops.declare import raw
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
