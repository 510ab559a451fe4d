"""Programs for TPUs run as programs of one shard."""

import pytest

import ebbflow as tf
from ebbflow import messages
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


def test_the_system_of_one_core_is_told_and_ended():
    with tf.Graph().as_default(), v1.Session() as session:
        told = session.run(tpu.initialize_system())
        assert session.run(tpu.shutdown_system()) is None
    assert messages.parse(messages.TopologyProto, told).num_tasks == 1
    assert tpu.core(2) == "device:TPU_REPLICATED_CORE:2"
    assert int(tpu.batch_parallel(lambda x: x + 1, [tf.constant(4)])[0]) == 5


def test_bfloat16_variables_are_kept_as_floats():
    with tf.Graph().as_default():
        with tpu.bfloat16_scope():
            x, y = v1.get_variable("x", [2], tf.bfloat16), v1.get_variable("y", [2])
        assert (x.dtype, y.dtype.base_dtype) == (tf.bfloat16, tf.float32)
        assert [v.dtype.base_dtype for v in v1.global_variables()] == [tf.float32, tf.float32]
