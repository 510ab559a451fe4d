"""Counts that programs register for ops."""

from __future__ import annotations

import pytest

import ebbflow as tf
from ebbflow.graph import statistics


def test_registered_counts():
    @statistics.RegisterStatistics("test_statistics_op", "flops")
    def count(graph, node):
        return statistics.OpStats("flops", 20)

    node = tf.compat.v1.NodeDef(op="test_statistics_op", name="n")
    assert statistics.get_stats_for_node_def(None, node, "flops").value == 20
    assert statistics.get_stats_for_node_def(None, node, "bytes").value is None
    with pytest.raises(KeyError, match="two statistics"):
        statistics.RegisterStatistics("test_statistics_op", "flops")(count)
    with pytest.raises(ValueError, match="Can't add an OpStat of type flops to one of bytes"):
        total = statistics.OpStats("flops", 1)
        total += statistics.OpStats("bytes", 1)
