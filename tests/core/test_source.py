"""Whose line a frame is: the program's, ours, or a library's that stands between."""

from __future__ import annotations

import sys

import pytest

from ebbflow.core import source


def called_from(*modules):
    """Return the module of the frame found where functions of these modules call each other, first to last."""

    def ask():
        return source.users(sys._getframe(1)).f_globals["__name__"]

    call = ask
    for name in reversed(modules):
        space = {"__name__": name, "inner": call}
        exec("def call():\n    return inner()", space)
        call = space["call"]
    return call()


@pytest.mark.parametrize(
    ("modules", "found"),
    [
        (("program",), "program"),
        (("program", "keras.src.layers"), "program"),
        (("program", "keras.src.layers", "program.layers"), "program.layers"),
        (("program", "keras", "tf_keras.models", "tensorflow_estimator.x"), "program"),
        (("kerasish",), "kerasish"),
    ],
)
def test_the_users_frame_is_behind_libraries_that_stand_on_this_one(modules, found):
    assert called_from(*modules) == found
    assert called_from(*modules) == found  # of code that was met before


def test_code_that_comes_and_goes_is_not_kept_without_end(monkeypatch):
    monkeypatch.setattr(source, "MOST_CODES", 5)
    for i in range(20):
        assert called_from(f"program{i}", "keras") == f"program{i}"
        assert len(source._stands) <= 6
