"""Frames drawn into images, as a loop that may become machine code (`core.loops`)."""

from __future__ import annotations

from ebbflow.core.loops import F32, I64, loop


def paint(image: F32, at: int, inks: F32, ink: int, depth: int) -> None:
    for k in range(depth):
        image[at + k] = inks[ink + k]


@loop
def frames(
    images: F32, height: int, width: int, depth: int, boxes: I64, batch: int, count: int, inks: F32, colours: int
) -> None:
    """Draw boxes (top, left, bottom, right) into images; one that is outside, or upside down, is left out."""
    for b in range(batch):
        image = b * height * width * depth
        for i in range(count):
            box = (b * count + i) * 4
            ink = i % colours * depth
            top, left, bottom, right = boxes[box], boxes[box + 1], boxes[box + 2], boxes[box + 3]
            if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
                continue
            for x in range(max(left, 0), min(right, width - 1) + 1):
                if top >= 0:
                    paint(images, image + (top * width + x) * depth, inks, ink, depth)
                if bottom < height:
                    paint(images, image + (bottom * width + x) * depth, inks, ink, depth)
            for y in range(max(top, 0), min(bottom, height - 1) + 1):
                if left >= 0:
                    paint(images, image + (y * width + left) * depth, inks, ink, depth)
                if right < width:
                    paint(images, image + (y * width + right) * depth, inks, ink, depth)
