"""Programs for TPUs run as programs of one shard."""

import pytest

import ebbflow as tf
from ebbflow.tf1 import tpu

v1 = tf.compat.v1


def test_the_optimizer_is_the_inner_one():
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", initializer=2.0)
        train = tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.5)).minimize(w * w)
        session.run(w.initializer)
        session.run(train)
        assert session.run(w) == 0.0
    with pytest.raises(ValueError, match="Unsupported reduction: most"):
        tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.5), reduction="most")


def test_computations_are_called():
    double = lambda x: x * 2
    assert tpu.rewrite(double, [tf.constant(3)])[0].numpy() == 6
    assert [int(x[0]) for x in tpu.replicate(double, [[tf.constant(1)], [tf.constant(2)]])] == [2, 4]
    assert int(tpu.shard(double, [tf.constant(4)])[0]) == 8
    assert int(tpu.repeat(5, lambda x: x + 2, [tf.constant(1)])) == 11
    assert int(tpu.while_loop(lambda x: x < 9, lambda x: x * 2, [tf.constant(1)])[0]) == 16
    with tpu.tpu_shard_context(8):
        assert tpu.get_tpu_context().number_of_shards == 8
    assert tpu.get_tpu_context().number_of_shards is None


def test_parameters_are_checked():
    assert tpu.AdagradParameters(0.1, clip_weight_min=0).clip_weight_min == 0
    with pytest.raises(ValueError, match="initial_accumulator must be positive"):
        tpu.AdagradParameters(0.1, initial_accumulator=0)
    with pytest.raises(ValueError, match="beta1 must be between"):
        tpu.AdamParameters(0.1, beta1=1.0)
