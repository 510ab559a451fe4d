"""What every bijector does: forward, back, and the logarithm of the stretch of either way, summed over an event.

A kind says `_forward`, `_inverse` and one of `_forward_log_det_jacobian` and `_inverse_log_det_jacobian` for the
fewest axes an event can have; the base class sums over the axes an event really has. The last pair is remembered, so
that a density at a sample just made goes back exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import ShapeLike, TensorLike
from ebbflow.ops.arrays.creation import ones
from ebbflow.ops.arrays.shaping import rank, shape
from ebbflow.ops.arrays.slicing import slice_
from ebbflow.ops.declare import raw
from ebbflow.ops.reduce.reductions import reduce_sum

if TYPE_CHECKING:
    from ebbflow.core.dtypes import DType


class Bijector:
    """A function that can be undone."""

    def __init__(
        self,
        graph_parents: Sequence[Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: DType | None = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ) -> None:
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`.")
        least: Any = inverse_min_event_ndims if forward_min_event_ndims is None else forward_min_event_ndims
        self._forward_min_event_ndims: int = least
        self._inverse_min_event_ndims: int = least if inverse_min_event_ndims is None else inverse_min_event_ndims
        self._graph_parents = list(graph_parents or ())
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        self._name = name or type(self).__name__.lower()
        self._pair: tuple[Any, Any] = (None, None)

    graph_parents = property(lambda self: self._graph_parents, doc="Tensors it was made of.")
    is_constant_jacobian = property(lambda self: self._is_constant_jacobian, doc="Whether it stretches all alike.")
    validate_args = property(lambda self: self._validate_args, doc="Whether arguments are checked.")
    dtype = property(lambda self: self._dtype, doc="The dtype it is for, if only one.")
    name = property(lambda self: self._name, doc="Its name.")
    forward_min_event_ndims = property(lambda self: self._forward_min_event_ndims, doc="Axes of x it needs.")
    inverse_min_event_ndims = property(lambda self: self._inverse_min_event_ndims, doc="Axes of y it needs.")
    _is_injective = True

    # --- there and back -----------------------------------------------------------------------------------------------

    def forward(self, x: TensorLike, name: str = "forward", **conditions: Any) -> Tensor:
        """Return the value at x."""
        with name_scope(f"{self._name}/{name}"):
            x = self._of(x)
            if x is self._pair[0] and not conditions:
                return self._pair[1]
            y = self._forward(x, **conditions)
            if self._is_injective and not conditions:
                self._pair = (x, y)
            return y

    def inverse(self, y: TensorLike, name: str = "inverse", **conditions: Any) -> Tensor:
        """Return the x whose value is y."""
        with name_scope(f"{self._name}/{name}"):
            y = self._of(y)
            if y is self._pair[1] and not conditions:
                return self._pair[0]
            x = self._inverse(y, **conditions)
            if self._is_injective and not conditions:
                self._pair = (x, y)
            return x

    def _of(self, value: Any) -> Any:
        value = convert(value, self._dtype) if not hasattr(value, "dtype") else convert(value)
        if self._dtype is not None and value.dtype.base_dtype != dtypes.as_dtype(self._dtype).base_dtype:
            raise TypeError(f"Input had dtype {value.dtype!r} but expected {self._dtype!r}.")
        return value

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError("inverse not implemented")

    # --- how much it stretches ----------------------------------------------------------------------------------------

    def forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: int, name: str = "forward_log_det_jacobian", **conditions: Any
    ) -> Tensor:  # fmt: skip
        """Return the logarithm of the stretch at x, over the last `event_ndims` axes."""
        self._check_ndims(event_ndims, self._forward_min_event_ndims)
        with name_scope(f"{self._name}/{name}"):
            x = self._of(x)
            if hasattr(self, "_forward_log_det_jacobian"):
                part = self._forward_log_det_jacobian(x, **conditions)
                return self._summed(x, part, self._forward_min_event_ndims, event_ndims)
            if not hasattr(self, "_inverse_log_det_jacobian"):
                raise NotImplementedError("forward_log_det_jacobian not implemented.")
            y = self.forward(x, **conditions)
            ndims = event_ndims + self._inverse_min_event_ndims - self._forward_min_event_ndims
            part = -self._inverse_log_det_jacobian(y, **conditions)
            return self._summed(y, part, self._inverse_min_event_ndims, ndims)

    def inverse_log_det_jacobian(
        self, y: TensorLike, event_ndims: int, name: str = "inverse_log_det_jacobian", **conditions: Any
    ) -> Tensor:  # fmt: skip
        """Return the logarithm of the stretch of the way back from y, over the last `event_ndims` axes."""
        self._check_ndims(event_ndims, self._inverse_min_event_ndims)
        with name_scope(f"{self._name}/{name}"):
            y = self._of(y)
            if hasattr(self, "_inverse_log_det_jacobian"):
                part = self._inverse_log_det_jacobian(y, **conditions)
                return self._summed(y, part, self._inverse_min_event_ndims, event_ndims)
            if not hasattr(self, "_forward_log_det_jacobian"):
                raise NotImplementedError("inverse_log_det_jacobian not implemented.")
            x = self.inverse(y, **conditions)
            ndims = event_ndims + self._forward_min_event_ndims - self._inverse_min_event_ndims
            part = -self._forward_log_det_jacobian(x, **conditions)
            return self._summed(x, part, self._forward_min_event_ndims, ndims)

    def _check_ndims(self, event_ndims: int, least: int) -> None:
        if int(event_ndims) < least:
            raise ValueError(f"event_ndims ({event_ndims}) must be larger than min_event_ndims ({least})")

    def _summed(self, value: Any, part: Any, least: int, event_ndims: int) -> Any:
        """Return `part`, which is of the last `least` axes, for the last `event_ndims`."""
        extra = int(event_ndims) - least
        if not extra:
            return part
        part = convert(part)
        if self._is_constant_jacobian:
            start = rank(value) - event_ndims
            part = part * ones(slice_(shape(value), [start], [extra]), part.dtype)
        return reduce_sum(part, axis=list(range(-extra, 0)))

    # --- shapes -------------------------------------------------------------------------------------------------------

    def forward_event_shape(self, input_shape: ShapeLike) -> TensorShape:
        """Return the shape of an event after `forward`."""
        return TensorShape(self._forward_event_shape(TensorShape(input_shape)))

    def inverse_event_shape(self, output_shape: ShapeLike) -> TensorShape:
        """Return the shape of an event after `inverse`."""
        return TensorShape(self._inverse_event_shape(TensorShape(output_shape)))

    def forward_event_shape_tensor(self, input_shape: ShapeLike, name: str = "forward_event_shape_tensor") -> Tensor:
        """Return the shape of an event after `forward`, as a tensor."""
        with name_scope(f"{self._name}/{name}"):
            return raw.Identity(self._forward_event_shape_tensor(convert(input_shape, dtypes.int32)))

    def inverse_event_shape_tensor(self, output_shape: ShapeLike, name: str = "inverse_event_shape_tensor") -> Tensor:
        """Return the shape of an event after `inverse`, as a tensor."""
        with name_scope(f"{self._name}/{name}"):
            return raw.Identity(self._inverse_event_shape_tensor(convert(output_shape, dtypes.int32)))

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        return input_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return output_shape


class ConditionalBijector(Bijector):
    """A bijector whose functions take further arguments."""
