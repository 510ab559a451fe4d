"""Arrays in .npz and .safetensors files."""

import json

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.savedmodel.weights import assign_weights, load_weights, save_weights

ARRAYS = {
    "a/w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "n": np.array(7, np.int64),
    "e": np.zeros((0, 2), np.int8),
}


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_there_and_back(tmp_path, kind):
    path = str(tmp_path / f"w.{kind}")
    save_weights(path, ARRAYS)
    found = load_weights(path)
    for name, value in ARRAYS.items():
        assert found[name].dtype == value.dtype and np.array_equal(found[name], value)


def test_half_widths(tmp_path):
    path = str(tmp_path / "w.safetensors")
    value = tf.cast([1.5, -2.0], tf.bfloat16).numpy()
    save_weights(path, {"b": value})
    assert load_weights(path)["b"].tolist() == [1.5, -2.0]


def table(rows, body=b"", length=None):
    text = json.dumps(rows).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


ROW = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
BROKEN = [
    b"",
    b"\xff" * 8,
    table({}, length=10**15),
    table([1]),
    table({"a": 3}),
    table({"a": {**ROW, "dtype": "X9"}}, b"12345678"),
    table({"a": {**ROW, "data_offsets": [0, 80]}}, b"12345678"),
    table({"a": {**ROW, "shape": [10**12]}}, b"12345678"),
    table({"a": {**ROW, "shape": [-2]}}, b"12345678"),
    table({"a": {**ROW, "data_offsets": [8, 0]}}, b"12345678"),
]


@pytest.mark.parametrize("data", BROKEN)
def test_broken_files(tmp_path, data):
    path = tmp_path / "w.safetensors"
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=r"w\.safetensors is no safetensors file"):
        load_weights(str(path))


def test_a_broken_npz(tmp_path):
    (tmp_path / "w.npz").write_bytes(b"PK nothing")
    with pytest.raises(tf.errors.DataLossError, match=r"is no \.npz file"):
        load_weights(str(tmp_path / "w.npz"))


def test_all_that_does_not_fit_is_told():
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable(1.0, name="b")
    assign_weights([a, b], {"a": [3.0, 4.0], "b": 5.0})
    assert a.numpy().tolist() == [3.0, 4.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"missing \['b'\], unexpected \['c'\], other shapes"):
        assign_weights([a, b], {"a": [1.0], "c": 2.0})
