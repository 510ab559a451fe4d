"""What operators ask of their arguments: whether they come in blocks, whether they fit, and what hints say together.

Knows operators by their public properties only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core.convert import convert
from ebbflow.core.shape import dimension_value
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, Nested, TensorLike
from ebbflow.ops.checks.asserts import assert_equal, assert_less
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.complex_numbers import imag
from ebbflow.ops.elementwise.unary import abs as magnitude


def assert_no_entries_with_modulus_zero(
    x: TensorLike, message: str | None = None, name: str = "assert_no_entries_with_modulus_zero"
) -> Effect:
    """Fail where an element is zero."""
    sizes = magnitude(convert(x))
    return assert_less(raw.ZerosLike(sizes[..., :1])[..., 0], sizes, message=message, name=name)


def assert_zero_imag_part(x: TensorLike, message: str | None = None, name: str = "assert_zero_imag_part") -> Effect:
    """Fail where an element has an imaginary part; real numbers have none."""
    x = convert(x)
    if x.dtype.is_floating:
        return raw.NoOp()
    parts = imag(x)
    return assert_equal(raw.ZerosLike(parts), parts, message=message, name=name)


def assert_compatible_matrix_dimensions(operator: Nested, x: TensorLike) -> Effect:
    """Fail unless `x` has as many rows as the operator has columns."""
    return assert_equal(
        raw.Shape(convert(x))[-2],
        operator.domain_dimension_tensor(),
        message="Dimensions are not compatible.  shape[-2] of argument to be the same as this operator",
    )


def is_adjoint_pair(x: Nested, y: Nested) -> bool:
    """Return whether two operators are known to be each other's adjoints."""
    if x is y:
        return bool(x.is_self_adjoint)
    return x is getattr(y, "operator", None) or y is getattr(x, "operator", None)


def is_aat_form(operators: Sequence[Nested]) -> bool:
    """Return whether a product of operators is of the form A·Aᵀ, by being the mirror of itself."""
    if not operators:
        raise ValueError("AAT form is undefined for empty operators")
    half = len(operators) // 2
    if len(operators) % 2:
        return False
    return all(is_adjoint_pair(operators[i], operators[-1 - i]) for i in range(half))


def use_operator_or_provided_hint_unless_contradicting(
    operator: Nested, hint_attr_name: str, provided_hint_value: bool | None, message: str
) -> bool | None:
    """Return what an operator or the caller says of a hint; fail with `message` where they say different things."""
    own = getattr(operator, hint_attr_name)
    if None not in (own, provided_hint_value) and own != provided_hint_value:
        raise ValueError(message)
    return own if provided_hint_value is None else provided_hint_value


def arg_is_blockwise(block_dimensions: Sequence[Any], arg: Nested, arg_split_dim: int) -> bool:
    """Return whether an argument is a list of blocks: by its structure, and where that does not tell, by sizes."""
    if not isinstance(arg, (tuple, list)) or len(arg) != len(block_dimensions):
        return False
    if not any(isinstance(part, (tuple, list)) for part in arg):
        return True
    own = [dimension_value(size) for size in block_dimensions]
    given = [np.shape(part)[arg_split_dim] for part in arg]
    if None in own and len(set(given)) == 1:
        raise ValueError(
            "Argument structure is ambiguous: the sizes of the operator's blocks are unknown, and the blocks of the "
            f"argument are all of size {given[0]}. Give blocks as tensors."
        )
    if all(size in (None, found) for size, found in zip(own, given, strict=True)):
        return True
    if None not in own and sum(own) == given[0]:
        return False
    raise ValueError(f"Argument dimension does not match operator dimensions {own}: its blocks are of sizes {given}.")


def split_arg_into_blocks(
    block_dims: Sequence[Any], block_dims_fn: Callable[[], Any], arg: TensorLike, axis: int = -1
) -> list[Tensor]:
    """Return a tensor parted along an axis into pieces as large as an operator's blocks."""
    sizes = [dimension_value(size) for size in block_dims]
    known = sizes if None not in sizes else raw.Pack([convert(size) for size in block_dims_fn()])
    return list(raw.SplitV(convert(arg), known, axis, num_split=len(sizes)))
