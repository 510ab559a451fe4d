"""Steps given to workers by a coordinator: tasks in this process, and in processes that are killed."""

from __future__ import annotations

import gc
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.cluster.ports import free_ports
from ebbflow.distribute.work import ClosureInputError
from tests.cluster.conftest import Processes


def cluster_of(ps, workers):
    ports = free_ports(ps + workers)
    return {"ps": [f"localhost:{p}" for p in ports[:ps]], "worker": [f"localhost:{p}" for p in ports[ps:]]}


def strategy_for(spec, partitioner=None):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(spec), rpc_layer="grpc")
    return tf.distribute.experimental.ParameterServerStrategy(resolver, partitioner)


@pytest.fixture(scope="module")
def coordinator():
    spec = cluster_of(2, 3)
    servers = [tf.distribute.Server(spec, job, i) for job in spec for i in range(len(spec[job]))]
    made = tf.distribute.coordinator.ClusterCoordinator(strategy_for(spec))
    yield made
    made._cluster.closure_queue.stop()
    for server in servers:
        server._stop()


def test_one_coordinator_for_a_strategy(coordinator):
    assert tf.distribute.coordinator.ClusterCoordinator(coordinator.strategy) is coordinator
    with pytest.raises(ValueError, match="ParameterServerStrategy"):
        tf.distribute.coordinator.ClusterCoordinator(tf.distribute.get_strategy())


def test_structures_come_back(coordinator):
    x = tf.constant(1)
    f = tf.function(lambda: (x + 1, (x + 2, x + 3), [x + 4], {"v": x}))
    got = coordinator.schedule(f)
    assert got.fetch() == (2, (3, 4), [5], {"v": 1})
    assert coordinator.fetch([got]) == [(2, (3, 4), [5], {"v": 1})]
    assert isinstance(got.get()[0], tf.Tensor)


def test_only_functions_and_values_are_scheduled(coordinator):
    with pytest.raises(TypeError, match=r"only accepts a `tf.function` or a concrete function"):
        coordinator.schedule(lambda: 1)
    value = coordinator.schedule(tf.function(lambda: 1.0))
    with pytest.raises(ValueError, match="RemoteValue"):
        coordinator.schedule(tf.function(lambda x: x), args=(value,))


def test_variables_are_updated_from_all_workers(coordinator):
    with coordinator.strategy.scope():
        v = tf.Variable(0.0)
        w = tf.Variable([1.0, 2.0])
    assert {v.device[:15], w.device[:15]} == {"/job:ps/replica"} and v.device != w.device

    @tf.function
    def step(x):
        v.assign_add(x)
        w.assign_sub([x, x])
        return v.read_value()

    results = [coordinator.schedule(step, args=(tf.constant(1.0),)) for _ in range(20)]
    coordinator.join()
    assert coordinator.done() and v.numpy() == 20.0 and w.numpy().tolist() == [-19.0, -18.0]
    assert max(coordinator.fetch(results)) == 20.0


def test_loops_and_choices_reach_variables(coordinator):
    with coordinator.strategy.scope():
        v = tf.Variable(1.0)

    @tf.function
    def step(n):
        v.assign(2.0)
        for _ in tf.range(n):
            v.assign(v * 2.0)
            if v > 10.0:
                v.assign_sub(1.0)
        v.assign_add(0.5)
        return v.read_value()

    assert coordinator.schedule(step, args=(tf.constant(3),)).fetch() == 15.5
    assert step(tf.constant(3)).numpy() == 15.5 == v.numpy()  # here, with the variable there


def test_gradients_and_optimizers(coordinator):
    with coordinator.strategy.scope():
        kernel = tf.Variable(np.zeros((3, 1), np.float32))
    x = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    y = x @ np.float32([[1.0], [-2.0], [0.5]])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, kernel) - y) ** 2)
        kernel.assign_sub(0.1 * tape.gradient(loss, kernel))
        return loss

    def loss_after_more():
        for _ in range(120):
            coordinator.schedule(step)
        coordinator.join()  # the last to begin need not be the last to end
        return coordinator.schedule(step).fetch()

    assert any(loss_after_more() < 1e-3 for _ in range(10))  # gradients of others' weights come slower to it
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(kernel * kernel)
    np.testing.assert_allclose(tape.gradient(total, kernel), 2 * kernel.numpy())


def test_datasets_of_each_worker(coordinator):
    traced = []

    def make():
        def plus(x):
            traced.append(x)
            return x + 10

        return tf.data.Dataset.range(4).map(plus)

    iterator = iter(coordinator.create_per_worker_dataset(make))
    take = tf.function(lambda it: next(it))
    assert coordinator.schedule(take, args=(iterator,)).fetch() == 10
    assert len(traced) == 1

    @tf.function
    def total(it):
        found = tf.constant(0, tf.int64)
        for x in it:
            found += x
        return found

    whole = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.range(5).batch(2)))
    assert coordinator.schedule(tf.function(lambda it: next(it)), args=(whole,)).fetch().tolist() == [0, 1]
    with pytest.raises(NotImplementedError, match="schedule"):
        next(whole)
    with pytest.raises(ValueError, match="create_per_worker_dataset"):
        iter(coordinator.strategy.experimental_distribute_dataset(tf.data.Dataset.range(3)))
    again = iter(coordinator.create_per_worker_dataset(tf.data.Dataset.range(5)))
    assert coordinator.schedule(total, args=(again,)).fetch() == 10


def test_the_end_of_a_dataset_is_an_error_that_is_told_once(coordinator):
    iterator = iter(coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(1)))
    take = tf.function(lambda it: next(it))
    for _ in range(8):
        coordinator.schedule(take, args=(iterator,))
    with pytest.raises(tf.errors.OutOfRangeError):
        coordinator.join()
    coordinator.join()


@tf.function
def bad():
    """Fails where it runs: no value is known before."""
    tf.debugging.assert_equal(tf.random.uniform([]), 2.0)
    return tf.constant(1)


def test_an_error_ends_what_waits(coordinator):
    first = coordinator.schedule(bad)
    with pytest.raises(tf.errors.InvalidArgumentError):
        while True:
            coordinator.schedule(tf.function(lambda: 1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        first.fetch()
    assert coordinator.schedule(tf.function(lambda: 2)).fetch() == 2


@pytest.mark.parametrize("pause", [0.0, 0.5])
def test_an_error_ends_a_step_that_runs_or_is_just_begun(coordinator, pause):
    """A loop of the worker's own part looks whether its session was closed, a step that was not begun is not begun."""

    @tf.function
    def endless(x):
        for _ in tf.range(10**12):
            x = tf.random.uniform([8, 8]) @ x
        return x

    long = coordinator.schedule(endless, args=(tf.eye(8),))
    time.sleep(pause)
    coordinator.schedule(tf.function(lambda x: tf.debugging.check_numerics(x, "no")), args=(tf.constant(np.nan),))
    with pytest.raises(tf.errors.InvalidArgumentError, match="no"):
        coordinator.join()
    with pytest.raises(tf.errors.CancelledError):
        long.fetch()
    assert coordinator.schedule(tf.function(lambda: tf.constant(3))).fetch() == 3
    coordinator.join()  # what was cancelled is no error of its own


def test_resources_of_each_worker(coordinator):
    local = coordinator._create_per_worker_resources(lambda: tf.Variable(0.0))
    for value in local._values:
        assert "/job:worker/" in value.get().device

    @tf.function
    def step(variable):
        variable.assign_add(1.0)

    for _ in range(9):
        coordinator.schedule(step, args=(local,))
    coordinator.join()
    assert sum(value.get().numpy() for value in local._values) == 9.0
    wrong = coordinator._create_per_worker_resources(bad)
    result = coordinator.schedule(tf.function(lambda x: x), args=(wrong,))
    with pytest.raises(ClosureInputError):
        coordinator.join()
    with pytest.raises(ClosureInputError):
        result.fetch()


def test_what_belongs_to_the_coordinator_is_refused(coordinator):
    outside = tf.Variable(1.0)
    coordinator.schedule(tf.function(lambda: outside + 1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="scope"):
        coordinator.join()


def test_variables_that_nobody_has_are_forgotten(coordinator):
    with coordinator.strategy.scope():
        v = tf.Variable(tf.zeros([100]), name="short_lived")
    name = v._storage.name
    task = next(t for a, t in _tasks().items() if a == v._home.address)
    assert ("", name) in task.containers
    del v
    gc.collect()
    end = time.monotonic() + 10
    while ("", name) in task.containers and time.monotonic() < end:
        time.sleep(0.01)
    assert ("", name) not in task.containers


def _tasks():
    from ebbflow.cluster.endpoint import here

    return here.tasks


# --- processes that are killed ----------------------------------------------------------------------------------------


@pytest.fixture
def started():
    running = Processes()
    spec = cluster_of(2, 2)
    found = {(job, i): running.serve(spec, job, i) for job in spec for i in range(len(spec[job]))}
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy_for(spec))
    yield coordinator, found, lambda job, i: running.serve(spec, job, i)
    coordinator._cluster.closure_queue.stop()
    running.end()


def test_steps_of_a_killed_worker_are_done_by_another(started):
    coordinator, processes, restart = started
    with coordinator.strategy.scope():
        v = tf.Variable(0.0)
    iterator = iter(coordinator.create_per_worker_dataset(lambda: tf.data.Dataset.range(1000000)))

    @tf.function
    def step(it):
        v.assign_add(1.0)
        return next(it)

    results = [coordinator.schedule(step, args=(iterator,)) for _ in range(10)]
    coordinator.join()
    processes["worker", 0].kill()
    results += [coordinator.schedule(step, args=(iterator,)) for _ in range(40)]
    coordinator.join()
    assert 50.0 <= v.numpy() <= 52.0  # at least once; a step that was cut off may have counted
    processes["worker", 0].wait()
    restart("worker", 0)
    processes["worker", 1].kill()  # so the first must be back, with a dataset of its own
    results += [coordinator.schedule(step, args=(iterator,)) for _ in range(20)]
    coordinator.join()
    assert v.numpy() >= 70.0 and all(np.ndim(r.fetch()) == 0 for r in results)


def test_a_lost_parameter_server_is_an_error_that_names_it(started):
    coordinator, processes, _ = started
    with coordinator.strategy.scope():
        v = tf.Variable(0.0)
    step = tf.function(lambda: v.assign_add(1.0))
    coordinator.schedule(step)
    coordinator.join()
    processes["ps", 0].kill()
    coordinator.schedule(step)
    with pytest.raises(tf.errors.UnavailableError, match=r"/job:ps/replica:0/task:0.*checkpoint"):
        coordinator.join()
