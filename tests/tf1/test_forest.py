"""Forests that grow while examples come by: what they learn, what they keep, and what they refuse."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.ops.learning.forest import Slot, Tree, at_depth
from ebbflow.state.shared_resources import initialize_resources, shared_resources
from ebbflow.tf1.forest import ForestHParams, RandomForestGraphs, build_params_proto

v1 = tf.compat.v1
RNG = np.random.RandomState(1)
X = RNG.rand(400, 4).astype(np.float32)
CORNERS = ((X[:, 0] > 0.5) * 2 + (X[:, 2] > 0.5)).astype(np.int32)
"""Four classes by two of four features."""
SUMS = (X[:, :2] * [3, 1]).astype(np.float32)


def options(**more):
    usual = {"num_classes": 4, "num_features": 4, "num_trees": 6, "max_nodes": 60, "base_random_seed": 5,
             "split_after_samples": 30}  # fmt: skip
    return ForestHParams(**{**usual, **more}).fill()


def grown(labels=CORNERS, steps=12, data=X, saver_path=None, **more):
    """The predictions, their variance, the sizes of trees and the importance of features after some batches."""
    with tf.Graph().as_default(), v1.Session() as session:
        graphs = RandomForestGraphs(options(**more))
        train = graphs.training_graph(data, labels)
        told = graphs.inference_graph(data)
        loss = graphs.training_loss(None, None)
        session.run([v1.global_variables_initializer(), initialize_resources(shared_resources())])
        losses = [session.run([train, loss])[1] for _ in range(steps)]
        if saver_path:
            saver = v1.train.Saver()
            path = saver.save(session, str(saver_path))
            again = v1.Session()
            saver.restore(again, path)
            np.testing.assert_array_equal(*(some.run(told[0]) for some in (session, again)))
            again.run(train)  # grows on
            again.close()
        return (*session.run(told), losses, session.run(graphs.feature_importances()))


def test_classes_are_learned(tmp_path):
    shares, paths, variance, losses, importance = grown(saver_path=tmp_path / "forest")
    assert (shares.argmax(1) == CORNERS).mean() > 0.95
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-5)
    assert (variance >= 0).all() and set(paths.ravel()) == {b""}
    assert losses[0] >= losses[-1] >= -60 and losses[-1] < -5
    np.testing.assert_allclose(importance.sum(), 1)
    assert importance[[0, 2]].sum() > importance[[1, 3]].sum()


def test_a_seed_means_the_same_forest():
    first, second, other = (grown(steps=6, base_random_seed=seed)[0] for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_numbers_are_learned():
    means, paths, *_ = grown(SUMS, 20, num_classes=2, regression=True, max_nodes=200, inference_tree_paths=True)
    assert np.abs(means - SUMS).mean() < 0.25
    path = messages.parse(messages.message("tensorflow.tensorforest.TreePath"), paths[0, 0])
    assert path.nodes_visited[0].node_id.value == 0 and len(path.nodes_visited) > 2


@pytest.mark.parametrize(
    "more",
    [
        {"bagging_fraction": 0.5},
        {"feature_bagging_fraction": 0.75},
        {"split_pruning_name": "half"},
        {"split_pruning_name": "hoeffding", "prune_every_samples": 20},
        {"split_name": "less"},
        {"split_after_samples": "linear { slope: 5 y_intercept: 20 min_val: 20 max_val: 50 }"},
    ],
)
def test_ways_to_grow(more):
    shares, *_, importance = grown(**more)
    assert (shares.argmax(1) == CORNERS).mean() > 0.8
    assert importance.shape == (4,)


def test_sparse_features_beside_dense_ones():
    rows, columns = np.nonzero(X[:, 2:] > 0.5)
    sparse = tf.SparseTensor(np.stack([rows, columns], 1), np.ones(len(rows), np.int64), [400, 2])
    with tf.Graph().as_default():
        sparse = v1.SparseTensor(np.stack([rows, columns], 1), np.ones(len(rows), np.int64), [400, 2])
        shares, *_ = grown_with({"a": X[:, :2], "b": sparse})
    assert (shares.argmax(1) == CORNERS).mean() > 0.9


def grown_with(features):
    with v1.Session() as session:
        graphs = RandomForestGraphs(options())
        train, told = graphs.training_graph(features, CORNERS), graphs.inference_graph(features)
        session.run([v1.global_variables_initializer(), initialize_resources(shared_resources())])
        for _ in range(12):
            session.run(train)
        return session.run(told)


def test_the_best_split_is_the_purest():
    params = build_params_proto(options(num_splits_to_consider=4))
    tree, slot = Tree(), Slot(params, 0)
    tree.fill(b"", params)
    slot.features, slot.thresholds = np.array([0, 1, 2, 3]), np.full(4, 0.5, np.float32)
    slot.lefts = np.zeros((4, 4))
    two = X[:, :1] > 0.5
    slot.add(tree, X, two.astype(np.float32), np.ones(400, np.float32), np.random.default_rng(1))
    feature, threshold, left, right = slot.best()
    assert (feature, threshold) == (0, 0.5)
    assert left[1] == (~two).sum() and right[1] == two.sum() and left[0][1] == 0


def test_what_depends_on_the_depth():
    kind = messages.message("tensorflow.tensorforest.DepthDependentParam")
    shown = lambda text, depth: at_depth(messages.parse_text(text, kind), depth)
    assert shown("constant_value: 7", 3) == 7
    assert shown("linear { slope: 2 y_intercept: 1 min_val: 0 max_val: 5 }", 9) == 5
    assert shown("exponential { bias: 1 base: 2 multiplier: 3 depth_multiplier: 1 }", 2) == 13
    assert [shown("threshold { on_value: 4 off_value: 9 threshold: 2 }", n) for n in (1, 2)] == [9, 4]


def test_trees_of_before_go_on():
    params = options()
    with tf.Graph().as_default(), v1.Session() as session:
        graphs = RandomForestGraphs(params)
        session.run([v1.global_variables_initializer(), initialize_resources(shared_resources())])
        for _ in range(5):
            session.run(graphs.training_graph(X, CORNERS))
        texts = [session.run(tf.raw_ops.TreeSerialize(tree_handle=graphs.variables[i].tree)) for i in range(6)]
        before = session.run(graphs.inference_graph(X)[0])
    with tf.Graph().as_default(), v1.Session() as session:
        graphs = RandomForestGraphs(params, tree_configs=texts, training=False)
        session.run([v1.global_variables_initializer(), initialize_resources(shared_resources())])
        np.testing.assert_allclose(session.run(graphs.inference_graph(X)[0]), before, rtol=1e-6)


def test_bad_input_is_refused():
    with pytest.raises(AttributeError, match="num_classes"):
        ForestHParams(num_features=3).fill()
    with pytest.raises(KeyError, match=r"split_name.*less_or_equal"):
        options(split_name="more")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"label 9.* is not in \[0, 4\)"):
        grown(np.full(400, 9), 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 columns and 400 rows"):
        grown(CORNERS, 1, num_classes=2, regression=True)
    with tf.Graph().as_default(), v1.Session() as session:
        graphs = RandomForestGraphs(options())
        with pytest.raises(tf.errors.NotFoundError, match="run its initializer"):
            session.run(graphs.average_size())
        session.run(initialize_resources(shared_resources()))
        handle = graphs.variables[0].tree
        with pytest.raises(tf.errors.InvalidArgumentError, match="tree_config"):
            text = b"\xff\xff"
            params = graphs.params.serialized_params_proto
            session.run(tf.raw_ops.TreeDeserialize(tree_handle=handle, tree_config=text, params=params))
