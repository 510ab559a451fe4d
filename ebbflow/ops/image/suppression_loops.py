"""Loops over boxes that suppress each other, which may become machine code (`core.loops`).

Boxes are rows [y1, x1, y2, x2, area] with the corners in order, as `suppression_ops` makes them.
"""

from __future__ import annotations

from ebbflow.core.loops import F32, F64, I64, Single, exp, f32, f64, loop


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
    """Choose the best box by its score now; what overlaps it falls. Return the number of those chosen."""
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
        for i in range(n):
            share = f64(overlap_of(boxes, best, i))
            if share != 0.0:
                now[i] = now[i] * exp(share * share * scale)
                if now[i] != now[i]:
                    now[i] = lowest
        now[best] = lowest
    return count
