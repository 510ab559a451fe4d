"""Choices and loops given as functions of tensors: `If`, `While` and `For` of TensorFlow's `functional_ops`.

The functions (those of `Defun` among them) are called in the branches and bodies of the choices and loops that programs
usually write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import TensorLike
from ebbflow.functions.control_flow.cond import cond as choose
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.ops.declare import raw

Body = Callable[..., Any]


def call_if(
    cond: TensorLike, inputs: Sequence[TensorLike], then_branch: Body, else_branch: Body, name: str | None = None
) -> list[Any]:
    """Return what one of two functions gives for the inputs, as a list.

    >>> [float(x) for x in call_if(True, [2.0], lambda x: x + 1.0, lambda x: x)]
    [3.0]
    """
    given = [convert(x) for x in inputs]
    truth = raw.ToBool(convert(cond))
    branches = (lambda: _results(then_branch(*given)), lambda: _results(else_branch(*given)))
    return _listed(choose(truth, *branches, name=name))


def call_while(
    input_: Sequence[TensorLike], cond: Body, body: Body, name: str | None = None, hostmem: Sequence[int] | None = None
) -> list[Any]:
    """Return what is left when a function has been called on its own results as long as a condition holds.

    >>> [int(x) for x in call_while([0, 1], lambda n, x: n < 5, lambda n, x: (n + 1, x * 2))]
    [5, 32]
    """
    given = [convert(x) for x in input_]
    return _turning(lambda *x: raw.ToBool(cond(*x)), lambda *x: _results(body(*x)), given, name)


def call_for(
    start: TensorLike,
    limit: TensorLike,
    delta: TensorLike,
    inputs: Sequence[TensorLike],
    body: Body,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
    rewrite_with_while: bool | None = None,
) -> list[Any]:
    """Return what is left when a function of a number and its own results was called for each number of a range.

    >>> [int(x) for x in call_for(1, 5, 1, [0], lambda n, x: x + n)]
    [10]
    """
    first, last, step = (convert(x) for x in (start, limit, delta))
    count = raw.Size(raw.Range(first, last, step))
    state = [convert(0), *[convert(x) for x in inputs]]

    def turn(i: Any, *values: Any) -> list[Any]:
        return [i + 1, *_results(body(first + i * step, *values))]

    return _turning(lambda i, *_: i < count, turn, state, name)[1:]


def _turning(cond: Body, body: Body, state: list[Any], name: str | None) -> list[Any]:
    """Return the last state of a loop whose shapes may change: what functions say of them is not known."""
    free = [TensorShape(None) for _ in state]
    return _listed(while_loop(cond, body, state, shape_invariants=free, name=name))


def _results(found: Any) -> list[Any]:
    """Return the tensors that a function gave; one that gives none may give its node."""
    return [x for x in nest.flatten(found) if hasattr(x, "dtype")]


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]
