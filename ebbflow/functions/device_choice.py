"""Forms of a function for each kind of device, of which one is run: LSTMs on a GPU, and elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ebbflow.core import context
from ebbflow.core.device import parts_of


def execute_fn_for_device(
    device_branch_fns: Mapping[str, Callable[[], Any]], default_fn: Callable[[], Any], name: str = "execute_fn"
) -> Any:
    """Return what the function of the device that is asked for here gives, or the default one's.

    >>> execute_fn_for_device({"GPU": lambda: 1}, lambda: 2)
    2
    """
    graph = context.current_graph()
    if graph is not None:
        asked = [entry for entry in graph._stack("devices") if not callable(entry)]
        kind = asked[-1].device_type if asked and asked[-1] is not None else None
    else:
        kind = parts_of(context.thread.devices[-1].name).device_type if context.thread.devices else None
    return device_branch_fns.get(kind or "CPU", default_fn)()
