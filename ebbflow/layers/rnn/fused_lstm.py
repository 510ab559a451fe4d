"""An LSTM over a whole sequence as one op, where a loop over its steps would compute the same.

`dynamic_rnn` asks `runs_whole`: a plain LSTM cell (tanh, no projection, no clipping) on float32 needs no loop in the
graph, but one `BlockLSTM`, which multiplies the inputs of all steps at once. What is given back differs from the loop's
by rounding. Rows that end early are dealt with afterwards: all steps are computed, outputs behind the end become zero,
and the state is the one of each row's last step. Knows cells; knows no loop.
"""

from __future__ import annotations

from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.functions.control_flow import lstm_loop  # noqa: F401  (gives ops.rnn_sequence its gradients of second order)
from ebbflow.layers.arguments import activation_named
from ebbflow.layers.base import read
from ebbflow.layers.rnn.cells import BasicLSTMCell, LSTMCell, LSTMStateTuple
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.arrays.indexing import gather_nd
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.masks import sequence_mask
from ebbflow.ops.arrays.ranges import range as range_of
from ebbflow.ops.arrays.shaping import expand_dims, transpose
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.unary import tanh
from ebbflow.ops.reduce.reductions import reduce_max
from ebbflow.state.variable_scope import variable_scope


def runs_whole(cell: Any, inputs: Any, state: Any) -> bool:
    """Return whether one op over all steps computes what the cell would, step by step."""
    if type(cell) is LSTMCell:
        plain = not cell._use_peepholes and cell._cell_clip is None and cell._num_proj is None
    else:
        plain = type(cell) is BasicLSTMCell
    if not plain or "call" in vars(cell) or cell._activation not in (tanh, activation_named("tanh")):
        return False
    parts = [inputs, *state] if isinstance(state, tuple) and len(state) == 2 and cell._state_is_tuple else []
    if not parts or any(not isinstance(x, Tensor) or x.dtype is not dtypes.float32 for x in parts):
        return False
    ranks = [None if x._dims is None else len(x._dims) for x in parts]
    if ranks != [3, 2, 2] or not isinstance(cell._forget_bias, (int, float)):
        return False
    graph = None if context.executing_eagerly() else context.current_graph()
    return graph is None or not graph._overrides  # gradients of a program's own are for the cell's ops


def run_whole(cell: Any, inputs: Any, state: Any, lengths: Any) -> tuple[Any, Any]:
    """Return the outputs of all steps and the last state; inputs and outputs have time first."""
    if lengths is not None:
        lengths = within(lengths, inputs)
    with _scope_of(cell):
        if not cell.built:
            cell._dtype = cell._dtype or dtypes.float32
            cell.build(TensorShape(inputs._dims[1:]))
            cell.built = True
        none = zeros([cell._num_units], dtypes.float32)
        found = raw.BlockLSTM(
            longest(inputs, lengths),
            inputs,
            state[0],
            state[1],
            read(cell._kernel),
            none,
            none,
            none,
            read(cell._bias),
            forget_bias=float(cell._forget_bias),
            cell_clip=-1.0,
        )
        last = LSTMStateTuple(final_state(state[0], found.cs, lengths), final_state(state[1], found.h, lengths))
        return found.h if lengths is None else masked(found.h, lengths), last


class _scope_of:  # noqa: N801  (it is used as a statement)
    """`with _scope_of(cell):` variables and nodes made inside are named as in a call of the cell."""

    def __init__(self, cell: Any):
        cell._take_scope(None)
        reuse = True if cell.built else cell._reuse
        self._variables = variable_scope(cell._scope, reuse=reuse, auxiliary_name_scope=False)
        self._names: Any = None

    def __enter__(self) -> None:
        scope = self._variables.__enter__()
        self._names = name_scope(scope.original_name_scope)
        self._names.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self._names.__exit__(*exc)
        self._variables.__exit__(*exc)


def within(lengths: Any, inputs: Any) -> Any:
    """Return the lengths of rows, none of them more than there are steps, or less than none."""
    steps = inputs._dims[0]
    return raw.Maximum(raw.Minimum(lengths, shape_of(inputs)[0] if steps is None else steps), 0)


def longest(inputs: Any, lengths: Any) -> Any:
    """Return how many steps there are to take, as an int64."""
    if lengths is not None:
        return cast(reduce_max(lengths), dtypes.int64)
    length = inputs._dims[0]
    return cast(shape_of(inputs)[0] if length is None else length, dtypes.int64)


def masked(outputs: Any, lengths: Any) -> Any:
    """Return outputs, time first, with zeros behind each row's end."""
    return raw.SelectV2(inside(outputs, lengths, dtypes.bool), outputs, 0.0)


def inside(outputs: Any, lengths: Any, dtype: Any) -> Any:
    """Return where outputs, time first, are not behind a row's end: a matrix with an axis of length 1 behind."""
    length = outputs._dims[0]
    mask = sequence_mask(lengths, shape_of(outputs)[0] if length is None else length, dtype)
    return expand_dims(transpose(mask, [1, 0]), -1)


def final_state(first: Any, states: Any, lengths: Any) -> Any:
    """Return the state of each row's last step, of all steps' states (time first) and the one before them."""
    if lengths is not None:
        batch = states._dims[1]
        rows = range_of(shape_of(states)[1] if batch is None else batch)
        states = concat([expand_dims(first, 0), states], 0)
        return gather_nd(states, stack([cast(lengths, dtypes.int32), rows], axis=1))
    if states._dims is not None and states._dims[0]:
        return states[-1]
    return concat([expand_dims(first, 0), states[-1:]], 0)[-1]  # there may be no step at all
