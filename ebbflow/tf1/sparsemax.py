"""`contrib.sparsemax`: the nearest point of the simplex in place of softmax, with many exact zeros, and its loss.

Martins, Astudillo: From Softmax to Sparsemax. ICML 2016.
"""

from __future__ import annotations

import math

from ebbflow.core.convert import convert
from ebbflow.core.scopes import name_scope
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.indexing import gather_nd
from ebbflow.ops.arrays.joining import stack
from ebbflow.ops.declare import raw
from ebbflow.ops.elementwise.casts import cast


def sparsemax(logits: TensorLike, name: str | None = None) -> Tensor:
    """Return the point of the simplex that is nearest to each row of logits [batch, classes].

    >>> sparsemax([[1.0, 2.0, 2.5]]).numpy().tolist()
    [[0.0, 0.25, 0.75]]
    """
    with name_scope(name, "sparsemax", [logits]):
        logits = convert(logits, name="logits")
        sizes = raw.Shape(logits)
        z = logits
        falling, _ = raw.TopKV2(z, sizes[1])
        sums = raw.Cumsum(falling, 1)
        ranks = cast(raw.Range(1, sizes[1] + 1, 1), logits.dtype)
        inside = 1.0 + ranks * falling > sums
        count = raw.Sum(cast(inside, sizes.dtype), 1)
        places = stack([raw.Range(0, sizes[0], 1), raw.Maximum(count - 1, 0)], 1)
        threshold = (gather_nd(sums, places) - 1.0) / cast(count, logits.dtype)
        result = raw.Maximum(z - raw.ExpandDims(threshold, 1), 0.0)
        nowhere = raw.LogicalOr(raw.Equal(count, 0), raw.IsNan(sums[:, -1]))  # an infinite entry, or one that is NaN
        result = raw.SelectV2(raw.ExpandDims(nowhere, 1), raw.Fill(sizes, convert(math.nan, logits.dtype)), result)
        result.set_shape(logits.shape)
        return result


def sparsemax_loss(logits: TensorLike, sparsemax: TensorLike, labels: TensorLike, name: str | None = None) -> Tensor:
    """Return the loss of each row of logits whose `sparsemax` is known, against labels that add up to 1."""
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits, point, labels = convert(logits), convert(sparsemax), convert(labels)
        z, nothing = logits, raw.ZerosLike(point)
        inside = raw.LogicalOr(raw.Greater(point, 0.0), raw.IsNan(point))
        support = raw.SelectV2(inside, point * (z - 0.5 * point), nothing)
        wanted = labels * (0.5 * labels - z)
        unused = raw.LogicalAnd(raw.Equal(labels, 0.0), raw.IsInf(z))
        return raw.Sum(support + raw.SelectV2(unused, nothing, wanted), 1)
