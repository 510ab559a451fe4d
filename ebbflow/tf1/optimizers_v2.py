"""Optimizers of `tf.contrib.optimizer_v2` whose step is not that of their namesakes in `tf.train`."""

from __future__ import annotations

from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.typing import Rate, TensorLike
from ebbflow.ops.arrays.creation import ones_like
from ebbflow.train.optimizers import RMSPropOptimizer as _RMSProp


class RMSPropOptimizer(_RMSProp):
    """RMSProp whose mean of squares begins at `epsilon`, which no step adds again."""

    def __init__(
        self,
        learning_rate: Rate,
        decay: Rate = 0.9,
        momentum: TensorLike = 0.0,
        epsilon: TensorLike = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ):
        super().__init__(learning_rate, decay, momentum, 0.0, use_locking, centered, name)
        self._first = epsilon

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            initial = convert(self._first, v.dtype.base_dtype) * ones_like(v)
            self._get_or_make_slot(v, initial, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)
