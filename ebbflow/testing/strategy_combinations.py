"""Strategies as parameters of tests: `combine(distribution=[default_strategy, mirrored_strategy_with_one_cpu])`.

A test is left out, with a word why, where the machine lacks what its strategy needs. Knows `tf.distribute` and
`combinations`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ebbflow.distribute.current import default_strategy as the_default
from ebbflow.distribute.default import OneDeviceStrategy
from ebbflow.distribute.mirrored import MirroredStrategy
from ebbflow.engines import devices
from ebbflow.functions.function import Function
from ebbflow.ops.arrays.joining import stack
from ebbflow.testing.combinations import (
    Combination,
    EagerGraphCombination,
    NamedObject,
    OptionalParameter,
    ParameterModifier,
    TestCombination,
    TFVersionCombination,
    generate,
)
from ebbflow.testing.test_case import main as run_tests


class NamedDistribution:
    """A strategy with a name, made when a test runs."""

    def __init__(self, name: str, make: Callable[[], Any], required_gpus: int = 0, lacks: str = ""):
        self._name, self._make, self.required_gpus, self.lacks = name, make, required_gpus, lacks

    @property
    def strategy(self) -> Any:
        return self._make()

    def __repr__(self) -> str:
        return self._name


class _Strategies(ParameterModifier):
    def modified_arguments(self, kwargs: Combination, requested_parameters: Any) -> Combination:
        """Give the test the strategies themselves."""
        return {name: value.strategy for name, value in kwargs.items() if isinstance(value, NamedDistribution)}


class DistributionCombination(TestCombination):
    """Leaves out what the machine has no devices for."""

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        """Return whether the strategies of a combination can be made here."""
        gpus = devices.num_gpus()
        for value in kwargs.values():
            if isinstance(value, NamedDistribution):
                if value.lacks:
                    return False, f"{value}: {value.lacks}"
                if value.required_gpus > gpus:
                    return False, f"{value} needs {value.required_gpus} GPUs, there are {gpus}"
        return True, None

    def parameter_modifiers(self) -> list[Any]:
        """Strategies are made; how many GPUs are needed is no affair of the test."""
        return [_Strategies(), *map(OptionalParameter, _NO_AFFAIR_OF_TESTS)]


_NO_AFFAIR_OF_TESTS = (
    "required_gpus", "required_physical_gpus", "required_tpus", "use_cloud_tpu", "use_var_policy", "has_chief",
    "num_workers", "num_ps", "share_gpu", "use_pool_runner",
)  # fmt: skip


_on_cpu = functools.partial(OneDeviceStrategy, "/cpu:0")
_on_gpu = functools.partial(OneDeviceStrategy, "/gpu:0")


def _mirrored(*names: str) -> Callable[[], Any]:
    return lambda: MirroredStrategy(list(names))


def _elsewhere(name: str, lacks: str) -> NamedDistribution:
    return NamedDistribution(name, the_default, lacks=lacks)


default_strategy = NamedDistribution("Default", the_default)
one_device_strategy = NamedDistribution("OneDeviceCPU", _on_cpu)
one_device_strategy_gpu = NamedDistribution("OneDeviceGPU", _on_gpu, 1)
mirrored_strategy_with_one_cpu = NamedDistribution("Mirrored1CPU", _mirrored("/cpu:0"))
mirrored_strategy_with_two_cpus = NamedDistribution("Mirrored2CPUs", _mirrored("/cpu:0", "/cpu:1"))
mirrored_strategy_with_cpu_1_and_2 = NamedDistribution("Mirrored2CPU", _mirrored("/cpu:1", "/cpu:2"))
mirrored_strategy_with_one_gpu = NamedDistribution("Mirrored1GPU", _mirrored("/gpu:0"), 1)
mirrored_strategy_with_gpu_and_cpu = NamedDistribution("MirroredCPUAndGPU", _mirrored("/gpu:0", "/cpu:0"), 1)
mirrored_strategy_with_two_gpus = NamedDistribution("Mirrored2GPUs", _mirrored("/gpu:0", "/gpu:1"), 2)
mirrored_strategy_with_two_gpus_no_merge_call = NamedDistribution(
    "Mirrored2GPUsNoMergeCall", _mirrored("/gpu:0", "/gpu:1"), 2
)
central_storage_strategy_with_two_gpus = _elsewhere("CentralStorage2GPUs", "variables are not kept apart")
central_storage_strategy_with_gpu_and_cpu = _elsewhere("CentralStorageCPUAndGPU", "variables are not kept apart")
tpu_strategy = _elsewhere("TPU", "there are no TPUs")
cloud_tpu_strategy = _elsewhere("CloudTPU", "there are no TPUs")
tpu_strategy_one_core = _elsewhere("TPUOneCore", "there are no TPUs")
tpu_strategy_packed_var = _elsewhere("TPUPackedVar", "there are no TPUs")
_WORKERS = "one process is served"
multi_worker_mirrored_2x1_cpu = _elsewhere("MultiWorkerMirrored2x1CPU", _WORKERS)
multi_worker_mirrored_2x1_gpu = _elsewhere("MultiWorkerMirrored2x1GPU", _WORKERS)
multi_worker_mirrored_2x2_gpu = _elsewhere("MultiWorkerMirrored2x2GPU", _WORKERS)
parameter_server_strategy_1worker_2ps_cpu = _elsewhere("ParameterServer1Worker2PSCPU", _WORKERS)
parameter_server_strategy_1worker_2ps_1gpu = _elsewhere("ParameterServer1Worker2PS1GPU", _WORKERS)
parameter_server_strategy_3worker_2ps_cpu = _elsewhere("ParameterServer3Worker2PSCPU", _WORKERS)
parameter_server_strategy_3worker_2ps_1gpu = _elsewhere("ParameterServer3Worker2PS1GPU", _WORKERS)

strategies_minus_default_and_tpu = [
    one_device_strategy, one_device_strategy_gpu, mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus,
]  # fmt: skip
strategies_minus_tpu = [
    default_strategy, *strategies_minus_default_and_tpu, central_storage_strategy_with_gpu_and_cpu,
]  # fmt: skip
tpu_strategies = [tpu_strategy, tpu_strategy_one_core, tpu_strategy_packed_var, cloud_tpu_strategy]
all_strategies_minus_default = [*strategies_minus_default_and_tpu, *tpu_strategies]
all_strategies = [*strategies_minus_tpu, *tpu_strategies]
multi_worker_strategies = [
    multi_worker_mirrored_2x1_cpu, multi_worker_mirrored_2x1_gpu, multi_worker_mirrored_2x2_gpu,
]  # fmt: skip
two_replica_strategies = [
    mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus, multi_worker_mirrored_2x1_cpu,
    multi_worker_mirrored_2x1_gpu, tpu_strategy, central_storage_strategy_with_gpu_and_cpu,
]  # fmt: skip
graph_and_eager_modes = ["graph", "eager"]
tf_function = NamedObject("RunFunction", Function)
no_tf_function = NamedObject("RunEager", lambda fn: fn)


def set_logical_devices_to_at_least(device: str, num: int) -> None:
    """Have at least that many logical devices of a kind, while they can still be made."""
    physical = devices.list_physical_devices(device)
    if not physical:
        raise RuntimeError(f"No {device} found")
    known = devices.get_logical_device_configuration(physical[-1]) or [devices.LogicalDeviceConfiguration()]
    if len(known) < num:
        devices.set_logical_device_configuration(
            physical[-1], [*known, *(devices.LogicalDeviceConfiguration() for _ in range(num - len(known)))]
        )


set_virtual_cpus_to_at_least = functools.partial(set_logical_devices_to_at_least, "CPU")


def gather(strategy: Any, value: Any) -> Any:
    """Return a tensor of what every replica has, one after the other along a new first axis."""
    return stack(strategy.experimental_local_results(value))


def in_main_process() -> bool:
    """Return whether this process is the one that a test began in: tests here have no others."""
    return True


def main(config_logical_devices: bool = True) -> None:
    """Run the tests of a program, with three CPUs and whatever else there is."""
    if config_logical_devices:
        set_virtual_cpus_to_at_least(3)
    run_tests()


generate_with_strategies = functools.partial(
    generate, test_combinations=(EagerGraphCombination(), TFVersionCombination(), DistributionCombination())
)
