"""Whether an Estimator is trained through the distribute coordinator, which a RunConfig must have asked for."""

from __future__ import annotations

import os
from typing import Any

from ebbflow.distribute.reduce_op import ReduceOp
from ebbflow.graph.graph import get_default_graph


def _wanted(config: Any) -> Any:
    return getattr(config, "_experimental_distribute", None) or getattr(config, "experimental_distribute", None)


def init_run_config(config: Any, tf_config: Any) -> None:
    """Settle what a RunConfig says of strategies: each runs in its own process, without a coordinator."""
    config._distribute_coordinator_mode = None
    config._train_distribute = None
    config._eval_distribute = None
    wanted = _wanted(config)
    if wanted is None:
        return
    if wanted.train_distribute is not None:
        raise ValueError(
            "experimental_distribute.train_distribute needs the distribute coordinator: give the strategy as "
            f"RunConfig(train_distribute=…) instead (TF_CONFIG is {os.environ.get('TF_CONFIG')!r})"
        )
    config._eval_distribute = wanted.eval_distribute


def should_run_distribute_coordinator(config: Any) -> bool:
    """Return whether the coordinator runs training: never, see `init_run_config`."""
    return bool(getattr(config, "_distribute_coordinator_mode", None))


def get_loss_reduction() -> ReduceOp:
    """Return how the losses of replicas become one: as the last loss of the graph was summed up."""
    last = getattr(get_default_graph(), "_last_loss_reduction", None)
    return ReduceOp.SUM if last in ("sum", "weighted_sum") else ReduceOp.MEAN
