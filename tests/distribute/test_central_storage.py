"""Replicas that share their variables."""

import pytest

import ebbflow as tf
from ebbflow.engines import devices


@pytest.fixture(autouse=True)
def two_cpus():
    devices.reset()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    yield
    devices.reset()


@pytest.fixture
def strategy():
    return tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"], "CPU:0")


def of_each(strategy, function):
    return strategy.experimental_distribute_values_from_function(
        lambda context: function(context.replica_id_in_sync_group)
    )


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
@pytest.mark.parametrize("aggregation, expected", [("SUM", 4.0), ("MEAN", 2.5), ("ONLY_FIRST_REPLICA", 2.0)])
def test_there_is_one_copy_that_all_write_together(strategy, wrap, aggregation, expected):
    with strategy.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation[aggregation])
    deltas = of_each(strategy, lambda i: tf.constant(i + 1.0))
    wrap(lambda d: strategy.run(lambda x: v.assign_add(x).read_value(), (d,)))(deltas)
    assert float(v) == expected
    assert len({id(copy) for copy in v.values}) == 1 and len(v.values) == 2
