"""tf.Module: variables, submodules, names."""

from __future__ import annotations

import pytest

import ebbflow as tf


class Dense(tf.Module):
    def __init__(self, rows, columns, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([rows, columns]), name="w")
        self.b = tf.Variable(tf.zeros([columns]), name="b", trainable=False)

    @tf.Module.with_name_scope
    def __call__(self, x):
        with tf.name_scope("inner") as scope:
            self.scope = scope
        return x @ self.w + self.b


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.parts = [Dense(2, 3), {"last": Dense(3, 1, name="last")}]
        self.again = self.parts[0]


def test_variables_and_submodules():
    net = Net()
    assert [v.shape.as_list() for v in net.variables] == [[3], [2, 3], [1], [3, 1]]
    assert len(net.trainable_variables) == len(net.non_trainable_variables) == 2
    assert [m.name for m in net.submodules] == ["dense", "last"]
    net._self_tracked_trackables = [tf.Module("more")]  # as Keras keeps its layers
    assert [m.name for m in net.submodules] == ["more", "dense", "last"]


def test_names():
    assert Net().name == "net"
    dense = Dense(1, 1)
    with dense.name_scope:
        assert tf.Variable(1.0, name="v").name == "dense/v:0"
    dense(tf.ones([1, 1]))
    assert dense.scope == "dense/inner/"
    with pytest.raises(ValueError, match="not a valid module name"):
        tf.Module(name="a b")


def test_in_a_graph_names_are_made_unique():
    with tf.Graph().as_default():
        first, second = tf.Module("m"), tf.Module("m")
        with first.name_scope:
            assert tf.constant(1.0).name == "m/Const:0"
        with second.name_scope:
            assert tf.constant(1.0).name == "m_1/Const:0"


def test_paths_and_predicates():
    net = Net()
    paths = [path for path, _ in net._flatten(with_path=True, predicate=lambda v: isinstance(v, tf.Variable))]
    assert ("parts", 1, "last", "w") in paths or ("again", "w") in paths
    assert list(net._flatten(recursive=False, predicate=lambda v: isinstance(v, tf.Module))) == list(net.submodules)


def test_trackable_view_and_resources():
    net = Net()
    found = tf.train.TrackableView(net).descendants()
    assert found[0] is net
    assert len(found) == 1 + 2 + 1 + 2 + 2 + 2 - 1

    class Counter(tf.saved_model.experimental.TrackableResource):
        def _create_resource(self):
            return tf.constant(3)

    net.counter = Counter()
    assert net.counter.resource_handle.numpy() == 3
    children = net.counter._trackable_children("savedmodel")
    assert set(children) == {"_create_resource", "_initialize", "_destroy_resource"}


def test_functions_are_children_for_a_saved_model():
    class Model(tf.Module):
        @tf.function
        def call(self, x):
            return x + 1

    model = Model()
    assert model._trackable_children() == {}
    assert list(model._trackable_children("savedmodel")) == ["call"]


def test_values_by_path_come_by_every_way_without_circles():
    mod = tf.Module()
    mod.w = tf.Variable(1.0)
    mod.encoder = tf.Module()
    mod.encoder.w = [({"k": mod.w}, {"k": mod.w})]
    mod.decoder = mod.encoder
    mod.decoder.mod = mod
    inside = [("w", 0, 0, "k"), ("w", 0, 1, "k"), ("mod", "w")]
    want = {("w",), *((name, *path) for name in ("encoder", "decoder") for path in inside)}
    found = list(mod._flatten(with_path=True, predicate=lambda v: isinstance(v, tf.Variable)))
    assert {path for path, _ in found} == want and len(found) == len(want)
    assert len(mod.variables) == 1
