"""What a layer asks of its inputs: rank, dtype, shape, lengths of some axes.

The words of the errors are TensorFlow's. Knows shapes and dtypes, and no layer.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import dtypes, nest
from ebbflow.core.typing import AnyTensor, DTypeLike


class InputSpec:
    """What a layer asks of one input; None asks nothing.

    >>> InputSpec(min_ndim=2, axes={-1: 3})
    InputSpec(min_ndim=2, axes={-1: 3})
    """

    def __init__(
        self,
        dtype: DTypeLike | None = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, Any] | None = None,
    ):
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        try:
            self.axes = {int(axis): length for axis, length in (axes or {}).items()}
        except (ValueError, TypeError, AttributeError):
            raise TypeError("The keys in axes must be integers.") from None
        most = self.ndim or max_ndim
        if self.axes and most is not None and max(self.axes) > most - 1:
            raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {most - 1}")

    def __repr__(self) -> str:
        given = [(name, getattr(self, name)) for name in ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")]
        return f"InputSpec({', '.join(f'{name}={value}' for name, value in given if value)})"

    def check(self, layer: str, index: int, tensor: AnyTensor) -> None:
        """Raise ValueError where the input does not fit."""
        start = f"Input {index} of layer {layer} is incompatible with the layer: "
        dims = tensor.shape._dims
        if dims is None:
            if any(rank is not None for rank in (self.ndim, self.min_ndim, self.max_ndim)):
                raise ValueError(f"{start}its rank is undefined, but the layer requires a defined rank.")
            return
        self._check_rank(start, list(dims))
        if self.dtype is not None and tensor.dtype.base_dtype.name != self.dtype:
            raise ValueError(f"{start}expected dtype={self.dtype}, found dtype={tensor.dtype}")
        for axis, length in self.axes.items():
            length = getattr(length, "value", length)
            if length is not None and dims[axis] not in (length, None):
                raise ValueError(
                    f"{start}expected axis {axis} of input shape to have value {length} but received input with shape "
                    f"{list(dims)}"
                )
        for wanted, found in zip(self.shape or (), dims, strict=False):
            if None not in (wanted, found) and wanted != found:
                raise ValueError(
                    f"Input {index} is incompatible with layer {layer}: expected shape={self.shape}, "
                    f"found shape={list(dims)}"
                )

    def _check_rank(self, start: str, dims: list[int | None]) -> None:
        rank, full = len(dims), f"Full shape received: {dims}"
        if self.ndim is not None and rank != self.ndim:
            raise ValueError(f"{start}expected ndim={self.ndim}, found ndim={rank}. {full}")
        if self.max_ndim is not None and rank > self.max_ndim:
            raise ValueError(f"{start}expected max_ndim={self.max_ndim}, found ndim={rank}")
        if self.min_ndim is not None and rank < self.min_ndim:
            raise ValueError(f"{start}: expected min_ndim={self.min_ndim}, found ndim={rank}. {full}")


def check_inputs(specs: Any, inputs: Any, layer: str) -> None:
    """Raise ValueError where inputs do not fit what a layer asks of them."""
    if not specs:
        return
    flat, wanted = nest.flatten(inputs), nest.flatten(specs)
    if len(flat) != len(wanted):
        raise ValueError(
            f"Layer {layer} expects {len(wanted)} inputs, but it received {len(flat)} input tensors. "
            f"Inputs received: {flat}"
        )
    for index, (tensor, spec) in enumerate(zip(flat, wanted, strict=True)):
        if spec is not None:
            spec.check(layer, index, tensor)
