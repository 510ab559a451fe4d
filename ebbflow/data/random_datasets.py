"""Datasets of random numbers, as classes: what `tf.data.experimental.RandomDataset` is in TF 2 and in TF 1."""

from __future__ import annotations

from typing import Any

from ebbflow.data.dataset import DatasetV2
from ebbflow.data.dataset_v1 import DatasetV1


class _Random:
    random: Any

    def __init__(self, seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None):
        """Make the dataset of random numbers in [0, 2**32), without end."""
        dataset = self.random(seed, rerandomize_each_iteration, name)
        DatasetV2.__init__(self, dataset._variant_tensor, dataset.element_spec, "_RandomDataset")  # type: ignore[arg-type]


class RandomDatasetV2(_Random, DatasetV2):
    """Random numbers, without end."""


class RandomDatasetV1(_Random, DatasetV1):
    """Random numbers, without end, for TF 1."""
