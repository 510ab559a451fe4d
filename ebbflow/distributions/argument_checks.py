"""What distributions ask of their parameters: values where they are known, checks of form, and parts of shapes
(`tensorflow.python.ops.distributions.util`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import dimension_value
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, Effect, TensorLike
from ebbflow.distributions.functions import probs_and_logits
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.scopes import no_op, with_dependencies
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import transpose
from ebbflow.ops.checks import asserts
from ebbflow.ops.checks.shape_asserts import assert_rank_at_least_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_all, reduce_sum

_INTEGERS = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64}
_UNSIGNED = (dtypes.bool, dtypes.uint8, dtypes.uint16)
_SIGNED = (*_INTEGERS, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)


# --- values where they are known --------------------------------------------------------------------------------------


def maybe_get_static_value(x: Any, dtype: DTypeLike | None = None) -> Any:
    """Return a value as an array where it is known, as an array of a dtype if one is given; None where it is not."""
    known = x.constant_value() if isinstance(x, Tensor) else x
    if known is None or (dtype is None and not isinstance(x, Tensor)):
        return known
    return np.array(known, None if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype)


def prefer_static_value(x: TensorLike) -> Any:
    """Return a tensor's value where it is known, otherwise the tensor."""
    tensor = convert(x)
    known = tensor.constant_value()
    return tensor if known is None else np.asarray(known)


def prefer_static_rank(x: TensorLike) -> Any:
    """Return how many axes a tensor has, as a number where it is known."""
    tensor = convert(x)
    rank = tensor.shape.rank
    return raw.Rank(tensor) if rank is None else np.array(rank, np.int32)


def prefer_static_shape(x: TensorLike) -> Any:
    """Return a tensor's shape, as an array where it is known."""
    tensor = convert(x)
    known = tensor.shape.is_fully_defined()
    return np.array(tensor.shape.as_list(), np.int32) if known else raw.Shape(tensor)


def same_dynamic_shape(a: TensorLike, b: TensorLike) -> Tensor:
    """Return whether two tensors have the same shape when they run."""
    one, other = convert(a, name="a"), convert(b, name="b")
    shapes = raw.Shape(one), raw.Shape(other)
    # both orders, so that there are as many numbers on both sides even where the ranks differ
    equal = lambda: reduce_all(raw.Equal(concat(shapes, 0), concat(shapes[::-1], 0)))
    return cond_v1(raw.Equal(raw.Rank(one), raw.Rank(other)), equal, lambda: convert(False))


# --- checks -----------------------------------------------------------------------------------------------------------


def assert_integer_form(
    x: TensorLike,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    int_dtype: DType | None = None,
    name: str = "assert_integer_form",
) -> Effect:
    """Return an assertion that no element has a fraction."""
    with name_scope(name, None, [x]):
        tensor = convert(x, name="x")
        if tensor.dtype.is_integer:
            return no_op()
        kind = int_dtype or _INTEGERS.get(tensor.dtype.base_dtype)
        if kind is None:
            raise TypeError(f"Unrecognized type {tensor.dtype.name}")
        words = message or f"{tensor} has non-integer components"
        whole = cast(cast(tensor, kind), tensor.dtype)
        return asserts.assert_equal_v1(tensor, whole, data=data, summarize=summarize, message=words, name=name)


def _largest(kind: DType) -> int:
    if kind.base_dtype not in (*_SIGNED, *_UNSIGNED):
        raise TypeError(f"Unrecognized dtype: {kind.name}")
    if kind.is_floating:
        return int(2 ** (np.finfo(kind.as_numpy_dtype).nmant + 1))
    return 1 if kind.base_dtype == dtypes.bool else int(np.iinfo(kind.as_numpy_dtype).max)


def _smallest(kind: DType) -> int:
    return 0 if kind.base_dtype in _UNSIGNED else -_largest(kind)


def _is_whole(kind: DType) -> bool:
    _largest(kind)  # refuses what is no number
    return kind.is_integer or kind.base_dtype == dtypes.bool


def embed_check_categorical_event_shape(
    categorical_param: TensorLike, name: str = "embed_check_categorical_event_shape"
) -> Tensor:
    """Return a parameter with a last axis of at least two classes, and of no more than its dtype can count."""
    with name_scope(name, None, [categorical_param]):
        x = convert(categorical_param, name="categorical_param")
        if not x.dtype.is_floating:
            raise TypeError(f"Unable to validate size of unrecognized dtype ({x.dtype.base_dtype.name}).")
        most = _largest(x.dtype)
        if x.shape.rank == 0:
            raise ValueError("A categorical-distribution parameter must have at least 1 dimension.")
        classes = None if x.shape.rank is None else dimension_value(x.shape[-1])
        if classes is not None:
            if classes < 2:
                raise ValueError("A categorical-distribution parameter must have at least 2 events.")
            if classes > most:
                raise ValueError(
                    f"Number of classes exceeds `dtype` precision, i.e., {x.dtype.name} implies shape ({classes}) "
                    f"cannot exceed {most}."
                )
            return x
        count = raw.Shape(x)[-1]
        some = "A categorical-distribution parameter must have at least 1 dimension."
        checks = [
            assert_rank_at_least_v1(x, 1, message=some),
            asserts.assert_greater_equal_v1(
                count, 2, message="A categorical-distribution parameter must have at least 2 events."
            ),
            asserts.assert_less_equal_v1(
                count, most, message=f"Number of classes exceeds `dtype` precision, i.e., {x.dtype.name} dtype cannot "
                f"exceed {most} shape.",
            ),
        ]  # fmt: skip
        return with_dependencies(checks, x)


def embed_check_integer_casting_closed(
    x: TensorLike, target_dtype: DType, assert_nonnegative: bool = True, name: str = "embed_check_casting_closed"
) -> Tensor:
    """Return a tensor that is checked to stay what it is when it is cast."""
    with name_scope(name, None, [x]):
        tensor = convert(x, name="x")
        kind = tensor.dtype
        if not _is_whole(kind) and not kind.is_floating:
            raise TypeError(f"{kind.name}.dtype must be floating- or integer-type.")
        if not _is_whole(target_dtype) and not target_dtype.is_floating:
            raise TypeError(f"target_dtype ({target_dtype.name}) must be floating- or integer-type.")
        if not _is_whole(kind) and not _is_whole(target_dtype):
            raise TypeError(
                f"At least one of {tensor}.dtype ({kind.name}) and target_dtype ({target_dtype.name}) must be "
                "integer-type."
            )
        checks = []
        if assert_nonnegative:
            checks.append(asserts.assert_non_negative_v1(tensor, message="Elements must be non-negative."))
        if kind.is_floating:
            words = f"Elements must be {target_dtype.name}-equivalent."
            checks.append(assert_integer_form(tensor, int_dtype=target_dtype, message=words))
        elif _largest(kind) > _largest(target_dtype):
            most = _largest(target_dtype)
            checks.append(
                asserts.assert_less_equal_v1(tensor, convert(most, kind), message=f"Elements cannot exceed {most}.")
            )
        if not kind.is_floating and not assert_nonnegative and _smallest(kind) < _smallest(target_dtype):
            least = _smallest(target_dtype)
            words = f"Elements cannot be smaller than {least}."
            checks.append(asserts.assert_greater_equal_v1(tensor, convert(least, kind), message=words))
        return with_dependencies(checks, tensor) if checks else tensor


def get_logits_and_probs(
    logits: TensorLike | None = None,
    probs: TensorLike | None = None,
    multidimensional: bool = False,
    validate_args: bool = False,
    name: str = "get_logits_and_probs",
    dtype: DTypeLike | None = None,
) -> tuple[Tensor, Tensor]:
    """Return logits and probabilities, of which one is given; checked if that is wanted."""
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    logits = None if logits is None else convert(logits, kind, name="logits")
    probs = None if probs is None else convert(probs, kind, name="probs")
    if validate_args and (logits is None) != (probs is None):
        if logits is not None and multidimensional and logits.dtype.is_floating:
            logits = embed_check_categorical_event_shape(logits)
        elif probs is not None and probs.dtype.is_floating:
            probs = _checked_probs(probs, multidimensional)
    found = probs_and_logits(logits, probs, multidimensional, name)
    return found[0], found[1]


def _checked_probs(probs: Any, multidimensional: bool) -> Any:
    checks = [asserts.assert_non_negative_v1(probs)]
    one = convert(1.0, probs.dtype)
    if multidimensional:
        probs = embed_check_categorical_event_shape(probs)
        checks.append(asserts.assert_near_v1(reduce_sum(probs, -1), one, message="probs does not sum to 1."))
    else:
        checks.append(asserts.assert_less_equal_v1(probs, one, message="probs has components greater than 1."))
    return with_dependencies(checks, probs)


# --- small functions --------------------------------------------------------------------------------------------------


def log_combinations(n: TensorLike, counts: TensorLike, name: str = "log_combinations") -> Tensor:
    """Return the logarithm of how many ways there are to draw counts of each kind out of n."""
    with name_scope(name, None, [n, counts]):
        total, each = convert(n, name="n"), convert(counts, name="counts")
        return raw.Lgamma(total + 1) - reduce_sum(raw.Lgamma(each + 1), axis=-1)


def rotate_transpose(x: TensorLike, shift: TensorLike, name: str = "rotate_transpose") -> Tensor:
    """Return a tensor with its axes turned round by some places."""
    with name_scope(name, None, [x, shift]):
        tensor, places = convert(x, name="x"), convert(shift, name="shift")
        rank, known = tensor.shape.rank, places.constant_value()
        if rank is not None and known is not None:
            return tensor if rank < 2 or known % rank == 0 else transpose(tensor, np.roll(np.arange(rank), known))
        many = raw.Rank(tensor)
        front = raw.FloorMod(many - cast(places, dtypes.int32), many)
        return transpose(tensor, concat([raw.Range(front, many, 1), raw.Range(0, front, 1)], 0))


def pick_vector(cond: TensorLike, true_vector: Any, false_vector: Any, name: str = "pick_vector") -> Any:
    """Return one of two vectors, by a condition that may be known only in the run."""
    with name_scope(name, None, [cond, true_vector, false_vector]):
        truth = convert(cond, name="cond")
        if truth.dtype != dtypes.bool:
            raise TypeError(f"{truth}.dtype={truth.dtype} which is not {dtypes.bool}")
        known = truth.constant_value()
        if known is not None:
            return true_vector if known else false_vector
        yes, no = convert(true_vector, name="true_vector"), convert(false_vector, name="false_vector")
        if yes.dtype != no.dtype:
            raise TypeError(f"{yes}.dtype={yes.dtype} does not match {no}.dtype={no.dtype}")
        many = raw.Shape(yes)[0]
        start, length = raw.SelectV2(truth, 0, many), raw.SelectV2(truth, many, -1)
        return raw.Slice(concat([yes, no], 0), raw.ExpandDims(start, 0), raw.ExpandDims(length, 0))
