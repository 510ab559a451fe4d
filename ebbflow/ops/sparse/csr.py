"""Compressed sparse matrices as values of dtype variant: products, sums, softmax, factors of batches of matrices.

A value holds one SciPy matrix for each of a batch. Knows SciPy's formats; the ops give and take them as variants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core.op import op
from ebbflow.ops.declare import UNDEFINED, scalar, show
from ebbflow.ops.sizes import invalid
from ebbflow.ops.sparse.arrays import checked, within
from ebbflow.ops.state.storage import boxed

_TYPES = "type in [float,double,complex64,complex128]"


class SparseMatrices:
    """A batch of sparse matrices of one shape; `batched` says whether the batch is an axis."""

    __slots__ = ("batched", "dtype", "parts", "shape")

    def __init__(self, parts: Sequence[Any], shape: tuple[int, int], dtype: Any, batched: bool):
        self.parts, self.shape, self.dtype, self.batched = list(parts), shape, np.dtype(dtype), batched

    def like(self, parts: Sequence[Any], shape: tuple[int, int] | None = None) -> np.ndarray:
        """Return other matrices of the same batch as a tensor's value."""
        return boxed(SparseMatrices(parts, shape or self.shape, self.dtype, self.batched))

    def dense(self) -> np.ndarray:
        parts = [part.toarray() for part in self.parts]
        if not parts:
            return np.zeros((0, *self.shape), self.dtype)
        return np.stack(parts) if self.batched else np.asarray(parts[0])


def _library() -> Any:
    import scipy.sparse  # on use: heavy

    return scipy.sparse


def matrices(handle: np.ndarray, name: str) -> SparseMatrices:
    """Return the matrices that a variant holds."""
    found = handle.item() if handle.size == 1 else None
    if not isinstance(found, SparseMatrices):
        raise invalid(f"{name} is not a CSRSparseMatrix")
    return found


def _pair(a: np.ndarray, b: np.ndarray) -> tuple[SparseMatrices, SparseMatrices]:
    first, second = matrices(a, "a"), matrices(b, "b")
    if len(first.parts) != len(second.parts) or first.batched != second.batched:
        raise invalid(f"a and b must have one batch size, got {len(first.parts)} and {len(second.parts)}")
    if first.dtype != second.dtype:
        raise invalid(f"a and b must have one dtype, got {first.dtype} and {second.dtype}")
    return first, second


# --- making one, and other forms --------------------------------------------------------------------------------------

SparseTensorToCSRSparseMatrix = op(
    "SparseTensorToCSRSparseMatrix(indices:int64, values:T, dense_shape:int64) -> (sparse_matrix:variant) | "
    f"T: {_TYPES}",
    shape=scalar,
    gradient=UNDEFINED,
)


def _from_places(indices: np.ndarray, values: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    library = _library()
    if len(sizes) not in (2, 3):
        raise invalid(f"SparseTensor must have rank 2 or 3; but its shape is {list(sizes)}")
    shape, count = sizes[-2:], sizes[0] if len(sizes) == 3 else 1
    if max(shape) >= 2**31 or count >= 2**31:
        raise invalid(f"a side of a sparse matrix must be below 2**31, got {list(sizes)}")
    parts = []
    for b in range(count):
        mine = indices[:, 0] == b if len(sizes) == 3 else slice(None)
        at = indices[mine]
        parts.append(library.csr_matrix((values[mine], (at[:, -2], at[:, -1])), shape, values.dtype))
    return boxed(SparseMatrices(parts, shape, values.dtype, len(sizes) == 3))  # type: ignore[arg-type]


@SparseTensorToCSRSparseMatrix.kernel
def _(xp, indices, values, dense_shape):
    checked(indices, values, dense_shape)
    within(indices, dense_shape)
    if len(dense_shape) == 3 and dense_shape[0] > 1_000_000:
        raise invalid(f"a batch of {int(dense_shape[0])} sparse matrices is too large")
    return _from_places(indices, values, tuple(dense_shape.tolist()))


DenseToCSRSparseMatrix = op(
    f"DenseToCSRSparseMatrix(dense_input:T, indices:int64) -> (sparse_output:variant) | T: {_TYPES}",
    shape=scalar,
    gradient=UNDEFINED,
)


@DenseToCSRSparseMatrix.kernel
def _(xp, dense_input, indices):
    if dense_input.ndim not in (2, 3) or indices.ndim != 2 or indices.shape[1] != dense_input.ndim:
        raise invalid(f"indices of shape {show(indices.shape)} do not go with a dense {show(dense_input.shape)}")
    within(indices, np.array(dense_input.shape))
    return _from_places(indices, dense_input[tuple(indices.T)], dense_input.shape)


SparseMatrixZeros = op(
    f"SparseMatrixZeros(dense_shape:int64) -> (sparse_matrix:variant) | type: {_TYPES}",
    shape=scalar,
    gradient=UNDEFINED,
)


@SparseMatrixZeros.kernel
def _(xp, dense_shape, *, type):
    sizes = tuple(dense_shape.reshape(-1).tolist())
    if (
        dense_shape.ndim != 1
        or len(sizes) not in (2, 3)
        or any(n < 0 for n in sizes)
        or np.prod(sizes[:-2]) > 1_000_000
    ):
        raise invalid(f"dense_shape must be 2 or 3 lengths, got {list(sizes)}")
    return _from_places(np.zeros((0, len(sizes)), np.int64), np.zeros(0, type.np), sizes)


def _matrix_dims(*inputs: Any) -> Any:
    return None


CSRSparseMatrixToDense = op(
    f"CSRSparseMatrixToDense(sparse_input:variant) -> (dense_output:type) | type: {_TYPES}",
    shape=_matrix_dims,
    gradient=UNDEFINED,
)
CSRSparseMatrixToDense.kernel(lambda xp, sparse_input: matrices(sparse_input, "sparse_input").dense())

CSRSparseMatrixToSparseTensor = op(
    "CSRSparseMatrixToSparseTensor(sparse_matrix:variant) -> (indices:int64, values:type, dense_shape:int64) | "
    f"type: {_TYPES}",
    gradient=UNDEFINED,
)
CSRSparseMatrixToSparseTensor.shape(lambda sparse_matrix: [(None, None), (None,), (None,)])


@CSRSparseMatrixToSparseTensor.kernel
def _(xp, sparse_matrix):
    whole = matrices(sparse_matrix, "sparse_matrix")
    places, values = [], []
    for b, part in enumerate(whole.parts):
        found = part.tocoo()
        lead = [np.full(found.nnz, b)] if whole.batched else []
        places.append(np.stack([*lead, found.row, found.col], 1))
        values.append(found.data)
    rank = 2 + whole.batched
    sizes = [*([len(whole.parts)] if whole.batched else []), *whole.shape]
    at = np.concatenate(places) if places else np.zeros((0, rank))
    return (
        at.astype(np.int64),
        np.concatenate(values) if values else np.zeros(0, whole.dtype),
        np.array(sizes, np.int64),
    )


CSRSparseMatrixComponents = op(
    "CSRSparseMatrixComponents(csr_sparse_matrix:variant, index:int32) -> (row_ptrs:int32, col_inds:int32, "
    f"values:type) | type: {_TYPES}",
    gradient=UNDEFINED,
)
CSRSparseMatrixComponents.shape(lambda csr_sparse_matrix, index: [(None,)] * 3)


@CSRSparseMatrixComponents.kernel
def _(xp, csr_sparse_matrix, index):
    whole = matrices(csr_sparse_matrix, "csr_sparse_matrix")
    at = int(index) if index.size == 1 else -1
    if not 0 <= at < len(whole.parts):
        raise invalid(f"index ({at}) not in [0, {len(whole.parts)})")
    part = whole.parts[at]
    return part.indptr.astype(np.int32), part.indices.astype(np.int32), part.data


SparseMatrixNNZ = op("SparseMatrixNNZ(sparse_matrix:variant) -> (nnz:int32)", gradient=UNDEFINED)
SparseMatrixNNZ.shape(lambda sparse_matrix: None)


@SparseMatrixNNZ.kernel
def _(xp, sparse_matrix):
    whole = matrices(sparse_matrix, "sparse_matrix")
    counts = np.array([part.nnz for part in whole.parts], np.int32)
    return counts if whole.batched else counts[0]


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _turned(part: Any, transpose: bool, adjoint: bool) -> Any:
    if transpose and adjoint:
        raise invalid("Only one of adjoint and transpose may be true.")
    return part.T if transpose else part.conj().T if adjoint else part


SparseMatrixTranspose = op(
    f"SparseMatrixTranspose(input:variant) -> (output:variant) | conjugate: bool = false; type: {_TYPES}",
    shape=scalar,
    gradient=UNDEFINED,
)


@SparseMatrixTranspose.kernel
def _(xp, input, *, conjugate):
    whole = matrices(input, "input")
    return whole.like([(p.conj() if conjugate else p).T.tocsr() for p in whole.parts], whole.shape[::-1])


SparseMatrixAdd = op(
    f"SparseMatrixAdd(a:variant, b:variant, alpha:T, beta:T) -> (c:variant) | T: {_TYPES}",
    shape=scalar,
    gradient=UNDEFINED,
)


@SparseMatrixAdd.kernel
def _(xp, a, b, alpha, beta):
    first, second = _pair(a, b)
    if first.shape != second.shape or alpha.size != 1 or beta.size != 1:
        raise invalid(f"a and b must have one shape, alpha and beta be scalars: {first.shape}, {second.shape}")
    pairs = zip(first.parts, second.parts, strict=True)
    return first.like([(p * alpha.item() + q * beta.item()).astype(first.dtype).tocsr() for p, q in pairs])


SparseMatrixMul = op("SparseMatrixMul(a:variant, b:T) -> (output:variant) | T: type", shape=scalar, gradient=UNDEFINED)


@SparseMatrixMul.kernel
def _(xp, a, b):
    whole = matrices(a, "a")
    if b.ndim and not (b.ndim == 3 and whole.batched and b.shape == (len(whole.parts), 1, 1)):
        raise invalid(f"b must be a scalar, or [batch, 1, 1] for a batch of {len(whole.parts)}; got {show(b.shape)}")
    factors = [b.item()] * len(whole.parts) if not b.ndim else b.reshape(-1).tolist()
    return whole.like([(p * f).astype(whole.dtype).tocsr() for p, f in zip(whole.parts, factors, strict=True)])


_FLAGS = "transpose_a: bool = false; transpose_b: bool = false; adjoint_a: bool = false; adjoint_b: bool = false"
SparseMatrixMatMul = op(
    f"SparseMatrixMatMul(a:variant, b:T) -> (output:T) | T: type; {_FLAGS}; transpose_output: bool = false; "
    "conjugate_output: bool = false",
    gradient=UNDEFINED,
)
SparseMatrixMatMul.shape(_matrix_dims)


@SparseMatrixMatMul.kernel
def _(
    xp, a, b, *, transpose_a, transpose_b, adjoint_a, adjoint_b, transpose_output, conjugate_output
):  # fmt: skip
    whole = matrices(a, "a")
    if b.ndim != 2 + whole.batched or (whole.batched and len(b) != len(whole.parts)):
        raise invalid(f"b must go with a batch of {len(whole.parts)} matrices, got shape {show(b.shape)}")
    results = []
    for part, right in zip(whole.parts, b if whole.batched else [b], strict=True):
        left, other = _turned(part, transpose_a, adjoint_a), _turned(right, transpose_b, adjoint_b)
        if left.shape[1] != other.shape[0]:
            raise invalid(f"Matrices do not fit: {left.shape} and {other.shape}")
        found = np.asarray(left @ other)
        found = found.T if transpose_output else found
        results.append(found.conj() if conjugate_output else found)
    if whole.batched:
        return np.stack(results).astype(b.dtype) if results else np.zeros((0, whole.shape[0], b.shape[-1]), b.dtype)
    return results[0].astype(b.dtype)


SparseMatrixSparseMatMul = op(
    f"SparseMatrixSparseMatMul(a:variant, b:variant) -> (c:variant) | type: {_TYPES}; {_FLAGS}",
    shape=scalar,
    gradient=UNDEFINED,
)


@SparseMatrixSparseMatMul.kernel
def _(xp, a, b, *, transpose_a, transpose_b, adjoint_a, adjoint_b):
    first, second = _pair(a, b)
    products = []
    for p, q in zip(first.parts, second.parts, strict=True):
        left, right = _turned(p, transpose_a, adjoint_a), _turned(q, transpose_b, adjoint_b)
        if left.shape[1] != right.shape[0]:
            raise invalid(f"Matrices do not fit: {left.shape} and {right.shape}")
        products.append((left @ right).tocsr())
        products[-1].sort_indices()  # scipy leaves the columns of a product's rows in the order they come about
    shape = products[0].shape if products else first.shape
    return first.like(products, shape)


# --- rows and factors -------------------------------------------------------------------------------------------------

SparseMatrixSoftmax = op(
    "SparseMatrixSoftmax(logits:variant) -> (softmax:variant) | type: type in [float,double]",
    shape=scalar,
    gradient=UNDEFINED,
)
SparseMatrixSoftmaxGrad = op(
    "SparseMatrixSoftmaxGrad(softmax:variant, grad_softmax:variant) -> (gradient:variant) | "
    "type: type in [float,double]",
    shape=scalar,
    gradient=UNDEFINED,
)


def _row_by_row(part: Any, change: Callable[[Any], Any]) -> Any:
    result = part.copy()
    for start, stop in zip(part.indptr[:-1], part.indptr[1:], strict=True):
        if stop > start:
            result.data[start:stop] = change(slice(start, stop))
    return result


@SparseMatrixSoftmax.kernel
def _(xp, logits):
    whole = matrices(logits, "logits")

    def softmax(part: Any) -> Any:
        def row(at: Any) -> Any:
            e = np.exp(part.data[at] - part.data[at].max())
            return e / e.sum()

        return _row_by_row(part, row)

    return whole.like([softmax(part) for part in whole.parts])


@SparseMatrixSoftmaxGrad.kernel
def _(xp, softmax, grad_softmax):
    first, second = _pair(softmax, grad_softmax)
    if first.shape != second.shape:
        raise invalid(f"softmax and grad_softmax must have one shape, got {first.shape} and {second.shape}")
    parts = []
    for p, g in zip(first.parts, second.parts, strict=True):
        dot = np.asarray(p.multiply(g).sum(1)).reshape(-1, 1)
        parts.append((p.multiply(g) - p.multiply(dot)).tocsr().astype(first.dtype))
    return first.like(parts)


SparseMatrixOrderingAMD = op("SparseMatrixOrderingAMD(input:variant) -> (output:int32)", gradient=UNDEFINED)
SparseMatrixOrderingAMD.shape(lambda input: None)


@SparseMatrixOrderingAMD.kernel
def _(xp, input):
    from scipy.sparse.csgraph import reverse_cuthill_mckee  # on use: heavy

    whole = matrices(input, "input")
    if whole.shape[0] != whole.shape[1]:
        raise invalid(f"sparse matrix should be square, got {whole.shape}")
    orders = [reverse_cuthill_mckee(abs(part).tocsr(), symmetric_mode=False) for part in whole.parts]
    return np.stack(orders).astype(np.int32) if whole.batched else orders[0].astype(np.int32)


SparseMatrixSparseCholesky = op(
    f"SparseMatrixSparseCholesky(input:variant, permutation:int32) -> (output:variant) | type: {_TYPES}",
    shape=scalar,
    gradient=UNDEFINED,
)


@SparseMatrixSparseCholesky.kernel
def _(xp, input, permutation):
    whole = matrices(input, "input")
    rows = whole.shape[0]
    if whole.shape[0] != whole.shape[1]:
        raise invalid(f"sparse matrix should be square, got {whole.shape}")
    orders = permutation if whole.batched else permutation[None]
    if orders.shape != (len(whole.parts), rows) or (np.sort(orders, -1) != np.arange(rows)).any():
        raise invalid(f"permutation must hold the numbers below {rows} for each matrix, got {permutation.tolist()}")
    factors = []
    for part, order in zip(whole.parts, orders, strict=True):
        dense = part.toarray()  # of which only the lower triangle counts
        full = (np.tril(dense) + np.tril(dense, -1).conj().T)[np.ix_(order, order)]
        try:
            factor = np.linalg.cholesky(full)
        except np.linalg.LinAlgError:
            raise invalid("Sparse Cholesky factorization failed! The matrix is not positive definite.") from None
        factors.append(_library().csr_matrix(factor.astype(whole.dtype)))
    return whole.like(factors)
