"""A few threads for array work that one core cannot do fast enough.

As many as `intra_op_parallelism_threads` says, or as there are cores. NumPy lets go of the interpreter while it works
on large arrays, so the parts of one computation run side by side. The threads are made when first needed.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ebbflow.platform import config


def count() -> int:
    """Return how many threads may work on one computation."""
    wanted = config.get_intra_op_parallelism_threads()
    if wanted:
        return wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="ebbflow")


def spread(function: Callable[..., Any], parts: Sequence[tuple[Any, ...]]) -> None:
    """Call `function` on each part, side by side; an error in one is raised when all are done.

    >>> seen = []
    >>> spread(lambda i: seen.append(i), [(1,), (2,), (3,)])
    >>> sorted(seen)
    [1, 2, 3]
    """
    if len(parts) == 1:
        function(*parts[0])
        return
    others = [_pool(max(count() - 1, 1)).submit(function, *part) for part in parts[1:]]
    try:
        function(*parts[0])
    finally:
        failures = [error for other in others if (error := other.exception()) is not None]
    if failures:
        raise failures[0]
