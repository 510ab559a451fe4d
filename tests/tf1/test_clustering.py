"""k-means in graphs: centers to begin with, whole iterations, small batches; TensorFlow's centers for its seeds."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1.clustering import KMeans

v1 = tf.compat.v1
RNG = np.random.RandomState(1)
POINTS = (RNG.randn(30, 3) + np.repeat([[0, 0, 4], [3, 0, 0], [0, 5, 0]], 10, 0)).astype(np.float32)
GROUPS = [[-0.257, 5.358, 0.391], [0.178, 0.093, 3.549], [2.719, 0.12, 0.39]]

# how it begins and goes on, the sum of distances after five steps: TensorFlow's where the steps have one order
CASES = [
    ({"initial_clusters": "random"}, 67.165),
    ({"initial_clusters": "kmeans_plus_plus"}, 67.165),
    ({"initial_clusters": "kmeans_plus_plus", "kmeans_plus_plus_num_retries": 0, "random_seed": 7}, 67.165),
    ({"initial_clusters": "kmc2", "kmc2_chain_length": 10}, 67.165),
    ({"initial_clusters": lambda inputs, k: inputs[0][:k]}, 67.165),
    ({"initial_clusters": POINTS[:3]}, 67.165),
]


def trained(steps=5, points=POINTS, **options):
    """The distances, the centers and the number of batches it took to begin."""
    with tf.Graph().as_default(), v1.Session() as session:
        _, _, distances, ready, begin, train = KMeans(v1.constant(points), 3, **options).training_graph()
        session.run(v1.global_variables_initializer())
        batches = 0
        while not session.run(ready):
            session.run(begin)
            batches += 1
        session.run(begin)  # changes nothing any more
        for _ in range(steps):
            session.run(train)
        return session.run(distances[0]), session.run(v1.global_variables()[0]), batches


@pytest.mark.parametrize("options, total", CASES)
def test_iterations_over_all_points(options, total):
    distances, centers, batches = trained(**options)
    assert batches == 1
    np.testing.assert_allclose(distances.sum(), total, rtol=1e-4)
    np.testing.assert_allclose(sorted(centers.tolist()), GROUPS, atol=2e-3)


def test_angles():
    distances, centers, _ = trained(initial_clusters="kmeans_plus_plus", distance_metric="cosine")
    np.testing.assert_allclose(np.square(centers).sum(1), 1, rtol=1e-5)
    normal = POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)
    np.testing.assert_allclose(distances, (1 - normal @ centers.T).min(1), atol=1e-5)


@pytest.mark.parametrize("steps", [1, 3])
def test_small_batches_move_centers_by_the_points_they_have_seen(steps):
    before = POINTS[:3].astype(np.float64)
    counts, shown = np.ones(3) if steps == 1 else np.zeros(3), before.copy()
    moving, left = before.copy(), steps
    for _ in range(5):
        if steps > 1 and left <= 0:
            shown, counts, left = moving.copy(), np.zeros(3), steps - 1
        else:
            left -= 1
        places = ((POINTS[:, None] - (moving if steps == 1 else shown)) ** 2).sum(2).argmin(1)
        for i in np.unique(places):
            mine = POINTS[places == i]
            moving[i] += (mine.sum(0) - len(mine) * moving[i]) / (counts[i] + len(mine))
            counts[i] += len(mine)
    options = {"use_mini_batch": True, "mini_batch_steps_per_iteration": steps}
    centers = trained(initial_clusters=POINTS[:3], **options)[1]
    np.testing.assert_allclose(centers, moving if steps == 1 else shown, rtol=1e-4, atol=1e-5)


def test_a_batch_smaller_than_the_clusters_is_taken_whole():
    assert trained(0, POINTS[:2], initial_clusters="random")[2] == 2


def test_refusals():
    with pytest.raises(ValueError, match="Unsupported initialization algorithm `best`"):
        KMeans(POINTS, 3, initial_clusters="best")
    with pytest.raises(ValueError, match="Unsupported distance metric `far`"):
        KMeans(POINTS, 3, distance_metric="far")
    with pytest.raises(tf.errors.InvalidArgumentError):
        trained(points=POINTS[:2], initial_clusters="kmeans_plus_plus")
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_to_sample = 31"):
        tf.raw_ops.KmeansPlusPlusInitialization(points=POINTS, num_to_sample=31, seed=1, num_retries_per_sample=0)


def test_equal_points_do_not_keep_it_from_ending():
    same = np.ones((5, 2), np.float32)
    drawn = tf.raw_ops.KmeansPlusPlusInitialization(points=same, num_to_sample=3, seed=1, num_retries_per_sample=2)
    np.testing.assert_array_equal(drawn, same[:3])
