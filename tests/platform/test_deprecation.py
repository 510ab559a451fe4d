"""What deprecated things say, in documentation and in the log: texts of TensorFlow 2.21."""

import collections
import enum
import types

import pytest

from ebbflow.core import context
from ebbflow.platform import deprecation

DATE, HOW = "2016-07-04", "Do this."
END = "removed after 2016-07-04.\nInstructions for updating:\nDo this."


@pytest.fixture
def logged(monkeypatch):
    """Warnings, without the place that each begins with."""
    found = []
    monkeypatch.setattr(deprecation.logging, "warning", lambda text, *words: found.append(text % words))
    monkeypatch.setattr(deprecation, "_PRINTED_WARNING", {})
    return found


def documented(a, b=1):
    """First line.

    Args:
      a: A.
    """
    return a


def plain(a, b=1):
    return a


@pytest.mark.parametrize(
    "decorate, of, notice",
    [
        (deprecation.deprecated(DATE, HOW), "", "THIS FUNCTION IS DEPRECATED. It will be "),
        (deprecation.deprecated_args(DATE, HOW, "b"), " arguments",
         "SOME ARGUMENTS ARE DEPRECATED: `(b)`. They will be "),
        (deprecation.deprecated_arg_values(DATE, HOW, b="x"), " argument values",
         "SOME ARGUMENT VALUES ARE DEPRECATED: `(b='x')`. They will be "),
    ],
)  # fmt: skip
def test_documentation_has_a_notice(decorate, of, notice):
    text = f"Deprecated: {notice}{END}"
    assert decorate(documented).__doc__ == f"First line. (deprecated{of})\n\n{text}\n\nArgs:\n  a: A."
    assert decorate(plain).__doc__ == f"DEPRECATED FUNCTION{of.upper()}\n\n{text}"
    with pytest.raises(ValueError, match="make sure @property appears before @deprecated"):
        decorate(property(plain))


def test_warnings_name_the_place_the_function_and_the_argument(logged):
    function = deprecation.deprecated_arg_values(DATE, HOW, warn_once=False, b=1)(plain)
    function(1)
    function(1, 2)
    function(1, b=1)
    deprecation.deprecated_args(None, HOW, ("b", 5))(documented)(1, 2)
    assert len(logged) == 3 and logged[0].startswith(f"From {__file__}:")
    assert logged[0].endswith(f": calling plain (from {__name__}) with b=1 is deprecated and will be {END}")
    assert f"calling documented (from {__name__}) with b is deprecated and will be removed in a future" in logged[2]


def test_classes(logged):
    class Made:
        """A class."""

    pair = collections.namedtuple("Pair", "a b")
    colour = enum.Enum("Colour", "RED")
    for kind, make in ((Made, Made), (pair, lambda: pair(1, 2)), (colour, lambda: colour(1))):
        assert deprecation.deprecated(DATE, HOW)(kind) is kind and kind.__doc__.endswith(END)
        make(), make()
    assert [line.split(": ")[1].split(" (")[0] for line in logged] == [
        "object.__init__",
        "Pair.__new__",
        "Enum.__new__",
    ]


def test_aliases_and_moved_modules(logged):
    class Kind:
        def __init__(self, x):
            self.x = x

    alias = deprecation.deprecated_alias("old.Kind", "new.Kind", Kind)
    assert alias(3).x == 3 and isinstance(alias(4), Kind)
    deprecation.deprecated_alias("old.f", "new.f", plain)(1)
    words = [line.split(": ", 1)[1] for line in logged]
    assert words == [f"The name old.{n} is deprecated. Please use new.{n} instead.\n" for n in ("Kind", "f")]
    moved = types.ModuleType("new_home")
    moved.x = 5
    get = deprecation.deprecate_moved_module("old_home", moved, "2.9")
    assert get("x") == get("x") == 5 and len(logged) == 3
    assert "Module old_home has been moved to new_home. The old module will be deleted in version 2.9." in logged[2]


def test_endpoints_are_said_once():
    function = deprecation.deprecated_endpoints("a")(lambda: 1)
    with pytest.raises(deprecation.DeprecatedNamesAlreadySetError, match=r"already set to \('a',\)"):
        deprecation.deprecated_endpoints("b")(function)


def test_strict_mode_refuses(monkeypatch):
    monkeypatch.setattr(deprecation, "_STRICT", False)
    function = deprecation.deprecated(DATE, HOW)(plain)
    assert function(1) == 1
    deprecation.enable_strict_mode()
    with pytest.raises(RuntimeError, match="strict mode"):
        function(1)


def test_the_notice_of_tensorflow_1_is_a_warning(monkeypatch):
    monkeypatch.setattr(context.switches, "tf1", True)
    fn = deprecation.deprecated("2020-01-01", "Use b.")(lambda: None)
    assert fn.__doc__.startswith(
        "DEPRECATED FUNCTION\n\nWarning: THIS FUNCTION IS DEPRECATED. It will be removed after"
    )
