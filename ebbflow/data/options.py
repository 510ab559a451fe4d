"""`tf.data.Options`: wishes about how a dataset is run. What would change an answer is kept; what only tunes is taken
note of.
"""

from __future__ import annotations

import enum
import functools
import json
from typing import Any


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is divided among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What is done about state outside of a dataset when it is written."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Settings:
    """Named settings, each None until it is set; a name that does not exist is refused."""

    _names: dict[str, Any] = {}  # noqa: RUF012  (each class has its own)

    def __getattr__(self, name: str) -> Any:
        """Return what a setting is that was never set; a group of settings is there from when it is first asked for."""
        try:
            default = self._names[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None
        if isinstance(default, type):
            default = self.__dict__[name] = default()
        return default

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        self.__dict__[name] = value

    def set_values(self) -> dict[str, Any]:
        """Return what has been set."""
        found = {}
        for name, value in self.__dict__.items():
            if isinstance(value, _Settings):
                found.update({f"{name}.{inner}": v for inner, v in value.set_values().items()})
            elif value is not None:
                found[name] = value
        return found

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.set_values() == other.set_values()

    def __hash__(self) -> int:
        return hash(frozenset(map(str, self.set_values().items())))


def _settings(name: str, words: str, doc: str) -> type:
    return type(name, (_Settings,), {"_names": dict.fromkeys(words.split()), "__doc__": doc, "__module__": __name__})


AutotuneOptions = _settings(
    "AutotuneOptions", "enabled cpu_budget ram_budget autotune_algorithm initial_parallelism min_parallelism", "Tuning."
)
DistributeOptions = _settings("DistributeOptions", "auto_shard_policy num_devices", "Sharing among workers.")
OptimizationOptions = _settings(
    "OptimizationOptions",
    "apply_default_optimizations filter_fusion filter_parallelization inject_prefetch map_and_batch_fusion "
    "map_and_filter_fusion map_fusion map_parallelization noop_elimination parallel_batch seq_interleave_prefetch "
    "shuffle_and_repeat_fusion autotune autotune_buffers autotune_cpu_budget hoist_random_uniform",
    "Rewrites.",
)
ThreadingOptions = _settings("ThreadingOptions", "max_intra_op_parallelism private_threadpool_size", "Threads.")


class Options(_Settings):
    """Wishes about how a dataset is run."""

    _names = {  # noqa: RUF012
        **dict.fromkeys(
            [
                "dataset_name",
                "framework_type",
                "deterministic",
                "experimental_deterministic",
                "experimental_external_state_policy",
                "experimental_python_processes",  # ours: functions in Python may run in processes of their own
                "experimental_slack",
                "experimental_symbolic_checkpoint",
                "experimental_warm_start",
                "experimental_stats",
                "experimental_autotune",
            ]
        ),
        "autotune": AutotuneOptions,
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "threading": ThreadingOptions,
        "experimental_threading": ThreadingOptions,
    }

    def merge(self, options: Options) -> Options:
        """Return these options with those that are set in `options` over them."""
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be tf.data.Options, got {type(options).__name__}: {options!r}")
        made = Options()
        for given in (self, options):
            for name, value in given.set_values().items():
                *inner, last = name.split(".")
                setattr(getattr(made, inner[0]) if inner else made, last, value)
        return made

    def serialized(self) -> str:
        """Return what is set, as text."""
        return _text(tuple([(name, str(value)) for name, value in self.set_values().items()]))


@functools.lru_cache(64)
def _text(values: tuple[tuple[str, str], ...]) -> str:
    return json.dumps(dict(values), sort_keys=True)
