"""`for` over datasets and iterators in functions: jumps, variables, arguments, and what is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf

Dataset = tf.data.Dataset


def returns(dataset):
    for x in dataset:
        if x * x > 20:
            return x
    return tf.constant(-1, tf.int64)


def has_else(dataset):
    total = tf.constant(0, tf.int64)
    for x in dataset:
        if x > 5:
            break
        total += x
    else:
        total = -total
    return total


def sets_first(dataset):
    for x in dataset:
        last = x * 2
    return last


def continues(dataset):
    total = tf.constant(0, tf.int64)
    for x in dataset:
        if x % 2 == 0:
            continue
        for y in dataset:
            if y > x:
                break
            total += y
    return total


def collects(dataset):
    found = []
    for x in dataset:
        found.append(x + 1)
    return tf.stack(found)


def maps_and_filters(dataset):
    total = tf.constant(0, tf.int64)
    for x in filter(lambda x: x % 2 == 1, map(lambda x: x * 3, dataset)):
        total += x
    return total


def zips(dataset):
    total = tf.constant(0, tf.int64)
    for x, y in zip(dataset, dataset.skip(2)):
        total += x * y
    return total


def counts(dataset):
    return len(dataset)


def windows(dataset):
    total = tf.constant(0, tf.int64)
    for window in dataset.window(3):
        for x in window:
            last = x
            total += last
    return total


def with_none(dataset):
    for x, _ in dataset.map(lambda x: (x, None)):
        last = x
    return last


def ragged(dataset):
    total = tf.constant(0, tf.int64)
    for rows in dataset.map(lambda n: tf.fill([n], n)).ragged_batch(2):
        total += tf.reduce_sum(rows)
    return total


def dictionary(dataset):
    found = {"sum": tf.constant(0, tf.int64), "count": 0}
    for x in dataset:
        found["sum"] += x
        found["count"] += 1
    return tf.stack([found["sum"], tf.cast(found["count"], tf.int64)])


def until_enough(dataset):
    iterator = iter(dataset)
    total = tf.constant(0, tf.int64)
    while total < 10:
        total += next(iterator)
    return total


# a function, how many elements, what it gives in Python
LOOPS = [
    (returns, 10, 5),
    (returns, 3, -1),
    (has_else, 10, 15),
    (has_else, 4, -6),
    (sets_first, 4, 6),
    (continues, 6, 0 + 1 + 0 + 1 + 2 + 3 + 15),
    (collects, 3, [1, 2, 3]),
    (maps_and_filters, 5, 3 + 9),
    (zips, 5, 0 * 2 + 1 * 3 + 2 * 4),
    (counts, 5, 5),
    (windows, 7, 21),
    (with_none, 3, 2),
    (ragged, 4, 0 + 1 + 4 + 9),
    (dictionary, 4, [6, 4]),
    (until_enough, 10, 10),
]


@pytest.mark.parametrize(("function", "count", "wanted"), LOOPS)
def test_loop(function, count, wanted):
    traced = tf.function(function)
    for _ in range(3):
        assert traced(Dataset.range(count)).numpy().tolist() == wanted
    assert traced.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("function", [returns, has_else])
@pytest.mark.parametrize("count", [3, 10])
def test_loop_over_an_iterator_leaves_the_rest(function, count):
    iterator = iter(Dataset.range(count))
    python = iter(range(count))

    def plain(items):
        for x in items:
            if function is returns and x * x > 20:
                return
            if function is has_else and x > 5:
                return

    plain(python)
    tf.function(function)(iterator)
    assert [int(x) for x in iterator] == list(python)


def test_effects_stop_with_the_loop():
    seen = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def until(limit):
        for x in Dataset.range(10):
            if x == limit:
                break
            seen.assign_add(1)

    until(tf.constant(4, tf.int64))
    assert int(seen) == 4
    until(tf.constant(0, tf.int64))
    assert int(seen) == 4


def test_training_in_a_loop():
    weight = tf.Variable(0.0)

    @tf.function
    def train(dataset):
        for x, y in dataset:
            with tf.GradientTape() as tape:
                loss = (weight * x - y) ** 2
            weight.assign_sub(0.05 * tape.gradient(loss, weight))
        return weight.read_value()

    rows = np.linspace(0.5, 2, 100, dtype=np.float32)
    assert abs(float(train(Dataset.from_tensor_slices((rows, 3 * rows)))) - 3) < 0.01


def test_datasets_of_one_kind_share_a_trace():
    @tf.function
    def total(dataset):
        return dataset.reduce(np.int64(0), lambda state, x: state + x)

    assert [int(total(d)) for d in (Dataset.range(4), Dataset.range(5).map(lambda x: x * 2))] == [6, 20]
    assert total.experimental_get_tracing_count() == 1
    total(Dataset.from_tensors(np.int64(3)))
    assert total.experimental_get_tracing_count() == 1


def test_specs_as_signature():
    @tf.function(input_signature=[tf.data.DatasetSpec(tf.TensorSpec([None], tf.float32))])
    def total(dataset):
        return dataset.reduce(0.0, lambda state, x: state + tf.reduce_sum(x))

    assert float(total(Dataset.from_tensor_slices(np.ones([3, 2], np.float32)))) == 6
    with pytest.raises(TypeError, match="DatasetSpec"):
        total(Dataset.range(3))

    @tf.function(input_signature=[tf.data.IteratorSpec(tf.TensorSpec([], tf.int64))])
    def two(iterator):
        return next(iterator) + next(iterator)

    iterator = iter(Dataset.range(5))
    assert [int(two(iterator)), int(two(iterator))] == [1, 5]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        two(iterator)


def test_an_iterator_from_outside():
    iterator = iter(Dataset.range(10))

    @tf.function
    def one():
        return next(iterator)

    @tf.function
    def until_five():
        total = tf.constant(0, tf.int64)
        for x in iterator:
            if x > 5:
                break
            total += x
        return total

    assert [int(one()), int(one()), int(next(iterator)), int(until_five()), int(one())] == [0, 1, 2, 12, 7]


def test_an_iterator_made_and_used_inside():
    @tf.function
    def first_two():
        iterator = iter(Dataset.range(5))
        return next(iterator), iterator.get_next()

    assert [[int(x) for x in first_two()] for _ in range(3)] == [[0, 1]] * 3


def test_a_dataset_returned_from_a_function():
    @tf.function
    def doubled(dataset):
        return dataset.map(lambda x: x * 2)

    assert [int(x) for x in doubled(Dataset.range(3))] == [0, 2, 4]


def changes_type(dataset):
    total = 0
    for x in dataset:
        total = tf.cast(x, tf.float32)
    return total


def changes_shape(dataset):
    total = tf.zeros([1])
    for _ in dataset:
        total = tf.concat([total, total], 0)
    return total


def changes_structure(dataset):
    total = (tf.constant(0), tf.constant(1))
    for x in dataset:
        total = x
    return total


REFUSED = [
    (changes_type, TypeError, "'total' has dtype int32 before the loop, but dtype float32 after"),
    (changes_structure, TypeError, "'total' does not have the same nested structure"),
]


@pytest.mark.parametrize(("function", "error", "words"), REFUSED)
@pytest.mark.parametrize("given", [lambda: Dataset.range(3), lambda: iter(Dataset.range(3))])
def test_refused(function, error, words, given):
    with pytest.raises(error, match=words):
        tf.function(function)(given())


def test_an_iterator_in_a_loop_keeps_shapes():
    with pytest.raises(ValueError, match=r"'total' has shape \(1,\) before the loop, but shape \(2,\) after"):
        tf.function(changes_shape)(iter(Dataset.range(3)))


@pytest.mark.parametrize("limit", [3, 9])
def test_a_dataset_in_a_loop_loosens_shapes(limit):
    def grown(dataset):
        total, both = tf.zeros([1]), tf.constant(0)
        for x in dataset:
            total, both = tf.concat([total, [1.0]], 0), both + x
            if tf.size(total) > limit:
                break
        return total, both

    numbers = Dataset.from_generator(lambda: iter([1, 2, 3, 4]), tf.int32)  # of unknown rank
    total, both = tf.function(grown)(numbers)
    assert total.shape == min(limit + 1, 5) and both.numpy() == (6 if limit == 3 else 10)
    (loose,) = {str(f.shape) for f in tf.function(grown).get_concrete_function(numbers).outputs[:1]}
    assert loose == "(None,)"


def test_a_shape_that_may_change():
    @tf.function
    def grown(dataset):
        total = tf.zeros([1])
        for _ in dataset:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(total, tf.TensorShape([None]))])
            total = tf.concat([total, [1.0]], 0)
        return total

    assert grown(Dataset.range(3)).numpy().tolist() == [0, 1, 1, 1]


def test_numbering_an_iterator_in_a_graph():
    @tf.function
    def numbered(iterator):
        for i, _ in enumerate(iterator):
            tf.print(i)

    with pytest.raises(TypeError, match="iterator cannot be numbered"):
        numbered(iter(Dataset.range(3)))


def test_a_loop_that_must_run():
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize last"):
        tf.function(sets_first)(Dataset.range(0))


def test_plain_iteration_in_a_graph_is_refused():
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="only supports Python-style iteration"):
        iter(Dataset.range(3))


def test_a_python_loop_over_a_dataset_without_autograph_is_refused():
    @tf.function(autograph=False)
    def f():
        for _ in tf.data.Dataset.range(3):
            pass

    with pytest.raises(ValueError, match="needs AutoGraph"):
        f()
