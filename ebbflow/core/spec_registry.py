"""The names that types of values have in files: `tf.TensorSpec` and those of programs' own classes.

Knows classes and names only; each spec registers itself where it is declared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from ebbflow.core.composite import TypeSpec

_NAME = re.compile(r"^(\w+\.)+\w+$")
_NAME_TO_TYPE_SPEC: dict[str, type] = {}
_TYPE_SPEC_TO_NAME: dict[type, str] = {}

Spec = TypeVar("Spec", bound=type)


def register(name: str) -> Callable[[Spec], Spec]:
    """Return a decorator that gives a TypeSpec class its name in files: a project's name, a dot, the class's."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if not _NAME.match(name):
        raise ValueError(
            "Registered name must have the form '{project_name}.{type_name}' "
            f"(e.g. 'my_project.MyTypeSpec'); got {name!r}."
        )

    def enter(cls: Spec) -> Spec:
        if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
            raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
        if cls in _TYPE_SPEC_TO_NAME:
            where = f"{cls.__module__}.{cls.__name__}"
            raise ValueError(f"Class {where} has already been registered with name {_TYPE_SPEC_TO_NAME[cls]}.")
        other: Any = _NAME_TO_TYPE_SPEC.get(name)
        if other is not None and (other.__module__, other.__qualname__) == (cls.__module__, cls.__qualname__):
            del _TYPE_SPEC_TO_NAME[other]  # the same class, declared again, as in a notebook
        elif other is not None:
            raise ValueError(f"Name {name} has already been registered for class {other.__module__}.{other.__name__}.")
        _NAME_TO_TYPE_SPEC[name], _TYPE_SPEC_TO_NAME[cls] = cls, name
        return cls

    return enter


def get_name(cls: type) -> str:
    """Return the name of a registered class."""
    if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
    if cls not in _TYPE_SPEC_TO_NAME:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
    return _TYPE_SPEC_TO_NAME[cls]


def lookup(name: str) -> type:
    """Return the class that was registered with a name."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if name not in _NAME_TO_TYPE_SPEC:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _NAME_TO_TYPE_SPEC[name]
