"""Inner names whose value changes while a program runs: asked for anew each time, never kept by a namespace."""

from __future__ import annotations

from ebbflow.platform.eras import control_flow_v2_enabled

VALUES = {"ENABLE_CONTROL_FLOW_V2": control_flow_v2_enabled}


def __getattr__(name: str) -> object:
    if name in VALUES:
        return VALUES[name]()
    raise AttributeError(name)
