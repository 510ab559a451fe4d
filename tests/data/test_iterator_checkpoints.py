"""Iterators in checkpoints: they go on exactly where they were, in the middle of an epoch, however wide maps run."""

from __future__ import annotations

import gc
import json
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core.tensor import wrap
from ebbflow.data import free_order
from ebbflow.data.iterator_state import State
from ebbflow.data.pipe import Pipe
from ebbflow.io.variants import from_bytes

Dataset = tf.data.Dataset


def shuffled(calls=None, seed=7):
    numbers = Dataset.range(40).shuffle(13, seed=seed).repeat(4).map(lambda x: x * x, num_parallel_calls=calls)
    return numbers.shuffle(5, seed=seed).batch(3)


CHAINS = {
    "shuffled": shuffled,
    "unseeded": lambda calls=None: shuffled(calls, None),
    "filtered": lambda calls=None: shuffled(calls).unbatch().filter(lambda x: x % 3 > 0),
    "interleaved": lambda calls=None: Dataset.range(5).interleave(
        lambda x: Dataset.range(x, x + 9).shuffle(4, seed=2), cycle_length=3, num_parallel_calls=calls
    ),
    "shuffled inside": lambda calls=None: Dataset.range(5).interleave(
        lambda x: Dataset.range(x, x + 9).shuffle(4).repeat(2), cycle_length=3, num_parallel_calls=calls
    ),
    "nested": lambda calls=None: Dataset.range(6).interleave(
        lambda x: (
            Dataset.range(x, x + 2)
            .interleave(lambda y: Dataset.range(y, y + 3).shuffle(3), 2, num_parallel_calls=calls)
            .repeat(2)
        ),
        cycle_length=2,
        num_parallel_calls=calls,
    ),
    "random side by side": lambda calls=None: Dataset.zip(
        (
            Dataset.range(40).map(lambda x: tf.random.uniform([]), num_parallel_calls=calls).prefetch(1),
            Dataset.range(40).map(lambda x: tf.random.uniform([]), num_parallel_calls=calls).prefetch(1),
        )
    ).map(lambda x, y: tf.stack([x, y])),
    "groups": lambda calls=None: (
        Dataset.range(60).shuffle(9).group_by_window(lambda x: x % 3, lambda key, window: window.shuffle(4).batch(2), 6)
    ),
    "batched side by side": lambda calls=None: Dataset.range(100).shuffle(9).batch(3, num_parallel_calls=calls),
    "mapped and batched": lambda calls=None: (
        Dataset.range(100)
        .shuffle(9)
        .apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 3, num_parallel_calls=calls))
    ),
    "random ops": lambda calls=None: Dataset.range(60).map(
        lambda x: tf.random.uniform([]) + tf.random.normal([2]), num_parallel_calls=calls
    ),
    "random branches": lambda calls=None: Dataset.range(60).map(
        lambda x: tf.cond(tf.random.uniform([]) > 0.5, lambda: x, lambda: -x), num_parallel_calls=calls
    ),
    "random ops inside": lambda calls=None: Dataset.range(9).interleave(
        lambda x: Dataset.range(7).map(lambda y: tf.random.uniform([]) + tf.random.uniform([], seed=3)),
        cycle_length=3,
        num_parallel_calls=calls,
    ),
    "chosen at random": lambda calls=None: Dataset.sample_from_datasets(
        [Dataset.range(40).shuffle(3), Dataset.range(40, 80)], [0.5, 0.5], rerandomize_each_iteration=True
    ),
    "rejected": lambda calls=None: (
        Dataset.range(120)
        .rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.7, 0.3], [0.5, 0.5])
        .map(lambda kind, x: x, num_parallel_calls=calls)
    ),
    "windows": lambda calls=None: (
        Dataset.range(80).shuffle(9).window(3, shift=2).flat_map(lambda window: window.batch(3))
    ),
    "sums": lambda calls=None: Dataset.range(60).shuffle(9).scan(np.int64(0), lambda sum, x: (sum + x, sum + x)),
    "each once": lambda calls=None: Dataset.range(90).shuffle(90).map(lambda x: x % 45, calls).unique(),
    "lengths": lambda calls=None: (
        Dataset.range(90)
        .map(lambda x: tf.fill([x % 4 + 1], x), calls)
        .shuffle(7)
        .bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 2, 2])
    ),
    "random, unseeded": lambda calls=None: Dataset.random(rerandomize_each_iteration=True).take(50),
    "random": lambda calls=None: Dataset.random(seed=3).take(50).map(lambda x: x, num_parallel_calls=calls),
    "cached": lambda calls=None: Dataset.range(30).shuffle(30, seed=1).cache().repeat(3),
}


@pytest.mark.parametrize("taken", [0, 1, 7, 17, 30])
@pytest.mark.parametrize("name", CHAINS)
def test_an_iterator_goes_on_where_it_was(name, taken, tmp_path):
    dataset = CHAINS[name]()
    list(dataset.take(5))  # an epoch begun before: seeds have been drawn
    iterator = iter(dataset)
    for _ in range(taken):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "it"))
    rest = [x.numpy().tolist() for x in iterator]
    other = iter(CHAINS[name](calls=2))
    next(other)
    tf.train.Checkpoint(iterator=other).restore(path)
    assert [x.numpy().tolist() for x in other] == rest


def uneven(x):
    """Give an element, some of them late."""
    given = tf.py_function(lambda n: time.sleep(0.003 * (int(n) % 4 == 0)) or n, [x], tf.int64)
    given.set_shape([])
    return given


def free(dataset, calls):
    return dataset.map(uneven, num_parallel_calls=calls, deterministic=False)


def side_by_side(calls):
    rows = lambda x: Dataset.range(10 * x, 10 * x + 10).map(uneven)
    return Dataset.range(4).interleave(rows, cycle_length=3, num_parallel_calls=calls, deterministic=False)


def left_free(calls):
    options = tf.data.Options()
    options.deterministic = False
    return Dataset.range(40).map(uneven, num_parallel_calls=calls).with_options(options).batch(3).unbatch()


IN_FREE_ORDER = {
    "map": (lambda calls: free(Dataset.range(40), calls), 1),
    "map, shuffled": (lambda calls: free(Dataset.range(40), calls).shuffle(9).prefetch(3), 1),
    "map, again and again": (lambda calls: free(Dataset.range(20), calls).repeat(3).prefetch(2), 3),
    "interleave": (side_by_side, 1),
    "map of interleave": (lambda calls: free(side_by_side(calls), calls).shuffle(5), 1),
    "two maps": (lambda calls: Dataset.zip((free(Dataset.range(40), calls), Dataset.range(40))).map(lambda x, y: x), 1),
    "by an option": (left_free, 1),
}


@pytest.mark.parametrize("calls", [None, 1, 3, 5])
@pytest.mark.parametrize("name", IN_FREE_ORDER)
def test_each_element_comes_once_where_the_order_is_free(name, calls):
    make, times = IN_FREE_ORDER[name]
    wanted = sorted(times * list(range(20 if times > 1 else 40)))
    for taken in (0, 1, 14, 33):
        iterator = iter(make(4 if taken != 14 else None))
        found = [int(next(iterator)) for _ in range(taken)]
        state = tf.io.serialize_tensor(iterator._save())
        other = iter(make(calls))
        next(other)
        other._restore(tf.io.parse_tensor(state, tf.variant))
        found += [int(next(other)) for _ in range(5)]
        again = iter(make(2))  # what goes on may be saved as well
        again._restore(other._save())
        assert sorted(found + [int(x) for x in again]) == wanted


def test_an_order_that_has_come_too_far_is_kept(monkeypatch):
    monkeypatch.setattr(free_order, "CHUNK", 4)
    monkeypatch.setattr(free_order, "MOST", 0)
    iterator = iter(free(Dataset.range(60), 4))
    found = [int(x) for x in iterator]
    assert sorted(found) == list(range(60)) and found[30:] == sorted(found)[30:]


def test_orders_that_are_damaged_are_refused():
    iterator = iter(free(Dataset.range(9), 4))
    next(iterator)
    count, seeds, lengths, payload, _, _ = State.of(iterator._position).arrays()
    for wrong in ([lengths, payload[:-1]], [lengths[:-1], payload], [lengths], [lengths, payload[::-1].copy()]):
        other = iter(free(Dataset.range(9), 4))
        with pytest.raises(ValueError, match="the orders in an iterator's state are"):
            State.from_arrays([count, seeds, *wrong]).restore(other._position)
            list(other)
    with pytest.raises(tf.errors.NotFoundError, match="1 stages that run calls side by side"):
        State.from_arrays([count, seeds, lengths, payload]).restore(iter(Dataset.range(9))._position)


def pipes():
    gc.collect()
    return sum(isinstance(o, Pipe) for o in gc.get_objects())


def test_datasets_that_nobody_has_any_more_are_gone():
    def goes_over_all():
        for make in [*CHAINS.values(), *[free for free, _ in IN_FREE_ORDER.values()]]:
            iterator = iter(make(2))
            next(iterator)
            iterator._restore(iterator._save())
            next(iterator)

    for _ in range(2):
        goes_over_all()  # what is kept of recipes is kept now
    before = pipes()
    goes_over_all()
    assert pipes() == before


def test_a_new_process_goes_on_where_another_was(tmp_path):
    program = f"""
import sys, json
sys.path[:0] = {[str(pathlib.Path(__file__).parent)]!r}
import ebbflow as tf
from test_iterator_checkpoints import CHAINS
rest = {{}}
for name, make in CHAINS.items():
    iterator = iter(make(calls=3))
    tf.train.Checkpoint(iterator=iterator).restore(sys.argv[1] + "/" + name.replace(" ", "_") + "-1").assert_consumed()
    rest[name] = [x.numpy().tolist() for x in iterator]
print(json.dumps(rest))
"""
    rest = {}
    for name, make in CHAINS.items():
        iterator = iter(make())
        for _ in range(7):
            next(iterator)
        tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / name.replace(" ", "_")))
        rest[name] = [x.numpy().tolist() for x in iterator]
    found = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout) == rest


def test_the_state_is_counters_and_seeds(tmp_path):
    iterator = iter(Dataset.from_tensor_slices(np.zeros((1000, 100))).shuffle(1000).cache().batch(8))
    next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "it"))
    sizes = dict(tf.train.list_variables(path))
    assert all(np.prod(shape) <= 6 for name, shape in sizes.items() if "iterator" in name)


def numbers(iterator, most=200):
    return [x.numpy().tolist() for _, x in zip(range(most), iterator, strict=False)]


def test_others_that_draw_meanwhile_change_nothing():
    make = lambda: Dataset.range(9).shuffle(9, seed=3).repeat(4)
    dataset = make()
    iterator = iter(dataset)
    numbers(iterator, 5)
    numbers(iter(dataset), 12)  # two epochs of another, while the first one of this is gone through
    numbers(iterator, 5)
    state = iterator._save()
    rest = numbers(iterator)
    for other in (iter(dataset), iter(make())):
        numbers(other, 3)
        other._restore(state)
        again = other._save()
        assert numbers(other) == rest
        other._restore(again)
        assert numbers(other) == rest


CACHED = {
    "shuffled": lambda: Dataset.range(12).shuffle(12).cache(),
    "random numbers": lambda: Dataset.range(12).map(lambda x: tf.random.uniform([])).cache().shuffle(5),
    "datasets": lambda: Dataset.range(4).flat_map(lambda x: Dataset.range(x, x + 3).shuffle(3)).cache().repeat(2),
    "twice": lambda: Dataset.range(12).shuffle(12).cache().shuffle(12).cache(),
    "by elements": lambda: Dataset.range(12).map(lambda x: tf.random.uniform([]) + tf.fill([x % 2 + 1], 0.0)).cache(),
}


@pytest.mark.parametrize("name", CACHED)
def test_caches_that_an_earlier_iteration_filled_are_filled_alike(name):
    dataset = CACHED[name]()
    numbers(iter(dataset))
    iterator = iter(dataset)
    numbers(iterator, 5)
    state = tf.io.serialize_tensor(iterator._save())
    rest = numbers(iterator)
    anew, filled = CACHED[name](), CACHED[name]()
    numbers(iter(filled))  # with other seeds: it does not serve
    for other in (iter(dataset), iter(anew), iter(filled)):
        other._restore(tf.io.parse_tensor(state, tf.variant))
        again = other._save()
        assert numbers(other) == rest
        later = iter(CACHED[name]())
        later._restore(again)
        assert numbers(later) == rest


def test_a_cache_without_chance_is_read_by_whoever_goes_on():
    dataset = Dataset.range(12).map(lambda x: x + 1).cache()
    iterator = iter(dataset)
    numbers(iterator, 5)
    state = iterator._save()
    dataset = Dataset.range(12).map(lambda x: x + 1).cache()
    numbers(iter(dataset))
    other = iter(dataset)
    other._restore(state)
    assert numbers(other) == list(range(6, 13))


one_more = lambda x: x + 1

OTHERS = {
    "another source": (Dataset.range(9), Dataset.from_tensor_slices([1, 2, 3])),
    "a stage more": (Dataset.range(9), Dataset.range(9).map(one_more)),
    "a stage less": (Dataset.range(9).map(one_more), Dataset.range(9)),
    "another order": (Dataset.range(9).repeat(2).take(5), Dataset.range(9).take(5).repeat(2)),
    "batches of another size": (Dataset.range(9).batch(2), Dataset.range(9).batch(3)),
    "one of two": (Dataset.zip((Dataset.range(9), Dataset.range(9))), Dataset.zip((Dataset.range(9),))),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_dataset_that_is_made_of_other_stages_is_refused(name):
    saved, other = map(iter, OTHERS[name])
    next(saved)
    with pytest.raises(tf.errors.NotFoundError, match="Make sure the dataset definition has not changed"):
        other._restore(saved._save())


ALIKE = {
    "ahead": lambda ds: ds.map(one_more).prefetch(2),
    "side by side": lambda ds: ds.map(one_more, num_parallel_calls=2),
    "options": lambda ds: ds.map(one_more).with_options(tf.data.Options()),
    "more elements": lambda ds: Dataset.range(30).map(one_more),
}


@pytest.mark.parametrize("name", ALIKE)
def test_how_a_dataset_is_run_may_change(name):
    for first, second in ((Dataset.range(9).map(one_more), ALIKE[name](Dataset.range(9))),) * 2:
        saved, other = iter(first), iter(second)
        numbers(saved, 3)
        other._restore(saved._save())
        assert numbers(other, 2) == [4, 5]
        saved._restore(other._save())
        assert numbers(saved, 2) == [6, 7]


def test_another_dataset_is_refused(tmp_path):
    path = tf.train.Checkpoint(iterator=iter(Dataset.range(9).shuffle(3))).save(str(tmp_path / "it"))
    with pytest.raises(tf.errors.NotFoundError, match=r"over Shuffle, Range; .* goes over Range\. Make sure"):
        tf.train.Checkpoint(iterator=iter(Dataset.range(9))).restore(path)


def test_a_saver_keeps_where_the_iterator_of_a_graph_is(tmp_path):
    v1 = tf.compat.v1
    path = str(tmp_path / "model")
    with v1.Graph().as_default(), v1.Session() as session:
        iterator = v1.data.make_initializable_iterator(v1.data.Dataset.range(20).shuffle(5, seed=3))
        saveable = v1.data.experimental.make_saveable_from_iterator(iterator)
        v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, saveable)
        following, saver = iterator.get_next(name="following"), v1.train.Saver()
        session.run(iterator.initializer)
        for _ in range(4):
            session.run(following)
        saver.save(session, path)
        rest = [session.run(following) for _ in range(9)]
    with v1.Graph().as_default(), v1.Session() as session:
        saver = v1.train.import_meta_graph(path + ".meta")
        session.run("MakeIterator")
        saver.restore(session, path)
        assert [session.run("following:0") for _ in range(9)] == rest


def test_the_state_of_an_iterator_goes_through_bytes():
    first, second = [iter(Dataset.range(20).shuffle(5, seed=3)) for _ in range(2)]
    for _ in range(4):
        next(first)
    state = tf.raw_ops.SerializeIterator(resource_handle=first._iterator_resource)
    read = tf.io.parse_tensor(tf.io.serialize_tensor(state), tf.variant)
    tf.raw_ops.DeserializeIterator(resource_handle=second._iterator_resource, serialized=read)
    assert [int(x) for x in second] == [int(x) for x in first]


def test_the_state_of_another_runtime_is_refused():
    box = np.empty(1, object)
    box[0] = from_bytes(b"\x0a\x03abc", "a file")
    iterator = iter(Dataset.range(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not hold the state of an iterator"):
        tf.raw_ops.DeserializeIterator(resource_handle=iterator._iterator_resource, serialized=wrap(box, tf.variant))
    with pytest.raises(tf.errors.DataLossError, match="not the message of a variant"):
        from_bytes(b"\xff\xff\xff", "a file")


def test_state_elsewhere_is_refused_where_that_is_asked_for(tmp_path):
    variable, options = tf.Variable(1, dtype=tf.int64), tf.data.Options()
    numbers = Dataset.range(5).map(lambda x: x + variable)
    policies = tf.data.experimental.ExternalStatePolicy
    tf.train.Checkpoint(iterator=iter(numbers)).save(str(tmp_path / "a"))
    options.experimental_external_state_policy = policies.FAIL
    with pytest.raises(tf.errors.FailedPreconditionError, match="a resource"):
        tf.train.Checkpoint(iterator=iter(numbers.with_options(options))).save(str(tmp_path / "b"))
    assert tf.train.Checkpoint(iterator=iter(Dataset.range(5).with_options(options))).save(str(tmp_path / "c"))
