"""Devices that jax knows, under TensorFlow's names.

GPUs and TPUs come with whatever jax plugin is installed. Looking for them imports jax, a second's work, so it is done
only where a plugin is there at all. Several devices on one host (`XLA_FLAGS=--xla_force_host_platform_device_count=8`)
are CPUs to jax; they count as such here.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import pkgutil
import re
from collections.abc import Sequence
from typing import Any

from ebbflow.core import errors
from ebbflow.engines.xla import library
from ebbflow.platform import config

_TYPES = {"cpu": "CPU", "gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "metal": "GPU", "tpu": "TPU"}
_NAME = re.compile(r"(?:.*/)?(?:device:)?(\w+):(\d+)$", re.IGNORECASE)


def has_accelerators() -> bool:
    """Return whether a plugin is installed that may bring GPUs or TPUs, without importing jax."""
    if not library.available():
        return False
    if importlib.util.find_spec("libtpu") is not None:
        return True
    if importlib.metadata.entry_points(group="jax_plugins"):
        return True
    found = importlib.util.find_spec("jax_plugins")
    return found is not None and any(pkgutil.iter_modules(found.submodule_search_locations))


@functools.cache
def accelerators() -> tuple[Any, ...]:
    """Return jax's GPUs and TPUs."""
    if not has_accelerators():
        return ()
    return tuple(d for d in library.jax().local_devices() if device_type(d) != "CPU")


def device_types() -> Sequence[str]:
    """Return the type of each accelerator: what `platform.config` asks an engine for."""
    return [device_type(d) for d in accelerators()]


def device_type(device: Any) -> str:
    """Return TensorFlow's word for the kind of a jax device."""
    return _TYPES.get(device.platform.lower(), device.platform.upper())


def host_devices() -> list[Any]:
    """Return jax's devices on the host: one, unless XLA was told to make more of it."""
    return list(library.jax().local_devices(backend="cpu"))


def all_devices() -> list[Any]:
    """Return every jax device, the host's first."""
    return [*host_devices(), *accelerators()]


def name_of(device: Any) -> str:
    """Return the name of a jax device: /device:GPU:0."""
    same = [d for d in all_devices() if device_type(d) == device_type(device)]
    return f"/device:{device_type(device)}:{same.index(device)}"


def find(name: str, soft: bool | None = None) -> Any:
    """Return the jax device with a (full or partial) TensorFlow name; softly, the host where there is none."""
    if soft is None:
        soft = config.get_soft_device_placement()
    match = _NAME.match(name)
    if match is None:
        raise errors.InvalidArgumentError(None, None, f"not the name of a device: {name!r}")
    kind, number = match[1].upper(), int(match[2])
    of_kind = [d for d in all_devices() if device_type(d) == kind]
    if number < len(of_kind):
        return of_kind[number]
    if soft:
        return host_devices()[0]
    known = ", ".join(name_of(d) for d in all_devices())
    raise errors.InvalidArgumentError(
        None, None, f"Could not satisfy device specification '{name}'. All available devices are [{known}]."
    )
