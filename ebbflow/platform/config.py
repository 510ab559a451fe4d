"""`tf.config`: a program's wishes about placement, threads and optimisation.

Keeps what programs set, for the rooms above to read. Which devices there are is in `engines.devices`.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

from ebbflow.core import context, errors


class Wishes:
    """What the program asked for; None or the first value where it did not."""

    def __init__(self) -> None:
        self.soft_placement: bool | None = None
        self.log_placement = False
        self.inter_op_threads = 0
        self.intra_op_threads = 0
        self.jit: Any = ""
        self.optimizer: dict[str, Any] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
        self.device_policy = "silent"
        self.synchronous = True
        self.functions_run_eagerly = False
        self.tensor_float_32 = True
        self.deterministic = False
        self.seeds_needed = False


wishes = Wishes()


def get_soft_device_placement() -> bool:
    """Return whether an op goes to the CPU when the device it names is missing; by default, where ops run at once."""
    return context.executing_eagerly() if wishes.soft_placement is None else wishes.soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """Say whether an op goes to the CPU when the device it names is not there."""
    wishes.soft_placement = bool(enabled)


def get_log_device_placement() -> bool:
    """Return whether the device of each op is logged."""
    return wishes.log_placement


on_log_placement: list[Callable[[bool], None]] = []
"""Who else is told whether devices are logged: whoever sees ops run."""


def set_log_device_placement(enabled: bool) -> None:
    """Say whether the device of each op is logged."""
    wishes.log_placement = bool(enabled)
    for tell in on_log_placement:
        tell(wishes.log_placement)


def get_inter_op_parallelism_threads() -> int:
    """Return how many ops may run at once; 0 leaves it to Ebbflow."""
    return wishes.inter_op_threads


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Say how many ops may run at once."""
    wishes.inter_op_threads = num_threads


def get_intra_op_parallelism_threads() -> int:
    """Return how many threads one op may use; 0 leaves it to Ebbflow."""
    return wishes.intra_op_threads


on_intra_op_threads: list[Callable[[int], None]] = []
"""Who else is told how many threads one op may use: engines that keep threads of their own."""


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Say how many threads one op may use."""
    wishes.intra_op_threads = num_threads
    for tell in on_intra_op_threads:
        tell(num_threads)


def get_jit() -> str:
    """Return whether functions are compiled: "autoclustering" or nothing."""
    return wishes.jit


def set_jit(enabled: bool) -> None:
    """Say whether functions are compiled: True or "autoclustering", or False."""
    if enabled not in (True, False, "autoclustering", ""):
        raise ValueError(f"Invalid argument `enabled`: {enabled!r} is not True, False or 'autoclustering'")
    wishes.jit = "autoclustering" if enabled else ""


_OPTIONS = """
    layout_optimizer constant_folding shape_optimization remapping arithmetic_optimization dependency_optimization
    loop_optimization function_optimization debug_stripper disable_model_pruning scoped_allocator_optimization
    pin_to_host_optimization implementation_selector auto_mixed_precision auto_mixed_precision_onednn_bfloat16
    auto_mixed_precision_mkl disable_meta_optimizer min_graph_nodes use_plugin_optimizers auto_parallel
    native_code clustering memory_limit
"""

OPTIMIZER_OPTIONS = frozenset(_OPTIONS.split())
"""The options `set_experimental_options` keeps; others are ignored, as in TensorFlow. The last line is Ebbflow's own:
whether machine code is made, whether XLA is given clusters, and how many bytes values may take before cheap ones are
computed again instead of being kept.
"""


def get_optimizer_experimental_options() -> dict[str, Any]:
    """Return the options of graph optimisation that were set."""
    return dict(wishes.optimizer)


def set_optimizer_experimental_options(options: dict[str, Any]) -> None:
    """Set options of graph optimisation, by name."""
    limit = options.get("memory_limit")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise ValueError(f"Invalid option memory_limit: {limit!r} is no number of bytes")
    wishes.optimizer.update((name, value) for name, value in options.items() if name in OPTIMIZER_OPTIONS)


def get_device_policy() -> str:
    """Return what happens when an op's input is on another device: it is copied, silently."""
    return wishes.device_policy


def set_device_policy(device_policy: str | None) -> None:
    """Say what happens when an op's input is on another device."""
    allowed = ("silent", "silent_for_int32", "warn", "explicit")
    if device_policy is not None and device_policy not in allowed:
        raise ValueError(f"Invalid argument `device_policy`: {device_policy!r}. It may be one of {', '.join(allowed)}.")
    wishes.device_policy = device_policy or "silent"


def get_synchronous_execution() -> bool:
    """Return whether eager ops have finished when they return."""
    return wishes.synchronous


def set_synchronous_execution(enable: bool) -> None:
    """Say whether eager ops must have finished when they return; Ebbflow's always have."""
    wishes.synchronous = bool(enable)


def functions_run_eagerly() -> bool:
    """Return whether `tf.function`s run as plain Python."""
    return wishes.functions_run_eagerly


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Have `tf.function`s run as plain Python, to debug them."""
    wishes.functions_run_eagerly = bool(run_eagerly)


def tensor_float_32_execution_enabled() -> bool:
    """Return whether a GPU may round float32 products to TensorFloat-32."""
    return wishes.tensor_float_32


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Say whether a GPU may round float32 products to TensorFloat-32."""
    wishes.tensor_float_32 = bool(enabled)


def enable_mlir_bridge() -> None:
    """Accepted, and nothing changes: what MLIR does in TensorFlow, Programs do here in any case."""


def disable_mlir_bridge() -> None:
    """Accepted, and nothing changes (see `enable_mlir_bridge`)."""


@contextlib.contextmanager
def async_scope() -> Iterator[None]:
    """Let eager calls inside be done later, by the end of the scope. They are done at once, which is allowed."""
    yield


def async_clear_error() -> None:
    """Forget errors of calls that are still to be done: there are none, errors come with their calls."""


@contextlib.contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """Accept a wish for the executor of functions called inside; Programs have one, which serves all."""
    known = (None, "", "DEFAULT", "SINGLE_THREADED_EXECUTOR")
    if executor_type not in known:
        raise errors.NotFoundError(None, None, f"function_executor_type: {executor_type!r} is none of {known}")
    yield


def enable_op_determinism() -> None:
    """Ask for the same results every run: Programs keep the engine they begin with, random numbers need a seed."""
    wishes.deterministic = wishes.seeds_needed = True


def disable_op_determinism() -> None:
    """Ask for that no longer."""
    wishes.deterministic = wishes.seeds_needed = False


def is_op_determinism_enabled() -> bool:
    """Return whether the same results are asked for every run."""
    return wishes.deterministic


def is_built_with_xla() -> bool:
    """Return whether XLA can be had: whether `jax` is installed."""
    return importlib.util.find_spec("jax") is not None
