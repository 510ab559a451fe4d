"""Damaged files: graphs and SavedModels with bytes changed, cut, doubled or swapped must load or be refused, no more.

    python tools/fuzz_formats.py --cases 20000 [--seed 0] [--seconds 3600]

Every case is a fixture of TensorFlow's with one to four changes, made from a number, so that a case can be made again.
What loads is asked for its first signature. A refusal is an error of `tf.errors`, or a ValueError, TypeError, KeyError,
OSError or RuntimeError, which is what TensorFlow raises; anything else is told with the number of the case, and so is
a case that takes longer than some seconds.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import ebbflow as tf
from ebbflow import messages
from ebbflow.functions.dataflow_v1.graph_import import import_graph_def
from ebbflow.functions.meta_graph_import import import_scoped_meta_graph

GOLDEN = pathlib.Path(__file__).parent.parent / "tests" / "golden" / "tf221"
REFUSALS = (tf.errors.OpError, ValueError, TypeError, KeyError, OSError, RuntimeError)
LONGEST = 10.0
"""Seconds that one case may take on a slow machine."""


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with one to four changes."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        if not found:
            break
        at = chance.randrange(len(found))
        kind = chance.randrange(7)
        if kind == 0:
            found[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            found[at] = chance.choice([0, 1, 0x7F, 0x80, 0xFF])
        elif kind == 2:
            del found[at:]
        elif kind == 3:
            end = min(len(found), at + chance.randint(1, 64))
            found[at:at] = found[at:end]
        elif kind == 4:
            del found[at : at + chance.randint(1, 16)]
        elif kind == 5:
            other = chance.randrange(len(found))
            found[at : at + 8] = found[other : other + 8]
        else:
            found[at:at] = b"\xff" * 9 + b"\x01"  # a huge varint
    return bytes(found)


def changed(message: Any, chance: random.Random) -> None:
    """Change one field somewhere inside a message: bytes that parse again, and say something else."""
    for _ in range(40):
        fields = message.ListFields()
        if not fields:
            return
        field, value = chance.choice(fields)
        many = field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
        if many and field.message_type is not None and field.message_type.GetOptions().map_entry:
            key = chance.choice(sorted(value, key=str))
            inner = field.message_type.fields_by_name["value"]
            if chance.random() < 0.1:
                del value[key]
            elif inner.message_type is None:
                value[key] = other_value(value[key], chance)
            else:
                message = value[key]
                continue
            return
        if many:
            at = chance.randrange(len(value))
            if chance.random() < 0.15:
                del value[at]
                return
            if field.message_type is None:
                value[at] = other_value(value[at], chance)
                return
            if chance.random() < 0.1:
                value.add().CopyFrom(value[at])
                return
            message = value[at]
        elif field.message_type is not None:
            if chance.random() < 0.05:
                message.ClearField(field.name)
                return
            message = value
        else:
            try:
                setattr(message, field.name, other_value(value, chance))
            except (ValueError, TypeError):
                message.ClearField(field.name)
            return


def other_value(value: Any, chance: random.Random) -> Any:
    """Return a value of the same kind that is not this one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice([0, 1, -1, 2, 3, 7, 9, 20, 21, 100, 2**31 - 1, value + 1, value - 1, max(value, 1) * 2])
    if isinstance(value, float):
        return chance.choice([0.0, -1.0, float("nan"), float("inf"), 1e38])
    if isinstance(value, bytes):
        return chance.choice([b"", value[: len(value) // 2], value + b"\x00", b"\xff" * 4])
    return chance.choice(["", value + "_", value[:-1], "^" + value, value + ":7", "../" + value, "Const", "Add", "x"])


MESSAGES = {"graph.pb": "GraphDef", "v1.pb": "GraphDef", "v2.pb": "GraphDef", "v1.meta": "MetaGraphDef"}


def spoiled(name: str, chance: random.Random) -> bytes:
    """Return the bytes of a fixture, damaged as bytes or as a message."""
    data = (GOLDEN / name).read_bytes()
    kind = MESSAGES.get(name.rpartition("/")[2], "SavedModel" if name.endswith("saved_model.pb") else None)
    if kind is None or chance.random() < 0.2:
        return damaged(data, chance)
    message = getattr(messages, kind).FromString(data)
    for _ in range(chance.randint(1, 4)):
        changed(message, chance)
    try:
        return message.SerializeToString()
    except ValueError:  # text that is not UTF-8, say: no such file can be
        return data


def read_graph(data: bytes) -> None:
    """Import a GraphDef."""
    with tf.Graph().as_default():
        import_graph_def(messages.parse(messages.GraphDef, data, "damaged"), name="")


def read_meta(data: bytes) -> None:
    """Import a MetaGraphDef."""
    with tf.Graph().as_default():
        import_scoped_meta_graph(messages.parse(messages.MetaGraphDef, data, "damaged"))


def read_model(name: str) -> Callable[[bytes], None]:
    """Return what loads a SavedModel whose message is damaged; the files beside it are sound."""

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model"
            shutil.copytree(GOLDEN / name, model)
            (model / "saved_model.pb").write_bytes(data)
            loaded = tf.saved_model.load(str(model), tags=["serve"])
            for signature in list(loaded.signatures)[:1]:
                loaded.signatures[signature]

    return read


def read_checkpoint(part: str) -> Callable[[bytes], None]:
    """Return what loads a SavedModel whose checkpoint is damaged in one file."""

    def read(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model"
            shutil.copytree(GOLDEN / "saved_model_tf2", model)
            (model / "variables" / part).write_bytes(data)
            tf.saved_model.load(str(model))

    return read


TARGETS: list[tuple[str, Callable[[bytes], None], int]] = [
    ("frozen_conv/graph.pb", read_graph, 8),
    ("control_flow/v1.pb", read_graph, 4),
    ("control_flow/v2.pb", read_graph, 4),
    ("control_flow/v1.meta", read_meta, 2),
    ("saved_model_tf2/saved_model.pb", read_model("saved_model_tf2"), 3),
    ("saved_model_tf1/saved_model.pb", read_model("saved_model_tf1"), 3),
    ("keras_export/saved_model.pb", read_model("keras_export"), 2),
    ("saved_model_tf2/variables/variables.index", read_checkpoint("variables.index"), 2),
    ("saved_model_tf2/variables/variables.data-00000-of-00001", read_checkpoint("variables.data-00000-of-00001"), 1),
]
"""What is damaged, what reads it, and how often it is taken."""


def case(number: int) -> str | None:
    """Try one case; return what went wrong, or None."""
    chance = random.Random(number)
    name, read, _ = chance.choices(TARGETS, [weight for *_, weight in TARGETS])[0]
    data = spoiled(name, chance)
    start = time.perf_counter()
    try:
        read(data)
    except REFUSALS as error:
        if isinstance(error, RecursionError | NotImplementedError):
            return f"case {number} ({name}): {error!r}\n{traceback.format_exc()}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"case {number} ({name}): {error!r}\n{traceback.format_exc()}"
    seconds = time.perf_counter() - start
    return f"case {number} ({name}): took {seconds:.1f} s" if seconds > LONGEST else None


def run(first: int, count: int, seconds: float = float("inf")) -> Iterator[str]:
    """Yield what went wrong in so many cases, or until the time is over."""
    end = time.perf_counter() + seconds
    for number in range(first, first + count):
        if time.perf_counter() > end:
            break
        wrong = case(number)
        if wrong is not None:
            yield wrong


def main() -> None:
    """Run as many cases as asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    wrong = 0
    for what in run(arguments.seed, arguments.cases, arguments.seconds):
        wrong += 1
        print(what, flush=True)
    print(f"{wrong} of {arguments.cases} cases went wrong")


if __name__ == "__main__":
    main()
