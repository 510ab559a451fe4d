"""Datasets in directories and databases: saved and loaded, snapshots, queries; features of examples in files."""

from __future__ import annotations

import collections
import os
import pathlib
import sqlite3

import numpy as np
import pytest

import ebbflow as tf

Dataset = tf.data.Dataset


def plain(dataset):
    return [tf.nest.map_structure(lambda t: np.asarray(t).tolist(), e) for e in dataset.as_numpy_iterator()]


ELEMENTS = [
    lambda: Dataset.range(10),
    lambda: Dataset.from_tensor_slices({"a": np.eye(4, dtype=np.float32), "b": (["x", "", "zz", "y"], [1, 2, 3, 4])}),
    lambda: Dataset.range(4).map(lambda x: tf.range(x)),
    lambda: Dataset.range(0),
]


Pair = collections.namedtuple("Pair", ["first", "second"])
SPARSE = tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 4])
RAGGED = tf.ragged.constant([[[1, 2], [3]], [[]], []])
NOT_DENSE = {
    "sparse": lambda: Dataset.from_tensor_slices(SPARSE),
    "ragged": lambda: Dataset.from_tensor_slices(RAGGED),
    "ragged text": lambda: Dataset.from_tensors(tf.ragged.constant([["a", ""], ["bc"]])).repeat(2),
    "named": lambda: Dataset.from_tensors(Pair(SPARSE, {"ragged": RAGGED, "none": None})),
    "slices": lambda: Dataset.from_tensors(tf.IndexedSlices(tf.ones([2, 3]), tf.constant([1, 2]))),
    "optional": lambda: Dataset.range(3).map(tf.experimental.Optional.from_value),
    "array": lambda: Dataset.range(2).map(lambda x: tf.TensorArray(tf.int64, 2).unstack([x, x + 1])),
}


def parts(element):
    """The tensors that an element is made of, as lists."""
    if isinstance(element, tf.TensorArray):
        return element.stack().numpy().tolist()
    if hasattr(element, "get_value"):
        return element.get_value().numpy().tolist()
    return [np.asarray(t).tolist() for t in tf.nest.flatten(element, expand_composites=True) if t is not None]


@pytest.mark.parametrize("name", NOT_DENSE)
def test_elements_that_are_not_dense_are_kept(tmp_path, name):
    dataset = NOT_DENSE[name]()
    expected = [parts(element) for element in dataset]
    dataset.save(str(tmp_path / "saved"))
    loaded = Dataset.load(str(tmp_path / "saved"))
    assert loaded.element_spec == dataset.element_spec
    assert [parts(element) for element in loaded] == expected
    for kept in (dataset.snapshot(str(tmp_path / "shot")), dataset.cache(str(tmp_path / "cache"))):
        for _ in range(2):
            assert [parts(element) for element in kept] == expected


def test_datasets_in_elements_are_not_kept(tmp_path):
    for attempt in (lambda d: d.save(str(tmp_path / "a")), lambda d: list(d.cache(str(tmp_path / "b")))):
        with pytest.raises(tf.errors.UnimplementedError, match="cannot be written to a file"):
            attempt(Dataset.range(4).window(2))


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB", "SNAPPY"])
@pytest.mark.parametrize("make", ELEMENTS)
def test_what_is_saved_is_loaded(tmp_path, make, compression):
    path = str(tmp_path / "saved")
    make().save(path, compression=compression)
    loaded = Dataset.load(path)
    assert plain(loaded) == plain(make()) and loaded.element_spec == make().element_spec
    assert int(loaded.cardinality()) == len(plain(make()))
    assert plain(tf.data.experimental.load(path, make().element_spec)) == plain(make())


def test_shards_and_readers(tmp_path):
    path = str(tmp_path / "saved")
    Dataset.range(9).save(path, shard_func=lambda x: x % 3)
    (run,) = [e for e in os.scandir(path) if e.is_dir()]
    assert len(os.listdir(run.path)) == 3
    one_by_one = Dataset.load(path, reader_func=lambda shards: shards.flat_map(lambda shard: shard))
    assert [int(x) for x in one_by_one] == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    assert sorted(int(x) for x in Dataset.load(path)) == list(range(9))


TENSORFLOWS = {
    "14024366488053715327/00000000.shard/00000000.snapshot": (
        "0e00000000000000c5e5693f0809120022080000000000000000882b95ea0800000000000000ff86240f080712002202013"
        "00c834ee812000000000000002 41f6425080112041202080222080000000000000000 8600a4a9"
    ),
    "snapshot.metadata": "12143134303234333636343838303533373135333237 18c3a7bfcc8c919803 2002 2a03090701 3001 c03e01",
    "dataset_spec.pb": "a2031f0a078a02041200180 90a078a02041200180 70a0b8a020812041202080218 01",
}
"""What TensorFlow 2.21 writes of one element (0, "0", [0., 0.])."""


def test_the_files_are_tensorflows(tmp_path):
    for name, content in TENSORFLOWS.items():
        (tmp_path / "theirs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "theirs" / name).write_bytes(bytes.fromhex(content.replace(" ", "")))
    loaded = Dataset.load(str(tmp_path / "theirs"))
    assert plain(loaded) == [(0, b"0", [0.0, 0.0])] and int(loaded.cardinality()) == 1
    loaded.save(str(tmp_path / "ours"))
    (ours,), (theirs,) = ((tmp_path / where).rglob("*.snapshot") for where in ("ours", "theirs"))
    assert ours.read_bytes() == theirs.read_bytes() and ours.parent.name == theirs.parent.name
    spec = "dataset_spec.pb"
    assert (tmp_path / "ours" / spec).read_bytes() == (tmp_path / "theirs" / spec).read_bytes()


def test_a_save_that_was_cut_off_goes_on(tmp_path):
    cut, kept, steps = [True], str(tmp_path / "kept"), tf.Variable(0)

    def until(x):
        if cut[0] and x == 12:
            raise RuntimeError("cut off")
        return x

    numbers = Dataset.range(20).map(lambda x: tf.ensure_shape(tf.py_function(until, [x], tf.int64), []))
    args = {"directory": kept, "max_to_keep": 9, "step_counter": steps, "checkpoint_interval": 5}
    with pytest.raises(tf.errors.OpError, match="cut off"):
        numbers.save(str(tmp_path / "saved"), checkpoint_args=args)
    assert tf.train.latest_checkpoint(kept).endswith("ckpt-3") and not (tmp_path / "saved/snapshot.metadata").exists()
    cut.clear()
    cut.append(False)
    numbers.save(str(tmp_path / "saved"), checkpoint_args=args)
    assert plain(Dataset.load(str(tmp_path / "saved"))) == list(range(20))
    with pytest.raises(ValueError, match="not allowed to include 'checkpoint'"):
        numbers.save(str(tmp_path / "other"), checkpoint_args={"checkpoint": 1})


def test_a_save_that_fails_leaves_the_last_one_alone(tmp_path):
    path = str(tmp_path / "saved")
    Dataset.range(5).save(path)

    def fails(x):
        return tf.debugging.check_numerics(1.0 / tf.cast(x - 3, tf.float32), "no")

    with pytest.raises(tf.errors.InvalidArgumentError):
        Dataset.range(5).map(fails).save(path)
    assert [int(x) for x in Dataset.load(path, tf.TensorSpec([], tf.int64))] == list(range(5))
    assert len([e for e in os.scandir(path) if e.is_dir()]) == 1


def test_a_snapshot_is_written_once(tmp_path):
    path, calls = str(tmp_path / "snap"), []

    def count(x):
        calls.append(int(x))
        return x

    dataset = Dataset.range(6).map(lambda x: tf.py_function(count, [x], tf.int64)).snapshot(path)
    next(iter(dataset))  # not to the end: nothing is there yet
    assert not list(pathlib.Path(path).rglob("snapshot.metadata"))
    calls.clear()
    assert [int(x) for x in dataset] == list(range(6)) and calls == list(range(6))
    assert [int(x) for x in dataset] == list(range(6)) and calls == list(range(6))


def test_snapshots_of_several_datasets_may_share_a_path(tmp_path):
    for _ in range(2):
        for count in (6, 4):
            kept = Dataset.range(count).apply(tf.data.experimental.snapshot(str(tmp_path), shard_func=lambda x: x % 2))
            assert sorted(int(x) for x in kept) == list(range(count))
    assert len(list(tmp_path.glob("*/snapshot.metadata"))) == 2
    assert len(list(tmp_path.glob("*/*/0000000[01].shard"))) == 4


def test_directories_that_are_none(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="element_spec"):
        Dataset.load(str(tmp_path / "nothing"))
    with pytest.raises(tf.errors.NotFoundError, match="does not hold a saved dataset"):
        list(Dataset.load(str(tmp_path), tf.TensorSpec([], tf.int64)))
    path = tmp_path / "saved"
    Dataset.range(5).save(str(path))
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32 is asked for"):
        list(Dataset.load(str(path), tf.TensorSpec([], tf.float32)))
    (path / "snapshot.metadata").write_bytes(b"")
    with pytest.raises(tf.errors.DataLossError, match="does not describe"):
        list(Dataset.load(str(path)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="compression"):
        Dataset.range(3).save(str(tmp_path / "other"), compression="LZ4")


def test_damaged_shards(tmp_path):
    path = tmp_path / "saved"
    Dataset.range(50).save(str(path))
    (shard,) = path.rglob("*.snapshot")
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 0xFF
    shard.write_bytes(bytes(data))
    seen = []
    with pytest.raises(tf.errors.DataLossError):
        for x in Dataset.load(str(path)):
            seen.append(int(x))
    assert seen == list(range(len(seen))) and len(seen) > 10


# --- databases --------------------------------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path):
    path = str(tmp_path / "people.db")
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE people (name TEXT, age INTEGER, height REAL, member INTEGER, note BLOB)")
        rows = [("Ann", 31, 1.7, 1, b"\x00x"), ("Bo", 2**40, -0.5, 0, None), (None, None, None, None, b"")]
        made.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
    made.close()
    return path


TYPES = (tf.string, tf.int64, tf.float64, tf.bool, tf.string)


def test_rows_of_a_query(database):
    dataset = tf.data.experimental.SqlDataset("sqlite", database, "SELECT * FROM people", TYPES)
    assert plain(dataset) == [
        (b"Ann", 31, 1.7, True, b"\x00x"),
        (b"Bo", 2**40, -0.5, False, b""),
        (b"", 0, 0.0, False, b""),
    ]
    assert plain(dataset.repeat(2).map(lambda *row: row[1]).take(4)) == [31, 2**40, 0, 31]


@pytest.mark.parametrize(
    ("driver", "query", "types", "kind", "says"),
    [
        ("mysql", "SELECT 1", (tf.int32,), tf.errors.InvalidArgumentError, "mysql"),
        (
            "sqlite",
            "SELECT name, age FROM people",
            (tf.int32,),
            tf.errors.InvalidArgumentError,
            r"columns in query \(2\)",
        ),
        ("sqlite", "SELECT nothing FROM people", (tf.int32,), tf.errors.UnknownError, "nothing"),
        ("sqlite", "DROP", (tf.int32,), tf.errors.UnknownError, "people.db"),
    ],
)
def test_queries_that_are_refused(database, driver, query, types, kind, says):
    with pytest.raises(kind, match=says):
        list(tf.data.experimental.SqlDataset(driver, database, query, types))


# --- features ---------------------------------------------------------------------------------------------------------


def test_batches_of_features_from_files(tmp_path):
    for shard in range(2):
        with tf.io.TFRecordWriter(str(tmp_path / f"part-{shard}")) as writer:
            for i in range(5):
                value = tf.train.Feature(int64_list=tf.train.Int64List(value=[10 * shard + i]))
                features = tf.train.Features(feature={"x": value, "label": value})
                writer.write(tf.train.Example(features=features).SerializeToString())
    asked = {"x": tf.io.FixedLenFeature([], tf.int64), "label": tf.io.FixedLenFeature([], tf.int64)}
    dataset = tf.data.experimental.make_batched_features_dataset(
        str(tmp_path / "part-*"), 4, asked, label_key="label", num_epochs=1, shuffle=False
    )
    found = plain(dataset)
    assert [x["x"] for x, _ in found] == [[0, 1, 2, 3], [4, 10, 11, 12], [13, 14]]
    assert all(x["x"] == y and set(x) == {"x"} for x, y in found)
    texts = tf.data.TFRecordDataset(str(tmp_path / "part-0")).batch(2)
    parsed = texts.apply(tf.data.experimental.parse_example_dataset(asked))
    assert [e["x"] for e in plain(parsed)] == [[0, 1], [2, 3], [4]]


def test_small_transformations():
    assert int(tf.data.experimental.at(Dataset.range(10, 20), 3)) == 13
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.data.experimental.at(Dataset.range(3), 3)
    padded = Dataset.from_tensor_slices({"a": [1, 2]}).apply(tf.data.experimental.pad_to_cardinality(3))
    assert plain(padded) == [{"a": 1, "valid": True}, {"a": 2, "valid": True}, {"a": 0, "valid": False}]


def test_in_a_graph_saving_is_an_op(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        written = Dataset.range(5).save(str(tmp_path))
        element = tf.compat.v1.data.make_one_shot_iterator(Dataset.load(str(tmp_path))).get_next()
        session.run(written)
        assert [session.run(element) for _ in range(5)] == list(range(5))


def test_a_function_saves_when_it_is_called(tmp_path):
    @tf.function
    def save():
        Dataset.range(3).save(str(tmp_path))

    save()
    assert list(Dataset.load(str(tmp_path)).as_numpy_iterator()) == [0, 1, 2]


def test_in_a_graph_the_experimental_save_is_an_op_too(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(tf.data.experimental.save(tf.data.Dataset.range(3), str(tmp_path)))
    assert [int(x) for x in tf.data.Dataset.load(str(tmp_path))] == [0, 1, 2]
