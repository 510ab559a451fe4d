"""`tf.contrib.checkpoint`: arrays, numbered names, parts that go together, children of a block, pictures."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1.checkpoint_tools import (
    NumpyState,
    UniqueNameTracker,
    capture_dependencies,
    dot_graph_from_checkpoint,
    split_dependency,
)
from ebbflow.trackable.base import Trackable

v1 = tf.compat.v1


def test_arrays_come_back_by_themselves(tmp_path):
    arrays = NumpyState()
    checkpoint = tf.train.Checkpoint(arrays=arrays)
    arrays.a, arrays.c = np.ones([2, 2]), np.int64(3)
    path = checkpoint.write(str(tmp_path / "c"))
    arrays.a[1, 1] = 5.0
    checkpoint.read(path).assert_consumed()
    assert arrays.a.tolist() == [[1, 1], [1, 1]] and arrays.c == 3
    with tf.Graph().as_default(), v1.Session():  # no part of a graph: restored at once there, too
        fresh = tf.train.Checkpoint(arrays=NumpyState())
        fresh.read(path)
        assert fresh.arrays.a.tolist() == [[1, 1], [1, 1]] and fresh.arrays.c == 3
    with pytest.raises(NotImplementedError, match="not a NumPy array"):
        arrays.v = tf.Variable(1.0)
    with pytest.raises(AttributeError, match="nobody"):
        arrays.nobody  # noqa: B018


def test_names_are_made_different():
    tracker = UniqueNameTracker()
    for value, name in ((3.0, "x"), (4.0, "y"), (5.0, "x")):
        assert tracker.track(tf.Variable(value), name).numpy() == value
    assert [reference.name for reference in tracker._checkpoint_dependencies] == ["x", "y", "x_1"]
    with pytest.raises(ValueError, match="Expected a trackable"):
        tracker.track(3, "z")


class Halves(Trackable):
    """A variable that is two in a checkpoint."""

    def __init__(self):
        self.whole = tf.Variable([0.0, 0.0, 0.0, 0.0])

        def fill(parts):
            parts["first"], parts["second"] = self.whole[:2], self.whole[2:]

        def consume(parts):
            return self.whole.assign(tf.concat([parts["first"], parts["second"]], 0))

        kinds = (self.whole.dtype,) * 2
        for name, part in split_dependency(("first", "second"), kinds, fill, consume, "").items():
            self._track_trackable(part, name)


def test_parts_are_saved_and_restored_together(tmp_path):
    halves = Halves()
    halves.whole.assign([1.0, 2.0, 3.0, 4.0])
    path = tf.train.Checkpoint(halves=halves).write(str(tmp_path / "c"))
    plain = tf.Module()
    plain.first, plain.second = tf.Variable([0.0, 0.0]), tf.Variable([0.0, 0.0])
    tf.train.Checkpoint(halves=plain).read(path).assert_consumed()
    assert plain.second.numpy().tolist() == [3.0, 4.0]
    again = Halves()
    tf.train.Checkpoint(halves=again).read(path).assert_consumed()
    assert again.whole.numpy().tolist() == [1.0, 2.0, 3.0, 4.0]


def test_variables_of_a_block_become_children():
    class Scoped(tf.Module):
        def build(self, inner=None):
            with v1.variable_scope("inner" if inner is None else "outer") as scope:
                self.variable_scope = scope
                with capture_dependencies(self):
                    made = v1.get_variable("v", [], use_resource=True)
                    if inner is not None:
                        inner.build()
                    return made

    with tf.Graph().as_default():
        outer, inner = Scoped(), Scoped()
        made = outer.build(inner)
    assert outer._lookup_dependency("v") is made and outer._lookup_dependency("inner") is inner
    assert inner._lookup_dependency("v").name == "outer/inner/v:0"


def test_a_picture_of_a_checkpoint(tmp_path):
    root = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0], name="weights"))
    picture = dot_graph_from_checkpoint(root.write(str(tmp_path / "c")))
    assert picture.startswith("digraph {\nN_0 ") and 'N_0 -> N_1 [label="v"]' in picture
    assert 'tooltip="Variable weights shape=[2] float32"' in picture
