"""Partitions of ragged features in sequences: of one, and of several, whose steps are records each."""

import pytest

import ebbflow as tf

Ragged = tf.io.RaggedFeature


def sequence(**lists):
    steps = {
        key: tf.train.FeatureList(
            feature=[tf.train.Feature(int64_list=tf.train.Int64List(value=step)) for step in rows]
        )
        for key, rows in lists.items()
    }
    return tf.train.SequenceExample(feature_lists=tf.train.FeatureLists(feature_list=steps)).SerializeToString()


@pytest.mark.parametrize(
    ("partition", "first", "second", "expected"),
    [
        (Ragged.RowSplits("p"), [(0, 1, 3), (0, 1)], [(0, 1)], [[[1], [2, 3]], [[4]]]),
        (Ragged.RowLengths("p"), [(1, 2), (1,)], [(1,)], [[[1], [2, 3]], [[4]]]),
        (Ragged.RowStarts("p"), [(0, 1), (0,)], [(0,)], [[[1], [2, 3]], [[4]]]),
        (Ragged.ValueRowIds("p"), [(0, 1, 1), (0,)], [(0,)], [[[1], [2, 3]], [[4]]]),
        (Ragged.UniformRowLength(1), [(), ()], [()], [[[1], [2], [3]], [[4]]]),
    ],
    ids=["splits", "lengths", "starts", "rows", "uniform"],
)
def test_steps_are_parted(partition, first, second, expected):
    asked = {"a": Ragged(tf.int64, value_key="v", partitions=[partition])}
    texts = sequence(v=[(1, 2, 3), (4,)], p=first), sequence(v=[(5,)], p=second)
    _, one = tf.io.parse_single_sequence_example(texts[0], sequence_features=asked)
    _, several, _ = tf.io.parse_sequence_example(list(texts), sequence_features=asked)
    assert one["a"].to_list() == expected and several["a"].to_list() == [expected, [[[5]]]]
