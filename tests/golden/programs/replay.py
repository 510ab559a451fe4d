"""Run the golden programs in Ebbflow: every judge's programs in a process of their own, behind that judge's door.

Which door is open is a matter of the whole process (graphs or eager by default, ref or resource variables), so one
process plays one subject for one judge and hands back a line of JSON a program: what it gave, or how it failed. The
tests only compare. `python -m tests.golden.programs.replay graphs 1.15 [program]` shows the same by hand.
"""

import functools
import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback

import numpy as np
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PREFIX = "played "
SECONDS = 300


def book_of(subject):
    return importlib.import_module(__package__ + "." + subject)


def cases(subject, judges=None):
    """(judge, program name) for everything that was recorded of a subject; for pytest.mark.parametrize."""
    module = book_of(subject)
    wanted = judges or module.book.judges
    return [(judge, program.name) for judge in wanted for program in module.book.heard_by(judge)]


@functools.lru_cache(maxsize=None)
def recorded(subject, judge):
    return book_of(subject).read(judge)


def outcome(subject, judge, name):
    """(what was recorded, what Ebbflow gives); fails the test, saying why, when Ebbflow gives nothing."""
    expected = recorded(subject, judge)[name]
    lines, noise = played(subject, judge)
    if name not in lines:
        pytest.fail(f"the process playing {subject} for {judge} ended before {name}:\n{noise[-3000:]}")
    if "error" in lines[name]:
        pytest.fail("{} could not be played for {}: {}".format(name, judge, lines[name]["error"]), pytrace=False)
    return expected, lines[name]["result"]


@functools.lru_cache(maxsize=None)
def played(subject, judge):
    """All programs of a subject played for one judge: name -> {"result": ...} or {"error": text}; and the noise.

    The process starts outside the checkout and looks there last, so that an installed Ebbflow is the one that plays.
    """
    start = (
        "import sys; sys.path.append(sys.argv.pop(1)); import tests.golden.programs.replay as r; r.main(*sys.argv[1:])"
    )
    command = [sys.executable, "-c", start, ROOT, subject, judge]
    done = subprocess.run(command, cwd=tempfile.gettempdir(), capture_output=True, text=True, timeout=SECONDS)
    lines = {}
    for line in done.stdout.splitlines():
        if line.startswith(PREFIX):
            name, result = json.loads(line[len(PREFIX) :])
            lines[name] = result
    return lines, done.stderr


def assert_alike(given, expected, relative=1e-6, path="result"):
    """Nested plain values agree: numbers up to `relative` of the largest number beside them, the rest exactly."""
    if isinstance(expected, dict) and isinstance(given, dict):
        assert sorted(given) == sorted(expected), path
        for key in expected:
            assert_alike(given[key], expected[key], relative, f"{path}[{key!r}]")
    elif numbers_in(expected) is not None and numbers_in(given) is not None:
        wanted, got = numbers_in(expected), numbers_in(given)
        assert got.shape == wanted.shape, f"{path} has shape {got.shape}, not {wanted.shape}"
        scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)
        np.testing.assert_allclose(got, wanted, rtol=relative, atol=relative * scale, err_msg=path)
    elif isinstance(expected, list) and isinstance(given, list):
        assert len(given) == len(expected), f"{path} has {len(given)} items, not {len(expected)}"
        for index, (one, other) in enumerate(zip(given, expected)):
            assert_alike(one, other, relative, f"{path}[{index}]")
    else:
        assert given == expected and type(given) is type(expected), f"{path} is {given!r}, not {expected!r}"


def numbers_in(value):
    """The value as an array of floats if it is a number or a full nest of numbers, else None."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        return None
    return array.astype(float) if array.dtype.kind in "if" else None


def door(judge):
    """The namespace that stands where this judge's `tf` stood."""
    if judge == "1.15":
        return importlib.import_module("ebbflow.v1")
    tf = importlib.import_module("ebbflow")
    if judge == "2.21-v1":
        tf.compat.v1.disable_v2_behavior()
    return tf


def play_one(tf, judge, module, program):
    try:
        return {"result": module.play(tf, judge, program)}
    except AttributeError as error:
        return {"error": f"a name is missing: {error}\n{traceback.format_exc(limit=-4)}"}
    except Exception:
        return {"error": traceback.format_exc(limit=-8)}


def main(subject, judge, only=None):
    module = book_of(subject)
    tf = door(judge)
    for program in module.book.heard_by(judge):
        if only in (None, program.name):
            played_line = json.dumps([program.name, play_one(tf, judge, module, program)])
            sys.stdout.write("\n" + PREFIX + played_line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
