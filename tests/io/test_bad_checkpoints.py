"""Strangers' checkpoints: spoilt files are read or refused with words; a save that is killed leaves the last one."""

from __future__ import annotations

import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest

import ebbflow as tf
from ebbflow import messages
from ebbflow.core import errors
from ebbflow.io.bundle import BundleReader
from ebbflow.io.sorted_table import read_table, table_bytes
from tools import fuzz_checkpoints as fuzz

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "tf221"


def test_five_hundred_spoilt_checkpoints():
    originals = fuzz.prefixes(GOLDEN)
    outcomes = {fuzz.run_case(originals[seed % len(originals)], seed) for seed in range(500)}
    assert {"read", "DataLossError"} <= outcomes


# --- one fault each ---------------------------------------------------------------------------------------------------


@pytest.fixture
def prefix(tmp_path):
    path = str(tmp_path / "m")
    tf.raw_ops.SaveV2(
        prefix=path, tensor_names=["a", "b", "s"], shape_and_slices=["", "", ""],
        tensors=[np.arange(6.0), np.arange(4.0), tf.constant(["x", "yy"])],
    )  # fmt: skip
    return path


def changed(prefix, **changes):
    """Rewrite entries of an index, with good checksums."""
    table = read_table(prefix + ".index")
    for key, change in changes.items():
        cls = messages.BundleEntryProto if key != "header" else messages.BundleHeaderProto
        name = b"" if key == "header" else key.encode()
        message = cls.FromString(table[name])
        change(message)
        table[name] = messages.serialize(message)
    pathlib.Path(prefix + ".index").write_bytes(table_bytes(sorted(table.items())))


def setting(**fields):
    def change(message):
        for field, value in fields.items():
            setattr(message, field, value)

    return change


def dims(*sizes):
    def change(message):
        del message.shape.dim[:]
        for size in sizes:
            message.shape.dim.add(size=size)

    return change


FAULTS = {
    "offset past the end": ({"a": setting(offset=1 << 50)}, "lies outside of the file"),
    "negative offset": ({"a": setting(offset=-8)}, "negative offset"),
    "overlapping": ({"b": setting(offset=40)}, "overlap at byte 40"),
    "size": ({"a": setting(size=40)}, "40 bytes for shape"),
    "huge shape": ({"a": dims(10**12, 10**12)}, "impossible shape"),
    "large shape": ({"a": dims(10**12)}, "bytes for shape"),
    "negative shape": ({"a": dims(-6)}, "impossible shape"),
    "many strings": ({"s": dims(10**12)}, "strings in"),
    "checksum": ({"a": setting(crc32c=1)}, "checksum does not match for tensor a"),
    "dtype": ({"a": setting(dtype=99)}, "unknown dtype"),
    "shard": ({"a": setting(shard_id=3)}, "shard 3 of 1"),
    "no shards": ({"header": setting(num_shards=0)}, "num_shards"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_an_index_may_not_say(prefix, fault):
    changes, words = FAULTS[fault]
    changed(prefix, **changes)
    with pytest.raises(errors.DataLossError, match=words) as refusal:
        reader = BundleReader(prefix)
        [reader.read(name) for name in reader.names]
    assert prefix in refusal.value.message


def test_missing_shard(prefix):
    changed(prefix, header=setting(num_shards=2))
    reader = BundleReader(prefix)
    with pytest.raises(errors.NotFoundError, match="data-00000-of-00002"):
        reader.read("a")


def test_wrong_magic_and_depth(prefix):
    path = pathlib.Path(prefix + ".index")
    good = path.read_bytes()
    path.write_bytes(good[:-8] + struct.pack("<Q", 42))
    with pytest.raises(errors.DataLossError, match="bad magic number"):
        BundleReader(prefix)
    path.write_bytes(good[:-48] + b"\xff" * 40 + good[-8:])
    with pytest.raises(errors.DataLossError, match=r"m.index: the footer, at byte \d+ is cut off or damaged"):
        BundleReader(prefix)


# --- killed -----------------------------------------------------------------------------------------------------------


def test_a_save_killed_anywhere_leaves_a_whole_checkpoint(tmp_path):
    tool = pathlib.Path(fuzz.__file__).with_name("kill_saves.py")
    ways = ["background", "numbered", "policy", "session"]  # all of them, by hand: docs/reliability.md
    done = subprocess.run(
        [sys.executable, tool, tmp_path / "saves", *ways], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    places = [int(line.split()[3]) for line in done.stdout.splitlines()]
    assert len(places) == len(ways) and sum(places) >= 350
