"""More small things of TensorFlow's inside: a registry, subscriptions to tensors, timers, readers, watchers.

Each stands by itself on what is public. Imported by nobody: the tables name what is here.
"""

from __future__ import annotations

import bisect
import math
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.core.shape import TensorShape
from ebbflow.core.spec import TensorSpec
from ebbflow.core.tensor import Tensor
from ebbflow.eager.tape import GradientTape
from ebbflow.graph.graph import get_default_graph
from ebbflow.graph.placeholders import placeholder_for
from ebbflow.ops.declare import raw
from ebbflow.platform.gauges import Cell
from ebbflow.state.base import Variable

_DISABLE_LOWER_USING_SWITCH_MERGE = False
_EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE = None


class Registry:
    """Objects by name, each registered once; an error says where the first one was."""

    def __init__(self, name: str):
        self._name = name
        self._held: dict[str, tuple[Any, str]] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Keep an object under its own name, or another."""
        name = name or candidate.__name__
        if name in self._held:
            raise KeyError(
                f"Registering two {self._name} with name '{name}'! (Previous registration was in {self._held[name][1]})"
            )
        frame = traceback.extract_stack(limit=2)[0]
        self._held[name] = candidate, f"{frame.name} {frame.filename}:{frame.lineno}"

    def list(self) -> Any:
        """Return all names."""
        return self._held.keys()

    def lookup(self, name: str) -> Any:
        """Return the object of a name."""
        if name not in self._held:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._held[name][0]


def reduction_axes(x_shape: TensorShape, y_shape: TensorShape) -> tuple[list[int] | None, list[int] | None]:
    """Return the axes over which gradients of two operands of a broadcast are summed; None where that is not known.

    >>> reduction_axes(TensorShape([3, 1]), TensorShape([2]))
    ([1], [0])
    """
    if x_shape.rank is None or y_shape.rank is None:
        return None, None
    rank = max(x_shape.rank, y_shape.rank)
    x, y = ([1] * (rank - s.rank) + s.as_list() for s in (x_shape, y_shape))
    axes: tuple[list[int], list[int]] = ([], [])
    for axis, (a, b) in enumerate(zip(x, y, strict=True)):
        if a == b == 1 or a == b is not None:
            if a == 1:
                axes[0].append(axis)
                axes[1].append(axis)
        elif a == 1:
            axes[0].append(axis)
        elif b == 1:
            axes[1].append(axis)
        elif a is None or b is None:
            return None, None
    return axes


def graph_placeholder(dtype: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return a placeholder of the default graph."""
    return placeholder_for(TensorSpec(shape, dtype), get_default_graph(), name)


# --- metrics of a program ---------------------------------------------------------------------------------------------


class ExponentialBuckets:
    """Limits of buckets that grow by a factor."""

    def __init__(self, scale: float, growth_factor: float, bucket_count: int):
        self.limits = [scale * growth_factor**i for i in range(bucket_count)]

    def number_of(self, value: float) -> int:
        """Return the number of the bucket that a value falls into."""
        return bisect.bisect_right(self.limits, value)


MonitoredTimerSections: list[str] = []
"""The sections that are being timed now."""


class MonitoredTimer:
    """Adds the microseconds of a block to a counter's cell; a section inside one of its name need not count twice."""

    def __init__(self, cell: Cell, monitored_section_name: str | None = None, avoid_repetitive_counting: bool = False):
        self.cell, self._section = cell, monitored_section_name
        self._counts = not (avoid_repetitive_counting and monitored_section_name in MonitoredTimerSections)
        self._start = 0.0

    def __enter__(self) -> MonitoredTimer:
        self._start = time.perf_counter()
        if self._counts and self._section:
            MonitoredTimerSections.append(self._section)
        return self

    def __exit__(self, *error: Any) -> None:
        if not self._counts:
            return
        if self._section:
            MonitoredTimerSections.remove(self._section)
        self.cell.increase_by(math.ceil((time.perf_counter() - self._start) * 1e6))


def monitored_timer(cell: Cell) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the microseconds of each call to a counter's cell."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            with MonitoredTimer(cell):
                return function(*args, **kwargs)

        return timed

    return decorate


class VariableWatcher:
    """Sees which trainable variables are used in a block."""

    def __init__(self) -> None:
        self._tape = GradientTape(persistent=True)

    def __enter__(self) -> VariableWatcher:
        self._tape.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._tape.__exit__(*error)

    def watched_variables(self) -> tuple[Any, ...]:
        """Return the variables, in the order in which they were made."""
        return self._tape.watched_variables()


# --- subscriptions ----------------------------------------------------------------------------------------------------

_SUBSCRIPTION = "subscription"


def is_subscribed_identity(tensor: Any) -> bool:
    """Return whether a tensor is what subscribers of another one made of it."""
    op = getattr(tensor, "op", None)
    if op is None or op.type != "Identity":
        return False
    source = op.inputs[0].op.name
    return bool(op.name.startswith(f"{source}/{_SUBSCRIPTION}/Identity"))


def subscribe(tensors: Any, side_effects: Any) -> Any:
    """Return tensors that run side effects (functions of a tensor) whenever they are computed.

    Whoever takes one of the tensors takes what is returned from then on.
    """
    effects = side_effects if isinstance(side_effects, (list, tuple)) else [side_effects]

    def one(tensor: Any) -> Any:
        if isinstance(tensor, Variable):
            tensor = tensor.value() if not hasattr(tensor, "_snapshot") else tensor._snapshot
        if not isinstance(tensor, Tensor):
            raise TypeError(f"subscribed argument has invalid type {type(tensor).__name__}: {tensor!r}")
        return _subscribed(tensor, effects)

    return nest.map_structure(one, tensors)


def _subscribed(tensor: Any, effects: Sequence[Callable[[Any], Any]]) -> Any:
    if not tensor.dtype.is_numpy_compatible:
        return tensor
    if is_subscribed_identity(tensor):
        made = tensor
    else:
        known = [c.outputs[0] for c in tensor.consumers() if c.outputs and is_subscribed_identity(c.outputs[0])]
        made = known[0] if known else _new_subscription(tensor)
    source = made.op.inputs[0]
    graph = source.graph
    with graph.as_default(), graph.control_dependencies(None), graph.name_scope(f"{source.op.name}/{_SUBSCRIPTION}/"):
        for effect in effects:
            done = effect(source)
            waits = [d if not isinstance(d, Tensor) else d.op for d in nest.flatten(done)]
            made.op._add_control_inputs(waits)
    return made


def _new_subscription(tensor: Any) -> Any:
    """Return another name of a tensor, and give it to all who take the tensor or wait for it."""
    graph, op = tensor.graph, tensor.op
    consumers = [(node, i) for node in tensor.consumers() for i, t in enumerate(node.inputs) if t is tensor]
    waiting = [node for node in graph.get_operations() if op in node.control_inputs]
    with graph.as_default(), graph.control_dependencies(None), graph.name_scope(f"{op.name}/{_SUBSCRIPTION}/"):
        made = raw.Identity(tensor)
    for node, i in consumers:
        node._update_input(i, made)
    for node in waiting:
        kept = [c for c in node.control_inputs if c is not op]
        node._remove_all_control_inputs()
        node._add_control_inputs([*kept, made.op])
    return made
