"""What all variables share: properties, slices, scatters, operators, conversion to a tensor.

`Variable(...)` makes a variable of the kind that mode and arguments ask for; which that is, `state.variables` knows and
says to `provide_creator`. The kinds themselves are in `state.resource` and `state.reference`.
"""

from __future__ import annotations

import enum
import functools
import importlib
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.dtypes import DType
from ebbflow.core.shape import Dims, TensorShape, from_dims
from ebbflow.core.slices import IndexedSlices
from ebbflow.core.tensor import EagerTensor, Reference, Tensor, TensorBase
from ebbflow.core.typing import Array, Assigned, DTypeLike, Message, SessionLike, ShapeLike, TensorLike
from ebbflow.functions.control_flow.cond import cond
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import init_scope
from ebbflow.ops.arrays import slicing
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise import binary, compare  # noqa: F401  (they put the operators on tensors)
from ebbflow.ops.linalg import matmul  # noqa: F401  (they put the operators on tensors)
from ebbflow.state.variable_def import SaveSliceInfo, variable_def
from ebbflow.trackable.base import Trackable
from ebbflow.trackable.constants import VARIABLE_VALUE_KEY


class _Making(threading.local):
    """What this thread's eager variables are shown to as they are made, whatever made them: `notices(variable)`."""

    notices: tuple[Callable[[Any], None], ...] = ()

    def show(self, variable: Any) -> None:
        """Tell all of a new variable."""
        for notice in self.notices:
            notice(variable)


making = _Making()


class VariableSynchronization(enum.Enum):
    """When copies of a variable on several replicas are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How updates of several replicas are made one."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3  # what early TensorFlow called it


_creators: dict[str, Callable[..., Any]] = {}


def provide_creator(v2: Callable[..., Any], v1: Callable[..., Any]) -> None:
    """Say what `Variable(...)` and `VariableV1(...)` call."""
    _creators.update(v2=v2, v1=v1)


class Making(type):
    """`Variable(...)` makes a variable of the kind that mode and arguments ask for; its subclasses make themselves."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable and cls is not VariableV1:
            return super().__call__(*args, **kwargs)
        if not _creators:  # the file that knows the kinds is met with the first variable
            importlib.import_module("ebbflow.state.variables")
        return _creators["v2" if cls is Variable else "v1"](*args, **kwargs)


def _compares_by_value() -> bool:
    return context.switches.tensor_equality and context.eager_outside_functions()


class Variable(TensorBase, Trackable, metaclass=Making):
    """A tensor that can be assigned to.

    >>> v = Variable(1.0)
    >>> float(v.assign_add(2.0))
    3.0
    """

    __array_priority__ = 100
    _stable_fetch = True
    SaveSliceInfo = SaveSliceInfo

    _name: str
    _dtype: DType
    _dims: Dims
    _trainable: bool
    _in_graph: bool
    _after: Any = None  # the assignment that gave it, in a graph
    _save_slice_info: Any = None

    if TYPE_CHECKING:  # what `Making` takes, what each kind of variable has, and the operators at the end of this file

        def __init__(
            self,
            initial_value: Any = None,
            trainable: bool | None = None,
            validate_shape: bool = True,
            caching_device: Any = None,
            name: str | None = None,
            variable_def: Any = None,
            dtype: DTypeLike | None = None,
            import_scope: str | None = None,
            constraint: Callable[..., Any] | None = None,
            synchronization: Any = VariableSynchronization.AUTO,
            aggregation: Any = VariableAggregation.NONE,
            shape: ShapeLike = None,
            experimental_enable_variable_lifting: bool = True,
        ): ...

        _constraint: Any
        _synchronization: VariableSynchronization
        _aggregation: VariableAggregation

        def _graph_tensor(self) -> Any: ...
        def _strided_slice_assign(self, ends: Any, masks: Any, value: Any, name: Any, read_value: bool) -> Any: ...
        def _scatter_nd(self, kind: str, indices: Any, updates: Any, name: str | None) -> Any: ...
        def _scatter_rows(self, kind: str, indices: Any, updates: Any, use_locking: bool, name: Any) -> Any: ...
        def is_initialized(self, name: str | None = None) -> Any: ...
        def numpy(self) -> Any: ...
        @property
        def handle(self) -> Any: ...
        @property
        def op(self) -> Any: ...
        @property
        def graph(self) -> Any: ...
        @property
        def device(self) -> str: ...
        @property
        def initializer(self) -> Any: ...
        @property
        def initial_value(self) -> Any: ...
        def __array__(self, *args: Any, **kwargs: Any) -> Any: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Tensor]: ...

        def __int__(self) -> int: ...
        def __float__(self) -> float: ...

    # What each kind of variable does in its own way; programs ask the class, too: `wraps(tf.Variable.assign)`.

    def value(self) -> Any:
        """Return the value as a tensor."""
        raise _left_open(self, "value")

    def read_value(self) -> Any:
        """Return the value, read where this stands in the program."""
        raise _left_open(self, "read_value")

    def assign(self, value: Any, use_locking: Any = None, name: Any = None, read_value: bool = True) -> Any:
        """Give the variable a new value."""
        raise _left_open(self, "assign")

    def assign_add(self, delta: Any, use_locking: Any = None, name: Any = None, read_value: bool = True) -> Any:
        """Add to the value."""
        raise _left_open(self, "assign_add")

    def assign_sub(self, delta: Any, use_locking: Any = None, name: Any = None, read_value: bool = True) -> Any:
        """Subtract from the value."""
        raise _left_open(self, "assign_sub")

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """Return the rows at `indices`."""
        raise _left_open(self, "sparse_read")

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """Return the elements or slices at `indices`."""
        raise _left_open(self, "gather_nd")

    def count_up_to(self, limit: int) -> Any:
        """Return the value and add one to it, up to a limit."""
        raise _left_open(self, "count_up_to")

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._name + ":0"

    @property
    def _shared_name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return from_dims(self._dims)

    def get_shape(self) -> TensorShape:
        """Return the static shape."""
        return self.shape

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self._dims is None else list(self._dims)

    def _shape_tuple(self) -> Dims:
        return self._dims

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def constraint(self) -> Callable[..., Any] | None:
        return self._constraint

    @property
    def _in_graph_mode(self) -> bool:
        return self._in_graph

    @property
    def _waited_for(self) -> bool:
        """Whether a node that is to run behind this one has something to wait for."""
        return self._in_graph or self._after is not None

    def ref(self) -> Reference:
        """Return a hashable stand-in for this variable."""
        return Reference(self)

    experimental_ref = ref

    def __hash__(self) -> int:
        if _compares_by_value():
            raise TypeError(f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self})")
        return id(self)

    def __eq__(self, other: object) -> Any:
        return self.value() == other if _compares_by_value() else self is other

    def __ne__(self, other: object) -> Any:
        return self.value() != other if _compares_by_value() else self is not other

    def _set_save_slice_info(self, info: Any) -> None:
        self._save_slice_info = info

    def _get_save_slice_info(self) -> Any:
        return self._save_slice_info

    def to_proto(self, export_scope: str | None = None) -> Message:
        """Return this variable of a graph as a VariableDef message."""
        if not self._in_graph:
            raise RuntimeError("This operation is not supported when eager execution is enabled.")
        return variable_def(self, export_scope)

    @staticmethod
    def from_proto(variable_def: Message, import_scope: str | None = None) -> Variable:
        """Return the variable that a VariableDef describes, whose nodes are in the default graph."""
        return VariableV1(variable_def=variable_def, import_scope=import_scope, use_resource=variable_def.is_resource)

    # --- in a checkpoint ----------------------------------------------------------------------------------------------

    @property
    def _saved_dtype(self) -> dtypes.DType:
        """What a checkpoint keeps the value as."""
        return self.dtype.base_dtype

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self.read_value()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        return self.assign(restored_tensors[VARIABLE_VALUE_KEY])

    # --- reading ------------------------------------------------------------------------------------------------------

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(self._dtype):
            raise ValueError(
                f"Incompatible type conversion requested to type '{dtypes.as_dtype(dtype).name}' for variable of type "
                f"'{self._dtype.base_dtype.name}' (Variable: {self})"
            )
        value = self.value()
        return value if value.__class__ is EagerTensor else convert(value)  # the body of a function captures it

    def eval(self, session: SessionLike | None = None) -> Array:
        """Return the value in a session."""
        return self._graph_tensor().eval(session=session)

    def initialized_value(self) -> Tensor:
        """Return the value, or the initial value where the variable has none yet."""
        if not self._in_graph:
            return self.value()
        with init_scope():
            return cond(self.is_initialized(), self.read_value, lambda: self.initial_value)

    def load(self, value: TensorLike, session: SessionLike | None = None) -> None:
        """Set the value, in a session where the variable belongs to a graph."""
        if not self._in_graph:
            self.assign(value)
            return
        session = session or (context.thread.sessions[-1] if context.thread.sessions else None)
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be established to use `load`"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def set_shape(self, shape: ShapeLike) -> None:
        """Say more about the static shape."""
        self._dims = TensorShape(self._dims).merge_with(shape)._dims

    # --- slices -------------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        value = self.value()
        if value.__class__ is not EagerTensor:
            return slicing.slice_helper(value, key, var=self)
        part = value[key]
        part.assign = functools.partial(self._assign_part, key)
        return part

    def _assign_part(
        self, key: Any, value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True
    ) -> Any:
        """What `v[key].assign` is where ops run at once."""
        spec = slicing.Spec(key if isinstance(key, (tuple, list)) else (key,))
        ends = tuple(np.array([int(x) for x in part], np.int64) for part in (spec.begin, spec.end, spec.strides))
        return self._strided_slice_assign(ends, spec.masks, value, name, read_value)

    def _note_slice(self, part: Any, ends: tuple[Any, Any, Any], masks: dict[str, int]) -> None:
        """Give a slice of this variable, taken in a graph, its `assign`."""

        def assign(value: Any, use_locking: Any = None, name: str | None = None, read_value: bool = True) -> Any:
            return self._strided_slice_assign(ends, masks, value, name or f"{part.op.name}/_assign", read_value)

        part.assign = assign

    # --- scattering ---------------------------------------------------------------------------------------------------

    def scatter_nd_sub(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Assigned:
        """Subtract `updates` at N-d `indices`."""
        return self._scatter_nd("Sub", indices, updates, name)

    def scatter_nd_add(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Assigned:
        """Add `updates` at N-d `indices`."""
        return self._scatter_nd("Add", indices, updates, name)

    def scatter_nd_update(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Assigned:
        """Set the entries at N-d `indices` to `updates`."""
        return self._scatter_nd("Update", indices, updates, name)

    def scatter_nd_max(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Assigned:
        """Keep the larger of the entries at N-d `indices` and `updates`."""
        return self._scatter_nd("Max", indices, updates, name)

    def scatter_nd_min(self, indices: TensorLike, updates: TensorLike, name: str | None = None) -> Assigned:
        """Keep the smaller of the entries at N-d `indices` and `updates`."""
        return self._scatter_nd("Min", indices, updates, name)

    def scatter_add(self, sparse_delta: TensorLike, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Add IndexedSlices to the rows they name."""
        return self._scatter("Add", sparse_delta, use_locking, name)

    def scatter_sub(self, sparse_delta: TensorLike, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Subtract IndexedSlices from the rows they name."""
        return self._scatter("Sub", sparse_delta, use_locking, name)

    def scatter_mul(self, sparse_delta: TensorLike, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Multiply rows by IndexedSlices."""
        return self._scatter("Mul", sparse_delta, use_locking, name)

    def scatter_div(self, sparse_delta: TensorLike, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Divide rows by IndexedSlices."""
        return self._scatter("Div", sparse_delta, use_locking, name)

    def scatter_min(self, sparse_delta: TensorLike, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Keep the smaller of rows and IndexedSlices."""
        return self._scatter("Min", sparse_delta, use_locking, name)

    def scatter_max(self, sparse_delta: TensorLike, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Keep the larger of rows and IndexedSlices."""
        return self._scatter("Max", sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta: TensorLike, use_locking: bool = False, name: str | None = None) -> Assigned:
        """Set the rows that IndexedSlices name."""
        return self._scatter("Update", sparse_delta, use_locking, name)

    def _scatter(self, kind: str, slices: Any, use_locking: bool, name: str | None) -> Any:
        slices = _indexed_slices(slices)
        return self._scatter_rows(kind, slices.indices, slices.values, use_locking, name)

    def batch_scatter_update(
        self, sparse_delta: TensorLike, use_locking: bool = False, name: str | None = None
    ) -> Assigned:
        """Set, in each batch entry, the rows that IndexedSlices name."""
        slices = _indexed_slices(sparse_delta)
        indices = convert(slices.indices)
        batch = indices._dims[:-1] if indices._dims is not None else None
        if batch is None or None in batch:
            raise ValueError(f"batch_scatter_update needs indices of known batch shape, got {indices!r}")
        count = raw.Shape(indices)[-1]
        places = [raw.ExpandDims(indices, -1)]
        for axis in reversed(range(len(batch))):
            own = np.arange(batch[axis], dtype=indices.dtype.np).reshape((-1,) + (1,) * (len(batch) - axis + 1))
            places.insert(0, raw.BroadcastTo(convert(own), raw.Pack([*map(convert, batch), count, convert(1)])))
        chosen = raw.ConcatV2(places, -1) if batch else places[0]  # joining one is an error
        return self.scatter_nd_update(chosen, slices.values, name)


def _indexed_slices(value: Any) -> IndexedSlices:
    if not isinstance(value, IndexedSlices):
        raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {value}")
    return value


def _left_open(variable: Variable, name: str) -> NotImplementedError:
    kind = type(variable).__name__
    return NotImplementedError(f"{kind} does not define `{name}`: a class of variables must; tf.Variable(...) has it")


class VariableV1(Variable):
    """A variable made with TF 1's arguments."""

    _distribute_strategy: Any = None  # of one that has a value for each replica: the strategy that made it

    if TYPE_CHECKING:

        def __init__(
            self,
            initial_value: Any = None,
            trainable: bool | None = None,
            collections: Any = None,
            validate_shape: bool = True,
            caching_device: Any = None,
            name: str | None = None,
            variable_def: Any = None,
            dtype: DTypeLike | None = None,
            expected_shape: Any = None,
            import_scope: str | None = None,
            constraint: Callable[..., Any] | None = None,
            use_resource: bool | None = None,
            synchronization: Any = VariableSynchronization.AUTO,
            aggregation: Any = VariableAggregation.NONE,
            shape: ShapeLike = None,
        ): ...


# --- operators --------------------------------------------------------------------------------------------------------


def _through_value(method: str) -> Callable[..., Any]:
    def operator(self: Any, *args: Any) -> Any:
        value = self.value()
        return getattr(value.__class__, method)(value, *args)

    return functools.update_wrapper(operator, getattr(Tensor, method), updated=())


OPERATORS = (  # noqa: SIM905
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __div__ __rdiv__ __floordiv__ "
    "__rfloordiv__ "
    "__mod__ __rmod__ __pow__ __rpow__ __matmul__ __rmatmul__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ "
    "__invert__ "
    "__neg__ __abs__ __lt__ __le__ __gt__ __ge__"
).split()

for _method in OPERATORS:
    setattr(Variable, _method, _through_value(_method))


# --- making -----------------------------------------------------------------------------------------------------------


class Initial:
    """The initial value of a variable being made: turned into a tensor under the right names."""

    def __init__(self, value: Any, dtype: Any, shape: Any):
        if value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a "
                "`variable_def`. You provided neither."
                if not context.switches.tf1
                else "initial_value must be specified."
            )
        self.is_function = callable(value)
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        self.shape = None if shape is None else TensorShape(shape)
        self._value = value
        graph = (
            getattr(value, "graph", None) if isinstance(value, Tensor) and value.__class__ is not EagerTensor else None
        )
        if graph is not None and graph.building_function:
            raise ValueError(
                f"Tensor-typed variable initializers must either be wrapped in an init_scope or callable (e.g., "
                f"`tf.Variable(lambda : tf.truncated_normal([10, 40]))`) when building functions. Got {value}"
            )

    def tensor(self) -> Any:
        """Return the initial value as a tensor."""
        value = self._value() if self.is_function else self._value
        tensor = convert(value, self.dtype, name="initial_value")
        if self.shape is not None and not self.shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({tensor.shape}) is not compatible with "
                "the "
                f"explicitly supplied `shape` argument ({self.shape})."
            )
        return tensor

    def dims(self, tensor: Any, validate_shape: bool) -> Dims:
        """Return the static shape of the variable that starts as `tensor`."""
        if self.shape is not None:
            return self.shape._dims
        return tensor._dims if validate_shape else None


def settle_use(name: Any, trainable: Any, synchronization: Any, aggregation: Any) -> tuple[bool, Any, Any]:
    """Return whether a variable is trained, and how its copies are combined, with defaults filled in."""
    if synchronization is None:
        synchronization = VariableSynchronization.AUTO
    elif not isinstance(synchronization, VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}")
    if aggregation is None:
        aggregation = VariableAggregation.NONE
    elif not isinstance(aggregation, VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}")
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    return bool(trainable), synchronization, aggregation


def settle(variable: Any, name: Any, trainable: Any, constraint: Any, synchronization: Any, aggregation: Any) -> None:
    """Keep what every kind of variable keeps."""
    if constraint is not None and not callable(constraint):
        raise ValueError("The `constraint` argument must be a callable.")
    variable._trainable, variable._synchronization, variable._aggregation = settle_use(
        name, trainable, synchronization, aggregation
    )
    variable._constraint = constraint
    variable._number = next(_numbers)  # later variables have larger ones


_numbers = itertools.count()


def checked_collections(collections: Any) -> list[Any] | None:
    """Return a list of names of collections, or None for the usual ones."""
    if collections is not None and not isinstance(collections, (list, tuple, set)):
        raise ValueError(
            "collections argument to Variable constructor must be a list, tuple, or set. "
            f"Got {collections} of type {type(collections)}"
        )
    return None if collections is None else list(collections)


def add_to_collections(variable: Any, collections: list[Any] | None) -> None:
    """Put a graph's variable into its collections."""
    names = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    if variable.trainable and GraphKeys.TRAINABLE_VARIABLES not in names:
        names = [*names, GraphKeys.TRAINABLE_VARIABLES]
    context.default_graph().add_to_collections(names, variable)
