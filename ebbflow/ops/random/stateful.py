"""Random numbers as people ask for them: `random_normal`, `random_uniform`, shuffles, crops and the rest.

In a graph these put TensorFlow's nodes there, those of 1.15 in the first era. Eagerly, with plain numbers as
parameters, they call the kernel straight away. Knows the ops of `random_ops`; seeds come from `random_seed`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType, as_dtype
from ebbflow.core.op import Op, eager_run
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import EagerTensor, Tensor, wrap
from ebbflow.core.typing import DTypeLike, ShapeLike, TensorLike
from ebbflow.ops.arrays.broadcasting import broadcast_dynamic_shape, broadcast_to
from ebbflow.ops.arrays.creation import building, zeros_like_v1
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw
from ebbflow.ops.random.seeds import seed_attrs
from ebbflow.ops.random.stateful_ops import (
    Multinomial,
    ParameterizedTruncatedNormal,
    RandomGamma,
    RandomPoissonV2,
    RandomShuffle,
    RandomStandardNormal,
    RandomUniform,
    RandomUniformInt,
    TruncatedNormal,
)
from ebbflow.ops.reduce.reductions import reduce_all
from ebbflow.ops.sizes import invalid

ACCEPTED = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def shape_tensor(shape: Any) -> Any:
    """Return a shape as an integer vector; that of a scalar, (), has int32 for its type."""
    empty = isinstance(shape, (list, tuple)) and not shape
    return convert(shape, dtypes.int32 if empty else None, None, "shape")


def added(x: Any, y: Any, scope: Any) -> Any:
    """Return `x + y`, the node that a whole scope is named after."""
    return (raw.Add if context.switches.tf1 else raw.AddV2)(x, y, name=scope or None)


def _at_once(op: Op, shape: Any, dtype: DType, seed: Any, *numbers: Any) -> np.ndarray | None:
    """Return what the op gives, the short way: eagerly, parameters being plain numbers; None: go the long way."""
    if building() is not None or op.engines or not all(n.__class__ in (int, float) for n in numbers):
        return None
    sizes = shape_array(shape)
    if sizes is None or not dtype.is_floating:
        return None
    attrs = {"seed": 0, "seed2": 0, **seed_attrs(seed)}
    kind = dtypes.int32 if sizes.itemsize == 4 else dtypes.int64
    try:
        return op.kernel_fn(np, sizes, dtype=dtype, T=kind, run=eager_run, **attrs)
    except Exception:  # the long way explains it
        return None


def shape_array(shape: Any) -> np.ndarray | None:
    """Return a shape as an array of int32 or int64, where ops run at once; None if it cannot be one."""
    if shape.__class__ in (list, tuple) and all(n.__class__ is int and 0 <= n < 2**31 for n in shape):
        return np.array(shape, np.int32)  # a tenth of what the conversion to a tensor takes
    sizes = shape_tensor(shape)
    usable = sizes.__class__ is EagerTensor and sizes._dtype in (dtypes.int32, dtypes.int64)
    return sizes._array if usable else None


def random_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return normal numbers of that mean and standard deviation.

    >>> random_normal([2, 3]).shape.as_list()
    [2, 3]
    """
    return _spread(RandomStandardNormal, "random_normal", shape, mean, stddev, dtype, seed, name)


def truncated_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return normal numbers, drawn again where they are two standard deviations or more from the mean.

    >>> truncated_normal([2, 3]).shape
    TensorShape([2, 3])
    """
    return _spread(TruncatedNormal, "truncated_normal", shape, mean, stddev, dtype, seed, name)


def _spread(op: Op, default: str, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: Any, name: Any) -> Any:
    dtype = as_dtype(dtype)
    array = _at_once(op, shape, dtype, seed, mean, stddev)
    if array is not None:
        return wrap(scaled(array, stddev, mean), dtype)
    with name_scope(name, default, [shape, mean, stddev]) as scope:
        shape = shape_tensor(shape)
        mean = convert(mean, dtype, None, "mean")
        stddev = convert(stddev, dtype, None, "stddev")
        drawn = op(shape, dtype=dtype, **seed_attrs(seed))
        return added(raw.Mul(drawn, stddev, name="mul"), mean, scope)


def scaled(array: np.ndarray, factor: Any, offset: Any) -> np.ndarray:
    """Return a new array times a number plus another, in its own precision; it is written to."""
    if factor != 1:
        array *= array.dtype.type(factor)
    if offset:
        array += array.dtype.type(offset)
    return array


def random_uniform(
    shape: ShapeLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return numbers from [minval, maxval): real ones (up to 1 by default), or integers.

    >>> bool(random_uniform([], 3, 4, dtypes.int32) == 3)
    True
    """
    dtype = as_dtype(dtype)
    if dtype not in ACCEPTED:
        raise ValueError(f"Argument `dtype` got invalid value {dtype!r}. Accepted dtypes are {ACCEPTED}.")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    array = _at_once(RandomUniform, shape, dtype, seed, minval, maxval)
    if array is not None:
        kind = array.dtype.type
        return wrap(scaled(array, kind(maxval) - kind(minval), minval), dtype)
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        return _uniform(shape_tensor(shape), minval, maxval, dtype, seed, scope)


def _uniform(shape: Any, minval: Any, maxval: Any, dtype: DType, seed: Any, scope: Any) -> Any:
    from_zero = isinstance(minval, int) and minval == 0 and not context.switches.tf1
    to_one = isinstance(maxval, int) and maxval == 1 and not context.switches.tf1
    if not (from_zero and to_one) or dtype.is_integer:
        minval = convert(minval, dtype, None, "min")
        maxval = convert(maxval, dtype, None, "max")
    if dtype.is_integer:
        return RandomUniformInt(shape, minval, maxval, name=scope or None, **seed_attrs(seed))
    drawn = RandomUniform(shape, dtype=dtype, **seed_attrs(seed))
    if from_zero:
        return drawn if to_one else raw.Mul(drawn, maxval)
    span = raw.Sub(maxval, minval, name="sub")
    return added(raw.Mul(drawn, span, name="mul"), minval, scope)


def parameterized_truncated_normal(
    shape, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, dtype=dtypes.float32, seed=None, name=None
):
    """Return normal numbers between bounds; the parameters are scalars, or vectors along the first axis."""
    dtype = as_dtype(dtype)
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]):
        shape = shape_tensor(shape)
        named = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
        parameters = [convert(value, dtype, None, key) for key, value in named.items()]
        return ParameterizedTruncatedNormal(shape, *parameters, **seed_attrs(seed))


def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return the rows of `value` (its entries along the first axis) in random order.

    >>> sorted(random_shuffle([3, 1, 2]).numpy().tolist())
    [1, 2, 3]
    """
    return RandomShuffle(value, name=name, **seed_attrs(seed))


def categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return for each row of unnormalised log-chances `num_samples` categories drawn by them.

    >>> categorical([[-1000.0, 0.0]], 3).numpy().tolist()
    [[1, 1, 1]]
    """
    with name_scope(name, "categorical", [logits]):
        return _categories(logits, num_samples, dtype, seed)


def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor:
    """Return for each row of unnormalised log-chances `num_samples` categories drawn by them."""
    with name_scope(name, "multinomial", [logits]):
        return _categories(logits, num_samples, output_dtype, seed)


def _categories(logits: Any, num_samples: Any, dtype: Any, seed: Any) -> Any:
    logits = convert(logits, None, None, "logits")
    return Multinomial(logits, num_samples, output_dtype=category_type(dtype), **seed_attrs(seed))


def category_type(dtype: Any) -> DType:
    """Return the type asked for categories, int64 by default."""
    dtype = dtypes.int64 if dtype is None else as_dtype(dtype)
    accepted = (dtypes.int32, dtypes.int64)
    if dtype not in accepted:
        raise ValueError(f"Argument `dtype` got invalid value {dtype!r}. Accepted dtypes are {accepted}.")
    return dtype


def random_gamma(
    shape: ShapeLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return gamma numbers of shape `alpha` and rate `beta`: `shape` of them for each pair of these."""
    dtype = as_dtype(dtype)
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert(shape, dtypes.int32, None, "shape")
        alpha = convert(alpha, dtype, None, "alpha")
        beta = convert(1 if beta is None else beta, dtype, None, "beta")
        shapes = alpha + zeros_like_v1(beta) if context.switches.tf1 else spread_over(alpha, beta)
        drawn = RandomGamma(shape, shapes, **seed_attrs(seed))
        return at_least_tiny(raw.RealDiv(drawn, beta, name="truediv"))


def spread_over(alpha: Any, beta: Any) -> Any:
    """Return `alpha` repeated to the shape that it and `beta` broadcast to."""
    return broadcast_to(alpha, broadcast_dynamic_shape(shape_of(alpha), shape_of(beta)))


def at_least_tiny(drawn: Any) -> Any:
    """Return positive numbers raised to the smallest normal one: none was meant to come out as zero."""
    return raw.Maximum(np.finfo(drawn.dtype.as_numpy_dtype).tiny, drawn)


def random_poisson(
    shape: ShapeLike,
    lam: TensorLike,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return Poisson numbers of rate `lam`: `shape` of them for each rate."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert(shape, dtypes.int32, None, "shape")
        return RandomPoissonV2(shape, lam, dtype=dtype, **seed_attrs(seed))


def random_poisson_v1(
    lam: TensorLike,
    shape: ShapeLike,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return Poisson numbers of rate `lam`: `shape` of them for each rate."""
    return random_poisson(shape, lam, dtype, seed, name)


# --- crops ------------------------------------------------------------------------------------------------------------


def random_crop(value: TensorLike, size: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return a part of `value` of that size, from a random place.

    >>> random_crop([[1, 2], [3, 4]], [1, 2]).shape.as_list()
    [1, 2]
    """
    return cropped(value, size, name, lambda dims: random_uniform(dims, 0, dtypes.int32.max, dtypes.int32, seed))


def cropped(value: Any, size: Any, name: Any, draw: Any) -> Any:
    """Return a part of `value`; `draw` gives random integers for a shape, a place for each axis."""
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert(value, None, None, "value")
        size = convert(size, dtypes.int32, None, "size")
        shape = _larger(shape_of(value), size)
        limit = shape - size + 1
        offset = draw(shape_of(shape)) % limit
        return raw.Slice(value, offset, size, name=scope or None)


def _larger(shape: Any, size: Any) -> Any:
    """Return `shape`, once it is sure that it has room for `size`."""
    words = "Need value.shape >= size, got "
    fits = reduce_all(shape >= size)
    graph = building()
    if graph is None:
        if not bool(fits):
            sizes = "\n".join(", ".join(map(str, x.numpy())) for x in (shape, size))
            raise invalid(f"Expected '{fits}' to be true. Summarized data: {words.encode()}\n{sizes}")  # type: ignore[str-bytes-safe]
        return shape
    with name_scope(None, "Assert", [fits]):
        convert(words)  # TensorFlow leaves this node behind, and nodes are counted in seeds
        check = raw.Assert(fits, [words, shape, size], summarize=1000)
    with graph.colocate_with(shape.op), graph.control_dependencies([check]):
        return raw.Identity(shape, name="control_dependency")
