"""Images made anew along an axis by their taps (`taps`), as loops that may become machine code (`core.loops`).

Each number is the sum of a few old ones by their weights, where a product of matrices would go over all of them. They
add in another order than that, so they wait for their code.
"""

from __future__ import annotations

from ebbflow.core.loops import F32, I64, f32, waiting_loop


@waiting_loop
def resampled_down(
    images: F32, length: int, height: int, places: I64, weights: F32, taps: int, new: int, out: F32, begin: int,
    end: int,
) -> None:  # fmt: skip
    """Make the rows `begin` to `end` of all new images, `length` numbers each, of old rows."""
    for r in range(begin, end):
        image = r // new * height * length
        at = r % new * taps
        to = r * length
        for k in range(taps):
            weight = weights[at + k]
            old = image + places[at + k] * length
            if k == 0:
                for i in range(length):
                    out[to + i] = weight * images[old + i]
            elif weight != f32(0.0):
                for i in range(length):
                    out[to + i] += weight * images[old + i]


@waiting_loop
def resampled_across(
    images: F32, width: int, channels: int, places: I64, weights: F32, taps: int, new: int, out: F32, begin: int,
    end: int,
) -> None:  # fmt: skip
    """Make the rows `begin` to `end` of all images anew, `new` pixels each; two and four taps are the usual ones."""
    for r in range(begin, end):
        row = r * width * channels
        for x in range(new):
            to = (r * new + x) * channels
            at = x * taps
            if taps == 4:
                a, b = row + places[at] * channels, row + places[at + 1] * channels
                c, d = row + places[at + 2] * channels, row + places[at + 3] * channels
                p, q, s, t = weights[at], weights[at + 1], weights[at + 2], weights[at + 3]
                for i in range(channels):
                    out[to + i] = (p * images[a + i] + q * images[b + i]) + (s * images[c + i] + t * images[d + i])
            elif taps == 2 and weights[at + 1] != f32(0.0):
                a, b = row + places[at] * channels, row + places[at + 1] * channels
                p, q = weights[at], weights[at + 1]
                for i in range(channels):
                    out[to + i] = p * images[a + i] + q * images[b + i]
            else:
                for i in range(channels):
                    total = weights[at] * images[row + places[at] * channels + i]
                    for k in range(1, taps):
                        if weights[at + k] != f32(0.0):
                            total += weights[at + k] * images[row + places[at + k] * channels + i]
                    out[to + i] = total
