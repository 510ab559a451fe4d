"""Running folds that NumPy has and jax does not."""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.engines.xla.library import lax
from ebbflow.engines.xla.rules import lowering
from ebbflow.ops.reduce.reductions import is_narrow


@lowering("CumulativeLogsumexp")
def _(jnp: Any, x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    wide, at = x.astype(np.float32) if is_narrow(x.dtype) else x, int(axis) % x.ndim
    if not x.size:
        return x
    run = lax.associative_scan(jnp.logaddexp, wide, reverse=reverse, axis=at)
    if not exclusive:
        return run
    ends = [slice(None)] * x.ndim
    ends[at] = slice(1, None) if reverse else slice(None, -1)
    edge = jnp.full((*x.shape[:at], 1, *x.shape[at + 1 :]), -np.inf, wide.dtype)
    inner = run[tuple(ends)]
    return jnp.concatenate([inner, edge] if reverse else [edge, inner], axis=at)
