"""Windows of images at points inside, at the edge and outside, for TensorFlow and for Ebbflow alike."""

import numpy as np

IMAGES = (np.arange(2 * 5 * 7 * 2) % 23).astype(np.float32).reshape(2, 5, 7, 2) + 1
PIXELS = ([[0.0, 0.0], [1.0, 2.0]], [[-1.6, 3.4], [4.5, -2.0]], [[2.5, 6.0], [9.0, 9.0]])
SHARES = ([[0.0, 0.0], [0.3, -0.4]], [[-1.0, 1.0], [0.9, 0.1]], [[0.5, 0.5], [1.7, -1.7]])

CASES = [
    (op, size, offsets, centered, normalized)
    for op in ("ExtractGlimpse", "ExtractGlimpseV2")
    for size in ([1, 1], [2, 3], [4, 9], [0, 2])
    for centered in (False, True)
    for normalized in (False, True)
    for offsets in (SHARES if normalized else PIXELS)
]


def answer(tf, case):
    """Return the glimpses of a case; what lies outside is 0."""
    op, size, offsets, centered, normalized = case
    glimpses = getattr(tf.raw_ops, op)(
        input=IMAGES, size=size, offsets=offsets, centered=centered, normalized=normalized, uniform_noise=False,
        noise="zero",
    )  # fmt: skip
    return glimpses.numpy().astype(int).tolist()
