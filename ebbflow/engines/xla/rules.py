"""What the engine knows of each op by name: how it is said in jax, and which inputs must be known beforehand.

A rule is made by `@lowering("Pad", needs="paddings")` over a function `fn(jnp, *inputs, **attrs it names)`, or by a row
of `portable`, for ops whose own kernel serves. Some ops (loops, lists) are declared in rooms above this one, so rules
are kept by name. `everything()` loads the files that hold them; jax is not needed for that.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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


RULES: dict[str, Rule] = {}


def lowering(
    *names: str, needs: str = "", keeps: str = "", loses: Any = None, state: bool = False, variants: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare how the ops named are said in jax."""

    def declare(fn: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            RULES[name] = _rule(fn, keywords(fn), needs, keeps, loses, state, variants)
        return named(fn, f"{names[0]}.xla")

    return declare


def portable(*names: str, needs: str = "", keeps: str = "", loses: Any = None, state: bool = False) -> None:
    """Declare that the kernels of the ops named serve jax.numpy too."""
    for name in names:
        RULES[name] = _rule(None, (), needs, keeps, loses, state, False)


def _rule(fn: Any, takes: Any, needs: str, keeps: str, loses: Any, state: bool, variants: bool) -> Rule:
    known = frozenset(needs.split())
    return Rule(fn, takes, known, known | frozenset(keeps.split()), loses, state, variants)


def keywords(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Return the keyword-only arguments of a function."""
    found = inspect.signature(fn).parameters.values()
    return tuple(p.name for p in found if p.kind is inspect.Parameter.KEYWORD_ONLY)


@functools.cache
def everything() -> dict[str, Rule]:
    """Return all rules by op name."""
    for name in FILES:
        importlib.import_module(f"ebbflow.engines.xla.{name}")
    return RULES


def lost(rule: Rule, attrs: dict[str, Any]) -> str | None:
    """Return which complaint is not heard any more where an op with these attrs is compiled."""
    return rule.loses(attrs) if callable(rule.loses) else rule.loses


def rule_for(op: Any) -> Rule | None:
    """Return the rule of an op: one of ours, or what its declaration says with `Op.xla`."""
    if op.lowering_fn is not None:
        return Rule(op.lowering_fn, op.lowering_attrs)
    return everything().get(op.name)
