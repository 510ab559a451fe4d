"""Chains run by the column give exactly what they give element by element: values, order, batches, errors, epochs."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data.pipe import Position, pipe_of
from ebbflow.data.running import DEBUG, PLAIN, PLANNED, Run

Dataset = tf.data.Dataset


def elements(dataset, mode, most=3000):
    """Return what an iteration gives, as bytes with types and shapes; an error is the last element."""
    position = Position()
    position.begin(pipe_of(dataset._variant_tensor._array), Run(mode))
    found = []
    while len(found) < most:
        try:
            element = position.take()
        except tf.errors.OpError as error:
            found.append((type(error), error.message.partition("\n")[0], getattr(error, "element_number", None)))
            if len([f for f in found if isinstance(f[0], type)]) > 5:
                break
            continue
        if element is None:
            break
        found.append(tuple([(a.dtype, a.shape, bits(a)) for a in element]))
    return found


def bits(array):
    if array.dtype == object:
        return array.tolist()
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)  # they may have signs
    return array.tobytes()


def planned(dataset):
    """Return whether rows come by the column up to the last batch."""
    pipe = pipe_of(dataset._variant_tensor._array)
    while pipe.name.startswith(("Batch", "Prefetch", "PaddedBatch")):
        pipe = pipe.inputs[0]
    return pipe.by_column() is not None


# --- chains by chance -------------------------------------------------------------------------------------------------

FLOATS = np.random.RandomState(0).standard_normal((97, 5)).astype(np.float32)
LONGS = np.arange(97, dtype=np.int64) * 7 - 100
WORDS = np.array([f"word{i}".encode() for i in range(97)], object)

SOURCES = [
    lambda: Dataset.range(83),
    lambda: Dataset.range(100, 3, -2, output_type=tf.int32),
    lambda: Dataset.from_tensor_slices(FLOATS),
    lambda: Dataset.from_tensor_slices((FLOATS, LONGS)),
    lambda: Dataset.from_tensor_slices({"x": FLOATS, "w": WORDS}),
    lambda: Dataset.from_tensor_slices(LONGS).batch(9).unbatch(),
    lambda: Dataset.zip((Dataset.from_tensor_slices(FLOATS), Dataset.range(50))),
    lambda: Dataset.from_tensor_slices(FLOATS).concatenate(Dataset.from_tensor_slices(-FLOATS[:31])),
    lambda: Dataset.from_tensor_slices(LONGS).enumerate(),
]


def on_numbers(function):
    """Return a function that changes the numbers of an element and leaves the rest."""

    def change(*parts):
        parts = parts[0] if len(parts) == 1 else parts
        return tf.nest.map_structure(lambda t: t if t.dtype == tf.string else function(t), parts)

    return change


MAPS = [
    lambda x: x * 3 + 1,
    lambda x: tf.cast(x, tf.float32) / 7,
    lambda x: tf.tanh(tf.cast(x, tf.float32)) * tf.exp(-tf.abs(tf.cast(x, tf.float32)) / 100),
    lambda x: tf.where(x > 3, x, -x),
    lambda x: tf.reshape(tf.stack([x, x + 1]), [-1]),
    lambda x: tf.cond(tf.reduce_any(x > 5), lambda: x - 5, lambda: x + 2),
    lambda x: tf.reduce_max(x) + tf.zeros([3], x.dtype),
    lambda x: tf.one_hot(tf.cast(tf.reduce_min(x), tf.int32) % 4, 4),
    lambda x: tf.pow(tf.cast(x, tf.float64), 1.5),
    lambda x: tf.reduce_sum(tf.cast(x, tf.float32)),  # rounded by the order: not for blocks
]


def first_number(*parts):
    return tf.reduce_max(tf.cast(next(t for t in tf.nest.flatten(parts) if t.dtype != tf.string), tf.float32))


STEPS = [
    lambda ds, r: ds.map(on_numbers(MAPS[r.randrange(len(MAPS))])),
    lambda ds, r: ds.map(on_numbers(MAPS[r.randrange(len(MAPS))]), num_parallel_calls=2),
    lambda ds, r: ds.filter(lambda *parts: first_number(*parts) > -1),
    lambda ds, r: ds.filter(lambda *parts: tf.cast(first_number(*parts) * 3, tf.int64) % 2 == 0),
    lambda ds, r: ds.shuffle(
        r.choice([1, 4, 30, 500]), seed=r.randrange(99), reshuffle_each_iteration=r.random() < 0.5
    ),
    lambda ds, r: ds.repeat(r.randrange(4)),
    lambda ds, r: ds.take(r.choice([0, 3, 60, 500])),
    lambda ds, r: ds.skip(r.choice([0, 3, 60])),
    lambda ds, r: ds.shard(3, r.randrange(3)),
    lambda ds, r: ds.cache(),
    lambda ds, r: ds.enumerate(),
    lambda ds, r: ds.prefetch(2),
    lambda ds, r: ds.batch(4).unbatch(),
    lambda ds, r: ds.concatenate(ds.take(5)),
    lambda ds, r: ds.with_options(tf.data.Options()),
]


def chain(seed):
    chance = random.Random(seed)
    tf.random.set_seed(seed)
    dataset = SOURCES[chance.randrange(len(SOURCES))]()
    for _ in range(chance.randrange(1, 6)):
        dataset = STEPS[chance.randrange(len(STEPS))](dataset, chance)
    if chance.random() < 0.7:
        dataset = dataset.batch(chance.choice([1, 3, 16, 64]), drop_remainder=chance.random() < 0.5)
    return dataset


@pytest.mark.parametrize("seed", range(120))
def test_any_chain_gives_what_it_gives_element_by_element(seed):
    one, other = chain(seed), chain(seed)
    for _ in range(3):  # epochs: seeds are drawn anew, caches are filled
        assert elements(one, PLANNED) == elements(other, PLAIN)
    tf.random.set_seed(None)


def test_running_in_the_calling_thread_gives_the_same():
    for seed in range(30):
        assert elements(chain(seed), DEBUG) == elements(chain(seed), PLAIN)


# --- what is planned --------------------------------------------------------------------------------------------------


def test_the_usual_chains_go_by_the_column():
    slices = Dataset.from_tensor_slices((FLOATS, LONGS))
    assert planned(slices.shuffle(10).repeat(2).map(lambda x, y: (x * 2, y)).batch(8).prefetch(1))
    assert planned(Dataset.range(9).map(lambda x: x + 1).filter(lambda x: x > 3).batch(2))
    assert planned(slices.map(lambda x, y: x, num_parallel_calls=2).take(4).skip(1).shard(2, 0).padded_batch(2))


def calls_in_python(dataset):
    return dataset.map(lambda x: tf.py_function(lambda v: v, [x], tf.int64))


@pytest.mark.parametrize(
    "step",
    [
        calls_in_python,
        lambda ds: ds.map(lambda x: tf.cast(x, tf.float32) + tf.random.uniform([])),
        lambda ds: ds.map(lambda x: tf.range(x)),
        lambda ds: ds.map(lambda x: tf.linalg.matvec(tf.ones([3, 3]), tf.fill([3], tf.cast(x, tf.float32)))),
        lambda ds: ds.map(lambda x: tf.zeros([300, 300])),
    ],
)
def test_what_must_be_called_for_each_element_is(step):
    assert not planned(step(Dataset.range(10)))


def test_a_function_that_reads_a_variable_reads_it_for_each_element():
    count = tf.Variable(0, dtype=tf.int64)
    found = []
    for x in Dataset.range(100).map(lambda x: x + count):
        count.assign_add(1)
        found.append(int(x))
    assert found == [2 * i for i in range(100)]


def test_batches_of_arrays_in_memory_are_views():
    dataset = Dataset.from_tensor_slices(FLOATS).skip(4).batch(8)
    whole = pipe_of(dataset._variant_tensor._array).inputs[0].inputs[0].by_column().arrays[0]
    for batch in dataset:
        assert np.shares_memory(batch._numpy(), whole)


def test_only_as_much_is_computed_as_is_asked_for():
    dataset = Dataset.range(2**40).map(lambda x: x * 2).batch(4)
    assert next(iter(dataset)).numpy().tolist() == [0, 2, 4, 6]
    assert [int(x) for x in Dataset.range(2**60).map(lambda x: x + 1).take(3)] == [1, 2, 3]
    endless = Dataset.range(5).shuffle(3).repeat().map(lambda x: x * x).batch(7)
    assert next(iter(endless)).shape == [7]


# --- errors -----------------------------------------------------------------------------------------------------------


def _fails_at(*bad):
    def check(x):
        distance = tf.reduce_min(tf.abs(tf.stack([x - n for n in bad])))
        inverse = 1.0 / tf.cast(distance, tf.float32)
        return tf.debugging.check_numerics(inverse, "no inverse")

    return check


@pytest.mark.parametrize("bad", [(0,), (5,), (5, 6), (99,), (40, 70)])
@pytest.mark.parametrize(
    "finish",
    [lambda ds: ds, lambda ds: ds.batch(64), lambda ds: ds.shuffle(20, seed=1), lambda ds: ds.map(lambda x: -x)],
)
def test_errors_come_where_their_elements_do(bad, finish):
    assert planned(finish(Dataset.range(100).map(_fails_at(*bad))))
    dataset = finish(Dataset.range(100).map(_fails_at(*bad)))
    by_column = elements(dataset, PLANNED)
    assert [e[2] for e in by_column if e[0] is tf.errors.InvalidArgumentError][:1] == [bad[0]]
    again = finish(Dataset.range(100).map(_fails_at(*bad)))
    assert by_column == elements(again, PLAIN)


def test_an_error_names_the_line_and_the_element():
    dataset = Dataset.range(100).map(_fails_at(70)).batch(100)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        list(dataset)
    assert "`map` was called for element 70" in str(caught.value)
    assert "test_planner.py" in str(caught.value)


def test_errors_of_parallel_calls_name_the_element():
    def slow(x):
        return tf.py_function(lambda v: 1 // int(v - 7), [x], tf.int64)

    with pytest.raises(tf.errors.OpError, match="element 7,"):
        list(Dataset.range(20).map(slow, num_parallel_calls=2))


def test_lines_of_csv_are_read_by_the_column():
    lines = [b"%d.5,%d,w%d" % (i, i, i) for i in range(100)]
    lines[60] = b'1_0,7,"a,b"'  # no number for TensorFlow, and a quoted field

    def columns(line):
        number, whole, word = tf.io.decode_csv(line, [["0"], [0], ["?"]])
        return tf.strings.as_string(whole), tf.strings.upper(word), tf.strings.to_number(number)

    good = Dataset.from_tensor_slices(lines).take(50).map(columns).batch(20)
    assert elements(good, PLANNED) == elements(good, PLAIN)
    assert good.element_spec[0].dtype == tf.string
    bad = Dataset.from_tensor_slices(lines).map(columns)
    planned = elements(bad, PLANNED)
    assert planned == elements(bad, PLAIN) and planned[60][0] is tf.errors.InvalidArgumentError


def elements_and_errors(dataset):
    iterator, seen = iter(dataset), []
    while True:
        try:
            seen.append(next(iterator).numpy().tolist())
        except StopIteration:
            return seen
        except tf.errors.InvalidArgumentError:
            seen.append("error")


@pytest.mark.parametrize("calls", [None, 2])
@pytest.mark.parametrize(
    "batched", [lambda d: d.batch(2), lambda d: d.padded_batch(2, []), lambda d: d.batch(2).prefetch(1)]
)
def test_an_error_takes_the_batch_it_falls_into_and_no_other(calls, batched):
    numbers = Dataset.from_tensor_slices(np.array([1, 2, 4, 0, 5, 10, 1], np.float32))
    divided = numbers.map(lambda x: tf.debugging.check_numerics(10 / x, "quotient"), num_parallel_calls=calls)
    assert elements_and_errors(batched(divided)) == [[10, 5], "error", [2, 1], [10]]


def test_batches_that_need_no_more_work_are_handed_over_together_and_counted_one_by_one():
    dataset = Dataset.range(10_000).map(lambda x: x + 1).batch(8).prefetch(2)
    iterator = iter(dataset)
    seen = [next(iterator).numpy() for _ in range(100)]
    assert iterator._position.taken == 100
    seen += [batch.numpy() for batch in iterator]
    np.testing.assert_array_equal(np.concatenate(seen), np.arange(1, 10_001))


def test_two_threads_share_an_iterator_without_losing_or_doubling_elements():
    iterator = iter(Dataset.range(20_000).map(lambda x: x + 1).batch(4).prefetch(2))
    seen: list[list[int]] = [[], []]

    def go(mine):
        for batch in iterator:
            mine.extend(batch.numpy().tolist())

    threads = [threading.Thread(target=go, args=(mine,)) for mine in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(seen[0] + seen[1]) == list(range(1, 20_001))


def in_pieces(numbers, whole):
    """Return 1 / x of numbers, by whole blocks or one by one."""

    def divided(x):
        quotient = tf.debugging.check_numerics(1 / x, "quotient")
        return quotient if whole else tf.ensure_shape(tf.numpy_function(lambda v: v, [quotient], tf.float32), [])

    return Dataset.from_tensor_slices(np.array(numbers, np.float32)).map(divided)


BEHIND_ERRORS = {
    "repeat": (lambda a, b: a.repeat(2), [1, 0.5, 0.25, 1, 0.5, 0.25]),
    "concatenate": (lambda a, b: a.concatenate(b), [1, 0.5, 0.25, 1, 0.125, 0.0625]),
    "take": (lambda a, b: a.take(3), [1, 0.5, 0.25]),
    "skip": (lambda a, b: a.skip(1), [0.5, 0.25]),
    "shard": (lambda a, b: a.shard(2, 1), [0.5]),
    "scan": (lambda a, b: a.scan(0.0, lambda total, x: (total + x, total + x)), [1, 1.5, 1.75]),
    "unique": (lambda a, b: a.map(lambda x: tf.cast(x * 16, tf.int32)).unique(), [16, 8, 4]),
    "zip": (lambda a, b: Dataset.zip(a, b).map(lambda x, y: x + y), [2, 0.3125]),
    "zip_with_others": (lambda a, b: Dataset.zip(Dataset.range(4), a).map(lambda i, x: i), [0, 1, 3]),
    "choose": (
        lambda a, b: Dataset.choose_from_datasets([a, b], Dataset.range(8).map(lambda i: i % 2)),
        [1, 1, 0.5, 0.125, 0.25, 0.0625],
    ),
}  # the numbers are TensorFlow's


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("name", BEHIND_ERRORS)
def test_what_comes_behind_an_error_is_delivered(name, whole):
    make, expected = BEHIND_ERRORS[name]
    dataset = make(in_pieces([1, 2, 0, 4], whole), in_pieces([1, 0, 8, 16], whole)).ignore_errors()
    assert [float(x) for x in dataset.as_numpy_iterator()] == expected
