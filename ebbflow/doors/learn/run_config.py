"""`tf.contrib.learn.RunConfig`: how an Estimator runs, and its place in a cluster as TF_CONFIG tells it.

Unlike `tf.estimator`'s, a cluster needs no chief: the first worker is it, or on a cloud the task called master.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbflow import messages
from ebbflow.cluster.spec import ClusterSpec
from ebbflow.core.typing import Message
from ebbflow.doors import estimator_package

core = estimator_package.shown(1)

WITHOUT_MEANING = (
    "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "session_config",
    "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
)  # fmt: skip
"""What two runs of one model may differ in."""


class TaskType:
    """The jobs of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"


class Environment:
    """Where a program runs."""

    LOCAL = "local"
    CLOUD = "cloud"
    GOOGLE = "google"


class RunConfig(core.RunConfig):  # type: ignore[name-defined]
    """How an Estimator runs: `tf.estimator.RunConfig` with the arguments of `tf.contrib.learn`."""

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1.0,
        tf_random_seed: int | None = None,
        save_summary_steps: int = 100,
        save_checkpoints_secs: Any = None,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: Message | None = None,
        session_creation_timeout_secs: int = 7200,
    ):
        self._tf_config = messages.ConfigProto(
            log_device_placement=log_device_placement, inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
        )  # fmt: skip
        self._tf_config.gpu_options.per_process_gpu_memory_fraction = gpu_memory_fraction
        self._given_masters = (master, evaluation_master)
        when = {"save_checkpoints_steps": save_checkpoints_steps} if save_checkpoints_steps else {}
        if save_checkpoints_secs is not None:
            when = {"save_checkpoints_secs": save_checkpoints_secs}
        super().__init__(
            model_dir=model_dir, tf_random_seed=tf_random_seed, save_summary_steps=save_summary_steps,
            session_config=session_config, keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours, log_step_count_steps=log_step_count_steps,
            protocol=protocol, **when,
        )  # fmt: skip
        if save_checkpoints_secs is not None and save_checkpoints_steps:  # here both may be said
            self._save_checkpoints_steps = save_checkpoints_steps

    @property
    def tf_config(self) -> Message:
        """The ConfigProto made of the arguments."""
        return self._tf_config

    @property
    def environment(self) -> str:
        """Where the program runs."""
        return self._environment

    def _init_distributed_setting_from_environment_var(self, tf_config: Mapping[str, Any]) -> None:
        cluster, task = tf_config.get("cluster") or {}, tf_config.get("task") or {}
        self._environment = tf_config.get("environment", Environment.LOCAL)
        self._service = self._global_id_in_cluster = None
        self._cluster_spec = ClusterSpec(cluster)
        self._task_type, self._task_id = task.get("type"), int(task.get("index", 0))
        self._num_ps_replicas = len(cluster.get(TaskType.PS, ()))
        self._num_worker_replicas = sum(len(cluster.get(job, ())) for job in (TaskType.WORKER, TaskType.MASTER))
        chief = TaskType.MASTER if self._environment == Environment.CLOUD else TaskType.WORKER
        self._is_chief = self._task_id == 0 and self._task_type in (None, chief)
        master, self._evaluation_master = self._given_masters
        self._master = self._own_address(cluster) if master is None else master

    def _own_address(self, cluster: Mapping[str, Any]) -> str:
        """Return the target of sessions: this task, where it is one of several."""
        if self._task_type is None or sum(len(job) for job in cluster.values()) <= 1:
            return ""
        if self._task_type not in cluster:
            raise ValueError(f"{self._task_type} is not a valid task_type in the cluster_spec: {dict(cluster)}")
        job = cluster[self._task_type]
        if not 0 <= self._task_id < len(job):
            raise ValueError(
                f"{self._task_id} is not a valid task_id for task_type {self._task_type} in the cluster_spec: "
                f"{dict(cluster)}"
            )
        return f"grpc://{job[self._task_id]}"

    def uid(self, whitelist: Sequence[str] | None = None) -> str:
        """Return a text that is the same for runs that differ only in what the whitelist names."""
        left_out = WITHOUT_MEANING if whitelist is None else whitelist
        found = {key.lstrip("_"): value for key, value in vars(self).items()}
        if isinstance(found.get("cluster_spec"), ClusterSpec):
            found["cluster_spec"] = sorted(found["cluster_spec"].as_dict().items())
        known = {key: value for key, value in found.items() if key not in left_out}
        return ", ".join(f"{key}={known[key]!r}" for key in sorted(known))
