"""What else `tf.contrib.image` had: colours changed in YIQ, and boxes matched with each other.

YIQ is brightness and two axes of colour: hue is an angle between these, saturation a length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.argmax import argmin
from ebbflow.ops.arrays.creation import fill
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.arrays.ranges import range as range_of
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.checks.asserts import assert_equal_v1, assert_less_equal_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.image.colour import convert_image_dtype
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.random.stateful import random_uniform

TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
"""What makes YIQ of a column of red, green and blue."""


def adjust_hsv_in_yiq(
    image: TensorLike,
    delta_hue: TensorLike = 0,
    scale_saturation: TensorLike = 1,
    scale_value: TensorLike = 1,
    name: str | None = None,
) -> Tensor:
    """Return images with hues turned by `delta_hue` (radians), and saturation and brightness multiplied.

    >>> adjust_hsv_in_yiq(np.full([1, 1, 3], 2.0, np.float32), 1.0, 0.5, 3.0).numpy().round(2).tolist()
    [[[6.0, 6.0, 6.0]]]
    """
    with name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = convert(image, name="image")
        if image.shape.rank is not None and image.shape.rank < 3:
            raise ValueError(f"Shape must be at least rank 3 but is rank {image.shape.rank}: image is {image.shape}")
        channels = shape_of(image)[-1]
        words = "input must have 3 channels"
        if image.shape.rank is not None and image.shape[-1] is not None:
            words += f" but instead has {image.shape[-1]} channels"
        with control_dependencies(_checks(assert_equal_v1(channels, 3, message=words))):
            floats = convert_image_dtype(image, dtypes.float32)
        angle, length, value = (convert(x, dtypes.float32) for x in (delta_hue, scale_saturation, scale_value))
        along, across = length * raw.Cos(angle), length * raw.Sin(angle)
        zero, one = raw.ZerosLike(along), raw.OnesLike(along)
        turn = reshape(stack([one, zero, zero, zero, along, -across, zero, across, along]), [3, 3])
        back, there = (convert(m, dtypes.float32) for m in (np.linalg.inv(TO_YIQ), TO_YIQ))
        change = value * matmul(matmul(back, turn), there)
        changed = reshape(matmul(reshape(floats, [-1, 3]), change, transpose_b=True), shape_of(floats))
        changed.set_shape(image.shape)
        return convert_image_dtype(changed, image.dtype)


def _checks(check: Any) -> list[Any]:
    return [] if check is None else [check]


def random_hsv_in_yiq(
    image: TensorLike,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> Tensor:
    """Return images with hues turned by up to an angle, and saturation and brightness multiplied within bounds."""
    if max_delta_hue < 0:
        raise ValueError("max_delta must be non-negative.")
    for kind, low, high in (("saturation", lower_saturation, upper_saturation), ("value", lower_value, upper_value)):
        if low < 0:
            raise ValueError(f"lower_{kind} must be non-negative.")
        if low > high:
            raise ValueError(f"lower_{kind} must be < upper_{kind}.")
    with name_scope(None, "random_hsv_in_yiq", [image]):
        bounds = ((-max_delta_hue, max_delta_hue), (lower_saturation, upper_saturation), (lower_value, upper_value))
        hue, saturation, value = [
            low if low == high else random_uniform([], low, high, seed=seed) for low, high in bounds
        ]
        return adjust_hsv_in_yiq(image, hue, saturation, value)


class BipartiteMatch(NamedTuple):
    """Which column each row got, and which row each column; -1 for none."""

    row_to_col_match_indices: Tensor
    col_to_row_match_indices: Tensor


def bipartite_match(
    distance_mat: TensorLike, num_valid_rows: TensorLike, top_k: int = -1, name: str = "bipartite_match"
) -> BipartiteMatch:
    """Match rows with columns one by one, the nearest first, until rows, columns or `top_k` are used up.

    Only the first `num_valid_rows` rows take part (all, where that is negative).

    >>> rows, columns = bipartite_match([[0.5, 0.8, 0.1], [0.3, 0.2, 0.15]], 2)
    >>> rows.numpy().tolist(), columns.numpy().tolist()
    ([2, 1], [-1, 1, 0])
    """
    with name_scope(name, "bipartite_match", [distance_mat]):
        far = convert(distance_mat, dtypes.float32, name="distance_mat")
        if far.shape.rank not in (None, 2):
            raise ValueError(f"Shape must be rank 2 but is rank {far.shape.rank}: distance_mat is {far.shape}")
        valid = reshape(raw.Cast(convert(num_valid_rows, dtypes.float32), DstT=dtypes.int32), [])  # TF has a float here
        rows, columns = shape_of(far)[0], shape_of(far)[1]
        words = "There should be at least as many rows in distance_mat as num_valid_rows"
        with control_dependencies(_checks(assert_less_equal_v1(valid, rows, message=words))):
            valid = raw.SelectV2(valid < 0, rows, valid)
        count = raw.Minimum(valid, columns)
        count = raw.Minimum(count, top_k) if top_k > 0 else count
        row, column = reshape(range_of(rows), [-1, 1]), reshape(range_of(columns), [1, -1])

        def body(step: Any, far: Any, by_row: Any, by_column: Any) -> tuple[Any, Any, Any, Any]:
            at = argmin(reshape(far, [-1]), 0, dtypes.int32)
            i, j = raw.FloorDiv(at, columns), raw.FloorMod(at, columns)
            taken = raw.LogicalOr(raw.Equal(row, i), raw.Equal(column, j))
            by_row = raw.SelectV2(raw.Equal(row[:, 0], i), j, by_row)
            return (
                step + 1,
                raw.SelectV2(taken, np.float32(np.inf), far),
                by_row,
                raw.SelectV2(raw.Equal(column[0], j), i, by_column),
            )

        start = raw.SelectV2(row < valid, far, np.float32(np.inf))
        state = (convert(0), start, fill(stack([rows]), -1), fill(stack([columns]), -1))
        _, _, by_row, by_column = while_loop(lambda step, *_: step < count, body, state)
        by_row.set_shape(far.shape[:1])
        by_column.set_shape(far.shape[1:])
        return BipartiteMatch(by_row, by_column)
