"""Files of pictures that Pillow reads, as TensorFlow gives them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import ebbflow as tf

FRAMES = [np.full((5, 7, 3), 50 * k, np.uint8) for k in range(3)]


def webp(frames):
    file = io.BytesIO()
    first, *rest = map(Image.fromarray, frames)
    first.save(file, "WEBP", save_all=bool(rest), append_images=rest, lossless=True)
    return file.getvalue()


@pytest.mark.parametrize("frames", [FRAMES, FRAMES[1:2]], ids=["several", "one"])
def test_webp_has_frames(frames):
    data = webp(frames)
    for decode in (tf.io.decode_webp, tf.io.decode_image):
        np.testing.assert_array_equal(decode(data), frames)
    np.testing.assert_array_equal(tf.io.decode_image(data, expand_animations=False), frames[0])


@pytest.mark.parametrize(
    ("given", "says"),
    [({"channels": 1}, "3 or 4 channels"), ({"dtype": tf.float32}, "of uint8"), ({"channels": 4}, "does not match")],
)
def test_webp_is_not_converted(given, says):
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        tf.io.decode_image(webp(FRAMES), **given)
