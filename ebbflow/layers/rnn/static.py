"""Recurrences unrolled in Python: as many copies of the cell's nodes as there are steps in a list of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.typing import DTypeLike, Nested, TensorLike
from ebbflow.graph.scopes import control_dependencies
from ebbflow.layers.rnn.cell_base import assert_like_rnncell
from ebbflow.layers.rnn.steps import (
    infer_state_dtype,
    initial_state_of,
    is_keras_cell,
    masked_step,
    reverse_steps,
    zero_outputs,
)
from ebbflow.ops.arrays.creation import identity
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.state.variable_scope import variable_scope

if TYPE_CHECKING:
    from ebbflow.layers.rnn.cell_base import RNNCell
    from ebbflow.state.variable_scope import VariableScope


def static_rnn(
    cell: RNNCell,
    inputs: Nested,
    initial_state: Nested = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """Return the outputs of a cell for a list of inputs, one per step, and the state after the last."""
    assert_like_rnncell("cell", cell)
    _check_steps(inputs)
    with variable_scope(scope or "rnn") as varscope:
        cache_variables(varscope)
        batch_size = _batch_size(inputs)
        if initial_state is None and not dtype:
            raise ValueError("If no initial_state is provided, dtype must be specified")
        state = initial_state_of(cell, batch_size, dtype) if initial_state is None else initial_state
        zero_output = None
        if sequence_length is not None:
            sequence_length = _lengths(sequence_length)
            zero_output = zero_outputs(cell, batch_size, infer_state_dtype(dtype, state))
            sequence_length = cast(sequence_length, dtypes.int32)
        bare = is_keras_cell(cell) and not nest.is_sequence(state)
        state = [state] if bare else state
        outputs = []
        for time, step in enumerate(inputs):
            if time == 1 and not context.executing_eagerly():
                varscope.reuse_variables()
            output, state = _step(cell, step, state, zero_output, time, sequence_length)
            outputs.append(output)
        return outputs, state[0] if bare and len(state) == 1 else state


def _step(cell: Any, step: Any, state: Any, zero_output: Any, time: int, lengths: Any) -> tuple[Any, Any]:
    if lengths is None:
        return cell(step, state)
    finished = raw.GreaterEqual(convert(time, dtypes.int32), lengths)
    return masked_step(finished, zero_output, state, lambda: cell(step, state))


def cache_variables(varscope: Any) -> None:
    """Have a scope's variables read once, where the loop is, unless the program says otherwise."""
    if not context.executing_eagerly() and varscope.caching_device is None:
        varscope.set_caching_device(lambda op: op.device)


def _check_steps(inputs: Any) -> None:
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def _lengths(given: Any) -> Any:
    lengths = convert(given, name="sequence_length")
    if lengths._dims is not None and len(lengths._dims) != 1:
        raise ValueError("sequence_length must be a vector of length batch_size")
    return lengths


def _batch_size(inputs: Any) -> Any:
    """Return the batch size of a list of inputs, an int where known; raise where sizes are not known or differ."""
    flat = nest.flatten(inputs)
    first = flat[0]
    if first.shape.rank == 1:  # numbers of classes, for an embedding
        fixed = first.shape.dims[0]
    else:
        fixed = first.shape.with_rank_at_least(2).dims[0]
        for x in flat:
            batch, *sizes = x.shape.with_rank_at_least(2).dims
            fixed = fixed.merge_with(batch)
            for axis, size in enumerate(sizes):
                if size.value is None:
                    raise ValueError(
                        f"Input size (dimension {axis} of inputs) must be accessible via shape inference, but saw "
                        "value None."
                    )
    return fixed.value or shape_of(first)[0]


def static_state_saving_rnn(
    cell: RNNCell,
    inputs: Nested,
    state_saver: Any,
    state_name: Nested,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """Return `static_rnn` from the state that `state_saver.state(name)` gives; the state after goes to its
    `save_state(name, state)`.
    """
    size = cell.state_size
    if nest.is_sequence(size) != nest.is_sequence(state_name):
        raise ValueError(
            f"state_name should be the same type as cell.state_size.  state_name: {state_name}, cell.state_size: {size}"
        )
    names = nest.flatten(state_name)
    if len(names) != len(nest.flatten(size)):
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(nest.flatten(size))}")
    start = nest.pack_sequence_as(size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=start, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state), strict=True)]
    with control_dependencies(saved):
        outputs[-1] = nest.map_structure(identity, outputs[-1])
        return outputs, nest.map_structure(identity, state)


def static_bidirectional_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: Nested,
    initial_state_fw: Nested = None,
    initial_state_bw: Nested = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[Any, Any, Any]:
    """Return the outputs of two cells, of which one goes through the inputs backwards, joined; and the states."""
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    _check_steps(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as fw:
            forward, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=fw)
        with variable_scope("bw") as bw:
            backward, state_bw = static_rnn(
                cell_bw, reverse_steps(inputs, sequence_length), initial_state_bw, dtype, sequence_length, scope=bw
            )
    backward = reverse_steps(backward, sequence_length)
    pairs = zip(nest.flatten(forward), nest.flatten(backward), strict=True)
    return nest.pack_sequence_as(forward, [concat(list(pair), 1) for pair in pairs]), state_fw, state_bw


def stack_bidirectional_rnn(
    cells_fw: Sequence[RNNCell],
    cells_bw: Sequence[RNNCell],
    inputs: Nested,
    initial_states_fw: Nested = None,
    initial_states_bw: Nested = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Return the outputs of layers of two cells each, one upon the other, and the states of all."""
    layers = layers_of_two(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states, outputs = [], inputs
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for number, (forward, backward, first, last) in enumerate(layers):
            with variable_scope(f"cell_{number}") as cell_scope:
                outputs, *pair = static_bidirectional_rnn(
                    forward, backward, outputs, first, last, dtype, sequence_length, scope=cell_scope
                )
            states.append(pair)
    return outputs, tuple(fw for fw, _ in states), tuple(bw for _, bw in states)


def layers_of_two(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> list[tuple[Any, ...]]:
    """Return, for each layer, its two cells and the states they start from; raise where these are not lists alike."""
    for which, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not cells:
            raise ValueError(f"Must specify at least one {which} cell for BidirectionalRNN.")
    for which, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not isinstance(cells, list):
            raise ValueError(f"cells_{which} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for which, states in (("fw", states_fw), ("bw", states_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(f"initial_states_{which} must be a list of state tensors (one per layer).")
    none = [None] * len(cells_fw)
    return list(zip(cells_fw, cells_bw, states_fw or none, states_bw or none, strict=True))
