"""Names under which decorated things are shown, as packages of TensorFlow's time ask for them."""

import sys
import types

import pytest

from ebbflow.platform import decorators as made


def function():
    """Return nothing."""


class First:
    pass


class Heir(First):
    pass


@pytest.fixture
def fresh():
    yield
    for thing in (function, First, Heir):
        for pair in made.ATTRIBUTES.values():
            for attribute in pair:
                if attribute in vars(thing):
                    delattr(thing, attribute)


def test_names_are_kept_on_what_is_inside(fresh):
    wrapped = made.make_decorator(function, lambda: None)
    assert made.tf_export("a", "b", v1=["c"])(wrapped) is wrapped
    assert function._tf_api_names == ("a", "b")
    assert made.get_v1_names(function) == ["c"] and made.get_v2_names(function) == ["a", "b"]
    with pytest.raises(made.SymbolAlreadyExposedError, match="already exposed as"):
        made.tf_export("d")(function)


def test_heirs_have_names_of_their_own(fresh):
    made.tf_export("First")(First)
    made.estimator_export("estimator.Heir")(Heir)
    assert made.get_v1_names(First) == ["First"] and made.get_v1_names(Heir) == ["estimator.Heir"]


def test_another_may_take_the_name(fresh):
    made.tf_export("a")(First)
    made.tf_export("a", overrides=[First])(function)
    assert made.get_v2_names(First) == [] and made.get_v2_names(function) == ["a"]


@pytest.mark.parametrize("refused", [lambda: made.tf_export("estimator.a"), lambda: made.estimator_export("a")])
def test_names_of_another_package(refused):
    with pytest.raises(made.InvalidSymbolNameError, match="estimator"):
        refused()


def test_constants(monkeypatch):
    module = types.ModuleType("of_constants")
    monkeypatch.setitem(sys.modules, "of_constants", module)
    made.tf_export("A", v1=["B"]).export_constant("of_constants", "value")
    assert made.get_v2_constants(module) == [(("A",), "value")]
    assert made.get_v1_constants(module) == [(("B",), "value")]
