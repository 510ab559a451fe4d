"""Optimizers of `tf.contrib.opt`: TensorFlow 1.15's trajectories, swapped averages, clipping, scipy's search."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import external_optimizer, optimizers, optimizers_by_step, optimizers_v2, wrapping_optimizers
from tests.golden.contrib import optimizers as cases

RECORDED = json.loads(pathlib.Path(cases.__file__).with_suffix(".json").read_text())
v1 = tf.compat.v1


class Opt:
    """The optimizers of all files, as `tf.contrib.opt` shows them."""

    def __getattr__(self, name):
        found = [module for module in (optimizers, optimizers_by_step, wrapping_optimizers) if hasattr(module, name)]
        return getattr(found[0], name)


class First:
    """The names the cases use, as TF 1 has them."""

    def __getattr__(self, name):
        return getattr(v1, name, None) or getattr(tf, name)


@pytest.mark.parametrize("name", RECORDED)
def test_trajectory(name):
    plain = name.removesuffix(" resource")
    ours = cases.trajectory(First(), Opt(), plain, plain != name)
    for mine, theirs in zip(ours, RECORDED[name], strict=True):
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_lazy_adam_eagerly_leaves_other_rows_alone():
    table = v1.get_variable("lazy_table", initializer=np.ones((3, 2), np.float32), use_resource=True)
    optimizers.LazyAdamOptimizer(0.1).minimize(lambda: tf.reduce_sum(tf.gather(table, [1]) ** 2), var_list=[table])
    np.testing.assert_allclose(table.numpy(), [[1, 1], [0.9, 0.9], [1, 1]], rtol=1e-5)


def test_a_swapping_saver_writes_averages(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.get_variable("x", initializer=1.0)
        optimizer = optimizers.MovingAverageOptimizer(v1.train.GradientDescentOptimizer(0.5), 0.5)
        step = optimizer.minimize(x * x)
        session.run(v1.global_variables_initializer())
        session.run(step)
        path = optimizer.swapping_saver().save(session, str(tmp_path / "model"))
        trained = session.run(x)
    reader = tf.train.load_checkpoint(path)
    assert reader.get_tensor("x/ExponentialMovingAverage") == trained
    np.testing.assert_allclose(reader.get_tensor("x"), 0.5 * 1.0 + 0.5 * trained)


def test_rows_are_clipped():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.get_variable("x", initializer=[[3.0, 4.0], [0.3, 0.4]])
        optimizer = wrapping_optimizers.VariableClippingOptimizer(v1.train.GradientDescentOptimizer(1.0), {x: [1]}, 1.0)
        step = optimizer.minimize(tf.reduce_sum(x * 0.0))
        session.run(v1.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(x), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


def test_only_rows_with_a_gradient_are_clipped():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.get_variable("x", initializer=[[3.0, 4.0], [6.0, 8.0], [0.3, 0.4]], use_resource=False)
        optimizer = wrapping_optimizers.VariableClippingOptimizer(v1.train.GradientDescentOptimizer(1.0), {x: [1]}, 1.0)
        rows = tf.IndexedSlices(tf.constant([[1.0, 0.0], [0.0, 0.0]]), tf.constant([0, 2]), tf.constant([3, 2]))
        step = optimizer.apply_gradients([(rows, x)])
        session.run(v1.global_variables_initializer())
        session.run(step)
        row = np.array([2.0, 4.0]) / np.sqrt(20)
        np.testing.assert_allclose(session.run(x), [row, [6, 8], [0.3, 0.4]], rtol=1e-6)


def test_gradients_are_clipped_together_and_their_length_is_told():
    with tf.Graph().as_default(), v1.Session() as session:
        pairs, length = wrapping_optimizers.clip_gradients_by_global_norm(
            [(tf.constant([3.0]), "a"), (tf.constant([4.0]), "b"), (None, "c")], clip_norm=1.0
        )
        assert [name for _, name in pairs] == ["a", "b", "c"] and pairs[2][0] is None
        np.testing.assert_allclose(session.run([length, pairs[0][0][0]]), [5.0, 0.6], rtol=1e-6)


@pytest.mark.parametrize("resource", [True, False])
def test_the_mean_of_lars_is_of_steps(resource):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.get_variable("x", initializer=[3.0, 4.0], use_resource=resource)
        optimizer = optimizers.LARSOptimizer(0.1, 0.9, 0.0, 0.1)
        step = optimizer.apply_gradients([(tf.constant([6.0, 8.0]), x)])
        session.run(v1.global_variables_initializer())
        session.run(step)
        moved = np.array([6.0, 8.0]) * 0.1 * 0.1 * 5 / 10
        np.testing.assert_allclose(session.run(optimizer.get_slot(x, "momentum")), moved, rtol=1e-6)
        np.testing.assert_allclose(session.run(x), [3, 4] - moved, rtol=1e-6)


@pytest.mark.parametrize("name, agree", [("AddSignOptimizer", 2.0), ("PowerSignOptimizer", np.e)])
@pytest.mark.parametrize("resource", [True, False])
def test_signs_of_a_few_rows(name, agree, resource):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.get_variable("x", initializer=[[1.0], [2.0], [3.0]], use_resource=resource)
        optimizer = getattr(optimizers, name)(0.1)
        rows = tf.IndexedSlices(tf.constant([[0.5]]), tf.constant([1]), tf.constant([3, 1]))
        step = optimizer.apply_gradients([(rows, x)])
        session.run(v1.global_variables_initializer())
        for _ in range(2):
            session.run(step)
        np.testing.assert_allclose(session.run(x), [[1], [2 - 2 * 0.1 * agree * 0.5], [3]], rtol=1e-6)
        np.testing.assert_allclose(session.run(optimizer.get_slot(x, "m")), [[0], [0.095], [0]], rtol=1e-5)


@pytest.mark.parametrize("centered", [True, False])
def test_rmsprop_of_optimizer_v2_begins_at_epsilon(centered):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.get_variable("x", initializer=[1.0])
        optimizer = optimizers_v2.RMSPropOptimizer(0.5, 0.9, 0.0, 0.25, centered=centered)
        step = optimizer.apply_gradients([(tf.constant([2.0]), x)])
        session.run(v1.global_variables_initializer())
        assert session.run(optimizer.get_slot(x, "rms")) == 0.25
        session.run(step)
        mean = 0.9 * 0.25 + 0.1 * 4 - (0.2**2 if centered else 0)
        np.testing.assert_allclose(session.run(x), [1 - 0.5 * 2 / np.sqrt(mean)], rtol=1e-6)


def test_scipy_finds_the_least_within_bounds_and_constraints():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.get_variable("x", initializer=[7.0, 7.0])
        loss = tf.reduce_sum(tf.square(x))
        session.run(v1.global_variables_initializer())
        seen = []
        plain = external_optimizer.ScipyOptimizerInterface(loss, options={"maxiter": 100})
        plain.minimize(session, fetches=[loss], loss_callback=seen.append)
        np.testing.assert_allclose(session.run(x), [0, 0], atol=1e-5)
        assert seen[0] == 98 and seen[-1] < 1e-6
        bounded = external_optimizer.ScipyOptimizerInterface(loss, var_to_bounds={x.ref(): ([1, 2], np.inf)})
        bounded.minimize(session)
        np.testing.assert_allclose(session.run(x), [1, 2], atol=1e-5)
        held = external_optimizer.ScipyOptimizerInterface(
            loss, equalities=[x[0] - 3.0], inequalities=[x[1] - 1.0], method="SLSQP"
        )
        held.minimize(session)
        np.testing.assert_allclose(session.run(x), [3, 1], atol=1e-5)


def test_a_task_without_gradient_leaves_the_slots_alone():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.get_variable("x", initializer=[1.0], use_resource=True)
        weight = v1.placeholder(tf.float32, [])
        wrapped = wrapping_optimizers.MultitaskOptimizerWrapper(v1.train.MomentumOptimizer(0.1, 0.9))
        step = wrapped.minimize(weight * tf.reduce_sum(x))
        session.run(v1.global_variables_initializer())
        session.run(step, {weight: 1.0})
        moved = session.run(x)
        session.run(step, {weight: 0.0})
        assert session.run(x) == moved


def test_a_swapping_saver_of_some_variables():
    with tf.Graph().as_default():
        x, y = (v1.get_variable(name, initializer=1.0) for name in "xy")
        optimizer = optimizers.MovingAverageOptimizer(v1.train.GradientDescentOptimizer(0.5), 0.5)
        optimizer.minimize(x * x + y)
        average = next(v for v in v1.global_variables() if v.op.name == "x/ExponentialMovingAverage")
        assert optimizer.swapping_saver(var_list=[x, average])._var_list == {
            "x": average, "x/ExponentialMovingAverage": x,
        }  # fmt: skip
        with pytest.raises(ValueError, match="Variable to swap x/ExponentialMovingAverage"):
            optimizer.swapping_saver(var_list=[x])
        with pytest.raises(ValueError, match="Variable to swap x is not"):
            optimizer.swapping_saver(var_list=[average])


def test_stale_gradients_are_dropped():
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        x = v1.get_variable("x", initializer=1.0)
        optimizer = optimizers_by_step.DropStaleGradientOptimizer(v1.train.GradientDescentOptimizer(0.5), 1)
        pairs = optimizer.compute_gradients(x * x)
        optimizer._local_step = v1.placeholder_with_default(tf.constant(0, tf.int64), [])
        train = optimizer.apply_gradients(pairs, global_step=step)
        session.run(v1.global_variables_initializer())
        assert [session.run(train) for _ in range(3)] == [0.0, 0.0, 1.0]
        assert session.run([x, step]) == [0.0, 2]
        with pytest.raises(ValueError, match="global_step"):
            optimizer.apply_gradients(pairs)
