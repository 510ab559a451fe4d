"""Layers and cells whose weights are masked: those of `tf.layers` and `tf.nn.rnn_cell`, with a mask and a threshold."""

from __future__ import annotations

from typing import Any

from ebbflow.core.typing import ShapeLike
from ebbflow.layers.convolutional import Conv2D
from ebbflow.layers.core import Dense
from ebbflow.layers.rnn.cells import BasicLSTMCell, LSTMCell
from ebbflow.state.initializers import Ones, Zeros
from ebbflow.tf1.pruning.masks import (
    MASK_COLLECTION,
    MASKED_WEIGHT_COLLECTION,
    MASKED_WEIGHT_NAME,
    THRESHOLD_COLLECTION,
    WEIGHT_COLLECTION,
    masked_weight,
)

__all__ = [
    "MASKED_WEIGHT_COLLECTION", "MASKED_WEIGHT_NAME", "MASK_COLLECTION", "THRESHOLD_COLLECTION", "WEIGHT_COLLECTION"
]  # fmt: skip


def _masked(layer: Any, kernel: Any, inside: str = "") -> Any:
    """Return a layer's kernel times a mask, which the layer makes beside it."""
    layer.built = False  # more variables of this layer are made
    dtype = kernel.dtype.base_dtype
    mask = layer.add_weight(f"{inside}mask", kernel.shape, dtype, initializer=Ones(), trainable=False)
    threshold = layer.add_weight(f"{inside}threshold", [], dtype, initializer=Zeros(), trainable=False)
    layer.built = True
    return masked_weight(kernel, mask, threshold)


class MaskedConv2D(Conv2D):
    """`Conv2D` with a masked kernel."""

    def build(self, input_shape: Any) -> None:
        """Make kernel, mask, threshold and bias."""
        super().build(input_shape)
        self.unmasked_kernel = self.kernel
        self.kernel = _masked(self, self.kernel)


class MaskedFullyConnected(Dense):
    """`Dense` with a masked kernel."""

    def build(self, input_shape: Any) -> None:
        """Make kernel, mask, threshold and bias."""
        super().build(input_shape)
        self.unmasked_kernel = self.kernel
        self.kernel = _masked(self, self.kernel)


class MaskedBasicLSTMCell(BasicLSTMCell):
    """`BasicLSTMCell` with a masked kernel."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None):
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make kernel, mask, threshold and bias."""
        super().build(inputs_shape)
        self._kernel = _masked(self, self._kernel)


class MaskedLSTMCell(LSTMCell):
    """`LSTMCell` with masked kernels of its gates and of its projection."""

    def __init__(
        self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
        num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None,
    ):  # fmt: skip
        super().__init__(
            num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, num_unit_shards, num_proj_shards,
            forget_bias, state_is_tuple, activation, reuse,
        )  # fmt: skip

    def build(self, inputs_shape: ShapeLike) -> None:
        """Make kernels, masks, thresholds and bias."""
        super().build(inputs_shape)
        self._kernel = _masked(self, self._kernel)
        if self._num_proj is not None:
            self._proj_kernel = _masked(self, self._proj_kernel, "projection/")
