"""Small crops of many boxes, as a loop that may become machine code (`core.loops`): the bits that NumPy gives."""

from __future__ import annotations

from ebbflow.core.loops import F32, I32, Single, f32, floor, loop


@loop
def cropped(
    image: F32, numbers: I32, y: F32, x: F32, height: int, width: int, channels: int, rows: int, columns: int,
    nearest: bool, fill: Single, out: F32, begin: int, end: int,
) -> None:  # fmt: skip
    """Write the crops of boxes, whose places along both sides of their images are known; those outside are filled."""
    for b in range(begin, end):
        first = numbers[b] * height
        for i in range(rows):
            down = y[b * rows + i]
            in_rows = down >= f32(0.0) and down <= f32(height - 1)
            for j in range(columns):
                across = x[b * columns + j]
                at = ((b * rows + i) * columns + j) * channels
                if not (in_rows and across >= f32(0.0) and across <= f32(width - 1)):
                    for c in range(channels):
                        out[at + c] = fill
                elif nearest:
                    place = (first + int(floor(down + f32(0.5)))) * width + int(floor(across + f32(0.5)))
                    for c in range(channels):
                        out[at + c] = image[place * channels + c]
                else:
                    top, left = floor(down), floor(across)
                    way_y, way_x = down - top, across - left
                    upper = (first + int(top)) * width
                    lower = (first + int(-floor(-down))) * width
                    west, east = int(left), int(-floor(-across))
                    for c in range(channels):
                        a, d = image[(upper + west) * channels + c], image[(lower + west) * channels + c]
                        above = a + (image[(upper + east) * channels + c] - a) * way_x
                        below = d + (image[(lower + east) * channels + c] - d) * way_x
                        out[at + c] = above + (below - above) * way_y
