"""A cell that attends to its own last outputs (`tf.contrib.rnn.AttentionCellWrapper`)."""

from __future__ import annotations

from typing import Any

from ebbflow.core import nest
from ebbflow.core.typing import Nested
from ebbflow.layers.rnn.cell_base import RNNCell, assert_like_rnncell
from ebbflow.layers.rnn.cells import warn_of_one_state
from ebbflow.layers.rnn.projections import Linear
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import expand_dims, reshape
from ebbflow.ops.arrays.slicing import slice_
from ebbflow.ops.elementwise.unary import tanh
from ebbflow.ops.nn.bias_softmax import softmax
from ebbflow.ops.nn.conv import conv2d_v1
from ebbflow.ops.reduce.reductions import reduce_sum
from ebbflow.state.variable_scope import get_variable, variable_scope


class AttentionCellWrapper(RNNCell):
    """Gives a cell, besides its inputs, a mean of its last `attn_length` outputs, weighted by attention."""

    def __init__(
        self,
        cell: RNNCell,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_sequence(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: "
                f"{cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        warn_of_one_state(self, state_is_tuple)
        self._cell = cell
        self._state_is_tuple = state_is_tuple
        self._attn_length = attn_length
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size
        self._linears: dict[str, Linear] = {}

    @property
    def state_size(self) -> Nested:
        """The sizes of the cell's state, of what was attended to, and of the outputs that are kept."""
        size = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return size if self._state_is_tuple else sum(size)

    output_size = property(lambda self: self._attn_size, doc="The size of an output.")

    def _linear(self, which: str, args: Any, width: int) -> Any:
        if which not in self._linears:
            self._linears[which] = Linear(args, width, True)
        return self._linears[which](args)

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step, and attend."""
        state, attended, kept = state if self._state_is_tuple else self._parts_of(state)
        kept = reshape(kept, [-1, self._attn_length, self._attn_size])
        size = inputs.shape.as_list()[1] if self._input_size is None else self._input_size
        output, new_state = self._cell(self._linear("input", [inputs, attended], size), state)
        query = concat(nest.flatten(new_state), 1) if self._state_is_tuple else new_state
        attended = self._attention(query, kept)
        with variable_scope("attn_output_projection"):
            output = self._linear("output", [output, attended], self._attn_size)
        last = slice_(kept, [0, 1, 0], [-1, -1, -1])
        kept = reshape(concat([last, expand_dims(output, 1)], 1), [-1, self._attn_length * self._attn_size])
        parts = (new_state, attended, kept)
        return output, parts if self._state_is_tuple else concat(list(parts), 1)

    def _parts_of(self, state: Any) -> tuple[Any, Any, Any]:
        first, size = self._cell.state_size, self._attn_size
        return (
            slice_(state, [0, 0], [-1, first]),
            slice_(state, [0, first], [-1, size]),
            slice_(state, [0, first + size], [-1, size * self._attn_length]),
        )

    def _attention(self, query: Any, kept: Any) -> Any:
        """Return the mean of what is kept, weighted by how it answers the query."""
        length, size, width = self._attn_length, self._attn_size, self._attn_vec_size
        with variable_scope("attention"):
            kernel, v = get_variable("attn_w", [1, 1, size, width]), get_variable("attn_v", [width])
            hidden = reshape(kept, [-1, length, 1, size])
            features = conv2d_v1(hidden, kernel, [1, 1, 1, 1], "SAME")
            asked = reshape(self._linear("query", query, width), [-1, 1, 1, width])
            weights = softmax(reduce_sum(v * tanh(features + asked), [2, 3]))
            return reshape(reduce_sum(reshape(weights, [-1, length, 1, 1]) * hidden, [1, 2]), [-1, size])
