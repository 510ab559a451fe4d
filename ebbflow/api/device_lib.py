"""`tensorflow.python.client.device_lib`: the devices of this machine, as messages.

Knows the table of devices; a ConfigProto may count them otherwise than `tf.config` does.
"""

from __future__ import annotations

from typing import Any

from ebbflow import messages
from ebbflow.engines import devices


def list_local_devices(session_config: Any = None) -> list[Any]:
    """Return a DeviceAttributes message for each device nodes can be placed on."""
    config = messages.ConfigProto() if session_config is None else session_config
    found = []
    for device in devices.of_session(config):
        attributes = messages.DeviceAttributes(
            name=device.name.removeprefix(devices.TASK),
            device_type=device.device_type,
            memory_limit=device.memory_limit,
            incarnation=device.incarnation,
            xla_global_id=-1 if device.number is None else device.number,
        )
        attributes.locality.SetInParent()
        found.append(attributes)
    return found
