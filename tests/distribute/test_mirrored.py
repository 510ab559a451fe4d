"""Several replicas in one process: two logical CPUs."""

import contextlib

import numpy as np
import pytest

import ebbflow as tf
from tests.distribute.replicas import of_each

v1 = tf.compat.v1


@pytest.fixture
def strategy(two_cpus):
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


@pytest.fixture
def four_cpus(two_cpus):
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_each_replica_runs_with_its_own_values(strategy, wrap):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    assert isinstance(v, tf.Variable) and isinstance(v, tf.distribute.DistributedValues)

    def replica(x):
        return x * v + float(tf.distribute.get_replica_context().replica_id_in_sync_group)

    values = of_each(strategy, lambda i: tf.constant([i + 1.0]))
    result = wrap(lambda x: strategy.run(replica, (x,)))(values)
    assert [r.numpy().tolist() for r in strategy.experimental_local_results(result)] == [[1.0, 2.0], [3.0, 5.0]]
    assert strategy.reduce("SUM", result, None).numpy().tolist() == [4.0, 7.0]
    assert strategy.reduce("MEAN", result, 0).numpy().tolist() == 2.75
    assert strategy.gather(result, 0).numpy().tolist() == [1.0, 2.0, 3.0, 5.0]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
@pytest.mark.parametrize("aggregation, expected", [("SUM", 4.0), ("MEAN", 2.5), ("ONLY_FIRST_REPLICA", 2.0)])
def test_what_replicas_assign_is_brought_together(strategy, wrap, aggregation, expected):
    with strategy.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation[aggregation])
    deltas = of_each(strategy, lambda i: tf.constant(i + 1.0))
    wrap(lambda d: strategy.run(lambda x: v.assign_add(x).read_value(), (d,)))(deltas)
    assert [float(copy) for copy in v.values] == [expected, expected]


def test_without_aggregation_each_replica_has_its_own(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
        v.assign(3.0)
    assert [float(copy) for copy in v.values] == [3.0, 3.0]
    strategy.run(lambda x: v.assign(x), (of_each(strategy, lambda i: tf.constant(float(i))),))
    assert [float(copy) for copy in v.values] == [0.0, 1.0]


def test_variables_that_are_brought_together_when_read(strategy):
    with strategy.scope():
        total = tf.Variable(
            0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM
        )
    strategy.run(lambda x: total.assign_add(x), (of_each(strategy, lambda i: tf.constant(i + 1.0)),))
    assert float(total) == 3.0 and not total.trainable
    total.assign(5.0)
    assert float(total) == 5.0


def test_all_reduce_and_updates(strategy):
    with strategy.scope():
        v = tf.Variable([0.0])

    def replica(x):
        context = tf.distribute.get_replica_context()
        total = context.all_reduce("SUM", [x])[0]
        context.merge_call(
            lambda strategy, d: strategy.extended.update(v, lambda v, d: v.assign_add(d), args=[d]), args=[total]
        )
        return total

    strategy.run(tf.function(replica), (of_each(strategy, lambda i: tf.constant([i + 1.0])),))
    assert [copy.numpy().tolist() for copy in v.values] == [[3.0], [3.0]]


def test_an_error_in_one_replica_ends_all(strategy):
    def replica():
        if tf.distribute.get_replica_context().replica_id_in_sync_group:
            raise KeyError("second")
        tf.distribute.get_replica_context().merge_call(lambda strategy: None)

    with pytest.raises(KeyError, match="second"):
        strategy.run(replica)
    assert tf.distribute.get_replica_context().strategy is tf.distribute.get_strategy()


def test_replicas_meet_only_where_they_are(strategy):
    inner = tf.function(lambda: tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0)))
    with pytest.raises(RuntimeError, match="nested"):
        strategy.run(lambda: inner())


def test_batches_are_divided(strategy):
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(7).batch(4))
    parts = [[part.numpy().tolist() for part in element.values] for element in dataset]
    assert parts == [[[0, 1], [2, 3]], [[4, 5], [6]]]

    @tf.function
    def first(iterator):
        return strategy.run(lambda x: tf.reduce_sum(x), (iterator.get_next(),))

    assert [int(n) for n in first(iter(dataset)).values] == [1, 5]
    made = strategy.distribute_datasets_from_function(lambda context: tf.data.Dataset.range(4).batch(1))
    assert [[p.numpy().tolist() for p in element.values] for element in made] == [[[0], [1]], [[2], [3]]]


def test_gradients_in_replicas(strategy):
    with strategy.scope():
        v = tf.Variable(3.0)

    @tf.function
    def step(x):
        def replica(x):
            with tf.GradientTape() as tape:
                loss = x * v * v
            return tape.gradient(loss, v)

        return strategy.run(replica, (x,))

    found = step(of_each(strategy, lambda i: tf.constant(i + 1.0)))
    np.testing.assert_allclose([float(g) for g in found.values], [6.0, 12.0])


def test_one_device_needs_no_threads():
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with strategy.scope():
        v = tf.Variable(2.0)
    assert float(strategy.run(lambda x: x * v, (3.0,))) == 6.0
    with pytest.raises(ValueError, match="Duplicates"):
        tf.distribute.MirroredStrategy(["CPU:0", "CPU:0"])


def test_losses_are_means_over_the_batches_of_all_replicas(strategy):
    def losses():
        both = tf.nn.compute_average_loss([1.0, 2.0, 3.0]), tf.nn.scale_regularization_loss([1.0, 2.0])
        return [*both, tf.nn.compute_average_loss([1, 3], global_batch_size=8)]

    assert [float(strategy.experimental_local_results(x)[0]) for x in strategy.run(losses)] == [1.0, 1.5, 0.5]
    assert [float(x) for x in losses()] == [2.0, 3.0, 0.5]
    for call in (tf.nn.compute_average_loss, tf.nn.scale_regularization_loss):
        with strategy.scope(), pytest.raises(RuntimeError, match="cross replica context"):
            call([1.0])


@pytest.mark.parametrize("for_estimators, expected", [(False, -0.9), (True, -0.2)])
def test_a_graph_has_each_variable_once(strategy, tmp_path, for_estimators, expected):
    """The numbers and names of TensorFlow: what replicas ask for by one name is one variable, saved as one."""
    scaled = strategy._scale_loss_for_estimator_enabled() if for_estimators else contextlib.nullcontext()
    with tf.Graph().as_default(), strategy.scope(), scaled:
        step = v1.train.get_or_create_global_step()
        assert v1.train.get_global_step() is step

        def replica():
            w = v1.get_variable("w", [1], initializer=v1.ones_initializer())
            seen, update = v1.metrics.mean(tf.cast(_replica_number() + 1, tf.float32))
            train = v1.train.MomentumOptimizer(0.25, 0.9).minimize(tf.reduce_sum(w * w), step)
            return tf.group(train, update), seen

        train, seen = strategy.extended.call_for_each_replica(replica)
        train = tf.group(strategy.experimental_local_results(train))
        (w,) = v1.trainable_variables()
        saver = v1.train.Saver()
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            session.run(train), session.run(train)
            path = saver.save(session, str(tmp_path / "model"))
            np.testing.assert_allclose(session.run([step, w[0], seen]), [2, expected, 1.5], rtol=1e-6)
            session.run(train)
            saver.restore(session, path)
            np.testing.assert_allclose([session.run(copy) for copy in w.values], [[expected]] * 2, rtol=1e-6)
        assert [name for name, _ in tf.train.list_variables(path)] == ["global_step", "w", "w/Momentum"]


def _replica_number():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def test_a_strategy_in_its_own_block_makes_one_variable(strategy):
    with strategy.scope(), strategy.scope():
        v = tf.Variable(1.0)
    assert [type(copy).__name__ for copy in v.values] == ["ResourceVariable"] * 2


def test_a_variable_of_no_collection_is_in_none(strategy):
    with tf.Graph().as_default(), strategy.scope():
        v1.get_variable("a", [1], collections=[], trainable=False)
        v1.get_variable("b", [1], trainable=False)
        assert [v.op.name for v in v1.global_variables()] == ["b"]


@pytest.mark.parametrize("optimizer", ["GradientDescentOptimizer", "AdamOptimizer"])
def test_an_optimizer_of_tf_1_outside_the_strategy_changes_the_first_copy(strategy, optimizer):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    getattr(v1.train, optimizer)(0.5).apply_gradients([(tape.gradient(loss, v), v)])
    first, second = (copy.numpy().tolist() for copy in v.values)
    assert first[0] < 1 and second == [1.0, 2.0]


def test_assignments_in_a_graph_are_made_when_what_they_give_is_run():
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy(["cpu:0"])
        with strategy.scope():
            v = tf.Variable(1.0)
        read, done = v.assign_add(2.0), v.assign_add(4.0, read_value=False)
        assert isinstance(done, tf.Operation)
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            assert session.run(read) == 3.0
            session.run(done)
            assert session.run(v) == 7.0


def test_what_an_update_gives_is_listed_also_where_it_gives_nothing():
    strategy = tf.distribute.MirroredStrategy(["cpu:0"])
    with strategy.scope():
        v = tf.Variable(1.0)
        assert strategy.extended.update(v, lambda v: None, group=False) == (None,)


def test_a_variable_around_another_is_of_its_strategy():
    strategy = tf.distribute.MirroredStrategy(["cpu:0"])
    with strategy.scope():
        v = tf.Variable(1.0)

    class Around(tf.Variable):
        def __init__(self, inner):
            self._inner = inner

        def __getattr__(self, name):
            return getattr(self._inner, name)

    assert strategy.extended.variable_created_in_scope(Around(v))
    assert not strategy.extended.variable_created_in_scope(Around(tf.Variable(1.0)))


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_each_replica_has_what_all_get(strategy, wrap):
    """TensorFlow 2.21 gives as many values."""
    values = of_each(strategy, lambda i: tf.constant([i + 1.0]))

    def together(x):
        replica = tf.distribute.get_replica_context()
        return {"sum": replica.all_reduce("SUM", x), "all": replica.all_gather(x, axis=0)}

    found = strategy.experimental_local_results(strategy.run(wrap(together), (values,)))
    assert [(one["sum"].numpy().tolist(), one["all"].numpy().tolist()) for one in found] == [([3.0], [1.0, 2.0])] * 2
    first, second = strategy.experimental_local_results([values, {"same": 1}])
    assert (float(first[0][0]), first[1], float(second[0][0]), second[1]) == (1.0, {"same": 1}, 2.0, {"same": 1})


def test_values_are_where_a_variable_of_all_replicas_is(strategy):
    with strategy.scope():
        v = tf.Variable(0.0)
    values = of_each(strategy, lambda i: tf.constant(i + 1.0))
    extended = strategy.extended
    for found in (
        extended.reduce_to("SUM", values, v), extended.broadcast_to(tf.constant(3.0), v),
        *extended.batch_reduce_to("SUM", [(values, v)]),
    ):  # fmt: skip
        assert [float(value) for value in strategy.experimental_local_results(found)] == [3.0, 3.0]
    extended.update(v, lambda copy, x: copy.assign(x), args=(extended.reduce_to("MEAN", values, v),))
    assert [float(copy) for copy in v.values] == [1.5, 1.5]  # from outside of any scope, too


@pytest.mark.parametrize("misused, words", [
    (lambda s, other, v: _within(s, lambda: other.scope().__enter__()), "Mixing different tf.distribute.Strategy"),
    (lambda s, other, v: _within(s, lambda: other.run(lambda: 1)), "Mixing different"),
    (lambda s, other, v: s.run(lambda: other.run(lambda: 1)), "Mixing different"),
    (lambda s, other, v: other.run(lambda: v.assign(2.0)), "Mixing different"),
    (lambda s, other, v: s.run(lambda: s.run(lambda: 1)), "requires being in cross-replica context"),
    (lambda s, other, v: s.run(lambda: s.reduce("SUM", 1.0, axis=None)), "requires being in cross-replica context"),
])  # fmt: skip
def test_what_is_for_all_replicas_is_refused_inside_of_one_and_in_another_strategy(strategy, misused, words):
    other = tf.distribute.MirroredStrategy(["CPU:0"])
    with strategy.scope():
        v = tf.Variable(1.0)
    with pytest.raises(RuntimeError, match=words):
        misused(strategy, other, v)
    assert [float(copy) for copy in v.values] == [1.0, 1.0]
    assert not tf.distribute.has_strategy()


def _within(strategy, call):
    with strategy.scope():
        return call()


def test_rows_are_not_gathered(strategy):
    rows = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([3, 2]))
    with pytest.raises(NotImplementedError, match="all_gather does not support IndexedSlices"):
        strategy.run(lambda: tf.distribute.get_replica_context().all_gather(rows, axis=0))
    with pytest.raises(NotImplementedError, match="gather does not support IndexedSlices"):
        strategy.gather(rows, axis=0)
    with pytest.raises(TypeError, match="Expected `reduce_op`"):
        strategy.reduce(None, 1.0, axis=None)


@pytest.mark.parametrize("of", [lambda d: d, iter], ids=["dataset", "iterator"])
def test_a_function_goes_over_a_dataset(strategy, of):
    """TensorFlow 2.21 gives these sums."""
    dealt = strategy.experimental_distribute_dataset(tf.data.Dataset.range(7).batch(3))

    @tf.function
    def total(elements):
        found = tf.constant(0, tf.int64)
        for x in elements:
            found += strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(x,)), axis=None)
            if found > 14:
                break
        return found

    assert [int(total(of(dealt))), int(total(of(dealt)))] == [15, 15]


@pytest.mark.parametrize("inside", [True, False])
def test_a_function_makes_its_variables_when_it_is_first_run(strategy, inside):
    class Scale(tf.Module):
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(2.0)
            return x * self.v

    scale = Scale()
    for _ in range(2):
        with strategy.scope() if inside else contextlib.nullcontext():
            result = strategy.run(lambda x: scale(x), args=(tf.constant(3.0),))
    assert [float(x) for x in strategy.experimental_local_results(result)] == [6.0, 6.0]
    assert [float(copy) for copy in scale.v.values] == [2.0, 2.0]


@pytest.mark.parametrize("rows, batch, batches, summed", [
    (5, 2, [[[0, 1], [2, 3]], [[4], []]], [10, 2]), (7, 2, [[[0, 1], [2, 3]], [[4, 5], [6]]], [21, 2]),
    (8, 2, [[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [28, 2]), (4, None, [[0, 1], [2, 3]], [6, 2]), (0, 2, [], [0, 0]),
])  # fmt: skip
def test_what_the_last_turn_lacks_is_an_empty_batch(strategy, rows, batch, batches, summed):
    """As TensorFlow 2.21 deals what a function's dataset has: no row is left out, and batches need not be alike."""

    def dataset(context):
        numbers = tf.data.Dataset.range(rows)
        return numbers if batch is None else numbers.batch(batch)

    dealt = strategy.distribute_datasets_from_function(dataset)
    results = strategy.experimental_local_results
    assert [[part.numpy().tolist() for part in results(x)] for x in dealt] == batches

    @tf.function
    def total(elements):
        found, count = tf.constant(0, tf.int64), 0
        for x in elements:
            found += strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(x,)), axis=None)
            count += 1
        return found, count

    assert [int(x) for x in total(dealt)] == summed
    iterator = iter(dealt)
    step = tf.function(lambda i: strategy.run(lambda x: x + 1, args=(next(i),)))
    for expected in batches:
        assert [part.numpy().tolist() for part in results(step(iterator))] == [
            (np.array(part) + 1).tolist() for part in expected
        ]
    with pytest.raises(tf.errors.OutOfRangeError):
        step(iterator)
    assert bool(iterator.get_next_as_optional().has_value()) is False


@pytest.mark.parametrize(
    "replicas, batch, parts",
    [(2, 7, [4, 3]), (3, 4, [2, 2, 0]), (3, 7, [3, 3, 1]), (3, 10, [4, 4, 2]), (3, 2, [1, 1, 0]), (4, 5, [2, 2, 1, 0]),
     (4, 9, [3, 3, 3, 0]), (4, 12, [3, 3, 3, 3])],
)  # fmt: skip
def test_a_batch_is_cut_into_parts_as_tensorflow_cuts_it(four_cpus, replicas, batch, parts):
    strategy = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])
    dealt = strategy.experimental_distribute_dataset(tf.data.Dataset.range(batch).batch(batch))
    found = [part.numpy().tolist() for part in strategy.experimental_local_results(next(iter(dealt)))]
    assert [len(part) for part in found] == parts
    assert [row for part in found for row in part] == list(range(batch))


SUMMED = [[[3.0], [3.0]]] * 2  # each replica's value goes into what both make of it, times 1 and times 2


@pytest.mark.parametrize("around", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("inside", [lambda f: f, tf.function], ids=["plain", "own function"])
@pytest.mark.parametrize(
    "bring, expected",
    [
        (lambda replica, x: replica.all_reduce("SUM", x), SUMMED),
        (lambda replica, x: replica.all_reduce("MEAN", x), [[[1.5], [1.5]]] * 2),
        (lambda replica, x: replica.all_reduce("SUM", {"a": x, "number": tf.constant(1)})["a"], SUMMED),
        (lambda replica, x: replica.all_gather(x, 1), SUMMED),
        (lambda replica, x: replica.all_gather(x, -2), SUMMED),
    ],
    ids=["sum", "mean", "structure", "gather", "gather rows"],
)
def test_gradients_of_what_replicas_bring_together(strategy, around, inside, bring, expected):
    def gradient(times, of):
        x = tf.constant([[3.0], [5.0]])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = bring(tf.distribute.get_replica_context(), x) * times
        return tape.gradient(y, x) if of == "tape" else tf.gradients(y, x)[0]

    times = of_each(strategy, lambda i: tf.constant(float(i + 1)))
    for of in ("tape", "graph")[: 1 + (inside is tf.function)]:
        found = around(lambda of=of: strategy.run(inside(gradient), (times, of)))()
        assert [part.numpy().tolist() for part in strategy.experimental_local_results(found)] == expected


def test_normalization_over_replicas_learns_as_over_one_batch(strategy):
    """Its mean and variance are of all replicas, and so must be their gradients."""

    def learned(strategy, batch):
        with strategy.scope():
            v = tf.Variable([[1.0, -2.0]], dtype=tf.float64)

        def step(x):
            replica = tf.distribute.get_replica_context()
            with tf.GradientTape() as tape:
                y = x * v
                mean = replica.all_reduce("MEAN", tf.reduce_mean(y, 0))
                variance = replica.all_reduce("MEAN", tf.reduce_mean(tf.square(y), 0)) - tf.square(mean)
                loss = tf.reduce_sum(tf.nn.sigmoid((y - mean) / tf.sqrt(variance + 0.5))) / 4.0
            return replica.all_reduce("SUM", tape.gradient(loss, v))

        return strategy.experimental_local_results(strategy.run(step, (batch,)))[0].numpy()

    rows = np.arange(8.0).reshape(4, 2) ** 2 / 10
    halves = of_each(strategy, lambda i: tf.constant(rows[2 * i : 2 * i + 2]))
    alone = tf.distribute.OneDeviceStrategy("CPU:0")
    np.testing.assert_allclose(learned(strategy, halves), learned(alone, tf.constant(rows)), rtol=1e-9)


def test_devices_may_be_logical_ones():
    (device,) = tf.config.list_logical_devices("CPU")[:1]
    by_name = tf.distribute.MirroredStrategy([device.name])
    assert tf.distribute.MirroredStrategy([device]).extended.worker_devices == by_name.extended.worker_devices
