"""Strategies for other hardware and other machines: what of them makes sense in one process."""

from __future__ import annotations

from typing import Any

from ebbflow.core import errors
from ebbflow.distribute.strategy import Strategy


class TPUStrategy(Strategy):
    """Replicas on the cores of TPUs: refused, as there are none."""

    def __init__(self, tpu_cluster_resolver: Any = None, *args: Any, **kwargs: Any):
        raise errors.NotFoundError(
            None,
            None,
            "TPUStrategy: no TPU is driven by this process; for accelerators that XLA knows use "
            "tf.distribute.OneDeviceStrategy('/device:TPU:0') or MirroredStrategy",
        )


TPUStrategyV2 = TPUStrategy


def _elsewhere(name: str, why: str) -> type[Strategy]:
    """Return a strategy that is there to be asked after, and says what to use instead when it is made."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise errors.UnimplementedError(None, None, f"{name}: {why}; use tf.distribute.MirroredStrategy")

    return type(name, (Strategy,), {"__init__": refuse, "__doc__": f"Refused: {why}."})


ParameterServerStrategy = _elsewhere("ParameterServerStrategy", "variables on other machines are not served")


class RemoteValue:
    """What a function on another machine will have given; there are none, as there are no other machines."""


class ClusterCoordinator:
    """Gives work to other machines: refused, as none are served."""

    def __init__(self, strategy: Strategy):
        raise errors.UnimplementedError(
            None, None, f"ClusterCoordinator: {strategy!r} has no other machines to give work to; call the function"
        )
