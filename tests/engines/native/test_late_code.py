"""Code that is made when it is first asked for: in the background, at once where calls must not differ, or not."""

from __future__ import annotations

import ctypes

from ebbflow.engines.native import late_code, library
from ebbflow.engines.native.late_code import SIZE, LateCode
from ebbflow.platform import config

TWICE = "define i64 @entry(i64 %x) nounwind {\n  %y = shl i64 %x, 1\n  ret i64 %y\n}"


def test_code_is_there_once_it_is_made_and_asked_for_once():
    asked = []
    code = LateCode(lambda: asked.append(1) or TWICE, ctypes.c_int64, SIZE)
    assert asked == []
    code.function()
    late_code.settle()
    twice = code.function()
    assert twice is not None and twice(21) == 42
    assert code.function() is twice and asked == [1]


def test_code_is_made_at_once_where_calls_must_not_differ(monkeypatch):
    monkeypatch.setattr(config.wishes, "deterministic", True)
    twice = LateCode(lambda: TWICE, ctypes.c_int64, SIZE).function()
    assert twice is not None and twice(4) == 8


def test_there_is_none_without_llvm(monkeypatch):
    monkeypatch.setattr(library, "available", lambda: False)
    code = LateCode(lambda: TWICE, ctypes.c_int64, SIZE)
    code.function()
    late_code.settle()
    assert code.function() is None


def test_code_that_rounds_otherwise_than_what_stands_in_for_it_is_waited_for():
    twice = LateCode(lambda: TWICE, ctypes.c_int64, SIZE, wait=True).function()
    assert twice is not None and twice(5) == 10
