"""Sequences to sequences, unrolled: `tf.contrib.legacy_seq2seq`, which was `tf.nn.seq2seq` before 1.0.

Inputs and outputs are lists of steps. An encoder reads the inputs into a state, a decoder goes on from it; with a
`loop_function` it is given its own last output, embedded, instead of an input. Variables have TensorFlow's names.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ebbflow.core import dtypes, nest
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor, DTypeLike, Nested, TensorLike
from ebbflow.functions.control_flow.cond import cond
from ebbflow.layers.rnn.cell_base import RNNCell
from ebbflow.layers.rnn.projections import EmbeddingWrapper, Linear, OutputProjectionWrapper
from ebbflow.layers.rnn.static import static_rnn
from ebbflow.ops.arrays.argmax import argmax
from ebbflow.ops.arrays.creation import stop_gradient, zeros
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.sums import add_n
from ebbflow.ops.elementwise.unary import tanh
from ebbflow.ops.nn.bias_softmax import softmax, xw_plus_b
from ebbflow.ops.nn.conv import conv2d_v1
from ebbflow.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from ebbflow.ops.nn.embedding import embedding_lookup_v1
from ebbflow.ops.reduce.reductions import reduce_sum
from ebbflow.state.variable_scope import get_variable, get_variable_scope, variable_scope

if TYPE_CHECKING:
    from ebbflow.state.variable_scope import VariableScope


# --- decoders ---------------------------------------------------------------------------------------------------------


def extract_argmax_and_embed(
    embedding: Nested, output_projection: Nested = None, update_embedding: bool = True
) -> Callable[..., Any]:
    """Return a loop function: the likeliest symbol of the last output, embedded."""

    def loop_function(prev: Any, _: Any) -> Any:
        if output_projection is not None:
            prev = xw_plus_b(prev, output_projection[0], output_projection[1])
        found = embedding_lookup_v1(embedding, argmax(prev, 1))
        return found if update_embedding else stop_gradient(found)

    return loop_function


def rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Nested,
    cell: RNNCell,
    loop_function: Callable[..., Any] | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """Return the outputs of a cell for a list of inputs, and the last state."""
    with variable_scope(scope or "rnn_decoder"):
        outputs: list[Any] = []
        state = initial_state
        for i, given in enumerate(decoder_inputs):
            if loop_function is not None and outputs:
                with variable_scope("loop_function", reuse=True):
                    given = loop_function(outputs[-1], i)
            if i > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(given, state)
            outputs.append(output)
    return outputs, state


def embedding_rnn_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Nested,
    cell: RNNCell,
    num_symbols: int,
    embedding_size: int,
    output_projection: Nested = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """Return `rnn_decoder` of symbols, embedded; with `feed_previous`, only the first of them is looked at."""
    with variable_scope(scope or "embedding_rnn_decoder") as opened:
        _check_projection(output_projection, num_symbols, opened.dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = _fed_back(feed_previous, embedding, output_projection, update_embedding_for_previous)
        embedded = (embedding_lookup_v1(embedding, symbols) for symbols in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop)


def _fed_back(feed: bool, embedding: Any, projection: Any, update: bool) -> Any:
    return extract_argmax_and_embed(embedding, projection, update) if feed else None


def _check_projection(projection: Any, num_symbols: int, dtype: Any) -> None:
    if projection is not None:
        convert(projection[0], dtype).shape.assert_is_compatible_with([None, num_symbols])
        convert(projection[1], dtype).shape.assert_is_compatible_with([num_symbols])


def attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Nested,
    attention_states: AnyTensor,
    cell: RNNCell,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Callable[..., Any] | None = None,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Return the outputs of a cell that attends, before each step, to `attention_states`; and the last state."""
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape.as_list()[2] is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as opened:
        heads = _Heads(attention_states, num_heads, opened.dtype)
        attended = heads.none(shape_of(decoder_inputs[0])[0])
        if initial_state_attention:
            attended = heads.attend(initial_state)
        outputs: list[Any] = []
        state = initial_state
        for i, given in enumerate(decoder_inputs):
            if i > 0:
                get_variable_scope().reuse_variables()
            if loop_function is not None and outputs:
                with variable_scope("loop_function", reuse=True):
                    given = loop_function(outputs[-1], i)
            columns = given.shape.with_rank(2).as_list()[1]
            if columns is None:
                raise ValueError(f"Could not infer input size from input: {given.name}")
            output, state = cell(heads.joined(given, attended, columns), state)
            with variable_scope(get_variable_scope(), reuse=True if i == 0 and initial_state_attention else None):
                attended = heads.attend(state)
            with variable_scope("AttnOutputProjection"):
                outputs.append(heads.joined(output, attended, size))
    return outputs, state


class _Heads:
    """Heads of attention over given states."""

    def __init__(self, states: Any, count: int, dtype: Any):
        self.dtype = dtype
        self.size = size = states.shape.as_list()[2]
        self.length = states.shape.as_list()[1] or shape_of(states)[1]
        self.hidden = reshape(states, [-1, self.length, 1, size])
        self.features, self.v = [], []
        for head in range(count):
            kernel = get_variable(f"AttnW_{head}", [1, 1, size, size], dtype=dtype)
            self.features.append(conv2d_v1(self.hidden, kernel, [1, 1, 1, 1], "SAME"))
            self.v.append(get_variable(f"AttnV_{head}", [size], dtype=dtype))

    def none(self, batch_size: Any) -> list[Any]:
        """Return what was attended to before anything was."""
        made = [zeros(stack([batch_size, self.size]), self.dtype) for _ in self.v]
        for x in made:
            x.set_shape([None, self.size])
        return made

    def attend(self, query: Any) -> list[Any]:
        """Return, for each head, the mean of the states, weighted by how they answer the query."""
        if nest.is_sequence(query):
            query = concat(nest.flatten(query), 1)
        found = []
        for head, (v, features) in enumerate(zip(self.v, self.features, strict=True)):
            with variable_scope(f"Attention_{head}"):
                asked = reshape(Linear(query, self.size, True)(query), [-1, 1, 1, self.size])
                scores = reduce_sum(v * tanh(features + cast(asked, self.dtype)), [2, 3])
                weights = cast(softmax(cast(scores, dtypes.float32)), self.dtype)
                mean = reduce_sum(reshape(weights, [-1, self.length, 1, 1]) * self.hidden, [1, 2])
                found.append(reshape(mean, [-1, self.size]))
        return found

    def joined(self, given: Any, attended: list[Any], width: int) -> Any:
        """Return a linear map of something and of what was attended to."""
        parts = [cast(x, self.dtype) for x in (given, *attended)]
        return Linear(parts, width, True)(parts)


def embedding_attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Nested,
    attention_states: TensorLike,
    cell: RNNCell,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Nested = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Return `attention_decoder` of symbols, embedded; with `feed_previous`, only the first of them is looked at."""
    size = cell.output_size if output_size is None else output_size
    if output_projection is not None:
        kind = None if dtype is None else dtypes.as_dtype(dtype)
        convert(output_projection[1], kind).shape.assert_is_compatible_with([num_symbols])
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        return attention_decoder(
            [embedding_lookup_v1(embedding, symbols) for symbols in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size=size,
            num_heads=num_heads,
            loop_function=_fed_back(feed_previous, embedding, output_projection, update_embedding_for_previous),
            initial_state_attention=initial_state_attention,
        )


# --- encoders and decoders --------------------------------------------------------------------------------------------


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: RNNCell,
    dtype: DTypeLike = dtypes.float32,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """Return what a cell decodes from the state another like it has read the inputs into."""
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: RNNCell,
    loop_function: Callable[..., Any] | None = None,
    dtype: DTypeLike = dtypes.float32,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """Return what a cell decodes from the state it has read the inputs into itself."""
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def _either_way(feed_previous: Any, decode: Callable[..., tuple[list[Any], Any]], steps: int, like: Any) -> Any:
    """Return what is decoded with or without feeding back: known now, or chosen in the graph.

    `decode(feed, update)` is told whether to feed back, and whether that is to change the embedding.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def branch(feed: bool) -> list[Any]:
        with variable_scope(get_variable_scope(), reuse=None if feed else True):  # both have the variables of one
            outputs, state = decode(feed, False)
            return outputs + nest.flatten(state)

    found = cond(feed_previous, lambda: branch(True), lambda: branch(False))
    state = nest.pack_sequence_as(like(), found[steps:]) if nest.is_sequence(like()) else found[steps]
    return found[:steps], state


def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: RNNCell,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Nested = None,
    feed_previous: TensorLike = False,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """Return the symbols (as outputs of `num_decoder_symbols` columns) that are decoded from symbols."""
    with variable_scope(scope or "embedding_rnn_seq2seq") as opened:
        if dtype is not None:
            opened.set_dtype(dtype)
        dtype = opened.dtype
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, encoded = static_rnn(encoder, encoder_inputs, dtype=dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feed: bool, update: bool) -> tuple[list[Any], Any]:
            return embedding_rnn_decoder(
                decoder_inputs,
                encoded,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection,
                feed,
                update,
            )

        return _either_way(feed_previous, decode, len(decoder_inputs), lambda: encoded)


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: RNNCell,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Nested = None,
    feed_previous: TensorLike = False,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Any], Any]:
    """Return `embedding_rnn_seq2seq` with one embedding and one cell for both sides."""
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as opened:
        dtype = opened.dtype
        _check_projection(output_projection, num_symbols, dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        given, wanted = (
            [embedding_lookup_v1(embedding, symbols) for symbols in side] for side in (encoder_inputs, decoder_inputs)
        )
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_symbols if num_decoder_symbols is None else num_decoder_symbols)

        def decode(feed: bool, update: bool) -> tuple[list[Any], Any]:
            loop = _fed_back(feed, embedding, output_projection, update)
            return tied_rnn_seq2seq(given, wanted, cell, loop_function=loop, dtype=dtype)

        def like() -> Any:
            rows = encoder_inputs[0].shape.as_list()[0]
            return cell.zero_state(shape_of(encoder_inputs[0])[0] if rows is None else rows, dtype)

        return _either_way(feed_previous, decode, len(decoder_inputs), like)


def embedding_attention_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: RNNCell,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Nested = None,
    feed_previous: TensorLike = False,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Return `embedding_rnn_seq2seq` with a decoder that attends to the encoder's outputs."""
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        outputs, encoded = static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        states = concat([reshape(x, [-1, 1, cell.output_size]) for x in outputs], 1)
        size = None
        if output_projection is None:
            cell, size = OutputProjectionWrapper(cell, num_decoder_symbols), num_decoder_symbols

        def decode(feed: bool, update: bool) -> tuple[list[Any], Any]:
            return embedding_attention_decoder(
                decoder_inputs,
                encoded,
                states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=size,
                output_projection=output_projection,
                feed_previous=feed,
                update_embedding_for_previous=update,
                initial_state_attention=initial_state_attention,
            )

        return _either_way(feed_previous, decode, len(decoder_inputs), lambda: encoded)


def one2many_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs_dict: dict[str, Sequence[Any]],
    enc_cell: RNNCell,
    dec_cells_dict: dict[str, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: dict[str, int],
    embedding_size: int,
    feed_previous: TensorLike = False,
    dtype: DTypeLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return what several decoders give from one encoder, by their names."""
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decodre_inputs_dict")
    for cell in dec_cells_dict.values():
        if not isinstance(cell, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(cell)}")
    outputs, states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, encoded = static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(feed: bool, _: bool, inputs: Any = inputs, cell: Any = cell, symbols: int = symbols) -> Any:
                    return embedding_rnn_decoder(inputs, encoded, cell, symbols, embedding_size, feed_previous=feed)

                outputs[name], states[name] = _either_way(feed_previous, decode, len(inputs), lambda: encoded)
    return outputs, states


# --- losses -----------------------------------------------------------------------------------------------------------


def sequence_loss_by_example(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the weighted cross-entropy of each example, over all steps."""
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, {len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        parts = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                found = sparse_softmax_cross_entropy_with_logits(labels=reshape(target, [-1]), logits=logit)
            else:
                found = _own_loss(softmax_loss_function, target, logit)
            parts.append(found * weight)
        losses = add_n(parts)
        if average_across_timesteps:
            losses = losses / (add_n(weights) + 1e-12)  # weights may all be 0
    return losses


def _own_loss(function: Callable[..., Any], target: Any, logit: Any) -> Any:
    """Return a program's own loss of a step; before 1.0 such functions took (inputs, labels)."""
    names = inspect.signature(function).parameters
    if "logits" in names or any(p.kind is p.VAR_KEYWORD for p in names.values()):
        return function(labels=target, logits=logit)
    return function(logit, target)


def sequence_loss(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the weighted cross-entropy over all steps and examples."""
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        each = sequence_loss_by_example(
            logits,
            targets,
            weights,
            average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function,
        )
        cost = reduce_sum(each)
        return cost / cast(shape_of(targets[0])[0], cost.dtype) if average_across_batch else cost


def model_with_buckets(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    targets: list[Any],
    weights: list[Any],
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[..., Any],
    softmax_loss_function: Callable[..., Any] | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """Return outputs and losses of a model for several lengths of inputs and outputs, with the same variables."""
    longest = buckets[-1]
    for what, listed, least in (
        ("encoder_inputs", encoder_inputs, longest[0]),
        ("targets", targets, longest[1]),
        ("weights", weights, longest[1]),
    ):
        if len(listed) < least:
            raise ValueError(f"Length of {what} ({len(listed)}) must be at least that of last bucket ({least}).")
    outputs, losses = [], []
    loss = sequence_loss_by_example if per_example_loss else sequence_loss
    with name_scope(name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]):
        for number, (given, wanted) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if number else None):
                found, _ = seq2seq(encoder_inputs[:given], decoder_inputs[:wanted])
                outputs.append(found)
                losses.append(
                    loss(found, targets[:wanted], weights[:wanted], softmax_loss_function=softmax_loss_function)
                )
    return outputs, losses
