"""`tensorflow.python.client.device_lib`: the devices of this machine, as messages.

Knows `platform.config`, which knows the devices.
"""

from __future__ import annotations

from typing import Any

from ebbflow import messages
from ebbflow.platform import config


def list_local_devices(session_config: Any = None) -> list[Any]:
    """Return a DeviceAttributes message for each device ops can be placed on."""
    found = []
    for number, device in enumerate(config.list_logical_devices()):
        attributes = messages.DeviceAttributes(
            name=device.name, device_type=device.device_type, memory_limit=256 << 20, incarnation=number + 1
        )
        attributes.locality.SetInParent()
        found.append(attributes)
    return found
