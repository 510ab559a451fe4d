"""Losses over some classes, chosen for how likely they are (`rank_sampled_softmax_loss` of `tf.contrib.nn`),
losses over drawn classes for labels of one class a row, and derivatives forward through a graph (`fwd_gradients`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.graph.gradients import gradients
from ebbflow.ops.arrays.creation import zeros_like
from ebbflow.ops.arrays.indexing import gather
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.candidate_sampling import uniform_candidate_sampler
from ebbflow.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from ebbflow.ops.nn.embedding import embedding_lookup_v1
from ebbflow.ops.nn.sampled_losses import sampled_logits, sampled_softmax_loss_v1
from ebbflow.ops.reduce.reductions import reduce_logsumexp


def rank_sampled_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Sequence[Any] | None,
    resampling_temperature: TensorLike,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> Tensor:
    """Return the sampled softmax loss over those `num_resampled` of the drawn classes that score highest."""
    if num_sampled > num_classes:
        raise ValueError(f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})")
    if num_sampled <= num_resampled:
        raise ValueError(f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})")
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    tables = [*_listed(weights), *_listed(biases), labels, inputs]
    with name_scope(name, "rank_sampled_softmax_loss", tables) as scope:
        if sampled_values is None:
            sampled_values = uniform_candidate_sampler(
                raw.Cast(convert(labels), DstT=dtypes.int64), num_true, num_sampled, True, num_classes
            )
        chosen = _best(
            weights, biases, inputs, sampled_values, num_resampled, resampling_temperature, partition_strategy
        )
        return sampled_softmax_loss_v1(
            weights, biases, labels, inputs, num_resampled, num_classes, num_true, chosen, remove_accidental_hits,
            partition_strategy, scope,
        )  # fmt: skip


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _best(
    weights: Any, biases: Any, inputs: Any, drawn: Any, count: int, temperature: Any, strategy: str
) -> tuple[Any, Any, Any]:
    """Return the drawn classes whose summed likelihoods over the batch are largest, as a sampler's result."""
    classes, true_expected, expected = (convert(value) for value in drawn)
    rows = embedding_lookup_v1(weights, classes, partition_strategy=strategy)
    offsets = embedding_lookup_v1(biases, classes, partition_strategy=strategy)
    logits = matmul(convert(inputs), rows, transpose_b=True) + offsets
    scores = reduce_logsumexp(logits / convert(temperature, logits.dtype), axis=0)
    _, places = raw.TopKV2(scores, count)
    return raw.StopGradient(gather(classes, places)), true_expected, gather(expected, places)


def sampled_sparse_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    sampled_values: Sequence[Any] | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Tensor:
    """Return the cross entropy of each row's one label against some drawn classes, for training."""
    logits, _ = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, 1, sampled_values, True, remove_accidental_hits,
        partition_strategy, name,
    )  # fmt: skip
    first = raw.Reshape(zeros_like(convert(labels)), [-1])  # the true class is the first column
    return sparse_softmax_cross_entropy_with_logits(labels=first, logits=logits)


def fwd_gradients(
    ys: Sequence[Tensor], xs: Sequence[Tensor], grad_xs: Sequence[Any] | None = None, assert_unused: bool = False
) -> list[Any]:
    """Return how each y changes as the xs change by `grad_xs`: the gradient, by v, of the gradient of ys for v."""
    with name_scope("fwd_gradients"):
        dummies = [zeros_like(y) for y in ys]
        backward = gradients(list(ys), list(xs), dummies)
        pairs = [(g, dx) for g, dx in zip(backward, grad_xs or [None] * len(xs), strict=True) if g is not None]
        given = None if grad_xs is None else [convert(dx, g.dtype) for g, dx in pairs]
        return gradients([g for g, _ in pairs], dummies, given)
