"""Cross entropies of logits and labels: softmax (dense and sparse labels), sigmoid, Poisson.

The two softmax ops hand out, next to the loss, its gradient for the logits, so that going back costs one product; their
second order is worked out from the softmax again. Public functions take logits of any rank and any class axis and bring
them to the matrices that the ops want.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import context, dtypes, errors
from ebbflow.core.convert import convert, operand
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import is_compatible
from ebbflow.core.tensor import EagerTensor, Tensor
from ebbflow.core.typing import Axis, TensorLike
from ebbflow.ops.arrays.creation import building, ones_like_v1, stop_gradient, zeros_like_v1
from ebbflow.ops.arrays.joining import concat
from ebbflow.ops.arrays.ranges import range as range_of
from ebbflow.ops.arrays.shaping import rank as rank_of
from ebbflow.ops.arrays.shaping import reshape, transpose
from ebbflow.ops.arrays.shaping import shape as shape_of_tensor
from ebbflow.ops.checks.asserts import assert_equal_v1
from ebbflow.ops.declare import raw, show
from ebbflow.ops.elementwise import binary as math_ops
from ebbflow.ops.elementwise.activations import relu
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.elementwise.unary import abs, exp, log, log1p
from ebbflow.ops.nn import cross_entropy_arrays as arrays
from ebbflow.ops.nn.bias_softmax import shares, shifted, wide
from ebbflow.ops.reduce.reductions import one_of
from ebbflow.ops.shape_rules import broadcast_batches, equal_length, ranked
from ebbflow.ops.sizes import invalid, is_static

SoftmaxCrossEntropyWithLogits = op(
    "SoftmaxCrossEntropyWithLogits(features:T, labels:T) -> (loss:T, backprop:T) | T: floats", facts="fresh"
)


@SoftmaxCrossEntropyWithLogits.shape
def _(features, labels):
    dims = broadcast_batches(features.dims, labels.dims)
    if dims is None:
        return [(None,), (None, None)]
    if len(dims) != 2:
        raise errors.StaticShapeError(f"Shape must be broadcasted with rank 2, but is rank {len(dims)}")
    return [dims[:1], dims]


@SoftmaxCrossEntropyWithLogits.kernel
def _(xp, features, labels):
    x, y = wide(features), wide(labels)
    try:
        x, y = xp.broadcast_arrays(x, y)
    except ValueError:
        raise invalid(
            "logits and labels must be broadcastable: "
            f"logits_size={show(features.shape)} labels_size={show(labels.shape)}"
        ) from None
    if x.ndim != 2:
        raise invalid("logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional")
    moved, total, exponentials = shifted(xp, x)
    loss = (y * (xp.log(total) - moved)).sum(-1)
    backprop = shares(xp, exponentials, total) - y if x.shape[-1] else xp.zeros(x.shape, x.dtype)
    return loss.astype(features.dtype), backprop.astype(features.dtype)


@SoftmaxCrossEntropyWithLogits.gradient
def _(call, grad_loss, grad_backprop):
    logits = call.features
    to_logits = to_labels = None
    if call.wants(0):
        to_logits = _second_order(raw.ExpandDims(grad_loss, -1) * call.backprop, grad_backprop, logits)
    if call.wants(1):
        to_labels = raw.ExpandDims(grad_loss, -1) * -raw.LogSoftmax(logits)
    return to_logits, to_labels


def _second_order(first: Any, grad_backprop: Any, logits: Any) -> Any:
    """Add what flows back through the backprop output: (g - Σ g·p)·p with the probabilities p."""
    if grad_backprop is None or _is_nothing(grad_backprop):
        return first
    p = raw.Softmax(logits)
    return first + (grad_backprop - raw.Sum(grad_backprop * p, -1, keep_dims=True)) * p


def _is_nothing(grad: Any) -> bool:
    """Return whether a gradient is certainly zero: the zeros that stand for an output nobody used."""
    if grad.__class__ is EagerTensor:
        return not context.recorders and not grad._array.any()
    return grad.op.type in ("ZerosLike", "Zeros")


SparseSoftmaxCrossEntropyWithLogits = op(
    "SparseSoftmaxCrossEntropyWithLogits(features:T, labels:Tlabels) -> (loss:T, backprop:T) | "
    "T: floats; Tlabels: index = int64",
    facts="fresh in_range=labels",
)


@SparseSoftmaxCrossEntropyWithLogits.shape
def _(features, labels):
    rows, classes = ranked(features, 2)
    rows = equal_length(rows, ranked(labels, 1)[0])
    return [(rows,), (rows, classes)]


@SparseSoftmaxCrossEntropyWithLogits.kernel
def _(xp, features, labels):
    if features.ndim != 2:
        raise invalid(f"logits must be 2-D, but got shape {show(features.shape)}")
    if labels.shape != features.shape[:1]:
        raise invalid(
            "logits and labels must have the same first dimension, got logits shape "
            f"{show(features.shape)} and labels shape {show(labels.shape)}"
        )
    rows, classes = features.shape
    if rows and not classes:
        raise invalid(f"Must have at least one class, but got logits shape {show(features.shape)}")
    if xp is np:
        x = wide(features)
        loss, backprop = np.empty(rows, x.dtype), np.empty(x.shape, x.dtype)
        sparse_entropy(x, labels, None, loss, backprop)
    else:
        moved, total, exponentials = shifted(xp, wide(features))
        at = (xp.arange(rows), labels)
        loss = xp.log(total)[:, 0] - moved[at]
        backprop = (exponentials / total).at[at].add(-1)
    return loss.astype(features.dtype, copy=False), backprop.astype(features.dtype, copy=False)


def sparse_entropy(x: Any, labels: Any, scale: Any, loss: Any, backprop: Any) -> None:
    """Write the loss of each row and its slope (times `scale`, where one is given); labels must be classes."""
    if not arrays.in_range(labels, x.shape[1]):
        bad = labels[(labels < 0) | (labels >= x.shape[1])][0]
        raise invalid(
            f"Received a label value of {bad} which is outside the valid range of [0, {x.shape[1]}).  "
            f"Label values: {' '.join(str(n) for n in labels[:100].tolist())}"
        )
    if x.size:
        arrays.sparse(x, labels, scale, loss, backprop)


@SparseSoftmaxCrossEntropyWithLogits.prepare
def _(knowns, attrs, dims):
    if knowns[0].dtype not in (dtypes.float32, dtypes.float64):
        return None
    return lambda x, labels, loss, backprop: sparse_entropy(x, labels, None, loss, backprop)


@SparseSoftmaxCrossEntropyWithLogits.gradient
def _(call, grad_loss, grad_backprop):
    first = raw.ExpandDims(grad_loss, -1) * call.backprop
    return _second_order(first, grad_backprop, call.features), None


# --- softmax ----------------------------------------------------------------------------------------------------------


def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """Return the cross entropy of softmax(logits) with `labels`, which are distributions along `axis`.

    >>> round(float(softmax_cross_entropy_with_logits([1., 0.], [0., 0.])), 4)
    0.6931
    """
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = convert(logits, None, None, "logits")
        labels = convert(labels, None, None, "labels")
        dtype = logits.dtype.base_dtype
        precise = cast(logits, dtypes.float32) if dtype in _SHORT else logits
        labels = cast(labels, precise.dtype.base_dtype)
        if building() is None:
            cost = _dense_cost_now(precise, labels, axis)
        else:
            cost = _dense_cost(logits, precise, labels, axis, scope)
        return cast(cost, dtype)


_SHORT = frozenset([dtypes.float16, dtypes.bfloat16])


def _dense_cost_now(logits: Any, labels: Any, axis: Any) -> Any:
    rank = len(logits._dims)
    axis = int(axis) % max(rank, 1)
    if axis != rank - 1:
        order = [i for i in range(rank) if i != axis] + [axis]
        logits, labels = (transpose(t, order) for t in (logits, labels))
    if rank == 2:
        return raw.SoftmaxCrossEntropyWithLogits(logits, labels)[0]
    outer, flat = logits._dims[:-1], [-1, logits._dims[-1]]
    if not rank or not logits._array.size:
        flat = [math.prod(outer), *logits._dims[-1:]]
    labels = reshape(labels, [math.prod(labels._dims[:-1]), *labels._dims[-1:]])
    return reshape(raw.SoftmaxCrossEntropyWithLogits(reshape(logits, flat), labels)[0], list(outer))


def _dense_cost(logits: Any, precise: Any, labels: Any, axis: Any, scope: str) -> Any:
    """The same with shapes that a graph finds out as it runs, in TensorFlow's nodes."""
    whole = rank_of(precise)
    if axis != -1:
        precise, labels = (_with_last(t, axis, whole) for t in (precise, labels))
    shape = shape_of_tensor(precise)
    precise, labels = _as_rows(precise), _as_rows(labels)
    cost, _ = raw.SoftmaxCrossEntropyWithLogits(precise, labels, name=scope)
    cost = reshape(cost, raw.Slice(shape, [0], [raw.Sub(whole, 1)]))
    if logits._dims is not None and isinstance(axis, int):
        dims = list(logits._dims)
        del dims[axis]
        cost.set_shape(dims)
    return cost


def _with_last(x: Any, axis: Any, whole: Any) -> Any:
    """Return `x` with `axis` moved to the end."""
    return transpose(x, concat([range_of(axis), range_of(axis + 1, whole), [axis]], 0))


def _as_rows(x: Any) -> Any:
    whole = rank_of(x)
    last = raw.Slice(shape_of_tensor(x), [raw.Sub(whole, 1)], [1])
    rows = reshape(x, concat([[-1], last], 0))
    if is_static(x):
        rows.set_shape([math.prod(x._dims[:-1]), x._dims[-1]])
    return rows


def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike, logits: TensorLike, axis: Axis = None, name: str | None = None, dim: Axis = None
) -> Tensor:
    """Return the cross entropy of softmax(logits) with `labels` (TF 1's name for what lets gradients into labels).

    >>> [f"{v:.4f}" for v in softmax_cross_entropy_with_logits_v2([[0.0, 1.0]], [[0.0, 0.0]])]
    ['0.6931']
    """
    axis = one_of("axis", axis, "dim", dim)
    return softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None else axis, name)


def softmax_cross_entropy_with_logits_v1(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    dim: Axis = -1,
    name: str | None = None,
    axis: Axis = None,
) -> Tensor:
    """Return the cross entropy of softmax(logits) with `labels`, into which no gradient flows."""
    _both("softmax_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = stop_gradient(labels, name="labels_stop_gradient")  # type: ignore[arg-type]  # _both saw to it
        return softmax_cross_entropy_with_logits(labels, logits, dim if axis is None else axis, scope)


def softmax_cross_entropy_with_logits_tf1(
    _sentinel: None = None,
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    dim: Axis = -1,
    name: str | None = None,
    axis: Axis = None,
) -> Tensor:
    """Return the cross entropy of softmax(logits) with `labels`; bare arguments are (logits, labels), as before 1.0."""
    if _sentinel is not None and logits is None:
        logits = _sentinel
    return softmax_cross_entropy_with_logits_v1(labels, logits, dim, name, axis)


def _both(function: str, labels: Any, logits: Any) -> None:
    if labels is None or logits is None:
        raise ValueError(f"Both `labels` and `logits` must be provided to {function}.")


def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike | None, logits: TensorLike | None, name: str | None = None
) -> Tensor:
    """Return the cross entropy of softmax(logits) with classes given by number.

    >>> round(float(sparse_softmax_cross_entropy_with_logits(1, [0., 0.])), 4)
    0.6931
    """
    if labels.__class__ is EagerTensor is logits.__class__ and not context.graph_scopes and logits._dtype not in _SHORT:
        _check_classes(labels, logits)
        return _sparse_cost_now(logits, labels)
    _both("sparse_softmax_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert(labels), convert(logits)
        dtype = logits.dtype.base_dtype
        precise = cast(logits, dtypes.float32) if dtype in _SHORT else logits
        _check_classes(labels, logits)
        if building() is None:
            return cast(_sparse_cost_now(precise, labels), dtype)
        return cast(_sparse_cost(precise, labels, name), dtype)


def sparse_softmax_cross_entropy_with_logits_v1(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Return the cross entropy of softmax(logits) with classes given by number."""
    return sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def sparse_softmax_cross_entropy_with_logits_tf1(
    _sentinel: None = None, labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Return the cross entropy of softmax(logits) with classes; bare arguments are (logits, labels), as before 1.0."""
    if _sentinel is not None and logits is None:
        logits = _sentinel
    return sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def _check_classes(labels: Any, logits: Any) -> None:
    mine, theirs = labels._dims, logits._dims
    if theirs == ():
        raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
    if mine is None or theirs is None:
        return
    if len(mine) != len(theirs) - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. "
            f"Received: labels.shape={labels.shape} of rank {len(mine)} "
            f"and logits.shape={logits.shape} of rank {len(theirs)}"
        )
    if None not in mine and None not in theirs[:-1] and mine != theirs[:-1]:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. "
            f"Received: labels.shape={labels.shape} and logits.shape={logits.shape}"
        )


def _sparse_cost_now(logits: Any, labels: Any) -> Any:
    outer, classes = logits._dims[:-1], logits._dims[-1]
    if len(outer) == 1:
        return raw.SparseSoftmaxCrossEntropyWithLogits(logits, labels)[0]
    rows = math.prod(outer)
    cost, _ = raw.SparseSoftmaxCrossEntropyWithLogits(reshape(logits, [rows, classes]), reshape(labels, [rows]))
    return reshape(cost, list(outer))


def _sparse_cost(logits: Any, labels: Any, name: Any) -> Any:
    dims = labels._dims
    shape = shape_of_tensor(labels)
    if logits._dims is not None and len(logits._dims) == 2:
        return raw.SparseSoftmaxCrossEntropyWithLogits(logits, labels, name=name)[0]
    checks = []
    if not (is_static(labels) and logits._dims is not None and None not in logits._dims[:-1]):
        checks.append(assert_equal_v1(shape_of_tensor(labels), shape_of_tensor(logits)[:-1]))
    with building().control_dependencies(checks):
        classes = shape_of_tensor(logits)[rank_of(logits) - 1]
        rows, flat = reshape(logits, [-1, classes]), reshape(labels, [-1])
        cost, _ = raw.SparseSoftmaxCrossEntropyWithLogits(rows, flat, name=name)
        cost = reshape(cost, shape)
        cost.set_shape(dims)
        return cost


# --- sigmoid and Poisson ----------------------------------------------------------------------------------------------


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Return the cross entropy of sigmoid(logits) with `labels`, element by element.

    >>> round(float(sigmoid_cross_entropy_with_logits(labels=1., logits=0.)), 4)
    0.6931
    """
    return _logistic(labels, logits, name, math_ops.add)


def sigmoid_cross_entropy_with_logits_tf1(
    _sentinel: None = None, labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Return the cross entropy of sigmoid(logits) with `labels`; bare arguments are (logits, targets)."""
    if _sentinel is not None and logits is None:
        logits = _sentinel
    return _logistic(labels, logits, name, math_ops.add_tf1)


def _logistic(labels: Any, logits: Any, name: Any, add: Any) -> Any:
    """max(x, 0) - x·z + log(1 + exp(-|x|)), which neither overflows nor loses digits."""
    _both("sigmoid_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits, labels = operand(logits, name="logits"), operand(labels, name="labels")
        if hasattr(logits, "with_flat_values") and hasattr(labels, "with_flat_values"):  # ragged: element by element
            return logits.with_flat_values(_logistic(labels.flat_values, logits.flat_values, None, add))
        _same_shape("logits", logits, "labels", labels)
        zeros = zeros_like_v1(logits)
        positive = logits >= zeros
        largest = raw.Select(positive, logits, zeros)
        below = raw.Select(positive, -logits, logits)
        return add(largest - logits * labels, log1p(exp(below)), name=scope or None)


def _same_shape(name: str, x: Any, other_name: str, y: Any) -> None:
    if not is_compatible(x._dims, y._dims):
        raise ValueError(f"`{name}` and `{other_name}` must have the same shape, received ({x.shape} vs {y.shape}).")


def weighted_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, pos_weight: TensorLike, name: str | None = None
) -> Tensor:
    """Return sigmoid cross entropy with the positive part weighted by `pos_weight`."""
    return _weighted(labels, logits, pos_weight, name, math_ops.add)


def weighted_cross_entropy_with_logits_v1(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    pos_weight: TensorLike | None = None,
    name: str | None = None,
    targets: TensorLike | None = None,
) -> Tensor:
    """Return sigmoid cross entropy with the positive part weighted (`targets` is an older name of `labels`)."""
    return _weighted(one_of("labels", labels, "targets", targets), logits, pos_weight, name, math_ops.add)


def weighted_cross_entropy_with_logits_tf1(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    pos_weight: TensorLike | None = None,
    name: str | None = None,
    targets: TensorLike | None = None,
) -> Tensor:
    """Return sigmoid cross entropy with the positive part weighted (as TensorFlow 1 puts it into a graph)."""
    return _weighted(one_of("labels", labels, "targets", targets), logits, pos_weight, name, math_ops.add_tf1)


def _weighted(labels: Any, logits: Any, pos_weight: Any, name: Any, add: Any) -> Any:
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert(logits, None, None, "logits")
        labels = convert(labels, None, None, "labels")
        _same_shape("labels", labels, "logits", logits)
        weight = 1 + (pos_weight - 1) * labels
        loss = (1 - labels) * logits
        return add(loss, weight * (log1p(exp(-abs(logits))) + relu(-logits)), name=scope or None)


def log_poisson_loss(
    targets: TensorLike, log_input: TensorLike, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """Return the negative log-likelihood of `targets` under Poisson distributions with log-rates `log_input`.

    >>> log_poisson_loss([1.], [0.]).numpy().tolist()
    [1.0]
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = convert(log_input, None, None, "log_input")
        targets = convert(targets, None, None, "targets")
        _same_shape("log_input", log_input, "targets", targets)
        result = exp(log_input) - log_input * targets
        if not compute_full_loss:
            return result
        half = convert(0.5, targets.dtype)
        circle = convert(2 * math.pi, targets.dtype)
        stirling = targets * log(targets) - targets + half * log(circle * targets)
        zeros, ones = zeros_like_v1(targets), ones_like_v1(targets)
        small = raw.LogicalAnd(targets >= zeros, targets <= ones)
        return result + raw.Select(small, zeros, stirling)
