"""`KMeansClustering`: of `tf.contrib.factorization`, which is the package's, and of `tf.contrib.learn`, with `fit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ebbflow.core.typing import Message, Nested
from ebbflow.doors.learn.estimator import BaseEstimator, core
from ebbflow.tf1 import clustering

PackageKMeans = core.experimental.KMeans
"""`tf.contrib.factorization.KMeansClustering`: trained by `train`, with small batches unless told otherwise."""


class KMeansClustering(BaseEstimator):
    """k-means in the manner of `tf.contrib.learn`: a step of `fit` is an iteration over all the points it is given."""

    SQUARED_EUCLIDEAN_DISTANCE = clustering.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering.COSINE_DISTANCE
    RANDOM_INIT = clustering.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering.KMEANS_PLUS_PLUS_INIT
    SCORES, CLUSTER_IDX, CLUSTERS, ALL_SCORES = "scores", "cluster_idx", "clusters", "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: Any = clustering.RANDOM_INIT,
        distance_metric: str = clustering.SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Message | None = None,
    ):
        super().__init__(model_dir, config)
        self._estimator = PackageKMeans(
            num_clusters, model_dir=model_dir, initial_clusters=initial_clusters, distance_metric=distance_metric,
            seed=random_seed, use_mini_batch=use_mini_batch, relative_tolerance=relative_tolerance, config=config,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
        )  # fmt: skip

    def _shown(self, row: Any) -> Any:
        return {self.CLUSTER_IDX: row["cluster_index"], self.ALL_SCORES: row["all_distances"]}

    def predict_cluster_idx(self, input_fn: Callable[..., Any] | None = None) -> Nested:
        """Return the number of each point's cluster, one by one."""
        return (row[self.CLUSTER_IDX] for row in self.predict(input_fn=input_fn))

    def score(self, input_fn: Callable[..., Any] | None = None, steps: int | None = None) -> float:
        """Return the sum of the distances of points from their nearest centers."""
        return self._estimator.evaluate(input_fn, steps=steps)["score"]

    def transform(self, input_fn: Callable[..., Any] | None = None, as_iterable: bool = False) -> Nested:
        """Return the distances of each point from all centers: an array, or one by one."""
        rows = (row[self.ALL_SCORES] for row in self.predict(input_fn=input_fn))
        return rows if as_iterable else np.array(list(rows))

    def clusters(self) -> Nested:
        """Return the centers."""
        return self._estimator.cluster_centers()
