"""Programs for TPUs on what there is: resolvers, the system's layout, replicas, and what is refused."""

import numpy as np
import pytest

import ebbflow as tf

LOCAL = "local"


@pytest.fixture
def resolver():
    return tf.distribute.cluster_resolver.TPUClusterResolver(LOCAL)


def test_a_program_for_a_tpu_trains_on_the_devices_there_are(resolver):
    tf.config.experimental_connect_to_cluster(resolver)
    layout = tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    assert strategy.num_replicas_in_sync == layout.num_tpus_per_task == len(tf.config.list_logical_devices("CPU"))
    with strategy.scope():
        v = tf.Variable(1.0)

    @tf.function
    def step(x):
        v.assign_sub(0.5 * tf.reduce_mean(x))
        return v * 2.0

    rows = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices([1.0, 1.0]).batch(2))
    for batch in rows:
        assert float(strategy.reduce("MEAN", strategy.run(step, (batch,)), axis=None)) == 1.0
    tf.tpu.experimental.shutdown_tpu_system(resolver)


def test_names_of_each_year(resolver):
    assert isinstance(
        tf.distribute.experimental.TPUStrategy(resolver, device_assignment=None), tf.distribute.TPUStrategy
    )
    old = tf.compat.v1.distribute.experimental.TPUStrategy(resolver, steps_per_run=10)
    assert old.steps_per_run == 10 and old.cluster_resolver is resolver


def test_without_a_name_programs_take_another_strategy(monkeypatch, resolver):
    monkeypatch.delenv("TPU_NAME", raising=False)
    for call in (tf.distribute.TPUStrategy, tf.tpu.experimental.initialize_tpu_system):
        with pytest.raises(ValueError, match="TPU Name"):
            call()
    far = tf.distribute.cluster_resolver.TPUClusterResolver("grpc://10.0.0.1:8470")
    for call in (tf.distribute.TPUStrategy, tf.tpu.experimental.initialize_tpu_system):
        with pytest.raises(tf.errors.NotFoundError, match=r"TPUs at grpc://10\.0\.0\.1:8470"):
            call(far)


def test_a_layout_goes_into_a_message_and_back():
    places = [[[0, 0, 0, 0], [0, 1, 0, 0]], [[1, 0, 0, 0], [1, 1, 0, 0]]]
    layout = tf.tpu.experimental.Topology(mesh_shape=[2, 3, 1, 1], device_coordinates=places)
    again = tf.tpu.experimental.Topology(serialized=layout.serialized())
    np.testing.assert_array_equal(again.device_coordinates, places)
    assert (again.num_tasks, again.num_tpus_per_task, again.mesh_rank) == (2, 2, 4)
    assert again.missing_devices.tolist() == [[0, 2, 0, 0], [1, 2, 0, 0]]
    assert again.tpu_device_name_at_coordinates([1, 1, 0, 0], job="worker") == "/job:worker/task:1/device:TPU:1"
    assert again.cpu_device_name_at_coordinates([1, 1, 0, 0]) == "/task:1/device:CPU:0"
    for shape, at in (([1, 1], places), ([2, 2, 1, 1], [0, 1])):
        with pytest.raises(ValueError, match=r"mesh_shape|device_coordinates"):
            tf.tpu.experimental.Topology(mesh_shape=shape, device_coordinates=at)


def test_a_replica_has_one_logical_device(resolver):
    strategy = tf.distribute.TPUStrategy(resolver)
    x = tf.ones([2, 2])
    assert strategy.experimental_replicate_to_logical_devices(x) is x
    assert strategy.experimental_split_to_logical_devices(x, [1, 1]) is x
    assert strategy.experimental_assign_to_logical_device(x, 0) is x
    for call in (
        lambda: strategy.experimental_split_to_logical_devices(x, [1]),
        lambda: strategy.experimental_split_to_logical_devices(x, [2, 1]),
        lambda: strategy.experimental_assign_to_logical_device(x, 1),
    ):
        with pytest.raises(ValueError, match=r"partition_dimensions|logical"):
            call()
