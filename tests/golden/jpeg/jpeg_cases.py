"""JPEG files with every option that changes pixels: what is recorded is a checksum of the pixels, and their shape."""

import itertools
import pathlib
import zlib

PICTURES = pathlib.Path(__file__).resolve().parents[1] / "calls" / "pictures"
FILES = ("full.jpg", "grey.jpg", "progressive.jpg", "rgb.jpg")
CASES = [
    (file, method, smooth, ratio, channels)
    for file, method, smooth, ratio, channels in itertools.product(
        FILES, ("", "INTEGER_FAST", "INTEGER_ACCURATE"), (True, False), (1, 2, 4, 8), (0, 1, 3)
    )
]


def answer(tf, case):
    file, method, smooth, ratio, channels = case
    data = (PICTURES / file).read_bytes()
    image = tf.io.decode_jpeg(data, channels, ratio, fancy_upscaling=smooth, dct_method=method).numpy()
    return [*image.shape, zlib.crc32(image.tobytes())]
