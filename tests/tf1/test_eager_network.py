"""Networks of layers: names, what they have, checkpoints restored before and after their variables are made."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1.eager_network import Network, Sequential, restore_network_checkpoint, save_network_checkpoint

v1 = tf.compat.v1
Dense = v1.layers.Dense


class Line(Network):
    def __init__(self, name=None):
        super().__init__(name)
        self.inner = self.track_layer(Dense(1, use_bias=False, kernel_initializer=tf.ones_initializer()))

    def call(self, x):
        return self.inner(x)


class Pair(Network):
    def __init__(self):
        super().__init__()
        self.first = self.track_layer(Line())
        self.second = self.track_layer(Line())

    def call(self, x):
        return self.second(self.first(x))


def names(net):
    return [v.name for v in net.variables]


def test_layers_are_named_inside_their_network():
    with tf.Graph().as_default():
        Dense(1)
        net, again = Pair(), Pair()
        with pytest.raises(ValueError, match="does not yet have a final name"):
            _ = net.name
        x = tf.constant([[2.0]])
        again(x), net(x)
        assert names(again) == ["pair/line/dense/kernel:0", "pair/line_1/dense/kernel:0"]
        assert names(net) == ["pair_1/line/dense/kernel:0", "pair_1/line_1/dense/kernel:0"]
        assert (net.name, net.second.name, net.get_layer(index=1).name) == ("pair_1", "line_1", "line_1")
        with pytest.raises(ValueError, match="'pair' already exists"):
            named = Line(name="pair")
            named(x)


def test_a_layer_that_is_shared_has_its_first_owners_name():
    with tf.Graph().as_default():
        shared = Line()

        class Uses(Network):
            def __init__(self):
                super().__init__()
                self.layer = self.track_layer(shared)

            def call(self, x):
                return self.layer(x)

        first, second = Uses(), Uses()
        second(tf.constant([[1.0]]))
        assert names(second) == [f"{first.name}/line/dense/kernel:0"]
        assert {first.name, second.name} == {"uses", "uses_1"}


@pytest.mark.parametrize("what", ["a/b", "scope"])
def test_names_that_cannot_be(what):
    with tf.Graph().as_default():
        with v1.variable_scope("scope") as scope:
            pass
        with pytest.raises(ValueError, match=r"not allowed in Network names|not valid Network names"):
            Line(name=scope if what == "scope" else what)


def test_checkpoints_reach_variables_that_are_still_to_be_made(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        x, net = tf.constant([[2.0]]), Pair()
        with pytest.raises(ValueError, match="before it was first called"):
            save_network_checkpoint(net, str(tmp_path))
        net(x)
        for value, variable in zip((3.0, 5.0), net.variables, strict=True):
            variable.load([[value]], session)
        path = save_network_checkpoint(net, str(tmp_path), global_step=7)
        assert path.endswith("pair-7")
        later = Pair()
        restore_network_checkpoint(later, str(tmp_path))
        assert session.run(later(x)) == 30.0
        for variable in later.variables:
            variable.load([[1.0]], session)
        restore_network_checkpoint(later, path)
        assert session.run(later(x)) == 30.0
        with pytest.raises(ValueError, match=r"for the Network 'pair' resulted in two variables named 'same'"):
            save_network_checkpoint(net, str(tmp_path), map_func=lambda name: "same")
        alone = Line()
        alone(x)
        with pytest.raises(tf.errors.NotFoundError, match="dense/kernel not found in checkpoint"):
            restore_network_checkpoint(alone, path)


def test_eagerly_too(tmp_path):
    net, x = Sequential([Dense(2, name="a"), tf.nn.relu, Dense(1, name="b")]), tf.constant([[1.0, -2.0]])
    expected = net(x)
    path = save_network_checkpoint(net, str(tmp_path))
    again = Sequential([Dense(2, name="a"), tf.nn.relu, Dense(1, name="b")])
    restore_network_checkpoint(again, path)
    np.testing.assert_array_equal(again(x), expected)
    assert len(again.trainable_variables) == 4
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(again(x))
    assert all(g is not None for g in tape.gradient(loss, again.variables))
    with pytest.raises(TypeError, match="callables"):
        net.add(3)
    with pytest.raises(AttributeError, match=r"Network\.trainable"):
        net.trainable = False
