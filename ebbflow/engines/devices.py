"""The table of devices: the host's CPUs, and whatever GPUs and TPUs jax brings; which a program may use, and how split.

Every list of devices is read from here: `tf.config`'s, a session's, `device_lib`'s, the placer's. A physical device is
one of the machine; logical ones are what nodes are placed on, one per physical device unless the program splits it.
The host can be split as often as one likes: its parts share memory and differ in name, and in the thread that works for
them. The engine with the accelerators is asked only when a program looks for devices. Knows names, limits and jax's
devices; knows nothing of graphs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from ebbflow.core import errors
from ebbflow.core.device import Parts, parse, to_string
from ebbflow.engines.xla import devices as xla_devices

TASK = "/job:localhost/replica:0/task:0"
HOST_MEMORY = 256 << 20
"""What TensorFlow says of the host's memory, whatever it has."""


class PhysicalDevice(NamedTuple):
    """A device of this machine: `/physical_device:CPU:0`."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device nodes can be placed on: `/device:CPU:0`."""

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """How one logical device takes its share of a physical one."""

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


class Device(NamedTuple):
    """A device as those see it who place nodes and run them: the full name, and jax's number of it off the host."""

    name: str
    device_type: str
    memory_limit: int
    number: int | None = None
    told: int | None = None  # the incarnation that another process says it has

    @property
    def parts(self) -> Parts:
        return parse(self.name)

    @property
    def incarnation(self) -> int:
        """A number that is another one in another process, and for another device."""
        return _incarnation(self.name) if self.told is None else self.told

    def engine_device(self) -> Any:
        """Return jax's device; None is the host."""
        return None if self.number is None else xla_devices.numbered(self.device_type, self.number)


@cache
def _incarnation(name: str) -> int:
    return random.SystemRandom().getrandbits(62) + 1


def local(device_type: str, index: int, number: int | None = None, memory: int | None = None) -> Device:
    """Return the device of this process with a type and an index."""
    name = f"{TASK}/device:{device_type}:{index}"
    return Device(name, device_type, HOST_MEMORY if memory is None else memory, number)


class Devices:
    """The devices of this machine, and what the program has said about them."""

    def __init__(self, others: Callable[[], Sequence[str]] = xla_devices.device_types) -> None:
        self._others = others
        self._physical: list[PhysicalDevice] | None = None
        self.visible: list[PhysicalDevice] | None = None
        self.split: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}
        self.growing: dict[PhysicalDevice, bool] = {}
        self._logical: list[Device] | None = None

    def physical(self) -> list[PhysicalDevice]:
        """Return every device, asking the engine the first time."""
        if self._physical is None:
            types = ["CPU", *self._others()]
            numbers = [types[:place].count(kind) for place, kind in enumerate(types)]
            self._physical = [
                PhysicalDevice(f"/physical_device:{kind}:{number}", kind)
                for kind, number in zip(types, numbers, strict=True)
            ]
        return self._physical

    def logical(self) -> list[Device]:
        """Return the devices nodes can be placed on; from then on they stay as they are."""
        if self._logical is None:
            found: list[Device] = []
            for device in self.physical() if self.visible is None else self.visible:
                for part in self.split.get(device) or (LogicalDeviceConfiguration(),):
                    found.append(self._next(found, device, part.memory_limit))
            self._logical = found
        return self._logical

    def _next(self, found: Sequence[Device], device: PhysicalDevice, limit: int | None) -> Device:
        kind = device.device_type
        index = sum(d.device_type == kind for d in found)
        number = None if kind == "CPU" else int(device.name.rpartition(":")[2])
        return local(kind, index, number, None if limit is None else limit << 20)

    def counted(self, counts: Any) -> list[Device]:
        """Return the devices of a session that says how many of each type it wants: `ConfigProto.device_count`."""
        found: list[Device] = []
        wanted = counts.get("CPU", 1)
        if wanted < 1:
            raise errors.NotFoundError(None, None, "No CPU devices are available in this process")
        found += [local("CPU", i) for i in range(wanted)]
        for device in self.physical() if self.visible is None else self.visible:
            kind = device.device_type
            there = sum(d.device_type == kind for d in found)
            if kind != "CPU" and (kind not in counts or there < counts[kind]):
                found.append(self._next(found, device, None))
        return found

    def change(self, what: str) -> None:
        """Refuse a change that comes after the program has been told its devices."""
        if self._logical is not None:
            raise RuntimeError(f"{what} cannot be modified after being initialized")

    def forget(self) -> None:
        """Forget what the program was told and has said, so that devices can be configured anew."""
        self.visible, self._logical = None, None
        self.split.clear()
        self.growing.clear()


table = Devices()


def reset() -> None:
    """Let the program configure its devices anew."""
    table.forget()


def of_session(config: Any) -> list[Device]:
    """Return the devices of a session: those of the process, or as its ConfigProto counts them."""
    return table.logical() if config is None else table.counted(config.device_count)


def several() -> bool:
    """Return whether there is any choice of where to run a node."""
    return len(table.logical()) > 1


def _of_type(found: Sequence[Any], device_type: str | None) -> list[Any]:
    return [device for device in found if device_type in (None, device.device_type)]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices of this machine, all or of one type.

    >>> list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return _of_type(table.physical(), device_type)


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Return the devices nodes can be placed on, all or of one type.

    >>> list_logical_devices("CPU")[0].name
    '/device:CPU:0'
    """
    return [LogicalDevice(_short(d), d.device_type) for d in _of_type(table.logical(), device_type)]


def _short(device: Device) -> str:
    return to_string(Parts(device_type=device.parts.device_type, device_index=device.parts.device_index))


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices the program may use."""
    return _of_type(table.physical() if table.visible is None else table.visible, device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Restrict the program to some devices (of one type, where a type is given)."""
    chosen = list(devices) if isinstance(devices, (list, tuple)) and not hasattr(devices, "_fields") else [devices]
    for device in chosen:
        _known(device)
        if device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r}")
    others = [] if device_type is None else [d for d in get_visible_devices() if d.device_type != device_type]
    wanted = [device for device in table.physical() if device in others or device in chosen]
    if wanted != get_visible_devices():
        table.change("Visible devices")
    table.visible = wanted


def get_logical_device_configuration(device: PhysicalDevice) -> list[LogicalDeviceConfiguration] | None:
    """Return how a device is split into logical ones, or None if it is not."""
    return table.split.get(_known(device))


_NOT_ON_CPU = {
    "memory_limit": "memory limit on CPU virtual devices",
    "experimental_priority": "experimental_priority on CPU virtual  devices",
    "experimental_device_ordinal": "experimental_device_ordinal on CPU virtual  devices",
}


def set_logical_device_configuration(device: PhysicalDevice, logical_devices: Sequence[Any]) -> None:
    """Split a device into several logical ones."""
    parts = list(logical_devices)
    if _known(device).device_type == "CPU":
        for part in parts:
            for field, what in _NOT_ON_CPU.items():
                if getattr(part, field) is not None:
                    raise ValueError(f"Setting {what} is currently not supported")
    if table.split.get(device) != parts:
        table.change("Virtual devices")
    table.split[device] = parts


def _known(device: Any) -> PhysicalDevice:
    if device not in table.physical():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Return whether a GPU takes its memory as needed."""
    if _known(device).device_type == "CPU":
        raise KeyError(device)
    return table.growing.get(device, False)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Have a GPU take its memory as needed instead of all at once."""
    if table.split.get(_known(device)):
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    if device.device_type == "CPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    table.growing[device] = enable


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """Return what more is known about a device: for a GPU its name, where jax tells it."""
    if _known(device).device_type == "CPU":
        return {}
    found = xla_devices.numbered(device.device_type, int(device.name.rpartition(":")[2]))
    return {"device_name": found.device_kind}


def get_memory_info(device: str) -> dict[str, int]:
    """Return the memory in use on a device, now and at most; the host's is not counted."""
    statistics = getattr(_named(device).engine_device(), "memory_stats", lambda: None)() or {}
    return {"current": statistics.get("bytes_in_use", 0), "peak": statistics.get("peak_bytes_in_use", 0)}


def _named(device: str) -> Device:
    kind, _, number = device.upper().rpartition("DEVICE:")[2].lstrip("/").partition(":")
    for found in table.logical():
        if found.name.endswith(f":{kind}:{number or 0}"):
            return found
    raise ValueError(f"No matching devices found for '{device}'")


def get_memory_usage(device: str) -> int:
    """Return the memory in use on a device."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Start counting the most memory in use from now."""
    _named(device)


def gpu_device_name() -> str:
    """Return the name of the first GPU, or nothing."""
    names = [device.name for device in list_logical_devices("GPU")]
    return names[0] if names else ""


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: object = None) -> bool:
    """Return whether there is a GPU."""
    return bool(list_physical_devices("GPU"))


def is_built_with_cuda() -> bool:
    """Return whether Ebbflow was built for CUDA: it was not built, so only whether it found such a device."""
    return bool(list_physical_devices("GPU"))


is_built_with_gpu_support = is_built_with_cuda


def is_built_with_rocm() -> bool:
    """Return False: Ebbflow is not compiled for any accelerator."""
    return False


def num_gpus() -> int:
    """Return how many GPUs there are."""
    return len(list_logical_devices("GPU"))


def list_devices() -> list[str]:
    """Return the full names of the devices nodes can be placed on."""
    return [device.name for device in table.logical()]


experimental_list_devices = list_devices
