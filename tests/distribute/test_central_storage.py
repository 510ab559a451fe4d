"""Replicas that share their variables."""

import pytest

import ebbflow as tf
from tests.distribute.replicas import of_each

pytestmark = pytest.mark.usefixtures("two_cpus")


@pytest.fixture
def strategy():
    return tf.distribute.experimental.CentralStorageStrategy(["CPU:0", "CPU:1"], "CPU:0")


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
@pytest.mark.parametrize("aggregation, expected", [("SUM", 4.0), ("MEAN", 2.5), ("ONLY_FIRST_REPLICA", 2.0)])
def test_there_is_one_copy_that_all_write_together(strategy, wrap, aggregation, expected):
    with strategy.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation[aggregation])
    deltas = of_each(strategy, lambda i: tf.constant(i + 1.0))
    wrap(lambda d: strategy.run(lambda x: v.assign_add(x).read_value(), (d,)))(deltas)
    assert float(v) == expected
    assert len({id(copy) for copy in v.values}) == 1 and len(v.values) == 2
