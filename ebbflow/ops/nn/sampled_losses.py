"""Losses over a few classes that stand for all: noise-contrastive estimation and sampled softmax; and means of losses.

Compositions: the rows of weights for true and drawn classes are looked up at once, logits are their products with the
inputs, minus the logarithm of how often each class was to be expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.declare import raw
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.candidate_sampling import compute_accidental_hits, log_uniform_candidate_sampler
from ebbflow.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2
from ebbflow.ops.nn.embedding import embedding_lookup_v1


def sampled_logits(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    subtract_log_q=True,
    remove_accidental_hits=False,
    partition_strategy="mod",
    name=None,
    seed=None,
):
    """Return logits of the true and of the drawn classes for each row of inputs, and which of them are true."""
    tables = weights if isinstance(weights, list) else [weights]
    with name_scope(name, "compute_sampled_logits", [*tables, biases, inputs, labels]):
        inputs = convert(inputs, name="inputs")
        labels = convert(labels, name="labels")
        if labels.dtype != dtypes.int64:
            labels = raw.Cast(labels, DstT=dtypes.int64)
        flat_labels = raw.Reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
        sampled, true_expected, sampled_expected = (raw.StopGradient(convert(v)) for v in sampled_values)
        sampled = raw.Cast(sampled, DstT=dtypes.int64)
        both = raw.ConcatV2([flat_labels, sampled], 0)
        rows = _floating(embedding_lookup_v1(weights, both, partition_strategy=partition_strategy), inputs)
        offsets = _floating(embedding_lookup_v1(biases, both, partition_strategy=partition_strategy), inputs)
        count = raw.Shape(flat_labels)[0]
        true_rows, drawn_rows = rows[:count], rows[count:]
        sampled_part = matmul(inputs, drawn_rows, transpose_b=True) + offsets[count:]
        depth = raw.Shape(true_rows)[1]
        products = raw.ExpandDims(inputs, 1) * raw.Reshape(true_rows, raw.Pack([-1, num_true, depth]))
        true_part = raw.Reshape(raw.Sum(products, 2), [-1, num_true]) + raw.Reshape(offsets[:count], [-1, num_true])
        if remove_accidental_hits:
            sampled_part = sampled_part + _exclusions(labels, sampled, num_true, sampled_part)
        if subtract_log_q:
            true_part = true_part - raw.Log(_floating(true_expected, true_part))
            sampled_part = sampled_part - raw.Log(_floating(sampled_expected, sampled_part))
        is_true = raw.Div(raw.OnesLike(true_part), raw.Cast(num_true, DstT=true_part.dtype))
        return (
            raw.ConcatV2([true_part, sampled_part], 1),
            raw.ConcatV2([is_true, raw.ZerosLike(sampled_part)], 1),
        )


def _floating(x: Any, like: Any) -> Any:
    return x if x.dtype == like.dtype else raw.Cast(x, DstT=like.dtype)


def _exclusions(labels: Any, sampled: Any, num_true: int, logits: Any) -> Any:
    """Return what to add to the logits of drawn classes so that those that are true count for nothing."""
    rows, places, amounts = compute_accidental_hits(labels, sampled, num_true)
    where = raw.Pack([rows, raw.Cast(places, DstT=dtypes.int32)], axis=1)
    shape = raw.Shape(logits)
    return raw.SparseToDense(
        where, shape, _floating(amounts, logits), raw.Cast(0.0, DstT=logits.dtype), validate_indices=False
    )


def nce_loss_v1(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Any] | None = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """Return the noise-contrastive loss of each row of inputs; weights may be shards."""
    logits, is_true = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, partition_strategy, name,
    )  # fmt: skip
    losses = sigmoid_cross_entropy_with_logits(labels=is_true, logits=logits, name="sampled_losses")
    return raw.Sum(losses, [1])


def nce_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Any] | None = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Tensor:
    """Return the noise-contrastive loss of each row of inputs."""
    return nce_loss_v1(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        "div", name,
    )  # fmt: skip


def sampled_softmax_loss_v1(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Any] | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: TensorLike | None = None,
) -> Tensor:
    """Return the cross entropy over the true and some drawn classes, for training; weights may be shards."""
    logits, is_true = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, partition_strategy, name, seed,
    )  # fmt: skip
    return softmax_cross_entropy_with_logits_v2(labels=raw.StopGradient(is_true), logits=logits)


def sampled_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Any] | None = None,
    remove_accidental_hits: bool = True,
    seed: TensorLike | None = None,
    name: str = "sampled_softmax_loss",
) -> Tensor:
    """Return the cross entropy over the true and some drawn classes, for training."""
    return sampled_softmax_loss_v1(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        "div", name, seed,
    )  # fmt: skip
