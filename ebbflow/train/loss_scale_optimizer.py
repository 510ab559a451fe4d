"""Optimizers of TF 1 whose loss is scaled, and the switch that wraps one so: `tf.train.experimental` of TF 1.15.

Knows `LossScale` and the optimizer it stands around. The switch asks TensorFlow to compute parts of graphs in half
precision on GPUs that are quick at it; elsewhere it only scales the loss, and so it does here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ebbflow.core.slices import IndexedSlices
from ebbflow.core.typing import Effect, Nested, TensorLike
from ebbflow.functions.control_flow.cond import cond
from ebbflow.graph.scopes import group, no_op
from ebbflow.ops.declare import raw
from ebbflow.platform import keras_hooks
from ebbflow.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale
from ebbflow.train.optimizer import GradsAndVars, Optimizer

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """Another optimizer, with its loss multiplied before gradients are taken and these divided after."""

    def __init__(self, opt: Optimizer, loss_scale: object):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt._name)
        self._optimizer = opt
        self._track_trackable(opt, "base_optimizer")
        self._loss_scale = loss_scale_of(loss_scale)
        self._track_trackable(self._loss_scale, "loss_scale")

    def compute_gradients(
        self,
        loss: TensorLike | Callable[..., Any],
        var_list: Iterable[Any] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Nested = None,
    ) -> GradsAndVars:
        """Return (gradient, variable) pairs of the loss itself, computed by way of the scaled one."""
        pairs = self._optimizer.compute_gradients(
            self._scaled(loss),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        factor = raw.Reciprocal(self._loss_scale())
        return [(None if grad is None else _times(grad, factor), variable) for grad, variable in pairs]

    def _scaled(self, loss: Any) -> Any:
        if callable(loss):
            return lambda: self._scaled(loss())
        return loss * raw.Cast(self._loss_scale(), DstT=loss.dtype)

    def apply_gradients(
        self, grads_and_vars: Iterable[Any], global_step: Variable | TensorLike | None = None, name: str | None = None
    ) -> Effect:
        """Change each variable by its gradient where all are finite; the scale learns of them either way."""
        pairs = tuple(grads_and_vars)
        change, should_apply = self._loss_scale.update([grad for grad, _ in pairs])

        def apply() -> Any:
            applied = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
            return no_op() if applied is None else group(applied)

        applied = apply() if should_apply is True else cond(should_apply, apply, no_op)
        return group(*[op for op in (applied, change) if op is not None])

    def get_slot_names(self) -> list[str]:
        """Return the names of the other optimizer's slots."""
        return self._optimizer.get_slot_names()

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """Return a slot of the other optimizer."""
        return self._optimizer.get_slot(var, name)

    def variables(self) -> list[Any]:
        """Return the variables of the other optimizer and of the scale."""
        return [*self._optimizer.variables(), *self._loss_scale._weights.values()]


def _times(grad: Any, factor: Any) -> Any:
    factor = raw.Cast(factor, DstT=grad.dtype)
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
    return grad * factor


def loss_scale_of(given: Any) -> LossScale:
    """Return a scale from itself, a number, or the word "dynamic"."""
    if given is None:
        raise ValueError("loss_scale cannot be None")
    if isinstance(given, LossScale):
        return given
    if isinstance(given, (int, float)):
        return FixedLossScale(given)
    if given == "dynamic":
        return DynamicLossScale()
    raise ValueError(f'loss_scale must be a number, "dynamic" or a LossScale, got {given!r}')


def enable_mixed_precision_graph_rewrite(opt: Optimizer, loss_scale: object = "dynamic") -> Any:
    """Return an optimizer that scales its loss; ops are computed in the precision that they are written in."""
    if keras_hooks.policy_is_mixed():
        raise ValueError(
            "the mixed precision graph rewrite cannot be enabled: Keras's global policy is a mixed one already, and "
            "only one of the two may be used"
        )
    wrap = _wrapper_of(opt)
    keras_hooks.set_graph_rewrite(True)
    return wrap(opt, loss_scale)


def _wrapper_of(opt: Any) -> Callable[[Any, Any], Any]:
    if isinstance(opt, MixedPrecisionLossScaleOptimizer) or keras_hooks.has_loss_scale(opt):
        raise ValueError(f'"opt" must not already be an instance of a {type(opt).__name__}.')
    if isinstance(opt, Optimizer):
        return MixedPrecisionLossScaleOptimizer
    wrap = keras_hooks.loss_scale_wrapper(opt)
    if wrap is None:
        raise ValueError(f'"opt" must be an instance of a tf.train.Optimizer or a tf.keras optimizer, got {opt!r}')
    return wrap


def disable_mixed_precision_graph_rewrite() -> None:
    """Undo what was asked for; optimizers that were wrapped stay so."""
    keras_hooks.set_graph_rewrite(False)
