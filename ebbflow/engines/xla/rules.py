"""What the engine knows of each op: how it is said in jax, and which inputs must be known beforehand.

A rule is made by `@lowering("Pad")` over a function `fn(jnp, *inputs, **attrs it names)`; ops whose own kernel serves
need none. Some ops (loops, lists) are declared in rooms above this one, so rules are kept by name, and completed with
the op's facts when it is met. jax is not needed for that.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ebbflow.core.facts import Facts
from ebbflow.core.registry import registry
from ebbflow.core.rule_names import named

_FAMILIES = "array control conv index lists math matrix nn pool random scan state"
FILES = ("portable", *(f"lowerings_{name}" for name in _FAMILIES.split()))


@dataclass(frozen=True)
class Rule:
    """How one op is lowered."""

    fn: Callable[..., Any] | None = None  # None: the op's own kernel, called with jax.numpy
    takes: tuple[str, ...] = ()  # attrs the function names; `attrs` stands for all, `trace` for the trace itself
    needs: frozenset[str] = frozenset()  # inputs whose values must be known when compiling
    keeps: frozenset[str] = frozenset()  # inputs handed over as NumPy arrays where they are known
    loses: Any = None  # which complaint of the host's kernel is not heard any more: words, or a function of the attrs
    state: bool = False  # works on variables
    variants: bool = False  # takes or gives lists of tensors


RULES: dict[str, Callable[[Facts], Rule]] = {}
"""By op: the rule, given what is known of the op anyway."""


def lowering(
    *names: str, may_vary: str = "", keeps: str = "", loses: Any = None, state: bool = False, variants: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare how the ops named are said in jax.

    Inputs that must be known are a fact of the op; those that `may_vary` need not be known here.
    """

    def declare(fn: Callable[..., Any]) -> Callable[..., Any]:
        how = _given(fn, keywords(fn), may_vary, keeps, loses, state, variants)
        RULES.update(dict.fromkeys(names, how))
        return named(fn, f"{names[0]}.xla")

    return declare


def portable(*names: str, loses: Any) -> None:
    """Declare what the kernels of the ops named, which serve jax.numpy too, find out on the host only."""
    RULES.update(dict.fromkeys(names, _given(None, (), loses=loses)))


def _given(
    fn: Any,
    takes: Any,
    may_vary: str = "",
    keeps: str = "",
    loses: Any = None,
    state: bool = False,
    variants: bool = False,
) -> Callable[[Facts], Rule]:
    def rule(facts: Facts) -> Rule:
        known = frozenset((*facts.known, *facts.sizes))
        unheard = f"whether {facts.in_range.replace('_', ' ')} are in range" if facts.in_range else None
        needs = known.difference(may_vary.split())
        return Rule(fn, takes, needs, known.union(keeps.split()), loses or unheard, state, variants)

    return rule


_OWN_KERNEL = _given(None, ())


def keywords(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Return the keyword-only arguments of a function."""
    found = inspect.signature(fn).parameters.values()
    return tuple(p.name for p in found if p.kind is inspect.Parameter.KEYWORD_ONLY)


@functools.cache
def _loaded() -> dict[str, Callable[[Facts], Rule]]:
    for name in FILES:
        importlib.import_module(f"ebbflow.engines.xla.{name}")
    return RULES


def lost(rule: Rule, attrs: dict[str, Any]) -> str | None:
    """Return which complaint is not heard any more where an op with these attrs is compiled."""
    return rule.loses(attrs) if callable(rule.loses) else rule.loses


def rule_for(op: Any) -> Rule | None:
    """Return the rule of an op: what its declaration says with `Op.xla`, one of ours, or its own kernel."""
    if op.lowering_fn is not None:
        return Rule(op.lowering_fn, op.lowering_attrs)
    return _of_ours(op)


@functools.cache
def _of_ours(op: Any) -> Rule | None:
    facts = op.facts
    how = _loaded().get(op.name)
    if how is None and (facts.portable or (facts.elementwise and not facts.host)):
        how = _OWN_KERNEL
    return None if how is None else how(facts)


def everything() -> dict[str, Rule]:
    """Return the rules of all ops there are, by name."""
    found = {name: rule_for(op) for name, op in registry.declare_all().items()}
    return {name: rule for name, rule in found.items() if rule is not None}
