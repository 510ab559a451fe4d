"""The variables of a graph that are shared by name: what `get_variable` finds, makes and refuses.

A `VariableStore` belongs to a graph, or to an `EagerVariableStore`. Knows names, initializers, regularizers and
partitions; what a variable scope adds by default is filled in by `variable_scope` before a store is asked.
"""

from __future__ import annotations

import contextlib
import enum
import inspect
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, as_shape
from ebbflow.core.tensor import Tensor
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.scopes import colocate_with, init_scope
from ebbflow.ops.arrays.slicing import slice_
from ebbflow.state.base import VariableAggregation, VariableSynchronization, settle_use
from ebbflow.state.initializers import GlorotUniform, Zeros
from ebbflow.state.partitioners import PartitionedVariable, PartitionInfo, call_partitioner, slices_of, split_axis
from ebbflow.state.variables import ResourceVariable, SaveSliceInfo, VariableV1


class ReuseMode(enum.Enum):
    """How a scope treats variables that are there already, beyond yes and no."""

    AUTO_REUSE = 1


AUTO_REUSE = ReuseMode.AUTO_REUSE
"""Take the variable where it is there, make it where it is not."""


@dataclass
class Wanted:
    """One call of `get_variable`, with all defaults filled in."""

    name: str
    shape: Any = None
    dtype: Any = dtypes.float32
    initializer: Any = None
    regularizer: Any = None
    reuse: Any = None
    trainable: Any = None
    collections: Any = None
    caching_device: Any = None
    partitioner: Any = None
    validate_shape: bool = True
    use_resource: bool | None = None
    constraint: Any = None
    synchronization: Any = VariableSynchronization.AUTO
    aggregation: Any = VariableAggregation.NONE


class VariableStore:
    """Variables by name."""

    def __init__(self) -> None:
        self._vars: dict[str, Any] = {}
        self._partitioned_vars: dict[str, PartitionedVariable] = {}
        self._store_eager_variables = False

    def get_variable(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: Any = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable[..., Any] | None = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """Return the variable of this name: found, or made, as `reuse` says."""
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        if context.executing_eagerly():
            if self._store_eager_variables:
                reuse = AUTO_REUSE
            elif reuse:
                raise RuntimeError(
                    "When eager execution is enabled variable reuse is only supported when an EagerVariableStore is "
                    "active. "
                    "See the documentation on EagerVariableStore for example usage."
                )
        trainable, synchronization, aggregation = settle_use(name, trainable, synchronization, aggregation)
        arguments = {
            "name": name,
            "shape": shape,
            "dtype": getattr(dtype, "base_dtype", dtype),
            "initializer": initializer,
            "regularizer": regularizer,
            "reuse": reuse,
            "trainable": trainable,
            "collections": collections,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "validate_shape": validate_shape,
            "use_resource": True if context.eager_outside_functions() else use_resource,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        if custom_getter is None or _takes(custom_getter, "constraint"):
            arguments["constraint"] = constraint
        return self._get(**arguments) if custom_getter is None else custom_getter(getter=self._get, **arguments)

    def _get(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: Any = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """What a custom getter is given as `getter`."""
        given = dict(locals())
        del given["self"]
        wanted = Wanted(**given)
        if partitioner is not None and not (isinstance(shape, Sequence) and not shape):
            if not callable(partitioner):
                raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self.partitioned(wanted)
        if reuse is True and partitioner is None and name in self._partitioned_vars:
            return self.partitioned(wanted)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                f"No partitioner was provided, but a partitioned version of the variable was found: {name}/part_0. "
                "Perhaps a "
                "variable of the same name was already created with partitioning?"
            )
        return self._single(wanted)

    # --- one variable -------------------------------------------------------------------------------------------------

    def _single(self, wanted: Wanted, part: PartitionInfo | None = None) -> Any:
        from_value = wanted.initializer is not None and not callable(wanted.initializer)
        if wanted.shape is not None and from_value:
            raise ValueError("If initializer is a constant, do not specify shape.")
        wanted = replace(wanted, dtype=dtypes.as_dtype(wanted.dtype))
        shape = as_shape(wanted.shape)
        if wanted.name in self._vars:
            return self._shared(wanted, shape)
        if wanted.reuse is True:
            raise ValueError(
                f"Variable {wanted.name} does not exist, or was not created with tf.get_variable(). Did you mean to "
                "set "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        return self._new(wanted, shape, part)

    def _shared(self, wanted: Wanted, shape: TensorShape) -> Any:
        name, found = wanted.name, self._vars[wanted.name]
        if wanted.reuse is False:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE "
                "in VarScope?" + _where_made(found)
            )
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {shape} and found shape {found.get_shape()}."
            )
        if not wanted.dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {wanted.dtype.name} and found dtype "
                f"{found.dtype.name}."
            )
        return found

    def _new(self, wanted: Wanted, shape: TensorShape, part: PartitionInfo | None) -> Any:
        value, dtype = initial_value(wanted, shape, part)
        variable = VariableV1(
            initial_value=value,
            name=wanted.name,
            trainable=wanted.trainable,
            collections=wanted.collections,
            caching_device=wanted.caching_device,
            dtype=dtype,
            validate_shape=wanted.validate_shape,
            constraint=wanted.constraint,
            use_resource=wanted.use_resource,
            synchronization=wanted.synchronization,
            aggregation=wanted.aggregation,
        )
        if not context.executing_eagerly():
            self._vars[wanted.name] = variable
        elif self._store_eager_variables:
            self._vars[wanted.name] = variable
            _collect(variable, wanted)
        if wanted.regularizer:
            _regularize(variable, wanted.name, wanted.regularizer)
        return variable

    # --- a variable in parts ------------------------------------------------------------------------------------------

    def partitioned(self, wanted: Wanted) -> PartitionedVariable:
        """Return the partitioned variable of this name: found, or made."""
        name = wanted.name
        if name in self._vars:
            raise ValueError(
                f"A partitioner was provided, but an unpartitioned version of the variable was found: {name}.  "
                "Perhaps a "
                "variable of the same name was already created without partitioning?"
            )
        wanted = replace(wanted, dtype=dtypes.as_dtype(wanted.dtype))
        shape = as_shape(wanted.shape)
        if isinstance(wanted.initializer, Tensor):
            shape = shape.merge_with(wanted.initializer.get_shape())
        partitions = None
        if not wanted.reuse or wanted.partitioner:
            partitions = call_partitioner(wanted.partitioner, shape, wanted.dtype)
        if name in self._partitioned_vars:
            return self._shared_parts(wanted, shape, partitions)
        if wanted.reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did you mean "
                "to set "
                "reuse=False or reuse=tf.AUTO_REUSE in VarScope?"
            )
        made = self._new_parts(wanted, shape, partitions)
        if not context.executing_eagerly() or self._store_eager_variables:
            self._partitioned_vars[name] = made
        return made

    def _shared_parts(self, wanted: Wanted, shape: TensorShape, partitions: Any) -> PartitionedVariable:
        name, found = wanted.name, self._partitioned_vars[wanted.name]
        if wanted.reuse is False:
            raise ValueError(
                f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        start = f"Trying to reuse partitioned variable {name}, but specified"
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(f"{start} shape {shape} and found shape {found.get_shape()}.")
        if not wanted.dtype.is_compatible_with(found.dtype):
            raise ValueError(f"{start} dtype {wanted.dtype.name} and found dtype {found.dtype.name}.")
        if partitions is not None and list(found._get_partitions()) != list(partitions):
            raise ValueError(f"{start} partitions {partitions} and found partitions {found._get_partitions()}.")
        return found

    def _new_parts(self, wanted: Wanted, shape: TensorShape, partitions: Any) -> PartitionedVariable:
        axis, count = split_axis(partitions)
        self._check_parts(wanted.name, count)
        full, parts = shape.as_list(), []
        for i, (offset, length) in enumerate(slices_of(full, count, axis)):
            part_name = f"{wanted.name}/part_{i}"
            with name_scope(f"{part_name}/PartitionedInitializer"):
                part = _part_of(wanted, part_name, offset, length)
            with name_scope(None):
                variable = self._single(part, PartitionInfo(full, offset))
            variable._set_save_slice_info(SaveSliceInfo(wanted.name, full, offset, length))
            parts.append(variable)
        dtype = parts[0].dtype.base_dtype if isinstance(wanted.initializer, Tensor) else wanted.dtype
        return PartitionedVariable(wanted.name, shape, dtype, parts, partitions)

    def _check_parts(self, name: str, count: int) -> None:
        """Refuse another number of parts than were made before, one by one."""
        if f"{name}/part_0" not in self._vars:
            return
        start = (
            "Partitioner returned a different partitioning than what was already found.  Partitioner returned "
            f"{count} shards, and shard {name}/part_0 was found, but"
        )
        if f"{name}/part_{count - 1}" not in self._vars:
            raise ValueError(f"{start} {name}/part_{count - 1} was not.")
        if f"{name}/part_{count}" in self._vars:
            raise ValueError(f"{start} so was the extra shard {name}/part_{count}.")


# --- initial values ---------------------------------------------------------------------------------------------------


def initial_value(wanted: Wanted, shape: TensorShape, part: PartitionInfo | None = None) -> tuple[Any, Any]:
    """Return what a new variable starts with (a value, or a function that gives it) and the dtype to ask for."""
    initializer = wanted.initializer
    if initializer is None:
        if wanted.shape is None and not context.switches.tf1:
            raise ValueError(
                f"Variable {wanted.name} did not get an initializer, so its `shape` argument must be specified."
            )
        initializer = default_initializer(wanted.name, wanted.dtype)
    elif not callable(initializer):
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if wanted.shape is not None and shape.is_fully_defined():
        given = {"dtype": wanted.dtype}
        if any(p.name == "partition_info" for p in _parameters(initializer)):  # those of TF 2 do not take it
            given["partition_info"] = part
        return lambda: initializer(shape.as_list(), **given), wanted.dtype.base_dtype
    if _needs_no_arguments(initializer):
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no arguments and the shape should not be "
        "provided "
        "or an instance of `tf.keras.initializers.*' and `shape` should be fully defined."
    )


def default_initializer(name: str, dtype: Any) -> Any:
    """Return the initializer of variables for which nobody gave one."""
    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype is dtypes.string:
        return Zeros()
    raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")


def _part_of(wanted: Wanted, name: str, offset: list[int], length: list[int]) -> Wanted:
    """Return the request for one part: a slice of the initial value, or the initializer for the part's shape."""
    initializer = wanted.initializer
    if initializer is None or callable(initializer):
        return replace(wanted, name=name, shape=length, initializer=initializer, partitioner=None)
    whole = initializer if isinstance(initializer, Tensor) else convert(initializer, wanted.dtype)
    part = slice_(whole, offset, length)
    return replace(wanted, name=name, shape=None, dtype=part.dtype.base_dtype, initializer=part, partitioner=None)


def _parameters(function: Callable[..., Any]) -> Any:
    try:
        return inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not tell
        return ()


def _takes(function: Callable[..., Any], name: str) -> bool:
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in _parameters(function))


def _needs_no_arguments(function: Callable[..., Any]) -> bool:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(p.default is not p.empty or p.kind in kinds for p in _parameters(function))


# --- what else happens to a new variable ------------------------------------------------------------------------------


def _where_made(variable: Any) -> str:
    """Return, for the error about a second variable of the name, where the first was made."""
    if isinstance(variable, ResourceVariable) and variable._in_graph is False:
        return ""
    lines = [frame[:4] for frame in variable.op.traceback[::-1]][:5]
    return f" Originally defined at:\n\n{''.join(traceback.format_list(lines))}" if lines else ""


def _collect(variable: Any, wanted: Wanted) -> None:
    graph = context.default_graph()
    graph.add_to_collections(wanted.collections or [GraphKeys.GLOBAL_VARIABLES], variable)
    if wanted.trainable:
        graph.add_to_collection(GraphKeys.TRAINABLE_VARIABLES, variable)


def _regularize(variable: Any, name: str, regularizer: Callable[..., Any]) -> None:
    """Keep the regularizer's loss for the new variable in the graph."""

    def loss() -> Any:
        with colocate_with(variable), name_scope(f"{name}/Regularizer/"), init_scope():
            return regularizer(variable)

    if not context.switches.tf1 and regularizer(variable) is None:  # TF 2 asks first whether there is a loss
        return
    found = loss()
    if found is not None:
        context.default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, found)


# --- stores -----------------------------------------------------------------------------------------------------------

_STORE_KEY = ("__variable_store",)


def home_graph() -> Any:
    """Return the graph whose variables are meant here: the one around the functions being traced."""
    graph = context.default_graph()
    while graph.building_function and getattr(graph, "_around", None) is not None:
        graph = graph._around
    return graph


def default_store() -> VariableStore:
    """Return the store of the graph."""
    stores = home_graph().get_collection_ref(_STORE_KEY)
    if not stores:
        stores.append(VariableStore())
    return stores[0]


@contextlib.contextmanager
def with_variable_store(store: VariableStore) -> Iterator[None]:
    """Have `get_variable` use `store` inside the block."""
    stores = home_graph().get_collection_ref(_STORE_KEY)
    held = list(stores)
    stores[:] = [store]
    try:
        yield
    finally:
        stores[:] = held


class EagerVariableStore:
    """Keeps the variables that `get_variable` makes eagerly, so that they are found again.

    >>> from ebbflow.state.variable_scope import get_variable
    >>> container = EagerVariableStore()
    >>> with container.as_default():
    ...     again = get_variable("w", [2]) is get_variable("w", [2])
    >>> again, [v.name for v in container.variables()]
    (True, ['w:0'])
    """

    def __init__(self, store: VariableStore | None = None):
        if store is not None and not store._store_eager_variables:
            raise ValueError(
                "Cannot construct EagerVariableStore from a VariableStore object that does not hold eager variables."
            )
        self._store = VariableStore() if store is None else store
        self._store._store_eager_variables = True

    def as_default(self) -> Any:
        """Have `get_variable` use this store inside the block."""
        return with_variable_store(self._store)

    def variables(self) -> list[Any]:
        """Return all variables, by name."""
        return sorted(self._store._vars.values(), key=lambda v: v.name)

    def trainable_variables(self) -> list[Any]:
        """Return the variables that are trained, by name."""
        return [v for v in self.variables() if v.trainable]

    def non_trainable_variables(self) -> list[Any]:
        """Return the variables that are not trained, by name."""
        return [v for v in self.variables() if not v.trainable]

    def copy(self) -> EagerVariableStore:
        """Return a store with copies of the variables."""
        copied = EagerVariableStore()
        for key, variable in self._store._vars.items():
            name = variable.name.partition(":")[0]
            copied._store._vars[key] = ResourceVariable(variable.read_value(), variable.trainable, name=name)
        return copied
