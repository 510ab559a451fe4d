"""Early names of the variables of canned models."""

import pytest

from ebbflow.doors.learn.variable_names import early_name

NAMES = {
    "dnn/hiddenlayer_0/kernel": "dnn/hiddenlayer_0/weights",
    "dnn/hiddenlayer_12/bias/Adagrad": "dnn/hiddenlayer_12/biases/Adagrad",
    "dnn/logits/kernel/part_0/Adagrad": "dnn/logits/weights/part_0/Adagrad",
    "dnn/input_from_feature_columns/input_layer/w_embedding/embedding_weights": (
        "dnn/input_from_feature_columns/w_embedding/weights"
    ),
    "linear/linear_model/bias_weights": "linear/bias_weight",
    "linear/linear_model/age/weights": "linear/age/weight",
    "linear/linear_model//weights": "linear//weight",
    "linear/linear_model/words/weights/part_0/Ftrl": "linear/words/weights/part_0/Ftrl",
    "global_step": "global_step",
    "mine/kernel": "mine/kernel",
}


@pytest.mark.parametrize("name", NAMES)
def test_early_name(name):
    assert early_name(name, {"age", ""}) == NAMES[name]
