"""JPEG files by simplejpeg: TensorFlow's pixels with every option, and by Pillow what it does not take."""

import contextlib
import importlib.util
import json
import pathlib

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import errors
from ebbflow.ops.image import codecs, jpeg

pytest.importorskip("simplejpeg")
PLACE = pathlib.Path(__file__).resolve().parents[2] / "golden" / "jpeg" / "jpeg_cases.py"
spec = importlib.util.spec_from_file_location("jpeg_cases", PLACE)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)
RECORDED = json.loads(PLACE.with_suffix(".json").read_text())


def test_pixels_are_tensorflows():
    wrong = [c for c, told in zip(cases.CASES, RECORDED, strict=True) if cases.answer(tf, c) != told]
    assert not wrong


def picture(height, width, seed=0):
    pixels = np.random.RandomState(seed).randint(0, 256, (height, width, 3)).astype(np.uint8)
    return tf.io.encode_jpeg(pixels).numpy()


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (3, 3), (7, 5), (9, 8), (17, 40)])
def test_small_images_are_scaled_down_by_the_ratio_that_is_asked_for(size, monkeypatch):
    data = picture(*size)
    exact = {"dct_method": "INTEGER_ACCURATE"}
    found = {ratio: tf.io.decode_jpeg(data, ratio=ratio, **exact).numpy() for ratio in (1, 2, 4, 8)}
    monkeypatch.setattr(jpeg, "_library", lambda: None)
    for ratio, pixels in found.items():
        assert pixels.shape == (-(-size[0] // ratio), -(-size[1] // ratio), 3)
        if min(size) >= ratio:  # of smaller ones Pillow takes another ratio
            np.testing.assert_array_equal(pixels, codecs.decode_jpeg(data, ratio=ratio))


def test_inks_are_left_to_pillow():
    data = (cases.PICTURES / "cmyk.jpg").read_bytes()
    assert jpeg.decode_jpeg(data, 0, 1, True, False, False) is None
    assert tf.io.decode_jpeg(data).shape[2] == 3


def test_a_file_that_is_cut_short_is_refused_unless_it_shall_be_recovered():
    data = picture(40, 50)
    for end in (len(data) // 2, len(data) - 2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
            tf.io.decode_jpeg(data[:end])
        assert tf.io.decode_jpeg(data[:end], try_recover_truncated=True).shape == (40, 50, 3)


def test_an_announced_size_is_looked_at_before_pixels_are_made(monkeypatch):
    data = bytearray(picture(8, 8))
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = b"\x7f\xff\x7f\xff"
    decoded = []
    monkeypatch.setattr(jpeg._library(), "decode_jpeg", lambda *args, **options: decoded.append(args))
    with pytest.raises(errors.InvalidArgumentError, match="Image too large: 32767 x 32767 x 3"):
        codecs.decode_jpeg(bytes(data), 3)
    assert not decoded


def test_any_bytes_give_pixels_or_a_refusal():
    data, chance = picture(20, 30), np.random.RandomState(5)
    for _ in range(150):
        spoilt = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            spoilt[chance.randint(2, len(spoilt))] = chance.randint(256)
        with contextlib.suppress(tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError):
            assert tf.io.decode_jpeg(bytes(spoilt)).shape.rank == 3


def test_the_result_is_the_arrays_own():
    pixels = codecs.decode_jpeg(picture(5, 6), 3)
    assert pixels.flags.c_contiguous and pixels.dtype == np.uint8
