"""A dataset as a GraphDef: what it is made of can be read there, and imported it gives the same elements."""

from __future__ import annotations

import pytest

import ebbflow as tf


def graph_def(serialized):
    return tf.compat.v1.GraphDef.FromString(serialized)


def ops_in(written):
    inside = [node for function in written.library.function for node in function.node_def]
    return {node.op for node in [*written.node, *inside]}


def test_stages_and_their_functions_are_there():
    dataset = tf.data.Dataset.range(5).shuffle(3).map(lambda x: x * 2).batch(2)
    written = graph_def(dataset._as_serialized_graph().numpy())
    assert {"RangeDataset", "ShuffleDatasetV3", "MapDataset", "BatchDatasetV2", "Mul"} <= ops_in(written)
    last = written.node[-1]
    assert (last.op, list(last.input)) == ("_Retval", ["BatchDatasetV2"])
    nested = tf.data.Dataset.range(2).flat_map(lambda x: tf.data.Dataset.range(3).shuffle(2))
    assert "ShuffleDatasetV3" in ops_in(graph_def(nested._as_serialized_graph().numpy()))


def test_a_pipeline_that_was_made_before_tells_as_much():
    for _ in range(3):
        written = graph_def(tf.data.Dataset.range(4).take(2)._as_serialized_graph().numpy())
        assert {"RangeDataset", "TakeDataset"} <= ops_in(written)


def test_the_graph_gives_the_same_elements():
    dataset = tf.data.Dataset.range(4).map(lambda x: x + 1).batch(3)
    written = graph_def(dataset._as_serialized_graph().numpy())
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        del written.node[-1]
        (variant,) = tf.import_graph_def(written, return_elements=["BatchDatasetV2:0"], name="")
        total = tf.raw_ops.DatasetCardinality(input_dataset=variant)
        assert session.run(total) == 2


def test_sessions_write_datasets_too():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        dataset = tf.data.Dataset.range(5).cache().batch(2)
        assert {"RangeDataset", "BatchDatasetV2"} <= ops_in(graph_def(session.run(dataset._as_serialized_graph())))


def test_random_numbers_are_state_where_that_is_asked():
    dataset = tf.data.Dataset.range(5).map(lambda x: tf.random.uniform([]))
    policy = tf.data.experimental.ExternalStatePolicy
    assert dataset._as_serialized_graph(external_state_policy=policy.IGNORE).numpy()
    with pytest.raises(tf.errors.FailedPreconditionError, match="random"):
        dataset._as_serialized_graph(external_state_policy=policy.FAIL)
    with pytest.raises(tf.errors.FailedPreconditionError, match="random"):
        tf.raw_ops.DatasetToGraph(input_dataset=dataset._variant_tensor)
