"""Resource variables: eager ones, and those of graphs in TF 2 manner.

An eager variable owns its storage; a graph's stands behind a VarHandleOp and has its value in a session. Reading gives
a snapshot that later assignments do not change. Node names are TensorFlow's.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, instant
from ebbflow.core.elsewhere import RunElsewhere
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, dims_str, is_compatible
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import AnyTensor, Assigned, DTypeLike, Effect, InitializerLike, Message, ShapeLike, TensorLike
from ebbflow.eager.tape import variable_accessed
from ebbflow.functions import replayed_tapes  # noqa: F401  (training loops bring variables: their tapes come by again)
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import init_scope
from ebbflow.ops.declare import raw
from ebbflow.ops.state.partial_updates import assign_slice
from ebbflow.ops.state.storage import Storage, held
from ebbflow.ops.state.variable_ops import ReadVariableOp
from ebbflow.state.base import (
    Initial,
    VariableAggregation,
    VariableSynchronization,
    VariableV1,
    add_to_collections,
    checked_collections,
    making,
    settle,
)
from ebbflow.state.guard import guarded
from ebbflow.state.variable_def import Elements
from ebbflow.state.variable_spec import VariableSpec, provide_stand_in

if TYPE_CHECKING:
    from ebbflow.state.base import Variable


_numbers = itertools.count()


def next_unique_id(name: str) -> str:
    """Return what tells an eager variable from others of its name."""
    return f"{name}_{next(_numbers)}"


def _runs_at_once() -> bool:
    return not context.graph_scopes or context.current_graph() is None


_READ = {dtype: {"dtype": dtype} for dtype in dtypes.ALL}


def _in_function() -> bool:
    """Return whether a function is being traced: it reads variables itself, so that it can be saved with them."""
    graph = context.current_graph()
    while graph is not None and graph.building_function and graph.is_control_flow_graph:
        graph = graph.outer_graph
    return graph is not None and graph.building_function


class ResourceVariable(VariableV1):
    """A variable behind a resource handle."""

    def __init__(
        self,
        initial_value: InitializerLike | None = None,
        trainable: bool | None = None,
        collections: Iterable[Any] | None = None,
        validate_shape: bool = True,
        caching_device: str | Callable[..., Any] | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        variable_def: Message | None = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        distribute_strategy: object = None,
        synchronization: VariableSynchronization | None = None,
        aggregation: VariableAggregation | None = None,
        shape: ShapeLike = None,
    ):
        self._cached: Any = None
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._take_elements(Elements(variable_def, context.default_graph(), import_scope), constraint)
            return
        settle(self, name, trainable, constraint, synchronization, aggregation)
        collections = checked_collections(collections)
        initial = Initial(initial_value, dtype, shape)
        with init_scope():
            if context.executing_eagerly():
                self._make_eagerly(initial, name)
            else:
                self._make_in_graph(initial, name, caching_device)
                add_to_collections(self, collections)
                return
        if collections and GraphKeys.GLOBAL_STEP in collections:  # the one variable that is found again eagerly
            context.default_graph().add_to_collection(GraphKeys.GLOBAL_STEP, self)

    _init_from_args = __init__  # the name by which subclasses of programs call it

    def _make_eagerly(self, initial: Initial, name: str | None) -> None:
        with name_scope(name, "Variable") as scope:
            self._name = scope.rstrip("/")
            with name_scope("Initializer"):
                value = initial.tensor()
        self._in_graph, self._initial_value, self._initializer = False, None, None
        self._dtype, self._dims = value.dtype, initial.dims(value, True)
        self._can_add = value.dtype.is_floating or value.dtype.is_integer or value.dtype.is_complex
        self._storage = Storage(self._name, self._dtype, self._dims)
        self._storage.take(value._array)
        self._storage.owner = weakref.ref(self)
        self._handle = EagerTensor(self._storage.handle(), dtypes.resource)
        self._unique_id = next_unique_id(self._name)
        making.show(self)

    def _make_in_graph(self, initial: Initial, name: str | None, caching_device: Any) -> None:
        graph = context.current_graph()
        with name_scope(name, "Variable") as scope:
            self._name = self._unique_id = scope[:-1]
            with graph._attr_scope({"_class": (f"loc:@{self._name}".encode(),)}):
                with graph.name_scope("Initializer"), graph.device(None):
                    value = initial.tensor()
                self._in_graph = True
                self._initial_value = value
                self._dtype = value.dtype.base_dtype
                self._dims = initial.dims(value, True)
                self._handle = raw.VarHandleOp(
                    shared_name=self._name, debug_name=scope, dtype=self._dtype, shape=self._dims, name=scope
                )
            with graph.name_scope("IsInitialized"):
                raw.VarIsInitializedOp(self._handle)
            with graph.name_scope("Assign") as assign, _beside(graph, self._handle):
                safe = guarded(self._name, value)
                self._initializer = raw.AssignVariableOp(self._handle, safe, name=assign)
            with graph.name_scope("Read"):
                with graph.device(self._handle.device or None):
                    self._read = raw.ReadVariableOp(self._handle, dtype=self._dtype)
                if caching_device is not None:
                    with graph.colocate_with(None, ignore_existing=True), graph.device(caching_device):
                        self._cached = raw.Identity(self._read)

    def _take_elements(self, found: Elements, constraint: Any) -> None:
        settle(
            self, None, found.trainable, constraint,
            VariableSynchronization(found.synchronization), VariableAggregation(found.aggregation),
        )  # fmt: skip
        self._in_graph = True
        self._handle = found.variable
        attrs = self._handle.op._attrs
        self._name = self._unique_id = self._handle.op.name
        self._dtype, self._dims = attrs["dtype"], attrs["shape"]
        self._initializer, self._initial_value = found.initializer, found.initial_value
        if found.snapshot is not None and found.snapshot.op.type != "ReadVariableOp":
            self._cached = found.snapshot
        self._read = (
            found.snapshot if found.snapshot is not None else raw.ReadVariableOp(self._handle, dtype=self._dtype)
        )
        self._save_slice_info = found.save_slice_info

    # --- what stands for it -------------------------------------------------------------------------------------------

    @property
    def handle(self) -> Tensor:
        return self._handle

    @property
    def _tape_handle(self) -> Any:
        """What its gradient goes by: its handle, or the argument of a function being traced that stands for it."""
        graph = context.current_graph() if context.graph_scopes else None
        return self._handle if graph is None or not graph.building_function else graph.stand_in(self._handle)

    @property
    def _handle_name(self) -> str:
        return self._name + ":0"

    @_handle_name.setter
    def _handle_name(self, name: str) -> None:
        self._name = name.removesuffix(":0")

    @property
    def op(self) -> Effect:
        return self._handle.op

    @property
    def graph(self) -> Any:
        return self._handle.graph

    @property
    def device(self) -> str:
        return self._handle.device

    @property
    def create(self) -> Effect:
        """The operation that initialises the variable."""
        if not self._in_graph:
            raise RuntimeError("This operation is not supported when eager execution is enabled.")
        return self._initializer

    @property
    def initializer(self) -> Effect:
        return self._initializer

    @property
    def initial_value(self) -> AnyTensor:
        if not self._in_graph:
            raise RuntimeError("This property is not supported when eager execution is enabled.")
        return self._initial_value

    @property
    def snapshot(self) -> Tensor:
        """The tensor that reads the variable where it is fetched: the node NAME/Read/…"""
        return self._cached if self._cached is not None else self._read

    def _as_graph_element(self) -> Any:
        return self._read if self._in_graph else self

    def _graph_tensor(self) -> Any:
        if not self._in_graph:
            raise RuntimeError("This operation is not supported when eager execution is enabled.")
        return self._read

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Return whether the variable has a value."""
        return raw.VarIsInitializedOp(self._handle, name=name)

    @property
    def _type_spec(self) -> VariableSpec:
        return VariableSpec.from_value(self)

    def __tf_tracing_type__(self, context: Any) -> VariableSpec:
        spec = VariableSpec(self.shape, self._dtype, self._trainable, context.alias_of(self))
        spec.first = weakref.ref(self)
        return spec

    # --- reading ------------------------------------------------------------------------------------------------------

    def value(self) -> Tensor:
        """Return the value now, as a tensor."""
        if not self._in_graph and _runs_at_once():
            tensor = EagerTensor(self._storage.read(), self._dtype)
            if context.recorders:
                attrs = _READ[self._dtype]
                for recorder in context.thread.recorders:
                    if self._trainable:
                        recorder.variable_accessed(self)
                    recorder.note(ReadVariableOp, attrs, tensor, self._handle)
            return tensor
        return self._cached if self._cached is not None and not _in_function() else self._read_now()

    def _read_now(self) -> Any:
        if context.recorders:
            variable_accessed(self)
        graph = context.current_graph()
        with _beside(graph, self._handle) if graph is not None else contextlib.nullcontext():
            return raw.ReadVariableOp(self._handle, dtype=self._dtype)

    def read_value(self) -> Tensor:
        """Return the value now, as a tensor of its own."""
        if not self._in_graph and _runs_at_once():
            return self.value()
        with name_scope("Read"):
            value = self._read_now()
        return raw.Identity(value)

    def read_value_no_copy(self) -> Tensor:
        """Return the value now."""
        return self.read_value()

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Return the rows that `indices` name; their gradient touches only those rows."""
        with name_scope(name, "Gather") as scope:
            if context.recorders:
                variable_accessed(self)
            found = raw.ResourceGather(self._handle, indices, dtype=self._dtype, name=scope or None)
        # TensorFlow 1 put an Identity behind it.
        return found if found.__class__ is EagerTensor or not context.switches.tf1 else raw.Identity(found)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Return the entries at N-d `indices`."""
        with name_scope(name, "GatherNd") as scope:
            if context.recorders:
                variable_accessed(self)
            found = raw.ResourceGatherNd(self._handle, indices, dtype=self._dtype, name=scope or None)
        return found if found.__class__ is EagerTensor else raw.Identity(found)

    def numpy(self) -> Any:
        """Return a copy of the value as a NumPy array."""
        if self._in_graph:
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return self.value().numpy()

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.numpy(), dtype=dtype)

    # --- writing ------------------------------------------------------------------------------------------------------

    def _is_elsewhere(self) -> bool:
        here = context.current_graph()
        return here is not self._handle.graph and not (here is not None and here.building_function)

    def assign(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> Assigned:
        """Set the value; return the variable (in a graph: an operation, or what gives the value once assigned)."""
        if self._in_graph and self._is_elsewhere():
            with self._handle.graph.as_default():
                return self.assign(value, use_locking, name, read_value)
        tensor = convert(value, self._dtype)
        if tensor._dims != self._dims and not is_compatible(self._dims, tensor._dims):
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape "
                f"{dims_str(self._dims)}, and the assigned value shape {dims_str(tensor._dims)} are incompatible."
            )
        if not self._in_graph and _runs_at_once():
            self._storage.take(tensor._array)
            return self._changed(None, read_value)
        checked = self._dims is not None and None not in self._dims and not context.switches.tf1
        return self._changed(raw.AssignVariableOp(self._handle, tensor, validate_shape=checked, name=name), read_value)

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> Assigned:
        """Add to the value."""
        return self._update(np.add, raw.AssignAddVariableOp, delta, name, read_value)

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> Assigned:
        """Subtract from the value."""
        return self._update(np.subtract, raw.AssignSubVariableOp, delta, name, read_value)

    def _update(self, function: Any, op: Any, delta: Any, name: str | None, read_value: bool) -> Any:
        delta = convert(delta, self._dtype)
        if not self._in_graph and _runs_at_once() and self._can_add and not context.recorders:
            try:
                self._storage.update(function, delta._array)
            except (errors.OpError, RunElsewhere):  # the op itself says what is wrong, or is done elsewhere
                op(self._handle, delta)
            return self._changed(None, read_value)
        return self._changed(op(self._handle, delta, name=name), read_value)

    def _changed(self, operation: Any, read_value: bool = True) -> Any:
        """Return what a method that changes the variable gives: the variable as it is then, or the operation."""
        if not read_value:
            return operation
        if context.recorders:  # whoever is given the variable may read it
            variable_accessed(self)
        if operation is not None:
            return UnreadVariable(self, operation)
        same = object.__new__(UnreadVariable)
        same.__dict__ = self.__dict__
        return same

    def _scatter_rows(self, kind: str, indices: Any, updates: Any, use_locking: bool, name: str | None) -> Any:
        updates = convert(updates, self._dtype)
        return self._changed(getattr(raw, f"ResourceScatter{kind}")(self._handle, indices, updates, name=name))

    def _scatter_nd(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any:
        updates = convert(updates, self._dtype)
        return self._changed(getattr(raw, f"ResourceScatterNd{kind}")(self._handle, indices, updates, name=name))

    def _strided_slice_assign(self, ends: Any, masks: Any, value: Any, name: str | None, read_value: bool) -> Any:
        value = convert(value, self._dtype)
        if not self._in_graph and _runs_at_once() and not context.recorders:
            try:
                assign_slice(self._storage, ends, value._array, tuple(masks.values()))
            except (errors.OpError, RunElsewhere):  # the op itself says what is wrong, or is done elsewhere
                raw.ResourceStridedSliceAssign(self._handle, *ends, value, **masks)
            return self._changed(None, read_value)
        done = raw.ResourceStridedSliceAssign(self._handle, *ends, value, name=name, **masks)
        return self._changed(done, read_value)

    def count_up_to(self, limit: int) -> Tensor:
        """Add one until `limit` is reached; return the value before."""
        return raw.ResourceCountUpTo(self._handle, limit=limit, T=self._dtype)

    def _no_augmented(self, other: Any) -> Any:
        raise RuntimeError(
            "`variable += value` with `tf.Variable`s is not supported. Use `variable.assign_add(value)` to modify "
            "the variable, or "
            "`out = variable + value` if you need to get a new output Tensor."
        )

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = _no_augmented

    # --- as Python objects --------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo: Any) -> ResourceVariable:
        if self._in_graph:
            raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")
        copied = _copy(self._name, self.value(), self._trainable, self._constraint, self._dims)
        copied._synchronization, copied._aggregation = self._synchronization, self._aggregation
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> Any:
        return _copy, (self._name, self.numpy(), self._trainable, self._constraint, self._dims)

    def __bool__(self) -> bool:
        return bool(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __float__(self) -> float:
        return float(self.value())

    def __complex__(self) -> complex:
        return complex(self.value())

    def __iter__(self) -> Any:
        return iter(self.value())

    def __repr__(self) -> str:
        tail = ""
        if not self._in_graph:
            text = "<unavailable>"
            if self._storage.is_set():
                text = repr(EagerTensor(self._storage.read(), self._dtype)).partition("numpy=")[2][:-1]
            tail = f", numpy={text}"
        return f"<tf.Variable '{self.name}' shape={dims_str(self._dims)} dtype={self._dtype.name}{tail}>"

    __str__ = __repr__


instant[ResourceVariable] = lambda variable: None if variable._in_graph else variable.value()


class UnreadVariable(ResourceVariable):
    """What an assignment gives: the variable; in a graph, read only after the assignment."""

    def __init__(self, variable: ResourceVariable, operation: Any):
        self.__dict__.update(variable.__dict__)
        self._after = operation
        # In a function nobody looks for the node of a read that is not asked for; in a graph its name is known.
        self._read = None if context.default_graph().building_function else self._read_after()

    def _read_after(self) -> Any:
        if self._after is None or not self._in_graph:
            return self.value()
        with self._waiting():
            return raw.ReadVariableOp(self._handle, dtype=self._dtype)

    @property
    def name(self) -> str:
        return self._after.name if self._after is not None else "UnreadVariable"

    @property
    def op(self) -> Any:
        return self._after  # None where the assignment is done already

    def _waiting(self) -> Any:
        graph = context.current_graph() if self._after is not None else None
        return contextlib.nullcontext() if graph is None else graph.control_dependencies([self._after])

    def value(self) -> Any:
        """Return the value once the assignment is done."""
        return super().value() if self._after is None else self._read_now()


def _waiting_first(method: Any) -> Any:
    @functools.wraps(method)
    def waiting(self: UnreadVariable, *args: Any, **kwargs: Any) -> Any:
        with self._waiting():
            return method(self, *args, **kwargs)

    return waiting


for _method in (
    ResourceVariable._read_now,
    ResourceVariable.read_value,
    ResourceVariable.sparse_read,
    ResourceVariable.gather_nd,
    ResourceVariable.assign,
    ResourceVariable.assign_add,
    ResourceVariable.assign_sub,
    ResourceVariable.count_up_to,
    ResourceVariable._scatter_rows,
    ResourceVariable._scatter_nd,
    ResourceVariable._strided_slice_assign,
):
    setattr(UnreadVariable, _method.__name__, _waiting_first(_method))


def _copy(name: str, value: Any, trainable: bool, constraint: Any, dims: Any) -> ResourceVariable:
    """Return an eager variable of exactly this name, whatever name scope is open."""
    with name_scope(None):
        return ResourceVariable(value, trainable, name=name, constraint=constraint, shape=TensorShape(dims))


VariableSpec.value_type = ResourceVariable


class StandIn(ResourceVariable):
    """The variable that reads and writes through a handle: an argument of a function.

    It has the names of the variable that the function is traced for; whoever asks for those that tell variables apart
    has the function traced for each variable.
    """

    _first: Any

    @property
    def name(self) -> str:
        first = self._first()
        return super().name if first is None else first.name

    def variable_outside(self) -> ResourceVariable:
        """Return the variable that the function is traced for, which may be kept; itself, where that is not known."""
        self._handle.graph.tells_variables_apart = True
        first = self._first()
        return self if first is None else first

    @property
    def _shared_name(self) -> str:
        return self._told("_shared_name", self._name)

    @property
    def _unique_id(self) -> str:  # type: ignore[override]
        return self._told("_unique_id", self._name)

    @property
    def _in_graph_mode(self) -> bool:
        return self._told("_in_graph_mode", True)

    def _told(self, what: str, otherwise: Any) -> Any:
        self._handle.graph.tells_variables_apart = True
        first = self._first()
        return otherwise if first is None else getattr(first, what)


def _stand_in(handle: Any, spec: VariableSpec) -> ResourceVariable:
    """Return the variable that stands for an argument of a function; for an eager handle, the variable it is of."""
    if isinstance(handle, EagerTensor):
        return _around(handle, spec)
    made = object.__new__(StandIn)
    made._first = (lambda: None) if spec.first is None else spec.first
    settle(made, None, spec.trainable, None, None, None)
    made._in_graph, made._cached, made._read, made._initializer, made._initial_value = True, None, None, None, None
    made._handle, made._dtype, made._dims = handle, spec.dtype, spec.shape._dims
    made._name = handle.op.name
    made._also = []  # type: ignore[attr-defined]
    return made


def _around(handle: EagerTensor, spec: VariableSpec) -> ResourceVariable:
    storage = held(handle._array)
    owner = None if storage.owner is None else storage.owner()
    if owner is not None:
        return owner
    made = object.__new__(ResourceVariable)
    settle(made, storage.name, spec.trainable, None, None, None)
    made._in_graph, made._cached, made._initializer, made._initial_value = False, None, None, None
    made._handle, made._storage, made._dtype, made._dims = handle, storage, spec.dtype, spec.shape._dims
    made._can_add = spec.dtype.is_floating or spec.dtype.is_integer or spec.dtype.is_complex
    made._name, made._unique_id = storage.name, next_unique_id(storage.name)
    return made


provide_stand_in(_stand_in)


def _beside(graph: Any, handle: Any) -> contextlib.AbstractContextManager[Any]:
    """Place nodes where the handle is placed, whatever else is asked for."""
    if graph.building_function and not graph.asks_for_places:
        return contextlib.nullcontext()
    stack = contextlib.ExitStack()
    stack.enter_context(graph.colocate_with(None, ignore_existing=True))
    if not graph.building_function:
        stack.enter_context(graph.device(handle.device or None))
    return stack


def is_resource_variable(var: Variable) -> bool:
    """Return whether `var` is a variable that travels as a handle."""
    return isinstance(var, ResourceVariable)


def _variable_handle_from_shape_and_dtype(
    shape: Any, dtype: Any, shared_name: str | None, name: str | None, graph_mode: bool, initial_value: Any = None
) -> Any:
    """Return a handle to a variable that has no value yet."""
    return raw.VarHandleOp(
        shared_name=shared_name or "", dtype=dtypes.as_dtype(dtype), shape=TensorShape(shape), name=name
    )
