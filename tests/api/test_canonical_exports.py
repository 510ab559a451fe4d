"""Names that programs export things under, as TensorFlow does its own."""

from __future__ import annotations

import types

import pytest

import ebbflow as tf
from ebbflow.api.canonical import get_canonical_name_for_symbol, get_symbol_from_name
from ebbflow.core.identity import _Key
from ebbflow.platform import decorators


def test_a_function_and_a_class_carry_their_names():
    def function():
        pass

    class First:
        pass

    class Second(First):
        pass

    assert decorators.tf_export("own.a", "own.b")(function) is function
    decorators.tf_export(v1=["own.First"])(First)
    assert function._tf_api_names == ("own.a", "own.b")
    assert decorators.get_v1_names(function) == decorators.get_v2_names(function) == ["own.a", "own.b"]
    assert (decorators.get_v1_names(First), decorators.get_v2_names(First)) == (["own.First"], [])
    assert decorators.get_v1_names(Second) == []
    assert get_symbol_from_name("own.b") is function and get_symbol_from_name("compat.v1.own.First") is First
    assert get_canonical_name_for_symbol(function) == "own.a"
    assert get_canonical_name_for_symbol(First, add_prefix_to_v1_names=True) == "compat.v1.own.First"
    assert get_canonical_name_for_symbol(tf.reduce_sum) == "math.reduce_sum" and get_symbol_from_name("own.c") is None


def test_constants_are_named_in_their_modules(monkeypatch):
    module = types.ModuleType("own_constants")
    monkeypatch.setitem(decorators.sys.modules, "own_constants", module)
    decorators.tf_export("A").export_constant("own_constants", 1)
    decorators.tf_export("B", v1=["B", "C"]).export_constant("own_constants", 2)
    assert decorators.get_v2_constants(module) == [(("A",), 1), (("B",), 2)]
    assert decorators.get_v1_constants(module) == [(("A",), 1), (("B", "C"), 2)]


def test_what_stands_for_an_object_is_not_compared_with_it():
    thing = object()
    assert _Key(thing) == _Key(thing) != _Key(object()) and _Key(thing) != None  # noqa: E711
    with pytest.raises(TypeError, match="Cannot compare"):
        assert _Key(thing) == thing
