"""The base of layers: makes its variables once, under its own scope, and calls the computation.

A layer works the same in graphs and eagerly. Names of scopes, variables and nodes are TensorFlow's: the first layer of
a kind stands in the scope `dense`, the next in `dense_1`; its variables are `dense/kernel`, `dense/bias`. Programs
subclass `Layer` (`build`, `call`, `add_weight`). Knows variables and scopes; knows nothing of what layers compute.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, Effect, InitializerLike, Nested, ShapeLike
from ebbflow.graph.collections import GraphKeys
from ebbflow.graph.symbolic import Operation, SymbolicTensor
from ebbflow.layers.arguments import checked_function, initializer_named
from ebbflow.layers.input_spec import InputSpec, check_inputs
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.elementwise.casts import cast
from ebbflow.platform import keras_hooks
from ebbflow.state.functions import global_variables, trainable_variables
from ebbflow.state.module import Module
from ebbflow.state.variable_scope import VariableScope, get_variable, variable_scope
from ebbflow.state.variables import Variable, VariableAggregation, VariableSynchronization
from ebbflow.trackable.base import no_automatic_dependency_tracking

__all__ = ["InputSpec", "Layer"]


class Layer(Module):
    """A computation with variables of its own."""

    _use_resource_variables = False

    @no_automatic_dependency_tracking
    def __init__(self, trainable: bool = True, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any):
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self._activity_regularizer = checked_function(kwargs.pop("activity_regularizer", None), "regularizer")
        for unused in ("autocast", "dynamic", "input_shape", "batch_input_shape", "batch_size"):
            kwargs.pop(unused, None)  # Keras's, which layers of this kind take and leave alone
        if kwargs:
            raise TypeError("Keyword argument not understood:", next(iter(kwargs)))
        self.trainable = trainable
        self.stateful = False
        self.built = False
        self.supports_masking = False
        self._input_spec: Any = None
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        self._set_name(name)
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._updates: list[Any] = []
        self._losses: list[Any] = []
        self._eager_losses: list[Any] = []
        self._callable_losses: list[Callable[[], Any]] = []
        self._call_parameters: frozenset[str] | None = None
        self._scope: Any = None
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    def _set_name(self, name: Any) -> None:
        base = name.name if isinstance(name, VariableScope) else name
        self._base_name = base or snake_case(type(self).__name__)
        self._name = name if isinstance(name, str) and name else _numbered(snake_case(type(self).__name__))

    # --- what it has --------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The layer's own name (its scope's may have a number behind it)."""
        return self._name

    @property
    def dtype(self) -> str | None:
        """The name of the dtype of the layer's variables, once known."""
        return None if self._dtype is None else self._dtype.name

    @property
    def input_spec(self) -> Effect:
        """What the layer asks of its inputs."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: InputSpec | None) -> None:
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {spec}")
        self._input_spec = value

    @property
    def activity_regularizer(self) -> Callable[..., Any] | None:
        """The function that gives a loss for the layer's output, or None."""
        return self._activity_regularizer

    @property
    def scope_name(self) -> str:
        """The name of the variable scope that the layer's variables are in."""
        if not self._scope:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been used yet. The scope '
                "name  is determined the first time the layer instance is called. You must therefore call the layer "
                "before querying `scope_name`."
            )
        return self._scope.name

    @property
    def graph(self) -> None:
        """None: a layer belongs to no graph, its variables do."""
        if context.executing_eagerly():
            raise RuntimeError("Layer.graph not supported when executing eagerly.")
        return None

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that are trained (none where the layer is not trainable)."""
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not trained."""
        if self.trainable:
            return list(self._non_trainable_weights)
        return self._trainable_weights + self._non_trainable_weights

    @property
    def weights(self) -> list[Any]:
        """All variables, the trained ones first."""
        return self.trainable_weights + self.non_trainable_weights

    variables = weights
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    @property
    def updates(self) -> list[Any]:
        """The operations to be run with each training step (none where the layer is not trainable)."""
        return list(self._updates) if self.trainable or self.stateful else []

    @property
    def losses(self) -> list[Any]:
        """The losses that the layer brings: of its variables, and of its last outputs."""
        found = [*self._losses, *self._eager_losses, *[loss() for loss in self._callable_losses]]
        return [loss for loss in found if loss is not None]

    def get_updates_for(self, inputs: Nested) -> list[Any]:
        """Return the updates that depend on these inputs (None: those that depend on no input of the layer)."""
        return _depending(self.updates, inputs, self._conditions)

    def get_losses_for(self, inputs: Nested) -> list[Any]:
        """Return the losses that depend on these inputs (None: those that depend on no input of the layer)."""
        return _depending(self.losses, inputs, self._conditions)

    @property
    def _conditions(self) -> set[int]:
        """The ids of updates and losses that were said to depend on inputs."""
        return self.__dict__.setdefault("_conditional", set())

    def count_params(self) -> int:
        """Return how many numbers the layer's variables hold."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build it "
                f"manually via: `{self.name}.build(batch_input_shape)`."
            )
        return sum(int(np.prod(v.shape.as_list())) for v in self.weights)

    def get_weights(self) -> list[np.ndarray]:
        """Return the values of the layer's variables (in a graph: in the default session)."""
        return [v.numpy() if context.executing_eagerly() else v.eval() for v in self.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the values of the layer's variables (in a graph: in the default session)."""
        variables = self.weights
        if len(weights) != len(variables):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length '
                f"{len(weights)}, but the layer was expecting {len(variables)} weights."
            )
        for variable, value in zip(variables, weights, strict=True):
            if tuple(variable.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight shape {np.shape(value)}"
                )
        for variable, value in zip(variables, weights, strict=True):
            variable.load(value)

    # --- what a subclass says -----------------------------------------------------------------------------------------

    def build(self, input_shape: ShapeLike) -> None:
        """Make the variables."""
        self.built = True

    def call(self, inputs: Nested, *args: Any, **kwargs: Any) -> Nested:
        """Compute."""
        return inputs

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """Return the shape of the output for an input of this shape."""
        raise NotImplementedError(
            f"{type(self).__name__} does not say its output shape: call the layer and look at the result's shape"
        )

    def add_weight(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike | None = None,
        regularizer: Callable[[Any], Any] | None = None,
        trainable: bool | None = None,
        constraint: Callable[[Any], Any] | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        partitioner: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> Variable:
        """Make a variable of the layer's own (or find it, where the scope is reused)."""
        for keyword in kwargs:
            if keyword != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", keyword)
        trainable = _settled(trainable, synchronization) and self.trainable
        self._dtype = self._dtype or dtypes.as_dtype(dtype or dtypes.float32).base_dtype
        settings = {
            "shape": TensorShape(() if shape is None else shape),
            "dtype": dtypes.as_dtype(dtype or self._dtype).base_dtype,
            "initializer": initializer_named(initializer),
            "trainable": trainable,
            "constraint": checked_function(constraint, "constraint"),
            "partitioner": partitioner,
            "use_resource": use_resource or self._use_resource_variables or None,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        variable = self._get_variable(name, settings, checked_function(regularizer, "regularizer"))
        self._keep(variable, trainable)
        if isinstance(variable, Variable):
            self._track_trackable(variable, name, overwrite=True)
        for part in _apart(variable):
            keras_hooks.track_variable(part)
        return variable

    def _get_variable(self, name: str, settings: dict[str, Any], regularizer: Any) -> Any:
        self._take_scope(None)
        known = _parts(() if context.executing_eagerly() else global_variables())
        opened = variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False)
        with opened as scope, name_scope(scope.original_name_scope):
            variable = get_variable(name, **settings)
            if regularizer is not None and not known & _parts([variable]):
                self._regularize(name, variable, regularizer)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Variable:
        """`add_weight`, by its older name."""
        return self.add_weight(*args, **kwargs)

    def _keep(self, variable: Any, trainable: bool) -> None:
        """Count a variable among the trained ones, unless it was made as one that is not."""
        trained = trainable and is_trained(variable)
        (self._trainable_weights if trained else self._non_trainable_weights).append(variable)

    def _regularize(self, name: str, variable: Any, regularizer: Callable[[Any], Any]) -> None:
        def loss_of(part: Any) -> Any:
            with name_scope(f"{name}/Regularizer"):
                return regularizer(part)

        for part in _apart(variable):
            self.add_loss(lambda part=part: loss_of(part))

    def add_loss(self, losses: Nested, inputs: Nested = None) -> None:
        """Add to the losses that the layer brings (in a graph: to the collection REGULARIZATION_LOSSES too).

        A function is called for the loss: at once in a graph, eagerly whenever the losses are asked for.
        """
        for loss in nest.flatten(losses):
            if callable(loss) and context.executing_eagerly():
                self._callable_losses.append(loss)
                continue
            loss = loss() if callable(loss) else loss
            if loss is None:
                continue
            loss = loss if isinstance(loss, Tensor) else convert(loss, dtypes.float32)
            if inputs is not None:
                self._conditions.add(id(loss))
            if context.executing_eagerly():
                self._eager_losses.append(loss)
                continue
            self._losses.append(loss)
            _add_to_collection(GraphKeys.REGULARIZATION_LOSSES, [loss])

    def add_update(self, updates: Nested, inputs: Nested = None) -> None:
        """Add to the updates that go with each step; eagerly, make those that are functions now."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            if context.executing_eagerly():
                if callable(update) and self.trainable:
                    update()
                continue
            made = update() if callable(update) and not isinstance(update, (Tensor, Variable)) else update
            made = made if isinstance(made, Operation) else made.op if hasattr(made, "op") else convert(made).op
            self._updates.append(made)
            if inputs is not None or self._calling is not None:
                self._conditions.add(id(made))

    # --- calling ------------------------------------------------------------------------------------------------------

    _calling: Any = None

    def __call__(self, inputs: Nested, *args: Any, **kwargs: Any) -> Nested:
        if self.built and self._needs_no_scope and context.executing_eagerly():
            kwargs.pop("scope", None)
            return self._build_and_call(nest.map_structure(_as_tensor, inputs), args, kwargs)
        self._take_scope(kwargs.pop("scope", None))
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            if self._takes("scope"):
                kwargs["scope"] = scope
            inputs = nest.map_structure(_as_tensor, inputs)
            with name_scope(scope.original_name_scope):
                outputs = self._build_and_call(inputs, args, kwargs)
        if not context.executing_eagerly():
            _add_to_collection(GraphKeys.UPDATE_OPS, self.updates)
        return outputs

    def apply(self, inputs: Nested, *args: Any, **kwargs: Any) -> Tensor:
        """Call the layer."""
        return self(inputs, *args, **kwargs)

    def _build_and_call(self, inputs: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if "training" in kwargs and not self._takes("training"):
            del kwargs["training"]
        check_inputs(self._input_spec, inputs, self._name)
        if not self.built:
            self._build_for(inputs)
        outer, self._calling = self._calling, inputs
        self._eager_losses = []
        try:
            outputs = self.call(inputs, *args, **kwargs)
            if outputs is None:
                raise ValueError(
                    "A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: "
                    f"{self._name})."
                )
            self._regularize_activity(inputs, outputs)
        finally:
            self._calling = outer
        return outputs

    def _build_for(self, inputs: Any) -> None:
        flat = nest.flatten(inputs)
        if self._dtype is None and flat and hasattr(flat[0], "dtype"):
            self._dtype = flat[0].dtype.base_dtype
        shapes = None
        if all(hasattr(x, "shape") for x in flat):
            shapes = nest.map_structure(lambda x: x.shape, inputs)
        self.build(shapes)
        self.built = True

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        if self._activity_regularizer is None:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                self.add_loss(loss / cast(shape_of(output)[0], loss.dtype), inputs)

    def _takes(self, name: str) -> bool:
        """Return whether `call` has a parameter of this name."""
        if self._call_parameters is None:
            self._call_parameters = frozenset(inspect.signature(self.call).parameters)
        return name in self._call_parameters

    @property
    def _needs_no_scope(self) -> bool:
        """Whether `call` makes no variables: true of the layers of this room, which saves opening scopes eagerly."""
        return type(self).call.__module__ in _OWN_MODULES

    def _take_scope(self, scope: Any) -> None:
        """Settle, once, which variable scope the layer's variables are in."""
        if self._scope is not None:
            return
        if self._reuse:
            opened = variable_scope(self._base_name if scope is None else scope)
        else:
            opened = variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    # --- as a Python object -------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> Layer:
        """Return a layer of its own with the same variables."""
        self._maybe_initialize_trackable()  # a copy has all of what trackable objects have, or nothing
        copied = memo[id(self)] = object.__new__(type(self))
        for key, value in self.__dict__.items():
            shared = nest.flatten(value) if isinstance(value, (list, tuple)) else [value]
            if shared and all(isinstance(v, (Tensor, Variable, Operation)) for v in shared):
                copied.__dict__[key] = copy.copy(value) if isinstance(value, list) else value
            else:
                copied.__dict__[key] = copy.copy(value) if key in _SHARED else copy.deepcopy(value, memo)
        children = self._unconditional_dependency_names.items()
        names = {n: v if isinstance(v, Variable) else copy.deepcopy(v, memo) for n, v in children}
        copied.__dict__["_self_unconditional_dependency_names"] = names
        return copied

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} object {self.name!r}>"


_SHARED = ("_scope", "_self_unconditional_dependency_names")  # what `deepcopy` has to copy in a way of its own
_OWN_MODULES = {
    f"{__package__}.{m}"
    for m in ("core", "convolutional", "pooling", "normalization", "separable", "rnn_cell", "rnn_blocks")
}


def read(variable: Any) -> Any:
    """Return what an op is to be given for a variable: eagerly its value; a graph names the read after the op."""
    return variable.value() if isinstance(variable, Variable) and context.executing_eagerly() else variable


# --- names ------------------------------------------------------------------------------------------------------------


def snake_case(name: str) -> str:
    """Return the name of a class as scopes are called.

    >>> snake_case("Conv2DTranspose"), snake_case("BatchNormalization"), snake_case("_Own")
    ('conv2d_transpose', 'batch_normalization', 'private__own')
    """
    words = re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()
    return f"private{words}" if words.startswith("_") else words


def _numbered(base: str) -> str:
    """Return the layer's own name: `dense_1`, `dense_2`, … within a graph (eagerly: within the process)."""
    counts = (
        _eager_counts if context.executing_eagerly() else context.default_graph().__dict__.setdefault("_layers", {})
    )
    counts[base] = counts.get(base, 0) + 1
    return f"{base}_{counts[base]}"


_eager_counts: dict[str, int] = {}


# --- variables, losses and updates ------------------------------------------------------------------------------------


def _as_tensor(value: Any) -> Any:
    return convert(value) if isinstance(value, (np.ndarray, np.generic, float, int)) else value


def _settled(trainable: bool | None, synchronization: Any) -> bool:
    if synchronization is not VariableSynchronization.ON_READ:
        return True if trainable is None else bool(trainable)
    if trainable:
        raise ValueError(
            "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. You "
            "have specified trainable=True and synchronization=VariableSynchronization.ON_READ."
        )
    return False


def is_trained(variable: Any) -> bool:
    """Return whether a variable is trained: in a graph, whether it was made as one of those that are."""
    graph = None if context.executing_eagerly() else context.current_graph()
    if graph is None or graph.building_function:  # a body keeps no list of variables of its own
        return any(getattr(part, "trainable", True) for part in _apart(variable))
    return bool(_parts(trainable_variables()) & _parts([variable]))


def _parts(variables: Iterable[Any]) -> set[int]:
    """Return the ids of variables, a partitioned one taken apart."""
    return {id(part) for v in variables for part in _apart(v)}


def _apart(variable: Any) -> Iterable[Any]:
    """Return the parts of a partitioned variable; any other is one, and so is a tensor that a custom getter makes."""
    return [variable] if isinstance(variable, (Variable, Tensor)) else variable


def _add_to_collection(name: str, items: Iterable[Any]) -> None:
    """Add what is not in a graph's collection already."""
    collection = context.default_graph().get_collection_ref(name)
    known = {id(item) for item in collection}
    collection.extend(item for item in items if id(item) not in known)


def _depending(items: Sequence[Any], inputs: Any, conditional: set[int]) -> list[Any]:
    if inputs is None:
        return [item for item in items if id(item) not in conditional]
    wanted = {id(t.op) for t in nest.flatten(inputs) if type(t) is SymbolicTensor}
    return [item for item in items if id(item) in conditional and _reaches(item, wanted)]


def _reaches(item: Any, wanted: set[int]) -> bool:
    """Return whether a node depends on one of the wanted nodes."""
    seen: set[int] = set()
    stack = [item if isinstance(item, Operation) else item.op]
    while stack:
        node = stack.pop()
        if id(node) in wanted:
            return True
        if id(node) not in seen:
            seen.add(id(node))
            stack.extend([t.op for t in node.inputs] + list(node.control_inputs))
    return False
