"""All records of some files in one random order, each read by its number (`tensorflow.python.data.experimental`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ebbflow.data.dataset import DatasetV2
from ebbflow.data.experimental_functions import AUTOTUNE
from ebbflow.data.random_access import at
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.arrays.sorting import searchsorted
from ebbflow.ops.random.low_discrepancy import index_shuffle as place_in_order


def index_shuffle(
    file_infos: Sequence[Mapping[str, Any]],
    reader_factory: Callable[..., DatasetV2],
    seed: int | None = None,
    reshuffle_each_iteration: bool = False,
    num_parallel_calls: int = AUTOTUNE,
) -> DatasetV2:
    """Return the elements of `reader_factory(paths)`, which can be read by their place, in one random order.

    Each file says its `path`, its `num_elements`, and maybe how many of them to `skip` and then to `take` (-1: all).
    No element waits in memory for its turn: the order is a function of the place.
    """
    counts, moved = _spans(file_infos)
    ends, total = np.cumsum(counts), np.int64(counts.sum())
    source = reader_factory([info["path"] for info in file_infos])

    def epoch(seeds: Any) -> DatasetV2:
        def element(place: Any) -> Any:
            number = place_in_order(place, seeds, total - 1)
            return at(source, number + gather(moved, searchsorted(ends, [number], side="right")[0]))

        return DatasetV2.range(total).map(element, num_parallel_calls)

    words = DatasetV2.random(seed, rerandomize_each_iteration=bool(reshuffle_each_iteration))
    return words.take(2).batch(2, drop_remainder=True).flat_map(epoch)


def _spans(file_infos: Sequence[Mapping[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Return how many elements each file gives, and by how much their places lie behind those without what is left out.

    >>> [x.tolist() for x in _spans([{"num_elements": 9, "skip": 2, "take": 5}, {"num_elements": 4, "skip": 1}])]
    [[5, 3], [2, 5]]
    """
    sizes = np.array([info["num_elements"] for info in file_infos], np.int64)
    skipped = np.minimum(_of_all([info.get("skip", 0) for info in file_infos], sizes), sizes)
    counts = np.minimum(_of_all([info.get("take", -1) for info in file_infos], sizes), sizes - skipped)
    return counts, np.cumsum(sizes) - sizes + skipped - (np.cumsum(counts) - counts)


def _of_all(given: list[int], sizes: np.ndarray) -> np.ndarray:
    numbers = np.array(given, np.int64)
    return np.where(numbers < 0, sizes, numbers)
