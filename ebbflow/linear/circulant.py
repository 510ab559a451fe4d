"""Circulant operators: every row is the one before, moved by one. Fourier's transform makes them diagonal.

Of one, two or three block axes: the spectrum's last axes are the blocks', and vectors are reshaped to them. Also the
conjugate-gradient method, which needs no more of an operator than its products.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, TensorLike
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.linear.kinds import _hints
from ebbflow.linear.operator import LinearOperator, bar
from ebbflow.ops.checks.asserts import assert_near
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.complex_numbers import conj
from ebbflow.ops.elementwise.unary import abs as magnitude
from ebbflow.ops.linalg.matmul import adjoint as adjoint_of

_COMPLEX = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128, dtypes.float16: dtypes.complex64}


class _Circulant(LinearOperator):
    """What circulants of any block depth share."""

    depth = 1

    def __init__(self, spectrum: Any, dtype: Any, hints: dict[str, Any]):
        if hints.get("is_square") is False:
            raise ValueError("A [[nested] block] circulant operator is always square.")
        self._spectrum = spectrum if hasattr(spectrum, "assign") else convert(spectrum, name="spectrum")
        rank = self._spectrum.shape.rank
        if rank is not None and rank < self.depth:
            raise ValueError(f"Argument spectrum must have at least {self.depth} dimensions. Received: {rank}")
        if not self._spectrum.dtype.is_complex and hints.get("is_self_adjoint") is None:
            hints["is_self_adjoint"] = True
        super().__init__(dtype, **hints)

    spectrum = property(lambda self: self._spectrum, doc="The eigenvalues, block by block.")
    block_depth = property(lambda self: self.depth, doc="How many axes a block has.")
    block_shape = property(lambda self: TensorShape(self._spectrum.shape)[-self.depth :], doc="How long its axes are.")

    def block_shape_tensor(self) -> Tensor:
        """Return how long the axes of a block are, as a vector."""
        return raw.Shape(convert(self._spectrum))[-self.depth :]

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """Return what this operator convolves with: the spectrum transformed back."""
        with name_scope(name):
            kernel = {1: raw.IFFT, 2: raw.IFFT2D, 3: raw.IFFT3D}[self.depth](self._complex())
            return kernel if self.dtype.is_complex else raw.Real(kernel, Tout=self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Effect:
        """Return an op that fails where the spectrum is not Hermitian, so that the operator is not real."""
        with name_scope(name):
            kernel = {1: raw.IFFT, 2: raw.IFFT2D, 3: raw.IFFT3D}[self.depth](self._complex())
            imaginary = raw.Imag(kernel, Tout=kernel.dtype.real_dtype)
            return assert_near(imaginary, raw.ZerosLike(imaginary), message="Spectrum was not Hermitian")

    def _shape(self) -> TensorShape:
        shape = TensorShape(self._spectrum.shape)
        if shape.rank is None:
            return shape
        blocks = shape[-self.depth :].as_list()
        side = None if None in blocks else int(np.prod(blocks))
        return shape[: -self.depth].concatenate([side, side])

    def _shape_tensor(self) -> Any:
        size = raw.Shape(convert(self._spectrum))
        side = raw.Prod(size[-self.depth :], [0], keep_dims=True)
        return raw.ConcatV2([size[: -self.depth], side, side], 0)

    def _complex(self) -> Any:
        spectrum = convert(self._spectrum)
        return spectrum if spectrum.dtype.is_complex else raw.Cast(spectrum, DstT=_COMPLEX[spectrum.dtype])

    def _transformed(self, x: Any, factor: Any) -> Any:
        """Multiply columns by a factor in Fourier's space."""
        wide = raw.Cast(x, DstT=factor.dtype)
        size = raw.Shape(wide)
        blocks = raw.Shape(factor)[-self.depth :]
        turned = raw.Transpose(wide, _last_two_swapped(wide))
        shaped = raw.Reshape(turned, raw.ConcatV2([size[:-2], size[-1:], blocks], 0))
        forth, back = {1: (raw.FFT, raw.IFFT), 2: (raw.FFT2D, raw.IFFT2D), 3: (raw.FFT3D, raw.IFFT3D)}[self.depth]
        found = back(forth(shaped) * _with_axis(factor, self.depth))
        flat = raw.Reshape(found, raw.ConcatV2([raw.Shape(found)[: -self.depth], size[-2:-1]], 0))
        result = raw.Transpose(flat, _last_two_swapped(flat))
        return result if self.dtype.is_complex else raw.Real(result, Tout=self.dtype)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._transformed(adjoint_of(x) if adjoint_arg else x, bar(self._complex(), adjoint))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        factor = raw.Reciprocal(bar(self._complex(), adjoint))
        return self._transformed(adjoint_of(rhs) if adjoint_arg else rhs, factor)

    def _flat_spectrum(self) -> Any:
        spectrum = self._complex()
        return raw.Reshape(spectrum, raw.ConcatV2([raw.Shape(spectrum)[: -self.depth], [-1]], 0))

    def _eigvals(self) -> Any:
        return self._flat_spectrum()

    def _determinant(self) -> Any:
        found = raw.Prod(self._flat_spectrum(), -1)
        return raw.Cast(found, DstT=self.dtype) if self.dtype.is_complex else raw.Real(found, Tout=self.dtype)

    def _log_abs_determinant(self) -> Any:
        return raw.Cast(raw.Sum(raw.Log(magnitude(self._flat_spectrum())), -1), DstT=self.dtype)

    def _linop_adjoint(self) -> LinearOperator:
        return type(self)(conj(convert(self._spectrum)), self.dtype)  # type: ignore[call-arg]

    def _linop_inverse(self) -> LinearOperator:
        return type(self)(raw.Reciprocal(convert(self._spectrum)), self.dtype)  # type: ignore[call-arg]


def _last_two_swapped(x: Any) -> Any:
    rank = x.shape.rank
    if rank is None:
        count = raw.Rank(x)
        return raw.ConcatV2([raw.Range(0, count - 2, 1), raw.Pack([count - 1, count - 2])], 0)
    return [*range(rank - 2), rank - 1, rank - 2]


def _with_axis(factor: Any, depth: int) -> Any:
    return raw.ExpandDims(factor, -depth - 1)


def _kind(depth: int, title: str) -> type[_Circulant]:
    def init(
        self, spectrum, input_output_dtype=dtypes.complex64, is_non_singular=None, is_self_adjoint=None,
        is_positive_definite=None, is_square=True, name=title,
    ):  # fmt: skip
        _Circulant.__init__(self, spectrum, input_output_dtype, _hints(locals()))

    text = f"A circulant operator of {depth} block axes, given by its spectrum."
    body = {"__init__": init, "__doc__": text, "__module__": __name__, "depth": depth}
    return type(title, (_Circulant,), {**body, "_matrix_axes": {"spectrum": depth}})


LinearOperatorCirculant = _kind(1, "LinearOperatorCirculant")
LinearOperatorCirculant2D = _kind(2, "LinearOperatorCirculant2D")
LinearOperatorCirculant3D = _kind(3, "LinearOperatorCirculant3D")


# --- conjugate gradients ----------------------------------------------------------------------------------------------

ConjugateGradientState = collections.namedtuple("ConjugateGradientState", ["i", "x", "r", "p", "gamma"])


def conjugate_gradient(
    operator: LinearOperator,
    rhs: TensorLike,
    preconditioner: LinearOperator | None = None,
    x: TensorLike | None = None,
    tol: float = 1e-5,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> ConjugateGradientState:
    """Solve A·x = rhs for vectors with a self-adjoint positive definite operator, by its products alone."""
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    rhs = convert(rhs, dtype=operator.dtype, name="rhs")
    column = raw.ExpandDims(rhs, -1)
    start = raw.ZerosLike(column) if x is None else raw.ExpandDims(convert(x, dtype=operator.dtype), -1)
    residual = column - operator.matmul(start) if x is not None else column
    smooth = (lambda r: r) if preconditioner is None else preconditioner.matmul
    dot = lambda a, b: raw.Sum(conj(a) * b, [-2, -1], keep_dims=True)
    direction = smooth(residual)
    limit = tol * raw.Sqrt(magnitude(dot(column, column)))

    def going(state: Any) -> Any:
        far = raw.Sqrt(magnitude(dot(state.r, state.r))) > limit
        return raw.LogicalAnd(state.i < max_iter, raw.Any(far, raw.Range(0, raw.Rank(far), 1)))

    def step(state: Any) -> Any:
        product = operator.matmul(state.p)
        alpha = state.gamma / dot(state.p, product)
        residual = state.r - alpha * product
        smoothed = smooth(residual)
        gamma = dot(residual, smoothed)
        forward = smoothed + gamma / state.gamma * state.p
        return (ConjugateGradientState(state.i + 1, state.x + alpha * state.p, residual, forward, gamma),)

    first = ConjugateGradientState(convert(0), start, residual, direction, dot(residual, direction))
    (state,) = while_loop(going, step, [first])
    flat = lambda v: raw.Squeeze(v, squeeze_dims=[-1])
    return ConjugateGradientState(state.i, flat(state.x), flat(state.r), flat(state.p), flat(state.gamma))
