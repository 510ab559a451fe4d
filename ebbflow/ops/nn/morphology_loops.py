"""The sums and maxima of a dilation as a loop that may become machine code (`core.loops`)."""

from __future__ import annotations

from ebbflow.core.loops import F32, f32, loop


@loop
def dilated(
    image: F32, window: F32, out: F32, batch: int, height: int, width: int, depth: int, rows: int, columns: int,
    high: int, wide: int, step_down: int, step_across: int, apart_down: int, apart_across: int, top: int, left: int,
    lowest: float,
) -> None:  # fmt: skip
    """Write the largest sum of image and window at each place; `high` and `wide` are those of the result."""
    for n in range(batch * high):
        y = n % high * step_down - top
        base = n // high * height
        for x in range(wide):
            to = (n * wide + x) * depth
            met = False
            for i in range(rows):
                down = y + i * apart_down
                if down < 0 or down >= height:
                    continue
                for j in range(columns):
                    across = x * step_across - left + j * apart_across
                    if across < 0 or across >= width:
                        continue
                    source = ((base + down) * width + across) * depth
                    place = (i * columns + j) * depth
                    for c in range(depth):
                        value = image[source + c] + window[place + c]
                        if value > out[to + c] or not met:
                            out[to + c] = value
                    met = True
            if not met:
                for c in range(depth):
                    out[to + c] = f32(lowest)
