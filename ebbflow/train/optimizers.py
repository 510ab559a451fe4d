"""The optimizers of `tf.train`: which op each uses, which slots and numbers it keeps.

Most are a table: the update op's name, its slots in the op's order, and its numbers. `RuleOptimizer` does the rest for
references and resources, dense and sparse. Adam and AdagradDA keep more besides. Knows the update ops by name
(`ops.training` declares them) and the base class.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor
from ebbflow.core.typing import Rate, TensorLike
from ebbflow.graph.scopes import colocate_with, control_dependencies, device_scope, group, init_scope
from ebbflow.ops.arrays.creation import constant_v1, ones, ones_like
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.state.functions import assign, assign_sub, scatter_add
from ebbflow.state.initializers import constant_initializer, ones_initializer
from ebbflow.state.variables import ResourceVariable
from ebbflow.train.optimizer import Optimizer

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


class Number(NamedTuple):
    """A number an update op takes: the attribute it is given in, the one its tensor is kept in, and its node's name."""

    given: str
    tensor: str
    node: str


def _rate(**numbers: str) -> dict[str, Number]:
    """Return numbers of the usual names: attribute _X, tensor _X_tensor, node X; by the op's names for them.

    >>> _rate(lr="learning_rate")["lr"].tensor
    '_learning_rate_tensor'
    """
    return {key: Number(f"_{name}", f"_{name}_tensor", name) for key, name in numbers.items()}


class RuleOptimizer(Optimizer):
    """An optimizer whose step is one op per variable.

    `_op` is the op's name behind "Apply", `_slot_names` are the slots in the op's order, `_numbers` the other inputs by
    the op's names for them. The tensors are made once a step, and kept under names that subclasses may use and set.
    """

    _op = ""
    _slot_names: tuple[str, ...] = ()
    _numbers: ClassVar[dict[str, Number]] = {}
    _known: dict[Any, Any] | None = None  # in a step of ops that run at once: what all variables of a dtype are given

    def _flags(self) -> dict[str, Any]:
        """Return the op's attrs."""
        return {}

    def _prepare(self) -> None:
        for number in self._numbers.values():
            value = self._call_if_callable(getattr(self, number.given))
            setattr(self, number.tensor, convert(value, name=number.node))

    def _number(self, name: str, dtype: Any) -> Any:
        """Return one of the op's numbers in the variable's dtype."""
        return _cast(getattr(self, self._numbers[name].tensor), dtype)

    def _call_op(self, kind: str, state: list[Any], dtype: Any, grad: Any, indices: Any = None) -> Any:
        """Call the op of this kind, its inputs in the order it declares."""
        update = getattr(raw, f"{kind}{self._op}")
        known = self._known if not context.graph_scopes and not context.recorders else None
        found = None if known is None else known.get((kind, dtype))
        if found is None:
            names = [arg.name for arg in update.signature.inputs[len(state) :]]
            numbers = [None if name in _BY_VARIABLE else self._number(name, dtype) for name in names]
            found = names, numbers, self._flags()
            if known is not None:
                known[kind, dtype] = found
        names, numbers, flags = found
        given = {"grad": grad, "delta": grad, "indices": indices}
        inputs = [given[n] if v is None else v for n, v in zip(names, numbers, strict=True)]
        return update(*state, *inputs, use_locking=self._use_locking, **flags)

    @contextlib.contextmanager
    def _one_step(self) -> Iterator[None]:
        self._known = {}  # casting six numbers for each of Adam's variables was a third of its step
        try:
            yield
        finally:
            self._known = None

    def _references(self, var: Any) -> list[Any]:
        return [var._variable, *[self.get_slot(var, s)._variable for s in self._slot_names]]

    def _handles(self, var: Any) -> list[Any]:
        return [var.handle, *[self.get_slot(var, s).handle for s in self._slot_names]]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._call_op("Apply", self._references(var), var.dtype.base_dtype, grad).op

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._call_op("ResourceApply", self._handles(var), grad.dtype.base_dtype, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        state, dtype = self._references(var), var.dtype.base_dtype
        return self._call_op("SparseApply", state, dtype, grad.values, grad.indices).op

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._call_op("ResourceSparseApply", self._handles(var), grad.dtype.base_dtype, grad, indices)


_BY_VARIABLE = ("grad", "delta", "indices")


def _cast(value: Any, dtype: Any) -> Any:
    """Return a number in this dtype; a graph's resource variable that has it is read by the op, under the op's name."""
    if isinstance(value, ResourceVariable) and value.dtype is dtype:
        return value.value() if context.executing_eagerly() else value
    return value if value.__class__ is EagerTensor and value._dtype is dtype else cast(value, dtype)


# --- gradients as they are --------------------------------------------------------------------------------------------


class GradientDescentOptimizer(RuleOptimizer):
    """var ← var - learning_rate · gradient.

    >>> import ebbflow as tf
    >>> x = tf.Variable(1.0)
    >>> _ = GradientDescentOptimizer(0.25).minimize(lambda: x * x, var_list=[x])
    >>> float(x)
    0.5
    """

    _op = "GradientDescent"
    _numbers = _rate(alpha="learning_rate")

    def __init__(self, learning_rate: Rate, use_locking: bool = False, name: str = "GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        delta = -grad * self._number("alpha", grad.dtype.base_dtype)
        return raw.ResourceScatterAdd(handle.handle, indices, delta)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        values = grad.values * self._number("alpha", var.dtype.base_dtype)
        return var.scatter_sub(IndexedSlices(values, grad.indices, grad.dense_shape), use_locking=self._use_locking)


class ProximalGradientDescentOptimizer(RuleOptimizer):
    """A gradient step, then a pull towards zero."""

    _op = "ProximalGradientDescent"
    _numbers = _rate(alpha="learning_rate", l1="l1_regularization_strength", l2="l2_regularization_strength")

    def __init__(
        self,
        learning_rate: Rate,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength


class MomentumOptimizer(RuleOptimizer):
    """accumulation ← momentum · accumulation + gradient; var ← var - learning_rate · accumulation.

    >>> import ebbflow as tf
    >>> x = tf.Variable(1.0)
    >>> optimizer = MomentumOptimizer(0.25, momentum=0.5)
    >>> for _ in range(2):
    ...     _ = optimizer.minimize(lambda: x * x, var_list=[x])
    >>> float(x)
    0.0
    """

    _op = "Momentum"
    _slot_names = ("momentum",)
    _numbers = _rate(lr="learning_rate", momentum="momentum")

    def __init__(
        self,
        learning_rate: Rate,
        momentum: TensorLike,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _flags(self) -> dict[str, Any]:
        return {"use_nesterov": self._use_nesterov}


# --- gradients by the size of earlier ones ----------------------------------------------------------------------------


def _positive(name: str, value: float) -> float:
    if value <= 0.0:
        raise ValueError(f"{name} must be positive: {value}")
    return value


class AdagradOptimizer(RuleOptimizer):
    """Steps shrink, for each weight, with the sum of its squared gradients.

    >>> import ebbflow as tf
    >>> x = tf.Variable(1.0)
    >>> _ = AdagradOptimizer(0.1).minimize(lambda: x * x, var_list=[x])
    >>> 0.89 < float(x) < 0.91
    True
    """

    _op = "Adagrad"
    _slot_names = ("accumulator",)
    _numbers = _rate(lr="learning_rate")

    def __init__(
        self,
        learning_rate: Rate,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ):
        self._initial_accumulator_value = _positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            dtype, value = v.dtype.base_dtype, self._initial_accumulator_value
            if v.get_shape().is_fully_defined():
                initial: Any = constant_initializer(value, dtype=dtype)
            else:
                initial = functools.partial(_filled_like, v, value, dtype)
            self._get_or_make_slot_with_initializer(v, initial, v.get_shape(), dtype, "accumulator", self._name)


def _filled_like(variable: Any, value: float, dtype: Any) -> Any:
    """Return a tensor of the shape a variable has when this runs, all one value."""
    return cast(raw.Fill(raw.Shape(variable.initialized_value()), convert(value)), dtype)


class AdagradDAOptimizer(RuleOptimizer):
    """Adagrad with dual averaging: L1 and L2 regularisation that gives zeros."""

    _op = "AdagradDA"
    _slot_names = ("gradient_accumulator", "gradient_squared_accumulator")
    _numbers = _rate(lr="learning_rate")

    def __init__(
        self,
        learning_rate: Rate,
        global_step: Variable | TensorLike,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ):
        self._initial_gradient_squared_accumulator_value = _positive(
            "initial_gradient_squared_accumulator_value", initial_gradient_squared_accumulator_value
        )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None
        self._global_step = global_step
        self._global_step_on_worker: Any = None
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            with _beside(v):
                sums = _constant_like(v, 0.0)
                squares = _constant_like(v, self._initial_gradient_squared_accumulator_value)
            self._get_or_make_slot(v, sums, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        with colocate_with(self._learning_rate_tensor):  # steps count from one
            self._global_step_on_worker = raw.Identity(self._global_step) + 1

    def _call_op(self, kind: str, state: list[Any], dtype: Any, grad: Any, indices: Any = None) -> Any:
        with device_scope(None if context.executing_eagerly() else state[0].device or None):
            self._step_here = raw.Identity(self._global_step_on_worker)
        return super()._call_op(kind, state, dtype, grad, indices)

    def _number(self, name: str, dtype: Any) -> Any:
        if name == "global_step":
            return _cast(self._step_here, dtypes.int64)
        if name in ("l1", "l2"):
            return cast(getattr(self, f"_{name}_regularization_strength"), dtype)
        return super()._number(name, dtype)


class ProximalAdagradOptimizer(RuleOptimizer):
    """An Adagrad step, then a pull towards zero."""

    _op = "ProximalAdagrad"
    _slot_names = ("accumulator",)
    _numbers = _rate(lr="learning_rate", l1="l1_regularization_strength", l2="l2_regularization_strength")

    def __init__(
        self,
        learning_rate: Rate,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ):
        self._initial_accumulator_value = _positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            with _beside(v):
                value = _constant_like(v, self._initial_accumulator_value)
            self._get_or_make_slot(v, value, "accumulator", self._name)


def _beside(variable: Any) -> Any:
    in_graph = not context.executing_eagerly() and getattr(variable, "_in_graph", True)
    return colocate_with(variable.op if in_graph else None, ignore_existing=not in_graph)


def _constant_like(variable: Any, value: float) -> Any:
    """Return a constant of a variable's shape and dtype."""
    return constant_v1(value, dtype=variable.dtype.base_dtype, shape=variable.get_shape())


class AdadeltaOptimizer(RuleOptimizer):
    """Steps as long as recent steps were, by gradients as large as recent gradients were."""

    _op = "Adadelta"
    _slot_names = ("accum", "accum_update")
    _numbers: ClassVar = {
        "lr": Number("_lr", "_lr_t", "lr"),
        "rho": Number("_rho", "_rho_t", "rho"),
        "epsilon": Number("_epsilon", "_epsilon_t", "epsilon"),
    }

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        rho: Rate = 0.95,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ):
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)


class RMSPropOptimizer(RuleOptimizer):
    """Gradients divided by the root of a running mean of their squares.

    >>> import ebbflow as tf
    >>> x = tf.Variable(1.0)
    >>> _ = RMSPropOptimizer(0.1).minimize(lambda: x * x, var_list=[x])
    >>> 0.8 < float(x) < 1.0
    True
    """

    _numbers = _rate(lr="learning_rate", rho="decay", momentum="momentum", epsilon="epsilon")

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
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay, self._momentum, self._epsilon = decay, momentum, epsilon
        self._centered = centered
        self._op = "CenteredRMSProp" if centered else "RMSProp"
        self._slot_names = ("mg", "rms", "momentum") if centered else ("rms", "momentum")

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            initial = ones_initializer(dtype=dtype) if v.get_shape().is_fully_defined() else ones_like(v)
            self._get_or_make_slot_with_initializer(v, initial, v.get_shape(), dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)


class AdamOptimizer(RuleOptimizer):
    """Adaptive moments: a running mean of the gradient divided by the root of a running mean of its square.

    >>> import ebbflow as tf
    >>> x = tf.Variable(1.0)
    >>> optimizer = AdamOptimizer(learning_rate=0.1)
    >>> for _ in range(100):
    ...     _ = optimizer.minimize(lambda: (x - 3.0) ** 2, var_list=[x])
    >>> abs(float(x) - 3.0) < 0.2
    True
    """

    _beta1_t: Any
    _beta2_t: Any
    _op = "Adam"
    _slot_names = ("m", "v")
    _numbers: ClassVar = {
        "lr": Number("_lr", "_lr_t", "learning_rate"),
        "beta1": Number("_beta1", "_beta1_t", "beta1"),
        "beta2": Number("_beta2", "_beta2_t", "beta2"),
        "epsilon": Number("_epsilon", "_epsilon_t", "epsilon"),
    }

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: Rate = 0.9,
        beta2: Rate = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
        use_own_namescope_for_non_slot_vars: bool = False,
    ):
        super().__init__(use_locking, name, use_own_namescope_for_non_slot_vars)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        graph = None
        if not context.executing_eagerly():
            with init_scope():
                graph = None if context.executing_eagerly() else context.default_graph()
        return self._get_non_slot_variable("beta1_power", graph), self._get_non_slot_variable("beta2_power", graph)

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _number(self, name: str, dtype: Any) -> Any:
        if name in ("beta1_power", "beta2_power"):
            return _cast(self._get_beta_accumulators()[name == "beta2_power"], dtype)
        return super()._number(name, dtype)

    def _apply_sparse_shared(self, grad: Any, var: Any, indices: Any, scatter_add: Callable[..., Any]) -> Any:
        """All moments decay, the gradient's rows are added, and the whole variable moves: so does TensorFlow's Adam."""
        names = ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon")
        power1, power2, lr, beta1, beta2, epsilon = (self._number(name, var.dtype.base_dtype) for name in names)
        rate = lr * raw.Sqrt(1 - power2) / (1 - power1)
        moments = []
        for slot, beta, rows in (("m", beta1, grad), ("v", beta2, grad * grad)):
            kept, rows = self.get_slot(var, slot), rows * (1 - beta)
            decayed = assign(kept, kept * beta, use_locking=self._use_locking)
            with control_dependencies([decayed]):
                moments.append(scatter_add(kept, indices, rows))
        m, v = moments
        moved = assign_sub(var, rate * m / (raw.Sqrt(v) + epsilon), use_locking=self._use_locking)
        return group(moved, m, v)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        add = functools.partial(scatter_add, use_locking=self._use_locking)
        return self._apply_sparse_shared(grad.values, var, grad.indices, add)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._apply_sparse_shared(grad, var, indices, self._resource_scatter_add)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        with control_dependencies([raw.ResourceScatterAdd(x.handle, i, v)]):
            return x.value()

    def _finish(self, update_ops: list[Any], name_scope: Any) -> Any:
        powers = list(zip(self._get_beta_accumulators(), (self._beta1_t, self._beta2_t), strict=True))
        if context.executing_eagerly():
            for power, beta in powers:
                power.assign(power.value() * beta, read_value=False)
            return None
        with control_dependencies(update_ops), _beside(powers[0][0]):
            done = [power.assign(power * beta, use_locking=self._use_locking) for power, beta in powers]
        return group(*update_ops, *[d.op for d in done], name=name_scope)


class FtrlOptimizer(RuleOptimizer):
    """Follow the regularised leader."""

    _slot_names = ("accum", "linear")
    _numbers = _rate(
        lr="learning_rate",
        l1="l1_regularization_strength",
        l2="l2_regularization_strength",
        l2_shrinkage="l2_shrinkage_regularization_strength",
        lr_power="learning_rate_power",
    )

    def __init__(
        self,
        learning_rate: Rate,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._check_signs()
        self._beta = 0.0 if beta is None else beta
        self._accum_name, self._linear_name = accum_name, linear_name
        self._op = "FtrlV2" if l2_shrinkage_regularization_strength > 0.0 else "Ftrl"

    def _check_signs(self) -> None:
        for name in ("initial_accumulator_value", *(n.node for n in self._numbers.values() if "strength" in n.node)):
            value = getattr(self, f"_{name}")
            if value < 0.0:
                raise ValueError(f"{name} {value:f} needs to be positive or zero")
        if self._learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {self._learning_rate_power:f} needs to be negative or zero")

    def _create_slots(self, var_list: Any) -> None:
        for v in var_list:
            name = self._accum_name or self._name
            if context.switches.tf1:
                with _beside(v):
                    value = _constant_like(v, self._initial_accumulator_value)
                    self._get_or_make_slot(v, value, "accum", name)
            else:
                self._get_or_make_slot_with_initializer(v, self._first_accum, v.shape, v.dtype, "accum", name)
            self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _first_accum(self, shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        return ones(shape, dtype=dtype) * self._initial_accumulator_value

    def _prepare(self) -> None:
        if context.switches.tf1:
            super()._prepare()
            return
        for name, number in self._numbers.items():
            value = self._call_if_callable(getattr(self, number.given))
            if name != "l2":
                setattr(self, number.tensor, convert(value, name=number.node))
                continue
            smallest = raw.Maximum(self._call_if_callable(self._learning_rate), 1e-36)
            value = value + self._beta / (2.0 * smallest)
            self._l2_regularization_strength_tensor = convert(value, name="adjusted_l2_regularization_strength")
            self._beta_tensor = convert(self._beta, name="beta")
