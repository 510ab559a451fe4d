"""Enums of the messages as plain names, and the generated files of TensorFlow's that show them."""

import importlib

import pytest

import ebbflow as tf
from ebbflow.messages import enums


@pytest.mark.parametrize(
    "name, number",
    [("DT_FLOAT", 1), ("DT_STRING", 7), ("DT_FLOAT_REF", 101), ("TFT_TENSOR", 1000), ("DATA_CLASS_TENSOR", 2)],
)
def test_values_are_plain_names(name, number):
    assert getattr(enums, name) == number
    assert name in dir(enums)


def test_enums_know_their_values():
    assert enums.DataType.Name(enums.DT_INT64) == "DT_INT64"
    assert enums.Code.Value("CANCELLED") == 1
    with pytest.raises(AttributeError, match="DT_NOTHING"):
        _ = enums.DT_NOTHING


@pytest.mark.parametrize(
    "path, name",
    [
        ("core.framework.types_pb2", "DT_HALF"),
        ("core.framework.variable_pb2", "VARIABLE_SYNCHRONIZATION_ON_READ"),
        ("core.framework.summary_pb2", "HistogramProto"),
        ("core.lib.core.error_codes_pb2", "INVALID_ARGUMENT"),
        ("core.protobuf.saver_pb2", "SaverDef.V1"),
        ("core.protobuf.tpu.topology_pb2", "TopologyProto"),
        ("core.protobuf.debug_event_pb2", "TensorDebugMode"),
        ("core.protobuf.data_service_pb2", "ProcessingModeDef"),
        ("core.example.example_parser_configuration_pb2", "ExampleParserConfiguration"),
        ("python.training.checkpoint_state_pb2", "CheckpointState"),
    ],
)
def test_generated_files_show_them(path, name):
    value = importlib.import_module(f"{tf.__name__}.{path}")
    for part in name.split("."):
        value = getattr(value, part)
    assert value is not None
