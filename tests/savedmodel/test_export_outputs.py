"""Outputs of exported models, their signatures, and the folders they go to."""

import pytest

import ebbflow as tf
from ebbflow.savedmodel import export_outputs, export_signatures, mode_keys

PREDICT, TRAIN = "infer", "train"


@pytest.fixture
def tensors():
    with tf.Graph().as_default():
        yield {
            "examples": tf.compat.v1.placeholder(tf.string, [None], name="examples"),
            "scores": tf.constant([[0.5, 0.5]]),
            "classes": tf.constant([["a", "b"]]),
            "value": tf.constant([1.0]),
        }


def test_signatures_by_kind(tensors):
    outputs = {
        "serving_default": export_outputs.ClassificationOutput(tensors["scores"], tensors["classes"]),
        "value": export_outputs.RegressionOutput(tensors["value"]),
        "all": export_outputs.PredictOutput({"v": tensors["value"]}),
    }
    made = export_signatures.build_all_signature_defs({"examples": tensors["examples"]}, outputs)
    assert {key: s.method_name.rpartition("/")[2] for key, s in made.items()} == {
        "serving_default": "classify",
        "value": "regress",
        "all": "predict",
    }
    other = {"raw": {"x": tensors["value"]}}
    made = export_signatures.build_all_signature_defs(tensors["examples"], {"all": outputs["all"]}, other)
    assert sorted(made) == ["all", "raw:all"]


def test_a_kind_that_cannot_be_served_is_left_out(tensors):
    outputs = {"value": export_outputs.RegressionOutput(tensors["value"])}
    assert export_signatures.build_all_signature_defs({"x": tensors["value"]}, outputs) == {}


def test_steps_of_training_have_signatures(tensors):
    loss = tf.reduce_sum(tensors["value"])
    metrics = {"m": (loss, loss.op)}
    (output,) = export_signatures.export_outputs_for_mode(TRAIN, predictions=loss, loss=loss, metrics=metrics).values()
    made = output.as_signature_def({"examples": tensors["examples"]})
    assert sorted(made.outputs) == ["loss", "metrics/m/update_op", "metrics/m/value", "predictions"]


def test_one_output_is_the_default(tensors):
    output = export_outputs.PredictOutput(tensors["value"])
    assert sorted(export_signatures.get_export_outputs({"a": output}, None)) == ["a", "serving_default"]
    assert export_signatures.get_export_outputs(None, {"p": tensors["value"]})["serving_default"].outputs.keys() == {
        "p"
    }
    with pytest.raises(ValueError, match="none of them are specified as the default"):
        export_signatures.get_export_outputs({"a": output, "b": output}, None)


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda t: export_outputs.ClassificationOutput(), "At least one of scores and classes"),
        (lambda t: export_outputs.ClassificationOutput(classes=t["scores"]), "classes must be a string Tensor"),
        (lambda t: export_outputs.RegressionOutput(t["classes"]), "value must be a float32 Tensor"),
        (lambda t: export_outputs.PredictOutput({3: t["value"]}), "key must be a string"),
        (lambda t: export_outputs.PredictOutput({"a": 1}), "must be a Tensor; got 1"),
    ],
)
def test_bad_outputs(tensors, make, says):
    with pytest.raises(ValueError, match=says):
        make(tensors)


def test_folders(tmp_path):
    folder = export_signatures.get_timestamped_export_dir(str(tmp_path))
    assert folder.startswith(str(tmp_path).encode()) and folder.rpartition(b"/")[2].isdigit()
    assert export_signatures.get_temp_export_dir(folder).rpartition(b"/")[2] == b"temp-" + folder.rpartition(b"/")[2]
    assert export_signatures.get_variables_path("m") == "m/variables/variables"


def test_modes_are_found_by_either_name():
    modes = mode_keys.ModeKeyMap(eval=1, predict=3)
    assert (modes["test"], modes["eval"], modes["infer"], sorted(modes)) == (1, 1, 3, ["predict", "test"])
    with pytest.raises(KeyError):
        modes["train"]
    with pytest.raises(ValueError, match="Invalid mode: 'serve'"):
        modes["serve"]
    with pytest.raises(ValueError, match="Multiple keys/values found for mode"):
        mode_keys.ModeKeyMap(eval=1, test=2)


def test_outputs_that_need_what_is_not_received_are_left_out():
    with tf.Graph().as_default():
        text, flag = tf.compat.v1.placeholder(tf.string, name="text"), tf.compat.v1.placeholder(tf.bool, name="flag")
        outputs = {
            "serving_default": export_outputs.PredictOutput({"there": tf.identity(text)}),
            "other": export_outputs.PredictOutput({"not": tf.logical_not(flag)}),
        }
        found = export_signatures.build_all_signature_defs(text, outputs, {"with": {"flag": flag}})
    assert sorted(found) == ["serving_default", "with:other"]
