"""The cell that attends (`tf.contrib.seq2seq.AttentionWrapper`): after each step of a cell, a mechanism finds in its
memory what goes with the output, and the next step is given that too.

Knows mechanisms by what they do, and cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ebbflow.core import context, dtypes, nest
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Nested
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.graph.scopes import control_dependencies
from ebbflow.layers.rnn.cell_base import RNNCell, assert_like_rnncell, zero_state_tensors
from ebbflow.layers.seq2seq.attention import AttentionMechanism, dense, length
from ebbflow.ops.arrays.creation import identity, zeros
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.shaping import expand_dims, squeeze
from ebbflow.ops.checks.asserts import assert_equal_v1
from ebbflow.ops.linalg.matmul import matmul


class _StateParts(NamedTuple):
    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any


class AttentionWrapperState(_StateParts):
    """The state of an `AttentionWrapper`."""

    __slots__ = ()

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """Return a state with some parts replaced by others of the same shape."""
        return nest.map_structure(_of_the_same_shape, self, self._replace(**kwargs))


def _of_the_same_shape(old: Any, new: Any) -> Any:
    if not (isinstance(old, Tensor) and isinstance(new, Tensor)):
        return new
    if context.executing_eagerly():
        if old.shape.as_list() != new.shape.as_list():
            raise ValueError(
                "The shape of the AttentionWrapperState is expected to be same as the one to clone. self.shape: "
                f"{old.shape}, input.shape: {new.shape}"
            )
        return new
    old.shape.assert_is_compatible_with(new.shape)
    return new


def compute_attention(mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any) -> Any:
    """Return what a mechanism finds for a cell's output, its weights, and its next state."""
    alignments, following = mechanism(cell_output, state=attention_state)
    found = squeeze(matmul(expand_dims(alignments, 1), mechanism.values), [1])
    if attention_layer is not None:
        found = attention_layer(concat([cell_output, found], 1))
    return found, alignments, following


_TILE = (
    "Are you using the BeamSearchDecoder?  You may need to tile your {} via the tf.contrib.seq2seq.tile_batch function"
)
_WHEN = {
    "making": "Non-matching batch sizes between the memory (encoder output) and initial_cell_state.  "
    + _TILE.format("initial state")
    + " with argument multiple=beam_width.",
    "starting": "Non-matching batch sizes between the memory (encoder output) and the requested batch size.  Are you "
    "using the BeamSearchDecoder?  If so, make sure your encoder output has been tiled to beam_width via "
    "tf.contrib.seq2seq.tile_batch, and the batch_size= argument passed to zero_state is batch_size * beam_width.",
    "stepping": "Non-matching batch sizes between the memory (encoder output) and the query (decoder output).  "
    + _TILE.format("memory input")
    + " with argument multiple=beam_width.",
}


class AttentionWrapper(RNNCell):
    """A cell that is given, besides its inputs, what attention found for its last output."""

    def __init__(
        self,
        cell: RNNCell,
        attention_mechanism: object,
        attention_layer_size: int | Sequence[int] | None = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[..., Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Nested = None,
        name: str | None = None,
        attention_layer: object = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._attention_mechanisms = _mechanisms(attention_mechanism)
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        self._cell = cell
        self._cell_input_fn = cell_input_fn or (lambda inputs, attention: concat([inputs, attention], -1))
        self._attention_layers = self._layers(attention_layer_size, attention_layer)
        self._attention_layer_size = self._size()
        self._attention_fn = attention_fn or compute_attention
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                rows = length(nest.flatten(initial_cell_state)[-1], 0)
                words = f"When constructing AttentionWrapper {self._base_name}: {_WHEN['making']}"
                self._initial_cell_state = self._checked(initial_cell_state, rows, words, "check_initial_cell_state")

    def _layers(self, sizes: Any, layers: Any) -> Any:
        """Return the layers that what is found goes through, one per mechanism, or None."""
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        what, given, each = (
            ("attention_layer_size", sizes, "integer")
            if sizes is not None
            else (
                "attention_layer",
                layers,
                "layer",
            )
        )
        if given is None:
            return None
        listed = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        count = len(self._attention_mechanisms)
        if len(listed) != count:
            raise ValueError(
                f"If provided, {what} must contain exactly one {each} per attention_mechanism, saw: {len(listed)} vs "
                f"{count}"
            )
        if sizes is None:
            return listed
        pairs = zip(listed, self._attention_mechanisms, strict=True)
        return tuple(dense(size, "attention_layer", mechanism.dtype) for size, mechanism in pairs)

    def _size(self) -> int:
        """Return how many columns what is found has, of all mechanisms."""
        depths = [mechanism.values.shape.as_list()[-1] for mechanism in self._attention_mechanisms]
        if self._attention_layers is None:
            return sum(depths)
        sizes = [
            TensorShape(layer.compute_output_shape([None, self._cell.output_size + depth])).as_list()[-1]
            for layer, depth in zip(self._attention_layers, depths, strict=True)
        ]
        return sum(sizes)

    def _checked(self, structure: Any, rows: Any, words: str, name: str) -> Any:
        """Return tensors that are there only if the memories have as many rows."""
        checks = [assert_equal_v1(rows, m.batch_size, message=words) for m in self._attention_mechanisms]
        with control_dependencies([check for check in checks if check is not None]):
            return nest.map_structure(lambda x: identity(x, name=name), structure)

    def _item_or_tuple(self, items: Any) -> Any:
        found = tuple(items)
        return found if self._is_multi else found[0]

    @property
    def output_size(self) -> Nested:
        """The size of what is found, or of the cell's output."""
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        """The sizes of the parts of the state."""
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(m.alignments_size for m in mechanisms),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
            alignment_history=self._item_or_tuple(
                m.alignments_size if self._alignment_history else () for m in mechanisms
            ),
        )

    def zero_state(self, batch_size: AnyTensor, dtype: DTypeLike) -> AttentionWrapperState:
        """Return the state before the first step: the cell's, and nothing found yet."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            words = f"When calling zero_state of AttentionWrapper {self._base_name}: {_WHEN['starting']}"
            cell_state = self._checked(cell_state, batch_size, words, "checked_cell_state")
            mechanisms = self._attention_mechanisms
            alignments = [m.initial_alignments(batch_size, dtype) for m in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=zeros([], dtypes.int32),
                attention=zero_state_tensors(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(m.initial_state(batch_size, dtype) for m in mechanisms),
                alignment_history=self._item_or_tuple(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=a.shape)
                    if self._alignment_history
                    else ()
                    for a in alignments
                ),
            )

    def call(self, inputs: Nested, state: Nested) -> tuple[Any, Any]:
        """Take one step with the cell, and attend."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead."
            )
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        words = f"When applying AttentionWrapper {self.name}: {_WHEN['stepping']}"
        output = self._checked(output, length(output, 0), words, "checked_cell_output")
        before = state.attention_state if self._is_multi else [state.attention_state]
        histories = state.alignment_history if self._is_multi else [state.alignment_history]
        layers = self._attention_layers or [None] * len(self._attention_mechanisms)
        found = [
            self._attention_fn(mechanism, output, one, layer)
            for mechanism, one, layer in zip(self._attention_mechanisms, before, layers, strict=True)
        ]
        if self._alignment_history:
            histories = [h.write(state.time, a) for h, (_, a, _) in zip(histories, found, strict=True)]
        attention = concat([a for a, _, _ in found], 1)
        following = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(s for _, _, s in found),
            alignments=self._item_or_tuple(a for _, a, _ in found),
            alignment_history=self._item_or_tuple(histories),
        )
        return attention if self._output_attention else output, following


def _mechanisms(given: Any) -> tuple[Any, ...]:
    if isinstance(given, (list, tuple)):
        for mechanism in given:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    "attention_mechanism must contain only instances of AttentionMechanism, saw type: "
                    f"{type(mechanism).__name__}"
                )
        return tuple(given)
    if not isinstance(given, AttentionMechanism):
        raise TypeError(
            "attention_mechanism must be an AttentionMechanism or list of multiple AttentionMechanism instances, saw "
            f"type: {type(given).__name__}"
        )
    return (given,)
