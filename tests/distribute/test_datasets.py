"""TF 1's iterators of a strategy: divided, from functions, begun anew; and a step by the names of those years."""

import pytest

import ebbflow as tf

v1 = tf.compat.v1
STRATEGIES = {
    "default": tf.distribute.get_strategy,
    "one device": lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
    "mirrored": lambda: tf.distribute.MirroredStrategy(["/cpu:0"]),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_session_runs_steps_over_an_iterator(name):
    with tf.Graph().as_default(), v1.Session() as session:
        strategy = STRATEGIES[name]()
        with strategy.scope():
            rows = strategy.make_dataset_iterator(tf.data.Dataset.range(8).batch(4))
            last = v1.get_variable("last", initializer=0.0)
        total = strategy.reduce("SUM", strategy.experimental_run(tf.reduce_sum, rows), axis=None)
        made = strategy.make_input_fn_iterator(lambda context: tf.data.Dataset.range(6).batch(3))
        moved = strategy.experimental_run_v2(lambda x: x + 1, args=(made.get_next(),))
        written = strategy.group([v1.assign(last, 3.0)])
        session.run([v1.global_variables_initializer(), made.initialize()])
        for _ in range(2):
            session.run(rows.initializer)
            assert [session.run(total), session.run(total)] == [6, 22]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(total)
        assert [x.tolist() for x in session.run(strategy.experimental_local_results(moved))] == [[1, 2, 3]]
        session.run(written)
        assert session.run(last) == 3.0
        assert rows.element_spec == tf.TensorSpec([None], tf.int64)


def test_eager_iterators_begin_anew():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    rows = strategy.make_dataset_iterator(tf.data.Dataset.range(3))
    assert [int(rows.get_next()) for _ in range(2)] == [0, 1]
    rows.initialize()
    assert int(rows.get_next()) == 0


def test_variables_of_tf1_are_resources_inside_a_strategy():
    for name in ("one device", "mirrored"):
        with tf.Graph().as_default(), STRATEGIES[name]().scope():
            v1.get_variable("v", initializer=1.0, use_resource=False)
            assert [v.op.type for v in v1.global_variables()] == ["VarHandleOp"]


def test_only_input_for_each_worker_is_known():
    with pytest.raises(ValueError, match="replication mode not supported"):
        tf.distribute.get_strategy().make_input_fn_iterator(lambda _: None, "PER_REPLICA")


def test_names_of_the_first_years():
    options = tf.distribute.RunOptions(experimental_bucketizing_dynamic_shape=True)
    assert options.experimental_enable_dynamic_batch_size and options.experimental_bucketizing_dynamic_shape
    ring = tf.distribute.experimental.CollectiveCommunication.RING
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy(ring)
    assert isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy) and strategy.num_replicas_in_sync == 1
