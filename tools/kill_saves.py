"""Kill saves at every call of the system that they make, and restore what they left.

    python tools/kill_saves.py FOLDER

A child process is forked for each place; there it ends as if it had been killed. After each, the latest checkpoint of
the folder must be whole: that of the save before, or the new one. Three ways of saving are tried: over the same prefix,
numbered with a list (CheckpointManager), and in shards that are merged over the same prefix. Prints how many places
each had; ends with 1 where a checkpoint was damaged.
"""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import ebbflow as tf
from ebbflow.checkpoint import management
from ebbflow.io.save_ops import open_checkpoint
from ebbflow.platform import file_systems

COUNT, LENGTH, DONE, KILLED = 14, 64, 7, 9
CALLS = ("replace", "remove", "fsync", "mkdir", "makedirs", "open", "close", "stat", "listdir", "rmdir")


class Countdown:
    """Ends the process when it has been counted down."""

    def __init__(self, left: int):
        self.left = left

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that counts before it is called."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if self.left == 0:
                os._exit(KILLED)
            self.left -= 1
            return function(*args, **kwargs)

        return call


class Unbuffered:
    """A file whose writes reach the system at once, in two halves."""

    def __init__(self, file: Any, countdown: Countdown):
        self._file = file
        self._write = countdown.around(os.write)

    def write(self, data: Any) -> None:
        half = len(data) // 2
        for part in (bytes(data[:half]), bytes(data[half:])):
            self._write(self._file.fileno(), part)

    def flush(self) -> None:
        """Nothing is held back."""

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Unbuffered:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


def wrap_system(countdown: Countdown) -> None:
    """Count every call of the system that touches files."""
    os.environ["EBBFLOW_CHECKPOINT_SYNC"] = "1"
    plain: Any = file_systems.LocalFiles.open
    os.fsync = lambda handle: None  # counted below; a killed process loses nothing that the system has
    for name in CALLS:
        setattr(os, name, countdown.around(getattr(os, name)))

    def opened(self: Any, path: str, mode: str) -> Any:
        if mode != "wb":
            return plain(self, path, mode)
        return Unbuffered(open(path, mode, buffering=0), countdown)

    file_systems.LocalFiles.open = countdown.around(opened)  # type: ignore[method-assign]


def killed_at(place: int, save: Callable[[], None]) -> int:
    """Save in a child process that ends at its place-th call; return DONE where it came to its end, else KILLED."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            wrap_system(Countdown(place))
            save()
            code = DONE
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def value_in(prefix: str) -> float:
    """Return the one value that all tensors of a checkpoint have."""
    reader = open_checkpoint(prefix)
    values = {x for name in reader.names if "VALUE" in name and "counter" not in name for x in reader.read(name).flat}
    if len(values) != 1:
        raise AssertionError(f"{prefix} has values of several saves: {sorted(values)}")
    return float(values.pop())


def places_survived(save: Callable[[float], None], latest: Callable[[], str]) -> int:
    """Kill a save at its first call, another one at its second, …; return at how many places one was killed."""
    place = 0
    while True:
        before, after = float(2 * place), float(2 * place + 1)
        save(before)  # whole, over what the one before left
        code = killed_at(place, lambda value=after: save(value))  # type: ignore[misc]
        if code not in (DONE, KILLED):
            raise AssertionError(f"the save at place {place} ended with {code}")
        value = value_in(latest())
        if value not in (before, after) or (code == DONE and value != after):
            raise AssertionError(f"killed at place {place}: the latest checkpoint has {value}, the one before {before}")
        if code == DONE:
            return place
        place += 1


def main(folder: pathlib.Path) -> int:
    """Try the three ways of saving."""
    os.environ["EBBFLOW_CHECKPOINT_SYNC"] = "0"  # of the saves that are not killed
    variables = [tf.Variable(np.zeros(LENGTH, np.float32)) for _ in range(COUNT)]
    checkpoint = tf.train.Checkpoint(v=variables)

    def assign(value: float) -> None:
        for variable in variables:
            variable.assign(np.full(LENGTH, value, np.float32))

    def over(value: float) -> None:
        assign(value)
        checkpoint.write(str(folder / "same" / "m"))

    def numbered(value: float) -> None:
        assign(value)
        manager = tf.train.CheckpointManager(checkpoint, str(folder / "numbered"), max_to_keep=2)
        manager.save(checkpoint_number=int(value) + 10)

    def sharded(value: float) -> None:
        arrays = [np.full(LENGTH, value, np.float32)] * COUNT
        names = [f"VALUE{i}" for i in range(COUNT)]
        parts = [str(folder / "sharded" / f"m_temp/part-{i:05d}-of-00002") for i in range(2)]
        for i, part in enumerate(parts):
            mine = names[i::2]
            tf.raw_ops.SaveV2(
                prefix=part, tensor_names=mine, shape_and_slices=[""] * len(mine), tensors=arrays[: len(mine)]
            )
        tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=str(folder / "sharded" / "m"))

    def of(name: str) -> Callable[[], str]:
        return lambda: str(folder / name / "m")

    def newest() -> str:
        return str(management.latest_checkpoint(folder / "numbered"))

    (folder / "sharded").mkdir(parents=True)
    for name, save, latest in (("same", over, of("same")), ("numbered", numbered, newest),
                               ("sharded", sharded, of("sharded"))):  # fmt: skip
        try:
            print(f"{name}: killed at {places_survived(save, latest)} places")
        except AssertionError as error:
            print(f"{name}: {error}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
