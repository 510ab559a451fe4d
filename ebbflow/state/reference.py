"""Reference variables: those of graphs in TF 1 manner.

The variable's node gives the variable itself, read where its value is used; `NAME/read` gives its value. Node names are
TensorFlow's.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import context
from ebbflow.core.op import record
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import dims_str
from ebbflow.eager.tape import variable_accessed
from ebbflow.graph.scopes import init_scope
from ebbflow.ops.declare import raw
from ebbflow.state.base import (
    Initial,
    VariableAggregation,
    VariableSynchronization,
    VariableV1,
    add_to_collections,
    checked_collections,
    settle,
)
from ebbflow.state.guard import guarded
from ebbflow.state.variable_def import Elements


class RefVariable(VariableV1):
    """A variable that a graph passes by reference."""

    _in_graph = True

    def __init__(
        self,
        initial_value: Any = None,
        trainable: Any = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ):
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._take_elements(Elements(variable_def, context.default_graph(), import_scope), constraint)
            return
        if context.executing_eagerly():
            raise RuntimeError(
                "tf.Variable not supported when eager execution is enabled. Please use tf.contrib.eager.Variable "
                "instead"
            )
        settle(self, name, trainable, constraint, synchronization, aggregation)
        collections = checked_collections(collections)
        initial = Initial(initial_value, dtype, shape)
        with init_scope():
            self._make(initial, name, validate_shape, caching_device)
            add_to_collections(self, collections)

    def _make(self, initial: Initial, name: str | None, validate_shape: bool, caching_device: Any) -> None:
        graph = context.current_graph()
        with name_scope(name, "Variable") as scope:
            self._name = scope[:-1]
            if initial.is_function:
                with graph._attr_scope({"_class": (f"loc:@{self._name}".encode(),)}):
                    with graph.name_scope("Initializer"), graph.device(None):
                        value = initial.tensor()
                    self._make_node(initial, value, validate_shape, scope)
            else:
                value = initial.tensor()
                self._make_node(initial, value, validate_shape, scope)
            self._initial_value = value
            safe = guarded(self._name, value)
            self._initializer = raw.Assign(self._variable, safe, validate_shape=validate_shape, name="Assign").op
            with graph.device(caching_device) if caching_device is not None else graph.colocate_with(self._variable.op):
                self._snapshot = raw.Identity(self._variable, name="read")

    def _make_node(self, initial: Initial, value: Any, validate_shape: bool, scope: str) -> None:
        self._dims = initial.dims(value, validate_shape)
        if validate_shape and (value._dims is None or None in value._dims):
            raise ValueError(f"initial_value must have a shape specified: {value}")
        self._base = value.dtype.base_dtype
        self._dtype = self._base._as_ref
        self._variable = raw.VariableV2(shape=self._dims, dtype=self._base, name=scope)

    def _take_elements(self, found: Elements, constraint: Any) -> None:
        settle(
            self, None, found.trainable, constraint,
            VariableSynchronization(found.synchronization), VariableAggregation(found.aggregation),
        )  # fmt: skip
        self._variable, self._snapshot = found.variable, found.snapshot
        self._initializer, self._initial_value = found.initializer, found.initial_value
        self._name = self._variable.op.name
        self._dtype, self._dims = self._variable.dtype, self._variable._dims
        self._base = self._dtype.base_dtype
        self._save_slice_info = found.save_slice_info

    # --- what stands for it -------------------------------------------------------------------------------------------

    @property
    def _tape_handle(self) -> Any:
        return self._variable

    @property
    def op(self) -> Any:
        return self._variable.op

    @property
    def graph(self) -> Any:
        return self._variable.graph

    @property
    def device(self) -> str:
        return self._variable.device

    @property
    def initializer(self) -> Any:
        return self._initializer

    @property
    def initial_value(self) -> Any:
        return self._initial_value

    @property
    def snapshot(self) -> Any:
        """The tensor that reads the variable: the node NAME/read."""
        return self._snapshot

    def _as_graph_element(self) -> Any:
        return self._variable

    def _graph_tensor(self) -> Any:
        return self._variable

    def _ref(self) -> Any:
        return self._variable

    def is_initialized(self, name: str | None = None) -> Any:
        """Return whether the variable has a value."""
        return raw.IsVariableInitialized(self._variable, name=name)

    # --- reading ------------------------------------------------------------------------------------------------------

    def value(self) -> Any:
        """Return the tensor that reads the variable: the node NAME/read."""
        if context.recorders:
            variable_accessed(self)
            record(self._snapshot.op._op, (self._variable,), (self._snapshot,), self._snapshot.op._attrs)
        return self._snapshot

    def read_value(self) -> Any:
        """Return the value as it is when the node returned runs."""
        if context.recorders:
            variable_accessed(self)
        return raw.Identity(self._variable, name="read")

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """Return the rows that `indices` name."""
        return raw.GatherV2(self.value(), indices, 0, name=name)

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """Return the entries at N-d `indices`."""
        return raw.GatherNd(self.value(), indices, name=name)

    # --- writing ------------------------------------------------------------------------------------------------------

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Return the node that sets the value."""
        found = raw.Assign(self._variable, value, use_locking=use_locking, name=name)
        return found if read_value else found.op

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Return the node that adds to the value."""
        found = raw.AssignAdd(self._variable, delta, use_locking=use_locking, name=name)
        return found if read_value else found.op

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Any:
        """Return the node that subtracts from the value."""
        found = raw.AssignSub(self._variable, delta, use_locking=use_locking, name=name)
        return found if read_value else found.op

    def _scatter_rows(self, kind: str, indices: Any, updates: Any, use_locking: bool, name: str | None) -> Any:
        return getattr(raw, f"Scatter{kind}")(self._variable, indices, updates, use_locking=use_locking, name=name)

    def _scatter_nd(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        return getattr(raw, f"ScatterNd{kind}")(self._variable, indices, updates, use_locking=True, name=name)

    def _strided_slice_assign(self, ends: Any, masks: Any, value: Any, name: str | None, read_value: bool) -> Any:
        found = raw.StridedSliceAssign(self._variable, *ends, value, name=name, **masks)
        return found if read_value else found.op

    def count_up_to(self, limit: int) -> Any:
        """Add one until `limit` is reached; return the value before."""
        return raw.CountUpTo(self._variable, limit=limit)

    def __iter__(self) -> Any:
        raise TypeError("'Variable' object is not iterable.")

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={dims_str(self._dims)} dtype={self._dtype.name}>"

    __str__ = __repr__
