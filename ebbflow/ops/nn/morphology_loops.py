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


@loop
def dilated_lines(
    image: F32, windows: F32, out: F32, height: int, width: int, depth: int, rows: int, columns: int, high: int,
    wide: int, step_down: int, apart_down: int, apart_across: int, top: int, left: int, lowest: float, begin: int,
    end: int,
) -> None:  # fmt: skip
    """The same of lines of the result, where a step goes one across: places beside each other are taken together.

    `windows` has each place of the window repeated for a whole line. The first sum of a place stands as it is, so that
    one which is no number stays; places further left are met later, those from `reached` on never.
    """
    line = wide * depth
    for n in range(begin, end):
        y = n % high * step_down - top
        base = n // high * height
        to = n * line
        met = False
        covered = 0
        reached = 0
        for i in range(rows):
            down = y + i * apart_down
            if down < 0 or down >= height:
                continue
            for j in range(columns):
                shift = j * apart_across - left
                first = 0 if shift > 0 else -shift
                last = width - shift if width - shift < wide else wide
                if first >= last:
                    continue
                source = ((base + down) * width + shift) * depth
                place = (i * columns + j) * line
                if not met:
                    met = True
                    covered = last
                    reached = last
                fresh = covered if covered < last else last
                for t in range(first * depth, fresh * depth):
                    out[to + t] = image[source + t] + windows[place + t]
                for t in range(last * depth, covered * depth):
                    out[to + t] = f32(lowest)
                start = covered if first < covered else first
                for t in range(start * depth, last * depth):
                    value = image[source + t] + windows[place + t]
                    current = out[to + t]
                    out[to + t] = value if value > current else current
                covered = first if first < covered else covered
        for t in range(0, covered * depth):
            out[to + t] = f32(lowest)
        for t in range(reached * depth, line):
            out[to + t] = f32(lowest)
