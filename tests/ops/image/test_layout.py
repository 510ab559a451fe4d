"""Flips, turns and crops of images whose rank only the run knows."""

import numpy as np
import pytest

import ebbflow as tf

IMAGE = np.arange(12, dtype=np.float32).reshape(2, 3, 2)


@pytest.mark.parametrize("name", ["flip_left_right", "flip_up_down", "transpose", "rot90"])
def test_images_of_unknown_rank(name):
    turn = getattr(tf.image, name)
    unknown = tf.function(turn, input_signature=[tf.TensorSpec(None)])
    for images in (IMAGE, np.stack([IMAGE, IMAGE + 1])):
        assert np.array_equal(unknown(images), turn(images))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have 3 or 4 dimensions"):
        unknown(IMAGE[0])


def test_random_flips_of_unknown_rank():
    flip = tf.function(tf.image.random_flip_left_right, input_signature=[tf.TensorSpec(None)])
    found = flip(IMAGE)
    assert any(np.array_equal(found, x) for x in (IMAGE, IMAGE[:, ::-1]))


def test_a_crop_takes_unknown_rank_for_one_image():
    crop = tf.function(lambda x: tf.image.crop_to_bounding_box(x, 0, 1, 1, 2), input_signature=[tf.TensorSpec(None)])
    assert np.array_equal(crop(IMAGE), IMAGE[:1, 1:])


def test_what_is_known_of_the_middle():
    with tf.Graph().as_default():
        image = tf.compat.v1.placeholder(tf.float32, [None, 60, 3])
        assert tf.image.central_crop(image, 0.5).shape.as_list() == [None, 30, 3]
        images = tf.compat.v1.placeholder(tf.float32, [5, None, None, 3])
        assert tf.image.central_crop(images, 0.5).shape.as_list() == [5, None, None, 3]


def test_standardized_integers_are_not_scaled_first():
    dim = np.arange(12).reshape(2, 2, 3)  # so dark that the least deviation would count, had it been scaled
    for kind in (np.uint8, np.int16, np.float64):
        found = tf.image.per_image_standardization(dim.astype(kind))
        assert found.dtype == tf.float32 and abs(float(found[0, 0, 0]) + 1.593255) < 1e-5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.image.flip_left_right(tf.ones([2, 2])), "at least three-dimensional"),
        (lambda: tf.image.flip_up_down(tf.ones([0, 2, 3])), "must be > 0"),
        (lambda: tf.image.random_flip_up_down(tf.ones([1, 2, 0, 3])), "must be > 0"),
        (lambda: tf.image.crop_to_bounding_box(tf.ones([0, 5, 3]), 0, 0, 1, 1), "must be > 0"),
        (lambda: tf.image.grayscale_to_rgb(tf.ones([2])), "at least two-dimensional"),
    ],
)
def test_what_is_no_image_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
