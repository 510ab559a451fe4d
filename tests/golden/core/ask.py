"""Asking a library the small questions of the core vocabulary: shared by the recorder and by the tests.

A question is a Python expression over a namespace (`TensorShape`, `nest`, ...) that the library under test fills. The
answer is what it gives or raises, written so that two libraries, and two versions of NumPy, can be compared. Runs on
Python 3.7, for TensorFlow 1.15.
"""

import collections
import collections.abc
import dataclasses
import json
import pathlib
import re
import types

import numpy as np


def ask(question, namespace):
    """Return `["is", text]` or `["raises", class name, message]`; of a question that starts with `~`, no message."""
    loosely = question.startswith("~")
    try:
        value = eval(question.lstrip("~ "), dict(namespace))
    except Exception as error:
        return ["raises", type(error).__name__, None if loosely else plain(str(error))]
    return ["is", shown(value)]


def shown(value):
    """`value` as text: its repr, then its str where that says more."""
    if isinstance(value, np.bool_):
        return repr(bool(value))
    if isinstance(value, np.generic):
        return f"{value.dtype.name} {value}"
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        inside = ", ".join(map(shown, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    representation, text = plain(repr(value)), plain(str(value))
    return representation if text in (representation, "") or isinstance(value, str) else f"{representation} | {text}"


def plain(text):
    """`text` without what differs between libraries: modules of classes, addresses."""
    text = re.sub(r"<class '(?:[\w<>]+\.)*(\w+)'>", r"<class \1>", text)
    text = text.replace("<class object_>", "<class object>")  # NumPy's or Python's: TensorFlow has both
    text = re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"<function \1>", text)
    return re.sub(r" at 0x[0-9a-f]+", "", text)


DTYPE_FACTS = (
    "name as_numpy_dtype as_datatype_enum base_dtype real_dtype size is_bool is_floating is_complex is_integer "
    "is_quantized is_unsigned is_numeric is_numpy_compatible limits min max _is_ref_dtype _as_ref"
).split()


def facts(dtype):
    """Everything a dtype says of itself, by attribute (of NumPy only where NumPy knows such elements)."""
    known = DTYPE_FACTS if dtype.is_numpy_compatible else set(DTYPE_FACTS) - {"as_numpy_dtype", "limits"}
    return {fact: ask(f"dtype.{fact}", {"dtype": dtype}) for fact in DTYPE_FACTS if fact in known}


def containers(composite_tensor, type_spec):
    """The containers that questions about nested structures use, on a library's own composite classes."""
    Point = collections.namedtuple("Point", "x y")

    class SubPoint(Point):
        __slots__ = ()

    class MyMapping(collections.abc.Mapping):
        def __init__(self, items):
            self.items_ = dict(items)

        def __getitem__(self, key):
            return self.items_[key]

        def __iter__(self):
            return iter(self.items_)

        def __len__(self):
            return len(self.items_)

        def __repr__(self):
            return f"MyMapping({self.items_})"

    class TwoArgumentMapping(MyMapping):
        def __init__(self, first, items):
            super().__init__(items)

    class MySequence(collections.abc.Sequence):
        def __init__(self, items):
            self.items_ = list(items)

        def __getitem__(self, index):
            return self.items_[index]

        def __len__(self):
            return len(self.items_)

        def __repr__(self):
            return f"MySequence({self.items_})"

    class MyList(list):
        def __repr__(self):
            return f"MyList({list(self)})"

    class MyTuple(tuple):
        def __repr__(self):
            return f"MyTuple({list(self)})"

    class MyDict(dict):
        def __repr__(self):
            return f"MyDict({dict(self)})"

    class MyStr(str):
        pass

    class Attrs:  # what `attrs` makes of a class, as far as anybody looks
        __attrs_attrs__ = (types.SimpleNamespace(name="x"), types.SimpleNamespace(name="y"))

        def __init__(self, x, y):
            self.x, self.y = x, y

        def __repr__(self):
            return f"Attrs({self.x!r}, {self.y!r})"

    @dataclasses.dataclass
    class PlainData:
        x: object
        y: object

        def __repr__(self):
            return f"{type(self).__name__}({self.x!r}, {self.y!r})"

    @dataclasses.dataclass(repr=False)
    class Data(PlainData):
        def __tf_flatten__(self):
            return (), (self.x, self.y)

        @classmethod
        def __tf_unflatten__(cls, metadata, components):
            return cls(*components)

    @dataclasses.dataclass(repr=False)
    class MetaData(PlainData):
        def __tf_flatten__(self):
            return (self.y,), (self.x,)

        @classmethod
        def __tf_unflatten__(cls, metadata, components):
            return cls(*components, *metadata)

    class Flattenable:
        def __init__(self, x):
            self.x = x

        def __repr__(self):
            return f"Flattenable({self.x!r})"

        def __tf_flatten__(self):
            return (), (self.x,)

        @classmethod
        def __tf_unflatten__(cls, metadata, components):
            return cls(*components)

    class Spec(type_spec):
        def __init__(self, a, b):
            self.a, self.b = a, b

        value_type = property(lambda self: Composite)
        _component_specs = property(lambda self: (self.a, self.b))

        def _serialize(self):
            return (self.a, self.b)

        def _to_components(self, value):
            return (value.a, value.b)

        def _from_components(self, components):
            return self.value_type(*components)

        def __eq__(self, other):
            return type(other) is type(self) and other._serialize() == self._serialize()

        __hash__ = object.__hash__

        def __repr__(self):
            return f"{type(self).__name__}({self.a!r}, {self.b!r})"

    class OtherSpec(Spec):
        value_type = property(lambda self: Other)

    class Composite(composite_tensor):
        def __init__(self, a, b):
            self.a, self.b = a, b

        def __repr__(self):
            return f"{type(self).__name__}({self.a!r}, {self.b!r})"

        @property
        def _type_spec(self):
            return (Spec if type(self) is Composite else OtherSpec)(spec_of(self.a), spec_of(self.b))

        def _shape_invariant_to_type_spec(self, shape):
            return self._type_spec

    class Other(Composite):
        pass

    def spec_of(value):
        if isinstance(value, list):
            return [spec_of(each) for each in value]
        return value._type_spec if isinstance(value, Composite) else "leaf"

    return {
        **{
            name: getattr(collections, name) for name in ("OrderedDict", "defaultdict", "deque", "UserDict", "UserList")
        },
        **{"np": np, "Point": Point, "Point2": collections.namedtuple("Point2", "x y")},
        **{"SamePoint": collections.namedtuple("Point", "x y"), "SubPoint": SubPoint},
        **{"MyMapping": MyMapping, "TwoArgumentMapping": TwoArgumentMapping, "MySequence": MySequence},
        **{"MyList": MyList, "MyTuple": MyTuple, "MyDict": MyDict, "MyStr": MyStr, "Attrs": Attrs},
        **{"PlainData": PlainData, "Data": Data, "MetaData": MetaData, "Flattenable": Flattenable},
        **{"Composite": Composite, "Other": Other},
    }


def golden(name):
    """The recorded rows `(question, answer)` of `NAME.json`, which stands beside this file."""
    rows = json.loads((pathlib.Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))["answers"]
    return [(question, answer) for question, *answer in rows]
