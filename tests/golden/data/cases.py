"""Programs with datasets: what TensorFlow gives for them is recorded beside (`tools/record/datasets.py`).

`DATASETS` make a dataset, `LOOPS` return a value from a tf.function, `REFUSED` fail. Each is a function of the `tf` to
use and of a folder with the files of `write_files`.
"""

import collections
import os

import numpy as np

Pair = collections.namedtuple("Pair", ["a", "b"])
ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)


def write_files(tf, folder):
    """Write the files that some programs read."""
    for name, lines in (("a.txt", b"one\ntwo\r\n\nfour"), ("b.txt", b"five\n")):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(lines)
    with open(os.path.join(folder, "table.csv"), "wb") as file:
        file.write(b'n,x,word\n1,2.5,"a, b"\n2,,"say ""yes"""\n-3,1e3,\n')
    with open(os.path.join(folder, "pieces.bin"), "wb") as file:
        file.write(b"HHaaabbbcccF")
    for i, compression in enumerate(["", "GZIP"]):
        writer = tf.io.TFRecordWriter(os.path.join(folder, f"r{i}.tfrecord"), compression)
        for record in (b"x", b"", b"three"):
            writer.write(record + str(i).encode())
        writer.close()


def lengths(tf, upto):
    """Return vectors of the lengths 0, 1, …"""
    return tf.data.Dataset.range(upto).map(lambda n: tf.fill([n], n))


def scan_with_break(tf, dataset):
    """Return a dataset of running sums."""
    return dataset.scan(np.int64(0), lambda state, x: (state + x, (state, x)))


def generator(*values):
    """Return a generator function over values."""

    def generate():
        yield from values

    return generate


def turned(x):
    """Return a number, less than zero where it is odd."""
    if x % 2 == 0:
        return x
    return -x


def _bucket(tf, **given):
    return lengths(tf, 9).bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2], **given)


def ragged(tf):
    """Return a small ragged tensor."""
    return tf.ragged.constant([[1, 2], [], [3]])


def sparse(tf):
    """Return a small sparse tensor."""
    return tf.SparseTensor([[0, 1], [2, 0], [2, 2]], [5, 6, 7], [4, 3])


DATASETS = {
    "from_tensors": lambda tf, d: tf.data.Dataset.from_tensors(([1, 2], {"b": 2.5, "a": "x"})),
    "from_tensors_scalar": lambda tf, d: tf.data.Dataset.from_tensors(3),
    "slices": lambda tf, d: tf.data.Dataset.from_tensor_slices(ROWS),
    "slices_of_lists": lambda tf, d: tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]),
    "slices_of_tuple": lambda tf, d: tf.data.Dataset.from_tensor_slices((ROWS, ["a", "b", "c", "d"])),
    "slices_of_dict": lambda tf, d: tf.data.Dataset.from_tensor_slices({"x": ROWS, "y": ([1, 2, 3, 4],)}),
    "slices_of_namedtuple": lambda tf, d: tf.data.Dataset.from_tensor_slices(Pair([1, 2], [True, False])),
    "slices_empty": lambda tf, d: tf.data.Dataset.from_tensor_slices(np.zeros([0, 2], np.float32)),
    "range": lambda tf, d: tf.data.Dataset.range(5),
    "range_steps": lambda tf, d: tf.data.Dataset.range(10, 2, -3),
    "range_none": lambda tf, d: tf.data.Dataset.range(3, 1),
    "zip": lambda tf, d: tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(5, 10))),
    "zip_nested": lambda tf, d: tf.data.Dataset.zip(
        {"a": tf.data.Dataset.range(3), "b": (tf.data.Dataset.from_tensor_slices(ROWS),)}
    ),
    "concatenate": lambda tf, d: tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(5, 7)),
    "concatenate_shapes": lambda tf, d: tf.data.Dataset.from_tensors([1, 2]).concatenate(
        tf.data.Dataset.from_tensors([1, 2, 3])
    ),
    "map": lambda tf, d: tf.data.Dataset.range(4).map(lambda x: x * x + 1),
    "map_parallel": lambda tf, d: tf.data.Dataset.range(20).map(lambda x: x * x, num_parallel_calls=3),
    "map_tuple": lambda tf, d: tf.data.Dataset.from_tensor_slices((ROWS, [1, 2, 3, 4])).map(
        lambda x, n: {"sum": tf.reduce_sum(x), "n": (n, -n)}
    ),
    "map_to_list": lambda tf, d: tf.data.Dataset.range(2).map(lambda x: [x, x + 1]),
    "map_of_dict": lambda tf, d: tf.data.Dataset.from_tensor_slices({"a": [1, 2]}).map(lambda e: e["a"] * 2),
    "map_of_namedtuple": lambda tf, d: tf.data.Dataset.from_tensor_slices(Pair([1, 2], [3, 4])).map(
        lambda pair: Pair(pair.b, pair.a)
    ),
    "map_constant": lambda tf, d: tf.data.Dataset.range(2).map(lambda x: 7),
    "map_with_if": lambda tf, d: tf.data.Dataset.range(5).map(turned),
    "flat_map": lambda tf, d: tf.data.Dataset.range(4).flat_map(lambda n: tf.data.Dataset.range(n)),
    "interleave": lambda tf, d: tf.data.Dataset.range(1, 6).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(6), cycle_length=2, block_length=4
    ),
    "interleave_uneven": lambda tf, d: tf.data.Dataset.range(6).interleave(
        lambda x: tf.data.Dataset.range(x).map(lambda y: x * 10 + y), cycle_length=3, block_length=2
    ),
    "interleave_parallel": lambda tf, d: tf.data.Dataset.range(6).interleave(
        lambda x: tf.data.Dataset.range(x).map(lambda y: x * 10 + y),
        cycle_length=3,
        block_length=2,
        num_parallel_calls=2,
    ),
    "interleave_one": lambda tf, d: tf.data.Dataset.range(3).interleave(
        lambda x: tf.data.Dataset.range(x + 1), cycle_length=1
    ),
    "filter": lambda tf, d: tf.data.Dataset.range(10).filter(lambda x: x % 3 == 1),
    "filter_tuple": lambda tf, d: tf.data.Dataset.from_tensor_slices(([1, 2, 3], [3, 2, 1])).filter(lambda a, b: a < b),
    "batch": lambda tf, d: tf.data.Dataset.range(7).batch(3),
    "batch_whole": lambda tf, d: tf.data.Dataset.range(7).batch(3, drop_remainder=True),
    "batch_of_batch": lambda tf, d: tf.data.Dataset.from_tensor_slices((ROWS, ["a", "b", "c", "d"])).batch(2).batch(2),
    "batch_larger": lambda tf, d: tf.data.Dataset.range(2).batch(5),
    "padded_batch": lambda tf, d: lengths(tf, 5).padded_batch(2, padded_shapes=[None]),
    "padded_batch_to": lambda tf, d: lengths(tf, 5).padded_batch(2, [6], np.int64(-1)),
    "padded_batch_tuple": lambda tf, d: (
        lengths(tf, 4)
        .map(lambda x: (x, tf.cast(x, tf.float32)))
        .padded_batch(3, ([None], [4]), (np.int64(9), 0.5), drop_remainder=True)
    ),
    "padded_batch_scalars": lambda tf, d: tf.data.Dataset.range(4).padded_batch(3, []),
    "unbatch": lambda tf, d: tf.data.Dataset.from_tensors((ROWS, [1, 2, 3, 4])).unbatch(),
    "unbatch_uneven": lambda tf, d: lengths(tf, 4).unbatch(),
    "shuffle": lambda tf, d: tf.data.Dataset.range(12).shuffle(5, seed=3),
    "shuffle_all": lambda tf, d: tf.data.Dataset.range(12).shuffle(100, seed=1),
    "shuffle_repeat": lambda tf, d: tf.data.Dataset.range(6).shuffle(4, seed=7).repeat(3),
    "shuffle_same": lambda tf, d: tf.data.Dataset.range(6).shuffle(4, seed=7, reshuffle_each_iteration=False).repeat(3),
    "shuffle_one": lambda tf, d: tf.data.Dataset.range(4).shuffle(1, seed=5),
    "repeat_shuffle": lambda tf, d: tf.data.Dataset.range(5).repeat(3).shuffle(4, seed=11),
    "shuffle_large": lambda tf, d: tf.data.Dataset.range(300).shuffle(64, seed=2**31 + 5).batch(50),
    "shuffle_inside": lambda tf, d: tf.data.Dataset.range(2).flat_map(
        lambda x: tf.data.Dataset.range(4).shuffle(4, seed=1)
    ),
    "random_in_map": lambda tf, d: (
        tf.data.Dataset.range(2).map(lambda x: tf.random.uniform([], maxval=1000, dtype=tf.int32, seed=3)).repeat(2)
    ),
    "random_in_map_ahead": lambda tf, d: (
        tf.data.Dataset.range(4).map(lambda x: tf.random.uniform([], maxval=1000, dtype=tf.int32, seed=3)).prefetch(2)
    ),
    "random_in_filter": lambda tf, d: tf.data.Dataset.range(12).filter(lambda x: tf.random.uniform([], seed=5) < 0.5),
    "random_inside": lambda tf, d: tf.data.Dataset.range(2).flat_map(
        lambda x: tf.data.Dataset.range(2).map(lambda y: tf.random.uniform([], maxval=99, dtype=tf.int32, seed=4))
    ),
    "repeat": lambda tf, d: tf.data.Dataset.range(2).repeat(3),
    "repeat_for_ever": lambda tf, d: tf.data.Dataset.range(2).repeat().take(5),
    "repeat_zero": lambda tf, d: tf.data.Dataset.range(2).repeat(0),
    "repeat_of_nothing": lambda tf, d: tf.data.Dataset.range(0).repeat(),
    "take": lambda tf, d: tf.data.Dataset.range(5).take(2),
    "take_all": lambda tf, d: tf.data.Dataset.range(5).take(-1),
    "skip": lambda tf, d: tf.data.Dataset.range(5).skip(3),
    "skip_all": lambda tf, d: tf.data.Dataset.range(5).skip(-1),
    "shard": lambda tf, d: tf.data.Dataset.range(10).shard(4, 1),
    "prefetch": lambda tf, d: tf.data.Dataset.range(5).prefetch(2),
    "prefetch_none": lambda tf, d: tf.data.Dataset.range(3).prefetch(0),
    "cache": lambda tf, d: tf.data.Dataset.range(3).cache().repeat(2),
    "enumerate": lambda tf, d: tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(start=3),
    "window": lambda tf, d: tf.data.Dataset.range(7).window(3).flat_map(lambda w: w.batch(3)),
    "window_shift": lambda tf, d: tf.data.Dataset.range(7).window(3, shift=1).flat_map(lambda w: w.batch(3)),
    "window_stride": lambda tf, d: (
        tf.data.Dataset.range(9).window(3, shift=2, stride=2, drop_remainder=True).flat_map(lambda w: w.batch(3))
    ),
    "window_apart": lambda tf, d: tf.data.Dataset.range(11).window(2, shift=4).flat_map(lambda w: w.batch(2)),
    "window_tuple": lambda tf, d: (
        tf.data.Dataset.from_tensor_slices(([1, 2, 3], [4, 5, 6]))
        .window(2)
        .flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(2), b.batch(2))))
    ),
    "scan": lambda tf, d: scan_with_break(tf, tf.data.Dataset.range(5)),
    "take_while": lambda tf, d: tf.data.Dataset.range(10).take_while(lambda x: x * x < 20),
    "group_by_window": lambda tf, d: tf.data.Dataset.range(10).group_by_window(
        key_func=lambda x: x % 3, reduce_func=lambda key, window: window.batch(2), window_size=3
    ),
    "group_sizes": lambda tf, d: tf.data.Dataset.range(12).group_by_window(
        key_func=lambda x: x % 2,
        reduce_func=lambda key, window: window.batch(10).map(lambda b: (key, b)),
        window_size_func=lambda key: key + 2,
    ),
    "buckets": lambda tf, d: _bucket(tf),
    "buckets_to_boundary": lambda tf, d: lengths(tf, 5).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2], pad_to_bucket_boundary=True
    ),
    "buckets_whole": lambda tf, d: _bucket(tf, drop_remainder=True),
    "random": lambda tf, d: tf.data.Dataset.random(seed=4).take(3),
    "sample": lambda tf, d: tf.data.Dataset.sample_from_datasets(
        [tf.data.Dataset.range(5), tf.data.Dataset.range(10, 15), tf.data.Dataset.range(20, 22)],
        [0.2, 0.5, 0.3],
        seed=8,
    ),
    "sample_until_empty": lambda tf, d: tf.data.Dataset.sample_from_datasets(
        [tf.data.Dataset.range(5), tf.data.Dataset.range(10, 15)], seed=3, stop_on_empty_dataset=True
    ),
    "sample_zero_weight": lambda tf, d: tf.data.Dataset.sample_from_datasets(
        [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)], [0.0, 1.0], seed=3
    ),
    "choose": lambda tf, d: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)], tf.data.Dataset.range(2).repeat(4)
    ),
    "choose_on": lambda tf, d: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)], tf.data.Dataset.range(2).repeat(4), False
    ),
    "unique": lambda tf, d: tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique(),
    "unique_strings": lambda tf, d: tf.data.Dataset.from_tensor_slices(["b", "a", "b"]).unique(),
    "apply": lambda tf, d: tf.data.Dataset.range(5).apply(lambda ds: ds.skip(2)),
    "ignore_errors": lambda tf, d: (
        tf.data.Dataset.from_tensor_slices([1.0, 0.0, 4.0])
        .map(lambda x: tf.debugging.check_numerics(1.0 / x, "not finite"))
        .apply(tf.data.experimental.ignore_errors())
    ),
    "assert_cardinality": lambda tf, d: (
        tf.data.Dataset.range(5).filter(lambda x: x < 3).apply(tf.data.experimental.assert_cardinality(3))
    ),
    "counter": lambda tf, d: tf.data.Dataset.counter(5, -2).take(3),
    "rebatch": lambda tf, d: tf.data.Dataset.range(7).batch(3).rebatch(2),
    "group_by_reducer": lambda tf, d: tf.data.Dataset.range(10).apply(
        tf.data.experimental.group_by_reducer(
            lambda x: x % 3,
            tf.data.experimental.Reducer(lambda key: np.int64(0), lambda s, x: s + x, lambda s: s * 2),
        )
    ),
    "generator": lambda tf, d: tf.data.Dataset.from_generator(generator(1, 2, 3), tf.int64),
    "generator_tuple": lambda tf, d: tf.data.Dataset.from_generator(
        generator((1, [1.5]), (2, [1.0, 2.0])), (tf.int32, tf.float32), ((), (None,))
    ),
    "generator_dict": lambda tf, d: tf.data.Dataset.from_generator(
        generator({"a": "x", "b": 1}, {"b": 2, "a": "y"}), {"a": tf.string, "b": tf.int32}, {"a": (), "b": ()}
    ),
    "generator_signature": lambda tf, d: tf.data.Dataset.from_generator(
        generator((np.zeros(2, np.float32), True)),
        output_signature=(tf.TensorSpec([2], tf.float32), tf.TensorSpec([], tf.bool)),
    ),
    "generator_ragged": lambda tf, d: tf.data.Dataset.from_generator(
        generator(ragged(tf)), output_signature=tf.RaggedTensorSpec([3, None], tf.int32)
    ),
    "generator_args": lambda tf, d: tf.data.Dataset.from_generator(
        lambda n: iter(range(int(n))), tf.int32, [], args=(3,)
    ),
    "generator_empty": lambda tf, d: tf.data.Dataset.from_generator(generator(), tf.float32, [2]),
    "ragged_slices": lambda tf, d: tf.data.Dataset.from_tensor_slices(ragged(tf)),
    "ragged_batch": lambda tf, d: tf.data.Dataset.from_tensor_slices(ragged(tf)).batch(2),
    "ragged_map": lambda tf, d: tf.data.Dataset.from_tensors(ragged(tf)).map(lambda r: r * 2).repeat(2).batch(2),
    "ragged_unbatch": lambda tf, d: tf.data.Dataset.from_tensors(ragged(tf)).unbatch(),
    "to_ragged_batch": lambda tf, d: lengths(tf, 5).ragged_batch(2),
    "to_sparse_batch": lambda tf, d: lengths(tf, 5).apply(tf.data.experimental.dense_to_sparse_batch(2, [6])),
    "sparse_slices": lambda tf, d: tf.data.Dataset.from_tensor_slices(sparse(tf)),
    "sparse_batch": lambda tf, d: tf.data.Dataset.from_tensor_slices(sparse(tf)).batch(3),
    "sparse_unbatch": lambda tf, d: tf.data.Dataset.from_tensors(sparse(tf)).unbatch(),
    "sparse_map": lambda tf, d: tf.data.Dataset.from_tensor_slices((sparse(tf), [1, 2, 3, 4])).map(
        lambda s, n: tf.sparse.to_dense(s) * n
    ),
    "none": lambda tf, d: tf.data.Dataset.range(2).map(lambda x: (x, None)),
    "lines": lambda tf, d: tf.data.TextLineDataset([os.path.join(d, "a.txt"), os.path.join(d, "b.txt")]),
    "lines_of_one": lambda tf, d: tf.data.TextLineDataset(os.path.join(d, "b.txt")),
    "lines_parallel": lambda tf, d: tf.data.TextLineDataset(
        [os.path.join(d, "a.txt"), os.path.join(d, "b.txt")], num_parallel_reads=2
    ),
    "pieces": lambda tf, d: tf.data.FixedLengthRecordDataset(
        os.path.join(d, "pieces.bin"), 3, header_bytes=2, footer_bytes=1
    ),
    "csv": lambda tf, d: tf.data.experimental.CsvDataset(
        os.path.join(d, "table.csv"), [tf.int32, [0.5], [""]], header=True
    ),
    "csv_columns": lambda tf, d: tf.data.experimental.CsvDataset(
        [os.path.join(d, "table.csv")] * 2, [tf.constant([], tf.int64)], header=True, select_cols=[0]
    ),
    "csv_batches": lambda tf, d: tf.data.experimental.make_csv_dataset(
        os.path.join(d, "table.csv"), 2, shuffle=False, num_epochs=1
    ),
    "csv_label": lambda tf, d: tf.data.experimental.make_csv_dataset(
        os.path.join(d, "table.csv"), 2, shuffle=False, num_epochs=2, label_name="n", select_columns=["n", "x"]
    ),
    "records": lambda tf, d: tf.data.TFRecordDataset([os.path.join(d, "r0.tfrecord")] * 2),
    "records_gzip": lambda tf, d: tf.data.TFRecordDataset(os.path.join(d, "r1.tfrecord"), "GZIP"),
    "records_of_dataset": lambda tf, d: tf.data.TFRecordDataset(
        tf.data.Dataset.from_tensor_slices([os.path.join(d, "r0.tfrecord")])
    ),
    "list_files": lambda tf, d: tf.data.Dataset.list_files(os.path.join(d, "*.txt"), shuffle=False),
    "map_and_batch": lambda tf, d: tf.data.Dataset.range(5).apply(
        tf.data.experimental.map_and_batch(lambda x: x + 1, 2)
    ),
    "shuffle_and_repeat": lambda tf, d: tf.data.Dataset.range(5).apply(
        tf.data.experimental.shuffle_and_repeat(3, 2, seed=4)
    ),
    "parallel_interleave": lambda tf, d: tf.data.Dataset.range(3).apply(
        tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2)
    ),
    "with_options": lambda tf, d: tf.data.Dataset.range(2).with_options(tf.data.Options()),
}


def _sum(tf, dataset):
    total = tf.constant(0, tf.int64)
    for x in dataset:
        total += x
    return total


def _stops(tf, dataset):
    total = tf.constant(0, tf.int64)
    seen = tf.constant(0)
    for x in dataset:
        seen += 1
        if x > 5:
            break
        if x % 2 == 0:
            continue
        total += x
    return total, seen


def _numbered(tf, dataset):
    total = tf.constant(0, tf.int64)
    for i, x in enumerate(dataset):
        total += i * x
    return total


def _zipped(tf, dataset):
    total = tf.constant(0, tf.int64)
    for x, y in tf.data.Dataset.zip((dataset, dataset.skip(1))):
        total += x * y
    return total


def _nested(tf, dataset):
    total = tf.constant(0, tf.int64)
    for x in dataset:
        for y in tf.data.Dataset.range(x):
            if y == 3:
                break
            total += y
    return total


def _array(tf, dataset):
    found = tf.TensorArray(tf.int64, 0, dynamic_size=True)
    for x in dataset:
        found = found.write(found.size(), x * 2)
    return found.stack()


def _drawn(tf, iterator):
    total = tf.constant(0, tf.int64)
    for x in iterator:
        total += x
        if x == 3:
            break
    return total


def _next(tf, iterator):
    return next(iterator) * 10 + next(iterator)


def _optional(tf, iterator):
    total = tf.constant(0, tf.int64)
    found = iterator.get_next_as_optional()
    while found.has_value():
        total += found.get_value()
        found = iterator.get_next_as_optional()
    return total


# a function of a dataset (or an iterator over it), and how many elements the dataset has
LOOPS = {
    "sum": (_sum, 5),
    "sum_of_none": (_sum, 0),
    "stops": (_stops, 10),
    "goes_through": (_stops, 5),
    "numbered": (_numbered, 5),
    "zipped": (_zipped, 5),
    "nested": (_nested, 6),
    "array": (_array, 4),
}
ITERATED = {
    "drawn": (_drawn, 8),
    "drawn_to_the_end": (_drawn, 2),
    "next": (_next, 4),
    "optional": (_optional, 4),
}


def all_of(dataset):
    """Return all elements of a dataset."""
    return list(dataset)


REFUSED = {
    "batch_zero": lambda tf, d: all_of(tf.data.Dataset.range(3).batch(0)),
    "batch_negative": lambda tf, d: all_of(tf.data.Dataset.range(3).batch(-2)),
    "batch_uneven": lambda tf, d: all_of(lengths(tf, 3).batch(2)),
    "slices_of_scalar": lambda tf, d: tf.data.Dataset.from_tensor_slices(3),
    "slices_uneven": lambda tf, d: tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3])),
    "range_of_nothing": lambda tf, d: tf.data.Dataset.range(),
    "range_without_step": lambda tf, d: all_of(tf.data.Dataset.range(1, 5, 0)),
    "zip_of_list": lambda tf, d: tf.data.Dataset.zip([tf.data.Dataset.range(1), tf.data.Dataset.range(2)]),
    "zip_of_tensor": lambda tf, d: tf.data.Dataset.zip((tf.data.Dataset.range(1), tf.constant(1))),
    "concatenate_types": lambda tf, d: tf.data.Dataset.range(1).concatenate(tf.data.Dataset.from_tensors(1.0)),
    "concatenate_structures": lambda tf, d: tf.data.Dataset.range(1).concatenate(tf.data.Dataset.from_tensors((1, 2))),
    "filter_no_bool": lambda tf, d: tf.data.Dataset.range(1).filter(lambda x: x),
    "flat_map_no_dataset": lambda tf, d: tf.data.Dataset.range(1).flat_map(lambda x: x),
    "interleave_no_dataset": lambda tf, d: tf.data.Dataset.range(1).interleave(lambda x: x, 2),
    "apply_no_dataset": lambda tf, d: tf.data.Dataset.range(1).apply(lambda ds: 1),
    "shuffle_zero": lambda tf, d: all_of(tf.data.Dataset.range(3).shuffle(0)),
    "shard_beyond": lambda tf, d: all_of(tf.data.Dataset.range(3).shard(2, 2)),
    "shard_none": lambda tf, d: all_of(tf.data.Dataset.range(3).shard(0, 0)),
    "window_zero": lambda tf, d: all_of(tf.data.Dataset.range(3).window(0)),
    "prefetch_negative": lambda tf, d: all_of(tf.data.Dataset.range(3).prefetch(-3)),
    "reduce_types": lambda tf, d: tf.data.Dataset.range(3).reduce(0, lambda s, x: x),
    "reduce_structures": lambda tf, d: tf.data.Dataset.range(3).reduce(np.int64(0), lambda s, x: (s, x)),
    "scan_no_pair": lambda tf, d: tf.data.Dataset.range(3).scan(np.int64(0), lambda s, x: s),
    "padded_ranks": lambda tf, d: lengths(tf, 3).padded_batch(2, padded_shapes=[None, None]),
    "padded_too_short": lambda tf, d: all_of(lengths(tf, 5).padded_batch(5, padded_shapes=[2])),
    "padded_types": lambda tf, d: lengths(tf, 3).padded_batch(2, [None], 1.5),
    "unbatch_of_scalars": lambda tf, d: tf.data.Dataset.range(3).unbatch(),
    "generator_shape": lambda tf, d: all_of(tf.data.Dataset.from_generator(generator([1, 2]), tf.int32, [3])),
    "generator_type": lambda tf, d: all_of(tf.data.Dataset.from_generator(generator("a"), tf.int32, [])),
    "generator_structure": lambda tf, d: all_of(
        tf.data.Dataset.from_generator(generator(1), (tf.int32, tf.int32), ([], []))
    ),
    "generator_fails": lambda tf, d: all_of(tf.data.Dataset.from_generator(lambda: iter([1, 1 // 0]), tf.int32, [])),
    "generator_no_function": lambda tf, d: tf.data.Dataset.from_generator([1, 2], tf.int32),
    "generator_no_types": lambda tf, d: tf.data.Dataset.from_generator(generator(1)),
    "no_file": lambda tf, d: all_of(tf.data.TextLineDataset(os.path.join(d, "nothing.txt"))),
    "no_records": lambda tf, d: all_of(tf.data.TFRecordDataset(os.path.join(d, "nothing.tfrecord"))),
    "no_records_inside": lambda tf, d: all_of(tf.data.TFRecordDataset(os.path.join(d, "a.txt"))),
    "wrong_compression": lambda tf, d: all_of(tf.data.TextLineDataset(os.path.join(d, "a.txt"), "LZMA")),
    "pieces_too_many": lambda tf, d: all_of(tf.data.FixedLengthRecordDataset(os.path.join(d, "pieces.bin"), 5)),
    "pieces_of_none": lambda tf, d: all_of(tf.data.FixedLengthRecordDataset(os.path.join(d, "pieces.bin"), 0)),
    "csv_missing": lambda tf, d: all_of(
        tf.data.experimental.CsvDataset(os.path.join(d, "table.csv"), [tf.int32, tf.float32, tf.string], header=True)
    ),
    "csv_fields": lambda tf, d: all_of(
        tf.data.experimental.CsvDataset(os.path.join(d, "table.csv"), [tf.int32], header=True)
    ),
    "csv_text": lambda tf, d: all_of(
        tf.data.experimental.CsvDataset(os.path.join(d, "table.csv"), [tf.int32, [1.0], [""]])
    ),
    "filenames_of_numbers": lambda tf, d: tf.data.TextLineDataset([1, 2]),
    "no_matching_files": lambda tf, d: all_of(tf.data.Dataset.list_files(os.path.join(d, "*.nothing"))),
    "end": lambda tf, d: iter(tf.data.Dataset.range(0)).get_next(),
    "len_of_endless": lambda tf, d: len(tf.data.Dataset.range(1).repeat()),
    "len_of_unknown": lambda tf, d: len(tf.data.Dataset.range(3).filter(lambda x: x > 1)),
    "map_fails": lambda tf, d: all_of(
        tf.data.Dataset.range(1).map(lambda x: tf.debugging.assert_equal(x, np.int64(5)))
    ),
    "map_object": lambda tf, d: tf.data.Dataset.range(1).map(lambda x: object()),
    "single_of_none": lambda tf, d: tf.data.Dataset.range(0).get_single_element(),
    "single_of_two": lambda tf, d: tf.data.Dataset.range(2).get_single_element(),
    "choose_none": lambda tf, d: tf.data.Dataset.choose_from_datasets([], tf.data.Dataset.range(2)),
    "choose_by_float": lambda tf, d: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(2)], tf.data.Dataset.from_tensors(1.0)
    ),
    "sample_weights": lambda tf, d: tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(2)], [0.5, 0.5]),
    "sample_none": lambda tf, d: tf.data.Dataset.sample_from_datasets([]),
    "cardinality": lambda tf, d: all_of(tf.data.Dataset.range(3).apply(tf.data.experimental.assert_cardinality(2))),
    "cardinality_less": lambda tf, d: all_of(
        tf.data.Dataset.range(1).apply(tf.data.experimental.assert_cardinality(2))
    ),
    "group_window": lambda tf, d: tf.data.Dataset.range(3).group_by_window(lambda x: x, lambda k, w: w),
    "group_key": lambda tf, d: tf.data.Dataset.range(3).group_by_window(lambda x: 1.5, lambda k, w: w, 2),
    "buckets_sizes": lambda tf, d: lengths(tf, 3).bucket_by_sequence_length(lambda x: 1, [3], [2]),
    "unique_floats": lambda tf, d: tf.data.Dataset.from_tensors(1.0).unique(),
    "sparse_rows": lambda tf, d: all_of(lengths(tf, 5).sparse_batch(2, [2])),
    "options_misspelt": lambda tf, d: setattr(tf.data.Options(), "determinstic", True),
    "empty_optional": lambda tf, d: tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32)).get_value(),
}
