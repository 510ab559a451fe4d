"""The initializers of `tf.contrib.layers`: functions of shape and dtype, with contrib's own factors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.typing import DTypeLike
from ebbflow.ops.random import stateful
from ebbflow.state.initializers import fans


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: DTypeLike = dtypes.float32,
) -> Callable[..., Any]:
    """Return contrib's initializer whose spread goes by the number of inputs or outputs (`tf.contrib.layers`)."""
    not_floating = TypeError("Cannot create initializer for non-floating point type.")
    if not dtypes.as_dtype(dtype).is_floating:
        raise not_floating
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        if not dtypes.as_dtype(dtype).is_floating:
            raise not_floating
        inputs, outputs = fans([int(n) for n in shape])
        count = {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / count)
            return stateful.random_uniform(shape, -limit, limit, dtype, seed=seed)
        return stateful.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / count), dtype, seed=seed)

    return initializer


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: DTypeLike = dtypes.float32
) -> Callable[..., Any]:
    """Return contrib's initializer that keeps the scale of gradients the same in all layers (`tf.contrib.layers`)."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer
