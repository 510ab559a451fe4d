"""Files written from a thread of their own: order, errors, and that nothing is left running."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.io import bundle_writer, write_behind
from ebbflow.io.bundle_writer import BundleWriter
from ebbflow.io.write_behind import WriteBehind


def running():
    return [thread.name for thread in threading.enumerate() if thread.name in ("ebbflow-write", "ebbflow-flush")]


@pytest.mark.parametrize("to_disk", [False, True])
def test_pieces_come_in_order(tmp_path, monkeypatch, to_disk):
    monkeypatch.setattr(write_behind, "FLUSHED", 1000)
    pieces = [bytes([i]) * (i * 37 % 500) for i in range(200)]
    with open(tmp_path / "file", "wb") as file:
        behind = WriteBehind(file, to_disk)
        for piece in pieces:
            behind.write(piece)
        behind.end()
    assert (tmp_path / "file").read_bytes() == b"".join(pieces) and not running()


class Full:
    """A file on a disk that takes three pieces."""

    def __init__(self):
        self.pieces = []

    def write(self, piece):
        if len(self.pieces) == 3:
            raise OSError(28, "No space left on device")
        self.pieces.append(piece)


def test_the_first_error_reaches_whoever_gives_more_or_ends():
    file = Full()
    behind = WriteBehind(file, to_disk=False)
    with pytest.raises(OSError, match="No space left"):
        for piece in range(1000):
            behind.write(bytes([piece % 256]))
    with pytest.raises(OSError, match="No space left"):
        behind.end()
    assert file.pieces == [b"\0", b"\1", b"\2"] and not running()


def test_a_bundle_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle_writer, "_LARGE", 8)

    def refuse(self, piece):
        raise OSError(28, "No space left on device")

    class Refusing(WriteBehind):
        def __init__(self, file, to_disk):
            super().__init__(type("File", (), {"write": refuse, "fileno": file.fileno})(), to_disk)

    monkeypatch.setattr(bundle_writer, "WriteBehind", Refusing)
    with (
        pytest.raises(tf.errors.ResourceExhaustedError, match="No space left"),
        BundleWriter(tmp_path / "ck") as writer,
    ):
        writer.add("a", np.zeros(100, np.float32), tf.float32)
    assert not list(tmp_path.iterdir()) and not running()


def test_large_and_small_tensors_and_strings_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle_writer, "_LARGE", 1000)
    monkeypatch.setattr(bundle_writer, "_CHUNK", 256)
    source = np.random.default_rng(0)
    values = {
        "a": source.random(3), "b": source.random(500), "c": np.array([b"x" * 700, b""], object),
        "d": source.random((20, 30))[::2, ::-1], "e": np.arange(7),
    }  # fmt: skip
    variables = {name: tf.Variable(value) for name, value in values.items()}
    for _ in range(2):  # the second replaces the first
        path = tf.train.Checkpoint(**variables).write(str(tmp_path / "ck"))
    for name, value in values.items():
        stored = tf.train.load_variable(path, f"{name}/.ATTRIBUTES/VARIABLE_VALUE")
        assert np.array_equal(np.asarray(stored, value.dtype), value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ck.data-00000-of-00001", "ck.index"] and not running()
