"""Images made anew along both axes by their taps (`taps`), as a loop that may become machine code (`core.loops`).

Each number is the sum of a few old ones by their weights, where a product of matrices would go over all of them. It
adds in another order than that, so it waits for its code.
"""

from __future__ import annotations

from ebbflow.core.loops import F32, I64, f32, waiting_loop


@waiting_loop
def resampled_rows(
    images: F32, height: int, width: int, channels: int, places: I64, weights: F32, taps: int, new: int,
    columns: I64, shares: F32, across: int, wide: int, row: F32, out: F32, begin: int, end: int,
) -> None:  # fmt: skip
    """Make the rows `begin` to `end` of all new images: down into `row`, then across."""
    length = width * channels
    for r in range(begin, end):
        image = r // new * height * length
        at = r % new * taps
        for k in range(taps):
            weight = weights[at + k]
            old = image + places[at + k] * length
            if k == 0:
                for i in range(length):
                    row[i] = weight * images[old + i]
            elif weight != f32(0.0):
                for i in range(length):
                    row[i] += weight * images[old + i]
        for x in range(wide):
            to = (r * wide + x) * channels
            for c in range(channels):
                total = shares[x * across] * row[columns[x * across] * channels + c]
                for k in range(1, across):
                    total += shares[x * across + k] * row[columns[x * across + k] * channels + c]
                out[to + c] = total
