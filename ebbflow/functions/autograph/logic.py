"""`and`, `or`, `not` and `assert` on tensors; on anything else they are Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.functions.autograph.conditionals import if_exp
from ebbflow.functions.autograph.effortless import is_effortless
from ebbflow.functions.autograph.values import condition, is_staged
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw


def and_(first: Any, *rest: Callable[[], Any]) -> Any:
    """Return the first operand that does not hold, else the last; later ones are computed only where needed.

    >>> and_(1, lambda: 0, lambda: 1 / 0)
    0
    """
    return _chain(first, rest, lambda holds: not holds, raw.LogicalAnd, lambda a, b: if_exp(a, b, lambda: a))


def or_(first: Any, *rest: Callable[[], Any]) -> Any:
    """Return the first operand that holds, else the last; later ones are computed only where needed.

    >>> or_(0, lambda: "a", lambda: 1 / 0)
    'a'
    """
    return _chain(first, rest, bool, raw.LogicalOr, lambda a, b: if_exp(a, lambda: a, b))


def _chain(first: Any, rest: Any, decides: Any, together: Any, choose: Any) -> Any:
    if not rest:
        return first
    later, more = rest[0], rest[1:]
    if not is_staged(first):
        return first if decides(first) else _chain(later(), more, decides, together, choose)
    tensor = convert(first)
    if tensor.dtype.base_dtype is dtypes.bool and is_effortless(later.__code__):
        return _chain(together(tensor, later()), more, decides, together, choose)
    return choose(tensor, lambda: _chain(later(), more, decides, together, choose))


def not_(value: Any) -> Any:
    """Return whether a value does not hold.

    >>> not_([])
    True
    """
    return raw.LogicalNot(value) if is_staged(value) else not value


def assert_(test: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise AssertionError unless `test` holds; on a tensor, check it when the graph runs."""
    if is_staged(test):
        said = "Assertion error" if message is None else message()
        Assert(condition(test, "assert statement"), [*said] if isinstance(said, (tuple, list)) else [said])
    elif not test:
        raise AssertionError(*([] if message is None else [message()]))
