"""Non-maximum suppression: of boxes that overlap much, the one with the best score stays. All forms of the op.

Boxes are [y1, x1, y2, x2], corners in any order. Boxes are taken by falling score, equal ones in order of place. With a
`soft_nms_sigma`, overlap lowers scores instead. Arrays only; nothing here has a gradient.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ebbflow.core import errors
from ebbflow.core.op import Known, op
from ebbflow.ops.declare import FLAT, show
from ebbflow.ops.image.suppression_loops import chosen_boxes, ordered_corners, softly_chosen_boxes
from ebbflow.ops.sizes import invalid, room_for

F = np.float32


# --- the algorithm ----------------------------------------------------------------------------------------------------


def _corners(boxes: np.ndarray) -> np.ndarray:
    """Return boxes as rows [y1, x1, y2, x2, area] with the corners in order; of no extent, the area is 0."""
    code = ordered_corners.worth(boxes.size, 4 * FEW)
    if code is not None and boxes.flags.c_contiguous:
        rows = np.empty((len(boxes), 5), F)
        code(boxes, len(boxes), rows)
        return rows
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    sides = high - low
    return np.concatenate([low, high, (sides[:, 0] * sides[:, 1])[:, None]], axis=1)


def overlaps_of(one: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return how much of their union a box and each of the others share."""
    low = np.maximum(others[:, :2], one[:2])
    high = np.minimum(others[:, 2:4], one[2:4])
    sides = np.maximum(high - low, F(0))
    shared = sides[:, 0] * sides[:, 1]
    union = others[:, 4] + one[4] - shared
    with np.errstate(all="ignore"):
        share = shared / union
    return np.where((others[:, 4] > 0) & (one[4] > 0), share, F(0))


def _overlapping(some: np.ndarray, others: np.ndarray, overlap: float) -> np.ndarray:
    """Return whether each of some boxes shares more than `overlap` with each of the others."""
    height = np.minimum.outer(some[:, 2], others[:, 2]) - np.maximum.outer(some[:, 0], others[:, 0])
    width = np.minimum.outer(some[:, 3], others[:, 3]) - np.maximum.outer(some[:, 1], others[:, 1])
    shared = np.maximum(height, F(0), out=height)
    shared *= np.maximum(width, F(0), out=width)
    union = np.add.outer(some[:, 4], others[:, 4])
    union -= shared
    with np.errstate(all="ignore"):
        share = np.divide(shared, union, out=shared)
    solid = np.logical_and.outer(some[:, 4] > 0, others[:, 4] > 0)
    return (np.where(solid, share, F(0)) if not solid.all() else share) > overlap


FEW = 32
"""Boxes from which on machine code compares them."""
SPARE = 4
"""So many times the boxes wanted are looked at first, and so many times these make it worth while."""
BLOCK = 192
"""Boxes that are compared with each other at once: few enough for the cache, many enough for NumPy."""


def selected(boxes: np.ndarray, scores: np.ndarray, most: int, overlap: float, least: float) -> np.ndarray:
    """Return the places of the boxes that stay, best first; a block of boxes is looked at at once."""
    enough = SPARE * most + FEW
    if SPARE * enough < len(scores):
        best = np.flatnonzero(scores >= np.partition(scores, -enough)[-enough])
        found = selected(boxes[best], scores[best], most, overlap, least) if len(best) < len(scores) // 2 else ()
        if len(found) == most:  # the others are all behind these
            return best[found].astype(np.int32)
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > least]
    rows = _corners(boxes[order].astype(F))
    code = chosen_boxes.worth(len(rows), FEW)
    if code is not None:
        places = np.empty(len(rows), np.int64)
        count = code(rows, len(rows), most, overlap, places)
        return order[places[:count]].astype(np.int32)
    chosen: list[int] = []
    for start in range(0, len(rows), BLOCK):
        if len(chosen) >= most:
            break
        block = rows[start : start + BLOCK]
        gone = np.zeros(len(block), np.bool_)
        if chosen:
            gone |= _overlapping(rows[chosen], block, overlap).any(axis=0)
        within = _overlapping(block, block, overlap)
        for i in np.flatnonzero(~gone).tolist():
            if not gone[i]:
                chosen.append(start + i)
                if len(chosen) >= most:
                    break
                gone |= within[i]
    return order[chosen].astype(np.int32) if most and chosen else np.zeros(0, np.int32)


def softly_selected(
    boxes: np.ndarray, scores: np.ndarray, most: int, least: float, sigma: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the boxes that stay, and their scores after what overlapped has lowered them."""
    places = np.flatnonzero(scores > least)
    rows, now = _corners(boxes[places].astype(F)), scores[places].astype(np.float64)
    code = softly_chosen_boxes.worth(len(rows), FEW)
    if code is not None:
        numbers, left, columns = np.empty(len(rows), np.int64), np.empty(len(rows)), np.ascontiguousarray(rows.T)
        count = code(columns, now, len(rows), most, least, -0.5 / sigma, -np.inf, numbers, left)
        return places[numbers[:count]].astype(np.int32), left[:count].astype(scores.dtype)
    chosen: list[int] = []
    kept: list[float] = []
    while len(chosen) < min(most, len(places)):
        best = int(now.argmax())
        score = float(now[best])
        if not score > least:
            break
        chosen.append(best)
        kept.append(score)
        share = overlaps_of(rows[best], rows).astype(np.float64)
        now *= np.exp(np.square(share, out=share) * (-0.5 / sigma))
        now[best] = -np.inf
        now[np.isnan(now)] = -np.inf  # an endless score that an overlap takes away
    return places[chosen].astype(np.int32), np.array(kept, scores.dtype)


# --- checks -----------------------------------------------------------------------------------------------------------


def _check(boxes: np.ndarray, scores: np.ndarray, most: np.ndarray) -> int:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid(f"boxes must be 2-D with 4 columns, got shape {show(boxes.shape)}")
    if scores.ndim != 1 or scores.shape[0] != boxes.shape[0]:
        raise invalid(f"scores has incompatible shape: {show(scores.shape)} for boxes {show(boxes.shape)}")
    if most.ndim:
        raise invalid(f"max_output_size must be 0-D, got shape {show(most.shape)}")
    if int(most) < 0:
        raise invalid(f"max_output_size must be non-negative, got {int(most)}")
    return int(most)


def _threshold(value: Any, name: str = "iou_threshold") -> float:
    if getattr(value, "ndim", 0):
        raise invalid(f"{name} must be 0-D, got shape {show(value.shape)}")
    number = float(value)
    if name == "iou_threshold" and not 0 <= number <= 1:
        raise invalid(f"iou_threshold must be in [0, 1], got {number}")
    return number


def _chosen_dims(boxes: Known, scores: Known, *others: Known) -> Any:
    for arg, rank in ((boxes, 2), (scores, 1)):
        if arg.rank not in (None, rank):
            raise errors.StaticShapeError(f"Shape must be rank {rank} but is rank {arg.rank}")
    return (None,)


# --- ops --------------------------------------------------------------------------------------------------------------

_T = "T: type in [half,float] = float; T_threshold: type in [half,float] = float"
NonMaxSuppression = op(
    "NonMaxSuppression(boxes:float, scores:float, max_output_size:int32) -> (selected_indices:int32)"
    " | iou_threshold: float = 0.5",
    shape=_chosen_dims,
    gradient=FLAT,
)
NonMaxSuppressionV2 = op(
    "NonMaxSuppressionV2(boxes:T, scores:T, max_output_size:int32, iou_threshold:T_threshold)"
    f" -> (selected_indices:int32) | {_T}",
    shape=_chosen_dims,
    gradient=FLAT,
)
NonMaxSuppressionV3 = op(
    "NonMaxSuppressionV3(boxes:T, scores:T, max_output_size:int32, iou_threshold:T_threshold,"
    f" score_threshold:T_threshold) -> (selected_indices:int32) | {_T}",
    shape=_chosen_dims,
    gradient=FLAT,
    facts="beside",
)
NonMaxSuppressionV4 = op(
    "NonMaxSuppressionV4(boxes:T, scores:T, max_output_size:int32, iou_threshold:T_threshold,"
    " score_threshold:T_threshold) -> (selected_indices:int32, valid_outputs:int32)"
    f" | {_T}; pad_to_max_output_size: bool = false",
    gradient=FLAT,
    facts="beside",
)
NonMaxSuppressionV5 = op(
    "NonMaxSuppressionV5(boxes:T, scores:T, max_output_size:int32, iou_threshold:T, score_threshold:T,"
    " soft_nms_sigma:T) -> (selected_indices:int32, selected_scores:T, valid_outputs:int32)"
    " | T: type in [half,float] = float; pad_to_max_output_size: bool = false",
    gradient=FLAT,
)
NonMaxSuppressionWithOverlaps = op(
    "NonMaxSuppressionWithOverlaps(overlaps:float, scores:float, max_output_size:int32, overlap_threshold:float,"
    " score_threshold:float) -> (selected_indices:int32)",
    shape=_chosen_dims,
    gradient=FLAT,
)


def _padded_length(most: Known, pads: bool) -> int | None:
    return int(most.value) if pads and most.value is not None else None


@NonMaxSuppressionV4.shape
def _(boxes, scores, max_output_size, iou_threshold, score_threshold, *, pad_to_max_output_size):
    _chosen_dims(boxes, scores)
    return [(_padded_length(max_output_size, pad_to_max_output_size),), ()]


@NonMaxSuppressionV5.shape
def _(boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, *, pad_to_max_output_size):
    _chosen_dims(boxes, scores)
    length = _padded_length(max_output_size, pad_to_max_output_size)
    return [(length,), (length,), ()]


@NonMaxSuppression.kernel
def _(xp, boxes, scores, max_output_size, *, iou_threshold):
    most = _check(boxes, scores, max_output_size)
    return selected(boxes, scores, most, _threshold(iou_threshold), -math.inf)


@NonMaxSuppressionV2.kernel
def _(xp, boxes, scores, max_output_size, iou_threshold):
    most = _check(boxes, scores, max_output_size)
    return selected(boxes, scores, most, _threshold(iou_threshold), -math.inf)


@NonMaxSuppressionV3.kernel
def _(xp, boxes, scores, max_output_size, iou_threshold, score_threshold):
    most = _check(boxes, scores, max_output_size)
    least = _threshold(score_threshold, "score_threshold")
    return selected(boxes, scores, most, _threshold(iou_threshold), least)


def _filled(values: np.ndarray, most: int, pads: bool) -> np.ndarray:
    if not pads or len(values) >= most:
        return values
    room_for((most,), 4)
    return np.concatenate([values, np.zeros(most - len(values), values.dtype)])


@NonMaxSuppressionV4.kernel
def _(xp, boxes, scores, max_output_size, iou_threshold, score_threshold, *, pad_to_max_output_size):
    most = _check(boxes, scores, max_output_size)
    least = _threshold(score_threshold, "score_threshold")
    chosen = selected(boxes, scores, most, _threshold(iou_threshold), least)
    return _filled(chosen, most, pad_to_max_output_size), np.array(len(chosen), np.int32)


@NonMaxSuppressionV5.kernel
def _(
    xp, boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, *, pad_to_max_output_size
):  # fmt: skip
    most = _check(boxes, scores, max_output_size)
    sigma = _threshold(soft_nms_sigma, "soft_nms_sigma")
    if sigma < 0:
        raise invalid(f"soft_nms_sigma must be positive or 0, got {sigma}")
    limits = _threshold(iou_threshold), _threshold(score_threshold, "score_threshold")
    if sigma > 0:
        chosen, kept = softly_selected(boxes, scores, most, limits[1], sigma)
    else:
        chosen = selected(boxes, scores, most, *limits)
        kept = scores[chosen]
    pads = pad_to_max_output_size
    return _filled(chosen, most, pads), _filled(kept, most, pads), np.array(len(chosen), np.int32)


@NonMaxSuppressionWithOverlaps.kernel
def _(xp, overlaps, scores, max_output_size, overlap_threshold, score_threshold):
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise invalid(f"overlaps must be square, got shape {show(overlaps.shape)}")
    if scores.shape != overlaps.shape[:1]:
        raise invalid(f"scores has incompatible shape: {show(scores.shape)} for overlaps {show(overlaps.shape)}")
    if max_output_size.ndim or int(max_output_size) < 0:
        raise invalid(f"max_output_size must be a scalar and not negative, got {max_output_size.tolist()}")
    limit = _threshold(overlap_threshold, "overlap_threshold")
    least = _threshold(score_threshold, "score_threshold")
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > least]
    chosen: list[int] = []
    while len(order) and len(chosen) < int(max_output_size):
        chosen.append(int(order[0]))
        order = order[1:][~(overlaps[order[1:], order[0]] > limit)]
    return np.array(chosen, np.int32)


# --- of many classes --------------------------------------------------------------------------------------------------

CombinedNonMaxSuppression = op(
    "CombinedNonMaxSuppression(boxes:float, scores:float, max_output_size_per_class:int32, max_total_size:int32,"
    " iou_threshold:float, score_threshold:float) -> (nmsed_boxes:float, nmsed_scores:float, nmsed_classes:float,"
    " valid_detections:int32) | pad_per_class: bool = false; clip_boxes: bool = true",
    gradient=FLAT,
)


@CombinedNonMaxSuppression.shape
def _(
    boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold, *, pad_per_class
):  # fmt: skip
    for arg, rank in ((boxes, 4), (scores, 3)):
        if arg.rank not in (None, rank):
            raise errors.StaticShapeError(f"Shape must be rank {rank} but is rank {arg.rank}")
    batch = None if boxes.dims is None else boxes.dims[0]
    total, each = max_total_size.value, max_output_size_per_class.value
    classes = None if scores.dims is None else scores.dims[2]
    count = None if total is None else int(total)
    if pad_per_class:
        count = None if None in (count, each, classes) else min(count, int(each) * classes)
    return [(batch, count, 4), (batch, count), (batch, count), (batch,)]


@CombinedNonMaxSuppression.kernel
def _(
    xp, boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold,
    *, pad_per_class, clip_boxes,
):  # fmt: skip
    each, total = _check_combined(boxes, scores, max_output_size_per_class, max_total_size)
    limits = _threshold(iou_threshold), _threshold(score_threshold, "score_threshold")
    batch, _, kinds, _ = boxes.shape
    classes = scores.shape[2]
    count = min(total, each * classes) if pad_per_class else total
    room_for((batch, count, 4), 4)
    result = [np.zeros((batch, count, 4), F), np.zeros((batch, count), F), np.zeros((batch, count), F)]
    valid = np.zeros(batch, np.int32)
    for i in range(batch):
        rows = []
        for c in range(classes):
            own = boxes[i, :, c if kinds > 1 else 0]
            rows += [
                (-scores[i, k, c], len(rows), k, c) for k in selected(own, scores[i, :, c], each, *limits).tolist()
            ]
        best = sorted((row[0], n, row[2], row[3]) for n, row in enumerate(rows))[:count]
        valid[i] = len(best)
        for n, (score, _, k, c) in enumerate(best):
            result[0][i, n] = boxes[i, k, c if kinds > 1 else 0]
            result[1][i, n], result[2][i, n] = -score, c
    if clip_boxes:
        np.clip(result[0], 0, 1, out=result[0])
    return [*result, valid]


def _check_combined(boxes: np.ndarray, scores: np.ndarray, each: np.ndarray, total: np.ndarray) -> tuple[int, int]:
    if boxes.ndim != 4 or boxes.shape[3] != 4:
        raise invalid(f"boxes must be 4-D with 4 coordinates, got shape {show(boxes.shape)}")
    if scores.ndim != 3 or scores.shape[:2] != boxes.shape[:2]:
        raise invalid(f"scores has incompatible shape: {show(scores.shape)} for boxes {show(boxes.shape)}")
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise invalid(f"third dimension of boxes must be either 1 or num classes, got {show(boxes.shape)}")
    if each.ndim or total.ndim:
        raise invalid("max_size_per_class and max_total_size must be 0-D")
    if int(each) <= 0:
        raise invalid(f"max_size_per_class must be positive, got {int(each)}")
    if int(total) <= 0:
        raise invalid(f"max_total_size must be > 0, got {int(total)}")
    return int(each), int(total)
