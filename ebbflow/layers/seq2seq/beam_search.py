"""Beam search: a decoder that keeps, for each row, the most likely beginnings (`tf.contrib.seq2seq.BeamSearchDecoder`).

Inside, what belongs to a row and a beam has both axes; a cell sees them as one. `gather_tree` walks from the last
step back to the first, from each beam to its parent. Knows decoders and attention; knows no cell in particular.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ebbflow.core import context, dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.functions.control_flow.cond import cond
from ebbflow.functions.control_flow.tensor_array import TensorArray
from ebbflow.functions.control_flow.while_loop import while_loop
from ebbflow.graph.scopes import control_dependencies
from ebbflow.layers.base import Layer
from ebbflow.layers.rnn.cell_base import assert_like_rnncell
from ebbflow.layers.seq2seq.attention_wrapper import AttentionWrapperState
from ebbflow.layers.seq2seq.decoder import Decoder, size_behind
from ebbflow.layers.seq2seq.helpers import embedding_function
from ebbflow.ops.arrays.creation import constant, fill, ones_like, zeros
from ebbflow.ops.arrays.indexing import gather, gather_nd, one_hot
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.masks import sequence_mask
from ebbflow.ops.arrays.padding import tile
from ebbflow.ops.arrays.ranges import range as range_of
from ebbflow.ops.arrays.shaping import expand_dims, reshape, transpose
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.arrays.shaping import size as size_of
from ebbflow.ops.arrays.sorting import top_k
from ebbflow.ops.checks.asserts import Assert
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where_v1
from ebbflow.ops.elementwise.unary import log
from ebbflow.ops.nn.bias_softmax import log_softmax
from ebbflow.ops.reduce.reductions import reduce_all, reduce_max, reduce_mean, reduce_sum
from ebbflow.ops.reduce.scan import cumsum
from ebbflow.platform import logging

if TYPE_CHECKING:
    from ebbflow.layers.rnn.cell_base import RNNCell


class BeamSearchDecoderState(NamedTuple):
    """The state of a beam search."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """What a step of a beam search gives, for each beam."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """What a beam search gives in the end: whole sequences, and the steps they are made of."""

    predicted_ids: Any
    beam_search_decoder_output: Any


# --- batches and beams ------------------------------------------------------------------------------------------------


def tile_batch(t: TensorLike, multiplier: int, name: str | None = None) -> Nested:
    """Return tensors with each row repeated, next to itself."""

    def tiled(x: Any) -> Any:
        x = convert(x, name="t")
        if x.shape.rank is None or x.shape.rank < 1:
            raise ValueError("t must have statically known rank")
        rows, shape = x.shape.as_list()[0], shape_of(x)
        repeated = tile(expand_dims(x, 1), [1, multiplier] + [1] * (x.shape.rank - 1))
        found = reshape(repeated, concat([[shape[0] * multiplier], shape[1:]], 0))
        if not context.executing_eagerly():
            found.set_shape([None if rows is None else rows * multiplier, *x.shape.as_list()[1:]])
        return found

    with name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_structure(tiled, t)


def gather_tree(
    step_ids: TensorLike,
    parent_ids: TensorLike,
    max_sequence_lengths: TensorLike,
    end_token: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Return the sequences [time, batch, beam] whose last steps are `step_ids`'s, following each step's parent back.

    Behind a row's length, and behind the first end of a sequence, stands the end.
    """
    with name_scope(name, "GatherTree", [step_ids, parent_ids, max_sequence_lengths, end_token]):
        step_ids, parent_ids = convert(step_ids), convert(parent_ids)
        end = convert(end_token, step_ids.dtype)
        lengths = convert(max_sequence_lengths, dtypes.int32)
        shape = shape_of(step_ids)
        steps = shape[0]
        beams = tile(expand_dims(range_of(shape[2]), 0), stack([shape[1], 1]))
        ends = fill(shape[1:], end)

        def body(time: Any, array: Any, at: Any) -> tuple[Any, Any, Any]:
            inside = expand_dims(time < lengths, 1)
            ids = gather(gather(step_ids, time), at, batch_dims=1)
            parents = gather(gather(parent_ids, time), at, batch_dims=1)
            array = array.write(time, raw.SelectV2(inside, ids, ends))
            return time - 1, array, raw.SelectV2(inside, cast(parents, dtypes.int32), at)

        array = TensorArray(step_ids.dtype, size=steps, element_shape=step_ids.shape[1:])
        _, array, _ = while_loop(lambda time, *_: time >= 0, body, (steps - 1, array, beams))
        found = array.stack()
        ended = cumsum(cast(raw.Equal(found, end), dtypes.int32), axis=0, exclusive=True)
        result = raw.SelectV2(ended > 0, fill(shape, end), found)
        if not context.executing_eagerly():
            result.set_shape(step_ids.shape)
        return result


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Any:
    """Return what a cell kept at each step, in the order of the sequences that were found in the end."""
    steps, rows, width = (n or shape_of(parent_ids)[i] for i, n in enumerate(parent_ids.shape.as_list()))
    beams = tile(reshape(range_of(width), [1, 1, -1]), stack([steps, rows, 1]))
    longest = cast(reduce_max(sequence_length, axis=1), dtypes.int32)
    ordered = gather_tree(beams, parent_ids, longest, width + 1)
    inside = transpose(sequence_mask(sequence_length, maxlen=steps), [2, 0, 1])
    ordered = where_v1(inside, ordered, beams)
    time = tile(reshape(range_of(steps), [-1, 1, 1]), stack([1, rows, width]))
    row = tile(reshape(range_of(rows), [1, -1, 1]), stack([steps, 1, width]))
    parts = reshape(t, stack([steps, rows, width, -1]))
    return reshape(gather_nd(parts, stack([time, row, ordered], -1)), shape_of(t))


def _gathered(indices: Any, source: Any, name: str | None = None) -> Any:
    """Return, for each row, the beams of `source` that are asked for."""
    with name_scope(name, "tensor_gather_helper"):
        found = gather(source, indices, batch_dims=1)
        if not context.executing_eagerly():
            found.set_shape([*indices.shape.as_list(), *source.shape.as_list()[2:]])
        return found


# --- the decoder ------------------------------------------------------------------------------------------------------


class BeamSearchDecoder(Decoder):
    """Keeps the `beam_width` likeliest beginnings of each row's sequence."""

    def __init__(
        self,
        cell: RNNCell,
        embedding: Nested,
        start_tokens: TensorLike,
        end_token: TensorLike,
        initial_state: Nested,
        beam_width: int,
        output_layer: Callable[..., Any] | None = None,
        length_penalty_weight: float = 0.0,
        coverage_penalty_weight: float = 0.0,
        reorder_tensor_arrays: bool = True,
    ):
        assert_like_rnncell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._embedding_fn = embedding_function(embedding)
        tokens = convert(start_tokens, dtypes.int32, name="start_tokens")
        if tokens.shape.rank != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert(end_token, dtypes.int32, name="end_token")
        if self._end_token.shape.rank != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = size_of(tokens)
        self._rows = tokens.shape.as_list()[0]
        self._initial_cell_state = nest.map_structure(self._split, initial_state, cell.state_size)
        self._start_tokens = tile(expand_dims(tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        self._finished = self._first_beam(False, True, dtypes.bool)

    def _first_beam(self, on: Any, off: Any, dtype: Any) -> Any:
        """Return one value for the first beam of each row, another for the rest: at first they are all alike."""
        none = zeros(reshape(self._batch_size, [1]), dtypes.int32)
        return one_hot(none, depth=self._beam_width, on_value=on, off_value=off, dtype=dtype)

    batch_size = property(lambda self: self._batch_size, doc="How many rows there are.")
    tracks_own_finished = property(lambda self: True, doc="Beams change places.")

    def _rnn_output_size(self) -> Any:
        return size_behind(self._cell.output_size, self._output_layer)

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        """A number for each beam, three times."""
        size = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(size, size, size)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        """The dtypes of scores, symbols and parents."""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        scores = nest.map_structure(lambda _: dtype, self._rnn_output_size())
        return BeamSearchDecoderOutput(scores, dtypes.int32, dtypes.int32)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """Return the start: of each row, one beam that is likely, and others that are not."""
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        log_probs = self._first_beam(convert(0.0, dtype), convert(-np.inf, dtype), dtype)
        attention = attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=zeros(stack([self._batch_size, self._beam_width]), dtypes.int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    # --- rows and beams as one axis, and as two -----------------------------------------------------------------------

    def _merge(self, t: Any, size: Any) -> Any:
        if isinstance(t, TensorArray) or _rank(t) < 2:
            return t
        count = None if self._rows is None else self._rows * self._beam_width
        merged = reshape(t, concat([reshape(self._batch_size * self._beam_width, [1]), shape_of(t)[2:]], 0))
        if not context.executing_eagerly():
            merged.set_shape(TensorShape([count]).concatenate(_as_shape(size)))
        return merged

    def _split(self, t: Any, size: Any) -> Any:
        if isinstance(t, TensorArray) or _rank(t) < 1:
            return t
        apart = reshape(t, concat([stack([self._batch_size, self._beam_width]), shape_of(t)[1:]], 0))
        wanted = TensorShape([self._rows, self._beam_width]).concatenate(_as_shape(size))
        if not apart.shape.is_compatible_with(wanted):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The reshaped tensor has shape: "
                f"{apart.shape}.  We expected it to have shape (batch_size, beam_width, depth) == {wanted}.  Perhaps "
                "you forgot to create a zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        if not context.executing_eagerly():
            apart.set_shape(wanted)
        return apart

    # --- a step -------------------------------------------------------------------------------------------------------

    def step(
        self, time: TensorLike, inputs: Nested, state: Nested, name: str | None = None
    ) -> tuple[Any, Any, Any, Any]:
        """Let every beam go on with every symbol, and keep the best."""
        with name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            merged = nest.map_structure(lambda x: self._merge(x, x.shape[2:]), inputs)
            cell_state = nest.map_structure(self._merge, state.cell_state, self._cell.state_size)
            outputs, cell_state = self._cell(merged, cell_state)
            outputs = nest.map_structure(lambda x: self._split(x, x.shape[1:]), outputs)
            cell_state = nest.map_structure(self._split, cell_state, self._cell.state_size)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            found, following = beam_search_step(
                time, outputs, cell_state, state, self._batch_size, self._beam_width, self._end_token,
                self._length_penalty_weight, self._coverage_penalty_weight,
            )  # fmt: skip
            next_inputs = cond(
                reduce_all(following.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(found.predicted_ids),
            )
        return found, following, next_inputs, following.finished

    # --- the end ------------------------------------------------------------------------------------------------------

    def finalize(self, outputs: Nested, final_state: Nested, sequence_lengths: TensorLike) -> tuple[Any, Any]:
        """Return whole sequences, and what the cell kept in TensorArrays in their order."""
        longest = cast(reduce_max(final_state.lengths, axis=1), dtypes.int32)
        ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder_tensor_arrays:
            cell_state = nest.map_structure(
                lambda t: self._in_order(t, outputs.parent_ids, final_state.lengths), final_state.cell_state
            )
            final_state = final_state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state

    def _in_order(self, t: Any, parent_ids: Any, lengths: Any) -> Any:
        if not isinstance(t, TensorArray):
            return t
        shape = t.element_shape
        if shape.rank is None or shape.rank < 1:
            logging.warn(
                "The TensorArray %s in the cell state is not amenable to sorting based on the beam search result. For "
                "a TensorArray to be sorted, its elements shape must be defined and have at least a rank of 1, but saw "
                "shape: %s",
                t,
                shape,
            )
            return t
        if not self._fits(shape):
            return t
        kept = t.stack()
        check = check_batch_beam(kept, self._batch_size, self._beam_width)
        with control_dependencies([] if check is None else [check]):
            return gather_tree_from_array(kept, parent_ids, lengths)

    def _fits(self, shape: TensorShape) -> bool:
        rows, width, (first, *rest) = self._rows, self._beam_width, shape.as_list()
        if rows is None or first is None:
            return True
        if first == rows * width and not (rest and rest[0] is not None and first == rows and rest[0] != width):
            return True
        if rest and first == rows and rest[0] in (width, None):
            return True
        logging.warn(
            "TensorArray reordering expects elements to be reshapable to %s which is incompatible with the current "
            "shape %s. Consider setting reorder_tensor_arrays to False to disable TensorArray reordering during the "
            "beam search.",
            TensorShape([rows, width, None]),
            shape,
        )
        return False


def _rank(t: Any) -> int:
    if t.shape.rank is None:
        raise ValueError(f"Expected tensor ({t}) to have known rank, but ndims == None.")
    return t.shape.rank


def _as_shape(size: Any) -> TensorShape:
    if isinstance(size, Tensor):
        known = size.constant_value()
        return TensorShape([None] if known is None else [int(n) for n in known.reshape(-1)])
    return TensorShape(size)


def check_batch_beam(t: Any, batch_size: Any, beam_width: Any) -> Any:
    """Return what fails unless the second axis of a tensor is rows and beams, or the second and third are."""
    dims = shape_of(t)
    fits = raw.Equal(dims[1], batch_size * beam_width)
    if t.shape.rank > 2:
        apart = raw.LogicalAnd(raw.Equal(dims[1], batch_size), raw.Equal(dims[2], beam_width))
        fits = raw.LogicalOr(fits, apart)
    words = (
        "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1]. Consider setting "
        "reorder_tensor_arrays to False to disable TensorArray reordering during the beam search."
    )
    return Assert(fits, [words])


# --- a step -----------------------------------------------------------------------------------------------------------


def beam_search_step(
    time: Any,
    logits: Any,
    next_cell_state: Any,
    beam_state: Any,
    batch_size: Any,
    beam_width: int,
    end_token: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
    """Return the best beams after a step of which the logits [batch, beam, symbol] are known, and their state."""
    words = logits.shape.as_list()[-1] or shape_of(logits)[-1]
    going_on = raw.LogicalNot(beam_state.finished)
    step = mask_probs(log_softmax(logits), end_token, beam_state.finished)
    total = expand_dims(beam_state.log_probs, 2) + step
    attention = attention_probs(next_cell_state, coverage_penalty_weight)
    if attention is not None:
        more = attention * expand_dims(cast(going_on, dtypes.float32), 2)
        attention = beam_state.accumulated_attention_probs + more
    lengths = _lengths(beam_state, going_on, fill(stack([batch_size, beam_width]), end_token), words)
    penalty = length_penalty(lengths, length_penalty_weight)
    scores = total / (penalty if isinstance(penalty, float) else cast(penalty, total.dtype))
    scores = _covered(scores, beam_state.finished, attention, coverage_penalty_weight)
    best, at = top_k(reshape(scores, stack([batch_size, -1])), k=beam_width)
    parents = cast(raw.FloorDiv(at, words), dtypes.int32, name="next_beam_parent_ids")
    chosen = cast(raw.FloorMod(at, words, name="next_beam_word_ids"), dtypes.int32)
    was_finished = _gathered(parents, beam_state.finished)
    following = BeamSearchDecoderState(
        cell_state=nest.map_structure(lambda t: _follow(parents, t), next_cell_state),
        log_probs=_gathered(at, reshape(total, stack([batch_size, -1])), name="next_beam_probs"),
        lengths=_gathered(parents, beam_state.lengths) + cast(raw.LogicalNot(was_finished), dtypes.int64),
        finished=raw.LogicalOr(was_finished, raw.Equal(chosen, end_token), name="next_beam_finished"),
        accumulated_attention_probs=() if attention is None else _gathered(parents, attention),
    )
    if not context.executing_eagerly():
        best.set_shape([logits.shape[0], beam_width])
    return BeamSearchDecoderOutput(best, chosen, parents), following


def _follow(parents: Any, t: Any) -> Any:
    """Return the parents' parts of a cell's state."""
    return t if isinstance(t, TensorArray) or _rank(t) < 2 else _gathered(parents, t)


def _lengths(state: Any, going_on: Any, ends: Any, words: Any) -> Any:
    """Return how long each beam would be with each symbol: the end does not count."""
    zero, one = (constant(n, dtypes.int64) for n in (0, 1))
    more = one_hot(ends, depth=words, on_value=zero, off_value=one, dtype=dtypes.int64)
    return more * expand_dims(cast(going_on, dtypes.int64), 2) + expand_dims(state.lengths, 2)


def _covered(scores: Any, finished: Any, attention: Any, coverage_penalty_weight: Any) -> Any:
    """Return scores less what beams have left unattended."""
    weight = convert(coverage_penalty_weight, name="coverage_penalty_weight")
    if weight.shape.rank != 0:
        raise ValueError(f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}")
    if attention is None:
        return scores
    seen = where_v1(raw.Equal(attention, 0.0), ones_like(attention), attention)
    coverage = reduce_sum(log(raw.Minimum(seen, 1.0)), 2) * cast(finished, dtypes.float32)
    return scores + expand_dims(coverage * weight, 2)


def mask_probs(probs: Any, eos_token: Any, finished: Any) -> Any:
    """Return log-probabilities with the end certain, and nothing else possible, where a beam has finished."""
    row = one_hot(
        eos_token,
        shape_of(probs)[2],
        dtype=probs.dtype,
        on_value=convert(0.0, probs.dtype),
        off_value=convert(probs.dtype.min, probs.dtype),
    )
    return raw.SelectV2(expand_dims(finished, 2), reshape(row, [1, 1, -1]), probs)


def length_penalty(sequence_lengths: Any, penalty_factor: Any) -> Any:
    """Return by what log-probabilities of sequences are divided, so that long ones have a chance."""
    factor = convert(penalty_factor, name="penalty_factor")
    known = factor.constant_value()
    if known is not None and known == 0:
        return 1.0
    return (5.0 + cast(sequence_lengths, dtypes.float32)) ** factor / (5.0 + 1.0) ** factor


def attention_probs(cell_state: Any, coverage_penalty_weight: Any) -> Any:
    """Return to what the cells attended, or None where that does not matter."""
    if isinstance(coverage_penalty_weight, (int, float)) and coverage_penalty_weight == 0.0:
        return None
    states = [cell_state] if isinstance(cell_state, AttentionWrapperState) else cell_state
    found = [
        _mean(s.alignments) if isinstance(s.alignments, tuple) else s.alignments
        for s in (states if isinstance(states, (list, tuple)) else ())
        if isinstance(s, AttentionWrapperState)
    ]
    if not found:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return found[0] if len(found) == 1 else _mean(found)


def _mean(parts: Any) -> Any:
    return reduce_mean(concat([expand_dims(p, -1) for p in parts], -1), -1)
