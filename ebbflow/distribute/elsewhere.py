"""Strategies that are refused: graphs say the same in other ways."""

from __future__ import annotations

from ebbflow.core import errors
from ebbflow.distribute.strategy import Strategy


class ParameterServerStrategy(Strategy):
    """TensorFlow 1's strategy of this name, for Estimators: refused, as graphs say the same by their devices."""

    def __init__(self, cluster_resolver: object = None):
        raise errors.UnimplementedError(
            None,
            None,
            "ParameterServerStrategy of TensorFlow 1: place variables with tf.compat.v1.train.replica_device_setter "
            "and train in a MonitoredTrainingSession, or use tf.distribute.ParameterServerStrategy of TensorFlow 2",
        )
