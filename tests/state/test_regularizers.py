"""The regularizers of contrib.layers: values, node names, what is refused."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.state import regularizers

v1 = tf.compat.v1
W = np.array([[1.0, -2.0], [3.0, -4.0]], np.float32)

VALUES = [
    (regularizers.l1_regularizer(0.5), 5.0, "l1_regularizer:0"),
    (regularizers.l2_regularizer(0.5), 7.5, "l2_regularizer:0"),
    (regularizers.l1_l2_regularizer(0.5, 0.5), 12.5, "l1_l2_regularizer:0"),
    (regularizers.l1_l2_regularizer(0.5, 0.0), 5.0, "l1_l2_regularizer:0"),
    (regularizers.l1_l2_regularizer(0.0, 0.5), 7.5, "l1_l2_regularizer:0"),
    (regularizers.sum_regularizer([regularizers.l1_regularizer(0.5), None]), 5.0, "sum_regularizer:0"),
    (regularizers.l2_regularizer(0.5, scope="mine"), 7.5, "mine:0"),
]


@pytest.mark.parametrize("regularizer, value, name", VALUES)
def test_values_and_names(regularizer, value, name):
    assert float(regularizer(tf.constant(W))) == value
    with tf.Graph().as_default():
        loss = regularizer(tf.constant(W))
        assert loss.name == name and v1.Session().run(loss) == value


def test_no_loss():
    assert regularizers.l1_regularizer(0.0)(W) is None
    assert regularizers.sum_regularizer([]) is None and regularizers.sum_regularizer([None]) is None
    assert regularizers.sum_regularizer([regularizers.l1_regularizer(0.0)])(tf.constant(W)) is None


def test_a_tensor_as_scale():
    assert float(regularizers.l1_regularizer(tf.constant(2.0))(tf.constant(W))) == 20.0


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: regularizers.l1_regularizer(1), "scale cannot be an integer: 1"),
        (lambda: regularizers.l2_regularizer(-0.5), "less than 0"),
        (lambda: regularizers.l1_l2_regularizer(1, 0.5), "scale_l1 cannot be an integer"),
        (lambda: regularizers.l1_l2_regularizer(0.5, 1), "scale_l2 cannot be an integer"),
        (lambda: regularizers.apply_regularization(regularizers.l1_regularizer(0.5), []), "No weights to regularize"),
        (
            lambda: regularizers.apply_regularization(lambda w: w, [tf.constant(W)]),
            "scalar Tensor instead of a Tensor with rank 2",
        ),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_all_weights_together():
    with tf.Graph().as_default() as graph:
        v1.add_to_collection(v1.GraphKeys.WEIGHTS, tf.constant(W))
        v1.add_to_collection(v1.GraphKeys.WEIGHTS, tf.constant(W * 2))
        total = regularizers.apply_regularization(regularizers.l1_regularizer(0.5))
        assert total.name == "get_regularization_penalty:0" and v1.Session().run(total) == 15.0
        assert graph.get_collection("regularization_losses") == [total]


def test_losses_of_variables():
    with tf.Graph().as_default():
        assert v1.Session().run(regularizers.get_regularization_loss()) == 0.0
        for name in ("a", "b"):
            with v1.variable_scope(name, regularizer=regularizers.l1_regularizer(0.5)):
                v1.get_variable("w", initializer=tf.constant(W))
        assert [t.name for t in regularizers.get_regularization_losses("a")] == ["a/w/Regularizer/l1_regularizer:0"]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            assert session.run(regularizers.get_regularization_loss()) == 10.0
            assert session.run(regularizers.get_regularization_loss("b")) == 5.0
