"""`RecordInput`, readers of LMDB, and tables filled from datasets."""

from __future__ import annotations

import sys
import types

import pytest

import ebbflow as tf
from ebbflow.data.lmdb_datasets import LMDBDatasetV1
from ebbflow.data.record_input import RecordInputV1

v1 = tf.compat.v1


def write(folder, files, records):
    for i in range(files):
        with tf.io.TFRecordWriter(str(folder / f"part.{i}")) as writer:
            for j in range(records):
                writer.write(b"%d" % (i * records + j))
    return str(folder / "part.*")


@pytest.mark.parametrize("room", [1, 7, 500])
def test_every_epoch_has_each_record_once(tmp_path, room):
    pattern = write(tmp_path, 6, 10)
    with v1.Graph().as_default(), v1.Session() as session:
        following = RecordInputV1(pattern, 5, room, 2, 0.33, seed=10, batches=2).get_yield_op()
        orders = []
        for _ in range(3):
            batches = [session.run(following) for _ in range(6)]
            assert all(len(pair) == 2 and len(pair[0]) == 5 for pair in batches)
            orders.append([int(r) for pair in batches for batch in pair for r in batch])
    assert [sorted(order) for order in orders] == [list(range(60))] * 3
    assert orders[0] != orders[1]


def test_bad_arguments_and_missing_files_are_named(tmp_path):
    with v1.Graph().as_default(), v1.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match="no files match"):
            session.run(RecordInputV1(str(tmp_path / "none*")).get_yield_op())
        with pytest.raises(tf.errors.InvalidArgumentError, match="file_buffer_size must be >= 1, got -90"):
            session.run(tf.raw_ops.RecordInput(file_pattern="x", file_buffer_size=-90))
        empty = tmp_path / "empty"
        empty.write_bytes(b"")
        with pytest.raises(tf.errors.NotFoundError, match="no record"):
            session.run(RecordInputV1(str(empty)).get_yield_op())


class Database:
    """As much of the package `lmdb` as the reader uses."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def begin(self):
        return self

    def cursor(self):
        return iter([(b"0", b"a"), (b"1", b"b")])


def _open(path, readonly, lock, subdir):
    if path.endswith("missing"):
        raise sys.modules["lmdb"].Error("no such file")
    assert readonly and not lock
    return Database(path)


def test_entries_of_databases_are_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "lmdb", types.SimpleNamespace(open=_open, Error=OSError))
    with v1.Graph().as_default(), v1.Session() as session:
        names = v1.FIFOQueue(9, tf.string, [()])
        reader = v1.LMDBReader()
        key, value = reader.read(names)
        session.run(names.enqueue_many([["db", "other", "missing"]]))
        assert [tuple(session.run([key, value])) for _ in range(4)] == [(b"0", b"a"), (b"1", b"b")] * 2
        assert session.run(reader.num_records_produced()) == 4
        with pytest.raises(tf.errors.NotFoundError, match="missing cannot be opened as an LMDB database"):
            session.run(key)


def test_a_dataset_of_databases(monkeypatch):
    monkeypatch.setitem(sys.modules, "lmdb", types.SimpleNamespace(open=_open, Error=OSError))
    entries = LMDBDatasetV1(["db", "other", "missing"])
    assert entries.element_spec == (tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.string))
    iterator = iter(entries)
    pairs = [tuple([part.numpy() for part in next(iterator)]) for _ in range(4)]
    assert pairs == [(b"0", b"a"), (b"1", b"b")] * 2
    with pytest.raises(tf.errors.NotFoundError, match="missing cannot be opened as an LMDB database"):
        next(iterator)


def test_without_the_package_the_reader_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "lmdb", None)
    with v1.Graph().as_default(), v1.Session() as session:
        names = v1.FIFOQueue(9, tf.string, [()])
        session.run(names.enqueue(["db"]))
        with pytest.raises(tf.errors.UnimplementedError, match="pip install lmdb"):
            session.run(v1.LMDBReader().read(names))


# --- tables from datasets ---------------------------------------------------------------------------------------------


def test_a_table_is_filled_from_a_dataset():
    pairs = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(["a", "b"]), tf.data.Dataset.range(5, 7)))
    table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), -1)
    assert table.lookup(tf.constant(["b", "x", "a"])).numpy().tolist() == [6, -1, 5]
    assert int(table.size()) == 2


@pytest.mark.parametrize("graph", [False, True])
def test_ids_are_places_in_a_dataset(graph):
    def ids():
        words = tf.data.Dataset.from_tensor_slices(["x", "y", "z"])
        table = tf.data.experimental.index_table_from_dataset(words, num_oov_buckets=1)
        return table.lookup(tf.constant(["z", "new", "x"]))

    if not graph:
        assert ids().numpy().tolist() == [2, 3, 0]
        return
    with v1.Graph().as_default(), v1.Session() as session:
        found = ids()
        session.run(v1.tables_initializer())
        assert session.run(found).tolist() == [2, 3, 0]


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        (tf.data.Dataset.range(3), "pairs of tensors"),
        (tf.data.Dataset.from_tensors(([1], [2])), "must be scalars"),
        ([1, 2], "Expected a `tf.data.Dataset`"),
    ],
)
def test_datasets_of_other_elements_are_refused(dataset, words):
    with pytest.raises(ValueError, match=words):
        tf.data.experimental.DatasetInitializer(dataset)


def test_an_element_at_a_place():
    dataset = tf.data.Dataset.range(10).map(lambda x: (x, x * x))
    assert [int(x) for x in tf.data.experimental.at(dataset, 3)] == [3, 9]
    with v1.Graph().as_default(), v1.Session() as session:
        dataset = tf.data.Dataset.range(10).filter(lambda x: x % 2 > 0)
        assert session.run(tf.data.experimental.at(dataset, 2)) == 5
        with pytest.raises(tf.errors.OutOfRangeError, match="index = 7 is not that of an element"):
            session.run(tf.data.experimental.at(dataset, 7))
    with pytest.raises(tf.errors.OutOfRangeError, match="index = -1"):
        tf.data.experimental.at(tf.data.Dataset.range(3), -1)
