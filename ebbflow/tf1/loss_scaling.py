"""Losses scaled by what a manager says: `tf.contrib.mixed_precision`."""

from __future__ import annotations

import abc
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Effect, Nested, TensorLike
from ebbflow.functions.control_flow.cond import cond
from ebbflow.graph.scopes import group, no_op
from ebbflow.ops.declare import raw
from ebbflow.state.variables import Variable
from ebbflow.train.loss_scale import LossScale, all_finite
from ebbflow.train.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer
from ebbflow.train.optimizer import Optimizer


class LossScaleManager(abc.ABC):
    """Says what a loss is multiplied by, and learns whether gradients were finite."""

    @abc.abstractmethod
    def get_loss_scale(self) -> TensorLike:
        """Return the scale, a scalar of float32."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: TensorLike) -> Effect:
        """Return an op that changes the scale, knowing whether all gradients were finite."""


class FixedLossScaleManager(LossScaleManager):
    """A scale that stays as it is."""

    def __init__(self, loss_scale: float):
        if loss_scale < 1:
            raise ValueError(f"loss scale must be at least 1, got {loss_scale}")
        self._loss_scale = convert(loss_scale, dtypes.float32)

    def get_loss_scale(self) -> TensorLike:
        """Return the scale."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: TensorLike) -> Effect:
        """Change nothing."""
        return no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after so many steps in which gradients were finite, and shrinks after some that were not."""

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ):
        self._incr_every_n_steps, self._incr_ratio = incr_every_n_steps, incr_ratio
        self._decr_every_n_nan_or_inf, self._decr_ratio = decr_every_n_nan_or_inf, decr_ratio
        self._loss_scale = Variable(
            convert(init_loss_scale, dtypes.float32), name="loss_scale", dtype=dtypes.float32, trainable=False
        )
        self._num_good_steps = Variable(0, name="good_steps", dtype=dtypes.int32, trainable=False)
        self._num_bad_steps = Variable(0, name="bad_steps", dtype=dtypes.int32, trainable=False)

    def get_loss_scale(self) -> TensorLike:
        """Return the scale."""
        return self._loss_scale.value()

    def _begin_anew(self) -> list[Any]:
        return [self._num_good_steps.assign(0), self._num_bad_steps.assign(0)]

    def update_loss_scale(self, finite_grads: TensorLike) -> Effect:
        """Return an op that counts the step, and changes the scale if it is time."""

        def grow() -> Any:
            larger = self._loss_scale * self._incr_ratio
            kept = raw.SelectV2(raw.IsFinite(larger), larger, convert(self._loss_scale))
            return group(self._loss_scale.assign(kept), *self._begin_anew())

        def shrink() -> Any:
            smaller = raw.Maximum(self._loss_scale * self._decr_ratio, convert(1.0))
            return group(self._loss_scale.assign(smaller), *self._begin_anew())

        def good() -> Any:
            enough = raw.GreaterEqual(self._num_good_steps + 1, convert(self._incr_every_n_steps, dtypes.int32))
            return cond(enough, grow, lambda: group(self._num_good_steps.assign_add(1)))

        def bad() -> Any:
            enough = raw.GreaterEqual(self._num_bad_steps + 1, convert(self._decr_every_n_nan_or_inf, dtypes.int32))
            return cond(
                enough, shrink, lambda: group(self._num_good_steps.assign(0), self._num_bad_steps.assign_add(1))
            )

        return cond(finite_grads, good, bad)


class _Managed(LossScale):
    """A manager as today's optimizers ask it."""

    def __init__(self, manager: LossScaleManager):
        super().__init__()
        self._manager = manager

    def __call__(self) -> Tensor:
        return convert(self._manager.get_loss_scale())

    def update(self, grads: Nested) -> tuple[Any, Any]:
        finite = all_finite(list(grads))
        return self._manager.update_loss_scale(finite), finite

    def get_config(self) -> dict[str, Any]:
        return {"manager": self._manager}


class LossScaleOptimizer(MixedPrecisionLossScaleOptimizer):
    """Another optimizer, whose loss is scaled as a manager says; gradients that are not finite are left out."""

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager):
        super().__init__(opt, _Managed(loss_scale_manager))
