"""Statistics of TF 1: what stages say goes to the aggregator that the options name."""

from __future__ import annotations

import pytest

import ebbflow as tf
import ebbflow.v1 as v1

E = v1.data.experimental


def gathered(make, **wishes):
    """Return how many numbers there are by tag, and their sums, after two of five elements and after all."""
    with tf.Graph().as_default():
        aggregator, options = E.StatsAggregator(), v1.data.Options()
        options.experimental_stats.aggregator = aggregator
        for name, value in wishes.items():
            setattr(options.experimental_stats, name, value)
        iterator = v1.data.make_initializable_iterator(make(v1.data.Dataset.range(5)).with_options(options))
        element, summary, found = iterator.get_next(), aggregator.get_summary(), []
        with v1.Session() as session:
            session.run(iterator.initializer)
            for count in (2, 3):
                for _ in range(count):
                    session.run(element)
                values = v1.Summary.FromString(session.run(summary)).value
                found.append({v.tag: (v.histo.num, v.histo.sum) for v in values})
    return found


def test_bytes_and_prefixes():
    found = gathered(lambda d: d.apply(E.bytes_produced_stats("bytes")), prefix="mine")
    assert found == [{"mine::bytes": (2, 16)}, {"mine::bytes": (5, 40)}]


@pytest.mark.parametrize("after", [lambda d: d, lambda d: d.map(lambda x: x + 1, num_parallel_calls=2).prefetch(1)])
def test_latencies(after):
    first, last = gathered(lambda d: after(d.apply(E.latency_stats("wait"))))
    assert 2 <= first["wait"][0] <= last["wait"][0] == 5
    assert 0 < first["wait"][1] <= last["wait"][1]


def test_all_stages():
    _, found = gathered(lambda d: d.map(lambda x: x + 1), prefix="p", latency_all_edges=True)
    assert {tag.partition("/")[0]: count for tag, (count, _) in found.items()} == {
        "p::record_latency::RangeDataset": 5, "p::record_latency::MapDataset": 5,
    }  # fmt: skip


def test_nobody_listens():
    dataset = tf.data.Dataset.range(4).apply(E.latency_stats("wait")).apply(E.bytes_produced_stats("bytes"))
    assert [int(x) for x in dataset] == [0, 1, 2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="no aggregator"):
        tf.raw_ops.StatsAggregatorSummary(iterator=tf.lookup.experimental.DenseHashTable(
            tf.int64, tf.int64, -1, 0, -2).resource_handle)  # fmt: skip
