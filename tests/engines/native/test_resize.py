"""Images resized by machine code: the same bits as NumPy gives, wherever the op runs."""

from __future__ import annotations

import os

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.engines import large_calls
from ebbflow.engines.native import late_code, resize
from ebbflow.ops.image import taps

R = np.random.RandomState(0)

SIZES = {
    "smaller": ((2, 256, 320, 3), (128, 128)),
    "much smaller": ((1, 300, 300, 1), (64, 64)),
    "larger": ((3, 20, 30, 3), (70, 95)),
    "as large": ((1, 33, 44, 4), (33, 44)),
    "one pixel": ((1, 1, 1, 2), (40, 40)),
    "to one row": ((1, 50, 60, 40), (1, 80)),
    "many channels": ((2, 16, 16, 37), (25, 9)),
    "many images": ((40, 64, 64, 3), (48, 64)),
}


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", SIZES)
def test_the_same_bits_as_numpy(name, dtype):
    shape, (height, width) = SIZES[name]
    images = (R.rand(*shape) * 255).astype(dtype)
    code = resize.Resize(np.dtype(dtype))
    for corners, centres in ((False, True), (True, False), (False, False)):
        down = taps.bilinear(shape[1], height, corners, centres)
        across = taps.bilinear(shape[2], width, corners, centres)
        found = code(images, down, across)
        if found is None:  # it is made after the first call
            late_code.settle()
            found = code(images, down, across)
        expected = taps.both_between(np, images, down, across)
        assert found.dtype == np.float32 and found.tobytes() == expected.tobytes()


def test_images_that_do_not_lie_row_by_row():
    images = (R.rand(2, 3, 60, 70) * 255).astype(np.uint8).transpose(0, 2, 3, 1)[:, ::-1, ::2]
    down, across = taps.bilinear(60, 40, False, True), taps.bilinear(35, 50, False, True)
    code = resize.Resize(images.dtype)
    code(images, down, across)
    late_code.settle()
    assert code(images, down, across).tobytes() == taps.both_between(np, images, down, across).tobytes()


def test_the_op_uses_it_and_gives_the_same_without(monkeypatch):
    images = (R.rand(1, 90, 80, 3) * 255).astype(np.uint8)
    calls = []
    run = resize.Resize.__call__
    monkeypatch.setattr(resize.Resize, "__call__", lambda self, *given: calls.append(run(self, *given)) or calls[-1])
    resized = tf.function(lambda x: tf.image.resize(x, [64, 64]))
    for each in (lambda x: tf.image.resize(x, [64, 64]), resized):
        each(images)
        late_code.settle()
        calls.clear()
        quick = each(images).numpy()
        assert calls and calls[-1] is not None
        with monkeypatch.context() as without:
            without.setenv("EBBFLOW_ENGINES", "host")
            calls.clear()
            assert each(images).numpy().tobytes() == quick.tobytes() and not calls


def test_few_numbers_and_other_dtypes_stay_with_numpy():
    down, across = taps.bilinear(4, 8, False, True), taps.bilinear(4, 8, False, True)
    assert large_calls.resized(np.zeros((1, 4, 4, 1), np.uint8), down, across) is None
    assert large_calls.resized(np.zeros((99, 4, 4, 9), np.int16), down, across) is None


def test_many_images_after_a_fork():
    images = np.ones((64, 64, 64, 3), np.float32)  # enough for several threads
    before = tf.image.resize(images, [48, 64]).numpy()
    child = os.fork()
    if child == 0:
        os._exit(0 if (tf.image.resize(images, [48, 64]).numpy() == before).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
