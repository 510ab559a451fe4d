"""Calls of one function from several threads that run as one: the rows of all are computed together.

The call that opens a batch waits for others until there are enough rows or its time is over, runs the function, and
gives each its own rows. Knows bodies of functions; knows nothing of datasets.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import forks, nest
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import Dims
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.functions.func_graph import FuncGraph
from ebbflow.functions.function import function
from ebbflow.ops.declare import UNDEFINED, show
from ebbflow.ops.sizes import invalid

BatchFunction = op(
    "BatchFunction(in_tensors:list(Tin), captured_tensors:list(Tcaptured)) -> (out_tensors:list(Tout)) | f: func; "
    "num_batch_threads: int; max_batch_size: int; batch_timeout_micros: int; max_enqueued_batches: int = 10; "
    'allowed_batch_sizes: list(int) = []; container: string = ""; shared_name: string = ""; '
    'batching_queue: string = ""; low_priority_max_batch_size: int = 0; low_priority_batch_timeout_micros: int = 0; '
    "low_priority_allowed_batch_sizes: list(int) = []; low_priority_max_enqueued_batches: int = 0; "
    'mixed_priority_policy: string in ["low_priority_padding_with_max_batch_size",'
    '"low_priority_padding_with_next_allowed_batch_size","priority_isolation","priority_merge"] = '
    '"low_priority_padding_with_max_batch_size"; batch_padding_policy: string in ["PAD_UP","BATCH_DOWN",'
    '"MINIMIZE_TPU_COST_PER_REQUEST"] = "PAD_UP"; Tin: list(type) >= 1; Tcaptured: list(type) >= 0; '
    "Tout: list(type) >= 1; enable_large_batch_splitting: bool = false",
    facts="waits",
    gradient=UNDEFINED,
)

Arrays = list[np.ndarray]


@BatchFunction.shape
def _(in_tensors: Any, captured_tensors: Any, *, f: Any, Tout: Any) -> list[Dims]:
    return [t._dims for t in f.outputs] if isinstance(f, FuncGraph) else [None] * len(Tout)


@BatchFunction.kernel
def _(
    xp: Any, in_tensors: Any, captured_tensors: Any, *, f: Any, max_batch_size: int, batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int], enable_large_batch_splitting: bool, run: Any,
) -> Arrays:  # fmt: skip
    given = len(in_tensors) + len(captured_tensors)
    if given != len(f.inputs):
        raise invalid(f"Function takes {len(f.inputs)} argument(s) but {given} argument(s) were passed")
    rows = _rows_of(in_tensors)
    if rows > max_batch_size and not enable_large_batch_splitting:
        raise invalid(f"Task size {rows} is larger than maximum input batch size {max_batch_size}")
    queue = _queue_of(f, run.session)
    call = lambda arrays: f.run(run.session, [*arrays, *captured_tensors])
    parts = [
        queue.run([x[at : at + max_batch_size] for x in in_tensors], call, max_batch_size, batch_timeout_micros / 1e6,
                  allowed_batch_sizes)
        for at in range(0, max(rows, 1), max_batch_size)
    ]  # fmt: skip
    return [np.concatenate(column) for column in zip(*parts, strict=True)] if len(parts) > 1 else parts[0]


def _rows_of(arrays: Arrays) -> int:
    if not all(x.ndim for x in arrays):
        raise invalid("Batching input tensors must have at least one dimension")
    lengths = {len(x) for x in arrays}
    if len(lengths) > 1:
        raise invalid(
            "Batching input tensors supplied in a given op invocation must have equal 0th-dimension size, they have "
            f"shapes {', '.join(show(x.shape) for x in arrays)}"
        )
    return lengths.pop()


class _Batch:
    """The calls that run together, and what became of them."""

    def __init__(self) -> None:
        self.calls: list[Arrays] = []
        self.rows = 0
        self.full, self.done = threading.Event(), threading.Event()
        self.results: list[Arrays] = []
        self.error: BaseException | None = None

    def compute(self, call: Callable[[Arrays], Arrays], allowed: Sequence[int]) -> None:
        """Run the function on the rows of all calls, padded to a size that is allowed."""
        try:
            joined = [np.concatenate(column) for column in zip(*self.calls, strict=True)]
            size = next((n for n in allowed if n >= self.rows), self.rows)
            if size > self.rows:
                joined = [np.concatenate([x, np.repeat(x[:1], size - self.rows, 0)]) for x in joined]
            found = [np.asarray(x) for x in call(joined)]
            for x in found:
                if not x.ndim or len(x) != size:
                    raise invalid(
                        f"The function of a batch of {size} rows must give that many, a result has shape "
                        f"{show(x.shape)}"
                    )
            ends = np.cumsum([len(arrays[0]) for arrays in self.calls])
            self.results = [
                [x[end - len(given[0]) : end] for x in found] for end, given in zip(ends, self.calls, strict=True)
            ]
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


class _Queue:
    """The batch that calls of one function join."""

    def __init__(self) -> None:
        self._lock = forks.lock()
        self._open: _Batch | None = None

    def run(
        self, arrays: Arrays, call: Callable[[Arrays], Arrays], most: int, wait: float, allowed: Sequence[int]
    ) -> Arrays:
        """Return the function's results for these rows, computed with those of others who come in time."""
        with self._lock:
            batch = self._open
            if batch is not None and batch.rows + len(arrays[0]) > most:
                batch.full.set()
                batch = None
            opens = batch is None
            if batch is None:
                batch = self._open = _Batch()
            place = len(batch.calls)
            batch.calls.append(arrays)
            batch.rows += len(arrays[0])
            if batch.rows >= most:
                batch.full.set()
                self._open = None
        if opens:
            batch.full.wait(wait)
            with self._lock:
                if self._open is batch:
                    self._open = None
            batch.compute(call, allowed)
        batch.done.wait()
        if batch.error is not None:
            raise batch.error
        return batch.results[place]


_queues: weakref.WeakKeyDictionary[Any, weakref.WeakKeyDictionary[Any, _Queue]] = weakref.WeakKeyDictionary()
_finding = forks.lock()


def _queue_of(body: Any, session: Any) -> _Queue:
    """Return where calls of a body wait for each other: those of one session, which share its variables."""
    with _finding:
        return _queues.setdefault(body, weakref.WeakKeyDictionary()).setdefault(session, _Queue())


def nondifferentiable_batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
    enable_large_batch_splitting: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the decorator of a function of rows whose calls from several threads are computed together.

    >>> import ebbflow as tf
    >>> @nondifferentiable_batch_function(1, 4, 1000)
    ... def double(x):
    ...     return 2 * x
    >>> double(tf.constant([1, 2])).numpy().tolist()
    [2, 4]
    """

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        traced: Any = function(fn, autograph=autograph)

        @functools.wraps(fn)
        def decorated(*args: Any) -> Any:
            for value in args:
                if not isinstance(value, Tensor):
                    raise ValueError(f"A batch function takes tensors alone, got {value!r}")
            with name_scope(None, "batch"):
                specs = [TensorSpec(x.shape if not x.shape.rank else [None, *x.shape[1:]], x.dtype) for x in args]
                body = traced.get_concrete_function(*specs)
                outputs = BatchFunction(
                    list(args), list(body.captured_inputs), f=body.graph, num_batch_threads=num_batch_threads,
                    max_batch_size=max_batch_size, batch_timeout_micros=batch_timeout_micros,
                    allowed_batch_sizes=list(allowed_batch_sizes or ()), max_enqueued_batches=max_enqueued_batches,
                    Tout=[t.dtype for t in body.graph.outputs],
                    enable_large_batch_splitting=enable_large_batch_splitting,
                )  # fmt: skip
                return nest.pack_sequence_as(body.structured_outputs, list(outputs), True)

        return decorated

    return decorator
