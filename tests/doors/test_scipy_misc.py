"""`scipy.misc`'s pictures, through Pillow."""

import numpy as np
import pytest

from ebbflow.doors import scipy_misc as misc

RGB = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)
GREY = np.array([[0, 100], [200, 255]], np.uint8)


@pytest.mark.parametrize("array", [RGB, GREY], ids=["rgb", "grey"])
def test_what_is_saved_is_read(tmp_path, array):
    misc.imsave(str(tmp_path / "a.png"), array)
    assert np.array_equal(misc.imread(str(tmp_path / "a.png")), array)


def test_reading_as_grey(tmp_path):
    misc.imsave(tmp_path / "a.png", RGB)
    flat = misc.imread(tmp_path / "a.png", flatten=True)
    assert flat.shape == (2, 4) and flat.dtype == np.float32
    assert misc.imread(tmp_path / "a.png", mode="L").dtype == np.uint8


@pytest.mark.parametrize("size, shape", [(50, (1, 2, 3)), (2.0, (4, 8, 3)), ((3, 5), (3, 5, 3))])
@pytest.mark.parametrize("interp", ["nearest", "bilinear", "bicubic", "lanczos", "cubic"])
def test_resizing(size, shape, interp):
    assert misc.imresize(RGB, size, interp).shape == shape


def test_values_are_stretched_unless_they_are_bytes():
    assert misc.bytescale(np.array([-1.0, 0.0, 1.0])).tolist() == [0, 128, 255]
    assert misc.bytescale(GREY) is GREY
    assert misc.bytescale(np.array([5.0, 5.0])).tolist() == [0, 0]
    assert misc.fromimage(misc.toimage(np.array([[0.0, 2.0]]))).tolist() == [[0, 255]]


@pytest.mark.parametrize("axis, shape", [(0, (3, 2, 5)), (1, (2, 3, 5)), (2, (2, 5, 3))])
def test_the_channel_axis_is_found(axis, shape):
    assert misc.toimage(np.zeros(shape, np.uint8)).size == (5, 2)


@pytest.mark.parametrize("bad", [np.zeros((2, 2, 5)), np.zeros(3), np.zeros((2, 2), complex)])
def test_other_arrays_are_no_pictures(bad):
    with pytest.raises(ValueError, match=r"suitable array shape|complex"):
        misc.toimage(bad)


def test_derivative():
    assert misc.derivative(lambda x: x**3, 2.0, dx=1e-3) == pytest.approx(12.0, rel=1e-4)
    assert misc.derivative(lambda x: x**3, 2.0, dx=1e-2, n=2, order=5) == pytest.approx(12.0, rel=1e-4)


def test_rotation_keeps_the_frame():
    assert misc.imrotate(RGB, 90).shape == RGB.shape
