"""Strategies for other hardware and other machines: what of them makes sense in one process."""

from __future__ import annotations

from typing import Any

from ebbflow.core import errors
from ebbflow.distribute.strategy import Strategy


class TPUStrategy(Strategy):
    """Replicas on the cores of TPUs: refused, as there are none."""

    def __init__(self, tpu_cluster_resolver: object = None, *args: Any, **kwargs: Any):
        raise errors.NotFoundError(
            None,
            None,
            "TPUStrategy: no TPU is driven by this process; for accelerators that XLA knows use "
            "tf.distribute.OneDeviceStrategy('/device:TPU:0') or MirroredStrategy",
        )


TPUStrategyV2 = TPUStrategy


class ParameterServerStrategy(Strategy):
    """TensorFlow 1's strategy of this name, for Estimators: refused, as graphs say the same by their devices."""

    def __init__(self, cluster_resolver: object = None):
        raise errors.UnimplementedError(
            None,
            None,
            "ParameterServerStrategy of TensorFlow 1: place variables with tf.compat.v1.train.replica_device_setter "
            "and train in a MonitoredTrainingSession, or use tf.distribute.ParameterServerStrategy of TensorFlow 2",
        )
