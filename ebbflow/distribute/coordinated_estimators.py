"""What Estimators ask of strategies: how a RunConfig is settled that has one, and how losses become one."""

from __future__ import annotations

from typing import Any

from ebbflow.cluster.spec import ClusterSpec
from ebbflow.distribute.reduce_op import ReduceOp
from ebbflow.graph.graph import get_default_graph


def init_run_config(config: Any, tf_config: Any) -> None:
    """Settle what a RunConfig says of strategies: each process trains by itself, with the strategy it was given.

    Workers that keep their variables alike meet in the strategy, so a session needs no master.
    """
    wanted = config._experimental_distribute
    for which in ("train_distribute", "eval_distribute"):
        asked = getattr(wanted, which, None)
        if asked is not None and getattr(config, f"_{which}") is not None:
            raise ValueError(f"Either `{which}` or `experimental_distribute.{which}` can be set, both are")
        if asked is not None:
            setattr(config, f"_{which}", asked)
    config._distribute_coordinator_mode = None
    config._init_distributed_setting_from_environment_var({})
    cluster, task = ClusterSpec(tf_config.get("cluster", {})), tf_config.get("task", {})
    if cluster and task:
        config._cluster_spec = cluster
        config._task_type, config._task_id = task["type"], int(task.get("index", 0))
        workers = [job for job in ("chief", "master", "worker") if job in cluster.jobs]
        config._num_worker_replicas = sum(cluster.num_tasks(job) for job in workers)
        config._is_chief = config._task_id == 0 and config._task_type == workers[0]


def should_run_distribute_coordinator(config: Any) -> bool:
    """Return whether the coordinator runs training: never, see `init_run_config`."""
    return bool(getattr(config, "_distribute_coordinator_mode", None))


def get_loss_reduction() -> ReduceOp:
    """Return how the losses of replicas become one: as the last loss of the graph was summed up."""
    last = getattr(get_default_graph(), "_last_loss_reduction", None)
    return ReduceOp.SUM if last in ("sum", "weighted_sum") else ReduceOp.MEAN
