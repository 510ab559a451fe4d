"""Matrix products: MatMul and its batched forms, the cross product, and what is written with them.

Products of halves and bfloat16 are summed in float32; integer products are exact (they wrap around as the dtype does).
`matmul` on two eager matrices goes straight to NumPy. Solvers are in `linalg`, factorisations in `factor`, contractions
by letters in `einsum`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import at_hand, convert, instant
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims, is_static
from ebbflow.core.tensor import EagerTensor, Tensor, _new, ndarray
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.ops import tf1_gradients
from ebbflow.ops.arrays.shaping import expand_dims, matrix_transpose, squeeze
from ebbflow.ops.declare import raw, show
from ebbflow.ops.linalg.diag import diag_part
from ebbflow.ops.operators import install_binary
from ebbflow.ops.reduce import reductions
from ebbflow.ops.shape_rules import agreed, broadcast_batches, equal_length, ranked, ranked_at_least
from ebbflow.ops.sizes import invalid, shape_of

# --- the product of arrays --------------------------------------------------------------------------------------------

_BLAS = "fdFD"
_EXACT_IN_DOUBLE = 2**53
_WORTH_BLAS = 2**15  # multiplications; below it NumPy's plain integer loop is quicker than looking at the values


def product(xp: Any, a: Any, b: Any) -> Any:
    """Return the matrix product of two arrays of one dtype, in that dtype."""
    if xp is not np:
        return xp.matmul(a, b)
    if a.dtype.char in _BLAS:
        return a.dot(b) if a.ndim == b.ndim == 2 else np.matmul(a, b)  # `matmul` thinks for half a microsecond first
    if a.dtype.kind in "iu":
        return _integer_product(a, b)
    return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)


def _integer_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """NumPy multiplies integers without BLAS: where doubles hold every sum exactly, they are ten times quicker."""
    if a.size * b.shape[-1] >= _WORTH_BLAS and b.size:
        largest = _largest(a) * _largest(b) * a.shape[-1]
        if largest < _EXACT_IN_DOUBLE:
            exact = np.matmul(a.astype(np.float64), b.astype(np.float64))
            return exact.astype(np.int64).astype(a.dtype)
    return np.matmul(a, b)


def _largest(x: np.ndarray) -> int:
    return max(abs(int(x.min())), abs(int(x.max())))


def swap(x: Any) -> Any:
    """Return the array with its last two axes exchanged."""
    return x.swapaxes(-1, -2)


# --- MatMul -----------------------------------------------------------------------------------------------------------

MatMul = op(
    "MatMul(a:T, b:T) -> (product:T) | transpose_a: bool = false; transpose_b: bool = false; "
    "T: type in [bfloat16,half,float,double,int32,int64,uint8,uint16,uint32,uint64,complex64,complex128]; "
    "grad_a: bool = false; grad_b: bool = false",
    facts="fresh heavy portable",
)


@MatMul.shape
def _(a, b, *, transpose_a, transpose_b):
    rows, inner = ranked(a, 2)[:: -1 if transpose_a else 1]
    inner_b, columns = ranked(b, 2)[:: -1 if transpose_b else 1]
    equal_length(inner, inner_b)
    return rows, columns


@MatMul.kernel
def _(xp, a, b, *, transpose_a, transpose_b):
    if a.ndim != 2 or b.ndim != 2:
        raise invalid(f"In[0] and In[1] must be matrices, got shapes {show(a.shape)} and {show(b.shape)}")
    left, right = a.T if transpose_a else a, b.T if transpose_b else b
    if left.shape[1] != right.shape[0]:
        raise invalid(f"Matrix size-incompatible: In[0]: {show(a.shape)}, In[1]: {show(b.shape)}")
    return product(xp, left, right)


@MatMul.gradient
def _(call, grad):
    a, b = _conj(call.a), _conj(call.b)
    ta, tb = call.transpose_a, call.transpose_b
    left = right = None
    if call.wants(0):
        left = raw.MatMul(b, grad, transpose_a=tb, transpose_b=True) if ta else raw.MatMul(grad, b, transpose_b=not tb)
    if call.wants(1):
        right = raw.MatMul(grad, a, transpose_a=True, transpose_b=ta) if tb else raw.MatMul(a, grad, transpose_a=not ta)
    return left, right


def _conj(x: Any) -> Any:
    return raw.Conj(x) if x.dtype.is_complex else x


SparseMatMul = op(
    "SparseMatMul(a:Ta, b:Tb) -> (product:float) | transpose_a: bool = false; transpose_b: bool = false; "
    "a_is_sparse: bool = false; b_is_sparse: bool = false; Ta: type in [float,bfloat16] = float; "
    "Tb: type in [float,bfloat16] = float",
    shape=MatMul.shape_fn,
    facts="beside",
)


@SparseMatMul.kernel
def _(xp, a, b, *, transpose_a, transpose_b):
    return MatMul.kernel_fn(
        xp, a.astype(np.float32), b.astype(np.float32), transpose_a=transpose_a, transpose_b=transpose_b
    )


@SparseMatMul.gradient
def _(call, grad):
    a, b = (raw.Cast(x, DstT=dtypes.float32) for x in (call.a, call.b))
    ta, tb = call.transpose_a, call.transpose_b
    left = raw.MatMul(b, grad, transpose_a=tb, transpose_b=True) if ta else raw.MatMul(grad, b, transpose_b=not tb)
    right = raw.MatMul(grad, a, transpose_a=True, transpose_b=ta) if tb else raw.MatMul(a, grad, transpose_a=not ta)
    return raw.Cast(left, DstT=call.Ta), raw.Cast(right, DstT=call.Tb)


# --- batches of products ----------------------------------------------------------------------------------------------

_BATCH_ATTRS = "adj_x: bool = false; adj_y: bool = false; grad_x: bool = false; grad_y: bool = false"
_V3_TYPES = "bfloat16,half,float,double,uint8,int8,int16,int32,int64,complex64,complex128"

BatchMatMul = op(
    "BatchMatMul(x:T, y:T) -> (output:T) | "
    f"T: type in [bfloat16,half,float,double,int32,int64,complex64,complex128]; {_BATCH_ATTRS}",
    facts="heavy portable",
)
BatchMatMulV2 = op(
    "BatchMatMulV2(x:T, y:T) -> (output:T) | T: type in "
    "[bfloat16,half,float,double,int16,int32,int64,uint8,uint16,uint32,uint64,complex64,complex128]; "
    f"{_BATCH_ATTRS}",
    facts="fresh heavy portable",
)
BatchMatMulV3 = op(
    f"BatchMatMulV3(x:Ta, y:Tb) -> (output:Tout) | Ta: type in [{_V3_TYPES}]; Tb: type in [{_V3_TYPES}]; "
    f"Tout: type in [bfloat16,half,float,double,int16,int32,int64,complex64,complex128]; {_BATCH_ATTRS}",
    facts="heavy portable",
)


def _batch_rule(x, y, adj_x, adj_y, join):
    xs, ys = ranked_at_least(x, 2), ranked_at_least(y, 2)
    if xs is None or ys is None:
        return None
    rows, inner = xs[-2:][:: -1 if adj_x else 1]
    inner_y, columns = ys[-2:][:: -1 if adj_y else 1]
    lead = join(xs[:-2], ys[:-2])
    equal_length(inner, inner_y)
    return (*lead, rows, columns)


@BatchMatMul.shape
def _(x, y, *, adj_x, adj_y):
    return _batch_rule(x, y, adj_x, adj_y, agreed)


@BatchMatMulV2.shape
def _(x, y, *, adj_x, adj_y):
    return _batch_rule(x, y, adj_x, adj_y, broadcast_batches)


@BatchMatMulV3.shape
def _(x, y, *, adj_x, adj_y):
    return _batch_rule(x, y, adj_x, adj_y, broadcast_batches)


def _batch_product(xp, x, y, adj_x, adj_y):
    if x.ndim < 2 or y.ndim < 2:
        raise invalid(f"In[0] and In[1] ndims must be >= 2, got shapes {show(x.shape)} and {show(y.shape)}")
    left, right = _adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y
    if left.shape[-1] != right.shape[-2]:
        raise invalid(f"Matrix size-incompatible: In[0]: {show(x.shape)}, In[1]: {show(y.shape)}")
    try:
        return product(xp, left, right)
    except ValueError:
        raise invalid(
            f"In[0] and In[1] must have compatible batch dimensions: {show(x.shape)} vs. {show(y.shape)}"
        ) from None


def _adjoint(x):
    return swap(x.conj() if x.dtype.kind == "c" else x)


@BatchMatMul.kernel
def _(xp, x, y, *, adj_x, adj_y):
    if x.shape[:-2] != y.shape[:-2]:
        raise invalid(f"In[0] and In[1] must have the same batch dimensions: {show(x.shape)} vs. {show(y.shape)}")
    return _batch_product(xp, x, y, adj_x, adj_y)


@BatchMatMulV2.kernel
def _(xp, x, y, *, adj_x, adj_y):
    return _batch_product(xp, x, y, adj_x, adj_y)


@BatchMatMulV3.kernel
def _(xp, x, y, *, adj_x, adj_y, Tout):
    return _batch_product(xp, x.astype(Tout.np), y.astype(Tout.np), adj_x, adj_y)


def _batch_grads(call, x, y, grad):
    """The gradients of a batched product, before batches that were broadcast are summed up again."""
    ax, ay = call.adj_x, call.adj_y
    times = functools.partial(raw.BatchMatMulV2, name="MatMul")
    left = right = None
    if call.wants(0):
        left = times(y, grad, adj_x=ay, adj_y=True) if ax else times(grad, y, adj_y=not ay)
    if call.wants(1):
        right = times(grad, x, adj_x=True, adj_y=ax) if ay else times(x, grad, adj_x=not ax)
    return left, right


@BatchMatMul.gradient
def _(call, grad):
    return _batch_grads(call, call.x, call.y, grad)


@BatchMatMulV2.gradient
def _(call, grad):
    x, y = call.x, call.y
    left, right = _batch_grads(call, x, y, grad)
    return unbroadcast(left, x, y), unbroadcast(right, y, x)


@BatchMatMulV2.gradient_by_name
def _(call, grad):
    return tf1_gradients.unbatched(*_batch_grads(call, call.x, call.y, grad), call.x, call.y)


@BatchMatMulV3.gradient
def _(call, grad):
    x, y = (raw.Cast(t, DstT=call.Tout) for t in (call.x, call.y))
    left, right = _batch_grads(call, x, y, grad)
    left, right = unbroadcast(left, x, y), unbroadcast(right, y, x)
    return (
        None if left is None else raw.Cast(left, DstT=call.Ta),
        None if right is None else raw.Cast(right, DstT=call.Tb),
    )


def unbroadcast(grad: Any, x: Any, other: Any, inner: int = 2) -> Any:
    """Return `grad` summed over the leading axes along which `x` was broadcast against `other`.

    The last `inner` axes are those of the matrices and stay.
    """
    if grad is None:
        return None
    mine, theirs = x._dims, other._dims
    if mine is not None and theirs is not None and is_static(mine[:-inner]) and is_static(theirs[:-inner]):
        axes = _broadcast_axes(mine[:-inner], theirs[:-inner])
        if not axes:
            return grad
    else:
        axes, _ = raw.BroadcastGradientArgs(raw.Shape(x)[:-inner], raw.Shape(other)[:-inner])
    return raw.Reshape(raw.Sum(grad, axes), shape_of(x))


def _broadcast_axes(mine: Dims, theirs: Dims) -> list[int]:
    lead = max(len(theirs) - len(mine), 0)  # type: ignore[arg-type]
    padded = (1,) * lead + mine  # type: ignore[operator]
    against = (1,) * (len(padded) - len(theirs)) + theirs  # type: ignore[arg-type]
    return [i for i, (n, m) in enumerate(zip(padded, against, strict=True)) if i < lead or (n == 1 and m != 1)]


# --- Cross ------------------------------------------------------------------------------------------------------------

Cross = op("Cross(a:T, b:T) -> (product:T) | T: reals", facts="portable")


@Cross.shape
def _(a, b):
    dims = agreed(ranked_at_least(a, 1), ranked_at_least(b, 1))
    if dims is not None and dims[-1] not in (3, None):
        raise errors.StaticShapeError(f"Dimension must be 3 but is {dims[-1]}")
    return dims


@Cross.kernel
def _(xp, a, b):
    if a.shape != b.shape:
        raise invalid(f"Both inputs must be of same shape: {show(a.shape)} vs. {show(b.shape)}")
    if not a.ndim:
        raise invalid("Input must be at least 1D, got a scalar")
    if a.shape[-1] != 3:
        raise errors.FailedPreconditionError(
            None, None, f"Cross-products are only defined for 3-element vectors, got shape {show(a.shape)}"
        )
    x, y = (tuple(v[..., i] for i in range(3)) for v in (a, b))
    return xp.stack([x[i] * y[j] - x[j] * y[i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=-1)


@Cross.gradient
def _(call, grad):
    return raw.Cross(call.b, grad), raw.Cross(grad, call.a)


def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """Return the pairwise cross product of the 3-vectors along the last axis.

    >>> cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).numpy().tolist()
    [0.0, 0.0, 1.0]
    """
    return Cross(a, b, name=name)


# --- matmul -----------------------------------------------------------------------------------------------------------

_QUICK = frozenset([dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128])
_SPARSE = frozenset([dtypes.float32, dtypes.bfloat16])
_PLAIN = {"transpose_a": False, "transpose_b": False, "grad_a": False, "grad_b": False}
_PLAIN_ATTRS = {dtype: {**_PLAIN, "T": dtype} for dtype in _QUICK}
_ENGINES_FROM = 1 << 18  # multiplications; smaller products never pay for looking whether an engine is better


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the matrix product a·b, or of every pair of matrices in two batches.

    >>> matmul([[1., 2.], [3., 4.]], [[1.], [1.]]).numpy().tolist()
    [[3.0], [7.0]]
    """
    if a.__class__ is EagerTensor and b.__class__ is EagerTensor and not context.graph_scopes:
        dtype = a._dtype
        if (
            b._dtype is dtype
            and dtype in _QUICK
            and not (transpose_a or transpose_b or adjoint_a or adjoint_b or output_type)
        ):
            x, y = a._array, b._array
            fits = x.ndim == 2 and y.ndim == 2 and x.shape[1] == y.shape[0] and x.__class__ is ndarray is y.__class__
            if fits and (not MatMul.engines or x.size * y.shape[1] <= _ENGINES_FROM):
                result = _new(EagerTensor)
                result._array = x.dot(y)
                result._dtype = dtype
                if context.recorders:
                    for recorder in context.thread.recorders:
                        recorder.note(MatMul, _PLAIN_ATTRS[dtype], result, a, b)
                return result
    elif (a.__class__ in instant or b.__class__ in instant) and not context.graph_scopes:
        now = at_hand(a), at_hand(b)
        if now[0].__class__ is EagerTensor is now[1].__class__:
            return matmul(
                *now, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, output_type, name=name
            )
    return _general_matmul(
        a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, (a_is_sparse, b_is_sparse), output_type, name or "MatMul"
    )


def _general_matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, sparse, output_type, name):
    for side, transpose, adjoint in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
        if transpose and adjoint:
            raise ValueError(
                f"Only one of `transpose_{side}` and `adjoint_{side}` can be True. "
                f"Received `transpose_{side}`={transpose}, `adjoint_{side}`={adjoint}."
            )
    own = getattr(type(a), "_matmul", None) or getattr(type(b), "_matmul", None)
    if own is not None:  # of ragged batches
        return own(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b)
    with name_scope(name) as scope:
        a = convert(a, None, None, "a")
        b = convert(b, None, a.dtype.base_dtype, "b")
        if output_type is not None:
            output_type = dtypes.as_dtype(output_type)
        if not any(sparse) and (a._dims is None or len(a._dims) > 2 or b._dims is None or len(b._dims) > 2):
            return _batch_matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, output_type, scope)
        if output_type is not None and output_type is not a.dtype.base_dtype:
            a, b = (raw.Cast(x, DstT=output_type) for x in (a, b))
        if adjoint_a:
            a, transpose_a = _conj(a), True
        if adjoint_b:
            b, transpose_b = _conj(b), True
        flags = {"transpose_a": transpose_a, "transpose_b": transpose_b, "name": scope or name}
        if any(sparse) and a.dtype.base_dtype in _SPARSE and b.dtype.base_dtype in _SPARSE:
            found = raw.SparseMatMul(a, b, a_is_sparse=sparse[0], b_is_sparse=sparse[1], **flags)
            both_short = a.dtype.base_dtype is b.dtype.base_dtype is dtypes.bfloat16
            return raw.Cast(found, DstT=dtypes.bfloat16) if both_short else found
        return raw.MatMul(a, b, **flags)


def _batch_matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, output_type, scope):
    if transpose_a:
        a = _conj(a)
    if transpose_b:
        b = _conj(b)
    flags = {"adj_x": bool(transpose_a or adjoint_a), "adj_y": bool(transpose_b or adjoint_b), "name": scope or None}
    own = a.dtype.base_dtype
    if (output_type is not None and output_type is not own) or own is dtypes.int8 or b.dtype.base_dtype is not own:
        return raw.BatchMatMulV3(a, b, Tout=output_type or dtypes.int32, **flags)
    return raw.BatchMatMulV2(a, b, **flags)


def _operator(a, b, name=None):
    """`a @ b`: the side that is no tensor becomes a constant called x or y, as with every operator."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return matmul(a, b, name=name)
    with name_scope(name) as scope:
        if not isinstance(a, Tensor):
            a = convert(a, b.dtype.base_dtype, None, "x")
        else:
            b = convert(b, None, a.dtype.base_dtype, "y")
        return matmul(a, b, name=scope or None)


install_binary("matmul", MatMul, "matmul", function=_operator)
_general_operator = Tensor.__matmul__


def _quick_operator(x, y):
    return matmul(x, y) if y.__class__ is EagerTensor and not context.graph_scopes else _general_operator(x, y)


EagerTensor.__matmul__ = _quick_operator  # type: ignore[method-assign]


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the matrix `a` times the vector `b`, or every matrix of a batch times its vector.

    >>> matvec([[1., 2.], [3., 4.]], [1., 1.]).numpy().tolist()
    [3.0, 7.0]
    """
    with name_scope(name, "MatVec", [a, b]):
        output = matmul(
            a,
            expand_dims(b, axis=-1),
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return squeeze(output, axis=-1)


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Return the conjugate transpose of the last two axes.

    >>> adjoint([[1 + 2j]]).numpy().tolist()
    [[(1-2j)]]
    """
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert(matrix, None, None, "matrix"), conjugate=True)


def diagonal(x):
    """Return the diagonal of every matrix, in the node that the era has for it."""
    return raw.MatrixDiagPart(x, name="diag_part") if context.switches.tf1 else diag_part(x)


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """Return the sum of the diagonal of every matrix.

    >>> trace([[1, 2], [3, 4]]).numpy()
    np.int32(5)
    """
    with name_scope(name, "Trace", [x]) as scope:
        return reductions.reduce_sum(diagonal(convert(x, None, None, "x")), [-1], name=scope or None)
