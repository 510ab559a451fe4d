"""Statistics of datasets, as TF 1 gathered them: how long elements take and how many bytes they have, as histograms.

`options.experimental_stats.aggregator` says where numbers go; stages made by `latency_stats` and `bytes_produced_stats`
put them there, and all stages do with `latency_all_edges`. The aggregator of an iteration travels with its run
(`running.Run`), so stages in threads find it too. Elements come one by one then. Knows pipes and messages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ebbflow import messages
from ebbflow.core import errors, forks
from ebbflow.core.op import op
from ebbflow.core.tensor import Tensor
from ebbflow.data.pipe import TYPED, Element, Pipe, Under, dataset_op, made, pipe_of
from ebbflow.data.running import PLAIN, Meter, Run, current
from ebbflow.messages.histograms import Buckets
from ebbflow.ops.declare import FLAT, scalar
from ebbflow.ops.state.storage import boxed, held
from ebbflow.ops.state.variable_ops import find_or_make

_KEPT = '() -> (handle:resource) | container: string = ""; shared_name: string = "" | stateful'
StatsAggregatorHandle = op("StatsAggregatorHandle" + _KEPT, shape=scalar, gradient=FLAT)
StatsAggregatorHandleV2 = op("StatsAggregatorHandleV2" + _KEPT, shape=scalar, gradient=FLAT)
StatsAggregatorSummary = op(
    "StatsAggregatorSummary(iterator:resource) -> (summary:string) | stateful", shape=scalar, gradient=FLAT
)
SetStatsAggregatorDataset = dataset_op(
    "SetStatsAggregatorDataset(input_dataset:variant, stats_aggregator:resource, tag:string, counter_prefix:string) -> "
    f"(handle:variant) | {TYPED} | stateful"
)
_TAGGED = f"(input_dataset:variant, tag:string) -> (handle:variant) | {TYPED}"
LatencyStatsDataset = dataset_op("LatencyStatsDataset" + _TAGGED)
BytesProducedStatsDataset = dataset_op("BytesProducedStatsDataset" + _TAGGED)

ALL_EDGES = b"latency_all_edges"


class Statistics:
    """What an aggregator has gathered: histograms by tag, in the order they came."""

    def __init__(self) -> None:
        self._histograms: dict[str, Buckets] = {}
        self._lock = forks.lock()

    def add(self, tag: str, value: float) -> None:
        """Count a number."""
        with self._lock:
            self._histograms.setdefault(tag, Buckets()).add(value)

    def summary(self) -> bytes:
        """Return everything as a Summary message."""
        with self._lock:
            values = [messages.Summary.Value(tag=tag, histo=found.proto()) for tag, found in self._histograms.items()]
        return messages.Summary(value=values).SerializeToString()


class _StageMeter(Meter):
    """What is measured of one stage goes to an aggregator."""

    __slots__ = ("_gather",)

    def __init__(self, gather: Callable[[float], None]):
        super().__init__()
        self._gather = gather

    def add(self, began: float, rows: int = 1) -> None:
        """Count an element that was given since `began`."""
        super().add(began, rows)
        self._gather(1e6 * (time.perf_counter() - began))


class _Gathering(Run):
    """A run whose stages say how they fare."""

    __slots__ = ("_edges", "_prefix", "_statistics")

    def __init__(self, statistics: Statistics, prefix: str, edges: bool):
        super().__init__(PLAIN)
        self._statistics, self._prefix, self._edges = statistics, prefix, edges

    def gather(self, tag: str, value: float) -> None:
        """Count a number."""
        self._statistics.add(f"{self._prefix}::{tag}" if self._prefix else tag, value)

    def meter(self, stage: Any) -> Meter | None:
        """Return what measures a stage, if all are measured."""
        if not self._edges:
            return None
        self.meters = self.meters or {}
        if stage not in self.meters:
            tag = f"record_latency::{stage.name}/_{len(self.meters) + 1}"
            self.meters[stage] = _StageMeter(lambda value: self.gather(tag, value))
        return self.meters[stage]


@StatsAggregatorHandleV2.kernel
@StatsAggregatorHandle.kernel
def _(xp: Any, *, container: Any, shared_name: Any, run: Any) -> Any:
    if run.node is None and not shared_name:
        return boxed(Statistics())
    return boxed(find_or_make((container, shared_name or run.node.name), run, Statistics))


def _statistics(handle: np.ndarray) -> Statistics:
    found = held(handle)
    if not isinstance(found, Statistics):
        raise errors.InvalidArgumentError(None, None, f"the handle is of {type(found).__name__}, and of no aggregator")
    return found


@StatsAggregatorSummary.kernel
def _(xp: Any, iterator: Any) -> Any:
    return boxed(_statistics(iterator).summary())


@SetStatsAggregatorDataset.kernel
def _(xp: Any, input_dataset: Any, stats_aggregator: Any, tag: Any, counter_prefix: Any) -> Any:
    source, statistics = pipe_of(input_dataset), _statistics(stats_aggregator)
    prefix, edges = tag.item().decode(), counter_prefix.item() == ALL_EDGES
    return made(lambda: Under(source, _Gathering(statistics, prefix, edges)), source.size, source, source.rows)


def _gathered(source: Pipe, tag: str, measure: Callable[[Element, float], float]) -> np.ndarray:
    """Return a dataset whose elements are measured on the way, where somebody gathers that."""

    def start() -> Iterator[Element]:
        run = current.run
        if not isinstance(run, _Gathering):
            return source.start()
        return _Measured(source.start(), lambda *one: run.gather(tag, measure(*one)))

    return made(start, source.size, source, source.rows)


class _Measured:
    """An iterator whose elements are shown to a function, with the seconds each took; an error ends nothing."""

    __slots__ = ("_elements", "_show")

    def __init__(self, elements: Iterator[Element], show: Callable[[Element, float], None]):
        self._elements, self._show = elements, show

    def __iter__(self) -> _Measured:
        return self

    def __next__(self) -> Element:
        began = time.perf_counter()
        element = next(self._elements)
        self._show(element, time.perf_counter() - began)
        return element


@LatencyStatsDataset.kernel
def _(xp: Any, input_dataset: Any, tag: Any) -> Any:
    return _gathered(pipe_of(input_dataset), tag.item().decode(), lambda element, seconds: 1e6 * seconds)


@BytesProducedStatsDataset.kernel
def _(xp: Any, input_dataset: Any, tag: Any) -> Any:
    return _gathered(pipe_of(input_dataset), tag.item().decode(), lambda element, seconds: sum(map(_bytes, element)))


def _bytes(part: np.ndarray) -> int:
    if part.dtype != object:
        return part.nbytes
    return sum(len(text) for text in part.reshape(-1).tolist() if isinstance(text, (bytes, str)))


# --- in words ---------------------------------------------------------------------------------------------------------


class StatsAggregator:
    """Gathers statistics of datasets whose options name it (`options.experimental_stats.aggregator`)."""

    def __init__(self) -> None:
        self._resource = StatsAggregatorHandleV2()

    def get_summary(self) -> Tensor:
        """Return what was gathered so far, as a serialized Summary."""
        return StatsAggregatorSummary(self._resource)


def latency_stats(tag: str) -> Callable[[Any], Any]:
    """Return a transformation that gathers how many microseconds elements take, as a histogram under `tag`."""
    return lambda dataset: dataset._then(LatencyStatsDataset, tag, kind="_StatsDataset")


def bytes_produced_stats(tag: str) -> Callable[[Any], Any]:
    """Return a transformation that gathers how many bytes elements have, as a histogram under `tag`."""
    return lambda dataset: dataset._then(BytesProducedStatsDataset, tag, kind="_StatsDataset")


def gathered_by(dataset: Any, wishes: Any) -> Any:
    """Return a dataset whose stages give their numbers to the aggregator of `StatsOptions`."""
    edges = ALL_EDGES if wishes.latency_all_edges else wishes.counter_prefix
    given = (wishes.aggregator._resource, wishes.prefix, edges)
    return dataset._then(SetStatsAggregatorDataset, *given, kind="_SetStatsAggregatorDataset")
