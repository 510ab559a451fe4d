"""Graphs with checkpoints, frozen: `tensorflow.python.tools.freeze_graph`, and `strip_unused_lib`."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.graph.strip_unused import strip_unused
from ebbflow.savedmodel.freeze_graph import freeze_graph

v1 = tf.compat.v1


def trained(folder, use_resource):
    """Write a graph without a saver, a meta graph, a checkpoint and a SavedModel of the same two variables."""
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [], "x")
        w = v1.get_variable("w", initializer=3.0, use_resource=use_resource)
        b = v1.get_variable("b", initializer=1.0, use_resource=use_resource)
        y = tf.add(x * w, b, name="y")
        tf.io.write_graph(graph, str(folder), "graph.pbtxt", as_text=True)
        session.run([w.initializer, b.initializer])
        session.run(w.assign(5.0))
        path = v1.train.Saver().save(session, str(folder / "model"))
        v1.saved_model.simple_save(session, str(folder / "saved"), {"x": x}, {"y": y})
    return path


SOURCES = {
    "graph": lambda folder, path: ((str(folder / "graph.pbtxt"), "", False, path), {}),
    "meta": lambda folder, path: (("", "", True, path), {"input_meta_graph": path + ".meta"}),
    "saved model": lambda folder, path: (("", "", True, ""), {"input_saved_model_dir": str(folder / "saved")}),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("use_resource", [False, True])
def test_freezing(tmp_path, source, use_resource):
    given, more = SOURCES[source](tmp_path, trained(tmp_path, use_resource))
    out = tmp_path / "frozen.pb"
    frozen = freeze_graph(*given, "y", "save/restore_all", "save/Const:0", str(out), True, "", **more)
    assert not {node.op for node in frozen.node} & {"VariableV2", "VarHandleOp", "ReadVariableOp"}
    with tf.Graph().as_default() as graph, v1.Session() as session:
        tf.import_graph_def(v1.GraphDef.FromString(out.read_bytes()), name="")
        assert session.run(graph.get_tensor_by_name("y:0"), {"x:0": 2.0}) == 11.0
    kept = freeze_graph(*given, "y", None, None, "", True, "", variable_names_denylist="w", **more)
    assert {node.name for node in kept.node if node.op in ("VariableV2", "VarHandleOp")} == {"w"}


def test_what_cannot_be_frozen(tmp_path):
    path = trained(tmp_path, False)
    graph = str(tmp_path / "graph.pbtxt")
    with pytest.raises(ValueError, match="'nowhere' does not exist"):
        freeze_graph(graph, "", False, "nowhere", "y", None, None, "", True, "")
    with pytest.raises(ValueError, match="name of a node to --output_node_names"):
        freeze_graph(graph, "", False, path, "", None, None, "", True, "")
    freeze_graph(graph, "", False, path, "y", None, None, str(tmp_path / "once.pb"), True, "")
    with pytest.raises(ValueError, match="frozen previously"):
        freeze_graph(str(tmp_path / "once.pb"), "", True, path, "y", None, None, "", True, "")


def test_stripping():
    with tf.Graph().as_default() as graph:
        middle = tf.subtract(tf.constant([1.0]), 3.0, name="middle")
        tf.add(tf.multiply(middle, 2.0, name="out"), 2.0, name="later")
    stripped = strip_unused(graph.as_graph_def(), ["middle"], ["out"], tf.float32.as_datatype_enum)
    assert [node.op for node in stripped.node] == ["Placeholder", "Const", "Mul"]
    with tf.Graph().as_default(), v1.Session() as session:
        (out,) = tf.import_graph_def(stripped, return_elements=["out:0"], name="")
        np.testing.assert_array_equal(session.run(out, {"middle:0": [10.0]}), [20.0])
    with pytest.raises(KeyError, match="not found: \\['nobody'\\]"):
        strip_unused(graph.as_graph_def(), ["nobody"], ["out"], 1)
    with pytest.raises(ValueError, match="a Tensor, not an Operation"):
        strip_unused(graph.as_graph_def(), ["middle:0"], ["out"], 1)
