"""`tf.distribute.experimental.CentralStorageStrategy`: replicas on several devices that share their variables.

Differs from mirrored replicas only in how variables are kept and updated: what replicas assign is brought together, and
the one copy is written once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.core.device import canonical_name
from ebbflow.distribute import current
from ebbflow.distribute.current import Place
from ebbflow.distribute.distributed_variable import MirroredVariable
from ebbflow.distribute.mirrored import MirroredExtended, device_names
from ebbflow.distribute.strategy import Strategy
from ebbflow.distribute.values import value_of_replica
from ebbflow.engines import devices as engine_devices
from ebbflow.graph.scopes import device_scope
from ebbflow.state.base import VariableAggregation


class CentralStorageStrategy(Strategy):
    """A replica on each of some devices, with variables on one device (the only GPU, or the CPU).

    >>> strategy = CentralStorageStrategy(["/cpu:0"])
    >>> strategy.num_replicas_in_sync, strategy.extended.parameter_devices
    (1, ('/device:CPU:0',))
    """

    def __init__(self, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None):
        names = device_names(compute_devices)
        gpus = engine_devices.list_logical_devices("GPU")
        place = parameter_device or (names[0] if len(gpus) == 1 and len(names) == 1 else "/device:CPU:0")
        super().__init__(CentralStorageExtended(self, names, canonical_name(place)))


class SharedVariable(MirroredVariable):
    """One variable that all replicas read, and that takes what they assign together."""

    @property
    def values(self) -> tuple[Any, ...]:
        """The variable, once for each replica."""
        return self._values * self._distribute_strategy.num_replicas_in_sync

    def _get(self) -> Any:
        return self._values[0]

    def __repr__(self) -> str:
        return repr(self._values[0])


class CentralStorageExtended(MirroredExtended):
    """How replicas that share their variables do what is asked of a strategy."""

    def __init__(self, strategy: Any, devices: tuple[str, ...], parameter_device: str):
        super().__init__(strategy, devices)
        self._parameter_device = parameter_device

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return (self._parameter_device,)

    def non_slot_devices(self, var_list: Any) -> Any:
        """Return where variables go that belong to no other variable."""
        return self._parameter_device

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        kwargs.pop("synchronization", None)
        aggregation = kwargs.pop("aggregation", None) or VariableAggregation.NONE
        with device_scope(self._parameter_device):
            variable = next_creator(**kwargs)
        return variable if len(self._devices) == 1 else SharedVariable(self._strategy, [variable], aggregation)

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        own_args, own_kwargs = nest.map_structure(lambda leaf: value_of_replica(leaf, 0), (tuple(args), kwargs))
        shared = var._values[0] if isinstance(var, SharedVariable) else var
        placed = device_scope(self._parameter_device) if shared is not var else contextlib.nullcontext()
        with current.entered(Place(self._strategy, None, 0)), placed:
            result = fn(shared, *own_args, **own_kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    def _update_in_replica(
        self, replica: Any, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool
    ) -> Any:
        def together(strategy: Any, *args: Any, **kwargs: Any) -> Any:
            return self._update(var, fn, args, kwargs, group)

        return replica.merge_call(together, args=args, kwargs=kwargs)
