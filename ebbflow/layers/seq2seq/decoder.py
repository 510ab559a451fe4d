"""Decoding in a loop: `tf.contrib.seq2seq.dynamic_decode`, what a decoder is, and the plain one.

A decoder says how it starts and what a step does; the loop stops when all rows have finished, or after a given number
of steps. Knows cells and helpers by what they do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.layers.base import Layer
from ebbflow.layers.rnn.cell_base import assert_like_rnncell, zero_state_tensors
from ebbflow.layers.rnn.static import cache_variables
from ebbflow.layers.rnn.steps import choose_rows, transpose_batch_time
from ebbflow.layers.seq2seq.helpers import Helper
from ebbflow.ops.arrays.creation import constant, fill, zeros_like
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.reduce.reductions import reduce_all
from ebbflow.state.variable_scope import variable_scope

if TYPE_CHECKING:
    from ebbflow.layers.rnn.cell_base import RNNCell
    from ebbflow.state.variable_scope import VariableScope


class Decoder:
    """What `dynamic_decode` asks of a decoder."""

    @property
    def batch_size(self) -> Any:
        """How many rows there are."""
        raise NotImplementedError(f"{type(self).__name__} must define the property batch_size")

    @property
    def output_size(self) -> Nested:
        """The sizes of a step's outputs, in their structure."""
        raise NotImplementedError(f"{type(self).__name__} must define the property output_size")

    @property
    def output_dtype(self) -> Nested:
        """The dtypes of a step's outputs, in their structure."""
        raise NotImplementedError(f"{type(self).__name__} must define the property output_dtype")

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Return which rows have finished before they began, the first inputs, and the first state."""
        raise NotImplementedError(f"{type(self).__name__} must define initialize()")

    def step(
        self, time: TensorLike, inputs: Nested, state: Nested, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Return a step's outputs, the next state, the next inputs, and which rows have finished."""
        raise NotImplementedError(f"{type(self).__name__} must define step()")

    def finalize(self, outputs: Nested, final_state: Nested, sequence_lengths: TensorLike) -> tuple[Any, Any]:
        """Return what is made of the outputs and the state in the end; a decoder may do without."""
        raise NotImplementedError(f"{type(self).__name__} has no finalize(), which is as well")

    @property
    def tracks_own_finished(self) -> bool:
        """Whether rows that have finished may go on (in a beam they change places)."""
        return False


class BasicDecoderOutput(NamedTuple):
    """What a plain decoder gives at each step: the cell's output, and what was chosen by it."""

    rnn_output: Any
    sample_id: Any


class BasicDecoder(Decoder):
    """A cell whose inputs a helper chooses, by the outputs before."""

    def __init__(
        self, cell: RNNCell, helper: Helper, initial_state: Nested, output_layer: Callable[..., Any] | None = None
    ):
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        """How many rows the helper has."""
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        return size_behind(self._cell.output_size, self._output_layer)

    @property
    def output_size(self) -> BasicDecoderOutput:
        """The sizes of the cell's outputs and of what the helper chooses."""
        return BasicDecoderOutput(self._rnn_output_size(), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> BasicDecoderOutput:
        """The dtypes of the cell's outputs and of what the helper chooses."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(
            nest.map_structure(lambda _: dtype, self._rnn_output_size()), self._helper.sample_ids_dtype
        )

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Return what the helper starts with, and the first state."""
        return (*self._helper.initialize(), self._initial_state)

    def step(
        self, time: TensorLike, inputs: Nested, state: Nested, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Take one step with the cell, and let the helper choose."""
        with name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, cell_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            chosen = self._helper.sample(time=time, outputs=outputs, state=cell_state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=cell_state, sample_ids=chosen
            )
        return BasicDecoderOutput(outputs, chosen), next_state, next_inputs, finished


def size_behind(size: Any, layer: Any) -> Any:
    """Return the size of a cell's output behind a layer (or as it is, without one)."""
    if layer is None:
        return size
    with_batch = nest.map_structure(lambda s: TensorShape([None]).concatenate(TensorShape(s)), size)
    return nest.map_structure(lambda s: TensorShape(s)[1:], layer.compute_output_shape(with_batch))


# --- the loop ---------------------------------------------------------------------------------------------------------


def dynamic_decode(
    decoder: Any,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: TensorLike | None = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: str | VariableScope | None = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """Return a decoder's outputs of all steps, its last state, and how long each row became."""
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder") as varscope:
        cache_variables(varscope)
        maximum_iterations = _limit(maximum_iterations)
        finished, inputs, state = decoder.initialize()
        nothing = _for_each_output(decoder, lambda size, dtype: zero_state_tensors(size, decoder.batch_size, dtype))
        if maximum_iterations is not None:
            finished = raw.LogicalOr(finished, raw.LessEqual(maximum_iterations, 0))
        arrays = _for_each_output(decoder, lambda size, dtype: _array(decoder.batch_size, size, dtype))
        lengths = zeros_like(finished, dtypes.int32)
        _, arrays, state, _, _, lengths = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: raw.LogicalNot(reduce_all(finished)),
            _body(decoder, impute_finished, nothing),
            (constant(0, dtypes.int32), arrays, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs = nest.map_structure(lambda array: array.stack(), arrays)
        if type(decoder).finalize is not Decoder.finalize:
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


def _limit(maximum_iterations: Any) -> Any:
    if maximum_iterations is None:
        return None
    limit = convert(maximum_iterations, dtypes.int32, name="maximum_iterations")
    if limit._dims != ():
        raise ValueError("maximum_iterations must be a scalar")
    return limit


def _for_each_output(decoder: Any, make: Callable[[Any, Any], Any]) -> Any:
    return nest.map_structure(make, decoder.output_size, decoder.output_dtype)


def _array(batch_size: Any, size: Any, dtype: Any) -> TensorArray:
    shape = None
    if isinstance(size, TensorShape) and size.rank != 0:
        known = batch_size.constant_value() if isinstance(batch_size, Tensor) else batch_size
        shape = TensorShape([None if known is None else int(known)]).concatenate(size)
    return TensorArray(dtype, size=0, dynamic_size=True, element_shape=shape)


def _body(decoder: Any, impute_finished: bool, nothing: Any) -> Any:
    def body(time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> tuple[Any, ...]:
        outputs, next_state, next_inputs, done = decoder.step(time, inputs, state)
        next_finished = done if decoder.tracks_own_finished else raw.LogicalOr(done, finished)
        lengths = where_v1(raw.LogicalNot(finished), fill(shape_of(lengths), time + 1), lengths)
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(arrays, outputs)
        nest.assert_same_structure(inputs, next_inputs)
        if impute_finished:
            outputs = nest.map_structure(lambda out, zero: where_v1(finished, zero, out), outputs, nothing)
            next_state = nest.map_structure(lambda new, old: _kept(finished, old, new), next_state, state)
        arrays = nest.map_structure(lambda array, out: array.write(time, out), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, next_finished, lengths

    return body


def _kept(finished: Any, old: Any, new: Any) -> Any:
    if not isinstance(old, TensorArray) and not context.executing_eagerly():
        new.set_shape(old.shape)
    return choose_rows(finished, old, new)
