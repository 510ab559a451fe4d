"""tf.experimental.numpy: limits of types, and choices by conditions."""

import numpy as np
import pytest

import ebbflow as tf

tnp = tf.experimental.numpy


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_select_is_numpys(wrap):
    x = np.array([-2.0, 0.5, 3.0])
    conditions, choices = [x < 0, x > 1], [x, x**2]
    found = wrap(lambda: tnp.select(conditions, choices, default=7))()
    np.testing.assert_array_equal(found, np.select(conditions, choices, 7))
    assert tnp.select([[True]], [np.int8([1])], default=2).dtype == tf.int8
    assert tnp.select([[True]], [np.int8([1])], default=np.float32(2)).dtype == tf.float32


def test_select_refuses():
    with pytest.raises(ValueError, match="equal to choicelist"):
        tnp.select([[True]], [])
    with pytest.raises(ValueError, match="non-empty"):
        tnp.select([], [])


def test_limits():
    assert tnp.finfo(tf.float16).max == 65504 and tnp.iinfo("int8").min == -128
    assert float(tnp.finfo(tf.bfloat16).eps) == 2.0**-7
