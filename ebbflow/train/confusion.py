"""Confusion matrices: how often each class was taken for each."""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import as_dtype
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, TensorLike
from ebbflow.graph.scopes import with_dependencies
from ebbflow.ops.arrays.creation import ones_like_v1, zeros
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.checks.asserts import assert_less_v1, assert_non_negative_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_max
from ebbflow.train.weights import remove_squeezable_dimensions


def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    weights: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Return how often label i was predicted as j, or what the weights of those cases add up to.

    >>> confusion_matrix([1, 2, 2], [1, 2, 1]).numpy().tolist()
    [[0, 0, 0], [0, 1, 0], [0, 1, 1]]
    """
    dtype = as_dtype(dtype)
    with name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        labels = convert(labels, name="labels")
        predictions = convert(predictions, name="predictions")
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions, labels = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
        labels = _checked(assert_non_negative_v1(labels, message="`labels` contains negative values"), labels)
        predictions = _checked(
            assert_non_negative_v1(predictions, message="`predictions` contains negative values"), predictions
        )
        if num_classes is None:
            num_classes = raw.Maximum(reduce_max(predictions), reduce_max(labels)) + 1
        else:
            num_classes = cast(num_classes, dtypes.int64)
            labels = _checked(assert_less_v1(labels, num_classes, message="`labels` out of bound"), labels)
            predictions = _checked(
                assert_less_v1(predictions, num_classes, message="`predictions` out of bound"), predictions
            )
        if weights is not None:
            weights = convert(weights, name="weights")
            predictions.get_shape().assert_is_compatible_with(weights.get_shape())
            weights = cast(weights, dtype)
        shape = stack([num_classes, num_classes])
        places = raw.Transpose(stack([labels, predictions]), [1, 0], name="transpose")
        values = ones_like_v1(predictions, dtype) if weights is None else weights
        return raw.SparseTensorDenseAdd(places, values, shape, zeros(cast(shape, dtypes.int32), dtype))


def _checked(assertion: Any, value: Any) -> Tensor:
    return value if assertion is None else with_dependencies([assertion], value)


def confusion_matrix_v1(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Tensor:
    """`confusion_matrix` with TensorFlow 1's arguments."""
    return confusion_matrix(labels, predictions, num_classes, weights, dtype, name)
