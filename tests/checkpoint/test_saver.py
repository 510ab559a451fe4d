"""tf.train.Saver, the list of checkpoints it keeps, and the readers."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

import ebbflow.v1 as tf
from ebbflow.checkpoint.builders import BaseSaverBuilder
from ebbflow.checkpoint.reader import print_tensors_in_checkpoint_file
from ebbflow.core import context

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "checkpoint"


@pytest.fixture(autouse=True)
def graph():
    context.enter_v1()
    with tf.Graph().as_default() as graph:
        yield graph


def model(resource, partitioned=True):
    with tf.variable_scope("m", use_resource=resource):
        v = tf.get_variable("v", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
        parts = tf.fixed_size_partitioner(2) if partitioned else None
        w = tf.get_variable("w", [5, 2], initializer=tf.random_uniform_initializer(seed=1), partitioner=parts)
    return v, tf.convert_to_tensor(w)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("version", [1, 2])
def test_save_and_restore(tmp_path, resource, sharded, version):
    v, w = model(resource)
    saver = tf.train.Saver(sharded=sharded, write_version=version)
    path = str(tmp_path / "model")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run([v, w])
        saved = saver.save(sess, path)
    with tf.Session() as sess:
        saver.restore(sess, saved)
        for a, b in zip(before, sess.run([v, w]), strict=True):
            np.testing.assert_array_equal(a, b)
    assert dict(tf.train.list_variables(saved)) == {"m/v": [3, 2], "m/w": [5, 2]}
    np.testing.assert_array_equal(tf.train.load_variable(saved, "m/w:0"), before[1])
    assert tf.train.latest_checkpoint(str(tmp_path)) == saved


def test_nodes_are_called_as_tensorflow_calls_them(graph):
    rows = {}
    for resource in (False, True):
        with tf.Graph().as_default() as graph:
            model(resource)
            tf.train.Saver()
            tf.train.Saver(sharded=True, name="shards")
            tf.train.Saver(reshape=True, name="reshaped", builder=BaseSaverBuilder(), restore_sequentially=True)
            names = [n for n in graph.as_graph_def().node if n.name.startswith(("save/", "shards/", "reshaped/"))]
            rows[str(resource)] = [[n.name, n.op, sorted(n.input)] for n in names]
    assert rows == json.loads((GOLDEN / "saver_nodes.json").read_text())


def test_keeps_the_latest(tmp_path):
    v = tf.Variable(0.0, name="v")
    saver = tf.train.Saver(max_to_keep=2)
    path = str(tmp_path / "model")
    with tf.Session() as sess:
        sess.run(v.initializer)
        saved = [saver.save(sess, path, global_step=i, write_meta_graph=False) for i in (1, 2, 3)]
        assert saver.last_checkpoints == saved[1:] == [path + "-2", path + "-3"]
        assert [tf.train.checkpoint_exists(p) for p in saved] == [False, True, True]
        state = tf.train.get_checkpoint_state(str(tmp_path))
        assert state.model_checkpoint_path == saved[-1]
        assert list(state.all_model_checkpoint_paths) == saved[1:]
        again = tf.train.Saver(max_to_keep=2)
        again.recover_last_checkpoints([*saved[1:], path + "-99"])
        assert again.last_checkpoints == saved[1:]
        assert len(tf.train.get_checkpoint_mtimes(saved)) == 2
        tf.train.remove_checkpoint(saved[-1])
        assert tf.train.latest_checkpoint(str(tmp_path)) is None


def test_keeps_one_every_few_hours(tmp_path):
    v = tf.Variable(0.0, name="v")
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=0.2 / 3600)
    path = str(tmp_path / "model")
    with tf.Session() as sess:
        sess.run(v.initializer)
        saver._next_checkpoint_time = time.time() - 1
        kept = saver.save(sess, path, global_step=1, write_meta_graph=False)
        saver.save(sess, path, global_step=2, write_meta_graph=False)
        saver._next_checkpoint_time = time.time() + 100
        saver.save(sess, path, global_step=3, write_meta_graph=False)
    assert [os.path.exists(f"{path}-{i}.index") for i in (1, 2, 3)] == [True, False, True]
    assert tf.train.checkpoint_exists(kept)


def test_variables_under_other_names(tmp_path):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    path = str(tmp_path / "m")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.train.Saver({"a": v}).save(sess, path, write_meta_graph=False)
        tf.train.Saver({"a": w}).restore(sess, path)
        assert sess.run(w) == 1.0
    assert tf.train.NewCheckpointReader(path).get_variable_to_shape_map() == {"a": []}


def test_saver_def(graph):
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver(max_to_keep=3, name="mine")
    definition = saver.as_saver_def()
    assert (definition.filename_tensor_name, definition.save_tensor_name, definition.restore_op_name) == (
        "mine/Const:0", "mine/control_dependency:0", "mine/restore_all")  # fmt: skip
    assert (definition.max_to_keep, definition.version) == (3, tf.train.SaverDef.V2)
    assert saver.to_proto(export_scope="mine").save_tensor_name == "control_dependency:0"
    assert saver.to_proto(export_scope="other") is None
    assert tf.train.Saver.from_proto(definition).saver_def == definition


def test_reshape(tmp_path):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    path = str(tmp_path / "m")
    with tf.Session() as sess:
        sess.run(v.initializer)
        tf.train.Saver().save(sess, path, write_meta_graph=False)
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([0.0] * 4, name="v")
        with pytest.raises(tf.errors.InvalidArgumentError, match="Assign requires shapes of both tensors to match"):
            tf.train.Saver().restore(sess, path)
        tf.train.Saver(reshape=True).restore(sess, path)
        assert sess.run(v).tolist() == [1.0, 2.0, 3.0, 4.0]


def test_eager(tmp_path):
    path = str(tmp_path / "m")
    code = f"""
import ebbflow as tf
v = tf.Variable([1.0, 2.0], name="v")
saver = tf.compat.v1.train.Saver([v])
path = saver.save(None, {path!r}, global_step=tf.Variable(4))
assert path.endswith("m-4"), path
v.assign([0.0, 0.0])
saver.restore(None, path)
assert v.numpy().tolist() == [1.0, 2.0]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    assert tf.train.Saver(allow_empty=True).save(tf.Session(), str(tmp_path / "m"), write_meta_graph=False) is None
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w")
    with pytest.raises(TypeError, match="Variable to save is not a Variable"):
        tf.train.Saver([tf.identity(v)])
    with pytest.raises(ValueError, match="restored with two names"):
        tf.train.Saver({"a": v, "b": v})
    with pytest.raises(ValueError, match="same name"):
        tf.train.Saver([v, w, v])
    with pytest.raises(TypeError, match="dict or a list"):
        tf.train.Saver(v)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            saver.save(sess, str(tmp_path / "m"))
        sess.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="path components"):
            saver.save(sess, str(tmp_path / "m"), latest_filename="a/b")
        with pytest.raises(ValueError, match="collides"):
            saver.save(sess, str(tmp_path / "checkpoint"))
        with pytest.raises(TypeError, match="must be a Session"):
            saver.save(None, str(tmp_path / "m"))
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(sess, str(tmp_path / "none"))
        with pytest.raises(ValueError, match="None"):
            saver.restore(sess, None)
        tf.train.Saver([v]).save(sess, str(tmp_path / "m"), write_meta_graph=False)
        with pytest.raises(tf.errors.NotFoundError, match="Key w not found in checkpoint"):
            saver.restore(sess, str(tmp_path / "m"))
    with pytest.raises(ValueError, match="cannot be deferred"):
        tf.train.Saver([v], defer_build=True)
    with pytest.raises(RuntimeError, match="should be called before save"):
        tf.train.Saver(defer_build=True).save(tf.Session(), str(tmp_path / "m"))


@pytest.mark.parametrize("resource", [False, True])
def test_every_variable_that_differs_is_told(tmp_path, resource):
    path = str(tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as session:
        for name, shape in (("a", [2]), ("b", [3]), ("same", [])):
            tf.get_variable(name, shape, use_resource=resource)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("a", [4], use_resource=resource)
        tf.get_variable("b", [3], tf.float64, use_resource=resource)
        tf.get_variable("same", [], use_resource=resource)
        with pytest.raises(tf.errors.InvalidArgumentError) as told:
            tf.train.Saver().restore(session, path)
    lines = str(told.value).splitlines()
    assert "2 variables differ from the checkpoint:" in lines
    assert "  a: float32 (4,) here, float32 (2,) there" in lines
    assert "  b: float64 (3,) here, float32 (3,) there" in lines
    with pytest.raises(tf.errors.NotFoundError, match=r"Key sane not found in checkpoint .*m \(near: same\)"):
        tf.train.load_variable(path, "sane")


# --- starting from a checkpoint ---------------------------------------------------------------------------------------


EAGER = r"""
import sys
import pytest
import ebbflow as tf

Saver = tf.compat.v1.train.Saver
a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable(3, name="b")
path = Saver({"a": a, "b": b}).save(None, sys.argv[1] + "/ck")
shorter, other = tf.Variable([1.0], name="a"), tf.Variable(3.0, name="b")
with pytest.raises(tf.errors.InvalidArgumentError, match=r"2 variables differ[\s\S]*a: [\s\S]*b: float32"):
    Saver({"a": shorter, "b": other}).restore(None, path)
with pytest.raises(ValueError, match=r"variable with shape \(1,\)[\s\S]*a: float32 \(1,\) here"):
    Saver({"a": shorter, "b": b}).restore(None, path)
with pytest.raises(tf.errors.NotFoundError, match="graph key that is missing"):
    Saver({"c": a}).restore(None, path)
objects = tf.train.Checkpoint(a=a).write(sys.argv[1] + "/objects")
a.assign([0.0, 0.0])
Saver({"a": a}).restore(None, objects)
assert a.numpy().tolist() == [1.0, 2.0]
"""


def test_every_eager_variable_that_differs_is_told_and_objects_are_found_by_name(tmp_path):
    subprocess.run([sys.executable, "-c", EAGER, str(tmp_path)], check=True, timeout=60)


@pytest.mark.parametrize("resource", [False, True])
def test_init_from_checkpoint(tmp_path, resource):
    v, w = model(resource)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run([v, w])
        path = tf.train.Saver().save(sess, str(tmp_path / "m"), write_meta_graph=False)
    for target in ({"m/": "n/"}, {"m/v": "n/v", "m/w": "n/w"}):
        with tf.Graph().as_default(), tf.Session() as sess:
            with tf.variable_scope("n", use_resource=resource):
                v = tf.get_variable("v", [3, 2])
                w = tf.get_variable("w", [5, 2], partitioner=tf.fixed_size_partitioner(3))
            tf.train.init_from_checkpoint(path, target)
            sess.run(tf.global_variables_initializer())
            for a, b in zip(before, sess.run([v, tf.convert_to_tensor(w)]), strict=True):
                np.testing.assert_array_equal(a, b)
            with pytest.raises(ValueError, match="is not found in"):
                tf.train.init_from_checkpoint(path, {"m/none": "n/v"})
            with pytest.raises(ValueError, match="scope only"):
                tf.train.init_from_checkpoint(path, {"m/v": "nowhere/"})
            with pytest.raises(ValueError, match="doesn't match with shape"):
                tf.train.init_from_checkpoint(path, {"m/w": v})


def test_contrib_framework(tmp_path):
    framework = tf.contrib.framework
    v, w = model(False)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run([v, w])
        path = tf.train.Saver().save(sess, str(tmp_path / "m"), write_meta_graph=False)
        sess.run(v.assign(v * 0))
        operation, feed = framework.assign_from_checkpoint(path, tf.global_variables())
        sess.run(operation, feed)
        np.testing.assert_array_equal(sess.run(w), before[1])
        np.testing.assert_array_equal(sess.run(v), before[0])
        sess.run(v.assign(v * 0))
        extra = tf.Variable(1.0, name="extra")
        framework.assign_from_checkpoint_fn(path, [v, extra], ignore_missing_vars=True)(sess)
        np.testing.assert_array_equal(sess.run(v), before[0])
        with pytest.raises(ValueError, match="missing variable"):
            framework.assign_from_checkpoint(path, [extra])
        framework.assign_from_values_fn({"m/v": np.ones([3, 2])})(sess)
        assert sess.run(v).sum() == 6
    assert [x.op.name for x in framework.get_variables_to_restore(exclude=["m/w"])] == ["m/v", "extra"]
    assert framework.get_unique_variable("m/v") is v
    assert framework.get_variables_by_name("v") == [v]


# --- lists ------------------------------------------------------------------------------------------------------------


def test_list_of_checkpoints(tmp_path, monkeypatch):
    folder = str(tmp_path)
    tf.train.update_checkpoint_state(folder, folder + "/b", [folder + "/a", folder + "/b"], "mine")
    assert (tmp_path / "mine").read_text().startswith(f'model_checkpoint_path: "{folder}/b"')
    assert tf.train.get_checkpoint_state(folder) is None
    state = tf.train.get_checkpoint_state(folder, "mine")
    assert list(state.all_model_checkpoint_paths) == [folder + "/a", folder + "/b"]
    monkeypatch.chdir(tmp_path)
    state = tf.train.generate_checkpoint_state_proto("rel", "rel/c", ["rel/a"])
    assert list(state.all_model_checkpoint_paths) == ["a", "c"]
    with pytest.raises(ValueError, match="timestamps"):
        tf.train.generate_checkpoint_state_proto(folder, "a", ["a"], [1.0, 2.0])
    with pytest.raises(RuntimeError, match="conflicts"):
        tf.train.update_checkpoint_state(folder, folder + "/checkpoint")
    (tmp_path / "checkpoint").write_text("nonsense ][")
    assert tf.train.get_checkpoint_state(folder) is None
    (tmp_path / "checkpoint").write_text("")
    with pytest.raises(ValueError, match="Invalid checkpoint state"):
        tf.train.get_checkpoint_state(folder)


def test_waiting(tmp_path):
    path = str(tmp_path / "m")
    assert list(tf.train.checkpoints_iterator(str(tmp_path), timeout=0)) == []
    v = tf.Variable(1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        tf.train.Saver().save(sess, path, write_meta_graph=False)
    assert next(tf.train.checkpoints_iterator(str(tmp_path), timeout=0)) == path


def test_printing(tmp_path, capsys):
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = tf.train.Saver().save(sess, str(tmp_path / "m"), write_meta_graph=False)
    print_tensors_in_checkpoint_file(path, "", False)
    print_tensors_in_checkpoint_file(path, "v", False)
    print_tensors_in_checkpoint_file(path, "", True, count_exclude_pattern="v")
    print_tensors_in_checkpoint_file(path + ".data-00000-of-00001", "", True)
    text = capsys.readouterr().out
    for words in (
        "v (DT_FLOAT) [2]",
        "tensor_name:  v\n[1. 2.]",
        "params: 2",
        "Excluding 1 tensors (2 params)",
        "try ",
    ):
        assert words in text


def test_a_meta_graph_stands_beside_it(tmp_path):
    tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, str(tmp_path / "m"), global_step=3)
    meta = tf.MetaGraphDef.FromString((tmp_path / "m-3.meta").read_bytes())
    assert meta.saver_def == saver.as_saver_def()
    assert "save/RestoreV2" in [node.name for node in meta.graph_def.node]
    for scope in (None, "inside"):
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            again = tf.train.import_meta_graph(str(tmp_path / "m-3.meta"), import_scope=scope)
            again.restore(sess, str(tmp_path / "m-3"))
            assert sess.run(graph.get_tensor_by_name("v:0" if scope is None else "inside/v:0")).tolist() == [1.0, 2.0]


def test_savers_in_a_collection(tmp_path):
    tf.Variable([1.0, 2.0], name="v")
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver(name="one"))
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        (saver,) = tf.get_collection(tf.GraphKeys.SAVERS)
        assert saver.as_saver_def().restore_op_name == "one/restore_all"
