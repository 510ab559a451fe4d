"""Loops over boxes that suppress each other, which may become machine code (`core.loops`).

Boxes are rows [y1, x1, y2, x2, area] with the corners in order, as `suppression_ops` makes them.
"""

from __future__ import annotations

from ebbflow.core.loops import F32, F64, I64, Single, f32, f64, loop, v_exp


def overlap_of(boxes: F32, i: int, j: int) -> Single:
    """How much of their union two boxes share."""
    a = i * 5
    b = j * 5
    height = min(boxes[a + 2], boxes[b + 2]) - max(boxes[a], boxes[b])
    width = min(boxes[a + 3], boxes[b + 3]) - max(boxes[a + 1], boxes[b + 1])
    if not boxes[a + 4] > 0.0 or not boxes[b + 4] > 0.0:
        return f32(0.0)
    shared = max(height, 0.0) * max(width, 0.0)
    return shared / (boxes[b + 4] + boxes[a + 4] - shared)


@loop
def ordered_corners(boxes: F32, n: int, rows: F32) -> None:
    """Make rows of boxes whose corners come in any order."""
    for i in range(n):
        for k in range(2):
            a, b = boxes[4 * i + k], boxes[4 * i + 2 + k]
            rows[5 * i + k] = a if a < b or a != a else b
            rows[5 * i + 2 + k] = a if a > b or a != a else b
        rows[5 * i + 4] = (rows[5 * i + 2] - rows[5 * i]) * (rows[5 * i + 3] - rows[5 * i + 1])


@loop
def chosen_boxes(boxes: F32, n: int, most: int, overlap: Single, chosen: I64) -> int:
    """Choose boxes, which come best first, that share no more than `overlap` with one chosen; return their number."""
    count = 0
    for i in range(n):
        if count >= most:
            break
        stays = True
        k = count - 1
        while k >= 0 and stays:
            stays = not overlap_of(boxes, chosen[k], i) > overlap
            k -= 1
        if stays:
            chosen[count] = i
            count += 1
    return count


@loop
def softly_chosen_boxes(
    boxes: F32, now: F64, n: int, most: int, least: float, scale: float, lowest: float, chosen: I64, kept: F64
) -> int:
    """Choose the best box by its score now; what overlaps it falls. Return the number of those chosen.

    Here `boxes` come column by column, and all are compared without a branch.
    """
    count = 0
    while count < most and count < n:
        best = 0
        for i in range(n):
            if now[i] > now[best]:
                best = i
        score = now[best]
        if not score > least:
            break
        chosen[count] = best
        kept[count] = score
        count += 1
        top, left, bottom, right = boxes[best], boxes[n + best], boxes[2 * n + best], boxes[3 * n + best]
        area = boxes[4 * n + best]
        for i in range(n):
            height = min(bottom, boxes[2 * n + i]) - max(top, boxes[i])
            width = min(right, boxes[3 * n + i]) - max(left, boxes[n + i])
            shared = max(height, f32(0.0)) * max(width, f32(0.0))
            other = boxes[4 * n + i]
            share = shared / (other + area - shared)
            share = share if other > f32(0.0) else f32(0.0)
            share = share if area > f32(0.0) else f32(0.0)
            value = now[i] * v_exp(f64(share) * f64(share) * scale)
            now[i] = value if value == value else lowest
        now[best] = lowest
    return count
