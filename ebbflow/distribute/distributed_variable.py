"""Variables that a strategy keeps one copy of for each replica.

In a replica such a variable is that replica's copy; outside of replicas it is all of them. A mirrored variable keeps
its copies alike: what replicas assign is brought together first, in the way it was told (`aggregation`); without that
each replica writes its own. One that is synchronised on reading lets replicas assign what they like, and brings the
copies together when it is read outside of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.checkpoint.saveables import ResourceVariableSaveable, SaveableObject, SaveSpec
from ebbflow.core import context
from ebbflow.distribute import current
from ebbflow.distribute.reduce_op import ReduceOp
from ebbflow.distribute.values import DistributedValues, Mirrored, PerReplica, value_of_replica
from ebbflow.graph.scopes import control_dependencies, group
from ebbflow.ops.declare import raw
from ebbflow.state.base import Variable, VariableAggregation, VariableSynchronization
from ebbflow.trackable.constants import VARIABLE_VALUE_KEY
from ebbflow.trackable.save_context import keeps_one_copy


class DistributedVariable(DistributedValues, Variable):
    """One variable for each replica."""

    _written: Any = None  # of what an assignment gives in a graph: its node
    _after: Any = None  # and the value behind it, in a graph of the program's own

    def __init__(self, strategy: Any, values: Sequence[Any], aggregation: VariableAggregation):
        DistributedValues.__init__(self, values)
        first = values[0]
        self._distribute_strategy, self._aggregation = strategy, aggregation
        self._name, self._dtype, self._dims = first._name, first._dtype, first._dims
        self._trainable, self._in_graph, self._constraint = first._trainable, first._in_graph, first._constraint
        for value in values:
            value._distributed_container = value.handle._distributed_container = lambda: self

    # --- which of the copies ------------------------------------------------------------------------------------------

    def _number(self) -> int | None:
        """Return the replica that speaks or is updated here, or None where all do."""
        if keeps_one_copy():
            return 0
        updated = current.get_update_replica_id()
        if updated is not None:
            return updated
        replica = current.get_replica_context()
        if replica is None or replica.strategy is not self._distribute_strategy:
            return None
        return replica._number

    def _get(self) -> Any:
        number = self._number()
        return self._values[0 if number is None else number]

    @property
    def distribute_strategy(self) -> Any:
        return self._distribute_strategy

    @property
    def handle(self) -> Any:
        return self._get().handle

    @property
    def _tape_handle(self) -> Any:
        return self._get().handle

    @property
    def _unique_id(self) -> str:
        return self._values[0]._unique_id

    @property
    def device(self) -> str:
        return self._get().device

    @property
    def op(self) -> Any:
        return self._get().op if self._written is None else self._written

    @property
    def graph(self) -> Any:
        return self._get().graph

    @property
    def _devices(self) -> tuple[str, ...]:
        return tuple(value.device for value in self._values)

    @property
    def initializer(self) -> Any:
        return None if not self._in_graph else [value.initializer for value in self._values]

    @property
    def initial_value(self) -> Any:
        return self._values[0].initial_value

    @property
    def _shared_name(self) -> str:
        return self._values[0]._shared_name

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return the first copy as a VariableDef message: who reads it knows nothing of replicas."""
        return self._values[0].to_proto(export_scope)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """Return what saves the variable by its name in a graph: one value, which all copies are given."""
        if not self._in_graph:
            return super()._gather_saveables_for_checkpoint()
        return {VARIABLE_VALUE_KEY: lambda name=self._values[0].op.name: _CopiesSaveable(self, name)}

    def is_initialized(self, name: str | None = None) -> Any:
        """Return whether all copies have a value."""
        found = self._values[0].is_initialized()
        for value in self._values[1:]:
            found = raw.LogicalAnd(found, value.is_initialized())
        return found

    def _as_graph_element(self) -> Any:
        return self._get()._as_graph_element() if self._after is None else self._after

    # --- reading ------------------------------------------------------------------------------------------------------

    def value(self) -> Any:
        """Return the value here."""
        return self._get().value()

    def read_value(self) -> Any:
        """Return the value here, as a tensor of its own."""
        return self._get().read_value()

    def numpy(self) -> Any:
        """Return a copy of the value as a NumPy array."""
        return self.value().numpy()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.value().__array__(dtype, copy)

    def __bool__(self) -> bool:
        return bool(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __float__(self) -> float:
        return float(self.value())

    def __iter__(self) -> Any:
        return iter(self.value())

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """Return the rows that `indices` name."""
        return self._get().sparse_read(indices, name)

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """Return the entries at N-d `indices`."""
        return self._get().gather_nd(indices, name)

    @property
    def _type_spec(self) -> Any:
        return self._get()._type_spec

    def __tf_tracing_type__(self, context: Any) -> Any:
        return self._get().__tf_tracing_type__(context)

    # --- writing ------------------------------------------------------------------------------------------------------

    def assign(self, value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
        """Set the value."""
        return self._given(self._write("assign", value), read_value)

    def assign_add(self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
        """Add to the value."""
        return self._given(self._write("assign_add", delta), read_value)

    def assign_sub(self, delta: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
        """Subtract from the value."""
        return self._given(self._write("assign_sub", delta), read_value)

    def _scatter_rows(self, kind: str, indices: Any, updates: Any, use_locking: bool, name: str | None) -> Any:
        return self._write_own(lambda v: v._scatter_rows(kind, indices, updates, use_locking, name))

    def _scatter_nd(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        return self._write_own(lambda v: v._scatter_nd(kind, indices, updates, name))

    def _strided_slice_assign(self, ends: Any, masks: Any, value: Any, name: str | None, read_value: bool) -> Any:
        return self._write_own(lambda v: v._strided_slice_assign(ends, masks, value, name, read_value))

    def _write_own(self, write: Callable[[Any], Any]) -> Any:
        """Write a part of a copy, or of all of them."""
        number = self._number()
        if number is not None:
            return write(self._values[number])
        for value in self._values:
            write(value)
        return self

    def _write(self, method: str, value: Any) -> Any:
        raise NotImplementedError("a kind of distributed variable says how it is written")

    def _write_all(self, method: str, value: Any) -> Any:
        if current.get_update_replica_id() is None:
            current.require_cross_replica(self._distribute_strategy)
        writes = [getattr(copy, method)(value_of_replica(value, i)) for i, copy in enumerate(self._values)]
        if context.executing_eagerly():
            return self
        written = object.__new__(type(self))  # this variable, and in a graph the node that all writes are done at
        done = group(*[write.op for write in writes])
        written.__dict__.update(self.__dict__, _values=tuple(writes), _written=done, _after=self._read_after(done))
        return written

    def _read_after(self, done: Any) -> Any:
        """Return the value as it is when a node is done; None in functions, where reads come behind by themselves."""
        if done.graph.building_function:
            return None
        with control_dependencies([done]):
            return self.value()

    def _given(self, written: Any, read_value: bool) -> Any:
        """Return what an assignment gives: in a graph, where nobody reads the value, the node that is done with it."""
        return written if read_value or context.executing_eagerly() else getattr(written, "op", written)

    def __deepcopy__(self, memo: Any) -> Any:
        with self._distribute_strategy.scope():
            copied = Variable(self.numpy(), trainable=self._trainable, aggregation=self._aggregation,
                              synchronization=self.synchronization, name=self._name)  # fmt: skip
        memo[id(self)] = copied
        return copied

    def __repr__(self) -> str:
        return DistributedValues.__repr__(self)


class MirroredVariable(DistributedVariable, Mirrored):
    """Copies that are kept alike."""

    @property
    def synchronization(self) -> VariableSynchronization:
        return VariableSynchronization.ON_WRITE

    def _write(self, method: str, value: Any) -> Any:
        if keeps_one_copy():
            return getattr(self._values[0], method)(value)
        if self._number() is None:
            return self._write_all(method, value)
        if current.get_update_replica_id() is not None or self._aggregation is VariableAggregation.NONE:
            return getattr(self._get(), method)(value)
        return current.get_replica_context().merge_call(self._write_merged, args=(method, value))

    def _write_merged(self, strategy: Any, method: str, value: Any) -> Any:
        if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            value = value_of_replica(value, 0)
        else:  # a plain value is the same number from every replica of this process
            value = strategy.extended._reduce_to(ReduceOp.from_variable_aggregation(self._aggregation), value)
        return self._write_all(method, value)


class SyncOnReadVariable(DistributedVariable):
    """Copies that replicas write as they like, brought together when they are read outside."""

    @property
    def synchronization(self) -> VariableSynchronization:
        return VariableSynchronization.ON_READ

    def _write(self, method: str, value: Any) -> Any:
        if self._number() is not None:
            return getattr(self._get(), method)(value)
        if method == "assign" and self._aggregation is VariableAggregation.SUM:
            value = value / self._distribute_strategy.num_replicas_in_sync  # so that reading gives what was assigned
        elif method != "assign" and self._aggregation is VariableAggregation.SUM:
            raise ValueError(
                f"SyncOnReadVariable does not support `{method}` in cross-replica context when aggregation is set to "
                "`tf.VariableAggregation.SUM`."
            )
        return self._write_all(method, value)

    def _as_graph_element(self) -> Any:
        return self.value() if self._after is None else self._after

    def value(self) -> Any:
        """Return the value here: outside of replicas, of all copies."""
        if self._number() is not None or self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return self._get().value()
        if self._aggregation is VariableAggregation.NONE:
            return self._values[0].value()
        op = ReduceOp.from_variable_aggregation(self._aggregation)
        return self._distribute_strategy.extended._reduce_to(op, PerReplica([v.value() for v in self._values]))

    read_value = value


class _CopiesSaveable(SaveableObject):
    """A variable with copies, in a graph."""

    def __init__(self, variable: DistributedVariable, name: str):
        first = variable.values[0]
        spec = SaveSpec(variable.value(), "", name, dtype=first.dtype, device=first.device)
        super().__init__(variable, [spec], name)
        self._each = [ResourceVariableSaveable(copy, "", name) for copy in variable.values]

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Return the node that gives all copies the value."""
        return group(*[each.restore(restored_tensors, restored_shapes) for each in self._each])
