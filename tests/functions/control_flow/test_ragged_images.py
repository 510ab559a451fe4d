"""Images of several sizes in one ragged tensor: what `tf.image` makes of them."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf

ONES = [np.arange(36, dtype=np.float32).reshape(3, 4, 3) / 36, np.arange(30, dtype=np.float32).reshape(5, 2, 3) / 30]


def images(dtype=np.float32):
    return tf.ragged.stack([tf.constant((one * 100 if dtype is np.uint8 else one).astype(dtype)) for one in ONES])


@pytest.mark.parametrize("method", ["bilinear", "nearest", "area", "lanczos3"])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_each_image_is_resized(method, dtype):
    ragged = images(dtype)
    expected = np.stack([tf.image.resize(row.to_tensor(), [2, 3], method) for row in ragged])
    signature = [tf.RaggedTensorSpec([None, None, None, 3], dtype, 2)]
    for resize in (tf.image.resize, tf.function(tf.image.resize)):
        found = resize(ragged, [2, 3], method)
        assert found.dtype == expected.dtype and found.shape == (2, 2, 3, 3)
        np.testing.assert_array_equal(found, expected)
    traced = tf.function(lambda x: tf.image.resize(x, [2, 3], method), input_signature=signature)
    assert traced.get_concrete_function().outputs[0].shape.as_list() == [None, 2, 3, 3]


def test_no_images_are_a_batch_of_none():
    assert tf.image.resize(images()[:0], [2, 2]).shape == (0, 2, 2, 3)


def test_what_is_no_batch_of_images_is_refused():
    with pytest.raises(ValueError, match="rank must be 4"):
        tf.image.resize(tf.ragged.constant([[1.0, 2.0], [3.0]]), [2, 2])


@pytest.mark.parametrize(
    "adjust", [lambda x: tf.image.adjust_brightness(x, 0.1), lambda x: tf.image.convert_image_dtype(x, tf.uint8)]
)
def test_adjustments_by_pixel_keep_the_sizes(adjust):
    for found, one in zip(adjust(images()), ONES, strict=True):
        np.testing.assert_array_equal(found.to_tensor(), adjust(one))
