"""Lookup tables: eagerly, in sessions, functions and datasets; what they refuse."""

import numpy as np
import pytest

import ebbflow as tf
import ebbflow.v1 as tf1

WORDS = ["brain", "salad", "surgery"]


@pytest.fixture
def vocabulary(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("".join(f"{word}\n" for word in WORDS))
    return str(path)


def static(default=-1):
    pairs = tf.lookup.KeyValueTensorInitializer(WORDS, np.arange(3, dtype=np.int64))
    return tf.lookup.StaticHashTable(pairs, default)


def test_a_static_table_in_every_mode():
    table = static()
    keys = tf.constant([["brain", "tank"], ["surgery", "salad"]])
    expected = [[0, -1], [2, 1]]
    assert table.lookup(keys).numpy().tolist() == expected
    assert tf.function(table.lookup)(keys).numpy().tolist() == expected
    assert [row.numpy().tolist() for row in tf.data.Dataset.from_tensor_slices(keys).map(table.lookup)] == expected
    assert int(table.size()) == 3
    assert table["brain"].numpy() == 0
    keys, values = table.export()
    assert dict(zip(keys.numpy(), values.numpy(), strict=True)) == {b"brain": 0, b"salad": 1, b"surgery": 2}


def test_sparse_and_ragged_keys():
    table = static()
    found = table.lookup(tf.sparse.from_dense([["brain", ""], ["", "tank"]]))
    assert found.values.numpy().tolist() == [0, -1]
    assert table.lookup(tf.ragged.constant([["salad"], [], ["x", "brain"]])).to_list() == [[1], [], [-1, 0]]


def test_a_session_fills_its_tables(vocabulary):
    with tf.Graph().as_default() as graph:
        table = tf1.contrib.lookup.index_table_from_file(vocabulary, default_value=7)
        back = tf1.contrib.lookup.index_to_string_table_from_file(vocabulary)
        ids = table.lookup(tf.constant(["salad", "x"]))
        words = back.lookup(tf.constant([2, 9], tf.int64))
        assert [t.name for t in graph.get_collection("asset_filepaths")] == [
            "string_to_index/hash_table/asset_path:0",
            "index_to_string/asset_path:0",
        ]
        assert len(graph.get_collection("table_initializer")) == 2
        assert ids.shape.as_list() == [2]
        with tf1.Session() as session:
            with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
                session.run(ids)
            session.run(tf1.tables_initializer())
            assert session.run(ids).tolist() == [1, 7]
            assert session.run(words).tolist() == [b"surgery", b"UNK"]
        with tf1.Session() as other, pytest.raises(tf.errors.FailedPreconditionError):
            other.run(ids)


def test_a_mutable_table():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, -1.0])
    table.insert([1, 2, 1], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert table.lookup([[1], [3]]).numpy().tolist() == [[[5.0, 6.0]], [[0.0, -1.0]]]
    table.remove(tf.constant([1, 8], tf.int64))
    table.insert([9], [[7.0, 7.0]])
    assert int(table.size()) == 2
    keys, values = table.export()
    assert sorted(zip(keys.numpy().tolist(), values.numpy().tolist(), strict=True)) == [
        (2, [3.0, 4.0]),
        (9, [7.0, 7.0]),
    ]
    scalar = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    given = tf.constant([7, 8], tf.int64)
    assert scalar.lookup(["a", "b"], dynamic_default_values=given).numpy().tolist() == [7, 8]


def test_many_insertions_and_removals_agree_with_a_dictionary():
    rng, table, truth = np.random.default_rng(0), tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1), {}
    for _ in range(50):
        keys, values = rng.integers(0, 40, 10), rng.integers(0, 100, 10)
        table.insert(keys, values)
        truth.update(zip(keys.tolist(), values.tolist(), strict=True))
        gone = rng.integers(0, 40, 6)
        table.remove(tf.constant(gone))
        for key in gone.tolist():
            truth.pop(key, None)
        assert table.lookup(np.arange(40)).numpy().tolist() == [truth.get(k, -1) for k in range(40)]
        assert int(table.size()) == len(truth)


def test_a_dense_table_with_vectors_as_keys():
    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, [-1, -2], empty_key=[0, 0], deleted_key=[-1, -1], initial_num_buckets=4
    )
    table.insert([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    table.erase(tf.constant([[3, 4]], tf.int64))
    assert table.lookup([[1, 2], [3, 4]]).numpy().tolist() == [[5, 6], [-1, -2]]
    keys, _ = table.export()
    assert sorted(keys.numpy().tolist()) == [[-1, -1], [0, 0], [0, 0], [1, 2]]


REFUSED = {
    "two values of one key": (
        lambda: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), -1),
        tf.errors.FailedPreconditionError,
        "Key a has 1 and trying to add value 2",
    ),
    "keys and values of two lengths": (
        lambda: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1]), -1),
        tf.errors.InvalidArgumentError,
        "Expected shape",
    ),
    "default of another dtype": (lambda: static("x"), TypeError, "x"),
    "keys of another dtype": (lambda: static().lookup(tf.constant([1])), TypeError, "keys"),
    "no file": (
        lambda: tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer("/nowhere/x", tf.string, -2, tf.int64, -1), -1),
        tf.errors.NotFoundError,
        "/nowhere/x",
    ),
    "a column below -2": (
        lambda: tf.lookup.TextFileInitializer("f", tf.string, -3, tf.int64, -1),
        ValueError,
        "key_index",
    ),
    "insertion into a static table": (
        lambda: tf.raw_ops.LookupTableInsertV2(
            table_handle=static().resource_handle, keys=["a"], values=np.array([1], np.int64)
        ),
        tf.errors.UnimplementedError,
        "Insert not supported",
    ),
    "the empty key": (
        lambda: tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -1).lookup([0]),
        tf.errors.InvalidArgumentError,
        "empty_key",
    ),
    "buckets that are no power of two": (
        lambda: tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -1, initial_num_buckets=12),
        tf.errors.InvalidArgumentError,
        "power of 2",
    ),
    "no buckets": (lambda: tf.lookup.StaticVocabularyTable(None, 0), ValueError, "num_oov_buckets"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    call, error, says = REFUSED[what]
    with pytest.raises(error, match=says):
        call()


def test_files_with_columns(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("a 1 x\r\nb 2 y\r\n")
    init = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.float32, 1, delimiter=" ")
    assert tf.lookup.StaticHashTable(init, -1.0).lookup(tf.constant(["b", "c"])).numpy().tolist() == [2.0, -1.0]
    bad = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.float32, 5, delimiter=" ")
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected at least 6 got 3"):
        tf.lookup.StaticHashTable(bad, -1.0)
    more = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, -1, vocab_size=9, delimiter=" ")
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected 9 but got 2"):
        tf.lookup.StaticHashTable(more, -1)
