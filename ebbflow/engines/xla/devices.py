"""Devices that jax knows, under TensorFlow's types.

GPUs and TPUs come with whatever jax plugin is installed. Looking for them imports jax, a second's work, so it is done
only where a plugin is there at all. Where XLA is told to make several devices of one host
(`XLA_FLAGS=--xla_force_host_platform_device_count=8`) these are devices of type XLA_CPU, as TensorFlow calls XLA's view
of the host; how many is read from the flag. The table in `engines.devices` gives them their names.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import pkgutil
import re
from collections.abc import Sequence
from typing import Any

from ebbflow.engines import enabled
from ebbflow.engines.xla import library

HOST = "XLA_CPU"
"""The type of a device that XLA makes of the host."""

_TYPES = {"cpu": HOST, "gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "metal": "GPU", "tpu": "TPU"}
_FORCED = re.compile(r"--xla_force_host_platform_device_count=(\d+)")


def has_accelerators() -> bool:
    """Return whether a plugin is installed that may bring GPUs or TPUs, without importing jax."""
    if not library.available() or not enabled.allowed("xla"):
        return False
    if importlib.util.find_spec("libtpu") is not None:
        return True
    from importlib import metadata  # 28 ms: paid by those who have jax and ask for devices

    if metadata.entry_points(group="jax_plugins"):
        return True
    found = importlib.util.find_spec("jax_plugins")
    return found is not None and any(pkgutil.iter_modules(found.submodule_search_locations))


@functools.cache
def accelerators() -> tuple[Any, ...]:
    """Return jax's GPUs and TPUs."""
    if not has_accelerators():
        return ()
    return tuple(d for d in library.jax().local_devices() if device_type(d) != HOST)


def forced_hosts() -> int:
    """Return how many devices XLA was told to make of the host; 0 where it was not told."""
    found = _FORCED.search(os.environ.get("XLA_FLAGS", ""))
    return int(found[1]) if found and library.available() and enabled.allowed("xla") else 0


def device_types() -> Sequence[str]:
    """Return the type of each device that is not plainly the host."""
    return [*[device_type(d) for d in accelerators()], *[HOST] * forced_hosts()]


def device_type(device: Any) -> str:
    """Return TensorFlow's word for the kind of a jax device."""
    return _TYPES.get(device.platform.lower(), device.platform.upper())


def host_devices() -> list[Any]:
    """Return jax's devices on the host: one, unless XLA was told to make more of it."""
    return list(library.jax().local_devices(backend="cpu"))


def numbered(kind: str, number: int) -> Any:
    """Return jax's device of a type, by its number among those."""
    return (host_devices() if kind == HOST else [d for d in accelerators() if device_type(d) == kind])[number]
