"""Columns beyond what was recorded: functions, gradients, Examples, sequences, bad input."""

import numpy as np
import pytest

import ebbflow as tf

v1, fc = tf.compat.v1, tf.feature_column
layer = v1.feature_column.input_layer


def test_eager_input_layer_and_a_function():
    columns = [fc.numeric_column("a"), fc.indicator_column(fc.categorical_column_with_identity("b", 3))]
    want = [[1.0, 0.0, 0.0, 1.0], [2.0, 1.0, 0.0, 0.0]]
    features = {"a": tf.constant([1.0, 2.0]), "b": tf.constant([2, 0])}
    assert layer(features, columns).numpy().tolist() == want
    assert tf.function(lambda f: layer(f, columns))(features).numpy().tolist() == want


def test_gradients_reach_embeddings():
    with tf.Graph().as_default(), v1.Session() as session:
        column = v1.feature_column.embedding_column(fc.categorical_column_with_identity("id", 4), 2)
        out = layer({"id": [[1], [3], [1]]}, [column])
        (slope,) = v1.gradients(out, v1.trainable_variables())
        session.run(v1.global_variables_initializer())
        dense = session.run(tf.convert_to_tensor(slope))
    assert dense.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_input_layer_called_twice_has_one_set_of_variables():
    from ebbflow.feature_column.first_generation import InputLayer

    with tf.Graph().as_default():
        net = InputLayer([v1.feature_column.embedding_column(fc.categorical_column_with_identity("id", 4), 2)])
        net({"id": [[1]]})
        net({"id": [[2]]})
        assert (
            [v.name for v in net.variables]
            == ["feature_column_input_layer/id_embedding/embedding_weights:0"]
            == [v.name for v in v1.global_variables()]
        )


def test_examples_are_read_by_the_spec():
    colour = fc.categorical_column_with_vocabulary_list("colour", ["red", "green"])
    columns = [fc.numeric_column("price", default_value=9.0), fc.indicator_column(colour)]
    feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"green", b"red", b"green"]))
    example = tf.train.Example(features=tf.train.Features(feature={"colour": feature}))
    parsed = tf.io.parse_example([example.SerializeToString()], fc.make_parse_example_spec(columns))
    assert layer(parsed, columns).numpy().tolist() == [[1.0, 2.0, 9.0]]


def test_vocabulary_files(tmp_path):
    (tmp_path / "words").write_text("a\nb\nc\n")
    column = fc.categorical_column_with_vocabulary_file("w", str(tmp_path / "words"), num_oov_buckets=1)
    assert column.num_buckets == 4
    assert layer({"w": [["c"], ["z"]]}, [fc.indicator_column(column)]).numpy().tolist() == [[0, 0, 1, 0], [0, 0, 0, 1]]
    with tf.io.TFRecordWriter(str(tmp_path / "w.tfrecord.gz"), "GZIP") as out:
        for word in (b"b", b"c"):
            out.write(word)
    column = fc.categorical_column_with_vocabulary_file("w", str(tmp_path / "w.tfrecord.gz"))
    assert layer({"w": [["c"], ["z"]]}, [fc.indicator_column(column)]).numpy().tolist() == [[0, 1], [0, 0]]


def test_sequences():
    ids = fc.sequence_categorical_column_with_identity("id", 3)
    numbers = fc.sequence_numeric_column("x", shape=2)
    features = {
        "id": tf.sparse.from_dense([[2, 1, 0], [0, 0, 0], [1, 0, 0]]),
        "x": tf.sparse.from_dense([[1.0, 2.0, 3.0, 4.0], [0, 0, 0, 0], [5.0, 6.0, 0, 0]]),
    }
    from ebbflow.feature_column.base import FeatureTransformationCache

    cache = FeatureTransformationCache(features)
    dense, lengths = fc.indicator_column(ids).get_sequence_dense_tensor(cache, None)
    assert (dense.shape.as_list(), lengths.numpy().tolist()) == ([3, 3, 3], [2, 0, 1])
    dense, lengths = numbers.get_sequence_dense_tensor(cache, None)
    assert dense.numpy().tolist() == [[[1, 2], [3, 4]], [[0, 0], [0, 0]], [[5, 6], [0, 0]]]
    assert lengths.numpy().tolist() == [2, 0, 1]
    plain = fc.indicator_column(fc.categorical_column_with_identity("id", 3))
    with pytest.raises(ValueError, match=r"must be of type SequenceCategoricalColumn to use SequenceFeatures\."):
        plain.get_sequence_dense_tensor(cache, None)


def test_words_of_a_crossed_column_are_looked_up_in_functions():
    words = fc.categorical_column_with_vocabulary_list("w", ["a", "b"])
    from ebbflow.feature_column.base import FeatureTransformationCache

    crossed = fc.crossed_column([fc.categorical_column_with_identity("n", 3), words], 5)

    @tf.function
    def ids(n, w):
        cache = FeatureTransformationCache({"n": n, "w": w})
        return crossed.get_sparse_tensors(cache, None).id_tensor.values

    given = [tf.constant([[1], [2]], tf.int64), tf.constant([["b"], ["a"]])]
    assert ids(*given).numpy().tolist() == ids.python_function(*given).numpy().tolist()


def test_columns_go_to_configs_and_back():
    from ebbflow.feature_column.serialization import deserialize_feature_columns, serialize_feature_columns

    age = fc.bucketized_column(fc.numeric_column("age"), [18, 65])
    words = fc.categorical_column_with_hash_bucket("w", 5)
    columns = [age, fc.embedding_column(words, 3), fc.indicator_column(fc.crossed_column([age, "c"], 7))]
    again = deserialize_feature_columns(serialize_feature_columns(columns))
    assert again[0] == age and again[2] == columns[2] and again[1].categorical_column == words
    assert again[2].categorical_column.keys[0] is again[0]


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: fc.numeric_column(3), "key must be a string"),
        (lambda: fc.numeric_column("a", dtype=tf.string), "dtype must be convertible to float"),
        (lambda: fc.bucketized_column(fc.numeric_column("a"), [2, 1]), "boundaries must be a sorted list"),
        (lambda: fc.crossed_column(["a"], 3), "keys must be a list with length > 1"),
        (lambda: fc.indicator_column(fc.numeric_column("a")), "Unsupported input type"),
        (lambda: fc.embedding_column(fc.categorical_column_with_identity("a", 2), 0), "Invalid dimension 0"),
        (lambda: layer({"a": [1.0]}, [fc.numeric_column("b")]), r"Feature b is not in features dictionary.*'a'"),
        (lambda: layer({"a": 1.0}, [fc.numeric_column("a")]), "cannot have rank 0"),
        (lambda: layer({"a": [["x"]]}, [fc.categorical_column_with_hash_bucket("a", 2)]), "must be a _DenseColumn"),
        (lambda: layer({"a": [1.0]}, [fc.numeric_column("a")] * 2), "Duplicate feature column name"),
    ],
)
def test_bad_input(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_ids_out_of_range_are_errors():
    column = fc.indicator_column(fc.categorical_column_with_identity("id", 3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="exceeds number of buckets"):
        layer({"id": np.array([[5]])}, [column])


@pytest.mark.parametrize("training, factor", [(True, 10.0), (False, 20.0), (None, 20.0)])
def test_columns_that_ask_are_told_whether_it_is_training(training, factor):
    price = tf.feature_column.numeric_column("price")

    def transformed(cache, state_manager, training=None):
        return cache.get(price.key, state_manager, training=training) * (10.0 if training else 20.0)

    price.transform_feature = transformed
    cache = tf.__internal__.feature_column.FeatureTransformationCache({"price": [[3.0]]})
    assert cache.get(price, None, training=training).numpy() == 3.0 * factor
