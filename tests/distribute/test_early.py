"""`tf.contrib.distribute`: strategies by the arguments of those years."""

import pytest

import ebbflow as tf
from ebbflow.distribute.early import MirroredStrategy, get_cross_replica_context, require_replica_context


def test_numbers_of_gpus_name_devices():
    assert MirroredStrategy(num_gpus=0).extended.worker_devices == ("/device:CPU:0",)
    assert MirroredStrategy(num_gpus=2).extended.worker_devices == ("/device:GPU:0", "/device:GPU:1")
    assert MirroredStrategy(num_gpus_per_worker=1).num_replicas_in_sync == 1
    assert MirroredStrategy(["/cpu:0"]).extended.worker_devices == ("/device:CPU:0",)


@pytest.mark.parametrize("both", [{"num_gpus": 1, "num_gpus_per_worker": 1}, {"devices": ["/cpu:0"], "num_gpus": 1}])
def test_devices_are_said_once(both):
    with pytest.raises(ValueError, match="specify"):
        MirroredStrategy(**both)


def test_contexts_are_asked_for():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    assert get_cross_replica_context() is None
    with strategy.scope():
        assert get_cross_replica_context() is strategy
        with pytest.raises(RuntimeError, match="replica context"):
            require_replica_context(None if tf.distribute.get_replica_context() else object())
    require_replica_context(tf.distribute.get_replica_context())
