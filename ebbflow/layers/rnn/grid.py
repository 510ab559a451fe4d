"""LSTMs over time and frequency: a step goes through blocks of features, each seeing the block below it.

`TimeFreqLSTMCell` has one LSTM for both directions; `GridLSTMCell` has one along time and one along frequency, and
`BidirectionalGridLSTMCell` goes through the blocks up and down. Knows cells; knows no loop over time.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from ebbflow.core.typing import InitializerLike, Nested
from ebbflow.layers.rnn.cell_base import RNNCell
from ebbflow.layers.rnn.cells import warn_of_one_state
from ebbflow.layers.rnn.contrib import sharded_variable
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.arrays.joining import concat, split
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.arrays.slicing import slice_
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.clip import clip_by_value
from ebbflow.ops.elementwise.unary import sigmoid, tanh
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.bias_softmax import bias_add
from ebbflow.state.initializers import Zeros
from ebbflow.state.variable_scope import get_variable, variable_scope


def _depth(inputs: Any) -> int:
    size = inputs.shape.with_rank(2).as_list()[-1]
    if size is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return size


def _windows(inputs: Any, start: int, count: int, skip: int, size: int) -> list[Any]:
    """Return `count` blocks of columns, each `skip` columns behind the one before."""
    return [slice_(inputs, [0, start + number * skip], [-1, size]) for number in range(count)]


def _rows(inputs: Any) -> Any:
    return inputs.shape.as_list()[0] or shape_of(inputs)[0]


class TimeFreqLSTMCell(RNNCell):
    """An LSTM that goes, within a step, through blocks of features."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size: Any = feature_size
        self._frequency_skip: Any = frequency_skip

    state_size = property(lambda self: 2 * self._num_units, doc="Memory and output of one block.")
    output_size = property(lambda self: self._num_units, doc="The number of units.")

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step: the LSTM goes through the blocks."""
        units, dtype, size = self._num_units, inputs.dtype, self._feature_size
        count = int((_depth(inputs) - size) / self._frequency_skip) + 1
        kernel = sharded_variable("W", [size + 2 * units, 4 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[4 * units], initializer=Zeros(), dtype=dtype)
        peep = {}
        if self._use_peepholes:
            peep = {g: get_variable(f"W_{g}_diag", shape=[units], dtype=dtype) for g in "FIO"}
        below, outputs, states = zeros([_rows(inputs), units], dtype), [], []
        for number, block in enumerate(_windows(inputs, 0, count, self._frequency_skip, size)):
            c_prev = slice_(state, [0, 2 * number * units], [-1, units])
            m_prev = slice_(state, [0, (2 * number + 1) * units], [-1, units])
            gates = bias_add(matmul(concat([block, m_prev, below], 1), kernel), bias)
            c, below = self._step(split(gates, 4, axis=1), c_prev, peep)
            outputs.append(below)
            states += [c, below]
        return concat(outputs, 1), concat(states, 1)

    def _step(self, gates: list[Any], c_prev: Any, peep: dict[str, Any]) -> tuple[Any, Any]:
        i, j, f, o = gates
        f = f + self._forget_bias
        if peep:
            f, i = f + peep["F"] * c_prev, i + peep["I"] * c_prev
        c = sigmoid(f) * c_prev + sigmoid(i) * tanh(j)
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        return c, sigmoid(o + peep["O"] * c if peep else o) * tanh(c)


class GridLSTMCell(RNNCell):
    """Two LSTMs, one along time and one along frequency, over blocks of features."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Any = None,
        start_freqindex_list: Any = None,
        end_freqindex_list: Any = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        warn_of_one_state(self, state_is_tuple)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share_time_frequency_weights = share_time_frequency_weights
        self._couple_input_forget_gates = couple_input_forget_gates
        self._state_is_tuple = state_is_tuple
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size: Any = feature_size
        self._frequency_skip: Any = frequency_skip
        self._start_freqindex_list = start_freqindex_list
        self._end_freqindex_list = end_freqindex_list
        self._num_frequency_blocks = num_frequency_blocks
        self._state_tuple_type: Any = None
        if state_is_tuple:
            self._state_tuple_type = namedtuple("GridLSTMStateTuple", self._fields("state"))  # type: ignore[misc]

    def _fields(self, prefix: str) -> list[str]:
        """Return the names of the parts of the state."""
        blocks = [(f, b) for b, count in enumerate(self._num_frequency_blocks) for f in range(int(count))]
        return [f"{prefix}_f{f:02d}_b{b:02d}_{part}" for f, b in blocks for part in "cm"]

    @property
    def state_size(self) -> Nested:
        """Memory and output of each block."""
        count = len(self._state_tuple_type._fields) if self._state_is_tuple else len(self._fields("state"))
        sizes = [self._num_units] * count
        return self._state_tuple_type(*sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """Two outputs of each block: along time, and along frequency."""
        return self._num_units * len(self._fields("state"))

    state_tuple_type = property(lambda self: self._state_tuple_type, doc="The class of the state.")

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step: both LSTMs go through the blocks."""
        outputs, states = self._through(self._blocks_of(inputs), state, _rows(inputs), "state")
        packed = self._state_tuple_type(*states) if self._state_is_tuple else concat(states, 1)
        return concat(outputs, 1), packed

    def _through(self, blocks: list[list[Any]], state: Any, rows: Any, prefix: str) -> tuple[list[Any], list[Any]]:
        outputs: list[Any] = []
        states: list[Any] = []
        for number, block in enumerate(blocks):
            found, kept = self._compute(block, number, state, rows, prefix, self._state_is_tuple)
            outputs += found
            states += kept
        return outputs, states

    def _blocks_of(self, inputs: Any, offset: int = 0) -> list[list[Any]]:
        """Return the inputs' features in blocks, moved by an offset."""
        size = _depth(inputs)
        if offset:
            edges = [0, offset] if offset > 0 else [-offset, 0]
            inputs = raw.Pad(inputs, [[0, 0], edges])
        offset = max(offset, 0)
        starts, ends, counts = self._start_freqindex_list, self._end_freqindex_list, self._num_frequency_blocks
        if not starts:
            if len(counts) != 1:
                raise ValueError(f"Length of num_frequency_blocks is not 1, but instead is {len(counts)}")
            starts, ends = [0], [size]
        if len(starts) != len(ends):
            raise ValueError(f"Length of start and end freqindex_list does not match {len(starts)} {len(ends)}")
        if len(counts) != len(starts):
            raise ValueError(
                f"Length of num_frequency_blocks is not equal to start_freqindex_list {len(counts)} {len(starts)}"
            )
        blocks = []
        for start, end, wanted in zip(starts, ends, counts, strict=True):
            count = int((end - start - self._feature_size) / self._frequency_skip) + 1
            if count != wanted:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {wanted} but gets {count}, please check the input size "
                    "and filter config are correct."
                )
            blocks.append(_windows(inputs, start + offset, count, self._frequency_skip, self._feature_size))
        return blocks

    def _weights(self, depth: int, block: int, dtype: Any) -> dict[str, Any]:
        """Return a block's variables: along frequency ("f") and along time ("t")."""
        units, width = self._num_units, (3 if self._couple_input_forget_gates else 4) * self._num_units
        found: dict[str, Any] = {}
        for which in "f" if self._share_time_frequency_weights else "ft":
            shape = [depth + 2 * units, width]
            found[f"W{which}"] = sharded_variable(f"W_{which}_{block}", shape, dtype, self._num_unit_shards)
            found[f"B{which}"] = get_variable(f"B_{which}_{block}", shape=[width], initializer=Zeros(), dtype=dtype)
        if self._use_peepholes:
            for which in ("freq",) if self._share_time_frequency_weights else ("freq", "time"):
                for gate in "IO" if self._couple_input_forget_gates else "FIO":
                    for of in "ft":
                        name = f"W_{gate}_diag_{which}{of}"
                        found[f"{gate}{which[0]}{of}"] = get_variable(f"{name}_{block}", shape=[units], dtype=dtype)
        if self._share_time_frequency_weights:
            found.update({key[0] + "t" + key[2:]: v for key, v in list(found.items()) if key[1] == "f"})
        return found

    def _compute(
        self, blocks: list[Any], number: int, state: Any, rows: Any, prefix: str, state_is_tuple: bool
    ) -> tuple[list[Any], list[Any]]:
        """Return outputs and states of a block's parts, from the lowest up."""
        units, dtype = self._num_units, blocks[0].dtype
        weights = self._weights(blocks[0].shape.as_list()[1], number, dtype)
        m_below = c_below = zeros([rows, units], dtype)
        outputs, states = [], []
        for at, inputs in enumerate(blocks):
            if state_is_tuple:
                c_before, m_before = (getattr(state, f"{prefix}_f{at:02d}_b{number:02d}_{part}") for part in "cm")
            else:
                c_before = slice_(state, [0, 2 * at * units], [-1, units])
                m_before = slice_(state, [0, (2 * at + 1) * units], [-1, units])
            joined = concat([inputs, m_before, m_below], 1)
            along = {which: self._gates(joined, which, weights, c_below, c_before) for which in "ft"}
            c_below, c_time = along["f"][0], along["t"][0]
            m_below, m_time = (self._output(along[w][1], w, weights, c_below, c_time) for w in "ft")
            outputs += [m_time, m_below]
            states += [c_time, m_time]
        return outputs, states

    def _gates(self, joined: Any, which: str, weights: Any, c_below: Any, c_before: Any) -> tuple[Any, Any]:
        """Return the new memory along time or frequency, and what goes into the output gate."""
        product = bias_add(matmul(joined, weights[f"W{which}"]), weights[f"B{which}"])
        if self._couple_input_forget_gates:
            i, j, o = split(product, 3, axis=1)
            take = sigmoid(self._seen(i, "I", which, weights, c_below, c_before))
            keep = 1.0 - take
        else:
            i, j, f, o = split(product, 4, axis=1)
            take = sigmoid(self._seen(i, "I", which, weights, c_below, c_before))
            keep = sigmoid(self._seen(f + self._forget_bias, "F", which, weights, c_below, c_before))
        c = keep * (c_below if which == "f" else c_before) + take * tanh(j)
        return c if self._cell_clip is None else clip_by_value(c, -self._cell_clip, self._cell_clip), o

    def _output(self, gate: Any, which: str, weights: Any, c_freq: Any, c_time: Any) -> Any:
        seen = self._seen(gate, "O", which, weights, c_freq, c_time)
        return sigmoid(seen) * tanh(c_freq if which == "f" else c_time)

    def _seen(self, gate: Any, name: str, which: str, weights: Any, c_freq: Any, c_time: Any) -> Any:
        """Return what goes into a gate, with what it sees of both memories."""
        if not self._use_peepholes:
            return gate
        return gate + weights[f"{name}{which}f"] * c_freq + weights[f"{name}{which}t"] * c_time


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A grid that goes through the blocks of features up and down."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: InitializerLike | None = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Any = None,
        start_freqindex_list: Any = None,
        end_freqindex_list: Any = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: bool | None = None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._backward_slice_offset = int(backward_slice_offset)
        fields = self._fields("fwd_state") + self._fields("bwd_state")
        self._state_tuple_type = namedtuple("BidirectionalGridLSTMStateTuple", fields)  # type: ignore[misc]

    output_size = property(lambda self: 2 * self._num_units * len(self._fields("state")), doc="Both directions.")

    def call(self, inputs: Nested, state: Nested) -> Nested:
        """Take one step in both directions."""
        rows, up = _rows(inputs), self._blocks_of(inputs)
        moved = self._backward_slice_offset
        down = [block[::-1] for block in (self._blocks_of(inputs, moved) if moved else up)]
        with variable_scope("fwd"):
            outputs, states = self._through(up, state, rows, "fwd_state")
        with variable_scope("bwd"):
            found, kept = self._through(down, state, rows, "bwd_state")
        return concat(outputs + found, 1), self._state_tuple_type(*states, *kept)
