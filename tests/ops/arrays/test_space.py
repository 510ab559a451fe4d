"""Blocks of space moved to depth and batch and back, and patches of images."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.arrays import padding, space
from tests.ops.arrays.test_joining import case
from tests.ops.cases import MODES, Refusal, args


def to_depth(x, s):
    b, h, w, c = x.shape
    return x.reshape(b, h // s, s, w // s, s, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, h // s, w // s, s * s * c)


def to_space(x, s):
    b, h, w, c = x.shape
    return x.reshape(b, h, w, s, s, c // s // s).transpose(0, 1, 3, 2, 4, 5).reshape(b, h * s, w * s, c // s // s)


def first(x):
    return x.transpose(0, 3, 1, 2)


def last(x):
    return x.transpose(0, 2, 3, 1)


def to_batch(x, s):
    """Every s-th pixel of each image, one image for each starting point."""
    return np.concatenate([x[:, i::s, j::s] for i in range(s) for j in range(s)])


def patches(x, k, stride):
    rows = range(0, x.shape[1] - k + 1, stride)
    columns = range(0, x.shape[2] - k + 1, stride)
    return np.stack([np.stack([x[:, i : i + k, j : j + k].reshape(len(x), -1) for j in columns], 1) for i in rows], 1)


NO_PADS = np.zeros((2, 2), np.int32)
CASES = [
    case("space_to_depth", lambda x: space.space_to_depth(x, 2), ["2 4 2 2"], lambda x: to_depth(x, 2)),
    case("depth_to_space", lambda x: space.depth_to_space(x, 2), ["2 1 2 8"], lambda x: to_space(x, 2)),
    case(
        "space_to_depth, channels first",
        lambda x: space.space_to_depth(x, 2, "NCHW"),
        ["1 2 4 2"],
        lambda x: first(to_depth(last(x), 2)),
    ),
    case(
        "depth_to_space, channels first",
        lambda x: space.depth_to_space(x, 2, "NCHW"),
        ["1 8 1 2"],
        lambda x: first(to_space(last(x), 2)),
    ),
    case("space_to_batch", lambda x: space.space_to_batch(x, [2, 2], NO_PADS), ["2 4 2 1"], lambda x: to_batch(x, 2)),
    case(
        "space_to_batch, padded",
        lambda x: space.space_to_batch(x, [2, 2], [[1, 0], [0, 1]]),
        ["1 3 3 1"],
        lambda x: to_batch(np.pad(x, [[0, 0], [1, 0], [0, 1], [0, 0]]), 2),
    ),
    case(
        "space_to_batch of one axis",
        lambda x: space.space_to_batch(x, [3], [[0, 0]]),
        ["1 6"],
        lambda x: x.reshape(2, 3).T,
    ),
    case(
        "batch_to_space",
        lambda x: space.batch_to_space(space.space_to_batch(x, [2, 2], NO_PADS), [2, 2], NO_PADS),
        ["1 4 4 2"],
        lambda x: x,
    ),
    case(
        "batch_to_space, cropped",
        lambda x: space.batch_to_space(space.space_to_batch(x, [2, 2], NO_PADS), 2, [[1, 0], [0, 2]]),
        ["1 4 4 1"],
        lambda x: x[:, 1:, :2],
    ),
    case(
        "space_to_batch of TF 1",
        lambda x: space.space_to_batch_v1(x, NO_PADS, 2),
        ["1 2 2 1"],
        lambda x: to_batch(x, 2),
    ),
    case(
        "SpaceToBatch",
        lambda x: space.SpaceToBatch(x, NO_PADS, block_size=2),
        ["1 2 2 1"],
        lambda x: to_batch(x, 2),
    ),
    case(
        "patches",
        lambda x: space.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
        ["2 3 3 2"],
        lambda x: patches(x, 2, 1),
    ),
    case(
        "patches far apart",
        lambda x: space.extract_image_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
        ["1 4 4 1"],
        lambda x: patches(x, 2, 2),
    ),
    case(
        "patches over the edge",
        lambda x: space.extract_patches(x, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
        ["1 2 3 1"],
        lambda x: patches(np.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), 3, 1),
    ),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_space(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


def of(fn, *rest, **named):
    return lambda x: fn(x, *rest, **named)


REFUSALS = [
    Refusal(
        of(space.space_to_depth, 2),
        args("1 3 3 1"),
        says="Image width 3 and height 3 should be divisible by block_size: 2",
    ),
    Refusal(of(space.space_to_depth, 1), args("1 4 4 1"), says="less than minimum 2", name="block of one"),
    Refusal(of(space.space_to_depth, 2), args("4 4"), says="Input rank should be 4 instead of 2"),
    Refusal(of(space.depth_to_space, 2), args("1 1 1 3"), says="Input depth dimension 3 should be divisible by: 4"),
    Refusal(of(space.space_to_batch, [2, 2], NO_PADS), args("1 3 3 1"), says="padded_shape[0]=3 is not divisible by"),
    Refusal(
        of(space.space_to_batch, [2, 0], NO_PADS), args("1 2 2 1"), says="All values in block_shape must be positive"
    ),
    Refusal(of(space.space_to_batch, [2, 2], [[0, -2], [0, 0]]), args("1 4 4 1"), says="Paddings must be non-negative"),
    Refusal(
        of(space.batch_to_space, [2, 2], NO_PADS),
        args("3 2 2 1"),
        says="is not divisible by product of block sizes (4)",
    ),
    Refusal(
        of(space.batch_to_space, [2, 2], [[3, 3], [0, 0]]),
        args("4 2 2 1"),
        says="cropped_shape[0]=-2 must be non-negative",
    ),
    Refusal(
        of(space.extract_patches, [1, 5, 5, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
        args("1 3 3 1"),
        says="Computed output size would be negative",
    ),
    Refusal(
        of(space.extract_patches, [1, 100_000, 100_000, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
        args("1 1 1 3"),
        says="Output size would overflow",
    ),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda r: r.says["eager"][:40])
def test_refusals(refusal, mode):
    refusal.check_value(mode)


def test_paddings_that_make_blocks_fit():
    pads, crops = padding.required_space_to_batch_paddings([5, 6], [2, 4])
    assert pads.numpy().tolist() == [[0, 1], [0, 2]]
    assert crops.numpy().tolist() == [[0, 1], [0, 2]]
    pads, crops = padding.required_space_to_batch_paddings([5], [3], [[1, 1]])
    assert pads.numpy().tolist() == [[1, 3]]
    assert crops.numpy().tolist() == [[0, 2]]


def test_blocks_of_images_have_four_axes_whatever_is_known_of_the_input():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        images, sizes = v1.placeholder(tf.float32), v1.placeholder(tf.int32)
        assert v1.space_to_batch(images, sizes, 4).shape.rank == 4
        assert v1.batch_to_space(images, sizes, 4).shape.rank == 4
        assert v1.space_to_batch_nd(images, [2], sizes).shape.rank is None
