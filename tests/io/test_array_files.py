"""Arrays by name in .npz and .safetensors files."""

from __future__ import annotations

import json
import os

import ml_dtypes
import numpy as np
import pytest

import ebbflow as tf
from ebbflow.io.array_files import read_arrays, write_arrays

ARRAYS = {
    "a/w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "n": np.array(7, np.int64),
    "e": np.zeros((0, 2), np.int8),
    "c": np.array([1 + 2j], np.complex64),
    "turned": np.arange(6.0).reshape(2, 3).T,
}


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_there_and_back(tmp_path, kind):
    path = str(tmp_path / f"w.{kind}")
    write_arrays(path, ARRAYS)
    arrays = read_arrays(path)
    for name, value in ARRAYS.items():
        assert arrays[name].dtype == value.dtype and np.array_equal(arrays[name], value)
    assert os.listdir(tmp_path) == [f"w.{kind}"]


def test_half_widths(tmp_path):
    value = np.array([1.5, -2.0], ml_dtypes.bfloat16)
    write_arrays(str(tmp_path / "w.safetensors"), {"b": value})
    assert read_arrays(str(tmp_path / "w.safetensors"))["b"].tolist() == [1.5, -2.0]
    write_arrays(str(tmp_path / "w.npz"), {"b": value})
    assert read_arrays(str(tmp_path / "w.npz"))["b"].view(ml_dtypes.bfloat16).tolist() == [1.5, -2.0]


def test_strings(tmp_path):
    path = str(tmp_path / "w.npz")
    write_arrays(path, {"s": np.array([[b"long", b""]], object)})
    assert read_arrays(path)["s"].tolist() == [[b"long", b""]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="s has strings that end in a zero byte"):
        write_arrays(path, {"s": np.array([b"\0"], object)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="s is string, which safetensors files cannot hold"):
        write_arrays(str(tmp_path / "w.safetensors"), {"s": np.array([b"a"], object)})
    assert os.listdir(tmp_path) == ["w.npz"] and read_arrays(path)["s"].tolist() == [[b"long", b""]]


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = str(tmp_path / "w.npz")
    write_arrays(path, {"n": np.array(1)})

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"w\.npz.*No space left"):
        write_arrays(path, {"n": np.array(2)})
    assert os.listdir(tmp_path) == ["w.npz"] and read_arrays(path)["n"] == 1


def test_what_is_not_there(tmp_path):
    for kind in ("npz", "safetensors"):
        with pytest.raises(tf.errors.NotFoundError, match=f"no.{kind}"):
            read_arrays(str(tmp_path / f"no.{kind}"))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"w.txt: the name must end in \.npz or \.safetensors"):
        read_arrays(str(tmp_path / "w.txt"))


def file_of(rows, body=b"12345678", length=None):
    text = json.dumps(rows).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def test_a_safetensors_file_is_what_others_write(tmp_path):
    row = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    path = tmp_path / "m.safetensors"
    path.write_bytes(file_of({"__metadata__": {"format": "pt"}, "w": row}, np.array([1, 2], np.float32).tobytes()))
    assert read_arrays(str(path))["w"].tolist() == [1.0, 2.0]


ROW = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
SPOILT = {
    "empty": b"",
    "bits": b"\xff" * 8,
    "long header": file_of({}, length=1 << 60),
    "no json": (2).to_bytes(8, "little") + b"{]",
    "list": file_of([1]),
    "no row": file_of({"a": 3}),
    "no place": file_of({"a": {"dtype": "F32"}}),
    "dtype": file_of({"a": {**ROW, "dtype": "PY"}}),
    "dtype of a list": file_of({"a": {**ROW, "dtype": ["F32"]}}),
    "outside": file_of({"a": {**ROW, "shape": [4], "data_offsets": [0, 16]}}),
    "huge": file_of({"a": {**ROW, "shape": [10**12], "data_offsets": [0, 4 * 10**12]}}),
    "too few bytes": file_of({"a": {**ROW, "shape": [10**12]}}),
    "negative": file_of({"a": {**ROW, "shape": [-2]}}),
    "backwards": file_of({"a": {**ROW, "data_offsets": [8, 0]}}),
    "infinite": file_of({"a": {**ROW, "shape": [float("inf")]}}),
    "overlapping": file_of({"a": ROW, "b": {**ROW, "data_offsets": [4, 12]}}, b"123456789012"),
}


@pytest.mark.parametrize("fault", SPOILT)
@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_spoilt_files(tmp_path, fault, kind):
    path = tmp_path / f"m.{kind}"
    path.write_bytes(SPOILT[fault])
    with pytest.raises(tf.errors.DataLossError, match=rf"m\.{kind}"):
        read_arrays(str(path))
