"""Choosing by a flag that may be a Python bool or a tensor (`training=`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core import context
from ebbflow.core.convert import convert
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.functions.control_flow.cond import cond
from ebbflow.state.variables import Variable


def known_flag(flag: Any) -> bool | None:
    """Return the flag's value where it is known now, else None.

    >>> known_flag(1), known_flag(convert(False))
    (True, False)
    """
    if not isinstance(flag, (Tensor, Variable)):
        return bool(flag)
    if context.executing_eagerly():
        return bool(flag)
    known = flag.constant_value() if isinstance(flag, Tensor) else None
    return None if known is None else bool(known)


def smart_cond(
    pred: TensorLike, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None
) -> Nested:
    """Call one of two functions: now where the flag `pred` is known now, else as a choice in the graph.

    A `pred` that is neither a tensor, a bool, 1 nor 0 is a TypeError.
    """
    if not isinstance(pred, (Tensor, Variable, bool, np.bool_)) and not (
        isinstance(pred, (int, float)) and pred in (0, 1)
    ):
        raise TypeError(
            f"Argument `pred` must be a Tensor, or a Python bool, or 1 or 0. Received: pred={pred!s} of type "
            f"{type(pred).__name__}"
        )
    known = known_flag(pred)
    if known is None:
        return cond(convert(pred), true_fn, false_fn, name=name)
    return true_fn() if known else false_fn()
