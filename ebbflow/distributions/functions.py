"""Functions distributions are made of: the normal integral and its logarithm, softplus undone, triangles from vectors.

Those of `tf.contrib.distributions` that people call themselves stand here too: percentiles, weighted log-sum-exp.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import dimension_value
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Axis, TensorLike
from ebbflow.ops.arrays.creation import ones_like, zeros_like
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import expand_dims, reshape, shape, squeeze, transpose
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.linalg.diag import diag as diagonal_matrix
from ebbflow.ops.linalg.diag import diag_part, set_diag
from ebbflow.ops.nn.bias_softmax import softmax
from ebbflow.ops.reduce.reductions import reduce_max, reduce_sum


def gen_new_seed(seed: int | None, salt: str) -> int | None:
    """Return a seed that follows from `seed` and a word, so that two draws of one sample do not repeat each other."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF


class SeedStream:
    """An endless row of seeds that follow from one; `salt` keeps the rows of two users apart."""

    def __init__(self, seed: Any, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self) -> int | None:
        """Return the next seed, or None where there is none to follow."""
        self._counter += 1
        return gen_new_seed(self._seed, f"{self._counter - 1}{self._salt}") if self._seed is not None else None

    @property
    def original_seed(self) -> Any:
        """The seed the row began with."""
        return self._seed

    @property
    def salt(self) -> str:
        """The word that keeps it apart."""
        return self._salt


def ndtr(x: Any) -> Any:
    """Return the share of a standard normal below x."""
    w = x * (1 / math.sqrt(2.0))
    z = raw.Abs(w)
    tail = where(z < math.sqrt(0.5), 1.0 + raw.Erf(w), where(w > 0.0, 2.0 - raw.Erfc(z), raw.Erfc(z)))
    return 0.5 * tail


def ndtri(p: Any) -> Any:
    """Return the point below which a standard normal has the share p."""
    return raw.Ndtri(p)


_SERIES = {dtypes.float64: (-20.0, 8.0)}


def log_ndtr(x: Any) -> Any:
    """Return log(ndtr(x)), to full precision in both tails: far out on the left by a series in 1/x²."""
    lower, upper = _SERIES.get(x.dtype.base_dtype, (-10.0, 5.0))
    far = raw.Minimum(x, convert(lower, x.dtype))
    inverse = 1.0 / raw.Square(far)
    series = 1.0 - inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse))
    left = -0.5 * raw.Square(far) - raw.Log(-far) - 0.5 * math.log(2 * math.pi) + raw.Log(series)
    middle = raw.Log(ndtr(raw.Maximum(x, convert(lower, x.dtype))))
    return where(x > upper, -ndtr(-x), where(x > lower, middle, left))


def log_cdf_laplace(x: Any) -> Any:
    """Return the logarithm of the share of a standard Laplace distribution below x."""
    left = -math.log(2.0) + raw.Minimum(x, zeros_like(x))
    right = raw.Log1p(-0.5 * raw.Exp(-raw.Abs(x)))
    return where(x < 0.0, left, right)


def softplus_inverse(x: TensorLike, name: str | None = None) -> Tensor:
    """Return y with softplus(y) = x, exact for tiny and for large x.

    >>> [f"{x:.4f}" for x in softplus_inverse([0.5, 50.0]).numpy()]
    ['-0.4328', '50.0000']
    """
    with name_scope(name, "softplus_inverse"):
        x = convert(x, name="x")
        edge = math.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        small, large = x < math.exp(edge), x > -edge
        middle = where(small | large, ones_like(x), x)
        answer = middle + raw.Log(-raw.Expm1(-middle))
        return where(small, raw.Log(x), where(large, x, answer))


def probs_and_logits(logits: Any, probs: Any, multidimensional: bool = False, name: str | None = None) -> tuple:
    """Return (logits, probs) of which exactly one is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Must pass probs or logits, but not both.")
    with name_scope(name, "get_logits_and_probs"):
        if probs is None:
            logits = convert(logits, name="logits")
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            return logits, softmax(logits, name="probs") if multidimensional else raw.Sigmoid(logits, name="probs")
        probs = convert(probs, name="probs")
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        return raw.Log(probs) if multidimensional else raw.Log(probs) - raw.Log1p(-1.0 * probs), probs


def fill_triangular(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """Return triangular matrices [..., n, n] filled with the n(n+1)/2 numbers of each last axis, in TensorFlow's order.

    >>> fill_triangular([1, 2, 3, 4, 5, 6]).numpy().tolist()
    [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    """
    with name_scope(name, "fill_triangular"):
        x = convert(x, name="x")
        length = None if x.shape.rank is None else dimension_value(x.shape[-1])
        n: Any
        if length is None:
            doubled = raw.Cast(2 * shape(x)[-1], DstT=dtypes.float32)
            n = raw.Cast(raw.Sqrt(0.25 + doubled), DstT=dtypes.int32)
        else:
            n = round((math.sqrt(8 * length + 1) - 1) / 2)
            if n * (n + 1) // 2 != length:
                raise ValueError(f"Input right-most shape ({length}) does not correspond to a triangular matrix.")
        parts = [x, raw.ReverseV2(x[..., n:], [-1])] if upper else [x[..., n:], raw.ReverseV2(x, [-1])]
        joined = concat(parts, -1)
        square = reshape(joined, concat([shape(x)[:-1], [n, n]], 0))
        return raw.MatrixBandPart(square, *((0, -1) if upper else (-1, 0)))


def fill_triangular_inverse(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """Return the numbers of triangular matrices as vectors: those of which `fill_triangular` makes such matrices.

    >>> fill_triangular_inverse([[3, 0], [2, 1]]).numpy().tolist()
    [1, 2, 3]
    """
    with name_scope(name, "fill_triangular_inverse"):
        x = convert(x, name="x")
        n = None if x.shape.rank is None else dimension_value(x.shape[-1])
        if n is None:
            return _taken_from_triangles(x, shape(x)[-1], upper)
        length = n * (n + 1) // 2
        numbers = np.arange(1, length + 1)
        joined = [numbers, numbers[n:][::-1]] if upper else [numbers[n:], numbers[::-1]]
        square = np.concatenate(joined).reshape(n, n)
        square = np.triu(square) if upper else np.tril(square)
        places = np.argsort(square.ravel(), kind="stable")[n * n - length :].astype(np.int32)
        return gather(reshape(x, concat([shape(x)[:-2], [n * n]], 0)), places, axis=-1)


def _taken_from_triangles(x: Any, n: Any, upper: bool) -> Any:
    """Return the numbers of triangular matrices whose size is known in the run only: where each number would go."""
    whole, length = n * n, n * (n + 1) // 2
    filled = reshape(fill_triangular(raw.Range(1, length + 1, 1), upper), [-1])
    places = raw.TopKV2(raw.Neg(filled), whole)[1][whole - length :]
    return gather(reshape(x, concat([shape(x)[:-2], raw.ExpandDims(whole, 0)], 0)), places, axis=-1)


def matrix_diag_transform(
    matrix: TensorLike, transform: Callable[..., Any] | None = None, name: str | None = None
) -> Tensor:
    """Return the matrices with `transform` applied to their diagonals."""
    with name_scope(name, "matrix_diag_transform"):
        matrix = convert(matrix, name="matrix")
        return matrix if transform is None else set_diag(matrix, transform(diag_part(matrix)))


def tridiag(
    below: TensorLike | None = None,
    diag: TensorLike | None = None,
    above: TensorLike | None = None,
    name: str | None = None,
) -> AnyTensor:
    """Return matrices with these three diagonals and zeros elsewhere."""
    with name_scope(name, "tridiag"):
        parts = [(k, convert(d)) for k, d in ((-1, below), (0, diag), (1, above)) if d is not None]
        if not parts:
            raise ValueError("Must provide at least one of {below, diag, above}")
        total = None
        for k, values in parts:
            matrix = diagonal_matrix(values, k=k)
            total = matrix if total is None else total + matrix
        return total


def reduce_weighted_logsumexp(
    logx: TensorLike,
    w: TensorLike | None = None,
    axis: Axis = None,
    keep_dims: bool = False,
    return_sign: bool = False,
    name: str | None = None,
) -> AnyTensor:
    """Return log|Σ w·exp(logx)| along `axis`, and its sign where that is asked for."""
    with name_scope(name, "reduce_weighted_logsumexp"):
        logx = convert(logx, name="logx")
        weights = ones_like(logx) if w is None else convert(w, logx.dtype, name="w")
        scaled = logx + raw.Log(raw.Abs(weights))
        highest = reduce_max(scaled, axis, keepdims=True)
        highest = raw.StopGradient(where(raw.IsFinite(highest), highest, zeros_like(highest)))
        total = reduce_sum(raw.Sign(weights) * raw.Exp(scaled - highest), axis, keepdims=True)
        sign = raw.Sign(total)
        answer = highest + raw.Log(sign * total)
        if not keep_dims:
            answer, sign = squeeze(answer, axis), squeeze(sign, axis)
        return (answer, sign) if return_sign else answer


def percentile(
    x: TensorLike,
    q: TensorLike,
    axis: Axis = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the `q`-th percentile along `axis`: the sample nearest to it, or the next lower or higher one.

    >>> percentile([1., 2., 3., 4.], 50.).numpy().tolist()
    3.0
    """
    interpolation = interpolation or "nearest"
    if interpolation not in ("nearest", "lower", "higher"):
        raise ValueError(f"Argument 'interpolation' must be in {{'lower', 'higher', 'nearest'}}. Found {interpolation}")
    with name_scope(name, "percentile"):
        x, q = convert(x, name="x"), convert(q, name="q")
        if q.shape.rank not in (0, None):
            raise ValueError(f"percentile: q must be a scalar; got shape {q.shape}")
        rank = x.shape.rank
        axes = list(range(rank)) if axis is None else sorted(int(a) % rank for a in np.atleast_1d(np.asarray(axis)))
        kept = [i for i in range(rank) if i not in axes]
        flat = transpose(x, kept + axes) if kept else x
        flat = reshape(flat, concat([gather(shape(x), kept) if kept else np.zeros(0, np.int32), [-1]], 0))
        count = raw.Cast(shape(flat)[-1], DstT=dtypes.float64)
        place = (count - 1.0) * (raw.Cast(q, DstT=dtypes.float64) / 100.0)
        place = {"nearest": raw.Round, "lower": raw.Floor, "higher": raw.Ceil}[interpolation](place)
        last = shape(flat)[-1] - 1
        place = raw.Minimum(raw.Maximum(raw.Cast(place, DstT=dtypes.int32), 0), last)
        ordered, _ = raw.TopKV2(flat, shape(flat)[-1])
        answer = gather(ordered, last - place, axis=-1)
        for i in axes if keep_dims else []:
            answer = expand_dims(answer, i)
        return answer


def auto_correlation(
    x: TensorLike,
    axis: int = -1,
    max_lags: int | None = None,
    center: bool = True,
    normalize: bool = True,
    name: str = "auto_correlation",
) -> AnyTensor:
    """Return how a series goes with itself shifted by 0, 1, … `max_lags` steps along `axis`."""
    with name_scope(name):
        x = convert(x, name="x")
        rank = x.shape.rank
        order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
        moved = transpose(x, order)
        length = dimension_value(moved.shape[-1])
        if center:
            moved = moved - raw.Mean(moved, [-1], keep_dims=True)
        lags = length - 1 if max_lags is None else min(int(max_lags), length - 1)
        products = [
            raw.Mean(moved[..., : length - lag] * moved[..., lag:], [-1], keep_dims=True) for lag in range(lags + 1)
        ]
        answer = concat(products, -1)
        answer = answer / answer[..., :1] if normalize else answer
        return transpose(answer, np.argsort(order).tolist())
