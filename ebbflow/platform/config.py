"""`tf.config`: which devices there are, which a program may use, and its wishes about threads and optimisation.

Keeps what programs set, for the rooms above to read. Knows the CPU; an engine that brings other devices says so with
`provide_devices`, and is asked only when a program looks for devices.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class PhysicalDevice(NamedTuple):
    """A device of this machine: `/physical_device:CPU:0`."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device ops can be placed on: `/device:CPU:0`."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """How one logical device takes its share of a physical one."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


_providers: list[Callable[[], Sequence[str]]] = []


def provide_devices(device_types: Callable[[], Sequence[str]]) -> None:
    """Let an engine name the type of each device it brings: ["GPU", "GPU"]."""
    _providers.append(device_types)


class Devices:
    """The devices of this machine, and what the program has said about them."""

    def __init__(self) -> None:
        self._physical: list[PhysicalDevice] | None = None
        self.visible: list[PhysicalDevice] | None = None
        self.split: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}
        self.growing: dict[PhysicalDevice, bool] = {}
        self._logical: list[LogicalDevice] | None = None

    def physical(self) -> list[PhysicalDevice]:
        """Return every device, asking the engines the first time."""
        if self._physical is None:
            types = ["CPU", *(kind for provider in _providers for kind in provider())]
            numbers = [types[:place].count(kind) for place, kind in enumerate(types)]
            self._physical = [
                PhysicalDevice(f"/physical_device:{kind}:{number}", kind)
                for kind, number in zip(types, numbers, strict=True)
            ]
        return self._physical

    def logical(self) -> list[LogicalDevice]:
        """Return the devices ops can be placed on; from then on they stay as they are."""
        if self._logical is None:
            self._logical = []
            counts: dict[str, int] = {}
            for device in self.physical() if self.visible is None else self.visible:
                for _ in self.split.get(device, (None,)):
                    number = counts[device.device_type] = counts.get(device.device_type, -1) + 1
                    name = f"/device:{device.device_type}:{number}"
                    self._logical.append(LogicalDevice(name, device.device_type))
        return self._logical

    def change(self, what: str) -> None:
        """Refuse a change that comes after the program has been told its devices."""
        if self._logical is not None:
            raise RuntimeError(f"{what} cannot be modified after being initialized")


devices = Devices()


def _of_type(found: Sequence[Any], device_type: str | None) -> list[Any]:
    return [device for device in found if device_type in (None, device.device_type)]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices of this machine, all or of one type.

    >>> list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return _of_type(devices.physical(), device_type)


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Return the devices ops can be placed on, all or of one type."""
    return _of_type(devices.logical(), device_type)


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices the program may use."""
    return _of_type(devices.physical() if devices.visible is None else devices.visible, device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Restrict the program to some devices (of one type, where a type is given)."""
    chosen = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    for device in chosen:
        _known(device)
        if device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r} is not of type {device_type}")
    _restrict(chosen, device_type)


def _restrict(chosen: Sequence[PhysicalDevice], device_type: str | None) -> None:
    others = [] if device_type is None else [d for d in get_visible_devices() if d.device_type != device_type]
    wanted = [device for device in devices.physical() if device in others or device in chosen]
    if wanted != get_visible_devices():
        devices.change("Visible devices")
    devices.visible = wanted


def get_logical_device_configuration(device: PhysicalDevice) -> list[LogicalDeviceConfiguration] | None:
    """Return how a device is split into logical ones, or None if it is not."""
    return devices.split.get(_known(device))


def set_logical_device_configuration(device: PhysicalDevice, logical_devices: Any) -> None:
    """Split a device into several logical ones."""
    parts = list(logical_devices)
    if _known(device).device_type == "CPU":
        for part in parts:
            if part.memory_limit is not None:
                raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if devices.split.get(device) != parts:
        devices.change("Virtual devices")
    devices.split[device] = parts


def _known(device: PhysicalDevice) -> PhysicalDevice:
    if device not in devices.physical():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Return whether a GPU takes its memory as needed."""
    if _known(device).device_type == "CPU":
        raise KeyError(device)
    return devices.growing.get(device, False)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Have a GPU take its memory as needed instead of all at once."""
    if _known(device).device_type == "CPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    devices.growing[device] = enable


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """Return what more is known about a device."""
    _known(device)
    return {}


def get_memory_info(device: str) -> dict[str, int]:
    """Return the memory in use on a device, now and at most; the CPU's is not counted."""
    kind, _, number = device.upper().rpartition("DEVICE:")[2].lstrip("/").partition(":")
    if not any(name.endswith(f":{kind}:{number or 0}") for name, _ in devices.logical()):
        raise ValueError(f"No matching devices found for '{device}'")
    return {"current": 0, "peak": 0}


def get_memory_usage(device: str) -> int:
    """Return the memory in use on a device."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Start counting the most memory in use from now."""
    get_memory_info(device)


def gpu_device_name() -> str:
    """Return the name of the first GPU, or nothing."""
    names = [device.name for device in list_logical_devices("GPU")]
    return names[0] if names else ""


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Return whether there is a GPU."""
    return bool(list_physical_devices("GPU"))


def is_built_with_cuda() -> bool:
    """Return whether Ebbflow was built for CUDA: it was not built, so only whether it found such a device."""
    return bool(list_physical_devices("GPU"))


is_built_with_gpu_support = is_built_with_cuda


def is_built_with_rocm() -> bool:
    """Return False: Ebbflow is not compiled for any accelerator."""
    return False


class Wishes:
    """What the program asked for; None or the first value where it did not."""

    def __init__(self) -> None:
        self.soft_placement = True
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


wishes = Wishes()


def get_soft_device_placement() -> bool:
    """Return whether an op goes to the CPU when the device it names is not there."""
    return wishes.soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """Say whether an op goes to the CPU when the device it names is not there."""
    wishes.soft_placement = bool(enabled)


def get_log_device_placement() -> bool:
    """Return whether the device of each op is logged."""
    return wishes.log_placement


def set_log_device_placement(enabled: bool) -> None:
    """Say whether the device of each op is logged."""
    wishes.log_placement = bool(enabled)


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


def get_jit() -> Any:
    """Return whether functions are compiled: "autoclustering" or nothing."""
    return wishes.jit


def set_jit(enabled: Any) -> None:
    """Say whether functions are compiled: True or "autoclustering", or False."""
    if enabled not in (True, False, "autoclustering", ""):
        raise ValueError(f"Invalid argument `enabled`: {enabled!r} is not True, False or 'autoclustering'")
    wishes.jit = "autoclustering" if enabled else ""


_OPTIONS = """
    layout_optimizer constant_folding shape_optimization remapping arithmetic_optimization dependency_optimization
    loop_optimization function_optimization debug_stripper disable_model_pruning scoped_allocator_optimization
    pin_to_host_optimization implementation_selector auto_mixed_precision auto_mixed_precision_onednn_bfloat16
    auto_mixed_precision_mkl disable_meta_optimizer min_graph_nodes use_plugin_optimizers
"""

OPTIMIZER_OPTIONS = frozenset(_OPTIONS.split())
"""The options `set_experimental_options` keeps; others are ignored, as in TensorFlow."""


def get_optimizer_experimental_options() -> dict[str, Any]:
    """Return the options of graph optimisation that were set."""
    return dict(wishes.optimizer)


def set_optimizer_experimental_options(options: dict[str, Any]) -> None:
    """Set options of graph optimisation, by name."""
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


def enable_op_determinism() -> None:
    """Ask for the same results every run. Ebbflow's ops give them anyway."""
    wishes.deterministic = True


def experimental_list_devices() -> list[str]:
    """Return the full names of the devices ops can be placed on."""
    return [f"/job:localhost/replica:0/task:0{device.name}" for device in devices.logical()]


def is_built_with_xla() -> bool:
    """Return whether XLA can be had: whether `jax` is installed."""
    return importlib.util.find_spec("jax") is not None
