"""The default strategy: one replica, and a program that is none the wiser."""

import pytest

import ebbflow as tf


def test_no_strategy_is_the_default_one():
    strategy = tf.distribute.get_strategy()
    assert not tf.distribute.has_strategy() and not tf.distribute.in_cross_replica_context()
    assert strategy.num_replicas_in_sync == 1
    assert tf.distribute.get_replica_context().replica_id_in_sync_group == 0
    assert tf.distribute.get_replica_context().strategy is strategy


def test_in_a_scope_all_replicas_speak():
    strategy = tf.distribute.get_strategy()
    with strategy.scope():
        assert tf.distribute.in_cross_replica_context() and tf.distribute.get_replica_context() is None
        seen = strategy.run(lambda: tf.distribute.get_replica_context())
        assert seen is not None and seen.strategy is strategy
    assert not tf.distribute.in_cross_replica_context()


@pytest.mark.parametrize("op, axis, expected", [("SUM", None, [1.0, 3.0]), ("sum", 0, 4.0), ("MEAN", 0, 2.0)])
def test_reduce(op, axis, expected):
    assert tf.distribute.get_strategy().reduce(op, tf.constant([1.0, 3.0]), axis).numpy().tolist() == expected


def test_reduce_refuses_what_is_no_reduction():
    with pytest.raises(ValueError, match="not a valid ReduceOp"):
        tf.distribute.get_strategy().reduce("PROD", 1.0, None)


def test_a_step_in_a_function():
    strategy = tf.distribute.get_strategy()
    v = tf.Variable(1.0)

    @tf.function
    def step(x):
        def replica(x):
            context = tf.distribute.get_replica_context()
            total = context.all_reduce(tf.distribute.ReduceOp.SUM, {"x": x})
            context.merge_call(
                lambda strategy, d: strategy.extended.update(v, lambda v, d: v.assign_add(d), (d,)), (x,)
            )
            return total["x"]

        return strategy.run(replica, (x,))

    assert float(step(tf.constant(2.0))) == 2.0
    assert float(v) == 3.0


def test_an_update_in_a_graph_is_placed_with_the_variable():
    with tf.Graph().as_default():
        v = tf.compat.v1.get_variable("v", [], use_resource=True)
        made = tf.distribute.get_strategy().extended.update(v, lambda v: tf.constant(2.0) * 3.0)
        assert made.op.colocation_groups() == [b"loc:@v"]


def test_a_chosen_strategy_holds_until_it_is_taken_back():
    one = tf.distribute.OneDeviceStrategy("/cpu:0")
    tf.distribute.experimental_set_strategy(one)
    try:
        assert tf.distribute.get_strategy() is one and tf.distribute.has_strategy()
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()


def test_one_device():
    one = tf.distribute.OneDeviceStrategy("/cpu:0")
    with one.scope():
        v = tf.Variable(2.0)
        assert tf.distribute.get_strategy() is one
    assert float(one.run(lambda x: x * v, (3.0,))) == 6.0
    assert one.experimental_local_results(v)[0] is v
    dataset = one.experimental_distribute_dataset(tf.data.Dataset.range(3))
    assert [int(x) for x in dataset] == [0, 1, 2]


def test_values_made_for_each_replica():
    value = tf.distribute.get_strategy().experimental_distribute_values_from_function(
        lambda context: (context.replica_id_in_sync_group, context.num_replicas_in_sync)
    )
    assert value == (0, 1)


def test_input_context():
    context = tf.distribute.InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4)
    assert context.get_per_replica_batch_size(8) == 2
    with pytest.raises(ValueError, match="not divisible"):
        context.get_per_replica_batch_size(6)


def test_layouts_on_a_mesh():
    dtensor = tf.experimental.dtensor
    mesh = dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    layout = dtensor.Layout(["x", dtensor.UNSHARDED], mesh)
    assert layout.rank == 2 and layout.is_fully_replicated() and mesh.dim_size("x") == 1
    with pytest.raises(ValueError, match="Invalid sharding spec"):
        dtensor.Layout(["y"], mesh)
