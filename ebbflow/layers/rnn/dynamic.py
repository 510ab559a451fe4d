"""Recurrences over time as loops in the graph: `dynamic_rnn`, in both directions, and `raw_rnn`.

Inside, time comes first. In a graph the loop is a `while_loop` over TensorArrays, eagerly a Python loop; a plain LSTM
needs neither (`rnn_whole`). Knows cells by what they do; knows none in particular.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.typing import AnyTensor, DTypeLike, Nested, TensorLike
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.graph.scopes import control_dependencies
from ebbflow.layers.rnn.cell_base import assert_like_rnncell, concat_sizes
from ebbflow.layers.rnn.fused_lstm import run_whole, runs_whole
from ebbflow.layers.rnn.static import cache_variables, layers_of_two
from ebbflow.layers.rnn.steps import (
    best_effort_input_batch_size,
    choose_rows,
    infer_state_dtype,
    initial_state_of,
    is_keras_cell,
    masked_step,
    maybe_tensor_shape_from_tensor,
    transpose_batch_time,
    zero_outputs,
)
from ebbflow.ops.arrays.creation import constant, identity, zeros
from ebbflow.ops.arrays.joining import concat, stack, unstack
from ebbflow.ops.arrays.reversing import reverse, reverse_sequence
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.reduce.reductions import reduce_all, reduce_max
from ebbflow.state.variable_scope import variable_scope

if TYPE_CHECKING:
    from ebbflow.layers.rnn.cell_base import RNNCell
    from ebbflow.state.variable_scope import VariableScope


def dynamic_rnn(
    cell: RNNCell,
    inputs: Nested,
    sequence_length: TensorLike | None = None,
    initial_state: Nested = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[Any, Any]:
    """Return the outputs of a cell for all steps of its inputs, and the state after the last (of each row).

    >>> import ebbflow as tf
    >>> with tf.Graph().as_default():
    ...     cell = tf.compat.v1.nn.rnn_cell.LSTMCell(8)
    ...     outputs, state = dynamic_rnn(cell, tf.zeros([2, 5, 3]), dtype=tf.float32)
    >>> outputs.shape.as_list(), state.h.shape.as_list()
    ([2, 5, 8], [2, 8])
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn") as varscope:
        cache_variables(varscope)
        flat = [convert(x) for x in nest.flatten(inputs)]
        if not time_major:
            flat = [transpose_batch_time(x) for x in flat]
        if sequence_length is not None:
            sequence_length = _lengths(sequence_length)
        batch_size = best_effort_input_batch_size(flat)
        if initial_state is None and not dtype:
            raise ValueError("If there is no initial_state, you must give a dtype.")
        state = initial_state_of(cell, batch_size, dtype) if initial_state is None else initial_state
        if sequence_length is not None and not context.executing_eagerly():
            sequence_length = _checked(sequence_length, batch_size)
        _input_dims(flat)
        if not nest.is_sequence(inputs) and runs_whole(cell, flat[0], state):
            outputs, last = run_whole(cell, flat[0], state, sequence_length)
        else:
            loop = _Unrolling(cell, inputs, flat, state, dtype, sequence_length)
            outputs, last = loop.run(parallel_iterations or 32, swap_memory)
        return outputs if time_major else nest.map_structure(transpose_batch_time, outputs), last


def _lengths(given: Any) -> Any:
    lengths = cast(given, dtypes.int32)
    if lengths._dims is not None and len(lengths._dims) != 1:
        raise ValueError(f"sequence_length must be a vector of length batch_size, but saw shape: {lengths.shape}")
    return identity(lengths, name="sequence_length")


def _checked(lengths: Any, batch_size: Any) -> Any:
    """Return the lengths, which must be as many as the batch has rows."""
    if lengths._dims == (batch_size,):
        return identity(lengths, name="CheckSeqLen")
    found, wanted = shape_of(lengths), stack([batch_size])
    words = [f"Expected shape for Tensor {lengths.name} is ", wanted, " but saw shape: ", found]
    with control_dependencies([Assert(reduce_all(raw.Equal(found, wanted)), words)]):
        return identity(lengths, name="CheckSeqLen")


class _Unrolling:
    """One loop over time: what its steps need to know."""

    def __init__(self, cell: Any, inputs: Any, flat: list[Any], state: Any, dtype: Any, lengths: Any):
        self.cell = cell
        self.structure = inputs
        self.flat = flat
        self.state = state
        self.lengths = lengths
        self.dims = _input_dims(flat)
        self.dtype = infer_state_dtype(dtype, state)
        self.keras = is_keras_cell(cell)
        batch_size = best_effort_input_batch_size(flat)
        self.zero_output = None if lengths is None else zero_outputs(cell, batch_size, self.dtype)

    def run(self, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any]:
        """Return the outputs of all steps, time first, and the last state."""
        if context.executing_eagerly():
            return self._run_now()
        return self._add(parallel_iterations, swap_memory)

    def step(self, time: Any, inputs: list[Any], state: Any) -> tuple[list[Any], Any]:
        """Return the flat outputs of one step, and the state after it."""
        given = nest.pack_sequence_as(self.structure, inputs)
        before = [state] if self.keras and not nest.is_sequence(state) else state
        if self.lengths is None:
            output, after = self.cell(given, before)
        else:
            finished = raw.GreaterEqual(time, self.lengths)
            output, after = masked_step(finished, self.zero_output, before, lambda: self.cell(given, before))
        if self.keras and len(after) == 1:
            after = after[0]
        return nest.flatten(output), after

    def _run_now(self) -> tuple[Any, Any]:
        columns, state, found = [unstack(x) for x in self.flat], self.state, []
        for time, inputs in enumerate(zip(*columns, strict=True)):
            output, state = self.step(convert(time, dtypes.int32), list(inputs), state)
            found.append(output)
        sizes = nest.flatten(self.cell.output_size)
        if not found:
            outputs = [zeros([0, self.dims[0][1], *TensorShape(size).as_list()], self.dtype) for size in sizes]
        else:
            outputs = [stack(list(column)) for column in zip(*found, strict=True)]
        return nest.pack_sequence_as(self.cell.output_size, outputs), state

    def _add(self, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any]:
        length, batch = self.dims[0][:2]
        steps = shape_of(self.flat[0])[0] if length is None else constant(length, dtypes.int32)
        with name_scope("dynamic_rnn") as base:
            pass
        sizes = nest.flatten(self.cell.output_size)
        given = [
            TensorArray(x.dtype, steps, element_shape=dims[1:], tensor_array_name=f"{base}input_{i}").unstack(x)
            for i, (x, dims) in enumerate(zip(self.flat, self.dims, strict=True))
        ]
        kept = tuple(
            TensorArray(self.dtype, steps, element_shape=_of(batch, size), tensor_array_name=f"{base}output_{i}")
            for i, size in enumerate(sizes)
        )

        def body(time: Any, arrays: Any, state: Any) -> tuple[Any, Any, Any]:
            inputs = [array.read(time) for array in given]
            for x, dims in zip(inputs, self.dims, strict=True):
                x.set_shape(dims[1:])
            outputs, after = self.step(time, inputs, state)
            arrays = tuple(array.write(time, x) for array, x in zip(arrays, outputs, strict=True))
            return time + 1, arrays, after

        bound = self._bound(steps)
        start = constant(0, dtypes.int32, name="time")
        _, arrays, last = while_loop(
            lambda time, *_: time < bound,
            body,
            (start, kept, self.state),
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
        )
        outputs = [array.stack() for array in arrays]
        for x, size in zip(outputs, sizes, strict=True):
            x.set_shape(concat_sizes([length, batch], maybe_tensor_shape_from_tensor(size), static=True))
        return nest.pack_sequence_as(self.cell.output_size, outputs), last

    def _bound(self, steps: Any) -> Any:
        """Return how many steps are taken: behind the longest row there is nothing to do, but one step is, so that
        the shape of the outputs is known.
        """
        if self.lengths is None:
            return steps
        return raw.Minimum(steps, raw.Maximum(1, reduce_max(self.lengths)))


def _of(batch: int | None, size: Any) -> TensorShape:
    return TensorShape([batch]).concatenate(TensorShape(maybe_tensor_shape_from_tensor(size)))


def _input_dims(flat: list[Any]) -> list[tuple[Any, ...]]:
    """Return the dims of inputs, time first; raise where they do not match."""
    found = [tuple(x.shape.with_rank_at_least(3).as_list()) for x in flat]
    for dims in found:
        if None in dims[2:]:
            raise ValueError("Input size (depth of inputs) must be accessible via shape inference, but saw value None.")
        if dims[0] != found[0][0]:
            raise ValueError("Time steps is not the same for all the elements in the input in a batch.")
        if dims[1] != found[0][1]:
            raise ValueError("Batch_size is not the same for all the elements in the input.")
    return found


def bidirectional_dynamic_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: Nested,
    sequence_length: AnyTensor = None,
    initial_state_fw: Nested = None,
    initial_state_bw: Nested = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return the outputs of two cells, of which one goes through time backwards, and their states."""
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)
    more = {
        "sequence_length": sequence_length,
        "dtype": dtype,
        "parallel_iterations": parallel_iterations,
        "swap_memory": swap_memory,
        "time_major": time_major,
    }

    def backwards(x: Any) -> Any:
        if sequence_length is None:
            return reverse(x, axis=[time_axis])
        return reverse_sequence(x, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            output_fw, state_fw = dynamic_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=fw, **more)
        with variable_scope("bw") as bw:
            turned = nest.map_structure(backwards, inputs)
            output_bw, state_bw = dynamic_rnn(cell_bw, turned, initial_state=initial_state_bw, scope=bw, **more)
    return (output_fw, nest.map_structure(backwards, output_bw)), (state_fw, state_bw)


def raw_rnn(
    cell: RNNCell,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[Any, Any, Any]:
    """Return what a loop emitted, the last state, and the last loop state; `loop_fn` says what each step is given."""
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as varscope:
        cache_variables(varscope)
        time = constant(0, dtypes.int32)
        finished, next_input, state, emitted, own = loop_fn(time, None, None, None)
        loop_state = constant(0, dtypes.int32) if own is None else own
        batch, batch_size = _batch_of(nest.flatten(next_input))
        nest.assert_same_structure(state, cell.state_size)
        state = nest.map_structure(convert, state)
        structure, sizes, types = _emits(cell, emitted, nest.flatten(state)[0].dtype)
        arrays = [
            TensorArray(dtype, size=0, dynamic_size=True, element_shape=_of(batch, size), name=f"rnn_output_{i}")
            for i, (dtype, size) in enumerate(zip(types, sizes, strict=True))
        ]
        nothing = [zeros(concat_sizes(batch_size, size), dtype) for dtype, size in zip(types, sizes, strict=True)]
        body = _raw_body(cell, loop_fn, nest.pack_sequence_as(structure, nothing))
        start = [time, finished, next_input, nest.pack_sequence_as(structure, arrays), state, loop_state]
        *_, emit_ta, last, last_loop_state = while_loop(
            lambda time, finished, *_: raw.LogicalNot(reduce_all(finished)),
            body,
            start,
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        return emit_ta, last, None if own is None else last_loop_state


def _raw_body(cell: Any, loop_fn: Any, nothing: Any) -> Any:
    def body(time: Any, finished: Any, given: Any, emit_ta: Any, state: Any, loop_state: Any) -> tuple[Any, ...]:
        output, cell_state = cell(given, state)
        nest.assert_same_structure(state, cell_state)
        nest.assert_same_structure(cell.output_size, output)
        now_finished, next_input, next_state, emitted, own = loop_fn(time + 1, output, cell_state, loop_state)
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(given, next_input)
        nest.assert_same_structure(emit_ta, emitted)
        emitted = nest.map_structure(lambda old, new: choose_rows(finished, old, new), nothing, emitted)
        next_state = nest.map_structure(lambda old, new: choose_rows(finished, old, new), state, next_state)
        emit_ta = nest.map_structure(lambda array, x: array.write(time, x), emit_ta, emitted)
        finished = raw.LogicalOr(finished, now_finished)
        return time + 1, finished, next_input, emit_ta, next_state, loop_state if own is None else own

    return body


def _batch_of(flat: list[Any]) -> tuple[int | None, Any]:
    """Return the batch size of a step's inputs as it is known, and as an int or a tensor."""
    batch = flat[0].shape.dims[0]
    for x in flat:
        batch = batch.merge_with(x.shape.dims[0])
    return batch.value, shape_of(flat[0])[0] if batch.value is None else batch.value


def _emits(cell: Any, emitted: Any, dtype: Any) -> tuple[Any, list[Any], list[Any]]:
    """Return in which structure, sizes and dtypes a loop emits: those of what was given first, or of the outputs."""
    if emitted is None:
        sizes = nest.flatten(cell.output_size)
        return cell.output_size, sizes, [dtype] * len(sizes)
    flat = nest.flatten(emitted)
    sizes = [x.shape if x.shape.is_fully_defined() else shape_of(x) for x in flat]
    return emitted, sizes, [x.dtype for x in flat]


def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[RNNCell],
    cells_bw: Sequence[RNNCell],
    inputs: Nested,
    initial_states_fw: Nested = None,
    initial_states_bw: Nested = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
    swap_memory: bool = False,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Return the outputs of layers of two cells each, one upon the other, and the states of all."""
    layers = layers_of_two(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states, outputs = [], inputs
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (forward, backward, first, last) in enumerate(layers):
            with variable_scope(f"cell_{number}"):
                both, pair = bidirectional_dynamic_rnn(
                    forward,
                    backward,
                    outputs,
                    sequence_length,
                    first,
                    last,
                    dtype,
                    parallel_iterations,
                    swap_memory,
                    time_major,
                )
                outputs = concat(list(both), 2)
            states.append(pair)
    return outputs, tuple(fw for fw, _ in states), tuple(bw for _, bw in states)
