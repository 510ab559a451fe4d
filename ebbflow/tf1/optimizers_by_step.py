"""Optimizers of `tf.contrib.opt` that go by the global step: Adam that counts by it, gradients that are too old for it,
and weights of signs that decay with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.typing import Effect, Rate, TensorLike
from ebbflow.functions.control_flow.cond import cond_v1
from ebbflow.graph.scopes import colocate_with, control_dependencies
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import get_variable
from ebbflow.summary.ops import scalar
from ebbflow.tf1.optimizers import LazyAdamOptimizer
from ebbflow.train.optimizer import Optimizer
from ebbflow.train.optimizers import AdamOptimizer
from ebbflow.train.step_counter import get_global_step

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


class _ByStep(AdamOptimizer):
    """An Adam whose powers of beta are those of the global step: nothing of its own counts."""

    def __init__(
        self,
        global_step: TensorLike = 0,
        learning_rate: Rate = 0.001,
        beta1: Rate = 0.9,
        beta2: Rate = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step

    def _prepare(self) -> None:
        super()._prepare()
        self._global_step_on_worker = cast(raw.Identity(convert(self._global_step)) + 1, dtypes.float32)

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        step = self._global_step_on_worker
        return raw.Pow(self._beta1_t, step), raw.Pow(self._beta2_t, step)

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _finish(self, update_ops: list[Any], name_scope: Any) -> Any:
        return Optimizer._finish(self, update_ops, name_scope)


class AdamGSOptimizer(_ByStep):
    """Adam that counts its steps by the global step."""


class LazyAdamGSOptimizer(_ByStep, LazyAdamOptimizer):
    """Lazy Adam that counts its steps by the global step."""


class DropStaleGradientOptimizer(Optimizer):
    """Another optimizer whose gradients are dropped when the global step has gone too far since they were begun."""

    def __init__(
        self, opt: Optimizer, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient"
    ) -> None:
        super().__init__(use_locking, name)
        self._opt, self._staleness = opt, staleness

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Variable]]:
        """Return what the other one computes, and remember the step at which it began."""
        with colocate_with(loss):
            self._local_step = get_global_step() + 0
        with control_dependencies([self._local_step]):
            return self._opt.compute_gradients(raw.Identity(loss), *args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Return the other's slot."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Return the names of the other's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | TensorLike | None = None,
        name: str | None = None,
    ) -> Effect:
        """Take the other's step unless the gradients are too old; count those that are."""
        pairs = list(grads_and_vars)
        if global_step is None:
            raise ValueError("DropStaleGradientOptimizer.apply_gradients needs the global_step to tell what is stale")
        with colocate_with(global_step):
            dropped = get_variable("stale_counter", [], initializer=Zeros(), trainable=False)

        def accept() -> Any:
            with control_dependencies([self._opt.apply_gradients(pairs, global_step=global_step, name=name)]):
                return raw.Identity(0.0)

        slopes = [g.values.op if isinstance(g, IndexedSlices) else g for g, _ in pairs if g is not None]
        with control_dependencies(slopes), colocate_with(global_step):
            age = reshape(global_step - self._local_step, ())
        fresh = raw.LessEqual(age, cast(self._staleness, age.dtype))
        counted = dropped.assign_add(cond_v1(fresh, accept, lambda: raw.Identity(1.0)))
        scalar("Gradient staleness percentage", dropped / cast(convert(global_step) + 1, dtypes.float32))
        return counted


# --- weights of signs that decay --------------------------------------------------------------------------------------


def _clipped(global_step: Any, decay_steps: int, word: str) -> Any:
    if global_step is None:
        raise ValueError(f"global_step is required for {word}.")
    return raw.Minimum(cast(convert(global_step), dtypes.int64), convert(decay_steps, dtypes.int64))


def get_linear_decay_fn(decay_steps: int) -> Callable[[Any], Any]:
    """Return a function of the step that goes from 1 to 0 in a line."""

    def linear_decay_fn(global_step: Any) -> Any:
        step = cast(_clipped(global_step, decay_steps, "linear_decay"), dtypes.float32)
        return raw.Maximum(0.0, (decay_steps - step) / decay_steps)

    return linear_decay_fn


def _cosine(fraction: Any) -> Any:
    return 0.5 * (1.0 + raw.Cos(math.pi * fraction))


def get_cosine_decay_fn(
    decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None
) -> Callable[[Any], Any]:
    """Return a function of the step that goes down and up with a cosine, and is 0 after some periods."""

    def cosine_decay_fn(global_step: Any) -> Any:
        step = cast(_clipped(global_step, decay_steps, "cosine_decay"), dtypes.float32)
        fraction = 2.0 * num_periods * (step / decay_steps)
        decayed = _cosine(fraction)
        return decayed if zero_after is None else where(fraction >= 2 * zero_after, 0.0, decayed)

    return cosine_decay_fn


def get_restart_decay_fn(
    decay_steps: int, num_periods: float = 1, zero_after: float | None = None
) -> Callable[[Any], Any]:
    """Return a function of the step that goes down with a cosine, begins anew each period, and is 0 after some."""

    def restart_decay_fn(global_step: Any) -> Any:
        step = cast(_clipped(global_step, decay_steps, "cosine_decay"), dtypes.float32)
        decayed = _cosine(raw.FloorMod(num_periods * step, float(decay_steps)) / decay_steps)
        if zero_after is None:
            return decayed
        return where(num_periods * step / decay_steps >= zero_after, 0.0, decayed)

    return restart_decay_fn
