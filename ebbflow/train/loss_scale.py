"""Scales for losses in low precision: small gradients would be zero, so the loss is multiplied before and they are
divided after. Knows variables; optimizers that use a scale are Keras's.
"""

from __future__ import annotations

import abc
from typing import Any

from ebbflow.core import dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested
from ebbflow.functions.control_flow.cond import cond
from ebbflow.graph.scopes import group, no_op
from ebbflow.ops.declare import raw
from ebbflow.state.variables import Variable
from ebbflow.trackable.base import Trackable


class LossScale(Trackable, metaclass=abc.ABCMeta):
    """A number that a loss is multiplied by, and how it changes with the gradients."""

    def __init__(self) -> None:
        self._weights: dict[str, Any] = {}

    @abc.abstractmethod
    def __call__(self) -> Tensor:
        """Return the scale as a scalar of float32."""

    @abc.abstractmethod
    def update(self, grads: Nested) -> tuple[Any, Any]:
        """Return an op that changes the scale, and whether these gradients may be applied."""

    def _add_weight(self, name: str, initial_value: Any, dtype: Any = None) -> Any:
        made = Variable(initial_value, name=name, dtype=dtype, trainable=False)
        self._weights[name] = self._track_trackable(made, name)
        return made

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make this scale again."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LossScale:
        """Return a scale made from such arguments."""
        return cls(**config)


class FixedLossScale(LossScale):
    """A scale that stays the same."""

    def __init__(self, loss_scale_value: float):
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        return convert(self._loss_scale_value, dtypes.float32)

    def update(self, grads: Nested) -> tuple[Any, Any]:
        """Change nothing."""
        return no_op(), True

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make this scale again."""
        return {"loss_scale_value": self._loss_scale_value}


class DynamicLossScale(LossScale):
    """A scale that grows while gradients stay finite, and shrinks when one is not."""

    def __init__(self, initial_loss_scale: float = 2**15, increment_period: int = 2000, multiplier: float = 2.0):
        super().__init__()
        self._initial, self._period, self._factor = float(initial_loss_scale), int(increment_period), float(multiplier)
        self._scale = self._add_weight("current_loss_scale", self._initial, dtypes.float32)
        self._good_steps = self._add_weight("good_steps", 0, dtypes.int64)

    @property
    def initial_loss_scale(self) -> float:
        return self._initial

    @property
    def increment_period(self) -> int:
        return self._period

    @property
    def multiplier(self) -> float:
        return self._factor

    def __call__(self) -> Tensor:
        return convert(self._scale)

    def update(self, grads: Nested) -> tuple[Any, Any]:
        """Return an op that changes the scale, and whether all gradients are finite."""
        finite = all_finite(nest.flatten(grads))
        grown = raw.LogicalAnd(finite, raw.GreaterEqual(self._good_steps + 1, convert(self._period, dtypes.int64)))
        return cond(finite, lambda: cond(grown, self._grow, self._count), self._shrink), finite

    def _grow(self) -> Any:
        larger = self._scale * self._factor
        kept = raw.SelectV2(raw.IsFinite(larger), larger, convert(self._scale))
        return group(self._scale.assign(kept), self._good_steps.assign(0))

    def _count(self) -> Any:
        return group(self._good_steps.assign_add(1))

    def _shrink(self) -> Any:
        smaller = raw.Maximum(self._scale / self._factor, convert(1.0))
        return group(self._scale.assign(smaller), self._good_steps.assign(0))

    def __repr__(self) -> str:
        return f"DynamicLossScale(initial_loss_scale={self._initial}, increment_period={self._period})"

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that make this scale again."""
        return {
            "initial_loss_scale": self._initial, "increment_period": self._period, "multiplier": self._factor,
        }  # fmt: skip


def all_finite(grads: list[Any]) -> Tensor:
    """Return whether all numbers of all gradients that there are are finite."""
    tensors = [convert(grad) for grad in grads if grad is not None]
    found: list[Any] = [raw.All(raw.IsFinite(tensor), _axes(tensor)) for tensor in tensors]
    return raw.All(raw.Pack(found), 0) if found else convert(True)


def _axes(tensor: Any) -> Any:
    return raw.Range(0, raw.Rank(tensor), 1)
