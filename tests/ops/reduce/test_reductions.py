"""Reductions: values over every choice of axes, gradients, empty tensors, the arguments of both TensorFlows."""

import itertools

import numpy as np
import pytest

import ebbflow as tf
from tests.ops.cases import MODES, Case, Refusal, args

inf, nan = np.inf, np.nan


def norm(x, axis, keepdims):
    return np.sqrt(np.sum(np.square(x), axis=axis, keepdims=keepdims))


def logsumexp(x, axis, keepdims):
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


#   function                          NumPy's            order
ROWS = [
    (tf.reduce_sum, np.sum, 2),
    (tf.reduce_mean, np.mean, 2),
    (tf.reduce_prod, np.prod, 2),
    (tf.reduce_max, np.max, 1),
    (tf.reduce_min, np.min, 1),
    (tf.math.reduce_euclidean_norm, norm, 2),
    (tf.reduce_logsumexp, logsumexp, 2),
    (tf.math.reduce_variance, np.var, 2),
    (tf.math.reduce_std, np.std, 2),
]
AXES = [("2 3", None), ("2 3", 0), ("2 3", -1), ("2 2 2", (0, 2)), ("2 3", ()), ("", None), ("3 1", 1)]


def reduced(fn, numpy, order, dims, axis, keep):
    name = f"{fn.__name__}_{axis}_{keep}"
    return Case(
        lambda x: fn(x, axis=axis, keepdims=keep), args(dims), lambda x: numpy(x, axis=axis, keepdims=keep),
        smooth=order, name=name,
    )  # fmt: skip


CASES = [
    reduced(fn, numpy, order, dims, axis, keep)
    for (fn, numpy, order), (dims, axis), keep in itertools.product(ROWS, AXES, (False, True))
    if not (fn in (tf.math.reduce_std, tf.math.reduce_euclidean_norm) and (axis == () or dims in ("", "3 1")))
]
CASES += [
    Case(lambda x, fn=fn: fn(x, 1), args("2 3", dtype=t, low=1, high=4), lambda x, numpy=numpy: numpy(x, 1), smooth=0,
         tol=4, name=f"{fn.__name__}_{t}")
    for fn, numpy in [(tf.reduce_sum, lambda x, a: np.sum(x, a, dtype=x.dtype)), (tf.reduce_max, np.max)]
    for t in ("float32", "float16", "int8", "uint16", "int64", "complex64")
    if not (fn is tf.reduce_max and t == "complex64")
]  # fmt: skip
BOOLS = [np.array([[True, False], [True, True]])]
CASES += [
    Case(tf.reduce_all, BOOLS, np.all, name="all"),
    Case(lambda x: tf.reduce_all(x, 1), BOOLS, lambda x: x.all(1), name="all_1"),
    Case(lambda x: tf.reduce_any(x, [0], keepdims=True), BOOLS, lambda x: x.any(0, keepdims=True), name="any_0"),
    Refusal(lambda x: tf.reduce_sum(x, 5), args("2 3"), says="Invalid reduction dimension", name="axis_5"),
    Refusal(lambda x: tf.reduce_sum(x, [0, -2]), args("2 3"), says="duplicate dimension: 0", name="axis_twice"),
    Refusal(tf.reduce_all, args("2"), says="expected to be a bool tensor", in_graph="bool"),
    Refusal(tf.reduce_sum, BOOLS, says="not in list of allowed values"),
    Refusal(tf.math.reduce_variance, args("2", dtype="int32"), says="must be either real or complex"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions(case, mode):
    case.check_value(mode)
    case.check_gradient(mode)


#   function           shape     axis   answer
EMPTY = [
    (tf.reduce_sum, [0, 3], 0, [0.0] * 3),
    (tf.reduce_prod, [0, 2], 0, [1.0] * 2),
    (tf.reduce_mean, [0, 2], 0, [nan] * 2),
    (tf.reduce_max, [0, 2], 0, [-inf] * 2),
    (tf.reduce_min, [0, 2], 0, [inf] * 2),
    (tf.reduce_max, [0, 2], 1, []),
    (tf.reduce_logsumexp, [0, 2], 0, [-inf] * 2),
]


@pytest.mark.parametrize("fn, shape, axis, expected", EMPTY)
def test_nothing_folds_to_the_neutral_element(fn, shape, axis, expected):
    for _ in range(2):
        np.testing.assert_array_equal(fn(tf.zeros(shape), axis).numpy(), np.float32(expected))


def test_extremes_of_no_integers_are_the_limits():
    none = tf.zeros([0], tf.int8)
    assert tf.reduce_max(none).numpy() == -128
    assert tf.reduce_min(none).numpy() == 127


def test_means_of_integers_are_cut_toward_zero_and_do_not_overflow():
    assert tf.reduce_mean(tf.constant([1, 2, 5])).numpy() == 2
    assert tf.reduce_mean(tf.constant([-1, -2, -5])).numpy() == -2
    assert tf.reduce_mean(tf.constant([120] * 20, tf.int8)).numpy() == 120
    assert tf.reduce_mean(tf.zeros([0], tf.int32)).numpy() == 0


def test_sums_of_half_floats_do_not_stall():
    ones = tf.ones([5000], tf.float16)
    assert tf.reduce_sum(ones).numpy() == 5000
    assert tf.reduce_mean(tf.ones([70000], tf.bfloat16)).numpy() == 1


@pytest.mark.parametrize("fn", [tf.reduce_max, tf.reduce_min])
def test_equal_extremes_share_the_gradient(fn):
    x = tf.constant([[2.0, 2.0, 2.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x, 1)
    assert tape.gradient(y, x).numpy().tolist() == [[0.25] * 4]


@pytest.mark.parametrize(
    "given, slope",
    [([0.0, 3.0, 4.0], [12.0, 0.0, 0.0]), ([0.0, 0.0, 4.0], [0.0] * 3), ([2.0, 3.0, 4.0], [12.0, 8.0, 6.0])],
)
def test_the_gradient_of_a_product_beside_zeros(given, slope):
    x = tf.constant(given)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_prod(x)
    assert tape.gradient(y, x).numpy().tolist() == slope


@pytest.mark.parametrize("fn", [tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max])
def test_axes_known_only_when_running(fn):
    x = np.arange(1.0, 13.0).reshape(2, 3, 2)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        source = tf.compat.v1.placeholder(tf.float64)
        axes = tf.compat.v1.placeholder(tf.int32)
        y = fn(source, axes)
        (grad,) = tf.gradients(y, source)
        for given in (0, [1], [0, 2], [-1, 0], []):
            values = session.run([y, grad], {source: x, axes: given})
            t = tf.constant(x)
            with tf.Graph().as_default(), tf.compat.v1.Session() as known:
                t = tf.constant(x)
                z = fn(t, np.array(given, np.int32))
                expected = known.run([z, *tf.gradients(z, t)])
            for ours, theirs in zip(values, expected, strict=True):
                np.testing.assert_allclose(ours, theirs, 1e-12)


def test_arguments_of_tensorflow_1():
    x = [[1.0, 2.0], [3.0, 4.0]]
    v1 = tf.compat.v1
    assert v1.reduce_sum(x, reduction_indices=1, keep_dims=True).numpy().tolist() == [[3.0], [7.0]]
    assert v1.reduce_max(x, 0, True).numpy().tolist() == [[3.0, 4.0]]
    assert v1.count_nonzero(input_tensor=[0, 1], keep_dims=True).numpy().tolist() == [1]
    assert v1.argmax(x, dimension=1).numpy().tolist() == [1, 1]
    with pytest.raises(ValueError, match="Cannot specify both 'axis' and 'reduction_indices'"):
        v1.reduce_sum(x, 0, reduction_indices=1)


def test_count_nonzero():
    assert tf.math.count_nonzero([[0, 1], [2, 0]], axis=0).numpy().tolist() == [1, 1]
    assert tf.math.count_nonzero(["", "a"]).numpy() == 1
    assert tf.math.count_nonzero([0.0, nan], dtype=tf.int32).dtype == tf.int32


class TestArgMax:
    X = np.array([[1.0, 9.0, 9.0], [4.0, 0.0, -1.0]], np.float32)

    @pytest.mark.parametrize("axis", [None, 0, 1, -1])
    def test_values(self, axis):
        assert tf.argmax(self.X, axis).numpy().tolist() == self.X.argmax(0 if axis is None else axis).tolist()
        assert tf.argmin(self.X, axis).numpy().tolist() == self.X.argmin(0 if axis is None else axis).tolist()

    def test_nan_is_never_chosen(self):
        assert tf.argmax([nan, 1.0, 2.0]).numpy() == 2
        assert tf.argmin([1.0, nan, 0.5]).numpy() == 2
        assert tf.argmax([nan, nan]).numpy() == 0

    @pytest.mark.parametrize("dtype", [tf.int16, tf.uint16, tf.int32, tf.int64])
    def test_dtype_of_the_answer(self, dtype):
        assert tf.argmax(self.X, 1, output_type=dtype).dtype == dtype

    @pytest.mark.parametrize("given", [[True, False], np.array([3, 1], np.uint8)])
    def test_other_dtypes(self, given):
        assert tf.argmax(given).numpy() == 0

    def test_refusals(self):
        for mode in MODES:
            Refusal(lambda x: tf.argmax(x, 2), args("2 3"), says="Expected dimension in the range [-2, 2)").check_value(
                mode
            )
            Refusal(tf.argmax, args("0 3"), says="Reduction axis 0 is empty").check_value(mode)
            Refusal(lambda x: tf.argmax(x, [0]), args("2 3"), says="must be a scalar").check_value(mode)


def test_axes_are_no_matrix_in_a_graph():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be at most rank 1 but is rank 2"):
        tf.reduce_sum(np.ones((2, 3)), np.array([[0], [1]]))
