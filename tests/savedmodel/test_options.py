"""What SaveOptions ask for beside the model itself."""

from __future__ import annotations

import math
import os

import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.savedmodel.save import export_meta_graph


class Checked(tf.Module):
    def __init__(self):
        self.scale = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def __call__(self, x):
        tf.debugging.assert_greater(x, 0.0, message="must be positive")
        tf.print("seen", x)
        return self.scale * tf.debugging.check_numerics(x, "bad")


def test_debug_nodes_are_stripped(tmp_path, capfd):
    tf.saved_model.save(Checked(), tmp_path / "checked")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        tf.saved_model.load(tmp_path / "checked")(-1.0)
    options = tf.saved_model.SaveOptions(experimental_debug_stripper=True)
    tf.saved_model.save(Checked(), tmp_path / "plain", options=options)
    model = tf.saved_model.load(tmp_path / "plain")
    assert model(-1.0).numpy() == -2.0 and math.isnan(model(float("nan")))
    assert "seen" not in capfd.readouterr().err
    (meta,) = messages.SavedModel.FromString((tmp_path / "plain" / "saved_model.pb").read_bytes()).meta_graphs
    ops = {node.op for function in meta.graph_def.library.function for node in function.node_def}
    assert not ops & {"Assert", "PrintV2", "CheckNumerics"} and "NoOp" in ops


def lines_of(info):
    """Return the lines that a GraphDebugInfo has, by node."""
    frames = {name: info.frames_by_id[info.traces_by_id[n].frame_id[0]] for name, n in info.name_to_trace_id.items()}
    return {name: (info.files[frame.file_index], frame.func) for name, frame in frames.items()}


def test_debug_info(tmp_path):
    tf.saved_model.save(Checked(), tmp_path, options=tf.saved_model.SaveOptions(save_debug_info=True))
    written = (tmp_path / "debug" / "saved_model_debug_info.pb").read_bytes()
    lines = lines_of(messages.GraphDebugInfo.FromString(written))
    (multiplied,) = [place for name, place in lines.items() if name.startswith("mul@")]
    assert multiplied == (__file__, "__call__")


@pytest.mark.parametrize("as_text", [False, True])
def test_debug_info_of_a_meta_graph(tmp_path, as_text):
    with tf.Graph().as_default(), tf.name_scope("outer"):
        tf.constant(1.0, name="one")
        path = str(tmp_path / "model.meta")
        tf.compat.v1.train.export_meta_graph(path, as_text=as_text, save_debug_info=True)
    data = (tmp_path / "model.debug").read_bytes()
    kind = messages.GraphDebugInfo
    info = messages.parse_text(data, kind) if as_text else kind.FromString(data)
    assert lines_of(info)["outer/one@"] == (__file__, "test_debug_info_of_a_meta_graph")


def test_what_no_release_can_write():
    with pytest.raises(ValueError, match="`experimental_image_format` is disabled"):
        tf.saved_model.SaveOptions(experimental_image_format=True)


@pytest.mark.parametrize("policy", [None, "save_variable_devices"])
def test_devices_of_variables_in_a_meta_graph(tmp_path, policy):
    options = tf.saved_model.SaveOptions(experimental_variable_policy=policy)
    export_meta_graph(Checked(), tmp_path / "model.meta", options=options)
    meta = messages.MetaGraphDef.FromString((tmp_path / "model.meta").read_bytes())
    places = [node.device for node in meta.graph_def.node if node.op == "VarHandleOp"]
    places += [node.variable.device for node in meta.object_graph_def.nodes if node.HasField("variable")]
    assert len(places) == 2 and all(place.endswith("CPU:0") if policy else not place for place in places)
    assert os.listdir(tmp_path) == ["model.meta"] and "serving_default" in meta.signature_def


def test_functions_are_found_by_the_names_they_were_saved_under(tmp_path):
    class Counted(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def more(self, x):
            return x + 1.0

    model = Counted()
    tf.saved_model.save(model, tmp_path, options=tf.saved_model.SaveOptions(function_aliases={"count": model.more}))
    wish = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    found = tf.saved_model.load(tmp_path, options=wish).function_aliases
    assert list(found) == ["count"] and found["count"](2.0).numpy() == 3.0
    assert not hasattr(tf.saved_model.load(tmp_path), "function_aliases")

    model.function_aliases = tf.Variable(1.0)
    tf.saved_model.save(model, tmp_path)
    with pytest.raises(ValueError, match="function_aliases"):
        tf.saved_model.load(tmp_path, options=wish)


def test_what_a_checkpoint_lacks_may_be_missing(tmp_path):
    model, other = tf.Module(), tf.Module()
    model.kept, model.lost, other.kept = tf.Variable([1.0, 2.0]), tf.Variable(3.0, name="lost"), tf.Variable([5.0, 6.0])
    model.product = tf.function(lambda: model.kept * model.lost, input_signature=[])
    tf.saved_model.save(model, tmp_path / "model")
    tf.saved_model.save(other, tmp_path / "other")
    for file in (tmp_path / "other" / "variables").iterdir():
        file.replace(tmp_path / "model" / "variables" / file.name)
    with pytest.raises(tf.errors.NotFoundError, match=r"no value for variable 'lost'.*allow_partial_checkpoint"):
        tf.saved_model.load(tmp_path / "model")
    options = tf.saved_model.LoadOptions(allow_partial_checkpoint=True)
    loaded = tf.saved_model.load(tmp_path / "model", options=options)
    assert loaded.kept.numpy().tolist() == [5.0, 6.0] and not loaded.lost.is_initialized()
    with pytest.raises(tf.errors.FailedPreconditionError, match="lost"):
        loaded.product()
    loaded.lost.assign(2.0)
    assert loaded.product().numpy().tolist() == [10.0, 12.0]


def test_variables_of_a_skipped_checkpoint_have_no_values(tmp_path):
    tf.saved_model.save(Checked(), tmp_path / "model")
    options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    loaded = tf.saved_model.load(tmp_path / "model", options=options)
    assert loaded.scale.shape == () and loaded.scale.dtype == tf.float32 and not loaded.scale.is_initialized()
