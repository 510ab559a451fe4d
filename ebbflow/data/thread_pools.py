"""How many threads a dataset may have (`tensorflow.python.data.experimental.ops.threadpool`).

Threads belong to the stages that need them, so a pool of a program's own is a bound: no stage of the dataset calls its
function more often at once.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core.op import op
from ebbflow.data.dataset import DatasetV2
from ebbflow.data.pipe import TYPED, Under, dataset_op, made, pipe_of
from ebbflow.data.running import current
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import boxed, held

ThreadPoolHandle = op(
    "ThreadPoolHandle() -> (handle:resource) | num_threads: int; max_intra_op_parallelism: int = 1; "
    'display_name: string; container: string = ""; shared_name: string = "" | stateful',
    shape=scalar,
    gradient=FLAT,
)
ThreadPoolDataset = dataset_op(
    f"ThreadPoolDataset(input_dataset:variant, thread_pool:resource) -> (handle:variant) | {TYPED} | stateful"
)


class Bound:
    """What the handle of a pool holds."""

    def __init__(self, count: int):
        self.count = count


@ThreadPoolHandle.kernel
def _(
    xp: Any, *, num_threads: int, max_intra_op_parallelism: int, display_name: Any, container: Any, shared_name: Any
) -> Any:
    if num_threads < 1:
        raise invalid(f"`num_threads` must be greater than zero, got {num_threads}")
    return boxed(Bound(num_threads))


@ThreadPoolDataset.kernel
def _(xp: Any, input_dataset: Any, thread_pool: Any) -> Any:
    source, bound = pipe_of(input_dataset), held(thread_pool)
    if not isinstance(bound, Bound):
        raise invalid(f"`thread_pool` must be the handle of a pool of threads, it holds {type(bound).__name__}")
    return made(lambda: Under(source, current.run.within(bound.count)), source.size, source, source.rows)


class PrivateThreadPool:
    """A pool of threads for datasets that ask for it."""

    def __init__(self, num_threads: int, display_name: str | None = None, max_intra_op_parallelism: int | None = 1):
        self._resource = ThreadPoolHandle(
            num_threads=num_threads,
            max_intra_op_parallelism=1 if max_intra_op_parallelism is None else max_intra_op_parallelism,
            display_name=display_name or "",
        )


def override_threadpool(dataset: DatasetV2, thread_pool: PrivateThreadPool) -> Any:
    """Return a dataset of the same elements, made by no more threads at once than a pool has."""
    return dataset._then(ThreadPoolDataset, thread_pool._resource, kind="_ThreadPoolDataset")
