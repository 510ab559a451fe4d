"""Record files in which TensorFlow stores values: records of examples, event files, tensors in messages.

    python tools/record/stored_values.py

Run it in an environment that has TensorFlow 2.21 (CPU) and TensorBoard. Writes `tfrecord`, `events`, `tensor_proto` in
tests/golden/tf221, each with the values that went in. Event files hold the time they were written at, so those bytes
differ from run to run; everything else is the same again.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2
from tensorflow.core.util import event_pb2

WRITES = ("tf221/tfrecord/*", "tf221/events/*", "tf221/tensor_proto/*")
GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "tf221"
V1 = tf.compat.v1


def main() -> None:
    """Write the files anew."""
    for name, write in {"tfrecord": records, "events": events, "tensor_proto": tensor_protos}.items():
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        (GOLDEN / name).mkdir()
        write(GOLDEN / name)


# --- records ----------------------------------------------------------------------------------------------------------


def records(folder: pathlib.Path) -> None:
    """Write six examples plain and compressed, and a sequence example followed by an empty record."""
    rows = example_rows()
    texts = [example(row) for row in rows]
    for suffix, kind in (("", ""), (".gz", "GZIP"), (".zlib", "ZLIB")):
        with tf.io.TFRecordWriter(str(folder / f"examples.tfrecord{suffix}"), kind) as writer:
            for text in texts:
                writer.write(text)
    sequence = tf.train.SequenceExample()
    sequence.context.feature["id"].int64_list.value.append(9)
    for n in range(3):
        sequence.feature_lists.feature_list["tok"].feature.add().int64_list.value.extend(range(n + 1))
    with tf.io.TFRecordWriter(str(folder / "sequence.tfrecord")) as writer:
        writer.write(sequence.SerializeToString(deterministic=True))
        writer.write(b"")
    tokens = [list(range(n + 1)) for n in range(3)]
    told = [{"context": {"id": [9]}, "feature_lists": {"tok": tokens}}, "(empty record)"]
    write_json(
        folder / "expected.json", {"examples": rows, "sequence": told, "record_lengths": [len(text) for text in texts]}
    )


def example_rows() -> list[dict]:
    numbers = np.random.RandomState(11)
    rows = []
    for i in range(6):
        ints = [i, -i, 1 << 40, -(1 << 63)][: 1 + i % 4]
        floats = [float(np.float32(x)) for x in numbers.randn(i)]
        texts = [b"\x00\xff" + bytes([i]), b"text%d" % i, b""]
        rows.append({"ints": ints, "floats": floats, "bytes_hex": [text.hex() for text in texts]})
    return rows


def example(row: dict) -> bytes:
    message = tf.train.Example()
    message.features.feature["ints"].int64_list.value.extend(row["ints"])
    message.features.feature["floats"].float_list.value.extend(row["floats"])
    message.features.feature["bytes"].bytes_list.value.extend(map(bytes.fromhex, row["bytes_hex"]))
    message.features.feature["unset"].SetInParent()  # a feature that holds no list at all
    return message.SerializeToString(deterministic=True)


# --- event files ------------------------------------------------------------------------------------------------------


def events(folder: pathlib.Path) -> None:
    """Write what TensorBoard reads, in the manner of TF 1 and of TF 2."""
    losses = np.exp(-np.arange(5) / 3)
    numbers = np.random.RandomState(12).randn(200)
    old_events(folder / "tf1", losses, numbers)
    new_events(folder / "tf2", losses, numbers)
    np.savez(folder / "expected.npz", scalar_loss=losses.astype(np.float32).astype(np.float64), hist_input=numbers)


def old_events(folder: pathlib.Path, losses: np.ndarray, numbers: np.ndarray) -> None:
    with tf.Graph().as_default() as graph, V1.Session() as session:
        loss = V1.placeholder(tf.float32, [], name="a")
        V1.summary.scalar("loss", loss)
        V1.summary.histogram("h", tf.constant(numbers.astype(np.float32)))
        merged = V1.summary.merge_all()
        writer = V1.summary.FileWriter(str(folder), graph)
        for step, value in enumerate(losses):
            writer.add_summary(session.run(merged, {loss: value}), step)
        writer.add_session_log(event_pb2.SessionLog(status=event_pb2.SessionLog.START))
        writer.close()
    rename(folder, "events.out.tfevents.1700000000.host")


def new_events(folder: pathlib.Path, losses: np.ndarray, numbers: np.ndarray) -> None:
    writer = tf.summary.create_file_writer(str(folder))
    with writer.as_default():
        for step, value in enumerate(losses):
            tf.summary.scalar("loss", value, step=step)
        tf.summary.histogram("h", numbers, step=0, buckets=10)
        tf.summary.text("note", "some *text*", step=0)
        tf.summary.image("img", np.linspace(0, 1, 48, dtype=np.float32).reshape(1, 4, 4, 3), step=0)
        tf.summary.graph(tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([])).graph)
    writer.close()
    rename(folder, "events.out.tfevents.1700000000.host.v2")


def rename(folder: pathlib.Path, name: str) -> None:
    """Give the one file of a folder a name without the machine's."""
    (path,) = folder.iterdir()
    path.rename(folder / name)


# --- tensors in messages ----------------------------------------------------------------------------------------------


def tensor_protos(folder: pathlib.Path) -> None:
    """Write a TensorProto for each way of storing values, and the array that TensorFlow reads from it."""
    rows, arrays = [], {}
    for number, (note, message) in enumerate(stored_forms()):
        array = tf.make_ndarray(message)
        dtype = tf.as_dtype(message.dtype)
        text = message.SerializeToString(deterministic=True).hex()
        rows.append({"hex": text, "note": note, "dtype": dtype.name, "shape": list(array.shape)})
        if dtype == tf.string:
            rows[-1]["strings_hex"] = [value.hex() for value in array.reshape(-1).tolist()]
        elif dtype == tf.bfloat16:
            arrays[f"t{number:02}:as_uint16"] = array.view(np.uint16)
        else:
            arrays[f"t{number:02}"] = array
    write_json(folder / "tensors.json", rows)
    np.savez(folder / "expected.npz", **arrays)


def stored_forms() -> list[tuple[str, tensor_pb2.TensorProto]]:
    made = tf.make_tensor_proto
    long = np.concatenate([np.arange(250) ** 2 % 37, np.full(253, 4.0)]).astype(np.float32)
    with tf.Graph().as_default() as graph:
        tf.constant(long, name="long")
        constant = graph.as_graph_def().node[0].attr["value"].tensor
    return [
        ("scalar float_val", made(3.0)),
        ("tensor_content", made(np.arange(6, dtype=np.float32).reshape(2, 3))),
        ("splat: one float_val, shape 4x4", by_hand(tf.float32, [4, 4], float_val=[1.5])),
        ("fewer values than elements: last one repeats", by_hand(tf.int32, [5], int_val=[1, 2, 3])),
        ("bool", made([True, False])),
        ("half", made(np.array([1, 2], np.float16))),
        ("bfloat16", made(np.array([1.5, -2], tf.bfloat16.as_numpy_dtype))),
        ("half_val: uint16 bit patterns", by_hand(tf.float16, [2], half_val=[0x3C00, 0xC000])),
        ("half_val used for bfloat16 too", by_hand(tf.bfloat16, [2], half_val=[0x3F80, 0xC000])),
        ("string", made([b"a", b"", b"\x00\xff"])),
        ("complex128 dcomplex_val re,im", made(np.complex128(1 + 2j))),
        ("complex64", by_hand(tf.complex64, [2], scomplex_val=[1, 2, 0, 3])),
        ("int64_val", made(np.int64(-1))),
        ("int8", made(np.array([-1, 5], np.int8))),
        ("uint8 in int_val", made(np.uint8(200))),
        ("uint32_val", made(np.uint32(4_000_000_000))),
        ("uint64_val", made(np.uint64(1 << 63))),
        ("empty", made(np.zeros((0, 3), np.float32))),
        ("no values at all: zeros", by_hand(tf.float32, [2, 2])),
        ("Const of 503 floats, tail repeated", constant),
    ]


def by_hand(dtype: tf.DType, shape: list[int], **values: list) -> tensor_pb2.TensorProto:
    return tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=tf.TensorShape(shape).as_proto(), **values)


def write_json(path: pathlib.Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
