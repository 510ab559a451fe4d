"""Spoil checkpoints and read them: every spoilt file must be read or refused with a typed error, and nothing else.

    python tools/fuzz_checkpoints.py [--cases 20000] [--seed 1] [FOLDER]

Takes the checkpoints below FOLDER (by default those that TensorFlow wrote for the tests) and changes bits, bytes and
lengths of their files: at random, in the index with its checksums made right again, and in the messages of its entries.
A case that takes longer than ten seconds, needs much memory, or ends in any error that is not one of `tf.errors` fails.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from typing import Any

from google.protobuf.message import DecodeError

from ebbflow import messages
from ebbflow.core import errors
from ebbflow.io.save_ops import open_checkpoint
from ebbflow.io.sorted_table import read_table, table_bytes

GOLDEN = pathlib.Path(__file__).parent.parent / "tests" / "golden" / "tf221"
SECONDS = 10
MEMORY = 64 << 20
REFUSALS = (errors.DataLossError, errors.InvalidArgumentError, errors.NotFoundError, errors.UnimplementedError)


def flip(data: bytearray, chance: random.Random) -> bytearray:
    """Change single bits."""
    for _ in range(chance.choice((1, 1, 2, 8))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return data


def cut(data: bytearray, chance: random.Random) -> bytearray:
    """Leave out the end."""
    return data[: chance.randrange(len(data))]


def lengthen(data: bytearray, chance: random.Random) -> bytearray:
    """Put bytes in."""
    at = chance.randrange(len(data))
    return data[:at] + chance.randbytes(chance.randrange(1, 20)) + data[at:]


def overwrite(data: bytearray, chance: random.Random) -> bytearray:
    """Write extreme bytes over a part."""
    at, count = chance.randrange(len(data)), chance.randrange(1, 16)
    data[at : at + count] = bytes([chance.choice((0x00, 0xFF, 0x7F, 0x80))]) * count
    return data


def empty(data: bytearray, chance: random.Random) -> bytearray:
    """Leave nothing."""
    return bytearray()


BYTES = (flip, flip, cut, lengthen, overwrite, empty)


def spoil_entry(entry: Any, chance: random.Random) -> None:
    """Have an entry of the index claim something else."""
    number = chance.choice((-1, 0, 1, 7, 1 << 31, (1 << 62) + 3, -(1 << 40), 10**12))
    field = chance.choice(("offset", "size", "shard_id", "crc32c", "dtype", "dim", "dim", "slices", "extent"))
    if field == "dim" and entry.shape.dim:
        chance.choice(entry.shape.dim).size = number
    elif field == "dim":
        entry.shape.dim.add(size=number)
    elif field == "slices":
        del entry.slices[:]
        entry.slices.add().extent.add(start=0, length=3)
    elif field == "extent" and entry.slices:
        extent = chance.choice(entry.slices).extent
        if extent:
            chance.choice(extent).start = number
    elif field == "crc32c":
        entry.crc32c ^= 1
    elif field == "dtype":
        entry.dtype = chance.choice((0, 1, 2, 7, 20, 21, 33, 99, 101))
    elif field != "extent":
        setattr(entry, field, max(min(number, (1 << 31) - 1), -(1 << 31)) if field == "shard_id" else number)


def spoil_index(path: pathlib.Path, chance: random.Random) -> None:
    """Change an index and make its checksums right again, so that only what it says is wrong."""
    table = read_table(str(path))
    for _ in range(chance.choice((1, 1, 3))):
        key = chance.choice(list(table))
        how = chance.randrange(5)
        if how == 0 and key:
            del table[key]
        elif how == 1:
            table[key] = bytes(flip(bytearray(table[key] or b"\0"), chance))
        elif how == 2:
            header = messages.BundleHeaderProto(num_shards=chance.choice((-1, 0, 1, 2, 99999)))
            table[b""] = messages.serialize(header)
        elif key:
            try:
                entry = messages.BundleEntryProto.FromString(table[key])
            except DecodeError:  # spoilt already
                continue
            spoil_entry(entry, chance)
            table[key] = messages.serialize(entry)
    path.write_bytes(table_bytes(sorted(table.items())))


def spoil(folder: pathlib.Path, chance: random.Random) -> None:
    """Spoil one file of a checkpoint."""
    files = sorted(p for p in folder.iterdir() if ".index" in p.name or ".data-" in p.name)
    path = chance.choice(files)
    if path.name.endswith(".index") and chance.random() < 0.6:
        spoil_index(path, chance)
    elif chance.random() < 0.05:
        path.unlink()
    else:
        path.write_bytes(chance.choice(BYTES)(bytearray(path.read_bytes()) or bytearray(b"\0"), chance))


def read_all(prefix: str) -> int:
    """Read every tensor of a checkpoint; return how many could be."""
    reader = open_checkpoint(prefix)
    good = 0
    for name in reader.names:
        try:
            reader.dtype_of(name), reader.shape_of(name), reader.read(name)
            good += 1
        except REFUSALS:
            pass
    return good


def prefixes(folder: pathlib.Path) -> list[pathlib.Path]:
    """Return the checkpoints below a folder."""
    return [path.with_suffix("") for path in sorted(folder.rglob("*.index"))]


def run_case(original: pathlib.Path, seed: int) -> str:
    """Spoil a copy of a checkpoint and read it; return what happened: "read", or the class of the refusal."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        for path in original.parent.glob(original.name + ".*"):
            shutil.copy(path, folder)
        try:
            spoil(pathlib.Path(folder), chance)
            read_all(str(pathlib.Path(folder) / original.name))
        except REFUSALS as error:
            if not error.message:
                raise AssertionError(f"seed {seed} of {original}: a refusal without words") from error
            return type(error).__name__
    return "read"


def within_limits(case: Callable[[], str]) -> str:
    """Run a case; take too much time or memory for an error."""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    tracemalloc.start()
    try:
        outcome = case()
        if tracemalloc.get_traced_memory()[1] > MEMORY:
            raise AssertionError(f"needed {tracemalloc.get_traced_memory()[1] >> 20} MB")
        return outcome
    finally:
        tracemalloc.stop()
        signal.alarm(0)


def _too_long(*unused: Any) -> None:
    raise AssertionError(f"took longer than {SECONDS} seconds")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=GOLDEN, type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    originals = prefixes(options.folder)
    counts: dict[str, int] = {}
    for seed in range(options.seed, options.seed + options.cases):
        original = originals[seed % len(originals)]
        try:
            outcome = within_limits(lambda original=original, seed=seed: run_case(original, seed))  # type: ignore[misc]
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            print(f"seed {seed}, {original}: {type(error).__name__}: {error}")
            outcome = "FAILED"
        counts[outcome] = counts.get(outcome, 0) + 1
    print(counts)
    return int("FAILED" in counts)


if __name__ == "__main__":
    sys.exit(main())
