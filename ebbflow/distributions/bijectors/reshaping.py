"""The bijector that gives events another shape: either shape may be a tensor, of unknown length even, with one -1."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import ShapeLike, TensorLike
from ebbflow.distributions.bijectors.base import Bijector
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape, shape
from ebbflow.ops.checks.asserts import assert_equal_v1, assert_greater_v1, assert_less_v1
from ebbflow.ops.declare import raw
from ebbflow.ops.reduce.reductions import reduce_sum

MISMATCH = "Input `event_shape` does not match `event_shape_in`."


class Reshape(Bijector):
    """Events of one shape as events of another."""

    def __init__(
        self,
        event_shape_out: ShapeLike | TensorLike,
        event_shape_in: ShapeLike | TensorLike = (-1,),
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        name = name or "reshape"
        with name_scope(name, values=[event_shape_out, event_shape_in]):
            self._out = _event_shape(event_shape_out, "event_shape_out")
            self._in = _event_shape(event_shape_in, "event_shape_in")
            checks = [_checks(self._out, "event_shape_out"), _checks(self._in, "event_shape_in")]
            self._checks = [check for some in checks for check in some] if validate_args else []
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, name=name, forward_min_event_ndims=0,
            graph_parents=[self._in, self._out],
        )  # fmt: skip

    def _turned(self, x: Any, old: Tensor, new: Tensor) -> Tensor:
        """Return x, whose last axes are an event of the shape `old`, with events of the shape `new`."""
        dims, axes = shape(x), dimension_value(old.shape[0])
        if axes is not None and x.shape.rank is not None and x.shape.rank < axes:
            raise ValueError(f"Input has rank {x.shape.rank}, but events of `event_shape_in` have {axes} axes.")
        start = raw.Size(dims) - raw.Size(old)
        with control_dependencies(self._checks + self._matching(x, dims[start:], old)):
            result = reshape(x, concat([dims[:start], new], 0))
        wanted = new.constant_value()
        if axes is not None and wanted is not None and (wanted >= 0).all():
            result.set_shape(TensorShape(x.shape[: x.shape.rank - axes]).concatenate(wanted.tolist()))
        return result

    def _matching(self, x: Any, event: Tensor, wanted: Tensor) -> list[Any]:
        """Return checks that events have the shape `wanted`, but where it says -1; ValueError if they never can."""
        known = wanted.constant_value()
        if known is not None and x.shape.rank is not None:
            pairs = zip(x.shape.as_list()[x.shape.rank - len(known) :], known.tolist(), strict=True)
            if any(n is not None and m >= 0 and n != m for n, m in pairs):
                raise ValueError(MISMATCH)
            if x.shape.is_fully_defined():
                return []
        if not self.validate_args:
            return []
        stated = raw.SelectV2(raw.Less(wanted, 0), event, wanted)
        return [assert_equal_v1(stated, event, message=MISMATCH)]

    def _forward(self, x):
        return self._turned(x, self._in, self._out)

    def _inverse(self, y):
        return self._turned(y, self._out, self._in)

    def _inverse_log_det_jacobian(self, y):
        return convert(0.0, y.dtype)

    def _forward_log_det_jacobian(self, x):
        return convert(0.0, x.dtype)

    def _forward_event_shape(self, input_shape):
        return _reshaped(input_shape, self._in, self._out)

    def _inverse_event_shape(self, output_shape):
        return _reshaped(output_shape, self._out, self._in)

    def _forward_event_shape_tensor(self, input_shape):
        return shape(self._forward(zeros(input_shape)))

    def _inverse_event_shape_tensor(self, output_shape):
        return shape(self._inverse(zeros(output_shape)))


def _event_shape(value: Any, name: str) -> Tensor:
    dims = convert(value, dtypes.int32, name=name)
    if dims.shape.rank not in (None, 1):
        raise ValueError(f"`{name}` must be a vector, but its rank is {dims.shape.rank}.")
    return dims


def _checks(dims: Tensor, name: str) -> list[Any]:
    """Return checks that a shape has no negative sizes, but for one that is left to be found out."""
    unknown = reduce_sum(raw.Cast(raw.Equal(dims, -1), DstT=dtypes.int32))
    once, sizes = "at most one `-1`", "either positive integers or `-1`"
    return [
        assert_greater_v1(dims, -2, message=f"`{name}` elements must be {sizes}."),
        assert_less_v1(unknown, 2, message=f"`{name}` elements must have {once}."),
    ]


def _reshaped(dims: TensorShape, old: Tensor, new: Tensor) -> TensorShape:
    axes, wanted = dimension_value(old.shape[0]), new.constant_value()
    if wanted is None or axes is None or not dims.is_fully_defined():
        return TensorShape(None)
    front, rest = dims.as_list()[: dims.rank - axes], dims.as_list()[dims.rank - axes :]
    return TensorShape(front + list(np.empty(rest, np.bool_).reshape(wanted).shape))
