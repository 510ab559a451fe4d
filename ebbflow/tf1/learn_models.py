"""The small models of `tf.contrib.learn.models` and what they are made of (`tf.contrib.learn.ops`), from skflow's time.

Each takes features and labels and gives predictions and a loss; `Estimator` trains what such a function gives.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

from ebbflow.core import context, dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import TensorShape, dimension_value
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import DTypeLike, Nested, TensorLike
from ebbflow.layers.rnn.attention import AttentionCellWrapper
from ebbflow.layers.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, MultiRNNCell
from ebbflow.layers.rnn.static import reverse_steps, static_rnn
from ebbflow.ops.arrays.creation import zeros
from ebbflow.ops.arrays.joining import concat, stack, unstack
from ebbflow.ops.arrays.shaping import reshape, squeeze
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.elementwise.sums import add_n
from ebbflow.ops.nn.bias_softmax import softmax, xw_plus_b
from ebbflow.ops.nn.cross_entropy import softmax_cross_entropy_with_logits
from ebbflow.ops.nn.embedding import embedding_lookup as looked_up
from ebbflow.ops.reduce.reductions import reduce_sum
from ebbflow.state.initializers import RandomNormal
from ebbflow.state.variable_scope import get_variable, get_variable_scope, variable_scope
from ebbflow.summary.ops import histogram
from ebbflow.train import losses

Pair = tuple[Tensor, Tensor]


# --- ops --------------------------------------------------------------------------------------------------------------


def mean_squared_error_regressor(
    tensor_in: TensorLike, labels: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Pair:
    """Return `tensor_in @ weights + biases`, and its mean squared distance from the labels."""
    with name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        labels = convert(labels)
        predictions = xw_plus_b(tensor_in, weights, biases)
        if labels.shape.rank == 1 and predictions.shape.rank == 2:
            predictions = squeeze(predictions, axis=[1])
        return predictions, losses.mean_squared_error(labels, predictions)


def softmax_classifier(
    tensor_in: TensorLike,
    labels: TensorLike,
    weights: TensorLike,
    biases: TensorLike,
    class_weight: TensorLike | None = None,
    name: str | None = None,
) -> Pair:
    """Return the shares of classes whose logits are `tensor_in @ weights + biases`, and the loss against the labels."""
    with name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = logits * class_weight
        return softmax(logits), losses.softmax_cross_entropy(labels, logits)


def embedding_lookup(params: TensorLike, ids: TensorLike, name: str = "embedding_lookup") -> Tensor:
    """Return the rows of `params` that `ids`, of any shape, name."""
    with name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = convert(params), convert(ids)
        dims = shape_of(ids)
        rows = looked_up(params, reshape(ids, [-1]))
        found = reshape(rows, concat([dims, shape_of(params)[1:]], 0))
        found.set_shape(TensorShape(ids.shape).concatenate(params.shape[1:]))
        return found


def categorical_variable(tensor_in: TensorLike, n_classes: int, embedding_size: int, name: str) -> Tensor:
    """Return trained vectors for the ids of `n_classes` categories."""
    with variable_scope(name):
        embeddings = get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)


# --- sequences --------------------------------------------------------------------------------------------------------


def sequence_classifier(
    decoding: Sequence[TensorLike],
    labels: Sequence[TensorLike],
    sampling_decoding: Sequence[TensorLike] | None = None,
    name: str | None = None,
) -> Pair:
    """Return the shares of classes at each step, and the loss of all; the shares of what was sampled, if given."""
    with name_scope(name, "sequence_classifier", [decoding, labels]):
        told = [
            softmax_cross_entropy_with_logits(labels=label, logits=step, name=f"sequence_loss/xent_raw{i}")
            for i, (step, label) in enumerate(zip(decoding, labels))
        ]
        predictions = [softmax(step) for step in sampling_decoding or decoding]
        loss = reduce_sum(add_n(told, name="sequence_loss/xent"), name="sequence_loss")
        return stack(predictions, axis=1), loss


def seq2seq_inputs(
    x: TensorLike,
    y: TensorLike,
    input_length: int,
    output_length: int,
    sentinel: TensorLike | None = None,
    name: str | None = None,
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Return the steps of x, of y with a mark (zeros, if none is given) before them, and of y with the mark behind."""
    with name_scope(name, "seq2seq_inputs", [x, y]):
        x, y = convert(x), convert(y)
        steps, targets = unstack(x, axis=1), unstack(y, axis=1)
        if sentinel is None:
            mark = zeros(stack([shape_of(x)[0], dimension_value(y.shape[2])]), dtype=y.dtype)
            mark.set_shape(targets[0].shape)
        else:
            mark = convert(sentinel)
        return steps, [mark, *targets], [*targets, mark]


def rnn_decoder(
    decoder_inputs: Sequence[TensorLike], initial_state: Nested, cell: Any, scope: Any = None
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Return outputs and states of a cell that is given each input, and of one that is given its own last output."""
    with variable_scope(scope or "dnn_decoder"):
        states, outputs = [initial_state], []
        with name_scope("training"):
            for number, each in enumerate(decoder_inputs):
                if number:
                    get_variable_scope().reuse_variables()
                output, state = cell(each, states[-1])
                outputs.append(output)
                states.append(state)
        own_states, own_outputs = [initial_state, states[0]], outputs[:1]
        with name_scope("sampling"):
            for _ in list(decoder_inputs)[1:]:
                output, state = cell(own_outputs[-1], own_states[-1])
                own_outputs.append(output)
                own_states.append(state)
        return outputs, states, own_outputs, own_states


def rnn_seq2seq(
    encoder_inputs: Sequence[TensorLike],
    decoder_inputs: Sequence[TensorLike],
    encoder_cell: Any,
    decoder_cell: Any = None,
    dtype: DTypeLike = dtypes.float32,
    scope: Any = None,
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Return what `rnn_decoder` gives from the state that the encoder ends in."""
    with variable_scope(scope or "rnn_seq2seq"):
        _, last = static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, last, decoder_cell or encoder_cell)


# --- models -----------------------------------------------------------------------------------------------------------


def linear_regression_zero_init(x: TensorLike, y: TensorLike) -> Pair:
    """Return `linear_regression` that begins with zeros."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression_zero_init(x: TensorLike, y: TensorLike) -> Pair:
    """Return `logistic_regression` that begins with zeros."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def linear_regression(x: TensorLike, y: TensorLike, init_mean: float | None = None, init_stddev: float = 1.0) -> Pair:
    """Return predictions of a linear model of x and their squared error; weights begin about `init_mean`, if given."""
    with variable_scope("linear_regression"):
        x, y = _shown(x, y)
        width = 1 if y.shape.rank == 1 else y.shape[1]
        weights, bias = _weights(x, width, init_mean, init_stddev)
        return mean_squared_error_regressor(x, y, weights, bias)


def logistic_regression(
    x: TensorLike,
    y: TensorLike,
    class_weight: TensorLike | None = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> Pair:
    """Return the shares of classes by a linear model of x, and its loss against y, which is one-hot.

    Weights of classes may be given as a tensor of the graph that is called "class_weight", too.
    """
    with variable_scope("logistic_regression"):
        x, y = _shown(x, y)
        weights, bias = _weights(x, y.shape[-1], init_mean, init_stddev)
        if class_weight is None:
            with contextlib.suppress(KeyError):
                class_weight = context.default_graph().get_tensor_by_name("class_weight:0")
        return softmax_classifier(x, y, weights, bias, class_weight=class_weight)


def _shown(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    x, y = convert(x), convert(y)
    scope = get_variable_scope().name
    histogram(f"{scope}.x", x)
    histogram(f"{scope}.y", y)
    return x, y


def _weights(x: Tensor, width: Any, mean: float | None, deviation: float) -> tuple[Any, Any]:
    scope, dtype = get_variable_scope().name, x.dtype.base_dtype
    initializer = None if mean is None else RandomNormal(mean, deviation, dtype=dtype)
    weights = get_variable("weights", [x.shape[1], width], dtype, initializer)
    bias = get_variable("bias", [width], dtype, initializer)
    histogram(f"{scope}.weights", weights)
    histogram(f"{scope}.bias", bias)
    return weights, bias


def bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Sequence[TensorLike],
    initial_state_fw: Nested = None,
    initial_state_bw: Nested = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Return the outputs of both directions side by side, and both last states so."""
    name = scope or "BiRNN"
    with variable_scope(f"{name}_FW"):
        there, forward = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length)
    with variable_scope(f"{name}_BW"):
        turned = reverse_steps(inputs, sequence_length)
        back, backward = static_rnn(cell_bw, turned, initial_state_bw, dtype, sequence_length)
    pairs = zip(there, reverse_steps(back, sequence_length), strict=True)
    return [concat(list(pair), 1) for pair in pairs], concat([forward, backward], 1)


CELLS: dict[str, Callable[..., Any]] = {
    "rnn": BasicRNNCell,
    "gru": GRUCell,
    "lstm": functools.partial(BasicLSTMCell, state_is_tuple=False),
}


def get_rnn_model(
    rnn_size: int,
    cell_type: str,
    num_layers: int,
    input_op_fn: Callable[..., Any],
    bidirectional: bool,
    target_predictor_fn: Callable[..., Any],
    sequence_length: TensorLike | None,
    initial_state: Nested,
    attn_length: int | None,
    attn_size: int | None,
    attn_vec_size: int | None,
) -> Callable[[Any, Any], Any]:
    """Return a model function: cells over what `input_op_fn` makes of x, and the predictor of their last state."""
    if cell_type not in CELLS:
        raise ValueError(f"cell_type {cell_type} is not supported. One of {', '.join(CELLS)}")

    def one() -> Any:
        cell = CELLS[cell_type](rnn_size)
        if attn_length is None:
            return cell
        return AttentionCellWrapper(
            cell, attn_length=attn_length, attn_size=attn_size, attn_vec_size=attn_vec_size, state_is_tuple=False
        )

    def layers() -> Any:
        return MultiRNNCell([one() for _ in range(num_layers)], state_is_tuple=False)

    def rnn_estimator(x: Any, y: Any) -> Any:
        steps = input_op_fn(x)
        if bidirectional:
            _, encoding = bidirectional_rnn(
                layers(), layers(), steps, initial_state, initial_state, dtypes.float32, sequence_length
            )
        else:
            _, encoding = static_rnn(
                layers(), steps, dtype=dtypes.float32, sequence_length=sequence_length, initial_state=initial_state
            )
        return target_predictor_fn(encoding, y)

    return rnn_estimator
