"""Moments, batch norm, response normalisation: against NumPy, with gradients, in every mode."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.ops.declare import raw
from ebbflow.ops.nn import normalization, normalization_ops
from tests.ops.cases import MODES, Case, Refusal, args


def named(name, fn, dims, numpy, **more):
    return Case(fn, args(*dims), numpy=numpy, name=name, **more)


def local(x, radius, bias, alpha, beta):
    total = np.stack([(x[..., max(c - radius, 0) : c + radius + 1] ** 2).sum(-1) for c in range(x.shape[-1])], -1)
    return x / (bias + alpha * total) ** beta


MOMENTS = [
    named("mean", lambda x: normalization.moments(x, [0])[0], ["4 3"], lambda x: x.mean(0)),
    # as in TensorFlow the mean inside the variance counts as a constant, which changes no first gradient
    named("variance", lambda x: normalization.moments(x, [0])[1], ["4 3"], lambda x: x.var(0), smooth=1),
    named(
        "variance kept",
        lambda x: normalization.moments(x, [0, 1], keepdims=True)[1],
        ["2 3"],
        lambda x: x.var(keepdims=True),
        smooth=1,
    ),
    named(
        "weighted mean",
        lambda x: normalization.weighted_moments(x, [0], np.array([[1.0], [3.0]]))[0],
        ["2 3"],
        lambda x: np.average(x, 0, [1, 3]),
    ),
    named(
        "weighted variance",
        lambda x: normalization.weighted_moments(x, [0], np.array([[1.0], [3.0]]))[1],
        ["2 3"],
        lambda x: np.average((x - np.average(x, 0, [1, 3])) ** 2, 0, [1, 3]),
    ),
    named(
        "sufficient_statistics",
        lambda x: raw.Pack(
            list(normalization.normalize_moments(*normalization.sufficient_statistics(x, [0], shift=0.5)))
        ),
        ["4 3"],
        lambda x: np.stack([x.mean(0), x.var(0)]),
    ),
    named(
        "batch_normalization",
        lambda x, m, v, o, s: normalization.batch_normalization(x, m, v * v, o, s, 1e-3),
        ["2 3", "3", "3", "3", "3"],
        lambda x, m, v, o, s: (x - m) / np.sqrt(v * v + 1e-3) * s + o,
    ),
    named(
        "batch_normalization bare",
        lambda x, m, v: normalization.batch_normalization(x, m, v * v, None, None, 1e-3),
        ["2 3", "3", "3"],
        lambda x, m, v: (x - m) / np.sqrt(v * v + 1e-3),
    ),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", MOMENTS, ids=str)
def test_value(case, mode):
    case.check_value(mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", MOMENTS, ids=str)
def test_gradient(case, mode):
    case.check_gradient(mode)


# --- fused batch norm: float32 only, so differences are taken of a float64 twin ---------------------------------------


def fused(x, scale, offset, epsilon=1e-3):
    axes = tuple(range(x.ndim - 1))
    return (x - x.mean(axes)) / np.sqrt(x.var(axes) + epsilon) * scale + offset


def slopes(loss, arrays, step=1e-5):
    """Central differences of a scalar function by all its arguments."""
    result = []
    for i, array in enumerate(arrays):
        slope = np.zeros(array.shape)
        for at in np.ndindex(array.shape):
            ends = []
            for sign in (step, -step):
                moved = [a.copy() for a in arrays]
                moved[i][at] += sign
                ends.append(loss(*moved))
            slope[at] = (ends[0] - ends[1]) / (2 * step)
        result.append(slope)
    return result


def batch_norm_arrays():
    x, scale, offset, weights, again = args("2 2 2 3", "3", "3", "2 2 2 3", "2 2 2 3")
    return x, scale, offset, weights, again


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW", "NDHWC", "NCDHW"])
@pytest.mark.parametrize("training", [True, False])
def test_fused_batch_norm(training, data_format):
    x, scale, offset, *_ = batch_norm_arrays()
    mean, variance = x.mean((0, 1, 2)) + 0.1, x.var((0, 1, 2)) * 1.5
    expected = fused(x, scale, offset) if training else (x - mean) / np.sqrt(variance + 1e-3) * scale + offset
    given = x[:, :, :, None] if "D" in data_format else x
    given = np.moveaxis(given, -1, 1) if data_format.startswith("NC") else given
    y, running_mean, running_variance = normalization.fused_batch_norm(
        *(a.astype(np.float32) for a in (given, scale, offset)),
        None if training else mean.astype(np.float32),
        None if training else variance.astype(np.float32),
        epsilon=1e-3,
        data_format=data_format,
        is_training=training,
    )
    found = np.moveaxis(y.numpy(), 1, -1) if data_format.startswith("NC") else y.numpy()
    np.testing.assert_allclose(found.reshape(x.shape), expected, rtol=1e-4, atol=1e-5)
    if training:
        np.testing.assert_allclose(running_mean.numpy(), x.mean((0, 1, 2)), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(running_variance.numpy(), x.var((0, 1, 2)) * 8 / 7, rtol=1e-5)


def test_running_averages():
    x, scale, offset, *_ = (a.astype(np.float32) for a in batch_norm_arrays())
    old_mean, old_variance = np.ones(3, np.float32), np.full(3, 2, np.float32)
    _, mean, variance = normalization.fused_batch_norm(
        x, scale, offset, old_mean, old_variance, exponential_avg_factor=0.25
    )
    np.testing.assert_allclose(mean.numpy(), 0.75 + 0.25 * x.mean((0, 1, 2)), rtol=1e-5)
    np.testing.assert_allclose(variance.numpy(), 1.5 + 0.25 * x.var((0, 1, 2)) * 8 / 7, rtol=1e-5)


def test_gradients_of_training_go_through_the_statistics():
    x, scale, offset, weights, again = batch_norm_arrays()
    first = slopes(lambda x, s, o: (fused(x, s, o) * weights).sum(), [x, scale, offset])

    def gradient_loss(g, x, s):
        axes = (0, 1, 2)
        r = 1 / np.sqrt(x.var(axes) + 1e-3)
        n = (x - x.mean(axes)) * r
        dx = s * r * (g - g.mean(axes) - n * (g * n).mean(axes))
        return (dx * again).sum() + ((g * n).sum(axes) * scale).sum() + (g.sum(axes) * offset).sum()

    second = slopes(gradient_loss, [weights, x, scale])
    tensors = [tf.constant(a.astype(np.float32)) for a in (x, scale, offset, weights)]
    with tf.GradientTape() as outer:
        outer.watch(tensors)
        with tf.GradientTape() as inner:
            inner.watch(tensors[:3])
            y, *_ = normalization.fused_batch_norm(*tensors[:3])
        ours = inner.gradient(y, tensors[:3], output_gradients=tensors[3])
    for mine, theirs in zip(ours, first, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-3, atol=1e-4)
    upstream = [tf.constant(a.astype(np.float32)) for a in (again, scale, offset)]
    found = outer.gradient(ours, [tensors[3], tensors[0], tensors[1]], output_gradients=upstream)
    for mine, theirs in zip(found, second, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats_have_float32_statistics(dtype):
    x = tf.constant(np.linspace(0, 1, 4096).reshape(16, 16, 16, 1), tf.as_dtype(dtype))
    y, mean, variance = normalization.fused_batch_norm(x, np.ones(1, np.float32), np.zeros(1, np.float32))
    assert (y.dtype.name, mean.dtype.name) == (dtype, "float32")
    np.testing.assert_allclose(mean.numpy(), [0.5], rtol=2e-3)
    np.testing.assert_allclose(variance.numpy(), [1 / 12], rtol=2e-2)


def test_a_large_mean_costs_no_precision():
    x = (1e4 + np.arange(64.0)).reshape(4, 4, 4, 1).astype(np.float32)
    _, _, variance = normalization.fused_batch_norm(x, np.ones(1, np.float32), np.zeros(1, np.float32))
    np.testing.assert_allclose(variance.numpy(), [np.arange(64.0).var() * 64 / 63], rtol=1e-5)


def test_no_images_at_all():
    y, mean, _ = normalization.fused_batch_norm(
        np.zeros((0, 2, 2, 3), np.float32), np.ones(3, np.float32), np.zeros(3, np.float32)
    )
    assert y.shape == (0, 2, 2, 3)
    assert np.isnan(mean.numpy()).all()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("data_format,dims", [("NHWC", (4, 2, 2, 0)), ("NCHW", (4, 0, 2, 2))])
def test_no_channels_at_all(data_format, dims, training):
    x, none = tf.zeros(dims), tf.zeros([0])
    old = () if training else (none, none)
    with tf.GradientTape() as tape:
        tape.watch([x, none])
        y, mean, _ = normalization.fused_batch_norm(x, none, none, *old, is_training=training, data_format=data_format)
    assert y.shape == dims and mean.shape == (0,)
    assert [g.shape for g in tape.gradient(y, [x, none])] == [dims, (0,)]


REFUSALS = [
    Refusal(
        lambda x, s: normalization.fused_batch_norm(x, s, s)[0],
        args("2 2 2 3", "2", dtype="float32"),
        says="scale must have the same number of elements as the channels of x",
        name="scale",
    ),
    Refusal(
        lambda x, s: normalization.fused_batch_norm(x, s, s)[0],
        args("2 3", "3", dtype="float32"),
        says="4-dimensional",
        name="rank",
    ),
    Refusal(
        lambda x, s: normalization.fused_batch_norm(x, s, s, is_training=False)[0],
        args("2 2 2 3", "3", dtype="float32"),
        says="Both `mean` and `variance` must be specified",
        name="statistics",
    ),
    Refusal(normalization.lrn, args("2 3", dtype="float32"), says="4-dimensional", name="lrn"),
    Refusal(
        lambda x: normalization.lrn(x, depth_radius=-1),
        args("1 1 1 3", dtype="float32"),
        says="negative",
        name="radius",
    ),
]


@pytest.mark.parametrize("case", REFUSALS, ids=str)
def test_refused(case):
    case.check_value("eager")


def test_refused_when_a_graph_is_built():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 2"):
        normalization.fused_batch_norm(
            np.zeros((2, 2, 2, 3), np.float32), np.zeros(2, np.float32), np.zeros(2, np.float32)
        )


# --- local response normalisation -------------------------------------------------------------------------------------

LOCAL = [(1, 1.0, 0.5, 0.75), (0, 2.0, 1.0, 0.5), (5, 1.0, 0.1, 1.0)]


@pytest.mark.parametrize("radius, bias, alpha, beta", LOCAL)
def test_lrn(radius, bias, alpha, beta):
    (x,) = args("1 2 2 4")
    found = normalization.lrn(x.astype(np.float32), radius, bias, alpha, beta)
    np.testing.assert_allclose(found.numpy(), local(x, radius, bias, alpha, beta), rtol=1e-5)


@pytest.mark.parametrize("radius, bias, alpha, beta", LOCAL)
def test_gradients_of_lrn(radius, bias, alpha, beta):
    x, weights, again = args("1 1 2 4", "1 1 2 4", "1 1 2 4")
    (first,) = slopes(lambda x: (local(x, radius, bias, alpha, beta) * weights).sum(), [x])

    def gradient_loss(x, g):
        return float((slopes(lambda z: (local(z, radius, bias, alpha, beta) * g).sum(), [x], 1e-4)[0] * again).sum())

    second = slopes(gradient_loss, [x, weights], 1e-3)
    tensor, upstream = (tf.constant(a.astype(np.float32)) for a in (x, weights))
    with tf.GradientTape() as outer:
        outer.watch([tensor, upstream])
        with tf.GradientTape() as inner:
            inner.watch(tensor)
            y = normalization.lrn(tensor, radius, bias, alpha, beta)
        ours = inner.gradient(y, tensor, output_gradients=upstream)
    np.testing.assert_allclose(ours.numpy(), first, rtol=1e-4, atol=1e-5)
    found = outer.gradient(ours, [tensor, upstream], output_gradients=tf.constant(again.astype(np.float32)))
    for mine, theirs in zip(found, second, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-3, atol=1e-3)


def test_every_kind_of_batch_norm_says_the_same():
    x, scale, offset, *_ = (a.astype(np.float32) for a in batch_norm_arrays())
    empty = np.zeros(0, np.float32)
    answers = [
        op(x, scale, offset, empty, empty)[:5]
        for op in (
            normalization_ops.FusedBatchNorm,
            normalization_ops.FusedBatchNormV2,
            normalization_ops.FusedBatchNormV3,
        )
    ]
    for others in zip(*answers, strict=True):
        for other in others[1:]:
            np.testing.assert_array_equal(other.numpy(), others[0].numpy())
