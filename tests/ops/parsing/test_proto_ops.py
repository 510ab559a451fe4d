"""`decode_proto` and `encode_proto`: what TensorFlow 2.21 gave for the same messages, and messages that are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import descriptor_pb2

import ebbflow as tf

NODE, EVENT, HISTOGRAM = "tensorflow.NodeDef", "tensorflow.Event", "tensorflow.HistogramProto"
A = b'\n\x01a\x12\x01X\x1a\x01p\x1a\x01q"\x01d'
B = b"\n\x01b\x12\x01Y"
STEP = b"\t\x00\x00\x00\x00\x00\x00\xf8?\x10\x07\x1a\x01v"
BUCKETS = tf.compat.v1.HistogramProto(min=1, bucket=[1, 2, 3]).SerializeToString()

CASES = [
    (
        ([A, B], NODE, ["name", "input", "device"], [tf.string] * 3),
        [[[1, 2, 1], [1, 0, 0]], [[b"a"], [b"b"]], [[b"p", b"q"], [b"", b""]], [[b"d"], [b""]]],
    ),
    (
        ([[A, B]], NODE, ["input", "name"], [tf.string] * 2),
        [[[[2, 1], [0, 1]]], [[[b"p", b"q"], [b"", b""]]], [[[b"a"], [b"b"]]]],
    ),
    ((A, NODE, ["name"], [tf.string]), [[1], [b"a"]]),
    (([B], NODE, ["device", "input"], [tf.string] * 2), [[[0, 0]], [[b""]], [[b""]]]),
    (
        ([STEP, b""], EVENT, ["wall_time", "step", "file_version"], [tf.float64, tf.int64, tf.string]),
        [[[1, 1, 1], [0, 0, 0]], [[1.5], [0.0]], [[7], [0]], [[b"v"], [b""]]],
    ),
    (
        ([BUCKETS, b""], HISTOGRAM, ["bucket", "min"], [tf.float64] * 2),
        [[[3, 1], [0, 0]], [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], [[1.0], [0.0]]],
    ),
]


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize(("given", "expected"), CASES)
def test_fields_are_tensors(given, expected, graph):
    if graph:
        decoded = tf.function(lambda: tuple(tf.nest.flatten(tf.io.decode_proto(*given))))()
    else:
        sizes, values = tf.io.decode_proto(*given)
        decoded = [sizes, *values]
    assert [x.numpy().tolist() for x in decoded] == expected
    assert decoded[0].dtype == tf.int32


def test_text_is_read_too():
    found = tf.io.decode_proto(["step: 3"], EVENT, ["step"], [tf.int64], message_format="text")
    assert found.values[0].numpy().tolist() == [[3]]


WRONG = [
    (([STEP], EVENT, ["wall_time"], [tf.float32]), "Unexpected output type for tensorflow.Event.wall_time: float32"),
    (([STEP], EVENT, ["nosuch"], [tf.int32]), "Unknown field: nosuch in message type tensorflow.Event"),
    (([STEP], "tensorflow.Nope", ["x"], [tf.int32]), "No descriptor found for message type tensorflow.Nope"),
    (([STEP], EVENT, ["step"], [tf.int64], "/no/such/file"), "does not represent serialized file descriptor set"),
    (([STEP], EVENT, ["step"], [tf.int64], "bytes://zz"), "does not represent serialized file descriptor set"),
    (([STEP], EVENT, ["step"], [tf.int64], "local://", "xml"), "Invalid message_format: xml"),
    (([STEP], EVENT, ["step"], []), "1 field_names, but 0 output_types"),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_wrong_arguments_are_named(given, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.io.decode_proto(*given)


BROKEN = [b"\xff\xff", b"\x10", b"\x1a\xff\x01abc", b"\x0b", b"\x00\x01", b"\x10" + b"\xff" * 11]


@pytest.mark.parametrize("data", BROKEN)
def test_broken_messages_are_data_loss(data):
    with pytest.raises(tf.errors.DataLossError, match=r"message 1 cannot be read as tensorflow\.Event"):
        tf.io.decode_proto([STEP, data], EVENT, ["step"], [tf.int64])


def test_messages_are_written():
    words = [[["a"], ["b"]], [["p", "q"], ["", ""]]]
    encoded = tf.io.encode_proto([[1, 2], [1, 0]], words, ["name", "input"], NODE)
    assert encoded.numpy().tolist() == [b"\n\x01a\x1a\x01p\x1a\x01q", b"\n\x01b"]
    numbers = [tf.constant([[5]], tf.int64), tf.constant([[2.5]], tf.float64)]
    encoded = tf.io.encode_proto([[1, 1]], numbers, ["step", "wall_time"], EVENT)
    assert encoded.numpy().tolist() == [b"\t\x00\x00\x00\x00\x00\x00\x04@\x10\x05"]
    numbers = [tf.constant([[1.0, 2, 3]], tf.float64), tf.constant([[1.0]], tf.float64)]
    assert tf.io.encode_proto([[3, 1]], numbers, ["bucket", "min"], HISTOGRAM).numpy().tolist() == [BUCKETS]


@pytest.mark.parametrize(
    ("sizes", "value", "words"),
    [
        ([[3]], tf.constant([[5, 6]], tf.int64), "Size to write must not be larger than value tensor: 3 > 2"),
        ([[1]], tf.constant([[5]], tf.int32), "Incompatible type for field step. Saw dtype: int32"),
        ([1], tf.constant([[5]], tf.int64), "sizes should be batch_size"),
    ],
)
def test_wrong_values_are_not_written(sizes, value, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.io.encode_proto(sizes, [value], ["step"], EVENT)


ROWS = {
    "int32": (5, tf.int32, [-1, 7]),
    "int64": (3, tf.int64, [-(2**63), 3]),
    "uint64": (4, tf.uint64, [2**64 - 1, 0]),
    "sint32": (17, tf.int32, [-5, 2**31 - 1]),
    "sint64": (18, tf.int64, [-(2**63), 9]),
    "fixed32": (7, tf.uint32, [2**32 - 1, 1]),
    "sfixed64": (16, tf.int64, [-4, 4]),
    "bool": (8, tf.bool, [True, False]),
}


def test_numbers_of_all_kinds_and_defaults_go_there_and_back():
    listed = descriptor_pb2.FileDescriptorSet()
    file = listed.file.add(name="own.proto", package="own", syntax="proto2")
    message = file.message_type.add(name="Row")
    for number, (name, (kind, _, _)) in enumerate(ROWS.items(), 1):
        message.field.add(name=name, number=number, type=kind, label=3)
    message.field.add(name="word", number=20, type=9, label=1, default_value="none")
    listed.file[0].options.java_package = "x" * 200  # so long that the bytes are no text
    source = b"bytes://" + listed.SerializeToString()
    types, values = (
        [t for _, t, _ in ROWS.values()],
        [tf.constant(np.array([row], t.as_numpy_dtype)) for _, t, row in ROWS.values()],
    )
    encoded = tf.io.encode_proto([[2] * 8], values, list(ROWS), "own.Row", source)
    sizes, found = tf.io.decode_proto(encoded, "own.Row", [*ROWS, "word"], [*types, tf.string], source)
    assert sizes.numpy().tolist() == [[2] * 8 + [0]]
    assert [x.numpy().tolist() for x in found[:-1]] == [[row] for _, _, row in ROWS.values()]
    assert found[-1].numpy().tolist() == [[b"none"]]
