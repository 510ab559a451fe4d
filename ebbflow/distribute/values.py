"""Values that a strategy keeps one of for each replica."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import nest
from ebbflow.core.composite import CompositeTensor, TypeSpec
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.spec import type_spec_from_value


class DistributedValues:
    """One value for each replica."""

    def __init__(self, values: Sequence[Any]):
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        """The value of each replica, in the order of replicas."""
        return self._values

    @property
    def _primary(self) -> Any:
        return self._values[0]

    def __repr__(self) -> str:
        lines = ",\n".join(f"  {i}: {value!r}" for i, value in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{lines}\n}}"


class PerReplica(DistributedValues, CompositeTensor):
    """Values that differ from replica to replica."""

    @property
    def _type_spec(self) -> PerReplicaSpec:
        return PerReplicaSpec(*(type_spec_from_value(value) for value in self._values))


class Mirrored(DistributedValues):
    """Values that are the same on all replicas."""


class PerReplicaSpec(TypeSpec):
    """The type of a value for each replica: the type of each."""

    __slots__ = ("_value_specs",)

    def __init__(self, *value_specs: Any):
        self._value_specs = tuple(value_specs)

    @property
    def value_type(self) -> type:
        return PerReplica

    @property
    def _component_specs(self) -> Any:
        return self._value_specs

    def _to_components(self, value: Any) -> Any:
        return tuple(value.values)

    def _from_components(self, components: Any) -> PerReplica:
        return PerReplica(tuple(components))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerReplicaSpec) and self._value_specs == other._value_specs

    def __hash__(self) -> int:
        return hash(self._value_specs)

    def __repr__(self) -> str:
        return f"PerReplicaSpec({', '.join(map(repr, self._value_specs))})"


def local_results(value: Any) -> tuple[Any, ...]:
    """Return the value of each replica as a tuple; of a value that is not distributed, itself alone."""
    return value.values if isinstance(value, DistributedValues) else (value,)


def value_of_replica(value: Any, replica: int) -> Any:
    """Return what one replica sees of a value."""
    return value.values[replica] if isinstance(value, DistributedValues) else value


def refuse_rows(method: str, value: Any) -> None:
    """Refuse values of some rows, which cannot be put one after the other."""
    for leaf in nest.flatten(value):
        if any(isinstance(part, IndexedSlices) for part in local_results(leaf)):
            raise NotImplementedError(f"{method} does not support IndexedSlices: convert the value to a tensor")


def regroup(values: Sequence[Any]) -> Any:
    """Return results of the replicas, structures that are alike, as one structure of values for each replica."""
    first = values[0]
    if isinstance(first, dict):
        return type(first)((key, regroup([value[key] for value in values])) for key in first)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return first._make(regroup(parts) for parts in zip(*values, strict=True))  # type: ignore[attr-defined]
    if isinstance(first, (list, tuple)):
        return type(first)(regroup(parts) for parts in zip(*values, strict=True))
    if all(value is first for value in values):
        return first
    container = getattr(first, "_distributed_container", None)
    return PerReplica(values) if container is None else container()
