"""A few threads for array work that one core cannot do fast enough.

As many as `intra_op_parallelism_threads` says for one op, and `inter_op_parallelism_threads` for several at once, or as
there are cores. NumPy lets go of the interpreter while it works on large arrays, so the parts of one computation run
side by side. The threads are made when first needed.
"""

from __future__ import annotations

import contextvars
import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ebbflow.platform import config


def count() -> int:
    """Return how many threads may work on one computation."""
    return config.get_intra_op_parallelism_threads() or cores()


def between_ops() -> int:
    """Return how many ops may run at once."""
    return config.get_inter_op_parallelism_threads() or cores()


@functools.cache
def cores() -> int:
    """Return how many CPUs this process may use: those that it may run on, at most as many as OMP_NUM_THREADS says."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return min(usable, int(asked)) if asked.isdigit() and int(asked) else usable


@functools.cache
def _pool(kind: str, workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix=kind)


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def spread(function: Callable[..., Any], parts: Sequence[tuple[Any, ...]], ops: int = 0) -> None:
    """Call `function` on each part, side by side; an error in one is raised when all are done.

    Parts of one op share the threads of one op; where they are `ops` of their own, those that serve between ops. What
    `np.errstate` says here holds in all of them.

    >>> seen = []
    >>> spread(lambda i: seen.append(i), [(1,), (2,), (3,)])
    >>> sorted(seen)
    [1, 2, 3]
    """
    if len(parts) == 1:
        function(*parts[0])
        return
    pool = _pool("ebbflow-ops", max(ops - 1, 1)) if ops else _pool("ebbflow", max(count() - 1, 1))
    others = [pool.submit(contextvars.copy_context().run, function, *part) for part in parts[1:]]
    try:
        function(*parts[0])
    finally:
        failures = [error for other in others if (error := other.exception()) is not None]
    if failures:
        raise failures[0]


def helped(function: Callable[[], Any]) -> None:
    """Call `function` here, and in other threads as far as they come to it while it runs here.

    It is for work that everybody takes a part of until none is left: who has not begun when that is so here is not
    waited for, so that a busy machine costs no more than the help.

    >>> left, done = list(range(100)), []
    >>> def work():
    ...     while left:
    ...         done.append(left.pop())
    >>> helped(work)
    >>> len(done)
    100
    """
    others = count() - 1
    pool = _pool("ebbflow", others) if others > 0 else None
    helpers = [pool.submit(function) for _ in range(others)] if pool is not None else []
    try:
        function()
    finally:
        for helper in helpers:
            if not helper.cancel():
                helper.exception()
