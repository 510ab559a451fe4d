"""Connectionist temporal classification: the ops, and the losses and decoders that people call.

Label sequences come as sparse matrices (TF 1) or padded with their lengths; the classes of a step include a blank. The
arithmetic is in `ctc_arrays`. The loss op computes its gradient on the way, so the gradient rule only scales it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ebbflow.core import dtypes, errors
from ebbflow.core.convert import convert
from ebbflow.core.op import op
from ebbflow.core.scopes import name_scope
from ebbflow.core.shape import dimension_value
from ebbflow.core.sparse import SparseTensor
from ebbflow.core.tensor import Tensor
from ebbflow.core.typing import TensorLike
from ebbflow.ops.arrays.shaping import transpose
from ebbflow.ops.declare import FLAT, raw, show
from ebbflow.ops.elementwise.casts import cast
from ebbflow.ops.nn import ctc_arrays
from ebbflow.ops.nn.ctc_loops import Beam, beam
from ebbflow.ops.shape_rules import equal_length, ranked
from ebbflow.ops.sizes import invalid

_FLAGS = (
    "preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; "
    "ignore_longer_outputs_than_inputs: bool = false"
)
_IN = "labels_indices:int64, labels_values:int32, sequence_length:int32"

CTCLoss = op(
    f"CTCLoss(inputs:T, {_IN}) -> (loss:T, gradient:T) | {_FLAGS}; T: type in [float,double] = float",
    checks_first=True,
)
CTCLossV2 = op(f"CTCLossV2(inputs:float, {_IN}) -> (loss:float, gradient:float) | {_FLAGS}", checks_first=True)


def _loss_dims(inputs: Any, labels_indices: Any, labels_values: Any, sequence_length: Any) -> Any:
    steps, batch, classes = ranked(inputs, 3)
    equal_length(ranked(labels_indices, 2)[0], ranked(labels_values, 1)[0])
    batch = equal_length(batch, ranked(sequence_length, 1)[0])
    return [(batch,), (steps, batch, classes)]


def _loss(blank_last: bool) -> Any:
    def kernel(
        xp: Any, inputs: Any, labels_indices: Any, labels_values: Any, sequence_length: Any, *,
        preprocess_collapse_repeated: bool, ctc_merge_repeated: bool, ignore_longer_outputs_than_inputs: bool,
    ) -> Any:  # fmt: skip
        steps, batch, classes = inputs.shape
        if not batch:
            raise invalid("batch_size must not be 0")
        if not classes:
            raise invalid("num_classes must not be 0")
        blank = classes - 1 if blank_last else 0
        _check_lengths(sequence_length, steps)
        labels = _label_rows(labels_indices, labels_values, batch, classes, blank if blank_last else None)
        if preprocess_collapse_repeated:
            labels = [[v for i, v in enumerate(row) if not i or v != row[i - 1]] for row in labels]
        ignored = []
        for b, row in enumerate(labels):
            if len(row) <= sequence_length[b]:
                continue
            if not ignore_longer_outputs_than_inputs:
                raise invalid(
                    f"Not enough time for target transition sequence (required: {len(row)}, available: "
                    f"{sequence_length[b]}) in row {b}; ignore_longer_outputs_than_inputs=True leaves it out"
                )
            ignored.append(b)
            labels[b] = []
        loss, gradient = ctc_arrays.loss_and_gradient(inputs, labels, sequence_length, blank, ctc_merge_repeated)
        loss[ignored], gradient[:, ignored] = 0, 0
        return loss, gradient

    return kernel


def _check_lengths(lengths: np.ndarray, steps: int, error: Any = errors.InvalidArgumentError) -> None:
    wrong = np.flatnonzero((lengths < 0) | (lengths > steps))
    if wrong.size:
        b = int(wrong[0])
        text = f"sequence_length({b}) <= {steps} and must not be negative, got {int(lengths[b])}"
        raise error(None, None, text)


def _label_rows(
    indices: np.ndarray, values: np.ndarray, batch: int, classes: int, blank: int | None
) -> list[list[int]]:
    """Return the labels of each row of the batch; one that is the blank ends it, unless it is a label like others."""
    if indices.shape[1] != 2:
        raise invalid(f"labels_indices must be the places of a matrix, got shape {show(indices.shape)}")
    rows: list[list[int]] = [[] for _ in range(batch)]
    ended: set[int] = set()  # a blank, or what is no class at all, ends a row
    for (b, _), value in zip(indices.tolist(), values.tolist(), strict=True):
        if not 0 <= b < batch:
            raise invalid(f"labels_indices: the row {b} is not in [0, {batch})")
        if value < 0:
            raise invalid(f"All labels must be nonnegative integers, batch: {b} labels: {value}")
        if value >= classes or value == blank:
            ended.add(b)
        elif b in ended:
            raise invalid(
                f"Saw a non-null label (index >= num_classes - 1) following a null label, batch: {b} "
                f"num_classes: {classes} labels: {value}"
            )
        else:
            rows[b].append(value)
    return rows


for _declared, _last in ((CTCLoss, True), (CTCLossV2, False)):
    _declared.shape(_loss_dims)
    _declared.kernel(_loss(_last))

    @_declared.gradient
    def _(call: Any, grad_loss: Any, grad_gradient: Any) -> Any:
        message = "second-order derivatives are not there: the CTC loss computes its gradient as an output"
        gradient = raw.PreventGradient(call.gradient, message=message)
        return raw.ExpandDims(grad_loss, -1) * gradient, None, None, None


# --- decoders ---------------------------------------------------------------------------------------------------------

CTCGreedyDecoder = op(
    "CTCGreedyDecoder(inputs:T, sequence_length:int32) -> (decoded_indices:int64, decoded_values:int64, "
    "decoded_shape:int64, log_probability:T) | merge_repeated: bool = false; blank_index: int = -1; "
    "T: type in [float,double] = float",
    gradient=FLAT,
    facts="data_dependent",
)


@CTCGreedyDecoder.shape
def _(inputs, sequence_length):
    batch = equal_length(ranked(inputs, 3)[1], ranked(sequence_length, 1)[0])
    return [(None, 2), (None,), (2,), (batch, 1)]


def _decodable(inputs: np.ndarray, lengths: np.ndarray) -> tuple[int, int, int]:
    """Return steps, batch and classes of what is to be decoded."""
    if inputs.ndim != 3:
        raise invalid(f"inputs is not a 3-Tensor, got shape {show(inputs.shape)}")
    if lengths.ndim != 1:
        raise invalid(f"sequence_length is not a vector, got shape {show(lengths.shape)}")
    steps, batch, classes = inputs.shape
    if len(lengths) != batch:
        text = f"len(sequence_length) != batch_size.  len(sequence_length):  {len(lengths)} batch_size: {batch}"
        raise errors.FailedPreconditionError(None, None, text)
    if not steps or not classes:
        raise invalid(f"max_time and num_classes must not be 0, got shape {show(inputs.shape)}")
    _check_lengths(lengths, steps, errors.FailedPreconditionError)
    return steps, batch, classes


@CTCGreedyDecoder.kernel
def _(xp, inputs, sequence_length, *, merge_repeated, blank_index):
    _, batch, classes = _decodable(inputs, sequence_length)
    blank = blank_index + classes if blank_index < 0 else blank_index
    if not 0 <= blank < classes:
        raise invalid(f"blank_index expected to be in [{-classes}, {classes}), got {blank_index}")
    best, top = ctc_arrays.likeliest(inputs)
    kept, scores = ctc_arrays.greedy(best, sequence_length, blank, merge_repeated), np.zeros(batch, inputs.dtype)
    if (sequence_length == len(inputs)).all():
        scores = -top.sum(1)
    else:
        scores[:] = [-top[b, :length].sum() if length else 0.0 for b, length in enumerate(sequence_length.tolist())]
    rows, _ = np.nonzero(kept)
    counts = kept.sum(1)
    places = np.stack([rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)], 1)
    shape = np.array([batch, int(counts.max(initial=0))], np.int64)
    return places.astype(np.int64, copy=False), best[kept], shape, scores.reshape(batch, 1)


def _sparse(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of labels as places, values and shape."""
    places = [(b, t) for b, row in enumerate(rows) for t in range(len(row))]
    values = [value for row in rows for value in row]
    longest = max((len(row) for row in rows), default=0)
    return (
        np.array(places, np.int64).reshape(-1, 2),
        np.array(values, np.int64),
        np.array([len(rows), longest], np.int64),
    )


CTCBeamSearchDecoder = op(
    "CTCBeamSearchDecoder(inputs:T, sequence_length:int32) -> (decoded_indices:top_paths*int64, "
    "decoded_values:top_paths*int64, decoded_shape:top_paths*int64, log_probability:T) | beam_width: int >= 1; "
    "top_paths: int >= 1; merge_repeated: bool = true; T: type in [float,double] = float",
    gradient=FLAT,
    facts="data_dependent",
)


@CTCBeamSearchDecoder.shape
def _(inputs, sequence_length, *, top_paths):
    batch = equal_length(ranked(inputs, 3)[1], ranked(sequence_length, 1)[0])
    return [*[(None, 2)] * top_paths, *[(None,)] * top_paths, *[(2,)] * top_paths, (batch, top_paths)]


FEW = 256
"""Probabilities from which on machine code searches."""


@CTCBeamSearchDecoder.kernel
def _(xp, inputs, sequence_length, *, beam_width, top_paths, merge_repeated):
    _, batch, classes = _decodable(inputs, sequence_length)
    if top_paths > beam_width:
        raise invalid(f"requested more paths than the beam width: {top_paths} of {beam_width}")
    log_y = ctc_arrays.log_softmax(inputs.astype(np.float64)) if inputs.size else inputs
    paths, scores = [], np.zeros((batch, top_paths), inputs.dtype)
    code = beam.worth(log_y.size, FEW)
    room = None if code is None else Beam(len(log_y), classes, beam_width)
    for b, length in enumerate(sequence_length.tolist()):
        asked = (classes - 1, top_paths, merge_repeated)
        if code is None or room is None:
            rows, row_scores = ctc_arrays.beam_search(log_y[:length, b], beam_width, *asked)
        else:
            rows, row_scores = room.search(code, log_y[:length, b], *asked)
        if len(rows) < top_paths:
            raise invalid("Less leaves in the beam search than requested.")
        paths.append(rows)
        scores[b] = row_scores
    parts = [_sparse([rows[k] for rows in paths]) for k in range(top_paths)]
    return [p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts], scores


# --- public functions -------------------------------------------------------------------------------------------------


def ctc_loss_v1(
    labels: TensorLike,
    inputs: TensorLike | None = None,
    sequence_length: TensorLike | None = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: TensorLike | None = None,
) -> Tensor:
    """Return -log p of each sparse row of labels; the last class is the blank."""
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = convert(logits if inputs is None else inputs, name="inputs")
    if not time_major:
        inputs = transpose(inputs, [1, 0, 2])
    original = inputs.dtype
    if original in (dtypes.bfloat16, dtypes.float16):
        inputs = raw.Cast(inputs, DstT=dtypes.float32)
    loss, _ = CTCLoss(
        inputs, labels.indices, labels.values, sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated, ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )  # fmt: skip
    return loss if loss.dtype == original else raw.Cast(loss, DstT=original)


def ctc_loss(
    labels: TensorLike,
    logits: TensorLike,
    label_length: TensorLike,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: tuple[Tensor, Tensor] | None = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Return -log p of each row of labels: sparse, or padded and of the lengths given; 0 is the blank by default."""
    with name_scope(name, "ctc_loss", [logits]):
        logits = convert(logits, name="logits")
        if not logits_time_major:
            logits = transpose(logits, [1, 0, 2])
        if isinstance(labels, SparseTensor):
            if blank_index is None:
                raise ValueError("Argument `blank_index` must be provided when labels is a SparseTensor.")
            logits, values = _blank_last(logits, labels.values, blank_index)
            return ctc_loss_v1(SparseTensor(labels.indices, values, labels.dense_shape), logits, logit_length)
        labels = convert(labels, dtype=dtypes.int32, name="labels") if not hasattr(labels, "dtype") else labels
        label_length, logit_length = convert(label_length), convert(logit_length)
        columns = raw.Range(0, raw.Shape(labels)[1], 1)
        inside = columns < raw.Cast(raw.ExpandDims(label_length, 1), DstT=dtypes.int32)
        places = raw.Where(inside)
        picked = raw.Cast(raw.GatherNd(labels, places), DstT=dtypes.int32)
        inputs, values = _blank_first(logits, picked, 0 if blank_index is None else blank_index)
        lengths = raw.Cast(logit_length, DstT=dtypes.int32)
        loss, _ = CTCLossV2(
            cast(inputs, dtypes.float32), places, values, lengths, ignore_longer_outputs_than_inputs=True
        )
        loss = cast(loss, inputs.dtype)
        too_long = raw.Cast(label_length, DstT=dtypes.int32) > lengths
        return raw.SelectV2(too_long, raw.Cast(np.inf, DstT=loss.dtype), loss)


def _blank_last(logits: Any, values: Any, blank: int) -> tuple[Any, Any]:
    """Return logits and labels with the blank moved behind the other classes."""
    blank, count = _blank_of(logits, blank)
    if blank == count - 1:
        return logits, values
    moved = raw.ConcatV2([logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]], 2)
    return moved, raw.SelectV2(values < blank, values, values - 1)


def _blank_first(logits: Any, values: Any, blank: int) -> tuple[Any, Any]:
    """Return logits and labels with the blank moved before the other classes."""
    if not blank:
        return logits, values
    blank, _ = _blank_of(logits, blank)
    moved = raw.ConcatV2([logits[:, :, blank : blank + 1], logits[:, :, :blank], logits[:, :, blank + 1 :]], 2)
    return moved, raw.SelectV2(values < blank, values + 1, values)


def _blank_of(logits: Any, blank: int) -> tuple[int, int]:
    """Return the number of the blank, counted from the first class, and how many classes there are."""
    count = dimension_value(logits.shape[2])
    if count is None:
        raise ValueError("ctc_loss needs to know the number of classes: logits.shape[2] is None")
    return blank + count if blank < 0 else blank, count


def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True, blank_index: int | None = None
) -> tuple[list[SparseTensor], Tensor]:
    """Return the likeliest labels, as a list of one sparse matrix, and the negated sums of their logits."""
    indices, values, shape, scores = CTCGreedyDecoder(
        inputs, sequence_length, merge_repeated=merge_repeated, blank_index=-1 if blank_index is None else blank_index
    )
    return [SparseTensor(indices, values, shape)], scores


def ctc_beam_search_decoder_v1(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """Return the likeliest label sequences found by a beam search as sparse matrices, and their log probabilities."""
    indices, values, shapes, scores = CTCBeamSearchDecoder(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)], scores


def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """Return the likeliest label sequences found by a beam search, repetitions as they are, and log probabilities."""
    return ctc_beam_search_decoder_v1(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def collapse_repeated(labels: TensorLike, seq_length: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return rows of labels with runs of one label made one, padded with zeros, and their new lengths.

    >>> [t.numpy().tolist() for t in collapse_repeated([[1, 1, 2, 2, 1]], [5])]
    [[[1, 2, 1]], [3]]
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels, seq_length = convert(labels, name="labels"), convert(seq_length, name="seq_length")
        changed = raw.NotEqual(labels[:, 1:], labels[:, :-1])
        kept = raw.ConcatV2([raw.OnesLike(raw.Cast(labels[:, :1], DstT=dtypes.bool)), changed], 1)
        columns = raw.Range(0, raw.Shape(labels)[1], 1)
        inside = columns < raw.Cast(raw.ExpandDims(seq_length, 1), DstT=dtypes.int32)
        kept = raw.LogicalAnd(kept, inside)
        counts = raw.Cast(kept, DstT=dtypes.int32)
        lengths = raw.Sum(counts, 1)
        width = raw.Maximum(raw.Max(lengths, 0), 0)
        rows = raw.Where(kept)[:, 0]
        at = raw.GatherNd(raw.Cumsum(counts, 1) - 1, raw.Where(kept))
        places = raw.Pack([raw.Cast(rows, DstT=dtypes.int32), at], axis=1)
        shape = raw.Pack([raw.Shape(labels)[0], width])
        flat = raw.ScatterNd(places, raw.GatherNd(labels, raw.Where(kept)), shape)
        return flat, raw.Cast(lengths, DstT=seq_length.dtype)


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the different labels of each row, padded with zeros, and for each label its place among them."""
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert(labels, name="labels")
        first = raw.ArgMax(raw.Equal(raw.ExpandDims(labels, 1), raw.ExpandDims(labels, 2)), 2)
        width = raw.Shape(labels, out_type=dtypes.int64)[1]
        is_first = raw.Equal(first, raw.Range(raw.Cast(0, DstT=dtypes.int64), width, raw.Cast(1, DstT=dtypes.int64)))
        order = raw.Cumsum(raw.Cast(is_first, DstT=dtypes.int32), 1) - 1
        indices = raw.GatherV2(order, raw.Cast(first, DstT=dtypes.int32), 1, batch_dims=1)
        at = raw.Where(is_first)
        places = raw.Pack([raw.Cast(at[:, 0], DstT=dtypes.int32), raw.GatherNd(order, at)], axis=1)
        unique = raw.ScatterNd(places, raw.GatherNd(labels, at), raw.Shape(labels))
        return raw.Cast(unique, DstT=dtypes.int64), indices
