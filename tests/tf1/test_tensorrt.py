"""`tf.contrib.tensorrt` without TensorRT: graphs that compute what they did."""

import pytest

import ebbflow as tf
from ebbflow.tf1 import tensorrt

v1 = tf.compat.v1


def run(graph_def):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return session.run("out:0", {"x:0": 3.0}), {op.name for op in graph.get_operations()}


def test_a_frozen_graph_is_pruned():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [], name="x")
        tf.identity(x * 2.0, name="out")
        tf.identity(x * 3.0, name="other")
    value, names = run(tensorrt.create_inference_graph(graph.as_graph_def(), ["out"], precision_mode="FP16"))
    assert value == 6.0 and "out" in names and "other" not in names
    calibrated = tensorrt.calib_graph_to_infer_graph(graph.as_graph_def())
    assert calibrated == graph.as_graph_def()


def test_a_saved_model_is_frozen(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [], name="x")
        out = tf.identity(x * v1.get_variable("w", initializer=5.0), name="out")
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"out": out})
    value, _ = run(tensorrt.create_inference_graph(None, None, input_saved_model_dir=str(tmp_path / "model")))
    assert value == 15.0


def test_refusals():
    with pytest.raises(ValueError, match="precision mode 'FP8'"):
        tensorrt.create_inference_graph(tf.Graph().as_graph_def(), ["a"], precision_mode="FP8")
    with pytest.raises(ValueError, match="exactly one"):
        tensorrt.create_inference_graph(None, ["a"])
