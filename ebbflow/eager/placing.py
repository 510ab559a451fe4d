"""`tf.device` around ops that run at once: where their results say they are.

The host's logical devices share its memory, so an op's result is on the device it was asked for as soon as it is told
so. A `Placing` listens to what is called in its block, as a tape does, and writes the device on the results; for the
first device, which tensors are on anyway, nothing listens and nothing is paid. Values of eager tensors stay on the
host: accelerators work for graphs and functions, and a function called in the block runs on the device it names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, errors
from ebbflow.core.device import Parts, matches, merge, parts_of, to_string
from ebbflow.core.recorder import Recorder
from ebbflow.core.tensor import EagerTensor
from ebbflow.engines import devices
from ebbflow.platform import config

_THIS_TASK = Parts("localhost", 0, 0, "CPU", 0)

places: list[Callable[[Parts], Any]] = []
"""Who knows the tasks of a cluster that a name may mean, and gives what runs ops and makes variables there."""


class Placing(Recorder):
    """`with` this, results are on the device that `name` means; None asks for nothing, whatever was asked outside."""

    def __init__(self, name: Any):
        outer = context.thread.devices[-1].asked if context.thread.devices and name is not None else Parts()
        self.asked = merge(outer, parts_of(name))
        full = to_string(merge(_THIS_TASK, self.asked))
        there = devices.table.logical()
        self.task: Any = places[0](self.asked) if places else None
        self.device: devices.Device | None = None
        self._refusal: str | None = None
        self._listens = True
        if self.task is not None:
            self.device, self.name = devices.Device(self.task.device, "CPU", 0), self.task.device
            return
        if not any(matches(self.asked._replace(device_type=None, device_index=None), d.name) for d in there):
            raise errors.InvalidArgumentError(None, None, f"{full} unknown device.")
        fit = [d for d in there if matches(self.asked, d.name)]
        self.device = fit[0] if fit and self.asked != Parts() else None
        self.name = self.device.name if self.device is not None and self.device.number is None else there[0].name
        self._refusal = None if fit or config.get_soft_device_placement() else _refusal(full, there)
        usual = there[0] if all(d.number is None for d in there) else None
        self._listens = self._refusal is not None or self.device not in (None, usual)

    def __enter__(self) -> None:
        context.thread.devices.append(self)
        if self._listens:
            self._listen(first=True)
        if self.task is not None:
            context.count_scopes(1)  # no op takes a quick path

    def __exit__(self, *exc: Any) -> None:
        if context.thread.devices[-1] is not self:
            raise RuntimeError("Exiting device scope without proper scope nesting.")
        context.thread.devices.pop()
        if self._listens:
            self._leave()
        if self.task is not None:
            context.count_scopes(-1)

    def record(self, op: Any, inputs: Any, outputs: Any, attrs: Any) -> None:
        """Note where the results of a call are, unless an inner block has the say."""
        if context.thread.devices[-1] is not self:
            return
        for tensor in outputs:
            if tensor.__class__ is EagerTensor:
                if self._refusal is not None:
                    raise errors.InvalidArgumentError(None, None, f"{self._refusal} [Op:{op.name}] name: ")
                tensor._device = self.name


def default_device() -> devices.Device | None:
    """Return the device that the innermost block names, where it is not the one that would be used anyway."""
    return context.thread.devices[-1].device if context.recorders and context.thread.devices else None


def _refusal(full: str, there: Sequence[devices.Device]) -> str:
    kinds = ", ".join(dict.fromkeys(d.device_type for d in there))
    known = ", ".join(d.name for d in there)
    return (
        f"Could not satisfy device specification '{full}'. enable_soft_placement=0. Supported device types [{kinds}]. "
        f"All available devices [{known}]."
    )


# --- saying where ops run ---------------------------------------------------------------------------------------------


class _Telling(Recorder):
    """Writes on standard error where each op of this thread has run."""

    def record(self, op: Any, inputs: Any, outputs: Any, attrs: Any) -> None:
        if any(tensor.__class__ is EagerTensor for tensor in outputs):
            print(f"Executing op {op.name} in device {outputs[0].device}", file=sys.stderr)


_telling = _Telling()


def tell_placements(enabled: bool) -> None:
    """Say where each op that this thread calls runs, or stop: what `tf.debugging.set_log_device_placement` asks for."""
    listening = _telling in context.thread.recorders
    if enabled and not listening:
        _telling._listen(first=True)
    elif listening and not enabled:
        _telling._leave()


config.on_log_placement.append(tell_placements)
tell_placements(config.get_log_device_placement())  # it may have been asked for before this was loaded
