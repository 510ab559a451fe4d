"""Datasets of datasets: an error in one ends nothing, how many elements there are, and elements that are ragged."""

import threading

import numpy as np
import pytest

import ebbflow as tf

Dataset = tf.data.Dataset


def outcomes(dataset, limit=30):
    """The elements, and "error" where there was one."""
    found, iterator = [], iter(dataset)
    for _ in range(limit):
        try:
            found.append(next(iterator).numpy().item())
        except StopIteration:
            return found
        except tf.errors.InvalidArgumentError:
            found.append("error")
    raise AssertionError(f"no end: {found}")


def spoilt(numbers):
    return Dataset.from_tensor_slices(numbers).map(lambda x: tf.debugging.check_numerics(x, "message"))


WAYS = {
    "flat_map": lambda d, f: d.flat_map(f),
    "interleave": lambda d, f: d.interleave(f, cycle_length=1),
    "parallel": lambda d, f: d.interleave(f, cycle_length=1, num_parallel_calls=2),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_error_of_the_source_ends_nothing(way):
    numbers = spoilt(np.array([1.0, np.nan, 2.0, np.nan, 3.0], np.float32))
    found = outcomes(WAYS[way](numbers, lambda x: Dataset.from_tensors(x).repeat(2)))
    assert found == [1.0, 1.0, "error", 2.0, 2.0, "error", 3.0, 3.0]


@pytest.mark.parametrize("way", WAYS)
def test_an_error_of_an_inner_dataset_ends_nothing(way):
    make = lambda x: spoilt(tf.stack([x, np.nan, x + 1]))
    assert outcomes(WAYS[way](Dataset.from_tensor_slices([1.0, 5.0]), make)) == [1.0, "error", 2.0, 5.0, "error", 6.0]


TURNS = {  # (cycle, block): as TensorFlow 2.21 gives them
    (1, 2): [4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6],
    (2, 1): [4, 5, 4, 5, 4, 5, 4, 5, 5, 6, 6, 6, 6, 6, 6],
    (2, 3): [4, 4, 4, 5, 5, 5, 4, 5, 5, 6, 6, 6, 6, 6, 6],
    (7, 2): [4, 4, 5, 5, 6, 6, 4, 4, 5, 5, 6, 6, 5, 6, 6],
}


@pytest.mark.parametrize("cycle, block", TURNS)
@pytest.mark.parametrize("parallel", [None, 3])
def test_turns(cycle, block, parallel):
    made = lambda x: Dataset.from_tensors(x).repeat(x)
    dataset = Dataset.from_tensor_slices(np.array([4, 5, 6])).interleave(made, cycle, block, parallel)
    assert outcomes(dataset) == TURNS[cycle, block]


def test_how_many_elements_there_are():
    inner = lambda x: Dataset.range(x)
    for dataset, count in ((Dataset.range(0), 0), (Dataset.range(3).repeat(), -1), (Dataset.range(3), -2)):
        assert dataset.flat_map(inner).cardinality() == count
        assert dataset.interleave(inner, 2).cardinality() == count
        assert dataset.group_by_window(lambda x: x, lambda k, d: d.batch(2), 2).cardinality() == count


def test_rows_without_values_are_batched_with_others():
    rows = Dataset.range(4).map(lambda i: tf.RaggedTensor.from_row_lengths(tf.ones([i, 2]), [i]))
    (batch,) = rows.batch(4)
    assert [len(r) for r in batch.to_list()] == [1, 1, 1, 1] and batch.to_list()[3] == [[[1.0, 1.0]] * 3]


def test_ragged_batches_of_rows_that_differ_in_any_axis():
    shapes = {"a": lambda i: [i], "b": lambda i: [i, 2], "c": lambda i: [2, i], "d": lambda i: [2, i, 3, 2 * i, 1]}
    rows = Dataset.range(5).map(lambda i: {k: tf.fill(shape(i), i) for k, shape in shapes.items()})
    expected = [{k: np.full(shape(i), i).tolist() for k, shape in shapes.items()} for i in range(5)]
    found = [{k: v.to_list() for k, v in batch.items()} for batch in rows.ragged_batch(2)]
    assert found == [{k: [row[k] for row in expected[i : i + 2]] for k in shapes} for i in (0, 2, 4)]
    ranks = {k: spec.ragged_rank for k, spec in rows.ragged_batch(2).element_spec.items()}
    assert ranks == {"a": 1, "b": 1, "c": 2, "d": 4}


def test_lengths_of_sparse_elements_are_known_in_functions():
    dataset = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense(np.ones((4, 2, 3), np.float32))).batch(2)

    @tf.function
    def rows(iterator):
        element = next(iterator)
        shape = tf.concat([tf.shape(element)[:-1], [1]], 0)
        assert element.indices.shape.as_list() == [None, 3] and element.dense_shape.shape.as_list() == [3]
        return tf.fill(shape, 1.0)

    iterator = iter(dataset)
    assert rows.get_concrete_function(iterator).output_shapes.as_list() == [None, 2, 1]
    assert rows(iterator).shape.as_list() == [2, 2, 1]


def test_values_of_ragged_and_sparse_tensors_are_elements():
    value = tf.compat.v1.ragged.constant_value([[1, 2], [], [3]])
    assert next(iter(Dataset.from_tensors(value))).to_list() == [[1, 2], [], [3]]
    assert [r.numpy().tolist() for r in Dataset.from_tensor_slices(value)] == [[1, 2], [], [3]]
    deep = tf.compat.v1.ragged.constant_value([[[1], [2, 3]], []])
    assert next(iter(Dataset.from_tensors({"a": deep})))["a"].to_list() == [[[1], [2, 3]], []]
    sparse = tf.compat.v1.SparseTensorValue([[0, 0], [2, 1]], [5, 6], [3, 2])
    rows = [tf.sparse.to_dense(r).numpy().tolist() for r in Dataset.from_tensor_slices(sparse)]
    assert rows == [[5, 0], [0, 0], [0, 6]]


def _mapped(numbers, wait, how):
    return numbers.map(wait, **how)


def _chosen(numbers, wait, how):
    return numbers.map(lambda x: tf.cond(x < 3, lambda: wait(x), lambda: x), **how)


def _interleaved(numbers, wait, how):
    return numbers.interleave(lambda x: Dataset.from_tensors(x).map(wait), cycle_length=3, block_length=2, **how)


@pytest.mark.parametrize("form", [_mapped, _chosen, _interleaved])
@pytest.mark.parametrize("by_option", [False, True])
def test_where_order_is_left_free_none_waits_for_another(by_option, form):
    released = threading.Event()

    def wait(x):
        if x == 0:
            assert released.wait(30)
        return x

    options = tf.data.Options()
    options.deterministic = not by_option
    how = {"num_parallel_calls": 3, "deterministic": None if by_option else False}
    numbers = form(Dataset.range(6), lambda x: tf.numpy_function(wait, [x], tf.int64, stateful=False), how)
    iterator = iter(numbers.with_options(options))
    first = [int(next(iterator)) for _ in range(3)]
    released.set()
    assert 0 not in first and sorted([*first, *map(int, iterator)]) == [0, 1, 2, 3, 4, 5]


def test_reducing_for_ever_can_be_ended():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        sums = tf.data.Dataset.from_tensors(1).repeat().reduce(0, lambda x, y: x + y)
        with pytest.raises((tf.errors.DeadlineExceededError, tf.errors.CancelledError)):
            session.run(sums, options=v1.RunOptions(timeout_in_ms=100))


@pytest.mark.parametrize("sizes", [{"cycle_length": 2**63 - 1}, {"block_length": 2**63 - 1}, {"block_length": 0}])
@pytest.mark.parametrize("parallel", [None, 3])
def test_sizes_beyond_reason_are_refused(sizes, parallel):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"`{next(iter(sizes))}` must be greater than zero and at"):
        list(Dataset.range(3).interleave(Dataset.from_tensors, num_parallel_calls=parallel, **sizes))


def _stops(_):
    raise StopIteration


def _ended(x):
    return Dataset.from_tensors(tf.numpy_function(_stops, [x], tf.int64))


BAD_STAGES = [  # as in TensorFlow 2.21
    (lambda: Dataset.from_tensors([[1]]).sparse_batch(4, [12]), "InvalidArgumentError", "incompatible with the row"),
    (lambda: Dataset.from_tensors(np.arange(13)).sparse_batch(4, [12]), "DataLossError", "larger than the row shape"),
    (
        lambda: Dataset.range(1).scan(np.int64(0), lambda s, x: (s, tf.numpy_function(_stops, [x], tf.int64))),
        "InvalidArgumentError", "produced OutOfRangeError",
    ),
    (lambda: Dataset.range(3).flat_map(_ended), "InternalError", "without setting `.end_of_sequence`.*StopIteration"),
    (
        lambda: Dataset.range(3).group_by_window(lambda x: x, lambda key, window: _ended(key), 2),
        "InternalError", "without setting",
    ),
    (lambda: Dataset.range(3).snapshot("unused", shard_func=lambda x: "x"), "TypeError", "`shard_func` must return a"),
    (lambda: Dataset.range(3).window(2).as_numpy_iterator(), "TypeError", "is not supported for datasets that produce"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "error", "says"), BAD_STAGES)
def test_what_stages_refuse(make, error, says):
    with pytest.raises(getattr(tf.errors, error, None) or TypeError, match=says):
        list(make())


def test_a_sloppy_interleave_waits_for_none():
    others_came = threading.Event()

    def late(x):
        if int(x) == 0:
            assert others_came.wait(60)
        return x

    def rows(x):
        return Dataset.from_tensors(x).map(lambda y: tf.py_function(late, [y], tf.int64))

    numbers = Dataset.range(4).apply(tf.data.experimental.parallel_interleave(rows, 4, sloppy=True))
    found = []
    for x in numbers:
        found.append(int(x))
        if len(found) == 3:
            others_came.set()
    assert sorted(found) == [0, 1, 2, 3] and found[3] == 0
