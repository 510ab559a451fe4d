"""Optimizers of TF 1 that scale their loss: steps are the plain optimizer's, and those that overflow are left out."""

import numpy as np
import pytest

import ebbflow as tf

v1 = tf.compat.v1
mixed = v1.mixed_precision


def trained(optimizer, steps, slope=2.0):
    """Return what a variable and the optimizer's variables are after steps down a line of this slope."""
    with tf.Graph().as_default():
        x = v1.get_variable("x", initializer=[1.0, 2.0], use_resource=True)
        opt = optimizer()
        factor = v1.placeholder_with_default(np.float32(slope), [])
        step = opt.minimize(tf.reduce_sum(x * factor))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for given in steps:
                session.run(step, {factor: given})
            return session.run(x), session.run(opt.variables())


@pytest.mark.parametrize("scale", [8, "dynamic", mixed.FixedLossScale(128.0)], ids=str)
def test_steps_are_those_of_the_optimizer_inside(scale):
    plain, _ = trained(lambda: v1.train.MomentumOptimizer(0.1, 0.9), [2.0, 3.0, 4.0])
    scaled, _ = trained(
        lambda: mixed.MixedPrecisionLossScaleOptimizer(v1.train.MomentumOptimizer(0.1, 0.9), scale), [2.0, 3.0, 4.0]
    )
    np.testing.assert_allclose(scaled, plain, rtol=1e-6)


def test_a_step_that_overflows_changes_the_scale_alone():
    def optimizer():
        return mixed.MixedPrecisionLossScaleOptimizer(
            v1.train.GradientDescentOptimizer(0.1), mixed.DynamicLossScale(64.0, increment_period=2)
        )

    x, variables = trained(optimizer, [1.0, np.inf])
    np.testing.assert_allclose(x, [0.9, 1.9], rtol=1e-6)
    assert sorted(float(v) for v in variables) == [0.0, 32.0]
    _, variables = trained(optimizer, [1.0, 1.0])
    assert sorted(float(v) for v in variables) == [0.0, 128.0]


def test_rows_of_an_embedding():
    with tf.Graph().as_default():
        table = v1.get_variable("table", initializer=np.ones((3, 2), np.float32), use_resource=True)
        opt = mixed.MixedPrecisionLossScaleOptimizer(v1.train.GradientDescentOptimizer(1.0), 4)
        step = opt.minimize(tf.reduce_sum(tf.gather(table, [1])))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(step)
            assert session.run(table).tolist() == [[1, 1], [0, 0], [1, 1]]


def test_eagerly():
    x = tf.Variable(3.0)
    opt = mixed.MixedPrecisionLossScaleOptimizer(v1.train.GradientDescentOptimizer(0.5), "dynamic")
    opt.minimize(lambda: x * x, var_list=[x])
    assert float(x) == 0.0


def test_the_switch_wraps_an_optimizer_once():
    opt = mixed.enable_mixed_precision_graph_rewrite(v1.train.AdamOptimizer())
    try:
        assert isinstance(opt, mixed.MixedPrecisionLossScaleOptimizer)
        assert tf.__internal__.train.is_mixed_precision_graph_rewrite_enabled()
        with pytest.raises(ValueError, match="must not already be an instance"):
            mixed.enable_mixed_precision_graph_rewrite(opt)
        with pytest.raises(ValueError, match=r"must be an instance of a tf\.train\.Optimizer"):
            mixed.enable_mixed_precision_graph_rewrite(3)
    finally:
        mixed.disable_mixed_precision_graph_rewrite()
    assert not tf.__internal__.train.is_mixed_precision_graph_rewrite_enabled()


@pytest.mark.parametrize("opt, scale, says", [
    (3, 2, "must be an instance of Optimizer"), (None, None, "cannot be None"), (None, "static", "dynamic"),
])  # fmt: skip
def test_what_is_refused(opt, scale, says):
    with pytest.raises(ValueError, match=says):
        mixed.MixedPrecisionLossScaleOptimizer(opt or v1.train.AdamOptimizer(), scale)
