"""Names for rules that are declared as `def _`: what tracebacks and profilers show is `BiasAdd.kernel`, not `_`.

Both read the name from the code object, so that is what gets it, and the function along with it. A rule that has a name
of its own keeps it; one that serves several ops has that of the first. Knows functions only.
"""

from __future__ import annotations

import sys
from typing import Any, TypeVar

Rule = TypeVar("Rule")


def named(rule: Rule, name: str) -> Rule:
    """Give a function called `_`, and what it wraps, the name `name`; return it."""
    fn: Any = rule
    while fn is not None and getattr(fn, "__name__", None) == "_":
        fn.__name__ = fn.__qualname__ = name
        code = fn.__code__
        fn.__code__ = code.replace(co_name=name, co_qualname=name) if HAS_QUALNAME else code.replace(co_name=name)
        fn = getattr(fn, "__wrapped__", None)
    return rule


HAS_QUALNAME = sys.version_info >= (3, 11)
