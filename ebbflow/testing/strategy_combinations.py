"""Strategies as parameters of tests: `combine(distribution=[default_strategy, mirrored_strategy_with_one_cpu])`.

A test is left out, with a word why, where the machine lacks what its strategy needs. Knows `tf.distribute` and
`combinations`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ebbflow.cluster.resolvers import TFConfigClusterResolver
from ebbflow.distribute.central_storage import CentralStorageStrategy
from ebbflow.distribute.current import default_strategy as the_default
from ebbflow.distribute.default import OneDeviceStrategy
from ebbflow.distribute.mirrored import MirroredStrategy
from ebbflow.distribute.multi_worker import MultiWorkerMirroredStrategy
from ebbflow.distribute.parameter_server import ParameterServerStrategyV2
from ebbflow.distribute.tpu import TPUStrategy
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
    combine,
    generate,
)
from ebbflow.testing.test_case import main as run_tests


class NamedDistribution(NamedObject):
    """A strategy with a name, made when a test runs, and what it needs to run: devices, processes."""

    def __init__(
        self,
        name: str,
        distribution_fn: Callable[[], Any],
        required_gpus: int | None = None,
        required_physical_gpus: int = 0,
        required_tpu: bool = False,
        use_cloud_tpu: bool = False,
        has_chief: bool = False,
        num_workers: int = 1,
        num_ps: int = 0,
        share_gpu: bool = True,
        pool_runner_fn: Callable[[], Any] | None = None,
        no_xla: bool = False,
    ):
        super().__init__(name, distribution_fn)
        self.required_gpus, self.required_physical_gpus = required_gpus, required_physical_gpus
        self.required_tpu, self.use_cloud_tpu, self.no_xla = required_tpu, use_cloud_tpu, no_xla
        self.has_chief, self.num_workers, self.num_ps = has_chief, num_workers, num_ps
        self.share_gpu, self.pool_runner_fn = share_gpu, pool_runner_fn

    @property
    def strategy(self) -> Any:
        """The strategy, a new one."""
        return self._obj()

    @property
    def lacks(self) -> str:
        """What no machine has that runs tests in one process, or ""."""
        if self.required_tpu or self.use_cloud_tpu:
            return "there are no TPUs"
        return "one process is served" if self.has_chief or self.num_workers > 1 or self.num_ps else ""


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
                needed = max(value.required_gpus or 0, value.required_physical_gpus)
                if needed > gpus:
                    return False, f"{value} needs {needed} GPUs, there are {gpus}"
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


def _workers(name: str, workers: int, gpus: int = 0, physical_gpus: int = 0, **more: Any) -> NamedDistribution:
    """Return a strategy of a chief and workers, each with GPUs of its own."""
    return NamedDistribution(
        name, MultiWorkerMirroredStrategy, gpus, physical_gpus, has_chief=True, num_workers=workers, **more
    )


def _servers(name: str, workers: int, servers: int, gpus: int = 0) -> NamedDistribution:
    """Return a strategy of a coordinator with workers and parameter servers."""
    make = lambda: ParameterServerStrategyV2(TFConfigClusterResolver())
    return NamedDistribution(name, make, gpus, has_chief=True, num_workers=workers, num_ps=servers)


def _tpu(name: str, **more: Any) -> NamedDistribution:
    return NamedDistribution(name, TPUStrategy, required_tpu=True, **more)


default_strategy = NamedDistribution("Default", the_default)
one_device_strategy = NamedDistribution("OneDeviceCPU", _on_cpu)
one_device_strategy_gpu = NamedDistribution("OneDeviceGPU", _on_gpu, 1)
one_device_strategy_on_worker_1 = NamedDistribution(
    "OneDeviceOnWorker1CPU", functools.partial(OneDeviceStrategy, "/job:worker/replica:0/task:1/cpu:0")
)
one_device_strategy_gpu_on_worker_1 = NamedDistribution(
    "OneDeviceOnWorker1GPU", functools.partial(OneDeviceStrategy, "/job:worker/replica:0/task:1/gpu:0"), 1
)
mirrored_strategy_with_one_cpu = NamedDistribution("Mirrored1CPU", _mirrored("/cpu:0"))
mirrored_strategy_with_two_cpus = NamedDistribution("Mirrored2CPUs", _mirrored("/cpu:0", "/cpu:1"))
mirrored_strategy_with_cpu_1_and_2 = NamedDistribution("Mirrored2CPU", _mirrored("/cpu:1", "/cpu:2"))
mirrored_strategy_with_one_gpu = NamedDistribution("Mirrored1GPU", _mirrored("/gpu:0"), 1)
mirrored_strategy_with_gpu_and_cpu = NamedDistribution("MirroredCPUAndGPU", _mirrored("/gpu:0", "/cpu:0"), 1)
mirrored_strategy_with_two_gpus = NamedDistribution("Mirrored2GPUs", _mirrored("/gpu:0", "/gpu:1"), 2)
mirrored_strategy_with_two_gpus_no_merge_call = NamedDistribution(
    "Mirrored2GPUsNoMergeCall", _mirrored("/gpu:0", "/gpu:1"), required_physical_gpus=2
)
central_storage_strategy_with_two_gpus = NamedDistribution(
    "CentralStorage2GPUs", lambda: CentralStorageStrategy(["/gpu:0", "/gpu:1"]), 2
)
central_storage_strategy_with_gpu_and_cpu = NamedDistribution(
    "CentralStorageCPUAndGPU", lambda: CentralStorageStrategy(["/gpu:0", "/cpu:0"]), 1
)
tpu_strategy = _tpu("TPU")
cloud_tpu_strategy = _tpu("CloudTPU", use_cloud_tpu=True)
tpu_strategy_one_core = _tpu("TPUOneCore")
tpu_strategy_one_step = _tpu("TPUOneStep")
tpu_strategy_one_step_one_core = _tpu("TPUOneStepOneCore")
tpu_strategy_packed_var = _tpu("TPUPackedVar")
tpu_strategy_spmd = _tpu("TPUUseSPMD")
multi_worker_mirrored_2x1_cpu = _workers("MultiWorkerMirrored2x1CPU", 1)
multi_worker_mirrored_2x1_gpu = _workers("MultiWorkerMirrored2x1GPU", 1, 1)
multi_worker_mirrored_2x1_gpu_noshare = _workers("MultiWorkerMirrored2x1GPUNoShare", 1, 1, share_gpu=False)
multi_worker_mirrored_2x2_gpu = _workers("MultiWorkerMirrored2x2GPU", 1, 2)
multi_worker_mirrored_2x2_gpu_no_merge_call = _workers("MultiWorkerMirrored2x2GPUNoMergeCall", 1, 0, 2)
multi_worker_mirrored_4x1_cpu = _workers("MultiWorkerMirrored4x1CPU", 3)
parameter_server_strategy_1worker_2ps_cpu = _servers("ParameterServer1Worker2PSCPU", 1, 2)
parameter_server_strategy_1worker_2ps_1gpu = _servers("ParameterServer1Worker2PS1GPU", 1, 2, 1)
parameter_server_strategy_3worker_2ps_cpu = _servers("ParameterServer3Worker2PSCPU", 3, 2)
parameter_server_strategy_3worker_2ps_1gpu = _servers("ParameterServer3Worker2PS1GPU", 3, 2, 1)

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
multiworker_strategies = [*multi_worker_strategies, multi_worker_mirrored_2x2_gpu_no_merge_call]
two_replica_strategies = [
    mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus, multi_worker_mirrored_2x1_cpu,
    multi_worker_mirrored_2x1_gpu, tpu_strategy, central_storage_strategy_with_gpu_and_cpu,
]  # fmt: skip
four_replica_strategies = [
    multi_worker_mirrored_2x2_gpu, multi_worker_mirrored_2x2_gpu_no_merge_call, multi_worker_mirrored_4x1_cpu,
]  # fmt: skip
multidevice_strategies = [
    mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus,
    mirrored_strategy_with_two_gpus_no_merge_call, tpu_strategy,
]  # fmt: skip
graph_and_eager_modes = ["graph", "eager"]


def strategy_minus_tpu_combinations() -> list[Combination]:
    """Return the strategies without TPUs, in both modes."""
    return combine(distribution=strategies_minus_tpu, mode=graph_and_eager_modes)


def tpu_strategy_combinations() -> list[Combination]:
    """Return those on TPUs, in graphs."""
    return combine(distribution=tpu_strategies, mode=["graph"])


def all_strategy_combinations() -> list[Combination]:
    """Return all strategies, in the modes that they have."""
    return [*strategy_minus_tpu_combinations(), *tpu_strategy_combinations()]


def all_strategy_minus_default_and_tpu_combinations() -> list[Combination]:
    """Return what a program would choose for other machines than TPUs, in both modes."""
    return combine(
        distribution=[one_device_strategy, one_device_strategy_gpu, mirrored_strategy_with_gpu_and_cpu,
                      mirrored_strategy_with_two_gpus],
        mode=graph_and_eager_modes,
    )  # fmt: skip


def all_strategy_combinations_minus_default() -> list[Combination]:
    """Return what a program would choose."""
    return [*all_strategy_minus_default_and_tpu_combinations(), *tpu_strategy_combinations()]


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
