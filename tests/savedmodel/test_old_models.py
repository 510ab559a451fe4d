"""Models that TensorFlow 1.15 left (tools/record/old_models.py): frozen graph, estimator's export, hub module."""

import pathlib

import numpy as np

import ebbflow as tf
from ebbflow.savedmodel.predictor import from_saved_model
from ebbflow.savedmodel.show import read_graph

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "old_models"


def known(name):
    return dict(np.load(GOLDEN / f"{name}.npz"))


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)


def test_a_frozen_graph():
    data = known("inception")
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        (softmax,) = tf.graph_util.import_graph_def(
            read_graph(str(GOLDEN / "inception.pb")), return_elements=["softmax:0"], name="net"
        )
        close(session.run(softmax, {"net/input:0": data["input"]}), data["output"])
        slope = tf.compat.v1.gradients(softmax[:, 0], graph.get_tensor_by_name("net/input:0"))
        assert session.run(slope, {"net/input:0": data["input"]})[0].shape == data["input"].shape


def test_a_frozen_graph_as_a_function():
    data = known("inception")
    wrapped = tf.compat.v1.wrap_function(
        lambda: tf.compat.v1.import_graph_def(read_graph(str(GOLDEN / "inception.pb")), name=""), []
    )
    net = wrapped.prune("input:0", "softmax:0")
    close(net(tf.constant(data["input"])), data["output"])


def examples(data):
    raw, found = data["examples"].tobytes(), []
    for length in data["lengths"]:
        found.append(raw[:length])
        raw = raw[length:]
    return found


def test_an_estimators_export():
    data = known("estimator")
    model = tf.saved_model.load(str(GOLDEN / "estimator"))
    answers = model.signatures["serving_default"](examples=tf.constant(examples(data)))
    close(answers["probability"], data["probability"])
    close(from_saved_model(str(GOLDEN / "estimator"))({"examples": examples(data)})["logit"], data["logit"])


def test_a_hub_module():
    data = known("hub_module")
    model = tf.saved_model.load(str(GOLDEN / "hub_module"), tags=[])
    close(model.signatures["default"](text=tf.constant(data["text"].tolist()))["default"], data["found"])
    close(model.signatures["by_id"](ids=tf.constant([0, 3], tf.int64))["default"], data["by_id"])
    (variable,) = model.variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model.signatures["default"](text=tf.constant(["cat"]))["default"] ** 2)
    assert tape.gradient(loss, variable) is not None


def test_a_hub_module_in_a_scope_of_a_session():
    data = known("hub_module")
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        meta = tf.compat.v1.saved_model.load(session, [], str(GOLDEN / "hub_module"), import_scope="module")
        found = meta.signature_def["default"].outputs["default"].name
        close(session.run(f"module/{found}", {"module/text:0": data["text"].tolist()}), data["found"])
