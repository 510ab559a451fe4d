"""Products of two operators that are an operator of a known kind again; every other product is a composition.

A row says the kinds of both sides and what their product is. Quotients (`solve`) are products with the inverse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.linear.circulant import LinearOperatorCirculant, LinearOperatorCirculant2D, LinearOperatorCirculant3D
from ebbflow.linear.composed import LinearOperatorBlockDiag
from ebbflow.linear.kinds import LinearOperatorDiag, LinearOperatorLowerTriangular
from ebbflow.linear.operator import HINTS, LinearOperator, enter_kind
from ebbflow.linear.sized import LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorZeros
from ebbflow.ops.declare import raw


def _both(name: str, left: Any, right: Any) -> bool | None:
    """Return what is promised of a product where both sides promise it."""
    return True if getattr(left, name) and getattr(right, name) else None


def _diagonal(left: Any, right: Any) -> LinearOperator:
    return LinearOperatorDiag(
        left.diag_part() * right.diag_part(), is_non_singular=_both("is_non_singular", left, right),
        is_self_adjoint=_both("is_self_adjoint", left, right),
        is_positive_definite=_both("is_positive_definite", left, right), is_square=True,
    )  # fmt: skip


def _scaled(left: Any, right: Any) -> LinearOperator:
    return LinearOperatorScaledIdentity(
        left._num_rows, convert(left.multiplier) * convert(right.multiplier),
        is_non_singular=_both("is_non_singular", left, right), is_self_adjoint=_both("is_self_adjoint", left, right),
        is_positive_definite=_both("is_positive_definite", left, right),
    )  # fmt: skip


def _triangle(left: Any, right: Any) -> LinearOperator:
    if isinstance(left, LinearOperatorDiag):
        rows = raw.ExpandDims(convert(left.diag), -1) * right.to_dense()
    else:
        rows = left.to_dense() * raw.ExpandDims(convert(right.diag), -2)
    return LinearOperatorLowerTriangular(rows, is_non_singular=_both("is_non_singular", left, right), is_square=True)


def _circulant(left: Any, right: Any) -> LinearOperator:
    return type(left)(
        left._complex() * right._complex(), left.dtype, is_non_singular=_both("is_non_singular", left, right),
        is_self_adjoint=_both("is_self_adjoint", left, right),
        is_positive_definite=_both("is_positive_definite", left, right), is_square=True,
    )  # fmt: skip


def _blocks(left: Any, right: Any) -> LinearOperator | None:
    if len(left.operators) != len(right.operators):
        return None
    products = [a.matmul(b) for a, b in zip(left.operators, right.operators, strict=True)]
    return LinearOperatorBlockDiag(products, is_non_singular=_both("is_non_singular", left, right))


def _zeros(left: Any, right: Any) -> LinearOperator | None:
    if left._row_count is None or right._column_count is None or not left.batch_shape.is_fully_defined():
        return None
    zero = left if isinstance(left, LinearOperatorZeros) else right
    if left.batch_shape != right.batch_shape:
        return None
    square = left._row_count == right._column_count
    return LinearOperatorZeros(
        left._row_count, right._column_count, zero.batch_shape.as_list(), left.dtype,
        is_self_adjoint=square, is_square=square,
    )  # fmt: skip


_PRODUCTS: list[tuple[type, type, Callable[[Any, Any], LinearOperator | None]]] = [
    (LinearOperatorZeros, LinearOperator, _zeros),
    (LinearOperator, LinearOperatorZeros, _zeros),
    (LinearOperatorScaledIdentity, LinearOperatorScaledIdentity, _scaled),
    (LinearOperatorScaledIdentity, LinearOperatorDiag, _diagonal),
    (LinearOperatorDiag, LinearOperatorScaledIdentity, _diagonal),
    (LinearOperatorDiag, LinearOperatorDiag, _diagonal),
    (LinearOperatorDiag, LinearOperatorLowerTriangular, _triangle),
    (LinearOperatorLowerTriangular, LinearOperatorDiag, _triangle),
    (LinearOperatorBlockDiag, LinearOperatorBlockDiag, _blocks),
    *((kind, kind, _circulant) for kind in (
        LinearOperatorCirculant, LinearOperatorCirculant2D, LinearOperatorCirculant3D)),
]  # fmt: skip


def _covers(other: LinearOperator, identity: LinearOperator) -> bool:
    """Return whether a product with an identity has no larger batch than the other operator."""
    if identity.batch_shape.rank == 0:
        return True
    if not (identity.batch_shape.is_fully_defined() and other.batch_shape.is_fully_defined()):
        return False
    mine, theirs = identity.batch_shape.as_list(), other.batch_shape.as_list()
    try:
        return list(np.broadcast_shapes(mine, theirs)) == theirs
    except ValueError:
        return False


def product(left: LinearOperator, right: LinearOperator) -> LinearOperator | None:
    """Return the product of two operators where its kind is known, otherwise None."""
    if isinstance(left, LinearOperatorIdentity) and _covers(right, left):
        return right
    if isinstance(right, LinearOperatorIdentity) and _covers(left, right):
        return left
    for first, second, make in _PRODUCTS:
        if isinstance(left, first) and isinstance(right, second):
            return make(left, right)
    return None


enter_kind("product", product)
__all__ = ["HINTS", "product"]
