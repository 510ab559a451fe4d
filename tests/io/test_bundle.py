"""Checkpoints are read as TensorFlow wrote them; damaged ones are refused."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from ebbflow.core import errors
from ebbflow.io import tensor_slices
from ebbflow.io.bundle import BundleReader

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "functions"
EXPECTED = json.loads((GOLDEN / "checkpoint.json").read_text())


def as_list(array):
    return [v.decode() for v in array.tolist()] if array.dtype == object else array.tolist()


@pytest.mark.parametrize("name", EXPECTED)
def test_values(name):
    reader = BundleReader(GOLDEN / "checkpoint" / "model")
    assert as_list(reader.read(name)) == EXPECTED[name]
    assert list(reader.shape_of(name)) == list(np.shape(EXPECTED[name]))
    assert name in reader


def test_names_and_types():
    reader = BundleReader(str(GOLDEN / "checkpoint" / "model"))
    assert sorted(reader.names) == sorted(EXPECTED)
    assert reader.dtype_of("half").name == "float16"
    with pytest.raises(errors.NotFoundError, match="Key nothing not found in checkpoint"):
        reader.read("nothing")


def test_missing_files():
    with pytest.raises(errors.NotFoundError, match="Failed to find any matching files for"):
        BundleReader("/nowhere/model")


def test_a_directory_is_no_checkpoint(tmp_path):
    with pytest.raises(errors.DataLossError, match="it is a directory"):
        BundleReader(str(tmp_path))


def copied(folder, change=None, which="model.index"):
    for path in (GOLDEN / "checkpoint").iterdir():
        data = bytearray(path.read_bytes())
        if change is not None and path.name == which:
            data = change(data)
        (folder / path.name).write_bytes(data)
    return folder / "model"


def flipped(at):
    def change(data):
        data[at] ^= 0x40
        return data

    return change


@pytest.mark.parametrize("at", range(0, 60, 7))
def test_damaged_index(tmp_path, at):
    with pytest.raises(errors.DataLossError):
        BundleReader(copied(tmp_path, flipped(at)))


@pytest.mark.parametrize("length", [0, 10, 47, 100])
def test_cut_index(tmp_path, length):
    with pytest.raises(errors.DataLossError):
        BundleReader(copied(tmp_path, lambda data: data[:length]))


@pytest.mark.parametrize("change", [flipped(0), lambda data: data[:5]], ids=["flipped", "cut"])
def test_damaged_data(tmp_path, change):
    reader = BundleReader(copied(tmp_path, change, "model.data-00000-of-00001"))
    with pytest.raises(errors.DataLossError):
        for name in reader.names:
            reader.read(name)


def test_keys_of_slices():
    assert tensor_slices.key_of(b"part", ((67, 67), (0, 6))) == b"\0part\0\1\1\2" + bytes.fromhex("c043c0438086")
    assert tensor_slices.key_of(b"\0\xff", ()) == b"\0\0\xff\xff\0\0\1\0"
