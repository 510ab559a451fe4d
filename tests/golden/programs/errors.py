"""All misuse in one book, and how a row is played: run it, and tell what was raised or what came of it.

The recorder refuses a row whose promised words are not in TensorFlow's own message, so a phrase here is a fact.
"""

import builtins
import re

import numpy as np

from . import errors_eager, errors_graph, errors_state
from .book import Book, graph_module, read_recording, write_recording

book = Book()
for _part in (errors_graph, errors_state, errors_eager):
    book.include(_part.book)


def phrase(program, judge):
    """The words this judge's message must hold, or None."""
    says = program.facts["says"]
    return says.get(judge) if isinstance(says, dict) else says


def play(tf, judge, program):
    """{"raises": class names from the raised class up, "says": message, "node": ...} or {"gives": description}."""
    try:
        if program.facts.get("eager"):
            return {"gives": described(program(tf))}
        v1 = graph_module(tf, judge)
        with v1.Graph().as_default():
            return {"gives": described(program(v1))}
    except Exception as error:
        return raised(tf, error)


def raised(tf, error):
    """What programs can catch: the classes that have a public name."""
    names = [kind.__name__ for kind in type(error).__mro__]
    public = [name for name in names if hasattr(builtins, name) or hasattr(tf.errors, name)]
    told = {"raises": public[: public.index("Exception")], "says": str(error)}
    if "OpError" in names:
        told["code"] = error.error_code
        told["node"] = error.op.name if error.op is not None else None
    return told


def described(value):
    """What came instead of an error, if it is plain enough to compare."""
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    if hasattr(value, "numpy") and hasattr(value, "dtype"):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return [value.dtype.name, [str(item) for item in value.ravel().tolist()], list(value.shape)]
    return value if isinstance(value, (bool, int, float, str, type(None))) else "something"


def write(judge, recording):
    """Keep one line of each message; make sure it holds what the row promises."""
    kept, broken = {}, []
    for name, played in recording.items():
        words = phrase(book[name], judge)
        if words and words not in played.get("says", ""):
            broken.append(f"{name}: {words!r} is not in what {judge} says: {played}")
        if "says" in played:
            played = dict(played, says=telling_line(played["says"], words))
        kept[name] = played
    if broken:
        raise ValueError("\n".join(broken))
    write_recording("errors", judge, kept)


def telling_line(message, words):
    """The line that says what is wrong: the one with the promised words, else the one before the node's name."""
    lines = [line.strip() for line in message.splitlines() if line.strip()] or [""]
    before_node = [line for line, following in zip(lines, lines[1:]) if following.startswith("[[")]
    told = next((line for line in lines if words and words in line), (before_node or lines)[0])
    return re.sub("0x[0-9a-f]+", "0x", told)[:160]


def read(judge):
    return read_recording("errors", judge)
