"""Tests that are run once for each combination of some parameters: modes, kinds of models, optimizers.

    @generate(times(combine(mode=["graph", "eager"]), combine(size=[1, 10])))
    def test_something(self, size): ...

A `TestCombination` says around what a combination's test runs, and which parameters the test itself is not given. Knows
`unittest`; single methods are spread over a class by `absl.testing.parameterized`, whose classes they stand in.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context
from ebbflow.graph.graph import Graph
from ebbflow.platform.decorators import getfullargspec
from ebbflow.platform.early_eager import eager_mode, graph_mode

Combination = dict[str, Any]


class TestCombination:
    """What holds for tests of some combinations."""

    __test__ = False  # pytest: this is no test

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        """Return whether a combination can be run here, and if not, why."""
        return True, None

    def parameter_modifiers(self) -> list[Any]:
        """Return what changes the parameters before the test is given them."""
        return []

    def context_managers(self, kwargs: Combination) -> list[Any]:
        """Return what the test runs inside of."""
        return []


class ParameterModifier:
    """Changes parameters before a test is given them; those of one kind and name count as one."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: str | None = None):
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs: Combination, requested_parameters: Sequence[str]) -> Combination:
        """Return new values of some parameters."""
        return {}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._parameter_name == getattr(other, "_parameter_name", None)

    def __hash__(self) -> int:
        return hash((type(self), self._parameter_name))


class OptionalParameter(ParameterModifier):
    """A parameter that a test may take or leave."""

    def modified_arguments(self, kwargs: Combination, requested_parameters: Sequence[str]) -> Combination:
        """Leave the parameter out where the test does not ask for it."""
        if self._parameter_name in requested_parameters or self._parameter_name is None:
            return {}
        return {self._parameter_name: ParameterModifier.DO_NOT_PASS_TO_THE_TEST}


class NamedObject:
    """An object with the name that it gives a test."""

    def __init__(self, name: str, obj: Any):
        self._name, self._obj = name, obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __iter__(self) -> Any:
        return iter(self._obj)

    def __repr__(self) -> str:
        return self._name


class EagerGraphCombination(TestCombination):
    """Runs a test with `mode="eager"` or `mode="graph"` in that mode."""

    def context_managers(self, kwargs: Combination) -> list[Any]:
        """Return the mode."""
        mode = kwargs.pop("mode", None)
        if mode is None:
            return []
        if mode not in ("eager", "graph"):
            raise ValueError(f"Argument 'mode' must be either 'eager' or 'graph'. Received: {mode}.")
        return [eager_mode()] if mode == "eager" else [Graph().as_default(), graph_mode()]

    def parameter_modifiers(self) -> list[Any]:
        """Tests need not take `mode`."""
        return [OptionalParameter("mode")]


class TFVersionCombination(TestCombination):
    """Leaves out combinations that say `tf_api_version=` of the era that does not hold."""

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        """Return whether the era is the one that holds."""
        asked = kwargs.pop("tf_api_version", None)
        if asked is None or (asked == 2) is context.switches.v2_behavior:
            return True, None
        return False, f"Skipping a TF{asked} test when TF{3 - asked} is enabled."

    def parameter_modifiers(self) -> list[Any]:
        """Tests need not take `tf_api_version`."""
        return [OptionalParameter("tf_api_version")]


# --- combinations -----------------------------------------------------------------------------------------------------


def combine(**kwargs: Any) -> list[Combination]:
    """Return all combinations of the values that each parameter may have.

    >>> [dict(c) for c in combine(a=[1, 2], b="x")]
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'x'}]
    """
    names = sorted(kwargs)
    values = [kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]] for name in names]
    return [OrderedDict(zip(names, chosen, strict=True)) for chosen in itertools.product(*values)]


def times(*combined: list[Combination]) -> list[Combination]:
    """Return each combination of one list together with each of the others."""
    products: list[Combination] = []
    for chosen in itertools.product(*combined):
        names = [name for one in chosen for name in one]
        if len(set(names)) != len(names):
            raise ValueError(f"Keys need to not overlap: {[sorted(one) for one in chosen]}")
        products.append(OrderedDict((name, value) for one in chosen for name, value in one.items()))
    return products


def keywords_to_str(combination: Combination) -> str:
    """Return what the test of a combination is called."""
    return "".join(
        f"_{_letters(name)}_{_letters(_shown(value, i))}" for i, (name, value) in enumerate(combination.items())
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _shown(value: Any, index: int) -> str:
    """Return a value's name: the same in every process, so no addresses."""
    name = getattr(value, "_name", None) or getattr(value, "__name__", None) or str(value)
    return str(index) if " at 0x" in name or name == "<lambda>" else name


# --- tests ------------------------------------------------------------------------------------------------------------


def generate(combinations: list[Combination], test_combinations: Sequence[TestCombination] = ()) -> Any:
    """Return a decorator that makes of a test, or of each test of a class, one for each combination."""
    named = [(f"_test{keywords_to_str(one)}", one) for one in combinations]

    def decorate(test_method_or_class: Any) -> Any:
        if not isinstance(test_method_or_class, type):
            from absl.testing import parameterized  # only tests need it

            rows = [{**one, "testcase_name": name} for name, one in named]
            return parameterized.named_parameters(*rows)(_around(test_method_or_class, test_combinations))
        cls = test_method_or_class
        for method, test in list(vars(cls).items()):
            if method.startswith("test") and isinstance(test, types.FunctionType):
                delattr(cls, method)
                for name, one in named:
                    setattr(cls, method + name, _with(_around(test, test_combinations), one, method + name))
        return cls

    return decorate


def _with(test: Callable[..., None], combination: Combination, name: str) -> Callable[..., None]:
    given = {key: value for key, value in combination.items() if key != "testcase_name"}  # that was for the name alone

    def run(self: Any) -> None:
        test(self, **given)

    run.__name__ = name
    run.__doc__ = test.__doc__
    return run


def _around(test: Callable[..., None], test_combinations: Sequence[TestCombination]) -> Callable[..., None]:
    """Return a test that takes a whole combination, and runs inside of what belongs to it."""

    @functools.wraps(test)
    def run(self: Any, **kwargs: Any) -> None:
        answers = [one.should_execute_combination(dict(kwargs)) for one in test_combinations]
        reasons = [f" - {reason}" for runs, reason in answers if not runs]
        if reasons:
            self.skipTest("\n".join(reasons))
        with contextlib.ExitStack() as stack:
            for one in test_combinations:
                for manager in one.context_managers(dict(kwargs)):
                    stack.enter_context(manager)
            test(self, **_fitting(test, kwargs, test_combinations))

    del run.__wrapped__  # it takes any keyword, not those of the test
    return run


def _fitting(test: Any, kwargs: Combination, test_combinations: Sequence[TestCombination]) -> Combination:
    """Return the parameters that a test is given."""
    spec = getfullargspec(test)
    modifiers = {modifier: None for one in test_combinations for modifier in one.parameter_modifiers()}
    passed = dict(kwargs)
    for modifier in modifiers:
        for name, value in modifier.modified_arguments(dict(kwargs), spec.args).items():
            if value is ParameterModifier.DO_NOT_PASS_TO_THE_TEST:
                passed.pop(name, None)
            else:
                passed[name] = value
    if spec.varkw is None:
        asked = set(spec.args[1:] if spec.args[:1] == ["self"] else spec.args)
        defaults = set(spec.args[len(spec.args) - len(spec.defaults or ()) :])
        if asked - defaults - set(passed):
            raise ValueError(f"The test requires parameters whose arguments were not passed: {asked - set(passed)}.")
        if set(passed) - asked:
            raise ValueError(f"The test does not take parameters that were passed: {set(passed) - asked}.")
    return passed


generate_here = functools.partial(generate, test_combinations=(EagerGraphCombination(), TFVersionCombination()))
"""What `tensorflow.python.framework.combinations` calls `generate`: it knows the modes and the eras."""


def in_all_modes(**kwargs: Any) -> list[Combination]:
    """Return all combinations, each in a graph and eagerly."""
    return combine(mode=["graph", "eager"], **kwargs)
