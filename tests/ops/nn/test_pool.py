"""Pooling against the definition, window by window; with gradients, in every mode."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.declare import raw
from ebbflow.ops.nn import pool
from tests.ops.cases import MODES, Case, Refusal, args


def by_definition(x, windows, strides, padding, take):
    """`take` of every window of x (batch, …, channels), padding left out."""
    n = len(windows)
    sizes = x.shape[1:-1]
    if isinstance(padding, str):
        counts = [
            -(-m // s) if padding == "SAME" else (m - k) // s + 1
            for m, k, s in zip(sizes, windows, strides, strict=True)
        ]
        needed = [max((c - 1) * s + k - m, 0) for c, s, k, m in zip(counts, strides, windows, sizes, strict=True)]
        before = [p // 2 if padding == "SAME" else 0 for p in needed]
    else:
        before = [lo for lo, _ in padding]
        counts = [(m + sum(p) - k) // s + 1 for m, p, k, s in zip(sizes, padding, windows, strides, strict=True)]
    y = np.zeros((x.shape[0], *counts, x.shape[-1]))
    for at in np.ndindex(*counts):
        starts = [i * s - b for i, s, b in zip(at, strides, before, strict=True)]
        window = x[(slice(None), *(slice(max(a, 0), a + k) for a, k in zip(starts, windows, strict=True)))]
        y[(slice(None), *at)] = take(window, axis=tuple(range(1, n + 1)))
    return y


def pair(dims, windows, strides, padding):
    """Rows for the largest and for the mean element."""
    explicit = padding if isinstance(padding, str) else [[0, 0], *padding, [0, 0]]
    functions = [(pool.max_pool, np.max)] + ([(pool.avg_pool, np.mean)] if isinstance(padding, str) else [])
    for function, take in functions:
        yield Case(
            lambda x, function=function: function(x, list(windows), list(strides), explicit, FORMATS[len(windows)]),
            args(dims),
            numpy=lambda x, take=take: by_definition(x, windows, strides, padding, take),
            name=f"{function.__name__} {windows} {strides} {padding}",
        )


FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
SETTINGS = [
    ("1 4 4 2", (2, 2), (2, 2), "VALID"),
    ("2 3 3 1", (2, 2), (1, 1), "SAME"),
    ("1 5 4 1", (3, 2), (2, 1), "SAME"),
    ("1 5 4 1", (3, 2), (2, 3), "VALID"),
    ("1 2 2 1", (3, 3), (1, 1), "SAME"),
    ("1 3 3 1", (2, 2), (1, 1), ((1, 1), (0, 1))),
    ("0 4 4 2", (2, 2), (2, 2), "VALID"),
    ("1 4 2", (2,), (2,), "SAME"),
]
CASES = [case for setting in SETTINGS for case in pair(*setting)]
CASES += [
    Case(
        lambda x: pool.max_pool(x, 2, 2, "SAME", data_format="NCHW"),
        args("1 2 3 3"),
        numpy=lambda x: np.moveaxis(by_definition(np.moveaxis(x, 1, -1), (2, 2), (2, 2), "SAME", np.max), -1, 1),
        name="max_pool NCHW",
    ),
    Case(
        lambda x: pool.avg_pool(x, 2, 2, "SAME", data_format="NCHW"),
        args("1 2 3 3"),
        numpy=lambda x: np.moveaxis(by_definition(np.moveaxis(x, 1, -1), (2, 2), (2, 2), "SAME", np.mean), -1, 1),
        name="avg_pool NCHW",
    ),
    Case(
        lambda x: pool.max_pool_with_argmax(x, 2, 2, "SAME")[0],
        args("2 3 3 2"),
        numpy=lambda x: by_definition(x, (2, 2), (2, 2), "SAME", np.max),
        name="max_pool_with_argmax",
    ),
    Case(
        lambda x: raw.MaxPoolV2(x, [1, 2, 2, 1], [1, 1, 1, 1], padding="VALID"),
        args("1 3 3 1"),
        numpy=lambda x: by_definition(x, (2, 2), (1, 1), "VALID", np.max),
        name="MaxPoolV2",
    ),
    Case(
        lambda x: raw.MaxPool(x, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="SAME"),
        args("1 2 2 4"),
        numpy=lambda x: x.reshape(1, 2, 2, 2, 2).max(-1),
        name="max_pool across channels",
    ),
    Case(
        lambda x: pool.avg_pool3d(x, 2, 1, "SAME"),
        args("1 2 3 2 1"),
        numpy=lambda x: by_definition(x, (2, 2, 2), (1, 1, 1), "SAME", np.mean),
        name="avg_pool3d",
    ),
    Case(
        lambda x: pool.pool(x, [2, 2], "AVG", dilations=[2, 1]),
        args("1 4 3 1"),
        numpy=lambda x: (x[:, :2, :2] + x[:, 2:, :2] + x[:, :2, 1:] + x[:, 2:, 1:]) / 4,
        name="pool dilated",
    ),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_value(case, mode):
    case.check_value(mode)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradient(case):
    case.check_gradient("eager")


@pytest.mark.parametrize("case", [c for c in CASES if "dilated" not in c.name], ids=str)
def test_gradient_in_graphs(case):
    case.check_gradient("graph")


def max_pool(**more):
    return lambda x: raw.MaxPool(x, **{"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID", **more})


REFUSALS = [
    *(
        Refusal(
            lambda x: raw.MaxPoolWithArgmax(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"),
            args(dims),
            says="tensor_in must not be empty",
            name=f"argmax of {dims}",
        )
        for dims in ("0 4 4 1", "1 0 4 1", "1 4 4 0")
    ),
    Refusal(max_pool(ksize=[1, 3, 3, 1], strides=[1] * 4), args("1 1 5 2"), says="would be negative: -1", name="small"),
    Refusal(max_pool(), args("1 5 2"), says="4 or 5-dimensional", name="rank"),
    Refusal(max_pool(ksize=[1, 0, 2, 1]), args("1 5 5 2"), says="ksize must be positive", name="no window"),
    Refusal(max_pool(strides=[1, 0, 2, 1]), args("1 5 5 2"), says="Stride must be > 0", name="no stride"),
    Refusal(max_pool(ksize=[2, 1, 1, 1]), args("2 5 5 2"), says="batch dimension", name="batch"),
    Refusal(max_pool(ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3]), args("1 2 2 4"), says="evenly divide", name="depth"),
    Refusal(max_pool(data_format="NCHW_VECT_C"), args("1 2 2 4"), says="NCHW_VECT_C", name="format"),
    Refusal(
        max_pool(padding="EXPLICIT", explicit_paddings=[0, 0, 2, 0, 0, 0, 0, 0]),
        args("1 4 4 1"),
        says="smaller than the window",
        name="padding",
    ),
    Refusal(
        lambda g: raw.AvgPoolGrad([1, -5, 5, 2], g, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"),
        args("1 2 2 2"),
        says="non-negative size, got -5",
        name="negative size",
    ),
    Refusal(
        lambda x, y, g: raw.MaxPoolGrad(x, y, g, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"),
        args("1 4 4 1", "1 2 2 1", "1 2 3 1"),
        says="Expected grad shape to be [1,2,2,1], but got [1,2,3,1]",
        name="gradient",
    ),
    Refusal(
        lambda x, g: raw.MaxPoolGradWithArgmax(
            x, g, np.full((1, 1, 1, 1), 99), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"
        ),
        args("1 2 2 1", "1 1 1 1"),
        says="99",
        name="argmax",
    ),
]


@pytest.mark.parametrize("case", REFUSALS, ids=str)
def test_refused(case):
    case.error = tf.errors.OpError
    case.check_value("eager")


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda x: pool.max_pool_v1(x, 3, 1, "VALID"), "Negative dimension size caused by subtracting 3 from 2"),
        (lambda x: pool.avg_pool(x, [1, 2], 0, "SAME"), "Stride must be > 0, but got 0"),
        (lambda x: pool.max_pool2d(x, [1, 2, 3], 1, "SAME"), "should be of length 1, 2 or 4"),
        (lambda x: pool.pool(x, [2, 2], "MIDDLE"), "'MAX' or 'AVG'"),
    ],
)
def test_refused_when_a_graph_is_built(function, words):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
        function(np.zeros((1, 2, 2, 1), np.float32))


def test_the_first_of_equal_elements_gets_the_gradient():
    x = tf.constant(np.ones((1, 3, 3, 1)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = pool.max_pool(x, 2, 1, "VALID")
    found = tape.gradient(y, x, output_gradients=tf.constant(np.arange(1.0, 5.0).reshape(1, 2, 2, 1))).numpy()
    np.testing.assert_array_equal(found.reshape(3, 3), [[1, 2, 0], [3, 4, 0], [0, 0, 0]])


def test_padding_is_never_the_largest_nor_counted():
    x = np.full((1, 3, 3, 1), -5.0)
    for function in (pool.max_pool, pool.avg_pool):
        np.testing.assert_array_equal(function(x, 2, 1, "SAME").numpy(), x)
    lowest = np.full((1, 3, 3, 1), -np.inf)
    which = raw.MaxPoolWithArgmax(lowest, ksize=[1, 3, 3, 1], strides=[1, 3, 3, 1], padding="SAME").argmax
    assert which.numpy().ravel().tolist() == [0]


@pytest.mark.parametrize("with_batch", [False, True])
def test_argmax_points_at_the_largest(with_batch):
    (x,) = args("2 4 4 3")
    values, places = pool.max_pool_with_argmax(x, 2, 2, "VALID", include_batch_in_index=with_batch)
    flat = x.ravel() if with_batch else x.reshape(2, -1)
    found = flat[places.numpy()] if with_batch else np.stack([f[p] for f, p in zip(flat, places.numpy(), strict=True)])
    np.testing.assert_array_equal(found, values.numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint8", "int32"])
def test_dtypes(dtype):
    (x,) = args("1 4 4 1", dtype=dtype, low=0.0, high=9.0)
    found = pool.max_pool(tf.constant(x), 2, 2, "SAME")
    assert found.dtype.name == dtype
    expected = by_definition(x.astype(np.float64), (2, 2), (2, 2), "SAME", np.max)
    np.testing.assert_array_equal(np.asarray(found.numpy()).astype(np.float64), expected)
