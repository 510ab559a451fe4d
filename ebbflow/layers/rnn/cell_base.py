"""What a recurrent cell is: sizes of state and output, a state to start from, and a step from input and state to both.

`RNNCell` is for programs' own cells, which may make variables wherever they like in `call` (they are found again in
the cell's scope at the next step). `LayerRNNCell` is for cells that make theirs in `build`, as layers do. Knows layers,
sizes and zeros; knows no cell and no loop over time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, as_shape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Nested
from ebbflow.layers.arguments import name_of_activation
from ebbflow.layers.base import Layer, is_trained
from ebbflow.ops.arrays.creation import constant, zeros
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import expand_dims
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.state.variable_scope import get_variable_scope, variable_scope

KERNEL, BIAS = "kernel", "bias"
"""What the variables of cells are called."""


class RNNCell(Layer):
    """One step of a recurrence: `output, next_state = cell(inputs, state)`."""

    _is_tf_rnn_cell = True
    _settings: tuple[str, ...] = ()

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any):
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)

    @property
    def state_size(self) -> Nested:
        """The size of the state: an int, a TensorShape, or a nested structure of these."""
        raise NotImplementedError(f"{type(self).__name__} must define the property state_size")

    @property
    def output_size(self) -> Nested:
        """The size of the output: an int, a TensorShape, or a nested structure of these."""
        raise NotImplementedError(f"{type(self).__name__} must define the property output_size")

    def build(self, _: Any) -> None:
        """Make nothing: variables come with the first call, and are found again at the next."""

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None) -> Nested:
        if scope is not None:
            with variable_scope(scope, custom_getter=self._rnn_get_variable) as opened:
                return super().__call__(inputs, state, scope=opened)
        if "rnncell_scope" not in self.__dict__:  # the scope of the first call is that of all
            self.rnncell_scope = variable_scope(get_variable_scope(), custom_getter=self._rnn_get_variable)
        with self.rnncell_scope:
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        """Count a variable that is made inside a call among the cell's own."""
        variable = getter(*args, **kwargs)
        kept = self._trainable_weights if is_trained(variable) else self._non_trainable_weights
        if all(variable is not v for v in kept):
            kept.append(variable)
        return variable

    # --- the state to start from --------------------------------------------------------------------------------------

    def get_initial_state(
        self, inputs: Nested = None, batch_size: AnyTensor = None, dtype: DTypeLike | None = None
    ) -> Nested:
        """Return a state of zeros, for the batch size and dtype of `inputs` or for those given."""
        if inputs is not None:
            batch_size, dtype = _like_inputs(convert(inputs, name="inputs"), batch_size, dtype)
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: AnyTensor, dtype: DTypeLike) -> Nested:
        """Return a state of zeros."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return zero_state_tensors(self.state_size, batch_size, dtype)

    # --- variables: its own, and those of cells and layers that it holds ----------------------------------------------

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that are trained, its own first, then those of the cells inside it."""
        if not self.trainable:
            return []
        return _once(self._trainable_weights, *[layer.trainable_weights for layer in self._held()])

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not trained."""
        own = list(self._non_trainable_weights)
        if self.trainable:
            return _once(own, *[layer.non_trainable_weights for layer in self._held()])
        return _once(self._trainable_weights, own, *[layer.weights for layer in self._held()])

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    def _held(self) -> list[Layer]:
        """Return the layers among the cell's attributes, those in lists too."""
        values = [v for key, v in self.__dict__.items() if not key.endswith("_weights")]
        flat = [item for v in values for item in (v if isinstance(v, (list, tuple)) else (v,))]
        return [item for item in flat if isinstance(item, Layer)]

    # --- as settings --------------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """Return the arguments to make such a cell with."""
        config = {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}
        for key in self._settings:
            value = getattr(self, f"_{key}")
            config[key] = name_of_activation(value) if key == "activation" else value
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> RNNCell:
        """Return a cell made with what `get_config` gave."""
        return cls(**config)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, once."""

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None, *args: Any, **kwargs: Any) -> Nested:
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def _depth_of(self, inputs_shape: Any) -> int:
        """Return the length of the inputs' last axis, which weights depend on."""
        dims = TensorShape(inputs_shape).as_list()
        if dims[-1] is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {tuple(dims)}")
        check_dtype(self._dtype)
        return dims[-1]


def _once(*lists: Iterable[Any]) -> list[Any]:
    return list({id(v): v for variables in lists for v in variables}.values())


def _like_inputs(inputs: Any, batch_size: Any, dtype: Any) -> tuple[Any, Any]:
    """Return the batch size and dtype of inputs, which must be those given, if any are."""
    length = inputs._dims[0]
    if batch_size is not None:
        given = batch_size.constant_value() if isinstance(batch_size, Tensor) else batch_size
        if length != given:
            raise ValueError(
                "batch size from input tensor is different from the input param. Input tensor batch: "
                f"{length}, batch_size: {batch_size}"
            )
    if dtype is not None and inputs.dtype != dtype:
        raise ValueError(
            "dtype from input tensor is different from the input param. Input tensor dtype: "
            f"{inputs.dtype}, dtype: {dtype}"
        )
    return length or shape_of(inputs)[0], inputs.dtype


# --- sizes ------------------------------------------------------------------------------------------------------------


def concat_sizes(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """Return the shape that starts with `prefix` and ends with `suffix`, each an int, a shape or a tensor.

    It is a tensor, or with `static` a list with None where nothing is known (or None, where the rank is not).

    >>> concat_sizes(2, [3, 4], static=True), concat_sizes(None, 3, static=True)
    ([2, 3, 4], None)
    """
    parts = [_size(value, which) for value, which in ((prefix, "prefix"), (suffix, "suffix"))]
    if static:
        known: list[Any] = [p for _, p in parts]
        return None if None in known else [n for p in known for n in p]
    if parts[0][0] is None or parts[1][0] is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return concat([tensor for tensor, _ in parts], 0)


def _size(value: Any, which: str) -> tuple[Any, list[int | None] | None]:
    """Return a size as a vector (None where that cannot be), and as a list."""
    if isinstance(value, Tensor):
        if value._dims not in ((), None) and len(value._dims) != 1:
            raise ValueError(f"{which} tensor must be either a scalar or vector, but saw tensor: {value}")
        known = value.constant_value()
        listed: list[Any] | None = None if known is None else [int(n) for n in known.reshape(-1)]
        return (expand_dims(value, 0) if value._dims == () else value), listed
    shape = as_shape(value)
    listed = None if shape.rank is None else shape.as_list()
    return (constant(shape.as_list(), dtypes.int32) if shape.is_fully_defined() else None), listed


def zero_state_tensors(state_size: Any, batch_size: int, dtype: DTypeLike) -> Any:
    """Return zeros for each size of a nested structure of sizes."""

    def zeros_for(size: Any) -> Any:
        if context.executing_eagerly() and not isinstance(batch_size, Tensor) and not isinstance(size, Tensor):
            return zeros([int(batch_size), *as_shape(size).as_list()], dtype)
        made = zeros(concat_sizes(batch_size, size), dtype)
        if not context.executing_eagerly():
            made.set_shape(concat_sizes(batch_size, size, static=True))
        return made

    return nest.map_structure(zeros_for, state_size)


# --- checks -----------------------------------------------------------------------------------------------------------


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Raise TypeError where `cell` does not do what a cell does."""
    has = {name: _has(cell, name) for name in ("output_size", "state_size", "get_initial_state", "zero_state")}
    wrong = {
        "'output_size' property is missing": not has["output_size"],
        "'state_size' property is missing": not has["state_size"],
        "either 'zero_state' or 'get_initial_state' method is required": not (
            has["zero_state"] or has["get_initial_state"]
        ),
        "is not callable": not callable(cell),
    }
    if any(wrong.values()):
        said = ", ".join(words for words, is_wrong in wrong.items() if is_wrong)
        raise TypeError(f"The argument {cell_name!r} ({cell}) is not an RNNCell: {said}.")


def like_rnncell(cell: Any) -> bool:
    """Return whether `cell` does what a cell does."""
    try:
        assert_like_rnncell("cell", cell)
    except TypeError:
        return False
    return True


def _has(value: Any, name: str) -> bool:
    try:
        getattr(value, name)
    except (AttributeError, NotImplementedError):
        return False
    return True


def check_dtype(dtype: Any) -> None:
    """Raise ValueError for a dtype that cells do not compute with."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        if not (dtype.is_floating or dtype.is_complex):
            raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype}")


def check_inputs(inputs: Any, state: Any) -> None:
    """Raise ValueError for inputs or a state that cells do not compute with."""
    for tensor in nest.flatten([inputs, state]):
        dtype = tensor.dtype
        if not (dtype.is_floating or dtype.is_complex):
            check_dtype(dtype)
