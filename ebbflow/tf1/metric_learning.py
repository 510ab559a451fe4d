"""Losses by which embeddings of one class come together (`tf.contrib.losses.metric_learning`): contrastive, triplets
with negatives that are hard but not too hard, pairs against all others, lifted structures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ebbflow.core import dtypes
from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.shaping import reshape, transpose
from ebbflow.ops.checks.printing import Print
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.compare import where
from ebbflow.ops.linalg.diag import eye
from ebbflow.ops.linalg.matmul import matmul
from ebbflow.ops.nn.cross_entropy import softmax_cross_entropy_with_logits_v2
from ebbflow.ops.reduce.reductions import reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from ebbflow.ops.sparse.functions import minimum as sparse_minimum
from ebbflow.ops.sparse.functions import reduce_sum as sparse_sum


def _distances(embeddings: Any, squared: bool) -> Any:
    """Return how far all embeddings are from each other; what rounding makes negative, and the diagonal, is zero."""
    lengths = reduce_sum(raw.Square(embeddings), 1, keepdims=True)
    found = raw.Maximum(lengths + transpose(lengths) - 2.0 * matmul(embeddings, embeddings, transpose_b=True), 0.0)
    apart = cast(found > 0.0, dtypes.float32)
    if not squared:  # a root of zero has no slope: of something tiny it has
        found = raw.Sqrt(found + (1.0 - apart) * 1e-16)
    return found * apart * (1.0 - eye(raw.Shape(found)[0]))


def _same(labels: TensorLike) -> Any:
    """Return which examples have the same label."""
    column = convert(labels)
    if column.shape.rank != 1:
        raise ValueError(f"labels must be a vector; got shape {column.shape}")
    return raw.Equal(column[:, None], column[None, :])


def contrastive_loss(
    labels: TensorLike, embeddings_anchor: TensorLike, embeddings_positive: TensorLike, margin: float = 1.0
) -> Tensor:
    """Return the mean square distance of pairs that belong together, and how far others are within a margin."""
    far = raw.Sqrt(reduce_sum(raw.SquaredDifference(convert(embeddings_anchor), convert(embeddings_positive)), 1))
    together = cast(labels, far.dtype)
    near = raw.Square(raw.Maximum(margin - far, 0.0))
    return reduce_mean(together * raw.Square(far) + (1.0 - together) * near, name="contrastive_loss")


def triplet_semihard_loss(labels: TensorLike, embeddings: TensorLike, margin: float = 1.0) -> Tensor:
    """Return by how much the nearest negative beyond each positive is too near; the farthest where none is."""
    same = _same(labels)
    far = _distances(convert(embeddings), squared=True)
    others = cast(raw.LogicalNot(same), dtypes.float32)
    # [a, p, n]: is n a negative of a, and farther from it than p?
    beyond = raw.LogicalAnd(raw.LogicalNot(same)[:, None, :], far[:, None, :] > far[:, :, None])
    most, least = reduce_max(far, 1, keepdims=True), reduce_min(far, 1, keepdims=True)
    nearest = reduce_min((far - most)[:, None, :] * cast(beyond, dtypes.float32), 2) + most
    farthest = reduce_max((far - least) * others, 1, keepdims=True) + least
    negative = where(reduce_any(beyond, 2), nearest, farthest)
    positives = cast(same, dtypes.float32) - eye(raw.Shape(far)[0])
    missing = raw.Maximum((margin + far - negative) * positives, 0.0)
    return raw.RealDiv(reduce_sum(missing), reduce_sum(positives), name="triplet_semihard_loss")


def _pairs_loss(adjacency: Any, anchor: Any, positive: Any, reg_lambda: float, print_losses: bool) -> Any:
    """Return the cross entropy of each anchor's positives among all, and the lengths of the embeddings."""
    lengths = [reduce_mean(reduce_sum(raw.Square(x), 1)) for x in (anchor, positive)]
    decay = raw.Mul(0.25 * reg_lambda, lengths[0] + lengths[1], name="l2loss")
    wanted = adjacency / reduce_sum(adjacency, 1, keepdims=True)
    similar = matmul(anchor, positive, transpose_b=True)
    entropy = reduce_mean(softmax_cross_entropy_with_logits_v2(labels=wanted, logits=similar), name="xentropy")
    if print_losses:
        entropy = Print(entropy, ["cross entropy:", entropy, "l2loss:", decay])
    return decay + entropy


def npairs_loss(
    labels: TensorLike,
    embeddings_anchor: TensorLike,
    embeddings_positive: TensorLike,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Tensor:
    """Return how badly each anchor's positives are told from all others."""
    adjacency = cast(_same(labels), dtypes.float32)
    return _pairs_loss(adjacency, convert(embeddings_anchor), convert(embeddings_positive), reg_lambda, print_losses)


def npairs_loss_multilabel(
    sparse_labels: Sequence[SparseTensor],
    embeddings_anchor: TensorLike,
    embeddings_positive: TensorLike,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Tensor:
    """Return `npairs_loss` of examples with several labels: as near as they have labels in common."""
    if not all(isinstance(label, SparseTensor) for label in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with name_scope("NpairsLossMultiLabel"):
        shared = [cast(sparse_sum(sparse_minimum(a, b)), dtypes.float32) for a in sparse_labels for b in sparse_labels]
        adjacency = reshape(raw.Pack(shared), [len(sparse_labels), len(sparse_labels)])
        return _pairs_loss(
            adjacency, convert(embeddings_anchor), convert(embeddings_positive), reg_lambda, print_losses
        )


def lifted_struct_loss(labels: TensorLike, embeddings: TensorLike, margin: float = 1.0) -> Tensor:
    """Return how far positives are, and how near the negatives of both, smoothly the nearest of them."""
    same = _same(labels)
    far = _distances(convert(embeddings), squared=False)
    others = cast(raw.LogicalNot(same), dtypes.float32)
    near = margin - far
    least = reduce_min(near, 1, keepdims=True)
    worst = reduce_max((near - least) * others, 1, keepdims=True) + least
    worst = raw.Maximum(worst, transpose(worst))
    # [i, j]: the negatives of i, against the worst of i and j
    left = reduce_sum(raw.Exp(near[:, None, :] - worst[:, :, None]) * others[:, None, :], 2)
    total = worst + raw.Log(left + transpose(left)) + far
    positives = cast(same, dtypes.float32) - eye(raw.Shape(far)[0])
    squares = raw.Square(raw.Maximum(total * positives, 0.0))
    return raw.RealDiv(0.25 * reduce_sum(squares), reduce_sum(positives) / 2.0, name="liftedstruct_loss")
