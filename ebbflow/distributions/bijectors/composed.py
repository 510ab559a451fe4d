"""Bijectors of other bijectors and of functions: chains, inverses, functions given in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.distributions.bijectors.base import Bijector


class Chain(Bijector):
    """One after the other: `Chain([f, g]).forward(x)` is f(g(x))."""

    bijectors = property(lambda self: self._bijectors, doc="Those it is made of, the last one first applied.")

    def __init__(
        self, bijectors: Sequence[Bijector] | None = None, validate_args: bool = False, name: str | None = None
    ) -> None:
        self._bijectors = list(bijectors or ())
        if not all(b._is_injective for b in self._bijectors):
            raise NotImplementedError("Invert is not implemented for non-injective bijectors; Chain takes none either.")
        dtypes = {b.dtype for b in self._bijectors if b.dtype is not None}
        if len(dtypes) > 1:
            raise ValueError(f"incompatible dtypes: {sorted(map(str, dtypes))}")
        super().__init__(
            graph_parents=[parent for b in self._bijectors for parent in b.graph_parents],
            is_constant_jacobian=all(b.is_constant_jacobian for b in self._bijectors),
            validate_args=validate_args,
            dtype=dtypes.pop() if dtypes else None,
            forward_min_event_ndims=_least([(b.forward_min_event_ndims, b.inverse_min_event_ndims)
                                            for b in reversed(self._bijectors)]),
            inverse_min_event_ndims=_least([(b.inverse_min_event_ndims, b.forward_min_event_ndims)
                                            for b in self._bijectors]),
            name=name or ("_of_".join(["chain", *[b.name for b in self._bijectors]]) if bijectors else "identity"),
        )  # fmt: skip

    def _forward(self, x, **conditions):
        for b in reversed(self._bijectors):
            x = b.forward(x, **conditions.get(b.name, {}))
        return x

    def _inverse(self, y, **conditions):
        for b in self._bijectors:
            y = b.inverse(y, **conditions.get(b.name, {}))
        return y

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian", **conditions):
        """Return the logarithm of the stretch of all together at x."""
        self._check_ndims(event_ndims, self._forward_min_event_ndims)
        x, ndims = self._of(x), int(event_ndims)
        total = convert(0.0, x.dtype)
        for b in reversed(self._bijectors):
            total = total + b.forward_log_det_jacobian(x, ndims, **conditions.get(b.name, {}))
            ndims += b.inverse_min_event_ndims - b.forward_min_event_ndims
            x = b.forward(x, **conditions.get(b.name, {}))
        return total

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian", **conditions):
        """Return the logarithm of the stretch of the way back from y."""
        self._check_ndims(event_ndims, self._inverse_min_event_ndims)
        y, ndims = self._of(y), int(event_ndims)
        total = convert(0.0, y.dtype)
        for b in self._bijectors:
            total = total + b.inverse_log_det_jacobian(y, ndims, **conditions.get(b.name, {}))
            ndims += b.forward_min_event_ndims - b.inverse_min_event_ndims
            y = b.inverse(y, **conditions.get(b.name, {}))
        return total

    def _forward_event_shape(self, input_shape):
        for b in reversed(self._bijectors):
            input_shape = b.forward_event_shape(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape):
        for b in self._bijectors:
            output_shape = b.inverse_event_shape(output_shape)
        return output_shape

    def _forward_event_shape_tensor(self, input_shape):
        for b in reversed(self._bijectors):
            input_shape = b.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape):
        for b in self._bijectors:
            output_shape = b.inverse_event_shape_tensor(output_shape)
        return output_shape


def _least(steps: Sequence[tuple[int, int]]) -> int:
    """Return how many axes a value needs to go through `steps`, each of which takes and gives some."""
    least = grown = 0
    for taken, left in steps:
        least = max(least, taken - grown)
        grown += left - taken
    return least


class Invert(Bijector):
    """Another one backwards."""

    bijector = property(lambda self: self._bijector, doc="The one that is turned round.")

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: str | None = None) -> None:
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            name=name or f"invert_{bijector.name}",
        )

    def forward(self, x, name="forward", **conditions):
        """Return what the other's inverse gives."""
        return self._bijector.inverse(x, **conditions)

    def inverse(self, y, name="inverse", **conditions):
        """Return what the other's forward gives."""
        return self._bijector.forward(y, **conditions)

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian", **conditions):
        """Return the other's stretch of the way back."""
        return self._bijector.inverse_log_det_jacobian(x, event_ndims, **conditions)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian", **conditions):
        """Return the other's stretch."""
        return self._bijector.forward_log_det_jacobian(y, event_ndims, **conditions)

    def _forward_event_shape(self, input_shape):
        return self._bijector.inverse_event_shape(input_shape)

    def _inverse_event_shape(self, output_shape):
        return self._bijector.forward_event_shape(output_shape)

    def _forward_event_shape_tensor(self, input_shape):
        return self._bijector.inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape_tensor(self, output_shape):
        return self._bijector.forward_event_shape_tensor(output_shape)


class Inline(Bijector):
    """A bijector of functions given in place."""

    def __init__(
        self,
        forward_fn: Callable[..., Any] | None = None,
        inverse_fn: Callable[..., Any] | None = None,
        inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_event_shape_fn: Callable[..., Any] | None = None,
        forward_event_shape_tensor_fn: Callable[..., Any] | None = None,
        inverse_event_shape_fn: Callable[..., Any] | None = None,
        inverse_event_shape_tensor_fn: Callable[..., Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:
        super().__init__(
            is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
            forward_min_event_ndims=forward_min_event_ndims, inverse_min_event_ndims=inverse_min_event_ndims, name=name,
        )  # fmt: skip
        functions = {
            "_forward": forward_fn,
            "_inverse": inverse_fn,
            "_inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "_forward_log_det_jacobian": forward_log_det_jacobian_fn,
            "_forward_event_shape": forward_event_shape_fn,
            "_forward_event_shape_tensor": forward_event_shape_tensor_fn,
            "_inverse_event_shape": inverse_event_shape_fn,
            "_inverse_event_shape_tensor": inverse_event_shape_tensor_fn,
        }
        for method, function in functions.items():
            if function is not None:
                setattr(self, method, function)
