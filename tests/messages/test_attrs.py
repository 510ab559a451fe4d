"""Attrs: each kind's message, its Python form, and what does not fit."""

import math

import numpy as np
import pytest

from ebbflow import messages
from ebbflow.core import dtypes, errors
from ebbflow.core.shape import TensorShape
from ebbflow.messages.attrs import Placeholder, attr_python, attr_value, kind_of
from ebbflow.messages.tensors import make_tensor_proto

# kind, what is given, the message in text, the Python form that comes back
FORMS = [
    ("int", 7, "i: 7", 7),
    ("int", np.int64(-1), "i: -1", -1),
    ("int", True, "i: 1", 1),
    ("float", 0.1, "f: 0.1", float(np.float32(0.1))),
    ("float", 2, "f: 2", 2.0),
    ("float", 1e300, "f: inf", math.inf),
    ("bool", True, "b: true", True),
    ("bool", 0, "b: false", False),
    ("string", "SAME", 's: "SAME"', "SAME"),
    ("string", "é", r's: "\303\251"', "é"),
    ("string", b"\xff\x00", r's: "\377\000"', b"\xff\x00"),
    ("string", "", 's: ""', ""),
    ("type", "float32", "type: DT_FLOAT", dtypes.float32),
    ("type", np.int64, "type: DT_INT64", dtypes.int64),
    ("type", dtypes.float32._as_ref, "type: DT_FLOAT_REF", dtypes.float32._as_ref),
    ("shape", [2, None], "shape { dim { size: 2 } dim { size: -1 } }", (2, None)),
    ("shape", TensorShape([3]), "shape { dim { size: 3 } }", (3,)),
    ("shape", (), "shape { }", ()),
    ("shape", None, "shape { unknown_rank: true }", None),
    ("list(int)", (1, 2), "list { i: 1 i: 2 }", [1, 2]),
    ("list(int)", [], "list { }", []),
    ("list(int)", np.array([3, 4]), "list { i: 3 i: 4 }", [3, 4]),
    ("list(float)", [0.5], "list { f: 0.5 }", [0.5]),
    ("list(bool)", [True, False], "list { b: true b: false }", [True, False]),
    ("list(string)", ["a", b"\xff"], r'list { s: "a" s: "\377" }', ["a", b"\xff"]),
    ("list(type)", [dtypes.string, "half"], "list { type: DT_STRING type: DT_HALF }", [dtypes.string, dtypes.float16]),
    ("list(shape)", [[1], None], "list { shape { dim { size: 1 } } shape { unknown_rank: true } }", [(1,), None]),
    ("type", Placeholder("T"), 'placeholder: "T"', Placeholder("T")),
]


@pytest.mark.parametrize("kind, given, text, back", FORMS, ids=[f"{k} {g!r}" for k, g, _, _ in FORMS])
def test_forms(kind, given, text, back):
    attr = attr_value(kind, given)
    assert attr == messages.parse_text(text, messages.AttrValue)
    for found in (attr_python(attr), attr_python(attr, kind)):
        assert found == back
        assert type(found) is type(back)


def test_tensors():
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert attr_value("tensor", array).tensor == make_tensor_proto(array)
    assert attr_value("tensor", make_tensor_proto(array)).tensor == make_tensor_proto(array)
    assert np.array_equal(attr_python(attr_value("tensor", array)), array)
    both = attr_python(attr_value("list(tensor)", [array, 1.5]))
    assert [b.dtype for b in both] == [np.int16, np.float32]


def test_tensors_of_handles_stay_messages():
    proto = messages.TensorProto(dtype=21, variant_val=[messages.VariantTensorDataProto(type_name="x")])
    assert attr_python(attr_value("tensor", proto)) == proto


def test_functions():
    named = messages.NameAttrList(name="body", attr={"T": attr_value("type", "int32")})
    assert attr_python(attr_value("func", named)) == named
    assert attr_value("func", "body").func == messages.NameAttrList(name="body")
    assert attr_python(attr_value("list(func)", [named, "f"])) == [named, messages.NameAttrList(name="f")]


def test_no_value_is_none():
    assert attr_python(messages.AttrValue()) is None
    assert kind_of(messages.AttrValue()) is None


@pytest.mark.parametrize("kind, given, back", [(k, g, b) for k, g, _, b in FORMS if not isinstance(g, Placeholder)])
def test_kind_is_told(kind, given, back):
    assert kind_of(attr_value(kind, given)) == ("list(any)" if back == [] else kind)


MISFITS = [
    ("int", "a"), ("int", 1.5), ("int", 2**63), ("int", None), ("float", "x"), ("float", [1.0]), ("bool", "true"),
    ("string", 3), ("type", "no type"), ("shape", [-3]), ("func", 3), ("list(int)", 3), ("list(string)", "abc"),
    ("list(int)", [1, "a"]), ("tensor", None),
]  # fmt: skip


@pytest.mark.parametrize("kind, value", MISFITS, ids=str)
def test_values_that_do_not_fit(kind, value):
    with pytest.raises(TypeError, match=kind.replace("(", r"\(").replace(")", r"\)")):
        attr_value(kind, value)


def test_kinds_that_are_none():
    with pytest.raises(ValueError, match="'number' is no kind of attr"):
        attr_value("number", 1)


def test_messages_of_another_kind():
    with pytest.raises(errors.InvalidArgumentError, match="with type 'int' when 'string' expected"):
        attr_python(attr_value("int", 1), "string")
    with pytest.raises(errors.InvalidArgumentError, match="list of i"):
        attr_python(attr_value("list(int)", [1]), "list(float)")
    with pytest.raises(errors.InvalidArgumentError, match="list of i and f"):
        attr_python(messages.parse_text("list { i: 1 f: 2 }", messages.AttrValue))
    with pytest.raises(errors.InvalidArgumentError, match="unknown dtype 99"):
        attr_python(messages.AttrValue(type=99))
