"""A data service over loopback: how its workers share datasets, and what happens when one of them is gone."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.cluster.ports import free_ports
from ebbflow.data.service import reading
from ebbflow.data.service.worker import here

service = tf.data.experimental.service
Dataset = tf.data.Dataset


def worker_of(dispatcher, **given):
    address = dispatcher.target.removeprefix("grpc://")
    return service.WorkerServer(service.WorkerConfig(address, dispatcher_timeout_ms=20000, **given))


@pytest.fixture(scope="module")
def cluster():
    """Return a dispatcher whose two workers have fixed places."""
    ports = free_ports(2)
    addresses = [f"localhost:{port}" for port in ports]
    dispatcher = service.DispatchServer(service.DispatcherConfig(worker_addresses=addresses))
    workers = [worker_of(dispatcher, port=p, worker_address=a) for p, a in zip(ports, addresses, strict=True)]
    assert dispatcher._num_workers() == 2
    yield dispatcher
    for server in (*workers, dispatcher):
        server._stop()


def numbers(dataset):
    return sorted(int(x) for x in dataset)


POLICIES = service.ShardingPolicy
HINTED = Dataset.range(10).shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT).map(lambda x: x + 1)


@pytest.mark.parametrize(
    ("dataset", "mode", "wanted"),
    [
        (Dataset.range(5), "parallel_epochs", [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]),
        (Dataset.range(20).map(lambda x: x * 2), "distributed_epoch", [*range(0, 40, 2)]),
        (Dataset.range(700).filter(lambda x: x % 100 == 0), POLICIES.DYNAMIC, [*range(0, 700, 100)]),
        (Dataset.range(4).repeat(2), POLICIES.DYNAMIC, [0, 0, 1, 1, 2, 2, 3, 3]),
        (Dataset.range(9), POLICIES.DATA, [*range(9)]),
        (Dataset.range(9), POLICIES.FILE_OR_DATA, [*range(9)]),
        (HINTED, POLICIES.HINT, [*range(1, 11)]),
        (
            Dataset.choose_from_datasets([Dataset.from_tensors(i).repeat() for i in (5, 6)], Dataset.range(2)),
            POLICIES.DYNAMIC,
            [5, 5, 6, 6],
        ),  # what is chosen by, each worker has whole
        (Dataset.range(1).repeat().take(4), POLICIES.DYNAMIC, [0] * 8),  # none for one of them, in the first epochs
        (Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])).map(tf.reduce_sum), POLICIES.DYNAMIC, [1, 5]),
    ],
)
def test_workers_share_a_dataset(cluster, dataset, mode, wanted):
    read = dataset.apply(service.distribute(mode, cluster.target))
    assert read.element_spec == dataset.element_spec
    assert numbers(read) == wanted
    assert numbers(read) == wanted  # an epoch of its own


@pytest.mark.parametrize("reads", [False, True])
def test_each_worker_has_its_own_files(cluster, tmp_path, reads):
    paths = [str(tmp_path / name) for name in "abc"]
    for i, path in enumerate(paths):
        with tf.io.TFRecordWriter(path) as writer:
            writer.write(b"%d" % i)
    names = Dataset.from_tensor_slices(paths).interleave(tf.data.TFRecordDataset)
    dataset = tf.data.TFRecordDataset(paths) if reads else names
    read = dataset.apply(service.distribute(POLICIES.FILE, cluster.target))
    assert sorted(x.numpy() for x in read) == [b"0", b"1", b"2"]


def test_a_service_is_read_in_graphs_and_by_other_services(cluster):
    over = service.distribute("distributed_epoch", cluster.target)

    @tf.function
    def total():
        return Dataset.range(5).apply(over).reduce(np.int64(0), lambda a, b: a + b)

    assert total() == 10
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        iterator = tf.compat.v1.data.make_initializable_iterator(Dataset.range(3).apply(over))
        for _ in range(2):
            session.run(iterator.initializer)
            assert sorted(session.run(iterator.get_next()) for _ in range(3)) == [0, 1, 2]
    twice = (
        Dataset.range(3).apply(over).map(lambda x: x + 1).apply(service.distribute("parallel_epochs", cluster.target))
    )
    assert numbers(twice) == [1, 1, 2, 2, 3, 3]


def test_iterations_that_nobody_reads_are_over():
    dispatcher = service.DispatchServer(service.DispatcherConfig(job_gc_timeout_ms=20))
    worker = worker_of(dispatcher, heartbeat_interval_ms=20)
    local = service.distribute("parallel_epochs", dispatcher.target, job_name="unread", target_workers="LOCAL")
    read = Dataset.range(1000).apply(local)
    iterators = [iter(read), iter(read)]
    assert [int(next(each)) for each in iterators] == [0, 0]  # an iteration each
    assert worker._num_tasks() == 2
    while iterators:
        iterators.pop()
        while worker._num_tasks() > len(iterators):
            time.sleep(0.01)
    assert numbers(Dataset.range(3).apply(local)) == [0, 1, 2]
    worker._stop()
    dispatcher._stop()


def test_workers_of_this_process_alone():
    dispatcher = service.DispatchServer()
    worker = worker_of(dispatcher)
    local = service.distribute("parallel_epochs", dispatcher.target, job_name="kept", target_workers="LOCAL")
    kept = iter(Dataset.range(3).apply(local))
    assert int(next(kept)) == 0
    anywhere = service.distribute("parallel_epochs", dispatcher.target, job_name="kept")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Existing target workers: <LOCAL>"):
        next(iter(Dataset.range(3).apply(anywhere)))
    assert int(next(kept)) == 1
    here.discard(worker._address)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no local worker is found"):
        numbers(
            Dataset.range(3).apply(service.distribute("parallel_epochs", dispatcher.target, target_workers="LOCAL"))
        )
    worker._stop()
    dispatcher._stop()


def test_structures_travel(cluster):
    dataset = Dataset.from_tensor_slices({"a": np.arange(6.0), "b": list("abcdef")}).batch(3)
    dataset = dataset.map(lambda x: (x, tf.RaggedTensor.from_row_lengths(x["a"], [1, 2])))
    found = list(dataset.apply(service.distribute(POLICIES.DATA, cluster.target)))
    assert sorted(x["b"].numpy().tolist() for x, _ in found) == [[b"a", b"b", b"c"], [b"d", b"e", b"f"]]
    assert sorted(ragged.to_list() for _, ragged in found) == [[[0.0], [1.0, 2.0]], [[3.0], [4.0, 5.0]]]


def test_tables_travel_with_what_they_hold(cluster):
    pairs = tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), tf.constant(["a", "b"]))
    static = tf.lookup.StaticHashTable(pairs, "?")
    changing = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    changing.insert(tf.constant([2], tf.int64), tf.constant([20], tf.int64))
    pairs_of = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, [-1, -1])
    pairs_of.insert(tf.constant([1], tf.int64), tf.constant([[3, 4]], tf.int64))
    dataset = Dataset.range(3).map(lambda x: (x, static.lookup(x), changing.lookup(x), pairs_of.lookup(x)[1]))
    found = list(dataset.apply(service.distribute(POLICIES.DATA, cluster.target)).as_numpy_iterator())
    assert sorted(found) == [(0, b"a", -1, -1), (1, b"b", -1, 4), (2, b"?", 20, -1)]


def test_variables_travel_with_their_values(cluster):
    weights, words = tf.Variable([1, 2, 3], dtype=tf.int64), tf.Variable("x")
    dataset = Dataset.range(3).map(lambda x: (x + tf.gather(weights, x), words + "y"))
    found = list(dataset.apply(service.distribute(POLICIES.DATA, cluster.target)).as_numpy_iterator())
    assert sorted(found) == [(1, b"xy"), (3, b"xy"), (5, b"xy")]


def test_a_way_of_transfer_that_nobody_has(cluster):
    way = {"data_transfer_protocol": "pigeons"}
    with pytest.raises(tf.errors.NotFoundError, match="Protocol 'pigeons' is not available"):
        list(Dataset.range(3).apply(service.distribute("parallel_epochs", cluster.target, **way)))


def test_clients_of_one_job_share_the_elements(cluster):
    read = [Dataset.range(300).apply(service.distribute("distributed_epoch", cluster.target, job_name="shared"))
            for _ in range(2)]  # fmt: skip
    found = [[], []]
    threads = [threading.Thread(target=lambda i=i: found[i].extend(numbers(read[i]))) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found[0] + found[1]) == [*range(300)]


def test_consumers_get_their_element_of_each_round(cluster):
    read = [
        Dataset.range(100).repeat().apply(
            service.distribute("parallel_epochs", cluster.target, "rounds", consumer_index=i, num_consumers=2)
        )
        for i in range(2)
    ]  # fmt: skip
    pairs = list(zip(*[[int(x) for x in dataset.take(6)] for dataset in read], strict=True))
    assert pairs == [(0, 1), (0, 1), (2, 3), (2, 3), (4, 5), (4, 5)]


@pytest.mark.parametrize(
    ("dataset", "says"),
    [
        (Dataset.range(9), "infinite cardinality, but the dataset has cardinality 9"),
        (Dataset.range(9).filter(lambda x: x < 4), "end of sequence on a round-robin"),
    ],
)
def test_rounds_need_a_dataset_without_end(cluster, dataset, says):
    read = dataset.apply(service.distribute("parallel_epochs", cluster.target, says, consumer_index=0, num_consumers=1))
    assert int(read.cardinality()) == tf.data.INFINITE_CARDINALITY
    with pytest.raises(tf.errors.FailedPreconditionError, match=says):
        list(read)


def test_a_consumer_that_begins_again_is_told(cluster):
    endless = Dataset.range(9).repeat()
    first, again = [
        iter(endless.apply(service.distribute("parallel_epochs", cluster.target, "again", 0, 1))) for _ in range(2)
    ]
    assert len([next(first) for _ in range(5)]) == 5
    with pytest.raises(tf.errors.FailedPreconditionError, match="round has already reached"):
        next(again)


@pytest.mark.parametrize(("addresses", "says"), [(["nowhere"], "not configured"), (["localhost"], "already running")])
def test_workers_that_the_dispatcher_does_not_wait_for(addresses, says):
    dispatcher = service.DispatchServer(service.DispatcherConfig(worker_addresses=addresses))
    workers = [worker_of(dispatcher)] if addresses == ["localhost"] else []
    with pytest.raises(RuntimeError, match=says):
        worker_of(dispatcher)
    for server in (*workers, dispatcher):
        server._stop()


def test_places_at_any_port():
    dispatcher = service.DispatchServer(service.DispatcherConfig(worker_addresses=["localhost:%port%", "localhost"]))
    workers = [worker_of(dispatcher) for _ in range(2)]
    assert numbers(Dataset.range(9).apply(service.distribute(POLICIES.DATA, dispatcher.target))) == [*range(9)]
    workers.pop()._stop()
    workers.append(worker_of(dispatcher))  # which has the place that was left
    assert numbers(Dataset.range(9).apply(service.distribute(POLICIES.DATA, dispatcher.target))) == [*range(9)]
    for server in (*workers, dispatcher):
        server._stop()


def test_trainers_share_a_cache(cluster):
    def read(trainer):
        cache = service.CrossTrainerCache(trainer)
        given = service.distribute("parallel_epochs", cluster.target, "trained", cross_trainer_cache=cache)
        return numbers(Dataset.range(50).repeat().apply(given).take(10))

    first, second = read("one"), read("two")
    assert set(first) | set(second) <= set(range(50))
    finite = service.distribute("parallel_epochs", cluster.target, cross_trainer_cache=service.CrossTrainerCache("x"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="infinite"):
        Dataset.range(3).apply(finite)


def test_datasets_are_found_by_their_id(cluster):
    register, target = service.register_dataset, cluster.target
    first = register(target, Dataset.range(7)).numpy()
    assert register(target, Dataset.range(7)).numpy() == first != register(target, Dataset.range(8)).numpy()
    assert register(target, Dataset.range(3), dataset_id="mine").numpy() == b"mine"
    assert numbers(service.from_dataset_id("distributed_epoch", target, "mine")) == [0, 1, 2]
    for name, count in (("mine", 3), (first, 7)):  # each has a job of its own, whatever the name
        read = service.from_dataset_id("distributed_epoch", target, name, tf.TensorSpec([], tf.int64), "one job")
        assert numbers(read) == [*range(count)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="same structure"):
        register(target, Dataset.from_tensors("text"), dataset_id="mine")
    with pytest.raises(tf.errors.NotFoundError, match="Dataset id none not found"):
        service.from_dataset_id("parallel_epochs", target, "none")


def bad(x):
    return tf.debugging.check_numerics(1 / tf.cast(x - 2, tf.float32), "bad value")


@pytest.mark.parametrize(
    ("dataset", "mode", "error", "says"),
    [
        (Dataset.range(5).map(bad), "parallel_epochs", tf.errors.InvalidArgumentError, "element 2"),
        (Dataset.range(5), POLICIES.FILE, tf.errors.NotFoundError, "shardable source"),
        (Dataset.from_generator(lambda: [1], output_signature=tf.TensorSpec([], tf.int32)), "distributed_epoch",
         tf.errors.UnimplementedError, "cannot be divided"),
    ],
)  # fmt: skip
def test_errors_of_workers_reach_the_reader(cluster, dataset, mode, error, says):
    with pytest.raises(error, match=says):
        list(dataset.apply(service.distribute(mode, cluster.target)))


def test_a_reader_waits_for_its_worker_to_come_back():
    dispatcher, (port,) = service.DispatchServer(), free_ports(1)
    worker = worker_of(dispatcher, port=port)
    read = iter(Dataset.range(10**6).apply(service.distribute("parallel_epochs", dispatcher.target)))
    assert [int(next(read)) for _ in range(3)] == [0, 1, 2]
    worker._stop()
    worker = worker_of(dispatcher, port=port)  # which begins again
    assert 0 in map(int, read)
    for server in (worker, dispatcher):
        server._stop()


def test_another_worker_comes_and_one_is_lost(monkeypatch):
    monkeypatch.setattr(reading, "RETURN_SECONDS", 0.2)
    dispatcher = service.DispatchServer()
    try:
        first = worker_of(dispatcher)
        read = iter(Dataset.range(10**9).apply(service.distribute("parallel_epochs", dispatcher.target)))
        next(read)
        second = worker_of(dispatcher)
        while second._num_tasks() == 0:  # the reader finds it
            next(read)
        first._stop()
        second._stop()
        with pytest.raises(tf.errors.UnavailableError):
            for _ in read:
                pass
        with pytest.raises(RuntimeError, match="after it has been stopped"):
            first.start()
    finally:
        dispatcher._stop()


def test_a_dispatcher_that_begins_anew_knows_what_it_did(tmp_path):
    (port,) = free_ports(1)
    config = service.DispatcherConfig(port=port, work_dir=str(tmp_path), fault_tolerant_mode=True)
    dispatcher = service.DispatchServer(config)
    worker = worker_of(dispatcher)
    try:
        name = service.register_dataset(dispatcher.target, Dataset.range(1000))
        read = iter(service.from_dataset_id("distributed_epoch", dispatcher.target, name))
        first = [int(next(read)) for _ in range(10)]
        dispatcher._stop()
        dispatcher = service.DispatchServer(config)
        assert first + [int(x) for x in read] == [*range(1000)]
        assert service.register_dataset(dispatcher.target, Dataset.range(1000)) == name
        assert numbers(service.from_dataset_id("parallel_epochs", dispatcher.target, name)) == [*range(1000)]
    finally:
        worker._stop()
        dispatcher._stop()
    with pytest.raises(ValueError, match="without configuring a work dir"):
        service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True))


def test_nobody_is_there():
    (port,) = free_ports(1)
    config = service.WorkerConfig(f"localhost:{port}", dispatcher_timeout_ms=100)
    with pytest.raises(tf.errors.UnavailableError, match=f"localhost:{port}"):
        service.WorkerServer(config)


ELSEWHERE = """
import sys
import ebbflow as tf
service = tf.data.experimental.service
worker = service.WorkerServer(service.WorkerConfig(sys.argv[1]))
print(worker._address, flush=True)
sys.stdin.read()
"""


def test_a_worker_in_another_process():
    dispatcher = service.DispatchServer()
    command = [sys.executable, "-c", ELSEWHERE, dispatcher.target.removeprefix("grpc://")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().startswith("localhost:")
        rows = np.random.RandomState(0).rand(300, 8)
        dataset = Dataset.from_tensor_slices(rows).map(lambda x: x * 2).batch(50)
        found = list(dataset.apply(service.distribute("parallel_epochs", dispatcher.target)))
        np.testing.assert_array_equal(np.concatenate(found), rows * 2)
        process.stdin.close()
        assert process.wait(60) == 0
    finally:
        process.kill()
        dispatcher._stop()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("nope", "grpc://x:1"), "processing mode should be"),
        (("parallel_epochs", "grpc://x:1", ""), "`job_name` must not be empty"),
        (("parallel_epochs", "grpc://x:1", 1), "`job_name` must be a string"),
        (("parallel_epochs", "grpc://x:1", None, 1), "Must either set both"),
        (("parallel_epochs", "grpc://x:1", None, 1, 2), "`job_name` must be set"),
        (("parallel_epochs", "grpc://x:1", None, None, None, None, None, "LZ"), "Invalid `compression`"),
    ],
)
def test_refusals(given, says):
    with pytest.raises(ValueError, match=says):
        service.distribute(*given)
