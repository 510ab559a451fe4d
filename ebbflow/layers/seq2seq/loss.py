"""The cross-entropy of sequences, weighted step by step (`tf.contrib.seq2seq.sequence_loss`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import AnyTensor
from ebbflow.ops.arrays.shaping import reshape
from ebbflow.ops.arrays.shaping import shape as shape_of
from ebbflow.ops.elementwise.binary import div_no_nan
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from ebbflow.ops.reduce.reductions import count_nonzero, reduce_sum


def sequence_loss(
    logits: Tensor,
    targets: AnyTensor,
    weights: AnyTensor,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """Return the weighted cross-entropy of sequences, over steps or examples or both, or of each step."""
    for what, tensor, shape in (
        ("Logits", logits, "[batch_size x sequence_length x logits]"),
        ("Targets", targets, "[batch_size x sequence_length]"),
        ("Weights", weights, "[batch_size x sequence_length]"),
    ):
        if tensor.shape.rank != shape.count(" x ") + 1:
            raise ValueError(f"{what} must be a {shape} tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        rows = reshape(logits, [-1, shape_of(logits)[2]])
        loss = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        each = loss(labels=reshape(targets, [-1]), logits=rows) * reshape(weights, [-1])
        over_steps = average_across_timesteps or sum_over_timesteps
        over_batch = average_across_batch or sum_over_batch
        if (average_across_timesteps and average_across_batch) or (sum_over_timesteps and sum_over_batch):
            axis = None
        else:
            each = reshape(each, shape_of(logits)[0:2])
            if not (over_steps or over_batch):
                return each
            averaged = average_across_timesteps or average_across_batch
            axis = [0] if (average_across_batch if averaged else sum_over_batch) else [1]
        total = reduce_sum(each, axis)
        if average_across_timesteps or average_across_batch:
            return div_no_nan(total, reduce_sum(weights, axis))
        return div_no_nan(total, cast(count_nonzero(weights, axis), total.dtype))


class SequenceLoss:
    """`sequence_loss` as an object, called with labels, logits and weights; it sums unless told otherwise."""

    reduction = "auto"

    def __init__(
        self,
        average_across_timesteps: bool = False,
        average_across_batch: bool = False,
        sum_over_timesteps: bool = True,
        sum_over_batch: bool = True,
        softmax_loss_function: Callable[..., Any] | None = None,
        name: str | None = None,
    ):
        self.average_across_timesteps, self.average_across_batch = average_across_timesteps, average_across_batch
        self.sum_over_timesteps, self.sum_over_batch = sum_over_timesteps, sum_over_batch
        self.softmax_loss_function, self.name = softmax_loss_function, name

    def __call__(self, y_true: AnyTensor, y_pred: Tensor, sample_weight: AnyTensor | None = None) -> Tensor:
        """Return the loss of logits `y_pred`, where each step weighs `sample_weight`."""
        if sample_weight is None:
            raise ValueError("sample_weight must be given: the weight of each step [batch_size x sequence_length]")
        return sequence_loss(
            y_pred, y_true, sample_weight, self.average_across_timesteps, self.average_across_batch,
            self.sum_over_timesteps, self.sum_over_batch, self.softmax_loss_function, self.name,
        )  # fmt: skip
