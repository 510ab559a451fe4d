"""How ops run in this process, as an object: what `tensorflow.python.eager.context.context()` answers with.

Programs that reach behind the public interface ask it for devices and modes. Knows the table of devices and the context
of `core/`.
"""

from __future__ import annotations

from typing import Any

from ebbflow import messages
from ebbflow.core import context
from ebbflow.core.device import DeviceSpecV2
from ebbflow.core.scopes import eager_scopes
from ebbflow.engines import devices
from ebbflow.platform import config, eras


class Context:
    """How ops run in this process."""

    execution_mode = eras.SYNC
    device_policy = eras.DEVICE_PLACEMENT_SILENT
    list_logical_devices = staticmethod(devices.list_logical_devices)
    list_physical_devices = staticmethod(devices.list_physical_devices)
    get_logical_device_configuration = staticmethod(devices.get_logical_device_configuration)
    set_logical_device_configuration = staticmethod(devices.set_logical_device_configuration)

    soft_device_placement = property(
        lambda self: config.get_soft_device_placement(), lambda self, on: config.set_soft_device_placement(on)
    )
    log_device_placement = property(
        lambda self: config.get_log_device_placement(), lambda self, on: config.set_log_device_placement(on)
    )
    intra_op_parallelism_threads = property(lambda self: config.get_intra_op_parallelism_threads())
    inter_op_parallelism_threads = property(lambda self: config.get_inter_op_parallelism_threads())
    config = property(lambda self: get_config())

    def executing_eagerly(self) -> bool:
        """Return whether an op called here runs at once."""
        return context.executing_eagerly()

    @property
    def device_spec(self) -> DeviceSpecV2:
        """The device that is asked for here; nothing is said of it where none is."""
        return DeviceSpecV2.from_string(get_device_name())

    @property
    def device_name(self) -> str:
        """The full name of the device that ops run on here."""
        return devices.list_devices()[0]

    @property
    def scope_name(self) -> str:
        """The prefix of names given here, with a slash at its end."""
        return eager_scopes.current

    def num_gpus(self) -> int:
        """Return how many GPUs there are."""
        return devices.num_gpus()

    def devices(self) -> list[str]:
        """Return the full names of the devices."""
        return devices.list_devices()

    def ensure_initialized(self) -> None:
        """Make ready: there is nothing to."""

    def get_optimizer_experimental_options(self) -> dict[str, Any]:
        """Return the options of the graph optimizer that were set."""
        return config.get_optimizer_experimental_options()

    def set_optimizer_experimental_options(self, options: dict[str, Any]) -> None:
        """Set options of the graph optimizer."""
        config.set_optimizer_experimental_options(options)

    def clear_kernel_cache(self) -> None:
        """Forget which kernel serves which op: there is nothing to forget."""


_CONTEXT = Context()


def _reset_jit_compiler_flags() -> None:
    """Forget whether whole graphs are to be compiled."""
    config.set_jit(False)


def _reset_context() -> None:
    """Forget which devices there are, so that they can be configured anew."""
    devices.reset()


def the_context() -> Context:
    """Return how ops run in this process."""
    return _CONTEXT


def get_config() -> Any:
    """Return the ConfigProto that stands for how this process was configured."""
    return messages.ConfigProto(allow_soft_placement=config.get_soft_device_placement())


def get_device_name() -> str:
    """Return the device that is asked for here, or nothing."""
    held = context.thread.devices
    return held[-1].name if held and held[-1].device is not None else ""


def list_pluggable_devices() -> list[bytes]:
    """Return the devices that plugins of TensorFlow's own kind drive: none, jax's plugins drive ours."""
    return []
