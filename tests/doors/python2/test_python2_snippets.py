"""Programs of Python 2 print what Python 2.7 printed; random integers divide as they did."""

import contextlib
import io
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbflow.doors.python2 import modules, translation, words

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parents[1] / "golden" / "python2"


def parts(file):
    found = file.read_bytes().decode().split("=== ")[1:]
    return dict(part.split("\n", 1) for part in found)


SNIPPETS, ANSWERS = parts(HERE / "snippets.txt"), parts(GOLDEN / "answers.txt")


def run(source, name="<snippet>", **scope):
    """Return what a program of Python 2 prints."""
    scope = {"__name__": "__main__", "__builtins__": words.MODULE, **scope}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(translation.translate(source, True).tree, name, "exec"), scope)
    return out.getvalue()


def test_every_snippet_has_an_answer():
    assert list(SNIPPETS) == list(ANSWERS)
    assert modules.has_view("cPickle")


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippets_print_what_they_printed(name):
    assert run(SNIPPETS[name]) == ANSWERS[name]


@given(st.integers(), st.integers().filter(bool))
def test_integers_divide_downwards(a, b):
    printed = run(f"x = {a}\nx /= {b}\nprint {a} / {b}, x, ({a}) / ({b})")
    assert printed == f"{a // b} {a // b} {a // b}\n"


@given(st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False).filter(bool))
def test_floats_divide_as_today(a, b):
    assert words.divide(a, b) == a / b and words.divide_in_place(a, b) == a / b


@given(st.floats(-1e6, 1e6), st.integers(0, 4))
def test_halves_are_rounded_away_from_zero(value, places):
    found = words.rounded(value, places)
    assert abs(found - value) <= 0.5000001 * 10.0**-places and words.rounded(-value, places) == -found


@given(st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3), st.tuples(st.integers()))))
def test_anything_can_be_sorted(values):
    found = words.ordered(values)
    kinds = ["" if isinstance(one, int) else type(one).__name__ for one in found if one is not None]
    assert kinds == sorted(kinds) and found[: found.count(None)] == [None] * found.count(None)
