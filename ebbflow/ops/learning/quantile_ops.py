"""The ops of quantiles: summaries of batches, streams of them as a resource, and buckets between the boundaries.

The arithmetic is in `quantile_stream.py`. Boosted trees decide by buckets, whose boundaries come from here.
"""

from __future__ import annotations

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import op
from ebbflow.ops.declare import FLAT, scalar, with_rank
from ebbflow.ops.learning.quantile_stream import Stream, Streams, boundaries_of, quantiles_of
from ebbflow.ops.queues.queue_ops import NAMED, shared
from ebbflow.ops.shape_rules import equal_length, ranked_at_least
from ebbflow.ops.sizes import invalid
from ebbflow.ops.state.storage import held

HANDLE = "quantile_stream_resource_handle"
MOST_STREAMS = 1 << 24

BoostedTreesQuantileStreamResourceHandleOp = op(
    f"BoostedTreesQuantileStreamResourceHandleOp() -> (resource:resource) | {NAMED} | stateful",
    shape=scalar,
    gradient=FLAT,
)


@BoostedTreesQuantileStreamResourceHandleOp.kernel
def _(xp, *, container, shared_name, run):
    return shared(run, container, shared_name, "quantiles", lambda name: Streams())


def _streams(handle: np.ndarray, must_be_ready: bool = True) -> Streams:
    streams = held(handle)
    if not isinstance(streams, Streams):
        raise invalid(f"{HANDLE} is not of quantile streams, but of {type(streams).__name__}")
    if must_be_ready and not streams.ready:
        raise errors.NotFoundError(None, None, f"the streams behind {HANDLE} were not created: run their initializer")
    return streams


IsBoostedTreesQuantileStreamResourceInitialized = op(
    f"IsBoostedTreesQuantileStreamResourceInitialized({HANDLE}:resource) -> (is_initialized:bool) | stateful",
    shape=scalar,
    kernel=lambda xp, handle: np.array(_streams(handle, False).ready),
    gradient=FLAT,
)
BoostedTreesCreateQuantileStreamResource = op(
    f"BoostedTreesCreateQuantileStreamResource({HANDLE}:resource, epsilon:float, num_streams:int64) -> () | "
    "max_elements: int = 1099511627776 | stateful",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesCreateQuantileStreamResource.shape
def _(handle, epsilon, num_streams):
    with_rank(epsilon, 0, "epsilon")
    with_rank(num_streams, 0, "num_streams")
    return []


@BoostedTreesCreateQuantileStreamResource.kernel
def _(xp, quantile_stream_resource_handle, epsilon, num_streams, *, max_elements):
    streams, count = _streams(quantile_stream_resource_handle, False), int(num_streams)
    if not 0 <= count <= MOST_STREAMS:
        raise invalid(f"num_streams = {count} is not in [0, {MOST_STREAMS}]")
    with streams.lock:
        if not streams.ready:
            streams.fill(float(epsilon), count, max_elements)
    return ()


# --- summaries --------------------------------------------------------------------------------------------------------

BoostedTreesMakeQuantileSummaries = op(
    "BoostedTreesMakeQuantileSummaries(float_values:num_features*float, example_weights:float, epsilon:float) -> "
    "(summaries:num_features*float) | num_features: int >= 0",
    facts="data_dependent",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesMakeQuantileSummaries.shape
def _(float_values, example_weights, epsilon):
    with_rank(epsilon, 0, "epsilon")
    for number, values in enumerate(float_values):
        with_rank(values, 1, f"float_values[{number}]")
    return [(None, 4) for _ in float_values]


@BoostedTreesMakeQuantileSummaries.kernel
def _(xp, float_values, example_weights, epsilon):
    if not float_values:
        raise errors.InternalError(None, None, "Got empty feature list")
    count, weights = len(float_values[0]), example_weights.reshape(-1)
    if weights.size not in (1, count):
        raise invalid(
            f"Weights should be a single value or same size as features: example_weights has {weights.size}, "
            f"float_values[0] has {count}"
        )
    if not 0 < epsilon < 1:
        raise invalid(f"epsilon = {epsilon} is not between 0 and 1")
    summaries = []
    for number, values in enumerate(float_values):
        if len(values) != count:
            raise invalid(f"float_values[{number}] has {len(values)} values, float_values[0] has {count}")
        stream = Stream(float(epsilon), count + 1)
        stream.push(values, np.broadcast_to(weights, (count,)))
        summaries.append(stream.summary())
    return summaries


BoostedTreesQuantileStreamResourceAddSummaries = op(
    f"BoostedTreesQuantileStreamResourceAddSummaries({HANDLE}:resource, summaries:num_features*float) -> () | "
    "num_features: int >= 0 | stateful",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesQuantileStreamResourceAddSummaries.shape
def _(handle, summaries):
    for number, summary in enumerate(summaries):
        equal_length((with_rank(summary, 2, f"summaries[{number}]") or (None, None))[1], 4)
    return []


@BoostedTreesQuantileStreamResourceAddSummaries.kernel
def _(xp, quantile_stream_resource_handle, summaries):
    streams = _streams(quantile_stream_resource_handle)
    with streams.lock:
        _check_count(streams, len(summaries), "summaries")
        for number, summary in enumerate(summaries):
            if not (np.diff(summary[:, 0]) > 0).all():
                raise invalid(f"summaries[{number}] is not in increasing order of its values")
        for stream, summary in zip(streams.streams, summaries, strict=True):
            stream.push_summary(summary)
    return ()


def _check_count(streams: Streams, count: int, name: str) -> None:
    if len(streams.streams) != count:
        raise errors.InternalError(
            None, None, f"Expected num_streams == {name}.size(), got {len(streams.streams)} vs {count}"
        )


BoostedTreesFlushQuantileSummaries = op(
    f"BoostedTreesFlushQuantileSummaries({HANDLE}:resource) -> (summaries:num_features*float) | "
    "num_features: int >= 0 | stateful",
    shape=lambda handle, *, num_features: [(None, 4)] * num_features,
    gradient=FLAT,
)


@BoostedTreesFlushQuantileSummaries.kernel
def _(xp, quantile_stream_resource_handle, *, num_features):
    streams = _streams(quantile_stream_resource_handle)
    with streams.lock:
        _check_count(streams, num_features, "summaries")
        summaries = [stream.summary() for stream in streams.streams]
        streams.restart()
    return summaries


# --- boundaries -------------------------------------------------------------------------------------------------------

BoostedTreesQuantileStreamResourceFlush = op(
    f"BoostedTreesQuantileStreamResourceFlush({HANDLE}:resource, num_buckets:int64) -> () | "
    "generate_quantiles: bool = false | stateful",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesQuantileStreamResourceFlush.shape
def _(handle, num_buckets):
    with_rank(num_buckets, 0, "num_buckets")
    return []


@BoostedTreesQuantileStreamResourceFlush.kernel
def _(xp, quantile_stream_resource_handle, num_buckets, *, generate_quantiles):
    streams, count = _streams(quantile_stream_resource_handle), int(num_buckets)
    if count < 1:
        raise invalid(f"num_buckets = {count} must be positive")
    make = quantiles_of if generate_quantiles else boundaries_of
    with streams.lock:
        streams.boundaries = [make(stream.summary(), count) for stream in streams.streams]
        streams.restart()
    return ()


BoostedTreesQuantileStreamResourceGetBucketBoundaries = op(
    f"BoostedTreesQuantileStreamResourceGetBucketBoundaries({HANDLE}:resource) -> "
    "(bucket_boundaries:num_features*float) | num_features: int >= 0 | stateful",
    shape=lambda handle, *, num_features: [(None,)] * num_features,
    gradient=FLAT,
)


@BoostedTreesQuantileStreamResourceGetBucketBoundaries.kernel
def _(xp, quantile_stream_resource_handle, *, num_features):
    streams = _streams(quantile_stream_resource_handle)
    with streams.lock:
        _check_count(streams, num_features, "bucket_boundaries")
        return list(streams.boundaries)


BoostedTreesQuantileStreamResourceDeserialize = op(
    f"BoostedTreesQuantileStreamResourceDeserialize({HANDLE}:resource, bucket_boundaries:num_streams*float) -> () | "
    "num_streams: int >= 1 | stateful",
    gradient=FLAT,
    checks_first=True,
)


@BoostedTreesQuantileStreamResourceDeserialize.shape
def _(handle, bucket_boundaries):
    for number, boundaries in enumerate(bucket_boundaries):
        with_rank(boundaries, 1, f"bucket_boundaries[{number}]")
    return []


@BoostedTreesQuantileStreamResourceDeserialize.kernel
def _(xp, quantile_stream_resource_handle, bucket_boundaries):
    streams = _streams(quantile_stream_resource_handle)
    with streams.lock:
        _check_count(streams, len(bucket_boundaries), "bucket_boundaries")
        streams.boundaries = [boundaries.copy() for boundaries in bucket_boundaries]
    return ()


BoostedTreesBucketize = op(
    "BoostedTreesBucketize(float_values:num_features*float, bucket_boundaries:num_features*float) -> "
    "(buckets:num_features*int32) | num_features: int >= 0",
    gradient=FLAT,
    facts="data_dependent",
    checks_first=True,
)


@BoostedTreesBucketize.shape
def _(float_values, bucket_boundaries):
    for number, boundaries in enumerate(bucket_boundaries):
        with_rank(boundaries, 1, f"bucket_boundaries[{number}]")
    return [(ranked_at_least(values, 1) or (None,))[:1] for values in float_values]


@BoostedTreesBucketize.kernel
def _(xp, float_values, bucket_boundaries):
    buckets = []
    for number, (values, boundaries) in enumerate(zip(float_values, bucket_boundaries, strict=True)):
        if values.size != len(values):
            raise invalid(f"float_values[{number}] has shape {values.shape}: each value needs a row of its own")
        places = np.searchsorted(boundaries, values.reshape(-1), side="left")
        buckets.append(np.clip(places, 0, max(0, len(boundaries) - 1)).astype(np.int32))
    return buckets
