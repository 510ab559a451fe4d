"""Ops without inputs that programs are ordered and timed by: they wait for their control inputs and compute nothing."""

from __future__ import annotations

import time

import numpy as np

from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.ops.declare import FLAT

NoOp = op("NoOp() -> ()", shape=lambda: [], kernel=lambda xp: (), gradient=FLAT)
ControlTrigger = op("ControlTrigger() -> ()", shape=lambda: [], kernel=lambda xp: (), gradient=FLAT)
Timestamp = op(
    "Timestamp() -> (ts:double) | stateful", shape=lambda: (), kernel=lambda xp: np.array(time.time()), gradient=FLAT
)


def timestamp(name: str | None = None) -> Tensor:
    """Return the seconds since 1970 at the moment the op runs.

    >>> float(timestamp()) > 1.7e9
    True
    """
    return Timestamp(name=name)
