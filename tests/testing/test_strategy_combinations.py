"""Strategies as parameters of tests: which are made, which are left out, and what the tests are given."""

import unittest

import pytest
from absl.testing import parameterized

import ebbflow as tf
from ebbflow.testing import strategy_combinations as strategies
from ebbflow.testing.combinations import combine

given = []


class Cases(tf.test.TestCase, parameterized.TestCase):
    __test__ = False  # run below

    @strategies.generate_with_strategies(
        combine(
            distribution=[strategies.one_device_strategy, strategies.tpu_strategy],
            mode=["eager"],
            use_var_policy=[True],
            run=[strategies.tf_function, strategies.no_tf_function],
        )
    )
    def test_sums(self, distribution, run):
        total = run(lambda: distribution.reduce("SUM", distribution.run(lambda: tf.constant(3.0)), axis=None))()
        given.append((type(distribution).__name__, float(total)))


def test_a_strategy_is_made_for_each_test_that_the_machine_can_run():
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Cases).run(result)
    assert result.wasSuccessful() and sum("no TPUs" in why for _, why in result.skipped) == 2
    assert given == [("OneDeviceStrategy", 3.0)] * 2


def test_values_of_replicas_are_gathered_along_a_new_axis():
    strategy = strategies.one_device_strategy.strategy
    assert strategies.gather(strategy, strategy.run(lambda: tf.constant([1, 2]))).numpy().tolist() == [[1, 2]]


def test_logical_devices_that_are_there_are_left_alone():
    strategies.set_virtual_cpus_to_at_least(1)
    with pytest.raises(RuntimeError, match="No TPU found"):
        strategies.set_logical_devices_to_at_least("TPU", 2)
