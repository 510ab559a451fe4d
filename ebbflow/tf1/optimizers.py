"""Optimizers of `tf.contrib.opt`: Adam that is lazy or decays weights, AdaMax, Nadam, signs, LARS, moving averages.

Knows the optimizers of `train` and adds to them; those that go around another one are in `wrapping_optimizers`, an
optimizer of scipy's in `external_optimizer`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar

from ebbflow.checkpoint.saver import Saver
from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.typing import Effect, Nested, Rate, TensorLike
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.linalg.norms import norm
from ebbflow.state.functions import assign, assign_sub, global_variables, scatter_add, scatter_sub, scatter_update
from ebbflow.train.moving_averages import ExponentialMovingAverage
from ebbflow.train.optimizer import Optimizer
from ebbflow.train.optimizers import AdagradOptimizer, AdamOptimizer, MomentumOptimizer, Number, RuleOptimizer

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


class _RowWise(AdamOptimizer):
    """An Adam that touches, for a sparse gradient, only the rows that have one."""

    def _rows(self, var: Any, grad: Any, indices: Any, rate: Any, second: Callable[..., Any]) -> Any:
        """Move the rows of `indices`; `second` says what the second moment's rows become."""
        dtype = var.dtype.base_dtype
        beta1, beta2, epsilon = (self._number(name, dtype) for name in ("beta1", "beta2", "epsilon"))
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * gather(m, indices) + (1 - beta1) * grad
        v_rows = second(beta2, gather(v, indices), grad)
        m_kept = scatter_update(m, indices, m_rows, use_locking=self._use_locking)
        v_kept = scatter_update(v, indices, v_rows, use_locking=self._use_locking)
        root = raw.Sqrt(v_rows) if self._rooted else v_rows
        moved = scatter_sub(var, indices, rate * m_rows / (root + epsilon), use_locking=self._use_locking)
        return group(moved, m_kept, v_kept) if not context.executing_eagerly() else moved

    _rooted = True

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._sparse_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._sparse_rows(grad, var, indices)

    def _sparse_rows(self, grad: Any, var: Any, indices: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has no update for single rows: it says so in _sparse_rows; give a dense gradient"
        )


class LazyAdamOptimizer(_RowWise):
    """Adam that leaves the moments of rows without a gradient as they are."""

    def _sparse_rows(self, grad: Any, var: Any, indices: Any) -> Any:
        names = ("lr", "beta1_power", "beta2_power")
        lr, power1, power2 = (self._number(name, var.dtype.base_dtype) for name in names)
        rate = lr * raw.Sqrt(1 - power2) / (1 - power1)
        return self._rows(var, grad, indices, rate, lambda beta, v, g: beta * v + (1 - beta) * raw.Square(g))


class AdaMaxOptimizer(_RowWise):
    """Adam with the largest gradient so far in place of the root of the mean square."""

    _op = "AdaMax"
    _rooted = False

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: Rate = 0.9,
        beta2: Rate = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:
        graph = None if context.executing_eagerly() else context.default_graph()
        return self._get_non_slot_variable("beta1_power", graph)

    def _number(self, name: str, dtype: Any) -> Any:
        return (
            raw.Cast(self._get_beta_accumulators(), DstT=dtype)
            if name == "beta1_power"
            else super()._number(name, dtype)
        )

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _sparse_rows(self, grad: Any, var: Any, indices: Any) -> Any:
        lr, power1 = (self._number(name, var.dtype.base_dtype) for name in ("lr", "beta1_power"))
        rate = lr / (1 - power1)
        return self._rows(var, grad, indices, rate, lambda beta, v, g: raw.Maximum(beta * v, raw.Abs(g)))

    def _finish(self, update_ops: list[Any], name_scope: Any) -> Any:
        power = self._get_beta_accumulators()
        if context.executing_eagerly():
            power.assign(power.value() * self._beta1_t, read_value=False)
            return None
        with control_dependencies(update_ops):
            done = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return group(*update_ops, done.op, name=name_scope)


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's look ahead."""

    def _flags(self) -> dict[str, Any]:
        return {"use_nesterov": True}

    def _apply_sparse_shared(self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]) -> Any:
        names = ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon")
        power1, power2, lr, beta1, beta2, epsilon = (self._number(name, var.dtype.base_dtype) for name in names)
        rate = lr * raw.Sqrt(1 - power2) / (1 - power1)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scaled = grad * (1 - beta1)
        with control_dependencies([assign(m, m * beta1, use_locking=self._use_locking)]):
            m = scatter_add(m, indices, scaled)
            # what stands where the gradient is, as if the next step had been taken
            bar = scatter_add(self.get_slot(var, "m"), indices, zeros_like(scaled))
        bar = bar * beta1 + raw.ScatterNd(indices[:, None], scaled, raw.Shape(bar))
        with control_dependencies([assign(v, v * beta2, use_locking=self._use_locking)]):
            v = scatter_add(v, indices, grad * grad * (1 - beta2))
        moved = assign_sub(var, rate * bar / (raw.Sqrt(v) + epsilon), use_locking=self._use_locking)
        return group(moved, m, v)


class _SignOptimizer(RuleOptimizer):
    """A step whose size depends on whether the gradient's sign agrees with that of its mean."""

    _slot_names = ("m",)

    def __init__(
        self, learning_rate: Any, beta: float, sign_decay_fn: Callable[..., Any] | None, use_locking: bool, name: str
    ):
        super().__init__(use_locking, name)
        self._lr, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn
        self._sign_decay: Any = 1.0

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """Change each variable by its gradient; the step counts for the decay of the sign's weight."""
        if self._sign_decay_fn is not None:
            if global_step is None:
                raise ValueError(f"{type(self).__name__}: sign_decay_fn needs a global_step")
            self._sign_decay = self._sign_decay_fn(global_step)
        return super().apply_gradients(grads_and_vars, global_step, name)

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _scale(self, agreement: Any) -> Any:
        """Return how far to go along the gradient where it agrees with its mean (1), disagrees (-1), or neither."""
        raise NotImplementedError

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._rows(grad, var, indices)

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        """Let the whole mean forget, and change the rows that have a gradient."""
        m, dtype = self.get_slot(var, "m"), var.dtype.base_dtype
        beta = self._number("beta", dtype)
        forgotten = assign(m, m * beta, use_locking=self._use_locking)
        with control_dependencies([forgotten]):
            updated = scatter_add(m, indices, grad * (1 - beta), use_locking=self._use_locking)
        with control_dependencies([updated]):
            mean = gather(m.read_value(), indices)
            step = self._number("lr", dtype) * self._scale(raw.Sign(grad) * raw.Sign(mean)) * grad
            return group(scatter_sub(var, indices, step, use_locking=self._use_locking))


_SIGN_NUMBERS = {
    "lr": Number("_lr", "_lr_t", "learning_rate"),
    "sign_decay": Number("_sign_decay", "_sign_decay_t", "sign_decay"),
    "beta": Number("_beta", "_beta_t", "beta"),
}


class AddSignOptimizer(_SignOptimizer):
    """var ← var - lr·(alpha + decay·sign(g)·sign(m))·g."""

    _op = "AddSign"
    _numbers: ClassVar = _SIGN_NUMBERS | {"alpha": Number("_alpha", "_alpha_t", "alpha")}

    def __init__(
        self,
        learning_rate: Rate = 0.1,
        alpha: float = 1.0,
        beta: float = 0.9,
        sign_decay_fn: Callable[..., Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ):
        self._alpha = alpha
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)

    def _scale(self, agreement: Any) -> Any:
        return self._number("alpha", agreement.dtype) + self._number("sign_decay", agreement.dtype) * agreement


class PowerSignOptimizer(_SignOptimizer):
    """var ← var - lr·base^(decay·sign(g)·sign(m))·g."""

    _op = "PowerSign"
    _numbers: ClassVar = _SIGN_NUMBERS | {"logbase": Number("_logbase", "_logbase_t", "logbase")}

    def __init__(
        self,
        learning_rate: Rate = 0.1,
        base: float = math.e,
        beta: float = 0.9,
        sign_decay_fn: Callable[..., Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ):
        self._logbase = math.log(base)
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)

    def _scale(self, agreement: Any) -> Any:
        decay = self._number("sign_decay", agreement.dtype)
        return raw.Exp(self._number("logbase", agreement.dtype) * decay * agreement)


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad that can leave its accumulators as they are: `with optimizer.avoid_updating_slots():`."""

    def __init__(
        self,
        learning_rate: Rate,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ):
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    class _Avoiding:
        def __init__(self, owner: Any) -> None:
            self._owner = owner

        def __enter__(self) -> None:
            self._before, self._owner._should_update_slots = self._owner._should_update_slots, False

        def __exit__(self, *exc: Any) -> None:
            self._owner._should_update_slots = self._before

    def avoid_updating_slots(self) -> AbstractContextManager[None]:
        """Return a block in which steps leave the accumulators as they are."""
        return self._Avoiding(self)

    def _flags(self) -> dict[str, Any]:
        return {"update_slots": self._should_update_slots}


class LARSOptimizer(Optimizer):
    """Momentum whose rate is scaled, variable by variable, by how long weights are against their gradients."""

    def __init__(
        self,
        learning_rate: Rate,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ):
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(False, name)
        self._learning_rate, self._momentum, self._weight_decay = learning_rate, momentum, weight_decay
        self._eeta, self._epsilon, self._skip_list, self._use_nesterov = eeta, epsilon, skip_list, use_nesterov

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def compute_lr(self, grad: TensorLike, var: Variable) -> tuple[Any, Any]:
        """Return the rate of a variable, and its gradient with the weights' decay."""
        rate = cast(convert(self._call_if_callable(self._learning_rate)), var.dtype.base_dtype)
        if self._skip_list is not None and any(word in var.name for word in self._skip_list):
            return rate, grad
        weights, slope = norm(var), norm(grad)
        trust = where(
            (weights > 0.0) & (slope > 0.0),
            self._eeta * weights / (slope + self._weight_decay * weights + self._epsilon),
            zeros_like(weights) + 1.0,
        )
        return rate * trust, grad + self._weight_decay * convert(var)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        one, momentum = self._one_and_momentum(var)
        slot = self.get_slot(var, "momentum")._variable
        nesterov = self._use_nesterov
        return raw.ApplyMomentum(var._variable, slot, one, rate * grad, momentum, use_nesterov=nesterov).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        one, momentum = self._one_and_momentum(var)
        slot = self.get_slot(var, "momentum").handle
        nesterov = self._use_nesterov
        return raw.ResourceApplyMomentum(var.handle, slot, one, rate * grad, momentum, use_nesterov=nesterov)

    def _one_and_momentum(self, var: Any) -> tuple[Any, Any]:
        """Return the numbers of the step, whose gradient has the rate in it: the mean is of steps."""
        return convert(1.0, var.dtype.base_dtype), convert(self._momentum, var.dtype.base_dtype)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._apply_dense(convert(grad), var)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._resource_apply_dense(convert(IndexedSlices(grad, indices, raw.Shape(var.value()))), var)


# --- decay of weights beside the step ---------------------------------------------------------------------------------


class DecoupledWeightDecayExtension:
    """Beside an optimizer's step, each variable loses the share `weight_decay` of itself. It comes before one."""

    def __init__(self, weight_decay: TensorLike, **kwargs: Any) -> None:
        self._decay_var_list: Any = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor: Any = None
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: TensorLike | Callable[..., Any],
        global_step: Variable | TensorLike | None = None,
        var_list: Iterable[Any] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Nested = None,
        decay_var_list: Iterable[Any] | None = None,
    ) -> Effect:
        """Take one step down, and let the variables of `decay_var_list` (None: all) decay."""
        self._decay_var_list = None if decay_var_list is None else {id(v) for v in decay_var_list}
        return super().minimize(  # type: ignore[misc]
            loss, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops, name=name,
            grad_loss=grad_loss,
        )  # fmt: skip

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | TensorLike | None = None,
        name: str | None = None,
        decay_var_list: Iterable[Any] | None = None,
    ) -> Effect:
        """Change each variable by its gradient, and let those of `decay_var_list` (None: all) decay."""
        if decay_var_list is not None:
            self._decay_var_list = {id(v) for v in decay_var_list}
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)  # type: ignore[misc]

    def _prepare(self) -> None:
        decay = self._weight_decay
        self._weight_decay_tensor = convert(decay() if callable(decay) else decay, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _decayed(self, var: Any, indices: Any = None) -> list[Any]:
        """Return what lets a variable decay: the whole of it, or the rows that have a gradient."""
        if self._decay_var_list is not None and id(var) not in self._decay_var_list:
            return []
        share = cast(self._weight_decay_tensor, var.dtype.base_dtype)
        if indices is not None:
            return [scatter_sub(var, indices, share * gather(var, indices))]
        return [assign_sub(var, share * convert(var), use_locking=self._use_locking)]  # type: ignore[attr-defined]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with control_dependencies(self._decayed(var)):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        with control_dependencies(self._decayed(var)):
            return super()._resource_apply_dense(grad, var)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with control_dependencies(self._decayed(var, grad.indices)):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        with control_dependencies(self._decayed(var, indices)):
            return super()._resource_apply_sparse(grad, var, indices)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Any]:
    """Return a kind of `base_optimizer` whose first argument is the weight decay."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[valid-type,misc]
        """An optimizer whose variables decay beside its step."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            self._decay_var_list = self._weight_decay_tensor = None
            self._weight_decay = weight_decay
            base_optimizer.__init__(self, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with decay of weights."""

    def __init__(
        self,
        weight_decay: TensorLike,
        learning_rate: Rate,
        momentum: TensorLike,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ):
        super().__init__(
            weight_decay, learning_rate=learning_rate, momentum=momentum, use_locking=use_locking, name=name,
            use_nesterov=use_nesterov,
        )  # fmt: skip


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with decay of weights."""

    def __init__(
        self,
        weight_decay: TensorLike,
        learning_rate: Rate = 0.001,
        beta1: Rate = 0.9,
        beta2: Rate = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ):
        super().__init__(
            weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
            use_locking=use_locking, name=name,
        )  # fmt: skip


# --- wrappers ---------------------------------------------------------------------------------------------------------


class MovingAverageOptimizer(Optimizer):
    """Another optimizer that keeps moving averages of what it trains; `swapping_saver` saves these in their place."""

    def __init__(
        self,
        opt: Optimizer,
        average_decay: TensorLike = 0.9999,
        num_updates: TensorLike | None = None,
        sequential_update: bool = True,
    ):
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._sequential_update = sequential_update
        self._swapped_variable_name_map: dict[str, str] | None = None
        super().__init__(False, opt.get_name())

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Variable]]:
        """Return what the other one computes."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | TensorLike | None = None,
        name: str | None = None,
    ) -> Effect:
        """Take the other's step, then move the averages."""
        pairs = list(grads_and_vars)
        step = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        variables = [v for _, v in pairs]
        if not self._sequential_update or context.executing_eagerly():
            averages = self._ema.apply(variables)
        else:
            with control_dependencies([step]):
                averages = self._ema.apply(variables)
        self._swapped_variable_name_map = {
            v.op.name if not context.executing_eagerly() else v.name: self._ema.average_name(v) for v in variables
        }
        return None if context.executing_eagerly() else group(step, averages, name="train_with_avg")

    def swapping_saver(
        self, var_list: Iterable[Any] | None = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Saver:
        """Return a Saver that writes each trained variable's average under its name, and the other way round."""

        if self._swapped_variable_name_map is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        named = var_list if isinstance(var_list, dict) else {
            v.op.name: v for v in (global_variables() if var_list is None else var_list)
        }  # fmt: skip
        swapped = dict(named)
        for plain, average in self._swapped_variable_name_map.items():
            missing = [swap for swap in (plain, average) if swap not in named]
            if len(missing) == 1:
                raise ValueError(f"Variable to swap {missing[0]} is not part of variables to save.")
            if not missing:
                swapped[plain], swapped[average] = named[average], named[plain]
        return Saver(swapped, name=name, **kwargs)

    def get_slot(self, var: Variable, name: str) -> Any:
        """Return the other's slot."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """Return the names of the other's slots."""
        return self._optimizer.get_slot_names()
