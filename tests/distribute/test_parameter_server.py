"""Variables on parameter servers: where they go, in how many parts, and what a checkpoint keeps of them."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.cluster.ports import free_ports
from ebbflow.distribute.sharded_variable import ShardedVariable

partitioners = tf.distribute.experimental.partitioners


@pytest.fixture(scope="module")
def resolver():
    ports = free_ports(4)
    spec = {"ps": [f"localhost:{p}" for p in ports[:2]], "worker": [f"localhost:{p}" for p in ports[2:]]}
    servers = [tf.distribute.Server(spec, job, i) for job in spec for i in range(2)]
    yield tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(spec), rpc_layer="grpc")
    for server in servers:
        server._stop()


def made(resolver, partitioner=None):
    return tf.distribute.ParameterServerStrategy(resolver, partitioner)


def test_variables_go_to_the_servers_in_turn(resolver):
    strategy = made(resolver)
    with strategy.scope():
        found = [tf.Variable(float(i)) for i in range(3)]
        with strategy.extended.colocate_vars_with(found[1]):
            beside = tf.Variable([1.0])
    assert [v.device for v in found] == [f"/job:ps/replica:0/task:{i}/device:CPU:0" for i in (0, 1, 0)]
    assert beside.device == found[1].device and strategy.extended.variable_created_in_scope(beside)
    assert [v.numpy() for v in found] == [0.0, 1.0, 2.0]
    assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    assert "part" not in repr(found[0]) and "/job:ps" in repr(found[0])


def test_every_way_to_change_one(resolver):
    with made(resolver).scope():
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="v")
    v.assign_add(tf.ones([3, 2]))
    v.scatter_sub(tf.IndexedSlices(tf.ones([1, 2]), [2]))
    v[0, 1].assign(9.0)
    assert v.numpy().tolist() == [[2.0, 9.0], [4.0, 5.0], [5.0, 6.0]]
    assert tf.gather(v, [2]).numpy().tolist() == [[5.0, 6.0]]
    with tf.GradientTape() as tape:
        rows = tf.reduce_sum(tf.gather(v, [1, 1]))
    assert tape.gradient(rows, v).indices.numpy().tolist() == [1, 1]
    with pytest.raises(ValueError, match="Shape mismatch"):
        v.assign([1.0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        v.scatter_add(tf.IndexedSlices(tf.ones([1, 2]), [7]))
    assert v.assign_sub(tf.zeros([3, 2])) is v and v.is_initialized()


@pytest.mark.parametrize(
    ("partitioner", "value", "parts"),
    [
        (
            partitioners.FixedShardsPartitioner(2),
            np.arange(10).reshape(5, 2),
            [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9]]],
        ),
        (partitioners.FixedShardsPartitioner(4), np.arange(3), [[0], [1], [2]]),
        (
            partitioners.MinSizePartitioner(min_shard_bytes=16, max_shards=4),
            np.arange(8),
            [[0, 1], [2, 3], [4, 5], [6, 7]],
        ),
        (partitioners.MaxSizePartitioner(max_shard_bytes=32), np.arange(8), [[0, 1, 2, 3], [4, 5, 6, 7]]),
    ],
)
def test_parts(resolver, partitioner, value, parts):
    with made(resolver, partitioner).scope():
        v = tf.Variable(value, dtype=tf.int64)
        made_by_function = tf.Variable(lambda: tf.constant(value, tf.int64), shape=value.shape, dtype=tf.int64)
    for variable in (v, made_by_function):
        assert isinstance(variable, ShardedVariable) and len(variable.variables) == len(parts)
        assert variable.variables[0]._sharded_container() is variable
        assert [part.numpy().tolist() for part in variable.variables] == parts
        tasks = [int(part.device.partition("task:")[2][0]) for part in variable.variables]
        assert tasks == [(tasks[0] + i) % 2 for i in range(len(parts))]
        assert tf.convert_to_tensor(variable).numpy().tolist() == value.tolist()


def test_small_variables_and_numbers_stay_whole(resolver):
    with made(resolver, partitioners.MinSizePartitioner(max_shards=2)).scope():
        assert not isinstance(tf.Variable(tf.zeros([10])), ShardedVariable)
        assert not isinstance(tf.Variable(1.0), ShardedVariable)


def test_an_initializer_may_make_its_part_alone(resolver):
    asked = []

    def identity(shape, dtype, partition_shape=None, partition_offset=None):
        asked.append((partition_shape, partition_offset))
        whole = tf.eye(*shape, dtype=dtype)
        return tf.slice(whole, partition_offset, partition_shape)

    with made(resolver, partitioners.FixedShardsPartitioner(2)).scope():
        v = tf.Variable(functools.partial(identity, (4, 4), tf.int64), shape=(4, 4), dtype=tf.int64)
    assert asked == [((2, 4), (0, 0)), ((2, 4), (2, 0))]
    assert v.numpy().tolist() == np.eye(4).tolist()


@pytest.mark.parametrize("answer", [None, [], [0, 1], [2, 2], [2]])
def test_partitioners_that_answer_nonsense(resolver, answer):
    with made(resolver, lambda shape, dtype: answer).scope(), pytest.raises(ValueError, match="variable_partitioner"):
        tf.Variable([[1, 2], [3, 4]])


def test_rows_of_parts(resolver):
    with made(resolver, partitioners.FixedShardsPartitioner(2)).scope():
        v = tf.Variable(np.arange(10.0).reshape(5, 2), dtype=tf.float32)
    assert tf.nn.embedding_lookup(v, [0, 3, 4]).numpy().tolist() == [[0.0, 1.0], [6.0, 7.0], [8.0, 9.0]]
    v.scatter_add(tf.IndexedSlices(tf.ones([3, 2]), [1, 2, 4]))
    assert v.numpy()[:, 0].tolist() == [0.0, 3.0, 5.0, 6.0, 9.0]
    v.assign_sub(tf.ones([5, 2]))
    assert (v + 1.0).numpy()[:, 0].tolist() == [0.0, 3.0, 5.0, 6.0, 9.0]
    assert v.gather_nd([[3, 1]]).numpy().tolist() == [6.0] and v.sparse_read([4]).numpy().tolist() == [[8.0, 9.0]]
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.nn.embedding_lookup(v, [0, 4, 4]))
    first, second = tape.gradient(total, v.variables)
    assert first.indices.numpy().tolist() == [0] and second.indices.numpy().tolist() == [1, 1]


@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("delayed", [False, True])
def test_a_checkpoint_goes_into_other_numbers_of_parts(resolver, tmp_path, parts, delayed):
    with made(resolver, partitioners.FixedShardsPartitioner(2)).scope():
        module = tf.Module()
        module.w, module.b = tf.Variable([1.0, 2.0, 3.0, 4.0]), tf.Variable(5.0)
    path = tf.train.Checkpoint(module=module).write(str(tmp_path / "saved"))
    with made(resolver, partitioners.FixedShardsPartitioner(parts)).scope():
        other = tf.Module()
        build = lambda: (setattr(other, "w", tf.Variable(tf.zeros([4]))), setattr(other, "b", tf.Variable(0.0)))
        if not delayed:
            build()
        status = tf.train.Checkpoint(module=other).read(path)
        if delayed:
            build()
        status.assert_consumed()
    assert other.w.numpy().tolist() == [1.0, 2.0, 3.0, 4.0] and other.b.numpy() == 5.0
    plain = tf.Module()
    plain.w, plain.b = tf.Variable(tf.zeros([4])), tf.Variable(0.0)
    tf.train.Checkpoint(module=plain).read(path).assert_consumed()
    assert plain.w.numpy().tolist() == [1.0, 2.0, 3.0, 4.0]


def test_variables_made_in_a_function(resolver):
    held = []

    @tf.function
    def build():
        if not held:
            held.append(tf.Variable([[1.0, 0.0], [0.0, 1.0]]))
        return held[0] + 0.0

    with made(resolver, partitioners.FixedShardsPartitioner(2)).scope():
        assert build().numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert isinstance(held[0], ShardedVariable) and held[0].variables[1].numpy().tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("cluster", "task", "says"),
    [
        ({"worker": ["a:1"], "ps": ["b:1"], "mind": ["c:1"]}, None, "Disallowed task type found in"),
        ({"worker": ["a:1"], "ps": ["b:1"]}, "foobar", "Unrecognized task_type: foobar"),
        ({"worker": ["a:1"], "ps": ["b:1"], "chief": ["c:1", "d:1"]}, None, "There must be at most one 'chief' job."),
        ({"ps": ["b:1"]}, None, "There must be at least one worker."),
        ({"worker": ["a:1"]}, None, "There must be at least one ps."),
    ],
)
def test_clusters_that_cannot_be(cluster, task, says):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(cluster), task_type=task)
    with pytest.raises(ValueError, match=says):
        tf.distribute.ParameterServerStrategy(resolver)


def test_methods_without_a_coordinator_warn(resolver, caplog):
    strategy = made(resolver)
    with strategy.scope():
        v = tf.Variable(1.0)
    assert strategy.run(lambda x: x + v, args=(tf.constant(1.0),)).numpy() == 2.0
    assert "ClusterCoordinator.schedule" in caplog.text
    caplog.clear()
    strategy.extended._allow_run_without_coordinator = True
    strategy.run(lambda: v)
    assert not caplog.text


def test_adam_on_a_variable_in_parts_is_adam_on_the_whole(resolver):
    """Each part has slots of its own, beside it; sparse gradients go to the parts that have the rows."""
    values = np.arange(12.0, dtype=np.float32).reshape(6, 2)
    results = []
    for strategy in (made(resolver, partitioners.FixedShardsPartitioner(2)), tf.distribute.get_strategy()):
        with strategy.scope():
            table = tf.Variable(values, dtype="float32", name="table")
            optimizer = tf.compat.v1.train.AdamOptimizer(0.1)
        parts = table.variables if isinstance(table, ShardedVariable) else [table]
        for rows in ([0, 5], [1, 2], [4, 4]):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.nn.embedding_lookup(table, rows) ** 2)
            gradients = tape.gradient(loss, parts)

            def update(gradients, optimizer=optimizer, parts=parts):
                optimizer.apply_gradients([(g, v) for g, v in zip(gradients, parts) if g is not None])

            strategy.run(update, (gradients,))
        results.append(tf.concat(parts, 0).numpy())
        assert [optimizer.get_slot(part, "m").device for part in parts] == [part.device for part in parts]
    assert np.abs(results[0] - values).max() > 0.05
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)
