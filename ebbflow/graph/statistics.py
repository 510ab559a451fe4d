"""What programs have registered to count for ops: floating-point operations, say (`ops.RegisterStatistics`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core.typing import Message

_counters: dict[tuple[str, str], Callable[[Any, Any], OpStats]] = {}


class OpStats:
    """A number of one kind; nothing yet, or nothing known, is None.

    >>> total = OpStats("flops")
    >>> total += OpStats("flops", 3)
    >>> total.value
    3
    """

    __slots__ = ("_kind", "_value")

    def __init__(self, statistic_type: str, value: float | None = None):
        self._kind = statistic_type
        self.value = value

    @property
    def statistic_type(self) -> str:
        return self._kind

    @property
    def value(self) -> float | None:
        return self._value

    @value.setter
    def value(self, value: float | None) -> None:
        self._value = value

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self._kind:
            raise ValueError(f"Can't add an OpStat of type {self._kind} to one of {other.statistic_type}.")
        if other.value is not None:
            self._value = other.value if self._value is None else self._value + other.value
        return self


class RegisterStatistics:
    """`@RegisterStatistics("MatMul", "flops")`: the function below counts that for a node: of (graph, NodeDef)."""

    def __init__(self, op_type: str, statistic_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, f: Callable[[Any, Any], OpStats]) -> Callable[[Any, Any], OpStats]:
        if self._key in _counters:
            raise KeyError(f"Registering two statistics with name '{','.join(self._key)}'!")
        _counters[self._key] = f
        return f


def get_stats_for_node_def(graph: Any, node: Message, statistic_type: str) -> OpStats:
    """Return what is counted for a node; a number of None where nothing is registered."""
    counter = _counters.get((node.op, statistic_type))
    return OpStats(statistic_type) if counter is None else counter(graph, node)
