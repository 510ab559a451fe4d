"""The ways to bring values of replicas together."""

import pytest

import ebbflow as tf
from tests.distribute.replicas import of_each

pytestmark = pytest.mark.usefixtures("two_cpus")


@pytest.mark.parametrize("kind", ["ReductionToOneDevice", "HierarchicalCopyAllReduce", "NcclAllReduce"])
def test_cross_device_ops(kind):
    ops = getattr(tf.distribute, kind)()
    values = tf.distribute.DistributedValues([tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])])
    total = ops.reduce("SUM", values, ["CPU:0", "CPU:1"])
    assert [part.numpy().tolist() for part in total.values] == [[4.0, 6.0]] * 2
    assert [part.device[-5:] for part in total.values] == ["CPU:0", "CPU:1"]
    mean, other = ops.batch_reduce(tf.distribute.ReduceOp.MEAN, [(values, "CPU:0"), (tf.constant(5.0), "CPU:1")])
    assert mean.numpy().tolist() == [2.0, 3.0] and float(other) == 5.0
    rows = [tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([i]), tf.constant([3, 1])) for i in (0, 2)]
    summed = ops.reduce("SUM", tf.distribute.DistributedValues(rows), "CPU:0")
    assert summed.indices.numpy().tolist() == [0, 2]
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=ops)
    assert float(strategy.reduce("MEAN", of_each(strategy, lambda i: tf.constant(float(i))), None)) == 0.5


def test_a_way_of_ones_own_is_asked():
    class Largest(tf.distribute.CrossDeviceOps):
        def reduce_implementation(self, reduce_op, per_replica_value, destinations, options):
            assert options.timeout_seconds is None
            return self.broadcast(max(per_replica_value.values, key=float), destinations)

    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=Largest())
    assert float(strategy.reduce("SUM", of_each(strategy, lambda i: tf.constant(float(i))), None)) == 1.0


def test_what_is_refused():
    values = tf.distribute.DistributedValues([tf.constant(1.0), tf.constant(2.0)])
    with pytest.raises(NotImplementedError, match="reduce_implementation"):
        tf.distribute.CrossDeviceOps().reduce("SUM", values, "CPU:0")
    with pytest.raises(ValueError, match="num_packs >= 0, but -1"):
        tf.distribute.NcclAllReduce(-1)
    with pytest.raises(ValueError, match="pairs"):
        tf.distribute.ReductionToOneDevice().batch_reduce("SUM", [values])
    with pytest.raises(ValueError, match="cross_device_ops must be"):
        tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops="ring")
    with pytest.raises(ValueError, match="bytes_per_pack"):
        tf.distribute.experimental.CommunicationOptions(bytes_per_pack=-1)
    with pytest.raises(ValueError, match="max_shards"):
        tf.distribute.experimental.partitioners.MinSizePartitioner(max_shards=0)
