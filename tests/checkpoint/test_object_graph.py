"""Objects as checkpoints have them: those that speak for others, values read late, values by object."""

import pytest

import ebbflow as tf
from ebbflow.checkpoint.object_graph import ObjectGraphView, TensorCallable, serialize_graph_view
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.delegate import DelegatingTrackableMixin


class Inner(Trackable):
    def __init__(self, value):
        self.weight = tf.Variable(value)
        self._track_trackable(self.weight, "weight")


class Wrapper(DelegatingTrackableMixin, Trackable):
    def __init__(self, inner):
        super().__init__(inner)
        self.inner = inner


def test_an_object_that_speaks_for_another_is_saved_as_the_other(tmp_path):
    wrapper = Wrapper(Inner(15.0))
    path = tf.train.Checkpoint(model=wrapper).save(tmp_path / "c")
    wrapper.inner.weight.assign(0.0)
    tf.train.Checkpoint(model=wrapper.inner).restore(path).assert_consumed()
    assert wrapper.inner.weight.numpy() == 15.0


class Counting(Trackable):
    def __init__(self):
        self.reads = tf.Variable(0)

    def _serialize_to_tensors(self):
        def read():
            value = self.reads.read_value()
            self.reads.assign_add(1)
            return value

        return {"reads": TensorCallable(read, self.reads.dtype, self.reads.device)}

    def _restore_from_tensors(self, restored_tensors):
        self.reads.assign(restored_tensors["reads"])


def test_values_that_are_read_when_the_file_is_written(tmp_path):
    counting = Counting()
    checkpoint = tf.train.Checkpoint(counting=counting)
    first = checkpoint.save(tmp_path / "c")
    checkpoint.save(tmp_path / "c")
    assert counting.reads.numpy() == 2
    checkpoint.restore(first)
    assert counting.reads.numpy() == 0
    with pytest.raises(NotImplementedError, match="returns a Callable"):
        tf.saved_model.save(counting, tmp_path / "m")


def test_values_by_object():
    root = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.train.Checkpoint(c=tf.Variable(2.0)))
    tensors, fed, registered, message = serialize_graph_view(ObjectGraphView(root))
    assert {key: float(value) for found in tensors.values() for key, value in found.items()} == {
        "a/.ATTRIBUTES/VARIABLE_VALUE": 1.0,
        "b/c/.ATTRIBUTES/VARIABLE_VALUE": 2.0,
    }
    assert (fed, registered, len(message.nodes)) == ({}, {}, 4)
