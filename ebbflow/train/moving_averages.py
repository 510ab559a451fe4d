"""Exponential moving averages of variables and tensors.

`ExponentialMovingAverage` keeps a shadow beside each variable; `assign_moving_average` moves one average once. Knows
variables, slots and scopes; knows nothing of optimizers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.context import eager_outside_functions
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, Assigned, Effect, Rate, TensorLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import colocate_with, get_name_scope, group, init_scope
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.binary import div, truediv
from ebbflow.ops.elementwise.casts import cast
from ebbflow.state.functions import (
    assign,
    assign_sub,
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import get_variable, get_variable_scope, variable_scope
from ebbflow.state.variables import Variable
from ebbflow.trackable.base import Trackable
from ebbflow.train import slots

_AVERAGED = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)


def assign_moving_average(
    variable: Variable, value: TensorLike, decay: AnyTensor, zero_debias: bool = True, name: str | None = None
) -> Assigned:
    """Move `variable` towards `value`: variable ← decay · variable + (1 - decay) · value.

    With `zero_debias` the average of a variable that began as zero is corrected for that beginning.

    >>> v = Variable(1.0)
    >>> float(assign_moving_average(v, 3.0, 0.75, zero_debias=False))
    1.5
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rate = convert(1.0 - decay, name="decay")
        if rate.dtype.base_dtype is not variable.dtype.base_dtype:
            rate = cast(rate, variable.dtype.base_dtype)
        if zero_debias:
            return _assign_debiased(variable, value, rate)
        return assign_sub(variable, (variable - value) * rate, name=scope or None)


def _beside(variable: Any) -> Any:
    in_graph = not context.executing_eagerly() and getattr(variable, "_in_graph", True)
    return colocate_with(variable.op if in_graph else None, ignore_existing=not in_graph)


def _assign_debiased(variable: Any, value: Any, rate: Any) -> Any:
    """Set `variable` to the corrected average; the average itself and a count are kept beside it."""
    dtype = variable.dtype.base_dtype
    with variable_scope(variable._shared_name), _beside(variable):
        biased = get_variable(_unused("biased"), variable.get_shape(), dtype, Zeros(), trainable=False)
        count = get_variable(_unused("local_step"), [], dtype, Zeros(), trainable=False)
    moved = assign_sub(biased, (biased - value) * rate)
    counted = count.assign_add(1)
    correction = 1 - raw.Pow(1.0 - rate, counted)
    return assign(variable, moved / correction, name=get_name_scope() + "/")


def _unused(name: str) -> str:
    """Return a name that no variable of the open scope has: `name`, `name_1`, …"""
    scope = get_variable_scope()
    if context.executing_eagerly() or scope.reuse:
        return name
    taken = {v.op.name for v in scope.global_variables()}
    candidates = [name, *[f"{name}_{i}" for i in range(1, len(taken) + 1)]]
    return next(c for c in candidates if f"{scope.name}/{c}" not in taken)


def weighted_moving_average(
    value: Any,
    decay: Any,
    weight: Any,
    truediv: bool = True,
    collections: Sequence[str] | str | None = None,
    name: str | None = None,
) -> Any:
    """Return the moving average of value · weight divided by that of weight."""
    options: Any = {"trainable": False, "collections": collections or [GraphKeys.GLOBAL_VARIABLES]}
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        total = get_variable("value_x_weight", value.get_shape(), value.dtype, Zeros(), **options)
        weights = get_variable("weight", weight.get_shape(), weight.dtype, Zeros(), **options)
        above = assign_moving_average(total, value * weight, decay, zero_debias=False)
        below = assign_moving_average(weights, weight, decay, zero_debias=False)
        return _quotient(above, below, truediv, scope.name)


def _quotient(above: Any, below: Any, true: bool, name: str) -> Any:
    return (truediv if true else div)(convert(above), convert(below), name=name)


class ExponentialMovingAverage(Trackable):
    """Keeps moving averages of variables in shadow variables.

    `apply` makes the shadows and returns the operation that updates them; `average` gives a shadow;
    `variables_to_restore` maps names for loading the averages in place of the variables.
    """

    def __init__(
        self,
        decay: Rate,
        num_updates: TensorLike | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """The name of this average: shadows are called VARIABLE/NAME."""
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> Effect:
        """Update the averages of these variables (by default: all trainable ones); eagerly at once."""
        var_list = trainable_variables() if var_list is None else list(var_list)
        for item in var_list:
            if isinstance(item, Tensor) and eager_outside_functions():
                raise TypeError(
                    "tf.train.ExponentialMovingAverage does not support non-Variable tensors when eager execution is "
                    "enabled."
                )
        debiased = self._make_shadows(var_list)
        with name_scope(self._name) as scope:
            decay = self._decay_now()
            updates = [
                assign_moving_average(self._averages[_key(item)], item, decay, zero_debias=_key(item) in debiased)
                for item in var_list
            ]
            if context.executing_eagerly():
                return None
            return group(*[update.op for update in updates], name=scope)

    def _decay_now(self) -> Any:
        decay = convert(self._decay, None if context.switches.tf1 else dtypes.float32, name="decay")
        if self._num_updates is None:
            return decay
        count = cast(self._num_updates, dtypes.float32, name="num_updates")
        return raw.Minimum(decay, (1.0 + count) / (10.0 + count))

    def _make_shadows(self, var_list: list[Any]) -> set[Any]:
        """Make the shadows that are missing; return the items whose average begins as zero and is corrected for it."""
        debiased = set()
        for item in var_list:
            if item.dtype.base_dtype not in _AVERAGED:
                raise TypeError(f"The variables must be half, float, or double: {item.name}")
            if _key(item) in self._averages:
                continue
            shadow = self._averages[_key(item)] = self._shadow(item)
            self._track_trackable(shadow, _called(item), overwrite=True)
            if self._zero_debias and not isinstance(item, Variable):
                debiased.add(_key(item))
        return debiased

    def _shadow(self, item: Any) -> Any:
        with init_scope():
            if not isinstance(item, Variable):
                together = item.op._op.facts.variable
                return slots.create_zeros_slot(item, self._name, colocate_with_primary=together)
            shadow = slots.create_slot(item, item.initialized_value(), self._name)
            context.default_graph().add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, item)
            return shadow

    def average(self, var: Variable | TensorLike) -> Assigned:
        """Return the variable that holds the average of `var`, or None."""
        return self._averages.get(_key(var))

    def average_name(self, var: Variable | TensorLike) -> str:
        """Return the name that the average of `var` has, or would have."""
        found = self.average(var)
        if found is not None:
            return found._shared_name
        base = _called(var)
        return context.default_graph().unique_name(f"{base}/{self._name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """Return a map from the names to load (averages, where there are any) to the variables to load them into."""
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = {v.name: v for v in moving_avg_variables}
        found = {self.average_name(v): v for v in averaged.values()}
        for v in global_variables():
            if v.name not in averaged:
                found.setdefault(v._shared_name, v)
        return found


def _called(item: Any) -> str:
    """Return the name of a variable, or of a tensor's node: checkpoints of objects know its average by it."""
    return item._shared_name if isinstance(item, Variable) else item.op.name


def _key(item: Any) -> Any:
    return item.ref()
