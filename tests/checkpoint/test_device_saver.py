"""Savers by the names of TensorFlow's inside: of saveables, of single objects, frozen, in the background."""

import pytest

import ebbflow as tf
from ebbflow.checkpoint.device_saver import (
    AsyncCheckpointHelper,
    MultiDeviceSaver,
    frozen_saver,
    restore_nodes,
    serialize_gathered_objects,
)
from ebbflow.checkpoint.object_graph import ObjectGraphView
from ebbflow.checkpoint.saveables import saveable_objects_for_op
from ebbflow.core.identity import ObjectIdentityDictionary
from ebbflow.functions.wrap_function import wrap_function
from ebbflow.savedmodel.checkpoint_graph import trace_save_and_restore
from ebbflow.trackable.base import Trackable

v1 = tf.compat.v1


class Pair(Trackable):
    """Two variables that it says itself."""

    def __init__(self, a, b):
        self.a, self.b = tf.Variable(a), tf.Variable(b)

    def _serialize_to_tensors(self):
        return {"a": self.a.read_value(), "b": self.b.read_value()}

    def _restore_from_tensors(self, restored_tensors):
        self.a.assign(restored_tensors["a"])
        self.b.assign(restored_tensors["b"])

    def values(self):
        return [self.a.numpy(), self.b.numpy()]


def test_values_of_saveables(tmp_path):
    path = str(tmp_path / "c")
    variable = tf.Variable(2.0)
    MultiDeviceSaver.from_saveables(saveable_objects_for_op(variable, "x")).save(tf.constant(path))
    assert tf.train.list_variables(path) == [("x", [])]
    with tf.Graph().as_default(), v1.Session() as session:
        other = tf.Variable(3.0)
        saver = MultiDeviceSaver.from_saveables(saveable_objects_for_op(other, "x"))
        session.run(saver.restore(path, tf.train.CheckpointOptions(experimental_io_device="/cpu:0")))
        assert session.run(other) == 2.0
        session.run([other.assign(7.0), saver.save(path)][0])
        session.run(saver.save(path))
    MultiDeviceSaver.from_saveables(saveable_objects_for_op(variable, "x")).restore(path)
    assert variable.numpy() == 7.0


def test_a_saver_as_a_message(tmp_path):
    variable = tf.Variable(2.0)
    saver = MultiDeviceSaver.from_saveables(saveable_objects_for_op(variable, "x"))
    messages = []
    wrapped = wrap_function(lambda: messages.append(saver.to_proto()), signature=())
    (message,) = messages
    path = wrapped.graph.get_tensor_by_name(message.filename_tensor_name)
    save = wrapped.prune(path, wrapped.graph.get_tensor_by_name(message.save_tensor_name))
    restore = wrapped.prune(path, wrapped.graph.get_operation_by_name(message.restore_op_name))
    written = save(tf.constant(str(tmp_path / "c")))
    variable.assign(1.0)
    restore(written)
    assert variable.numpy() == 2.0


def test_a_frozen_saver(tmp_path):
    variable = tf.Variable(3)
    root = tf.train.Checkpoint(v=variable, pair=Pair(1.0, 2.0))
    saver = frozen_saver(root)
    root.later = tf.Variable(5)
    saver.save(tf.constant(str(tmp_path / "c")))
    variable.assign(9)
    root.pair.a.assign(8.0)
    saver.restore(str(tmp_path / "c"))
    assert variable.numpy() == 3 and root.pair.values() == [1.0, 2.0]
    fresh = tf.train.Checkpoint(v=tf.Variable(0), pair=Pair(0.0, 0.0))
    fresh.read(str(tmp_path / "c")).assert_consumed()
    assert fresh.v.numpy() == 3 and fresh.pair.values() == [1.0, 2.0]


def test_values_of_stand_ins():
    root, copy = tf.Module(), tf.Variable(2.0)
    root.v = tf.Variable(1.0)
    (saveable,), *_ = serialize_gathered_objects(ObjectGraphView(root))
    assert saveable.op is root.v
    instead = ObjectIdentityDictionary()
    instead[root.v] = copy
    (saveable,), *_ = serialize_gathered_objects(ObjectGraphView(root), instead)
    assert saveable.op is copy


def test_single_objects_of_a_checkpoint(tmp_path):
    root = Pair(1.0, 2.0)
    root._track_trackable(Pair(3.0, 4.0), "leaf")
    path = tf.train.Checkpoint(root=root).write(str(tmp_path / "c"))
    leaf = Pair(0.0, 0.0)
    restore_nodes(path, {1: leaf})
    assert leaf.values() == [3.0, 4.0]
    with pytest.raises(ValueError, match="Expecting a dictionary"):
        restore_nodes(path, [leaf])
    with pytest.raises(ValueError, match=r"node_id: 7 to Trackable .* does not exist"):
        restore_nodes(path, {7: leaf})
    with pytest.raises(ValueError, match="valid Trackable to node_id: 0 but got trackable: None"):
        restore_nodes(path, {0: None})
    with pytest.raises(ValueError, match="Trackable: 1 did not match size for serialized_tensors for checkpoint: 2"):
        restore_nodes(path, {0: tf.Variable(1.0)})


def test_functions_that_save_and_restore():
    pair = Pair(1.0, 2.0)
    save, restore = trace_save_and_restore(pair)
    restore({"a": tf.constant(5.0), "b": tf.constant(6.0)})
    assert {name: value.numpy() for name, value in save().items()} == {"a": 5.0, "b": 6.0}


def test_saves_in_the_background(tmp_path):
    helper = AsyncCheckpointHelper(tf.train.Checkpoint, v=tf.Variable(1.0))
    paths = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[paths.append])
    manager = tf.train.CheckpointManager(helper, str(tmp_path), max_to_keep=1)
    written = manager.save(options=options)
    manager.sync()
    assert paths == [written] and manager.latest_checkpoint == written and not options.enable_async
    helper.v.assign(4.0)
    helper.restore(written)
    assert helper.v.numpy() == 1.0
