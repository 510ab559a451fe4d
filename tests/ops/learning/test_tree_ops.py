"""Boosted trees: TensorFlow 1.15's recorded answers, leaves of several logits, checkpoints, and refusals."""

import json
import pathlib
import re

import numpy as np
import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.tf1.boosted_trees import PruningMode, QuantileAccumulator, TreeEnsemble
from tests.golden.contrib import trees

v1, ops = tf.compat.v1, tf.raw_ops
NUMBER = re.compile(r"-?[0-9.]+(?:e-?[0-9]+)?")
RECORDED = json.loads(pathlib.Path(trees.__file__).with_suffix(".json").read_text())


def test_every_case_is_recorded():
    assert list(RECORDED) == list(trees.CASES)


def shown(serialized, kind):
    """Return a message's text without its numbers, and the numbers."""
    text = messages.to_text(messages.parse(kind, serialized.encode("latin1")))
    return NUMBER.sub("#", text), [float(n) for n in NUMBER.findall(text)]


@pytest.mark.parametrize("name", trees.CASES)
def test_recorded(name):
    ours, theirs = trees.answers(v1, [name])[name], RECORDED[name]
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        if name.startswith("trees") and isinstance(mine, list) and isinstance(mine[0], str):
            kind = messages.TreeEnsemble if len(mine) == 1 else messages.DebugOutput
            for one, two in zip(mine, other, strict=True):
                (text, numbers), (its_text, its_numbers) = shown(one, kind), shown(two, kind)
                assert text == its_text
                np.testing.assert_allclose(numbers, its_numbers, rtol=1e-5, atol=1e-6)
        elif isinstance(mine, list) and mine and isinstance(mine[0], str):
            assert mine == other
        else:
            np.testing.assert_allclose(np.array(mine), np.array(other), rtol=1e-5, atol=1e-6)


# --- growing by hand --------------------------------------------------------------------------------------------------


def new_ensemble(proto=""):
    handle = ops.BoostedTreesEnsembleResourceHandleOp(shared_name="t")
    text = messages.parse_text(proto, messages.TreeEnsemble)
    ops.BoostedTreesCreateEnsemble(
        tree_ensemble_handle=handle, stamp_token=0, tree_ensemble_serialized=messages.serialize(text)
    )
    return handle


def grow(handle, features, nodes, gains, thresholds, left, right, kinds=None, depth=2, pruning=0, logits=1):
    column = [np.array(nodes, np.int32)]
    kinds = kinds or ["INEQUALITY_DEFAULT_LEFT"] * len(nodes)
    ops.BoostedTreesUpdateEnsembleV2(
        tree_ensemble_handle=handle, feature_ids=[features], dimension_ids=[[0] * len(nodes)], node_ids=column,
        gains=[gains], thresholds=[thresholds], left_node_contribs=[left], right_node_contribs=[right],
        split_types=[kinds], max_depth=depth, learning_rate=0.5, pruning_mode=pruning, logits_dimension=logits,
    )  # fmt: skip


def content(handle):
    return messages.parse(
        messages.TreeEnsemble, ops.BoostedTreesSerializeEnsemble(tree_ensemble_handle=handle)[1].numpy()
    )


def test_leaves_have_as_many_values_as_there_are_logits():
    handle = new_ensemble()
    grow(handle, [1], [0], [3.0], [2], [[1.0, 2.0, 3.0]], [[-1.0, 0.0, 1.0]], logits=3)
    grow(handle, [0, 0], [1, 2], [1.0, 1.0], [0, 5], [[2.0, 2.0, 2.0]] * 2, [[4.0, 0.0, 0.0]] * 2,
         ["INEQUALITY_DEFAULT_RIGHT", "EQUALITY_DEFAULT_RIGHT"], logits=3)  # fmt: skip
    features = [np.array([0, 1, 5, 9], np.int32), np.array([[2], [1], [3], [4]], np.int32)]
    logits = ops.BoostedTreesPredict(tree_ensemble_handle=handle, bucketized_features=features, logits_dimension=3)
    np.testing.assert_allclose(logits, [[1.5, 2, 2.5], [2.5, 1, 1.5], [0.5, 1, 1.5], [1.5, 0, 0.5]])
    trees = content(handle)
    assert (
        len(trees.trees) == 2
        and trees.tree_metadata[0].is_finalized
        and list(trees.trees[1].nodes[0].leaf.vector.value) == [0] * 3
    )
    assert trees.trees[0].nodes[2].categorical_split.value == 5
    change, tree, node = ops.BoostedTreesTrainingPredict(
        tree_ensemble_handle=handle, cached_tree_ids=[0, 0, 0, 0], cached_node_ids=[1, 1, 2, -1],
        bucketized_features=features, logits_dimension=3,
    )  # fmt: skip
    assert node.numpy().tolist() == [0] * 4 and tree.numpy().tolist() == [1] * 4
    np.testing.assert_allclose(change[:3], logits[:3] - np.array([[0.5, 1, 1.5]] * 2 + [[-0.5, 0, 0.5]]))
    np.testing.assert_allclose(change[3], logits[3])


def test_the_best_of_several_groups_is_taken_and_ties_go_to_the_lower_feature():
    handle = new_ensemble()
    ops.BoostedTreesUpdateEnsembleV2(
        tree_ensemble_handle=handle, feature_ids=[[7], [4]], dimension_ids=[[0], [1]], node_ids=[[0], [0]],
        gains=[[1.0], [1.0]], thresholds=[[1], [2]], left_node_contribs=[[[1.0]], [[3.0]]],
        right_node_contribs=[[[2.0]], [[4.0]]], split_types=[["INEQUALITY_DEFAULT_LEFT"]] * 2, max_depth=3,
        learning_rate=1.0, pruning_mode=0, num_groups=2,
    )  # fmt: skip
    split = content(handle).trees[0].nodes[0].bucketized_split
    assert (split.feature_id, split.dimension_id, split.threshold) == (4, 1, 2)
    states = ops.BoostedTreesGetEnsembleStates(tree_ensemble_handle=handle)
    assert [s.numpy().tolist() for s in states] == [1, 1, 0, 1, [1, 3]]


def test_a_version_two_split_finds_the_best_feature():
    stats = np.zeros((1, 1, 4, 2), np.float32)
    stats[0, 0, :3, 0], stats[0, 0, :3, 1] = [3, -3, 0], 1
    other = stats[:, :, [2, 0, 1, 3]] * 1
    node, gain, feature, _, threshold, left, right, kind = ops.BoostedTreesCalculateBestFeatureSplitV2(
        node_id_range=[0, 1], stats_summaries_list=[stats, other], split_types=["inequality", "equality"],
        candidate_feature_ids=[8, 3], l1=0.0, l2=1.0, tree_complexity=0.25, min_node_weight=0.0, logits_dimension=1,
    )  # fmt: skip
    assert (node.numpy(), feature.numpy(), kind.numpy()) == ([0], [8], [b"INEQUALITY_DEFAULT_LEFT"])
    np.testing.assert_allclose([gain[0], threshold[0], left[0, 0], right[0, 0]], [9 / 2 + 9 / 3 - 0.25, 0, -1.5, 1.0])


# --- in a session, and in checkpoints ---------------------------------------------------------------------------------


def test_ensembles_and_boundaries_are_saved_and_restored(tmp_path):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), v1.Session() as session:
        ensemble = TreeEnsemble("trees")
        quantiles = QuantileAccumulator(0.1, 2, 3, name="quantiles")
        session.run([ensemble.initializer, quantiles.initializer])
        session.run(quantiles.add_summaries([np.arange(9.0, dtype=np.float32), np.ones(9, np.float32)], [1.0]))
        session.run([quantiles.flush(), ops.BoostedTreesCenterBias(
            tree_ensemble_handle=ensemble.resource_handle, mean_gradients=[[-3.0]], mean_hessians=[[1.0]], l1=0.0,
            l2=0.0,
        )])  # fmt: skip
        v1.train.Saver().save(session, path, write_meta_graph=False)
        before = session.run([ensemble.serialize(), quantiles.get_bucket_boundaries(), ensemble.get_states()])
    names = {name for name, _ in tf.train.list_variables(path)}
    assert names == {"trees:0_stamp", "trees:0_serialized", *(f"quantiles:0_bucket_boundaries_{i}" for i in (0, 1))}
    with tf.Graph().as_default(), v1.Session() as session:
        ensemble = TreeEnsemble("trees")
        quantiles = QuantileAccumulator(0.1, 2, 3, name="quantiles")
        assert not session.run(ensemble.is_initialized())
        v1.train.Saver().restore(session, path)
        after = session.run([ensemble.serialize(), quantiles.get_bucket_boundaries(), ensemble.get_states()])
        logits = session.run(ops.BoostedTreesPredict(
            tree_ensemble_handle=ensemble.resource_handle, bucketized_features=[[1, 2]], logits_dimension=1
        ))  # fmt: skip
    assert before[0] == after[0] and before[2][0] == after[2][0] == 1
    assert [b.tolist() for b in after[1]] == [b.tolist() for b in before[1]] and after[1][0].tolist() == [0, 3, 6, 8]
    np.testing.assert_allclose(logits, [[3], [3]])


def test_pruning_modes_have_names():
    assert [PruningMode.from_str(m) for m in ("none", "pre", "post")] == [0, 1, 2]
    with pytest.raises(ValueError, match=r"one of: none, post, pre\. Found: never"):
        PruningMode.from_str("never")


# --- refusals ---------------------------------------------------------------------------------------------------------

LEAF = "trees { nodes { leaf { scalar: 1 } } } tree_weights: 1"
ROUND = "trees { nodes { bucketized_split { left_id: 0 right_id: 0 } } } tree_weights: 1"
SPLIT = "bucketized_split { feature_id: 3 threshold: 1 left_id: 1 right_id: 2 }"
DEEP = (
    f"trees {{ nodes {{ {SPLIT} }} nodes {{ leaf {{ scalar: 1 }} }} nodes {{ leaf {{ scalar: 2 }} }} }} tree_weights: 1"
)


def predict(handle, **change):
    asked = {"bucketized_features": [[0, 1]], "logits_dimension": 1} | change
    return ops.BoostedTreesPredict(tree_ensemble_handle=handle, **asked)


REFUSED = [
    (lambda: new_ensemble(ROUND), "children 0 and 0, which are not behind it"),
    (lambda: new_ensemble("trees {} tree_weights: 1"), "tree 0 of the tree ensemble has no nodes"),
    (lambda: new_ensemble("tree_weights: 1"), "0 trees has 1 tree_weights"),
    (lambda: new_ensemble("trees { nodes { dense_split { left_id: 1 } } } tree_weights: 1"), "is a dense_split"),
    (lambda: predict(new_ensemble(DEEP)), "split by feature 3, but there are 1 bucketized_features"),
    (lambda: predict(new_ensemble(LEAF), logits_dimension=2), "got 1 vs 2"),
    (lambda: predict(new_ensemble(LEAF), bucketized_features=[[0, 1], [0]]), "Dimensions must be equal"),
    (lambda: predict(new_ensemble(LEAF), bucketized_features=[[[[0]]]]), "must be vectors or matrices"),
    (lambda: grow(new_ensemble(DEEP), [0], [0], [1.0], [1], [[1.0]], [[1.0]]), "node 0, which is no leaf"),
    (lambda: grow(new_ensemble(), [0], [4], [1.0], [1], [[1.0]], [[1.0]]), "node 4, which is no leaf"),
    (lambda: grow(new_ensemble(), [0], [0], [1.0], [1], [[1.0]], [[1.0]], ["up"]), "split_types has b'up'"),
    (lambda: grow(new_ensemble(), [0], [0], [1.0], [1], [[1.0]], [[1.0]], pruning=5), "pruning_mode = 5"),
    (lambda: grow(new_ensemble(), [0, 1], [0], [1.0], [1], [[1.0]], [[1.0]]), "feature_ids has 1 vectors of lengths"),
    (
        lambda: ops.BoostedTreesTrainingPredict(
            tree_ensemble_handle=new_ensemble(LEAF), cached_tree_ids=[0, 3], cached_node_ids=[0, 0],
            bucketized_features=[[0, 1]], logits_dimension=1,
        ),
        "cached_tree_ids 0 to 3 are not in",
    ),
    (
        lambda: ops.BoostedTreesTrainingPredict(
            tree_ensemble_handle=new_ensemble(LEAF), cached_tree_ids=[0, 0], cached_node_ids=[0, 2],
            bucketized_features=[[0, 1]], logits_dimension=1,
        ),
        "cached_node_ids has node 2 of tree 0, which has 1 nodes",
    ),
    (
        lambda: ops.BoostedTreesCreateEnsemble(
            tree_ensemble_handle=ops.BoostedTreesEnsembleResourceHandleOp(), stamp_token=0,
            tree_ensemble_serialized=b"\xff\xff",
        ),
        "Unable to parse tree ensemble proto",
    ),
    (
        lambda: ops.BoostedTreesCreateQuantileStreamResource(
            quantile_stream_resource_handle=ops.BoostedTreesQuantileStreamResourceHandleOp(), epsilon=0.0, num_streams=1
        ),
        "An epsilon value of zero is not allowed",
    ),
    (
        lambda: ops.BoostedTreesAggregateStats(
            node_ids=[5], gradients=[[1.0]], hessians=[[1.0]], feature=[[0]], max_splits=2, num_buckets=2
        ),
        "node_ids has 5",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_refused(call, says):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=says):
        call()


def test_what_was_not_created_is_not_found_and_a_refusal_changes_nothing():
    with pytest.raises(tf.errors.NotFoundError, match="run its initializer"):
        predict(ops.BoostedTreesEnsembleResourceHandleOp())
    handle = new_ensemble(LEAF)
    before = content(handle)
    with pytest.raises(tf.errors.InvalidArgumentError):
        grow(handle, [0], [4], [1.0], [1], [[1.0]], [[1.0]])
    assert content(handle) == before
