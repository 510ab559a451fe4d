"""Quantised numbers: TensorFlow 2.21's answers for its three ways, and arithmetic on the integers."""

import numpy as np
import pytest

import ebbflow as tf

X = np.array([[-2.3, -1, 0, 0.49], [0.51, 1.2, 2.5, 3.7]], np.float32)
RAW = tf.raw_ops


def integers(quantised):
    return tf.cast(quantised, tf.int32).numpy().tolist()


# what TensorFlow made of X between -2 and 3
WAYS = [
    ("MIN_COMBINED", tf.quint8, [[0, 51, 102, 127], [128, 163, 230, 255]]),
    ("MIN_FIRST", tf.quint8, [[0, 51, 102, 127], [128, 163, 230, 255]]),
    ("MIN_COMBINED", tf.qint8, [[-128, -77, -26, -1], [0, 35, 102, 127]]),
    ("SCALED", tf.qint8, [[-97, -42, 0, 21], [22, 51, 106, 127]]),
]


@pytest.mark.parametrize("mode, dtype, expected", WAYS)
def test_there_and_back(mode, dtype, expected):
    found, low, high = tf.quantization.quantize(X, -2.0, 3.0, dtype, mode=mode)
    assert integers(found) == expected
    back = tf.quantization.dequantize(found, low, high, mode=mode)
    least = -2.0 if mode != "SCALED" else -2.3
    np.testing.assert_allclose(back, np.clip(X, least, 3.0), atol=0.5 * 6 / 254 + 1e-6)


def pair():
    first = tf.quantization.quantize(X, -2.0, 3.0, tf.quint8, mode="MIN_FIRST")
    second = tf.quantization.quantize(X[::-1].copy(), -1.0, 4.0, tf.quint8, mode="MIN_FIRST")
    return first, second


def test_products_are_of_integers():
    (a, a_low, a_high), (b, b_low, b_high) = pair()
    ranges = {"min_x": a_low, "max_x": a_high, "min_y": b_low, "max_y": b_high}
    product, low, high = RAW.QuantizedMul(x=a, y=b, **ranges)
    assert integers(product) == [[-2652, -3111, 0, 4725], [-1326, -3111, 0, 3825]]
    np.testing.assert_allclose([low, high], [-825637.75, 825637.75], 1e-6)
    ranges = {"min_a": a_low, "max_a": a_high, "min_b": b_low, "max_b": b_high}
    product, low, high = RAW.QuantizedMatMul(a=a, b=b, transpose_b=True, **ranges)
    assert integers(product) == [[-1038, 8428], [49698, -612]]
    found = RAW.RequantizationRange(input=product, input_min=low, input_max=high)
    np.testing.assert_allclose(found, [-0.399, 19.107], atol=1e-3)


def test_activations_cut_at_what_means_zero():
    a, low, high = pair()[0]
    assert integers(RAW.QuantizedRelu(features=a, min_features=low, max_features=high)[0])[0] == [102, 102, 102, 127]


def test_pools_and_convolutions():
    image = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    x, low, high = tf.quantization.quantize(image, 0.0, 16.0, tf.quint8, mode="MIN_FIRST")
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "VALID"}
    largest = RAW.QuantizedMaxPool(input=x, min_input=low, max_input=high, **window)[0]
    assert np.array(integers(largest)).reshape(3, 3).tolist() == [[80, 96, 112], [143, 159, 175], [207, 223, 239]]
    mean = RAW.QuantizedAvgPool(input=x, min_input=low, max_input=high, **window)[0]
    assert np.array(integers(mean)).reshape(3, 3).tolist() == [[40, 56, 72], [103, 119, 135], [167, 183, 199]]
    weights = np.array([1, -1, 2, 0.5], np.float32).reshape(2, 2, 1, 1)
    f, f_low, f_high = tf.quantization.quantize(weights, -1.0, 2.0, tf.quint8, mode="MIN_FIRST")
    ranges = {"min_input": low, "max_input": high, "min_filter": f_low, "max_filter": f_high}
    found = RAW.QuantizedConv2D(input=x, filter=f, strides=[1, 1, 1, 1], padding="VALID", **ranges)[0]
    expected = [[12960, 16368, 19776], [26549, 29787, 33195], [40096, 43419, 46827]]
    assert np.array(integers(found)).reshape(3, 3).tolist() == expected


def test_a_range_that_is_upside_down_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_range must be larger"):
        tf.quantization.quantize(X, 3.0, -2.0, tf.quint8)


def test_gradients_reach_a_range_that_is_learnt():
    low, high = tf.Variable(-1.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.quantization.fake_quant_with_min_max_vars([-3.0, -2.0, 0.0, 5.0], low, high))
    assert [float(g) for g in tape.gradient(y, [low, high])] == [2.0, 1.0]


@pytest.mark.parametrize("per_channel", [False, True])
def test_quantized_training_is_compiled_whole(per_channel):
    fake = tf.quantization.fake_quant_with_min_max_vars
    fake = tf.quantization.fake_quant_with_min_max_vars_per_channel if per_channel else fake
    x = tf.constant([[-3.0, -0.41, 0.33], [0.72, 1.91, 9.0]])  # none halfway between two steps
    ends = [tf.constant([-1.0, -2.0, 0.0]), tf.constant([1.0, 2.0, 0.0])] if per_channel else [-1.0, 2.0]

    def slopes(x, low, high):
        with tf.GradientTape() as tape:
            tape.watch([x, low, high])
            y = fake(x, low, high, num_bits=4)
            squares = y * y
        return y, *tape.gradient(squares, [x, low, high])

    given = [x, *map(tf.constant, ends)]
    for plain, compiled in zip(slopes(*given), tf.function(slopes, jit_compile=True)(*given), strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-6)


@pytest.mark.parametrize("kind", ["qint8", "quint8", "qint16", "quint16", "qint32"])
def test_programs_are_handed_plain_integers(kind):
    dtype = tf.as_dtype(kind)
    x = tf.constant([1, 2], dtype)
    assert x.dtype is dtype and x.numpy().dtype == kind[1:] and x.numpy().tolist() == [1, 2]
    assert np.asarray(x).tolist() == [1, 2] and repr(x[0]).endswith("numpy=1>")
    assert tf.constant(x.numpy(), dtype).dtype is dtype
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        y = tf.constant([1, 2], dtype)
        found, scalar = session.run([y, tf.reshape(tf.constant([5], dtype), [])])
    assert (found.dtype, found.tolist(), scalar) == (kind[1:], [1, 2], 5)
