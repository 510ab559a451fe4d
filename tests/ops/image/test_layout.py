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
