"""Applying gradients of several replicas: summed over them, then each copy of a variable is changed once.

What `Optimizer.apply_gradients` does where a strategy of several replicas holds. Slots and the optimizer's own
variables are made in the strategy's scope, so they have a copy for each replica like the variables they belong to.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core.scopes import name_scope
from ebbflow.distribute import current
from ebbflow.distribute.coordinated_estimators import get_loss_reduction
from ebbflow.distribute.reduce_op import ReduceOp
from ebbflow.distribute.values import DistributedValues
from ebbflow.graph.scopes import init_scope


def scaled(loss: Any) -> Any:
    """Return a replica's part of the loss: estimators ask for the mean over replicas, and gradients are summed."""
    strategy = current.get_strategy() if current.thread.places else None
    if strategy is None or not strategy._scales_loss or get_loss_reduction() is not ReduceOp.MEAN:
        return loss
    return loss * (1.0 / strategy.num_replicas_in_sync)


def needed(pairs: Any) -> bool:
    """Return whether variables have a copy for each replica, and all copies, not one of them, are to be changed."""
    return current.get_update_replica_id() is None and isinstance(pairs[0][1], DistributedValues)


def apply(optimizer: Any, pairs: Any, global_step: Any, name: str | None) -> Any:
    """Change variables by the sum of what replicas give; in a replica, together with the others."""
    if current.in_cross_replica_context():
        return _apply(current.get_strategy(), optimizer, list(pairs), global_step, name)

    def merged(strategy: Any, pairs: Any) -> Any:
        return _apply(strategy, optimizer, pairs, global_step, name)

    return current.get_replica_context().merge_call(merged, args=([tuple(pair) for pair in pairs],))


def _apply(strategy: Any, optimizer: Any, pairs: list[Any], global_step: Any, name: str | None) -> Any:
    extended = strategy.extended
    used = [(grad, variable) for grad, variable in pairs if grad is not None]
    if not used:
        raise ValueError(f"No gradients provided for any variable: {[v.name for _, v in pairs]}.")
    totals = extended.batch_reduce_to(ReduceOp.SUM, used)
    sums = [(total, variable) for total, (_, variable) in zip(totals, used, strict=True)]
    with init_scope(), strategy.scope():
        optimizer._create_slots([variable for _, variable in used])

    updates: list[Any] = []
    with name_scope(name, optimizer._name) as scope:
        optimizer._prepare()
        for grad, variable in sums:
            done = extended.update(variable, optimizer._update, args=(grad,), group=False)
            updates += done if isinstance(done, (list, tuple)) else [done]
        return optimizer._applied(updates, global_step, scope)
