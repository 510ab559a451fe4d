"""Calls of `HParams`, run on whichever is given: on TensorFlow 1.15 by the recorder, on Ebbflow by the test."""

from __future__ import annotations

from typing import Any

TEXTS = [
    "i=3", "f=3", "f=1e3", "i=1e3", "i=2.0", "i=2.5", "i=1e-1", "s=hello world", "s=a b,i=2", "b=true", "b=False", "b=1",
    "b=0", "b=yes", "l=[3,4,5]", "l=3", "lf=[1,2]", "ls=[a,b c]", "l[1]=7", "l[5]=7", "i[0]=3", "zz=1", "i", "i=", "s=",
    "f=x", "i=3,i=4", "l=[1,2],l[0]=2", " i = 3 ", "i=3,", "s=a=b", "s=[a]", "l=[]", "lf=[1,x]", "i=-3", "f=-1.5e-3",
    "ls[0]=q", "ls[1]=a b,i=3", "i=True", "lb=[1]",
]  # fmt: skip
CALLS = {
    "json": lambda h: h.to_json(sort_keys=True),
    "indented": lambda h: h.to_json(indent=1, sort_keys=True),
    "str": str,
    "repr": repr,
    "get": lambda h: h.get("i"),
    "get missing": lambda h: h.get("q"),
    "get default": lambda h: h.get("q", 5),
    "get of another type": lambda h: h.get("i", "x"),
    "get one for a list": lambda h: h.get("l", 1),
    "get list of another type": lambda h: h.get("l", [1.5]),
    "get int for float": lambda h: h.get("f", 1),
    "in": lambda h: ("i" in h, "q" in h),
    "add twice": lambda h: h.add_hparam("i", 2),
    "add a method": lambda h: h.add_hparam("parse", 2),
    "add nothing": lambda h: h.add_hparam("e", []),
    "set float for int": lambda h: h.set_hparam("i", 2.0),
    "set text for int": lambda h: h.set_hparam("i", "x"),
    "set one for a list": lambda h: h.set_hparam("l", 3),
    "set a list for one": lambda h: h.set_hparam("i", [3]),
    "set int for float": lambda h: (h.set_hparam("f", 3), h.f),
    "set int for text": lambda h: h.set_hparam("s", 3),
    "set int for bool": lambda h: h.set_hparam("b", 1),
    "set text for bool": lambda h: h.set_hparam("b", "x"),
    "set missing": lambda h: h.set_hparam("nope", 1),
    "override": lambda h: sorted(h.override_from_dict({"i": 5, "f": 7}).values().items()),
    "override missing": lambda h: h.override_from_dict({"q": 1}),
    "override list": lambda h: h.override_from_dict({"l": [1.5]}),
    "delete": lambda h: (h.del_hparam("i"), h.del_hparam("i"), "i" in h),
    "parse json": lambda h: sorted(h.parse_json('{"f": 9, "l": [1]}').values().items()),
    "parse json missing": lambda h: h.parse_json('{"zz": 9}'),
    "structure": lambda h: (h.set_model_structure(5), h.get_model_structure()),
}


def answers(hparams: Any) -> dict[str, str]:
    """Return what each call gives, or the error it raises, as text."""
    told = {}
    for name, call in {**{text: _parse(text) for text in TEXTS}, **CALLS}.items():
        fresh = hparams(i=1, f=2.5, s="abc", b=True, l=[1, 2], lf=[1.0, 2.0], ls=["x", "y"])
        try:
            told[name] = repr(call(fresh))
        except Exception as error:
            told[name] = f"{type(error).__name__}: {error}"
    return told


def _parse(text: str) -> Any:
    return lambda h: sorted(h.parse(text).values().items())
