"""Operators that are known by their size: the identity, a number times it, and zeros.

A size may be a tensor whose value only a run knows: the static shape is then unknown there, and what a size must be is
checked as the operator runs, where its maker asks for that (`assert_proper_shapes`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.errors import InvalidArgumentError
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.graph.scopes import group, with_dependencies
from ebbflow.linear.batches import assert_compatible_matrix_dimensions
from ebbflow.linear.kinds import _hints, _tensor
from ebbflow.linear.operator import LinearOperator, bar, sum_of_logs
from ebbflow.ops.checks.asserts import assert_near, assert_non_negative, assert_positive
from ebbflow.ops.checks.shape_asserts import assert_rank
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.unary import abs as magnitude
from ebbflow.ops.linalg.matmul import adjoint as adjoint_of

_BATCH, _ROWS = "batch_shape", "num_rows"


def _known(given: Any, name: str) -> Any:
    """Return a size as an array, or as a tensor where its value is not known yet."""
    if hasattr(given, "trainable") and hasattr(given, "dtype"):
        raise TypeError(f"Argument {name} cannot be reference type. Found: {type(given)}.")
    if isinstance(given, TensorShape):
        given = given.as_list()
    if not isinstance(given, Tensor):
        given = [] if given is None else given
        return np.asarray(given, None if np.size(given) else np.int32)
    value = given.constant_value() if hasattr(given, "constant_value") else given.numpy()
    return given if value is None else np.asarray(value)


def _size(given: Any, name: str, rank: int, checked: bool) -> Any:
    """Return a length (rank 0), or those of a batch (rank 1): numbers where they are known, else a tensor of int32."""
    size = _known(given, name)
    symbolic = isinstance(size, Tensor)
    kind = size.dtype.is_integer if symbolic else size.dtype.kind in "iu"
    if not kind:
        raise TypeError(f"Argument {name} must be integer type.  Found: {given}")
    own = size.shape.rank if symbolic else size.ndim
    if own is not None and own != rank:
        raise ValueError(f"Argument {name} must be a {rank}-D Tensor.  Found: {given}")
    if not symbolic:
        if (size < 0).any():
            raise ValueError(f"Argument {name} must be non-negative.  Found: {given}")
        return size.tolist()
    if checked:
        says = f"Argument {name} must be a {rank}-D Tensor.", f"Argument {name} must be non-negative."
        checks = [assert_rank(size, rank, message=says[0]), assert_non_negative(size, message=says[1])]
        size = with_dependencies([check for check in checks if check is not None], size)
    return size if size.dtype is dtypes.int32 else raw.Cast(size, DstT=dtypes.int32)


def _static(*sizes: Any) -> TensorShape:
    """Return the static shape of a batch of matrices, of its batch and their sides."""
    batch, *sides = sizes
    known = TensorShape(batch if isinstance(batch, list) else [None] * batch.shape[0] if batch.shape.rank else None)
    return known.concatenate([side if isinstance(side, int) else None for side in sides])


def _joined(batch: Any, *sides: Any) -> Any:
    """Return a batch and sides as one shape: numbers where all are known, else a tensor."""
    if isinstance(batch, list) and all(isinstance(side, int) for side in sides):
        return np.array([*batch, *sides], np.int32)
    if isinstance(batch, list):
        batch = np.array(batch, np.int32)
    return raw.ConcatV2([batch, raw.Pack([convert(side, dtypes.int32) for side in sides])], 0) if sides else batch


class LinearOperatorScaledIdentity(LinearOperator):
    """A number (or one for each of a batch) times the identity."""

    _matrix_axes: ClassVar[Any] = {"multiplier": 0}

    def __init__(
        self, num_rows, multiplier, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
        is_square=True, assert_proper_shapes=False, name="LinearOperatorScaledIdentity",
    ):  # fmt: skip
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        hints = _hints(locals())
        self._num_rows = _size(num_rows, _ROWS, 0, assert_proper_shapes)
        self._assert_proper_shapes = assert_proper_shapes
        self._multiplier = _tensor(multiplier, "multiplier", 0)
        if not self._multiplier.dtype.is_complex:
            hints["is_self_adjoint"] = True
        super().__init__(self._multiplier.dtype, **hints)

    multiplier = property(lambda self: self._multiplier, doc="What the identity is multiplied by.")

    def add_to_tensor(self, mat: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """Return A + mat as a tensor."""
        return super().add_to_tensor(mat, name)

    def _shape(self) -> TensorShape:
        rows = self._num_rows if isinstance(self._num_rows, int) else None
        return TensorShape(self._multiplier.shape).concatenate([rows, rows])

    @property
    def _composite_tensor_fields(self) -> tuple[str, ...]:
        return super()._composite_tensor_fields + (() if isinstance(self._num_rows, int) else (_ROWS,))

    def _factor(self, adjoint: bool = False) -> Any:
        return raw.ExpandDims(raw.ExpandDims(bar(convert(self._multiplier), adjoint), -1), -1)

    def _diag_part(self) -> Any:
        shape = _joined(raw.Shape(convert(self._multiplier)), self._num_rows)
        return raw.BroadcastTo(raw.ExpandDims(convert(self._multiplier), -1), shape)

    def _to_dense(self) -> Any:
        return raw.MatrixDiag(self._diag_part())

    def _shape_tensor(self) -> Any:
        return _joined(raw.Shape(convert(self._multiplier)), self._num_rows, self._num_rows)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        if self._assert_proper_shapes:
            check = assert_compatible_matrix_dimensions(self, x)
            x = x if check is None else with_dependencies([check], x)
        return x * self._factor(adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return (adjoint_of(rhs) if adjoint_arg else rhs) / self._factor(adjoint)

    def _determinant(self) -> Any:
        return raw.Prod(self._diag_part(), -1)

    def _log_abs_determinant(self) -> Any:
        return sum_of_logs(self._diag_part())

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _assert_non_singular(self):
        """Return an op that fails where the number is zero."""
        return assert_positive(magnitude(convert(self._multiplier)), message="LinearOperator was singular")

    def _assert_self_adjoint(self):
        """Return an op that fails where the number is not real."""
        same = convert(self._multiplier)
        return assert_near(same, bar(same, True), message="LinearOperator was not self-adjoint")

    def _linop_cholesky(self) -> LinearOperator:
        root = raw.Sqrt(convert(self._multiplier))
        return LinearOperatorScaledIdentity(
            self._num_rows, root, is_non_singular=True, is_self_adjoint=True, is_positive_definite=True
        )

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorScaledIdentity(self._num_rows, 1.0 / convert(self._multiplier), is_non_singular=True)


class LinearOperatorIdentity(LinearOperatorScaledIdentity):
    """The identity."""

    _matrix_axes: ClassVar[Any] = {}

    def __init__(
        self, num_rows, batch_shape=None, dtype=None, is_non_singular=True, is_self_adjoint=True,
        is_positive_definite=True, is_square=True, assert_proper_shapes=False, name="LinearOperatorIdentity",
    ):  # fmt: skip
        for promise, word in (
            (is_self_adjoint, "self adjoint"), (is_non_singular, "non-singular"),
            (is_positive_definite, "positive-definite"), (is_square, "square"),
        ):  # fmt: skip
            if not promise:
                raise ValueError(f"An identity operator is always {word}.")
        kind = dtypes.as_dtype(dtype or dtypes.float32)
        self._batch = _size(batch_shape, _BATCH, 1, assert_proper_shapes)
        known = isinstance(self._batch, list)
        ones = convert(np.ones(self._batch, kind.np)) if known else raw.Fill(self._batch, raw.Cast(1, DstT=kind))
        super().__init__(num_rows, ones, True, True, True, True, assert_proper_shapes, name)

    @property
    def _composite_tensor_fields(self) -> tuple[str, ...]:
        return super()._composite_tensor_fields + (() if isinstance(self._batch, list) else (_BATCH,))

    def _linop_inverse(self) -> LinearOperator:
        return self

    def _linop_cholesky(self) -> LinearOperator:
        return self


class LinearOperatorZeros(LinearOperator):
    """Nothing but zeros."""

    _matrix_axes: ClassVar[Any] = {}

    def __init__(
        self, num_rows, num_columns=None, batch_shape=None, dtype=None, is_non_singular=False, is_self_adjoint=True,
        is_positive_definite=False, is_square=True, assert_proper_shapes=False, name="LinearOperatorZeros",
    ):  # fmt: skip
        if is_non_singular or is_positive_definite:
            raise ValueError("A zero operator is always singular, and never positive definite.")
        self._rows = self._columns = _size(num_rows, _ROWS, 0, assert_proper_shapes)
        if num_columns is not None:
            self._columns = _size(num_columns, "num_columns", 0, assert_proper_shapes)
        self._batch = _size(batch_shape, _BATCH, 1, assert_proper_shapes)
        known = isinstance(self._rows, int) and isinstance(self._columns, int)
        square = self._rows == self._columns if known else is_square
        super().__init__(
            dtype or dtypes.float32, is_non_singular=False, is_self_adjoint=is_self_adjoint if square else False,
            is_positive_definite=False, is_square=square, name=name,
        )  # fmt: skip

    @property
    def _composite_tensor_fields(self) -> tuple[str, ...]:
        sizes = {_ROWS: self._rows, "num_columns": self._columns, _BATCH: self._batch}
        return tuple(n for n, size in sizes.items() if isinstance(size, Tensor) and self._made_with[n] is not None)

    def add_to_tensor(self, mat: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """Return A + mat as a tensor."""
        return super().add_to_tensor(mat, name)

    def _shape(self) -> TensorShape:
        return _static(self._batch, self._rows, self._columns)

    def _shape_tensor(self) -> Any:
        return _joined(self._batch, self._rows, self._columns)

    def _to_dense(self) -> Any:
        return raw.Fill(self._shape_tensor(), raw.Cast(0.0, DstT=self.dtype))

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorZeros(
            self._columns, self._rows, self._batch, self.dtype, is_self_adjoint=False, is_square=self.is_square
        )

    def _determinant(self) -> Any:
        return raw.Fill(_joined(self._batch), raw.Cast(0.0, DstT=self.dtype))

    def _log_abs_determinant(self) -> Any:
        return raw.Fill(_joined(self._batch), raw.Cast(-np.inf, DstT=self.dtype.real_dtype))

    def _assert_non_singular(self):
        """Raise an error: zeros can never be inverted."""
        raise InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        """Raise an error: zeros are never positive definite."""
        raise InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        """Return an op that does nothing: zeros are their own adjoint."""
        return group()
