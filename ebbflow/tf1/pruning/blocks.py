"""Matrices seen as blocks: pooled one entry a block, and spread out again; variables of masks and thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.typing import TensorLike
from ebbflow.graph.scopes import group
from ebbflow.ops.arrays.padding import repeat
from ebbflow.ops.arrays.shaping import reshape, shape, transpose
from ebbflow.ops.declare import raw
from ebbflow.ops.nn.pool import pool_v1
from ebbflow.state.functions import assign
from ebbflow.state.initializers import Ones, Zeros
from ebbflow.state.variable_scope import get_variable, variable_scope


def weight_mask_variable(var: Any, scope: Any) -> Any:
    """Return the mask of a weight: as large as it, at first all ones."""
    with variable_scope(scope):
        return get_variable("mask", var.shape, initializer=Ones(), trainable=False, dtype=var.dtype.base_dtype)


def weight_threshold_variable(var: Any, scope: Any) -> Any:
    """Return the magnitude below which a weight's entries are masked."""
    with variable_scope(scope):
        return get_variable("threshold", [], initializer=Zeros(), trainable=False, dtype=var.dtype.base_dtype)


def kronecker_product(mat1: TensorLike, mat2: TensorLike) -> Any:
    """Return the matrix of blocks `mat2`, one for each entry of `mat1`, times it."""
    left, right = convert(mat1), convert(mat2)
    (m, n), (p, q) = left.shape.as_list(), right.shape.as_list()
    return reshape(reshape(left, [m, 1, n, 1]) * reshape(right, [1, p, 1, q]), [m * p, n * q])


def expand_tensor(tensor: TensorLike, block_dims: Sequence[int]) -> Any:
    """Return a matrix with a block of equal entries for each entry."""
    spread = convert(tensor)
    for axis, size in enumerate(block_dims):
        spread = spread if size == 1 else repeat(spread, size, axis)
    return spread


def factorized_pool(
    input_tensor: TensorLike, window_shape: Sequence[int], pooling_type: str, strides: Sequence[int], padding: str,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return a matrix pooled by windows: first along its rows, then along its columns."""
    if pooling_type not in ("AVG", "MAX"):
        raise ValueError(f"pooling_type must be AVG or MAX, got {pooling_type!r}")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be SAME or VALID, got {padding!r}")
    with name_scope(name, "factorized_pool"):
        pooled = convert(input_tensor)
        if pooled.shape.rank != 2:
            raise ValueError(f"factorized_pool() accepts tensors of 2 axes, got shape {pooled.shape}")
        for window, stride in ((window_shape[1], strides[1]), (window_shape[0], strides[0])):
            lines = reshape(pooled, [1, *pooled.shape.as_list(), 1])
            found = pool_v1(lines, [1, window], pooling_type, padding, strides=[1, stride])
            pooled = transpose(found[0, :, :, 0])
        return pooled


def determine_partitioned_axis(partitioned_variable: Any) -> int:
    """Return the axis along which a variable is cut."""
    whole, part = partitioned_variable.shape.as_list(), next(iter(partitioned_variable)).shape.as_list()
    return next((axis for axis, (a, b) in enumerate(zip(whole, part, strict=True)) if a != b), 0)


def variable_assign(var: Any, new_value: Any) -> Any:
    """Return the op that gives a variable a new value."""
    return assign(var, new_value, name=var.op.name + "_assign")


def partitioned_variable_assign(partitioned_var: Any, new_value: Any) -> Any:
    """Return the op that gives each part of a variable its part of a new value."""
    axis, parts = determine_partitioned_axis(partitioned_var), list(partitioned_var)
    sizes = [part.shape.as_list()[axis] for part in parts]
    values = raw.SplitV(new_value, sizes, axis, num_split=len(parts))
    return group(*(assign(part, value) for part, value in zip(parts, values, strict=True)), name="group_assign")


def cut(tensor: Any, like: Any) -> Any:
    """Return the first rows and columns, as many as another matrix has."""
    return raw.Slice(tensor, [0, 0], shape(like))
