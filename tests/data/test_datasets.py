"""Datasets where ops run at once: structures, specs, options, caches, writers, optionals."""

from __future__ import annotations

import collections
import gc
import os
import weakref

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.data import structure, traced

Dataset = tf.data.Dataset
Pair = collections.namedtuple("Pair", ["a", "b"])


def numbers(dataset):
    return [x.tolist() for x in dataset.as_numpy_iterator()]


# --- structure --------------------------------------------------------------------------------------------------------

STRUCTURES = [
    3,
    (1, 2),
    {"b": 1, "a": (2, 3)},
    Pair(1, {"x": 2}),
    (Pair(1, 2), [3, 4]),
    collections.OrderedDict([("z", 1), ("y", 2)]),
]


@pytest.mark.parametrize("value", STRUCTURES, ids=str)
def test_flat_and_back(value):
    flat = structure.flatten(value)
    assert structure.pack_as(value, flat) == value
    assert type(structure.pack_as(value, flat)) is type(value)
    assert structure.map_structure(lambda x: x, value) == value


@pytest.mark.parametrize("value", STRUCTURES, ids=str)
def test_elements_keep_their_structure(value):
    (found,) = Dataset.from_tensors(value).map(lambda *x: x[0] if len(x) == 1 else x)
    as_plain = structure.map_structure(lambda t: t.numpy().tolist(), found)
    assert as_plain == value and type(as_plain) is type(value)


def test_lists_are_tensors():
    assert structure.flatten(([1, 2], 3)) == [[1, 2], 3]
    assert Dataset.from_tensors(([1, 2], 3)).element_spec == (tf.TensorSpec([2], tf.int32), tf.TensorSpec([], tf.int32))


@pytest.mark.parametrize(
    ("a", "b"),
    [((1, 2), 3), ((1, 2), (1, (2, 3))), ({"a": 1}, {"b": 1}), ((1,), Pair(1, 2)), ((1, 2), {"a": 1, "b": 2})],
)
def test_different_structures(a, b):
    with pytest.raises(TypeError, match="same nested structure"):
        structure.assert_same(a, b)
    structure.assert_same(a, a)


LEGACY = [
    (tf.int32, None, tf.TensorSpec(None, tf.int32)),
    (tf.int32, [2], tf.TensorSpec([2], tf.int32)),
    ((tf.int32, tf.float32), ([], [None, 2]), (tf.TensorSpec([], tf.int32), tf.TensorSpec([None, 2], tf.float32))),
    ({"a": tf.int32}, {"a": ()}, {"a": tf.TensorSpec([], tf.int32)}),
]


@pytest.mark.parametrize(("types", "shapes", "spec"), LEGACY)
def test_types_and_shapes_apart(types, shapes, spec):
    assert structure.from_legacy(types, shapes) == spec
    assert structure.legacy_types(spec) == types


def test_specs_of_datasets():
    spec = tf.data.DatasetSpec((tf.TensorSpec([], tf.int64), {"a": tf.TensorSpec([2])}))
    same = tf.data.DatasetSpec((tf.TensorSpec([], tf.int64), {"a": tf.TensorSpec([2])}))
    wider = tf.data.DatasetSpec((tf.TensorSpec([], tf.int64), {"a": tf.TensorSpec([None])}))
    assert spec == same and hash(spec) == hash(same) and spec != wider
    assert spec.is_subtype_of(wider) and not wider.is_subtype_of(spec)
    assert spec.most_specific_common_supertype([wider]) == wider
    assert spec.most_specific_common_supertype([tf.data.DatasetSpec(tf.TensorSpec([]))]) is None
    several, none = [tf.data.DatasetSpec(spec.element_spec, [5, n]) for n in (3, 4)], tf.data.DatasetSpec({"b": None})
    assert several[0].most_specific_common_supertype(several) == tf.data.DatasetSpec(spec.element_spec, [5, None])
    assert none.is_subtype_of(none) and none.most_specific_common_supertype([none]) == none
    assert tf.data.DatasetSpec.from_value(Dataset.range(3)) == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    assert tf.data.experimental.get_structure(Dataset.range(3)) == tf.TensorSpec([], tf.int64)
    assert tf.data.experimental.from_list([{"a": 1}, {"a": 2}]).element_spec == {"a": tf.TensorSpec([], tf.int32)}
    uneven = tf.data.experimental.from_list([[[1]], [[2, 3]]])
    assert uneven.element_spec == tf.TensorSpec([1, None], tf.int32)
    assert [x.tolist() for x in uneven.as_numpy_iterator()] == [[[1]], [[2, 3]]]


# --- iterating --------------------------------------------------------------------------------------------------------


def test_names_and_looks():
    assert repr(Dataset.range(2)) == "<_RangeDataset element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>"
    assert bool(Dataset.range(0)) and len(Dataset.range(5).batch(2)) == 3
    assert isinstance(Dataset.range(2).map(lambda x: x), Dataset)
    assert isinstance(tf.compat.v1.data.Dataset.range(2).batch(2), tf.compat.v1.data.Dataset)
    assert isinstance(iter(Dataset.range(1)), tf.data.Iterator)


def test_arrays_are_given_out_read_only():
    (row,) = Dataset.from_tensors([1, 2]).as_numpy_iterator()
    with pytest.raises(ValueError, match="read-only"):
        row[0] = 5


def test_elements_do_not_change_with_their_source():
    source = np.array([1, 2, 3])
    dataset = Dataset.from_tensor_slices(source)
    source[0] = 100
    assert numbers(dataset) == [1, 2, 3]


def test_a_generator_may_use_its_array_again():
    def rows():
        row = np.zeros(1, np.int64)
        for i in range(3):
            row[0] = i
            yield row

    assert numbers(Dataset.from_generator(rows, tf.int64, [1]).batch(3)) == [[[0], [1], [2]]]


def test_an_iteration_holds_nothing_when_it_is_dropped():
    class Held:
        def __iter__(self):
            yield from range(10)

    held = Held()
    gone = weakref.ref(held)
    iterator = iter(Dataset.from_generator(lambda h=held: iter(h), tf.int32, []))
    next(iterator)
    del held, iterator
    gc.collect()
    assert gone() is None


def test_functions_are_traced_once():
    traced = []

    def double(x):
        traced.append(x)
        return x * 2

    dataset = Dataset.range(5).map(double)
    assert numbers(dataset) == numbers(dataset) == [0, 2, 4, 6, 8]
    assert len(traced) == 1


def test_functions_run_in_python_while_debugging(monkeypatch):
    monkeypatch.setattr(traced, "_debugging", [])
    tf.data.experimental.enable_debug_mode()
    seen = []

    def double(x):
        if tf.executing_eagerly():
            seen.append(int(x))
        return {"twice": x * 2, "shape": tf.ones([2])}

    dataset = Dataset.range(3).map(double).filter(lambda e: e["twice"] > 0)
    assert dataset.element_spec["shape"] == tf.TensorSpec([2])
    assert [int(e["twice"]) for e in dataset] == [2, 4] and seen == [0, 1, 2]
    assert numbers(Dataset.range(3).flat_map(lambda n: Dataset.range(n))) == [0, 0, 1]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="only supported in eager mode"):
        tf.data.experimental.enable_debug_mode()


def test_optionals():
    iterator = iter(Dataset.range(1))
    first, second = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    assert bool(first.has_value()) and int(first.get_value()) == 0 and not bool(second.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        second.get_value()
    made = tf.experimental.Optional.from_value({"a": 1})
    assert made.element_spec == {"a": tf.TensorSpec([], tf.int32)} and int(made.get_value()["a"]) == 1
    none = tf.experimental.Optional.empty(tf.TensorSpec([]))
    assert not bool(none.has_value())
    pair, one = tf.experimental.Optional.from_value((1.0, 2.0)), tf.experimental.Optional.from_value(1.0)
    for tensor, value in (
        (tf.add_n([pair._variant_tensor] * 2), (2.0, 4.0)),
        (tf.zeros_like(pair._variant_tensor), (0, 0)),
    ):
        assert tf.experimental.Optional(tensor, pair.element_spec).get_value() == value
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be added"):
        tf.add_n([one._variant_tensor, none._variant_tensor])


# --- options ----------------------------------------------------------------------------------------------------------


def test_options_are_kept():
    options = tf.data.Options()
    options.deterministic = False
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    dataset = Dataset.range(3).with_options(options).map(lambda x: x).batch(2)
    assert dataset.options() == options
    more = tf.data.Options()
    more.threading.private_threadpool_size = 3
    whole = dataset.with_options(more).options()
    assert whole.deterministic is False and whole.threading.private_threadpool_size == 3
    assert Dataset.zip((Dataset.range(2), dataset)).options().deterministic is False
    assert Dataset.range(2).options() == tf.data.Options()
    with pytest.raises(TypeError, match=r"tf.data.Options"):
        Dataset.range(2).with_options({"deterministic": True})


# --- keeping ----------------------------------------------------------------------------------------------------------


def counted(seen):
    def count(x):
        seen.append(int(x))
        return x

    return Dataset.range(4).map(lambda x: tf.numpy_function(count, [x], tf.int64))


def test_cache_in_memory():
    seen = []
    dataset = counted(seen).cache()
    next(iter(dataset))
    assert numbers(dataset) == [0, 1, 2, 3] and seen == [0, 0, 1, 2, 3]
    assert numbers(dataset) == [0, 1, 2, 3] and len(seen) == 5


def test_cache_in_a_file(tmp_path):
    seen, path = [], str(tmp_path / "kept")
    dataset = Dataset.zip((counted(seen), Dataset.from_tensor_slices(["a", "b", "c", "d"]))).cache(path)
    wanted = [(i, word.encode()) for i, word in enumerate("abcd")]
    next(iter(dataset))
    assert not list(tmp_path.iterdir())  # not whole: it is not kept
    assert list(dataset.as_numpy_iterator()) == wanted and len(seen) == 5
    assert list(dataset.as_numpy_iterator()) == wanted and len(seen) == 5
    again = Dataset.zip((counted(seen), Dataset.from_tensor_slices(["a", "b", "c", "d"]))).cache(path)
    assert list(again.as_numpy_iterator()) == wanted and len(seen) == 5


@pytest.mark.parametrize("initial", [None, [0.25] * 4])
def test_a_class_is_that_of_its_element_in_any_order(initial):
    rows = Dataset.range(4000).shuffle(500).map(lambda x: (x % 4, {"text": tf.strings.as_string(x)}))
    kept = rows.rejection_resample(lambda label, row: label, [0.7, 0.1, 0.1, 0.1], initial, seed=3)
    found = [(int(label), int(element[0]), int(element[1]["text"].numpy()) % 4) for label, element in kept]
    assert all(a == b == c for a, b, c in found)
    assert abs(np.mean([a == 0 for a, _, _ in found]) - 0.7) < 0.06


def test_records_written_and_read(tmp_path):
    path = str(tmp_path / "some.tfrecord")
    words = Dataset.from_tensor_slices(["one", "", "three"])
    tf.data.experimental.TFRecordWriter(path, "GZIP").write(words)
    assert list(tf.data.TFRecordDataset(path, "GZIP").as_numpy_iterator()) == [b"one", b"", b"three"]
    with pytest.raises(TypeError, match=r"scalar `tf.string` elements"):
        tf.data.experimental.TFRecordWriter(path).write(Dataset.range(3))


def test_many_lines(tmp_path):
    path = tmp_path / "long.txt"
    lines = [b"x" * (i % 700) for i in range(2000)]
    path.write_bytes(b"\n".join(lines))
    assert list(tf.data.TextLineDataset(path).as_numpy_iterator()) == lines
    assert list(tf.data.TextLineDataset([str(path)] * 2, num_parallel_reads=2).as_numpy_iterator())[:3] == [
        b"",
        b"",
        b"x",
    ]


def test_a_cut_file_is_a_loss(tmp_path):
    path = tmp_path / "cut.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"x" * 100)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(tf.errors.DataLossError, match=r"cut.tfrecord"):
        list(tf.data.TFRecordDataset(str(path)))


# --- random order -----------------------------------------------------------------------------------------------------


def test_unseeded_order_differs():
    dataset = Dataset.range(1000).shuffle(1000)
    first, second = numbers(dataset), numbers(dataset)
    assert first != second and sorted(first) == sorted(second) == list(range(1000))
    fixed = Dataset.range(1000).shuffle(1000, reshuffle_each_iteration=False)
    assert numbers(fixed) == numbers(fixed)


def test_the_programs_seed():
    found = []
    for _ in range(2):
        tf.random.set_seed(7)
        found.append(numbers(Dataset.range(10).shuffle(10)))
    tf.random.set_seed(None)
    assert found == [[8, 9, 2, 3, 1, 5, 4, 6, 7, 0]] * 2  # TensorFlow's


def test_each_element_waits_in_the_buffer():
    order = numbers(Dataset.range(50).shuffle(5, seed=9))
    assert sorted(order) == list(range(50))
    assert all(place - order.index(place) < 5 for place in range(50))


@pytest.mark.parametrize("initial", [[0.9, 0.1], None])
def test_resampling(initial):
    labels = Dataset.from_tensor_slices(np.array([0] * 9 + [1])).repeat(150)
    resampled = labels.rejection_resample(lambda x: x, [0.5, 0.5], initial, seed=3)
    found = [int(label) for label, _ in resampled]
    assert 0.4 < np.mean(found) < 0.6 and len(found) > 150


# --- composite values -------------------------------------------------------------------------------------------------


def test_serialized_sparse_tensors():
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [1.5, 2.5], [3, 2])
    for out_type in (tf.string, tf.variant):
        parts = tf.raw_ops.SerializeSparse(
            sparse_indices=sparse.indices,
            sparse_values=sparse.values,
            sparse_shape=sparse.dense_shape,
            out_type=out_type,
        )
        rows = tf.raw_ops.SerializeManySparse(
            sparse_indices=sparse.indices,
            sparse_values=sparse.values,
            sparse_shape=sparse.dense_shape,
            out_type=out_type,
        )
        assert rows.shape == [3, 3]
        for given, shape in ((parts, [3, 2]), (rows, [3, 2])):
            back = tf.raw_ops.DeserializeSparse(serialized_sparse=given, dtype=tf.float32)
            assert back.sparse_values.numpy().tolist() == [1.5, 2.5] and back.sparse_shape.numpy().tolist() == shape


def test_ragged_tensors_in_variants():
    ragged = tf.ragged.constant([[[1, 2], []], [[3]]])
    splits, values = list(ragged.nested_row_splits), ragged.flat_values
    whole = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values, batched_input=False)
    rows = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values, batched_input=True)
    assert whole.shape == [] and rows.shape == [2]
    for encoded, inner in ((whole, 2), (rows, 1)):
        found = tf.raw_ops.RaggedTensorFromVariant(
            encoded_ragged=encoded, input_ragged_rank=inner, output_ragged_rank=2, Tvalues=tf.int32, Tsplits=tf.int64
        )
        assert found.output_dense_values.numpy().tolist() == [1, 2, 3]
        assert [s.numpy().tolist() for s in found.output_nested_splits] == [[0, 2, 3], [0, 2, 2, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="output_ragged_rank"):
        tf.raw_ops.RaggedTensorFromVariant(
            encoded_ragged=rows, input_ragged_rank=3, output_ragged_rank=2, Tvalues=tf.int32, Tsplits=tf.int64
        )


WORDS = [
    (lambda: list(Dataset.range(3).batch(0)), "Batch size must be greater than zero, got batch_size = 0"),
    (lambda: list(Dataset.range(3).shard(2, 5)), r"between 0 and 1 \(currently index = 5\)"),
    (
        lambda: list(Dataset.range(3).map(lambda n: tf.fill([n], n)).batch(3)),
        r"First element had shape \[0\] and element 1",
    ),
    (
        lambda: list(Dataset.from_generator(lambda: iter([[1, 2]]), tf.int32, [3])),
        r"of shape \(2,\) where .* shape \(3,\)",
    ),
    (lambda: list(Dataset.from_generator(lambda: iter(["a"]), tf.int32, [])), "expected type was int32, but .* was a"),
    (lambda: list(Dataset.from_tensors(1).concatenate(Dataset.from_tensors(1.0))), "(?s)int32.*float32"),
    (lambda: Dataset.from_tensor_slices(([1, 2], [1, 2, 3])), "Dimensions 2 and 3 are not compatible"),
    (lambda: Dataset.range(3).reduce(0, lambda s, x: x), "Expected .*int32.*got .*int64"),
    (lambda: list(tf.data.TextLineDataset("/nothing/here.txt")), "/nothing/here.txt"),
    (lambda: tf.data.TextLineDataset(0), "Got `tf.int32` elements"),
    (lambda: tf.data.TextLineDataset(Dataset.range(3)), "Got a dataset of `tf.int64` elements"),
    (lambda: tf.data.TextLineDataset(Dataset.from_tensors(["a"])), "of shape .* .i.e. scalars"),
    (lambda: Dataset.range(3).filter(lambda x: x), r"must return a `tf.bool` scalar tensor.*int64"),
    (lambda: list(Dataset.range(3).shard(-1, -1)), "where workers share"),
    (lambda: Dataset.list_files("/nothing/*.here"), "No files matched pattern: /nothing/\\*.here"),
    (lambda: Dataset.range(3).map(3), "`map` must be a function"),
    (
        lambda: list(
            Dataset.from_tensors([1] * 9).bucket_by_sequence_length(tf.size, [3], [1, 1], pad_to_bucket_boundary=True)
        ),
        "elements must have length < max.bucket_boundaries.",
    ),
    (lambda: Dataset.range(3).apply(tf.data.experimental.pad_to_cardinality(5)), "input dataset to be a dictionary"),
    (
        lambda: Dataset.from_tensors({"a": 1}).repeat(5).apply(tf.data.experimental.pad_to_cardinality(3)),
        r"less than the target cardinality \(3\), but has cardinality 5",
    ),
    (
        lambda: tf.raw_ops.DatasetToTFRecord(
            input_dataset=Dataset.from_tensors(["a", "b"])._variant_tensor, filename=os.devnull, compression_type=""
        ),
        "only supports scalar elements",
    ),
    (lambda: Dataset.zip(), "Must pass at least one dataset"),
    (lambda: tf.io.serialize_tensor(tf.Variable(1).handle), "means something in this process only"),
]


def test_datasets_are_batched_as_elements_are():
    several = Dataset.range(5).map(lambda i: Dataset.from_tensors(i).repeat(2)).batch(3)
    assert several.element_spec == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64), [None])
    apart = several.map(lambda x: x).unbatch().flat_map(lambda x: x)
    assert list(apart.as_numpy_iterator()) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_what_is_padded_to_a_number_of_elements():
    found = Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]}).apply(tf.data.experimental.pad_to_cardinality(3))
    assert int(found.cardinality()) == 3
    rows = [tuple(row.values()) for row in found.as_numpy_iterator()]
    assert rows == [(1, b"x", True), (2, b"y", True), (0, b"", False)]


@pytest.mark.parametrize(("program", "words"), WORDS)
def test_refusals_say_what_was_given(program, words):
    with pytest.raises((tf.errors.OpError, TypeError, ValueError), match=words):
        program()


@pytest.mark.parametrize(
    ("sizes", "whole", "expected"),
    [
        (2, False, [[0, 1], [2, 3], [4, 5], [6]]),
        (2, True, [[0, 1], [2, 3], [4, 5]]),
        ([3, 1], False, [[0, 1, 2], [3], [4, 5, 6]]),
        ([2, 0, 3], False, [[0, 1], [], [2, 3, 4], [5, 6], []]),
        ([2, 0], False, [[0, 1], [], [2, 3], [], [4, 5], [], [6]]),
        ([5, 4], True, [[0, 1, 2, 3, 4]]),
    ],
)
def test_rows_come_in_batches_of_other_sizes_in_turn(sizes, whole, expected):
    dataset = tf.data.Dataset.range(7).batch(4).rebatch(sizes, drop_remainder=whole)
    assert [x.numpy().tolist() for x in dataset] == expected


def test_sizes_of_batches_that_make_no_sense_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"batch_sizes must be >= 0.*got \[0, 0\]"):
        list(tf.data.Dataset.range(7).batch(4).rebatch([0, 0]))
    with pytest.raises(ValueError, match="Cannot rebatch elements that are scalars"):
        tf.data.Dataset.range(7).rebatch(2)


def test_a_generator_goes_on_behind_an_element_that_is_refused():
    def generate():
        yield [1, 2, 3]
        yield [4, 5]
        yield [6, 7, 8]

    iterator = iter(tf.data.Dataset.from_generator(generate, output_types=tf.int64, output_shapes=[3]))
    assert next(iterator).numpy().tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="yielded an element of shape"):
        next(iterator)
    assert next(iterator).numpy().tolist() == [6, 7, 8]
    assert next(iterator, None) is None and next(iterator, None) is None


def test_a_range_is_a_column():
    assert [int(x) for x in tf.data.Dataset.from_tensor_slices(range(3))] == [0, 1, 2]
    assert [x[0].numpy().tolist() for x in tf.data.Dataset.from_tensors((range(3), 1))] == [[0, 1, 2]]


def test_a_reducer_hands_on_the_parts_of_its_state():
    reducer = tf.data.experimental.Reducer(
        lambda key: (0.0, 0.0), lambda state, x: (state[0] + tf.cast(x, tf.float32), state[1] + 1), lambda a, b: a / b
    )
    dataset = tf.data.Dataset.range(6).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, reducer))
    assert [float(x) for x in dataset] == [2.0, 3.0]


def test_random_datasets_are_classes():
    for door in (tf, tf.compat.v1):
        kind = door.data.experimental.RandomDataset
        numbers = kind(seed=3)
        assert isinstance(numbers, kind) and isinstance(numbers, door.data.Dataset)
        assert [int(x) for x in numbers.take(2)] == [int(x) for x in Dataset.random(seed=3).take(2)]


def test_an_iterator_over_arrays_is_saved_and_restored():
    iterator = Dataset.range(9).shuffle(4, seed=1).as_numpy_iterator()
    iterator.next()
    state = iterator.save()
    rest = list(iterator)
    iterator.restore(state)
    assert list(iterator) == rest and len(rest) == 8


@pytest.mark.parametrize("in_file", [False, True])
def test_what_is_known_to_be_whole_is_cached_with_its_last_element(in_file, tmp_path):
    """As TensorFlow does: nobody has to ask for what comes behind the last."""

    def cached(number):
        path = str(tmp_path / str(number)) if in_file else ""
        return Dataset.range(40).shuffle(40).cache(path)

    dataset = cached(0)
    first, second = iter(dataset), iter(dataset)
    numbers = [next(first).numpy() for _ in range(40)]
    third = iter(dataset)
    assert [next(third).numpy() for _ in range(40)] == numbers
    assert sorted(next(second).numpy() for _ in range(40)) == list(range(40))  # it had begun before, and goes on
    zipped = Dataset.zip(tuple([cached(number) for number in (1, 2, 3)]))
    assert list(zipped.as_numpy_iterator()) == list(zipped.as_numpy_iterator())


def test_the_end_of_something_in_a_function_is_no_end_of_the_dataset():
    dataset = Dataset.range(2).map(lambda x: next(iter(Dataset.range(0))) + x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Function invocation produced OutOfRangeError"):
        next(iter(dataset))


def test_lengths_below_minus_one_are_no_padded_shapes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="padded_shapes must hold sizes"):
        list(Dataset.range(4).map(lambda x: tf.fill([x], x)).padded_batch(2, padded_shapes=-tf.constant([5], tf.int64)))


def test_ragged_rows_in_batches_of_several_sizes():
    rows = Dataset.from_tensor_slices(tf.ragged.constant([[0], [1, 2], [], [3, 4, 5], [6]]))
    batches = rows.batch(3).map(lambda x: x).rebatch([1, 2])
    assert [batch.to_list() for batch in batches] == [[[0]], [[1, 2], []], [[3, 4, 5]], [[6]]]


def test_optionals_of_dictionaries_keep_their_keys_in_order():
    made = tf.function(lambda x: tf.experimental.Optional.from_value({"loss": x, "accuracy": x + 1, "b": x * 2}))(1.0)
    assert bool(made.has_value())
    assert [(k, float(v)) for k, v in made.get_value().items()] == [("loss", 1.0), ("accuracy", 2.0), ("b", 2.0)]
    none = tf.experimental.Optional.empty(made.element_spec)
    assert not none.has_value()
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        none.get_value()


def test_equal_types_of_iterators_find_one_trace():
    step = tf.function(lambda iterator: next(iterator)["x"], reduce_retracing=True)
    made = [iter(tf.data.Dataset.from_tensors({"x": np.float32(i), "y": i})) for i in range(3)]
    assert [float(step(iterator)) for iterator in made] == [0.0, 1.0, 2.0]
    assert step.experimental_get_tracing_count() == 1
    assert made[0]._type_spec is made[1]._type_spec
