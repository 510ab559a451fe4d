"""Objects that a program saves and restores by functions of its own, and classes it registers by name."""

from __future__ import annotations

import os

import pytest

import ebbflow as tf
from ebbflow.trackable import registration


class Pair(tf.Module):
    """Two numbers that are saved as one tensor, by functions that are registered for it."""

    def __init__(self, a=0.0, b=0.0):
        self.a, self.b = tf.Variable(a, name="a"), tf.Variable(b, name="b")


def save_pairs(trackables, file_prefix):
    names = [f"{path}/both" for path in trackables]
    both = [tf.stack([pair.a, pair.b]) for pair in trackables.values()]
    tf.raw_ops.SaveV2(prefix=file_prefix, tensor_names=names, shape_and_slices=[""] * len(names), tensors=both)
    return file_prefix


def restore_pairs(trackables, merged_prefix):
    for path, pair in trackables.items():
        (both,) = tf.raw_ops.RestoreV2(
            prefix=merged_prefix, tensor_names=[f"{path}/both"], shape_and_slices=[""], dtypes=[tf.float32]
        )
        a, b = tf.unstack(both, num=2)
        pair.a.assign(10 * a)
        pair.b.assign(10 * b)


@pytest.fixture(scope="module", autouse=True)
def saver():
    registration.register_checkpoint_saver(
        "test_registered", "pairs", lambda obj: isinstance(obj, Pair), save_pairs, restore_pairs
    )


def files_in(folder):
    return sorted(name for name in os.listdir(folder) if name != "checkpoint")


@pytest.mark.parametrize("enable_async", [False, True])
def test_eager(tmp_path, enable_async):
    checkpoint = tf.train.Checkpoint(pair=Pair(1.0, 2.0), other=tf.Variable(3.0))
    options = tf.train.CheckpointOptions(enable_async=enable_async)
    path = checkpoint.write(str(tmp_path / "model"), options=options)
    checkpoint.sync()
    assert files_in(tmp_path) == [
        "model.data-00000-of-00002", "model.data-00001-of-00002", "model.index",
    ]  # fmt: skip
    assert "pair/both" in dict(tf.train.list_variables(path))
    again = tf.train.Checkpoint(pair=Pair(), other=tf.Variable(0.0))
    again.read(path).assert_existing_objects_matched()
    assert again.pair.a.numpy() == 10.0 and again.pair.b.numpy() == 20.0 and again.other.numpy() == 3.0


def test_in_a_function(tmp_path):
    checkpoint = tf.train.Checkpoint(pair=Pair(1.0, 2.0))

    @tf.function
    def save():
        return checkpoint.write(str(tmp_path / "model"))

    save()
    again = tf.train.Checkpoint(pair=Pair())
    again.read(str(tmp_path / "model"))
    assert again.pair.b.numpy() == 20.0


def test_in_a_session(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        checkpoint = tf.train.Checkpoint(pair=Pair(1.0, 2.0), other=tf.Variable(3.0))
        session.run(tf.compat.v1.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        again = tf.train.Checkpoint(pair=Pair(), other=tf.Variable(0.0))
        again.restore(path).initialize_or_restore(session)
        assert session.run([again.pair.a, again.pair.b, again.other]) == [10.0, 20.0, 3.0]


def test_deferred(tmp_path):
    path = tf.train.Checkpoint(pair=Pair(1.0, 2.0)).write(str(tmp_path / "model"))
    later = tf.train.Checkpoint()
    later.read(path)
    later.pair = Pair()
    assert later.pair.a.numpy() == 10.0


def test_another_kind_of_object(tmp_path):
    path = tf.train.Checkpoint(pair=Pair()).write(str(tmp_path / "model"))
    with pytest.raises(ValueError, match=r"test_registered\.pairs.*cannot be used"):
        tf.train.Checkpoint(pair=tf.Module()).read(path)


@registration.register_serializable("test_registered")
class Named(tf.Module):
    def __init__(self, name="named", pair=None):
        super().__init__(name)
        self.pair = pair or Pair(1.0, 2.0)

    def _serialize_to_proto(self, **kwargs):
        return tf.train.BytesList(value=[self.name.encode()])

    def _deserialization_dependencies(self, children):
        return {"pair": self.pair}

    @classmethod
    def _deserialize_from_proto(cls, proto, dependencies, **kwargs):
        words = tf.train.BytesList()
        assert proto.Unpack(words)
        return cls(words.value[0].decode(), dependencies["pair"])

    @tf.function(input_signature=[])
    def total(self):
        return self.pair.a + self.pair.b


registration.register_serializable("test_registered")(Pair)


def test_saved_models(tmp_path):
    model = Named("blue")
    for turn in (1, 2):
        tf.saved_model.save(model, tmp_path / str(turn), signatures=model.total)
        model = tf.saved_model.load(tmp_path / str(turn))
        assert type(model) is Named and model.name == "blue" and type(model.pair) is Pair
        assert model.total().numpy() == 3.0 * 10**turn
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path / "1"))
        assert session.run(meta.signature_def["serving_default"].outputs["output_0"].name) == 30.0
        saved = session.run(meta.saver_def.save_tensor_name, {meta.saver_def.filename_tensor_name: tmp_path / "again"})
    assert "pair/both" in dict(tf.train.list_variables(saved.decode()))


def test_names():
    assert registration.get_registered_class_name(Named()) == "test_registered.Named"
    assert registration.get_registered_class("test_registered.Pair") is Pair
    assert registration.get_registered_class("nobody") is None
    with pytest.raises(ValueError, match=r"'test_registered\.Named' has already been registered"):
        registration.register_serializable("test_registered")(Named)
    with pytest.raises(ValueError, match="cannot be found"):
        registration.validate_restore_function(Named(), "nobody.x")
    with pytest.raises(LookupError, match="no registered checkpoint saver named 'nobody'"):
        registration.get_save_function("nobody")
