"""Moving means and variances kept in variables: `tf.contrib.distributions`' functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.typing import TensorLike
from ebbflow.graph.scopes import control_dependencies
from ebbflow.ops.declare import raw
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import get_variable, variable_scope


def assign_moving_mean_variance(
    mean_var: Any, variance_var: Any, value: TensorLike, decay: TensorLike, name: str | None = None
) -> tuple[Any, Any]:
    """Bring a moving mean and a moving variance a step nearer to a value; return both as they are then."""
    with name_scope(name, "assign_moving_mean_variance"):
        kind = mean_var.dtype.base_dtype
        value, decay = convert(value, kind), convert(decay, kind)
        off = value - convert(mean_var)
        with control_dependencies([off]):
            mean = mean_var.assign_add((1.0 - decay) * off)
            variance = variance_var.assign(decay * (convert(variance_var) + (1.0 - decay) * raw.Square(off)))
        return mean, variance


def assign_log_moving_mean_exp(
    log_mean_exp_var: Any, log_value: TensorLike, decay: TensorLike, name: str | None = None
) -> Any:
    """Bring the logarithm of a moving mean of exponentials a step nearer to that of a value; return it."""
    with name_scope(name, "assign_log_moving_mean_exp"):
        kind = log_mean_exp_var.dtype.base_dtype
        log_value, decay = convert(log_value, kind), convert(decay, kind)
        old = raw.Log(decay) + convert(log_mean_exp_var)
        new = raw.Log1p(-decay) + log_value
        top = raw.Maximum(old, new)
        return log_mean_exp_var.assign(top + raw.Log(raw.Exp(old - top) + raw.Exp(new - top)))


def moving_mean_variance(
    value: TensorLike, decay: TensorLike, collections: Sequence[Any] | None = None, name: str | None = None
) -> tuple[Any, Any]:
    """Return a moving mean and variance of a value, in variables that begin at zero and move at each run."""
    value = convert(value)
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        made: dict[str, Any] = {"initializer": Zeros(), "trainable": False, "collections": collections}
        kind = value.dtype.base_dtype
        variance, mean = (get_variable(f"moving_{word}", value.shape, kind, **made) for word in ("variance", "mean"))
        return assign_moving_mean_variance(mean, variance, value, decay)
