"""What loops over time share: batch and time exchanged, sizes and dtypes found out, rows that have ended kept still.

`sequence_length` says, for each example of a batch, how many steps it has. Behind them its outputs are zero and its
state stays what it was. Knows tensors; knows no cell and no loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, nest
from ebbflow.core.convert import convert
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import ShapeLike
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.graph.scopes import colocate_with
from ebbflow.layers.base import Layer
from ebbflow.layers.rnn.cell_base import RNNCell, concat_sizes
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.arrays.joining import concat, stack, unstack
from ebbflow.ops.arrays.ranges import range as range_of
from ebbflow.ops.arrays.reversing import reverse_sequence
from ebbflow.ops.arrays.shaping import rank as rank_of
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.arrays.shaping import transpose
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.compare import where_v1


def transpose_batch_time(x: Tensor) -> Tensor:
    """Return `x` with its first two axes exchanged (itself, where it has fewer)."""
    dims = x._dims
    if dims is not None and len(dims) < 2:
        return x
    if dims is not None and context.executing_eagerly():
        return raw.Transpose(x, [1, 0, *range(2, len(dims))])
    exchanged = transpose(x, concat([[1, 0], range_of(2, rank_of(x))], axis=0))
    if dims is not None:
        exchanged.set_shape([dims[1], dims[0], *dims[2:]])
    return exchanged


def best_effort_input_batch_size(flat_input: Sequence[Any]) -> Tensor | int | None:
    """Return the batch size of inputs with time first: an int where one is known, else a tensor."""
    for x in flat_input:
        if x._dims is None:
            continue
        if len(x._dims) < 2:
            raise ValueError(f"Expected input tensor {x} to have rank at least 2")
        if x._dims[1] is not None:
            return x._dims[1]
    return shape_of(flat_input[0])[1]


def infer_state_dtype(explicit_dtype: Any, state: Any) -> Any:
    """Return the dtype of a state: the one given, or that of all its parts."""
    if explicit_dtype is not None:
        return explicit_dtype
    if not nest.is_sequence(state):
        return state.dtype
    found = [part.dtype for part in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(dtype != found[0] for dtype in found):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single representative dtype."
        )
    return found[0]


def maybe_tensor_shape_from_tensor(shape: ShapeLike) -> Any:
    """Return a size as a shape, as far as its value is known."""
    if not isinstance(shape, Tensor):
        return shape
    known = shape.constant_value()
    return TensorShape(None if known is None else [int(n) for n in known.reshape(-1)])


def initial_state_of(cell: Any, batch_size: Any, dtype: Any) -> Any:
    """Return the state a cell starts from where none is given."""
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def zero_outputs(cell: Any, batch_size: Any, dtype: Any) -> Any:
    """Return zeros in the form of a cell's outputs."""
    return nest.map_structure(lambda size: zeros(concat_sizes(batch_size, size), dtype), cell.output_size)


def is_keras_cell(cell: Any) -> bool:
    """Return whether a cell is Keras's: its state is a list, be it of one."""
    return not isinstance(cell, RNNCell) and isinstance(cell, Layer) and getattr(cell, "zero_state", None) is None


def choose_rows(finished: Any, old: Any, new: Any) -> Any:
    """Return `new` with the rows of `old` where a row has finished; scalars and arrays of tensors are taken as new."""
    if isinstance(old, TensorArray) or old._dims == ():
        return new
    with colocate_with(new):
        return where_v1(finished, old, new)


def masked_step(finished: Any, zero_output: Any, state: Any, call_cell: Callable[[], tuple[Any, Any]]) -> Any:
    """Return a cell's output and state, but zeros and the old state for the rows that have finished."""
    output, new_state = call_cell()
    nest.assert_same_structure(zero_output, output)
    nest.assert_same_structure(state, new_state)
    kept = [
        nest.map_structure(lambda old, new: choose_rows(finished, old, new), before, after)
        for before, after in ((zero_output, output), (state, new_state))
    ]
    if not context.executing_eagerly():
        for before, after in zip(nest.flatten([zero_output, state]), nest.flatten(kept), strict=True):
            if not isinstance(after, TensorArray):
                after.set_shape(before.shape)
    return kept[0], kept[1]


def reverse_steps(steps: Sequence[Any], lengths: Any) -> list[Any]:
    """Return a list of steps in reverse order; with lengths, each row's own steps are reversed and the rest stays."""
    if lengths is None:
        return list(reversed(steps))
    columns = []
    for column in zip(*[nest.flatten(step) for step in steps], strict=True):
        joined = stack([convert(x) for x in column])
        columns.append(unstack(reverse_sequence(joined, lengths, 0, 1), num=len(column)))
    return [
        nest.pack_sequence_as(step, list(flat)) for step, flat in zip(steps, zip(*columns, strict=True), strict=True)
    ]
