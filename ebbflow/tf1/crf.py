"""Linear-chain conditional random fields (`tf.contrib.crf`): scores of tag sequences, their likelihood, the best one.

`inputs` are the scores of each tag at each step, [batch, time, tags]; `transition_params[i, j]` is the score of tag j
after tag i. Sums over all sequences and the search for the best one are loops over time in log space.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.shape import dimension_value
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import Nested, TensorLike
from ebbflow.layers.rnn.cell_base import RNNCell
from ebbflow.layers.rnn.dynamic import dynamic_rnn
from ebbflow.layers.smart_cond import smart_cond
from ebbflow.ops.arrays.argmax import argmax
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.indexing import gather_nd, one_hot
from ebbflow.ops.arrays.joining import concat, stack
from ebbflow.ops.arrays.masks import sequence_mask
from ebbflow.ops.arrays.ranges import range as arange
from ebbflow.ops.arrays.reversing import reverse_sequence
from ebbflow.ops.arrays.shaping import expand_dims, shape, squeeze
from ebbflow.ops.elementwise.binary import maximum
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import equal, where
from ebbflow.ops.reduce.reductions import reduce_logsumexp, reduce_max, reduce_sum
from ebbflow.state.variable_scope import get_variable


def crf_sequence_score(
    inputs: Nested, tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> Tensor:
    """Return the score of each row's tags: those of its steps and of its transitions."""
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_unary_score(tag_indices: TensorLike, sequence_lengths: TensorLike, inputs: Nested) -> Tensor:
    """Return the sum of the scores that `inputs` give each row's tags."""
    inputs = convert(inputs)
    tags = one_hot(tag_indices, _depth(inputs), dtype=inputs.dtype)
    mask = sequence_mask(sequence_lengths, _time(inputs), dtype=inputs.dtype)
    return reduce_sum(reduce_sum(inputs * tags, 2) * mask, 1)


def crf_binary_score(tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike) -> Tensor:
    """Return the sum of the scores of each row's transitions."""
    transitions = convert(transition_params)
    tags = cast(convert(tag_indices), dtypes.int32)
    pairs = stack([tags[:, :-1], tags[:, 1:]], axis=2)
    lengths = maximum(cast(convert(sequence_lengths), dtypes.int32) - 1, 0)
    mask = sequence_mask(lengths, shape(tags)[1] - 1, dtype=transitions.dtype)
    return reduce_sum(gather_nd(transitions, pairs) * mask, 1)


def crf_multitag_sequence_score(
    inputs: Nested, tag_bitmap: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> Tensor:
    """Return the log of the summed exponentials of the scores of all sequences that `tag_bitmap` allows."""
    inputs = convert(inputs)
    impossible = where(convert(tag_bitmap), inputs, zeros_like(inputs) + float("-inf"))

    def one_step() -> Any:
        return reduce_logsumexp(impossible[:, 0], 1)

    def several_steps() -> Any:
        return crf_log_norm(impossible, sequence_lengths, transition_params)

    return smart_cond(_is_one_step(inputs), one_step, several_steps)


def crf_log_norm(inputs: Nested, sequence_lengths: TensorLike, transition_params: TensorLike) -> Tensor:
    """Return the log of the summed exponentials of the scores of all tag sequences of each row."""
    inputs = convert(inputs)
    lengths = cast(convert(sequence_lengths), dtypes.int32)
    first = inputs[:, 0]

    def several_steps() -> Any:
        cell = CrfForwardRnnCell(transition_params)
        _, alphas = dynamic_rnn(
            cell, inputs[:, 1:], sequence_length=maximum(lengths - 1, 0), initial_state=first, dtype=inputs.dtype
        )
        return reduce_logsumexp(alphas, 1)

    norm = smart_cond(_is_one_step(inputs), lambda: reduce_logsumexp(first, 1), several_steps)
    return where(lengths <= 0, zeros_like(norm), norm)


def crf_log_likelihood(
    inputs: Nested, tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike | None = None
) -> tuple[Any, Any]:
    """Return the log-likelihood of each row's tags, and the transitions (a new variable where none are given)."""
    inputs = convert(inputs)
    if transition_params is None:
        tags = dimension_value(inputs.shape[2])
        transition_params = get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


class CrfForwardRnnCell(RNNCell):
    """One step of the sum over all sequences: the state is the log of the sums that end in each tag."""

    def __init__(self, transition_params: TensorLike) -> None:
        self._transition_params = expand_dims(transition_params, 0)
        self._num_tags = convert(transition_params).shape.as_list()[0]

    @property
    def state_size(self) -> int:
        """The number of tags."""
        return self._num_tags

    @property
    def output_size(self) -> int:
        """The number of tags."""
        return self._num_tags

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None) -> tuple[Any, Any]:
        ways = expand_dims(state, 2) + self._transition_params
        alphas = inputs + reduce_logsumexp(ways, 1)
        return alphas, alphas


class CrfDecodeForwardRnnCell(RNNCell):
    """One step of the search for the best sequence: the state is the best score that ends in each tag, the output which
    tag came before it.
    """

    def __init__(self, transition_params: TensorLike) -> None:
        self._transition_params = expand_dims(transition_params, 0)
        self._num_tags = convert(transition_params).shape.as_list()[0]

    @property
    def state_size(self) -> int:
        """The number of tags."""
        return self._num_tags

    @property
    def output_size(self) -> int:
        """The number of tags."""
        return self._num_tags

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None) -> tuple[Any, Any]:
        ways = expand_dims(state, 2) + self._transition_params
        return cast(argmax(ways, 1), dtypes.int32), inputs + reduce_max(ways, 1)


class CrfDecodeBackwardRnnCell(RNNCell):
    """One step back along the best sequence: from a tag to the one that came before it."""

    def __init__(self, num_tags: int) -> None:
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        """One: a tag."""
        return 1

    @property
    def output_size(self) -> int:
        """One: a tag."""
        return 1

    def __call__(self, inputs: Nested, state: Nested, scope: Any = None) -> tuple[Any, Any]:
        tag = squeeze(state, axis=[1])
        rows = arange(shape(inputs)[0])
        before = expand_dims(gather_nd(inputs, stack([rows, tag], axis=1)), -1)
        return before, before


def crf_decode(potentials: TensorLike, transition_params: TensorLike, sequence_length: TensorLike) -> tuple[Any, Any]:
    """Return the best tags of each row, [batch, time] (zero behind its end), and their score."""
    potentials = convert(potentials)
    lengths = cast(convert(sequence_length), dtypes.int32)

    def one_step() -> tuple[Any, Any]:
        only = squeeze(potentials, axis=[1])
        return cast(expand_dims(argmax(only, 1), 1), dtypes.int32), reduce_max(only, 1)

    def several_steps() -> tuple[Any, Any]:
        return _viterbi(potentials, transition_params, maximum(lengths - 1, 0))

    return smart_cond(_is_one_step(potentials), one_step, several_steps)


def _viterbi(potentials: Any, transition_params: Any, steps: Any) -> tuple[Any, Any]:
    forward = CrfDecodeForwardRnnCell(transition_params)
    pointers, scores = dynamic_rnn(
        forward, potentials[:, 1:], sequence_length=steps, initial_state=potentials[:, 0], dtype=dtypes.int32
    )
    last = expand_dims(cast(argmax(scores, 1), dtypes.int32), -1)
    backward = CrfDecodeBackwardRnnCell(forward.output_size)
    tags, _ = dynamic_rnn(
        backward,
        reverse_sequence(pointers, steps, seq_axis=1),
        sequence_length=steps,
        initial_state=last,
        dtype=dtypes.int32,
    )
    reversed_tags = concat([last, squeeze(tags, axis=[2])], axis=1)
    return reverse_sequence(reversed_tags, steps + 1, seq_axis=1), reduce_max(scores, 1)


def viterbi_decode(score: TensorLike, transition_params: TensorLike) -> tuple[list[int], Any]:
    """Return the best tags of one sequence of scores (an array), and their score: the search in NumPy.

    >>> viterbi_decode(np.array([[1.0, 0.0], [0.0, 3.0]]), np.zeros([2, 2]))[0]
    [0, 1]
    """
    score = np.asarray(score)
    best = np.zeros_like(score)
    before = np.zeros_like(score, np.int32)
    best[0] = score[0]
    for t in range(1, score.shape[0]):
        ways = best[t - 1][:, None] + transition_params
        best[t] = score[t] + ways.max(0)
        before[t] = ways.argmax(0)
    tags = [int(best[-1].argmax())]
    for pointers in reversed(before[1:]):
        tags.append(int(pointers[tags[-1]]))
    return tags[::-1], best[-1].max()


def _depth(inputs: Any) -> Any:
    """Return how many tags there are: a number where it is known."""
    static = inputs.shape.as_list()[2] if inputs.shape.rank is not None else None
    return static if static is not None else shape(inputs)[2]


def _time(inputs: Any) -> Any:
    return shape(inputs)[1]


def _is_one_step(inputs: Any) -> Any:
    """Return whether sequences have one step only: a bool where that is known."""
    dims = inputs.shape
    steps = dims.as_list()[1] if dims.rank is not None else None
    return steps == 1 if steps is not None else equal(shape(inputs)[1], 1)
