"""A linear map of several inputs, as the first recurrent cells used it, and the wrappers made of it: an embedding or a
projection before a cell, a projection behind it.

Variables are got from the scope that is open (`kernel`, `bias`). Knows variable scopes and cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ebbflow.core import dtypes, nest
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import InitializerLike, Nested
from ebbflow.graph.scopes import device_scope
from ebbflow.layers.rnn.cell_base import BIAS, KERNEL, RNNCell, assert_like_rnncell
from ebbflow.ops.arrays.creation import constant
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.ops.nn.embedding import embedding_lookup_v1
from ebbflow.platform import logging
from ebbflow.state.initializers import Constant, RandomUniform
from ebbflow.state.variable_scope import get_variable, get_variable_scope, variable_scope


class Linear:
    """args · kernel + bias, with variables made now and used at every call."""

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ):
        self._build_bias = build_bias
        self._is_sequence = nest.is_sequence(args)
        inputs = _matrices(args)
        depth, dtype = sum(x.shape.as_list()[1] for x in inputs), inputs[0].dtype.base_dtype
        with variable_scope(get_variable_scope()) as outer:
            self._weights = get_variable(KERNEL, [depth, output_size], dtype=dtype, initializer=kernel_initializer)
            if build_bias:
                with variable_scope(outer) as inner:
                    inner.set_partitioner(None)
                    start = Constant(0.0) if bias_initializer is None else bias_initializer
                    self._biases = get_variable(BIAS, [output_size], dtype=dtype, initializer=start)

    def __call__(self, args: Any) -> Any:
        args = args if self._is_sequence else [args]
        joined = args[0] if len(args) == 1 else concat(args, constant(1, dtypes.int32))
        product = matmul(joined, self._weights)
        return bias_add(product, self._biases) if self._build_bias else product


def linear(
    args: Nested,
    output_size: int,
    bias: bool,
    bias_initializer: InitializerLike | None = None,
    kernel_initializer: InitializerLike | None = None,
    bias_start: float = 0.0,
    scope: Any = None,
) -> Tensor:
    """Return args · kernel + bias, with the variables of the scope that is open.

    Until TensorFlow 1.1 the bias began at a number, given after it, and the variables had a scope of their own.
    """
    if isinstance(bias_initializer, (int, float)):
        bias_initializer = Constant(bias_initializer)
    elif bias_initializer is None:
        bias_initializer = Constant(bias_start)
    if scope is None:
        return Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)
    with variable_scope(scope):
        return Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)


def _matrices(args: Any) -> list[Any]:
    """Return what a linear map is of, as a list of matrices with a known number of columns."""
    if args is None or (nest.is_sequence(args) and not args):
        raise ValueError("`args` must be specified")
    inputs = list(args) if nest.is_sequence(args) else [args]
    shapes = [x.shape for x in inputs]
    for shape in shapes:
        if shape.rank != 2:
            raise ValueError(f"linear is expecting 2D arguments: {shapes}")
        if shape.as_list()[1] is None:
            raise ValueError(f"linear expects shape[1] to be provided for shape {shape}, but saw {shape[1]}")
    return inputs


class _Around(RNNCell):
    """A wrapper that has a scope of its own around the cell's."""

    def __init__(self, cell: Any, reuse: bool | None):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size, doc="The size of the cell's state.")
    output_size = property(lambda self: self._cell.output_size, doc="The size of the cell's output.")

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class EmbeddingWrapper(_Around):
    """Looks the inputs, which are numbers of classes, up in a table of vectors."""

    def __init__(
        self,
        cell: RNNCell,
        embedding_classes: int,
        embedding_size: int,
        initializer: InitializerLike | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}."
            )
        self._embedding_classes = embedding_classes
        self._embedding_size = embedding_size
        self._initializer = initializer

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Look up, and take one step."""
        edge = math.sqrt(3)  # a uniform distribution this wide has variance 1
        start = self._initializer or get_variable_scope().initializer or RandomUniform(-edge, edge)
        dtype = (state[0] if isinstance(state, tuple) else state).dtype.base_dtype
        with device_scope("/cpu:0"):
            shape = [self._embedding_classes, self._embedding_size]
            table = get_variable("embedding", shape, initializer=start, dtype=dtype)
            return self._cell(embedding_lookup_v1(table, reshape(inputs, [-1])), state)


class InputProjectionWrapper(_Around):
    """Maps the inputs to `num_proj` columns before the cell sees them."""

    def __init__(
        self,
        cell: RNNCell,
        num_proj: int,
        activation: Callable[..., Any] | None = None,
        input_size: object = None,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        if input_size is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_proj = num_proj
        self._activation = activation
        self._linear: Linear | None = None

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Map, and take one step."""
        if self._linear is None:
            self._linear = Linear(inputs, self._num_proj, True)
        projected = self._linear(inputs)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Around):
    """Maps the cell's outputs to `output_size` columns."""

    def __init__(
        self, cell: RNNCell, output_size: int, activation: Callable[..., Any] | None = None, reuse: bool | None = None
    ):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size = output_size
        self._activation = activation
        self._linear: Linear | None = None

    output_size = property(lambda self: self._output_size, doc="The number of columns.")

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step, and map."""
        output, new_state = self._cell(inputs, state)
        if self._linear is None:
            self._linear = Linear(output, self._output_size, True)
        projected = self._linear(output)
        return (self._activation(projected) if self._activation else projected), new_state
