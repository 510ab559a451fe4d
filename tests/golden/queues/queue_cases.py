"""Programs on queues, run with whichever `tf` is given: TensorFlow 1.15 for the recorder, Ebbflow for the test.

A program is a list of steps on one queue; what a step gives, or how it fails, is noted.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

# kind, arguments, then steps: a method and its arguments
PROGRAMS: list[tuple[str, dict[str, Any], list[tuple[Any, ...]]]] = [
    ("FIFOQueue", {"capacity": 10, "dtypes": ["float32"], "shapes": [[]]}, [
        ("enqueue", [3.0]), ("enqueue_many", [[1.0, 2.0, 5.0]]), ("size",), ("dequeue",), ("dequeue_many", 2),
        ("is_closed",), ("close",), ("is_closed",), ("dequeue_up_to", 4), ("dequeue",), ("dequeue_many", 0),
        ("dequeue_up_to", 2), ("enqueue", [1.0]), ("close",)]),
    ("FIFOQueue", {"capacity": 3, "dtypes": ["int32", "string"], "shapes": [[2], []]}, [
        ("enqueue", [[1, 2], "a"]), ("enqueue_many", [[[3, 4], [5, 6]], ["b", "c"]]), ("size",), ("dequeue_many", 3),
        ("enqueue", [[1, 2, 3], "a"]), ("enqueue_many", [[[3, 4]], ["b", "c"]]), ("dequeue_many", 0), ("size",),
        ("close",), ("dequeue_many", 1)]),
    ("FIFOQueue", {"capacity": 3, "dtypes": ["int32"]}, [
        ("enqueue", [[1, 2]]), ("enqueue", [[1, 2, 3]]), ("dequeue",), ("dequeue_many", 1), ("size",), ("dequeue",)]),
    ("FIFOQueue", {"capacity": 5, "dtypes": ["int32", "float32"], "shapes": [[], []], "names": ["i", "f"]}, [
        ("enqueue", {"i": 1, "f": 2.0}), ("enqueue_many", {"i": [3, 4], "f": [5.0, 6.0]}), ("dequeue",),
        ("dequeue_many", 2), ("enqueue", {"i": 1}), ("enqueue", [1, 2.0])]),
    ("PaddingFIFOQueue", {"capacity": 9, "dtypes": ["int32", "string"], "shapes": [[None], [None, 2]]}, [
        ("enqueue", [[1], [["a", "b"]]]), ("enqueue", [[2, 3, 4], [["x", "y"]]]),
        ("enqueue", [[], [["c", "d"], ["e", "f"]]]), ("dequeue_many", 2), ("dequeue",), ("dequeue_many", 0),
        ("enqueue", [1, [["a", "b"]]]), ("enqueue", [[1], [["a"]]])]),
    ("RandomShuffleQueue", {"capacity": 40, "min_after_dequeue": 4, "dtypes": ["int32"], "shapes": [[]], "seed": 7}, [
        ("enqueue_many", [list(range(20))]), ("dequeue_many", 10), ("dequeue",), ("dequeue_many", 5), ("size",),
        ("close",), ("dequeue_up_to", 9), ("dequeue",)]),
    ("RandomShuffleQueue", {"capacity": 40, "min_after_dequeue": 0, "dtypes": ["int32"], "shapes": [[]], "seed": 1}, [
        ("enqueue_many", [list(range(9))]), ("dequeue_many", 3), ("close",), ("dequeue_many", 7),
        ("dequeue_many", 6)]),
    ("PriorityQueue", {"capacity": 9, "types": ["string"], "shapes": [[]]}, [
        ("enqueue", [7, "z"]), ("enqueue_many", [[3, 1, 2], ["a", "b", "c"]]), ("dequeue",), ("dequeue_many", 2),
        ("size",), ("close",), ("dequeue_many", 2), ("dequeue",)]),
]  # fmt: skip


def answers(tf: Any, program: int, repeats: int = 1) -> list[Any]:
    """Return what the steps of a program give, each once (or, as compiled code, several times in fresh sessions)."""
    kind, arguments, steps = PROGRAMS[program]
    told: list[Any] = []
    for _ in range(repeats):
        with tf.Graph().as_default(), tf.Session() as session:
            named = {k: [getattr(tf, t) for t in v] if k in ("dtypes", "types") else v for k, v in arguments.items()}
            queue = getattr(tf, kind)(**named)
            told = [[queue.name, [_dims(s) for s in queue.shapes], [d.name for d in queue.dtypes]]]
            told += [_answer(session, queue, *step) for step in steps]
    return told


def _answer(session: Any, queue: Any, method: str, *arguments: Any) -> Any:
    try:
        op = getattr(queue, method)(*arguments)
        static = [_dims(t.shape) for t in _flat(op) if hasattr(t, "shape")]
        name = _flat(op)[0].name
        return [name, static, plain(session.run(op))]
    except Exception as error:
        return [type(error).__name__, facts(str(error))]


def _dims(shape: Any) -> str:
    return str(shape).replace("?", "None")  # TensorFlow 2 prints it so


def _flat(op: Any) -> list[Any]:
    return list(op.values()) if isinstance(op, dict) else op if isinstance(op, list) else [op]


def plain(value: Any) -> Any:
    """Return a run's result as JSON can hold it."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, bytes):
        return value.decode()
    return value.item() if hasattr(value, "item") else value


def facts(message: str) -> list[str]:
    """Return what a message must say, in whatever words: numbers in brackets and parentheses."""
    first = message.split("\n")[0]
    return re.findall(r"requested \d+, current size \d+|is closed|already closed|specified shapes", first)
