"""What has been worked out about a body, kept with it: a field for each kind of thing, and who fills it.

All of it follows from the body, so a body with other results (`FuncGraph.with_outputs`) starts with nothing. What
depends on the nodes alone is kept with the original (`FuncGraph.base`), where those made from it find it too. Knows
nothing of how any of it is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ebbflow.functions.backward import BackwardFunction
    from ebbflow.functions.func_graph import FuncGraph


@dataclass
class Derived:
    """What has been worked out about one body."""

    # filled by `backward`
    forwards: dict[tuple[tuple[bool, ...], bool], FuncGraph] = field(default_factory=dict)
    """The body with what gradients need among its results, by (arguments wanted, whether of any order)."""
    backwards: dict[tuple[tuple[int, ...], tuple[bool, ...]], BackwardFunction | None] = field(default_factory=dict)
    """Backward functions, by (ids of the results, arguments wanted); with the original."""

    # filled by `call`
    differentiable_inputs: list[bool] | None = None
    extended: dict[tuple[int, ...], FuncGraph] = field(default_factory=dict)
    """The body with further tensors of it among its results, by their ids."""
    handed_over: dict[int, list[Any]] = field(default_factory=dict)
    """Where a call has what a backward function takes (its number among inputs and outputs), by the function's id."""

    # filled by `func_graph`
    carried: dict[int, Any] = field(default_factory=dict)
    """What arguments carry in from outside, by their ids: complete where there are as many as captures."""
    shortened: dict[int, FuncGraph] = field(default_factory=dict)
    """The function of the first arguments, by their number."""

    # filled by `control_flow.loop_edits`, of the body of a loop
    counter: int | None = None
    """The number of the loop variable that was added to count the iterations."""
    accumulated: dict[int, tuple[Any, int]] = field(default_factory=dict)
    """Tensors that are pushed onto a list, each with the number of the list among the loop variables; by id."""

    # filled by `control_flow.while_gradient`, of the body of a loop
    sizes: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """What the body says of the shapes of its tensors, by (op, id of the tensor, attrs); with the original."""

    # filled by `vectorize.whole_blocks`
    stacked: FuncGraph | str | None = None
    """The function of many rows at once, or why there is none."""

    # filled by `data.calls`
    for_elements: Any = None
    """What matters where elements of a dataset are computed by the body."""
