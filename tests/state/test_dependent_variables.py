"""The variables that gradients of a piece of a graph flow to."""

import pytest

import ebbflow as tf
from ebbflow.state.dependent_variables import get_dependent_variables

v1 = tf.compat.v1


@pytest.mark.parametrize("use_resource", [True, False])
def test_trainable_variables_between_inputs_and_outputs(use_resource):
    with tf.Graph().as_default(), v1.variable_scope("s", use_resource=use_resource):
        near, far, flat, fixed = (
            v1.get_variable(name, [3], trainable=name != "fixed") for name in ("near", "far", "flat", "fixed")
        )
        x = tf.identity(far) * 2.0
        y = {"y": tf.identity(x) + near + fixed + tf.ones_like(flat)}
        assert get_dependent_variables([x], y) == [near]
        assert set(get_dependent_variables([], y)) == {near, far}
        assert get_dependent_variables([x], [x]) == []
        assert get_dependent_variables([x], []) == []


def test_custom_gradients_count():
    @tf.custom_gradient
    def ones(x):
        return tf.ones_like(x), lambda dy: dy

    with tf.Graph().as_default():
        v = v1.get_variable("v", [3])
        assert get_dependent_variables([], [ones(v)]) == [v]
