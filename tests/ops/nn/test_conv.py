"""Convolutions against the definition, written out as loops; with gradients, in every mode."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.core import context
from ebbflow.ops.declare import raw
from ebbflow.ops.nn import conv, conv_arrays, depthwise
from tests.ops.cases import MODES, Case, Refusal, args


def pads_of(sizes, windows, strides, padding, dilations):
    """(before, after) for every spatial axis."""
    if not isinstance(padding, str):
        return padding
    if padding == "VALID":
        return [(0, 0)] * len(sizes)
    needed = [
        max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        for n, k, s, d in zip(sizes, windows, strides, dilations, strict=True)
    ]
    return [(p // 2, p - p // 2) for p in needed]


def by_definition(x, f, strides, padding, dilations=None):
    """The convolution of x (batch, …, channels) with f (…, channels, outputs), one output at a time."""
    n = f.ndim - 2
    dilations = dilations or [1] * n
    pads = pads_of(x.shape[1:-1], f.shape[:n], strides, padding, dilations)
    x = np.pad(x, [(0, 0), *pads, (0, 0)])
    reach = [(k - 1) * d + 1 for k, d in zip(f.shape, dilations, strict=False)]
    out = [(m - r) // s + 1 for m, r, s in zip(x.shape[1:], reach, strides, strict=False)]
    groups = x.shape[-1] // f.shape[-2]
    ins, outs = f.shape[-2], f.shape[-1] // groups
    y = np.zeros((x.shape[0], *out, f.shape[-1]))
    for at in np.ndindex(*out):
        window = x[
            (
                slice(None),
                *(slice(i * s, i * s + r, d) for i, s, r, d in zip(at, strides, reach, dilations, strict=True)),
            )
        ]
        for g in range(groups):
            part, filters = window[..., g * ins : (g + 1) * ins], f[..., g * outs : (g + 1) * outs]
            y[(slice(None), *at, slice(g * outs, (g + 1) * outs))] = np.tensordot(part, filters, n + 1)
    return y


def depthwise_by_definition(x, f, strides, padding, dilations=None):
    """Each channel's convolution, multiplier outputs a channel."""
    parts = [
        by_definition(x[..., c : c + 1], f[:, :, c : c + 1], strides, padding, dilations) for c in range(x.shape[-1])
    ]
    return np.concatenate(parts, axis=-1)


def conv_case(x, f, strides=(1, 1), padding="SAME", dilations=(1, 1), smooth=2):
    """A row for conv2d in both data formats."""
    explicit = padding if isinstance(padding, str) else [[0, 0], *padding, [0, 0]]
    name = f"conv2d {strides} {padding} {dilations}"

    def ours(a, b):
        return conv.conv2d(a, b, list(strides), explicit, dilations=list(dilations))

    return Case(
        ours,
        args(x, f),
        numpy=lambda a, b: by_definition(a, b, strides, padding, list(dilations)),
        name=name,
        smooth=smooth,
    )


def channels_first(case):
    """The same row with channels before the spatial axes."""
    x, f = case.arguments
    strides, padding, dilations = case.options
    spread = [[0, 0], [0, 0], *padding] if not isinstance(padding, str) else padding

    def ours(a, b):
        return conv.conv2d(a, b, list(strides), spread, data_format="NCHW", dilations=list(dilations))

    def numpy(a, b):
        y = by_definition(np.moveaxis(a, 1, -1), b, strides, padding, list(dilations))
        return np.moveaxis(y, -1, 1)

    return Case(ours, [np.moveaxis(x, -1, 1), f], numpy=numpy, name="NCHW " + case.name)


SETTINGS = [
    ("1 3 3 2", "2 2 2 2", (1, 1), "SAME", (1, 1)),
    ("2 3 3 1", "2 2 1 2", (1, 1), "VALID", (1, 1)),
    ("1 4 4 2", "3 3 2 1", (2, 2), "SAME", (1, 1)),
    ("1 5 4 1", "3 2 1 2", (2, 1), "VALID", (1, 1)),
    ("1 5 5 1", "2 2 1 1", (1, 1), "SAME", (2, 2)),
    ("1 5 5 1", "3 2 1 1", (1, 1), "VALID", (2, 3)),
    ("1 3 3 1", "2 2 1 1", (1, 1), ((1, 2), (0, 1)), (1, 1)),
    ("1 3 3 2", "1 1 2 3", (1, 1), "SAME", (1, 1)),
    ("1 4 4 2", "1 1 2 2", (2, 2), "SAME", (1, 1)),
    ("1 3 3 4", "2 2 2 4", (1, 1), "SAME", (1, 1)),  # two groups
    ("1 3 3 4", "2 2 1 4", (1, 1), "VALID", (1, 1)),  # four
    ("1 2 2 1", "3 3 1 1", (1, 1), "SAME", (1, 1)),  # a window larger than the image
    ("0 3 3 2", "2 2 2 2", (1, 1), "SAME", (1, 1)),
    ("1 0 3 2", "2 2 2 2", (1, 1), "SAME", (1, 1)),
]


def image_cases():
    for setting in SETTINGS:
        case = conv_case(*setting)
        case.options = setting[2:]
        yield case
        yield channels_first(case)


def named(name, fn, dims, numpy, **more):
    return Case(fn, args(*dims), numpy=numpy, name=name, **more)


OTHERS = [
    named(
        "conv1d",
        lambda x, f: conv.conv1d(x, f, 1, "SAME"),
        ["2 4 2", "3 2 2"],
        lambda x, f: by_definition(x, f, [1], "SAME"),
    ),
    named(
        "conv1d strided",
        lambda x, f: conv.conv1d(x, f, 2, "VALID"),
        ["1 5 1", "2 1 2"],
        lambda x, f: by_definition(x, f, [2], "VALID"),
    ),
    named(
        "conv1d NCW",
        lambda x, f: conv.conv1d(x, f, 1, "SAME", data_format="NCW"),
        ["1 2 4", "3 2 1"],
        lambda x, f: np.moveaxis(by_definition(np.moveaxis(x, 1, -1), f, [1], "SAME"), -1, 1),
    ),
    named(
        "conv3d",
        lambda x, f: conv.conv3d(x, f, [1, 1, 2, 1, 1], "SAME"),
        ["1 2 3 2 1", "2 2 1 1 2"],
        lambda x, f: by_definition(x, f, [1, 2, 1], "SAME"),
    ),
    named(
        "conv3d NCDHW",
        lambda x, f: conv.conv3d(x, f, 1, "VALID", data_format="NCDHW"),
        ["1 2 2 2 2", "2 1 2 2 1"],
        lambda x, f: np.moveaxis(by_definition(np.moveaxis(x, 1, -1), f, [1, 1, 1], "VALID"), -1, 1),
    ),
    named(
        "depthwise_conv2d",
        lambda x, f: depthwise.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME"),
        ["1 3 3 2", "2 2 2 2"],
        lambda x, f: depthwise_by_definition(x, f, [1, 1], "SAME"),
    ),
    named(
        "depthwise_conv2d strided",
        lambda x, f: depthwise.depthwise_conv2d(x, f, [1, 2, 2, 1], "VALID"),
        ["2 4 4 2", "2 2 2 1"],
        lambda x, f: depthwise_by_definition(x, f, [2, 2], "VALID"),
    ),
    named(
        "depthwise_conv2d dilated",
        lambda x, f: depthwise.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME", dilations=[2, 2]),
        ["1 4 4 2", "2 2 2 1"],
        lambda x, f: depthwise_by_definition(x, f, [1, 1], "SAME", [2, 2]),
    ),
    named(
        "depthwise_conv2d NCHW",
        lambda x, f: depthwise.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME", data_format="NCHW"),
        ["1 2 3 3", "2 2 2 2"],
        lambda x, f: np.moveaxis(depthwise_by_definition(np.moveaxis(x, 1, -1), f, [1, 1], "SAME"), -1, 1),
    ),
    named(
        "separable_conv2d",
        lambda x, d, p: depthwise.separable_conv2d(x, d, p, [1, 1, 1, 1], "SAME"),
        ["1 3 3 2", "2 2 2 1", "1 1 2 2"],
        lambda x, d, p: by_definition(depthwise_by_definition(x, d, [1, 1], "SAME"), p, [1, 1], "VALID"),
        smooth=1,
    ),
    named(
        "atrous_conv2d",
        lambda x, f: conv.atrous_conv2d(x, f, 2, "SAME"),
        ["1 5 4 1", "2 2 1 2"],
        lambda x, f: by_definition(x, f, [1, 1], "SAME", [2, 2]),
    ),
    named(
        "convolution dilated",
        lambda x, f: conv.convolution(x, f, padding="VALID", dilations=[2, 1]),
        ["1 5 4 1", "2 2 1 1"],
        lambda x, f: by_definition(x, f, [1, 1], "VALID", [2, 1]),
    ),
]


def transposed(x, f, sizes, strides, padding):
    """The transpose by its definition: the gradient of Σ conv(z, f)·x for z, which is linear in z."""
    y = np.zeros(sizes)
    for at in np.ndindex(*sizes):
        z = np.zeros(sizes)
        z[at] = 1
        y[at] = (by_definition(z, f, strides, padding) * x).sum()
    return y


TRANSPOSED = [
    named(
        "conv2d_transpose",
        lambda x, f: conv.conv2d_transpose(x, f, [1, 3, 4, 1], 2),
        ["1 2 2 2", "2 3 1 2"],
        lambda x, f: transposed(x, f, (1, 3, 4, 1), [2, 2], "SAME"),
    ),
    named(
        "conv1d_transpose",
        lambda x, f: conv.conv1d_transpose(x, f, [1, 5, 2], 2, "VALID"),
        ["1 2 1", "3 2 1"],
        lambda x, f: transposed(x, f, (1, 5, 2), [2], "VALID"),
    ),
    named(
        "conv3d_transpose",
        lambda x, f: conv.conv3d_transpose(x, f, [1, 2, 2, 2, 1], 1),
        ["1 2 2 2 2", "2 1 2 1 2"],
        lambda x, f: transposed(x, f, (1, 2, 2, 2, 1), [1, 1, 1], "SAME"),
    ),
    named(
        "conv_transpose",
        lambda x, f: conv.conv_transpose(x, f, [1, 3, 3, 1], 1, "VALID"),
        ["1 2 2 2", "2 2 1 2"],
        lambda x, f: transposed(x, f, (1, 3, 3, 1), [1, 1], "VALID"),
    ),
]

CASES = [*image_cases(), *OTHERS, *TRANSPOSED]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_value(case, mode):
    case.check_value(mode)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradient(case):
    case.check_gradient("eager")


@pytest.mark.parametrize("case", CASES[:8] + OTHERS[6:8], ids=str)
def test_gradient_in_graphs(case):
    case.check_gradient("graph")


def conv2d(**more):
    return lambda x, f: raw.Conv2D(x, f, **{"strides": [1, 1, 1, 1], "padding": "SAME", **more})


RUN_TIME = [
    Refusal(conv2d(), args("1 5 5 3", "3 3 2 6"), says="evenly divisible by filter depth: 3 vs 2", name="channels"),
    Refusal(conv2d(), args("1 5 5 4", "3 3 2 5"), says="divisible by number of groups: 5 vs 2", name="groups"),
    Refusal(
        conv2d(padding="VALID"), args("1 1 5 2", "4 3 2 6"), says="Computed output size would be negative", name="size"
    ),
    Refusal(conv2d(), args("5 5 2", "3 3 2 6"), says="4-dimensional", name="rank"),
    Refusal(conv2d(strides=[1, 1, 1]), args("1 5 5 2", "3 3 2 6"), says="must specify 4 dimensions", name="strides"),
    Refusal(
        conv2d(strides=[1, 0, 1, 1]), args("1 5 5 2", "3 3 2 6"), says="Stride must be > 0, but got 0", name="stride 0"
    ),
    Refusal(conv2d(dilations=[2, 1, 1, 1]), args("1 5 5 2", "3 3 2 6"), says="batch and depth", name="dilated batch"),
    Refusal(conv2d(), args("1 5 5 2", "0 3 2 6"), says="must not have zero elements", name="no filter"),
    Refusal(
        conv2d(padding="EXPLICIT", explicit_paddings=[0, 0, -1, 1, 1, 1, 0, 0]),
        args("1 5 5 2", "3 3 2 6"),
        says="nonnegative",
        name="negative padding",
    ),
    Refusal(
        lambda f, g: raw.Conv2DBackpropInput([1, 5, 5, 2], f, g, strides=[1, 1, 1, 1], padding="SAME"),
        args("3 3 2 4", "1 4 5 4"),
        says="doesn't match computed",
        name="input gradient",
    ),
    Refusal(
        lambda f, g: raw.Conv2DBackpropInput([1, -5, 5, 2], f, g, strides=[1, 1, 1, 1], padding="SAME"),
        args("3 3 2 4", "1 5 5 4"),
        says="non-negative size, got -5",
        name="negative size",
    ),
    Refusal(
        lambda x, g: raw.Conv2DBackpropFilter(x, [3, 3, 2], g, strides=[1, 1, 1, 1], padding="SAME"),
        args("1 5 5 2", "1 5 5 4"),
        says="filter_sizes",
        name="filter sizes",
    ),
]
WHEN_BUILT = [
    Refusal(conv2d(), args("1 5 5 3", "3 3 2 6"), says="Depth of input (3) is not a multiple", name="channels"),
    Refusal(
        conv2d(padding="VALID"),
        args("1 2 5 2", "3 3 2 6"),
        says="Negative dimension size caused by subtracting 3 from 2",
        name="size",
    ),
    Refusal(conv2d(), args("5 5 2", "3 3 2 6"), says="Shape must be rank 4 but is rank 3", name="rank"),
    Refusal(
        conv2d(strides=[1, 1, 1]),
        args("1 5 5 2", "3 3 2 6"),
        says="stride attribute to contain 4 values",
        name="strides",
    ),
]


@pytest.mark.parametrize("case", RUN_TIME, ids=str)
def test_refused(case):
    case.error = tf.errors.OpError
    case.check_value("eager")


@pytest.mark.parametrize("case", WHEN_BUILT, ids=str)
def test_refused_when_a_graph_is_built(case):
    case.check_value("graph")


@pytest.mark.parametrize("strides", [[1, 2], 5, [1, 2, 3]])
def test_strides_are_written_in_three_ways(strides):
    x, f = args("1 6 6 1", "2 2 1 1")
    if strides == [1, 2, 3]:
        with pytest.raises(ValueError, match="should be of length 1, 2 or 4"):
            conv.conv2d(x, f, strides, "SAME")
        return
    full = [1, *strides, 1] if isinstance(strides, list) else [1, strides, strides, 1]
    np.testing.assert_array_equal(
        conv.conv2d(x, f, strides, "SAME").numpy(), conv.conv2d_v1(x, f, full, "SAME").numpy()
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int32"])
def test_dtypes(dtype):
    x, f = args("1 4 4 3", "2 2 3 2", dtype=dtype)
    found = conv.conv2d(x, f, 1, "SAME")
    expected = by_definition(x.astype(np.float64), f.astype(np.float64), [1, 1], "SAME")
    assert found.dtype.name == dtype
    np.testing.assert_allclose(
        np.asarray(found.numpy()).astype(np.float64),
        expected,
        rtol=2e-2 if "16" in dtype else 1e-5,
        atol=2e-2 if "16" in dtype else 1e-5,
    )


@pytest.mark.parametrize("block", [1, 400, 5000])
def test_blocks_of_any_size_give_one_answer(monkeypatch, block):
    x, f = args("3 6 5 2", "3 2 2 4")
    options = {"strides": [1, 2, 1, 1], "padding": "SAME"}
    whole = raw.Conv2D(x, f, **options)
    back = (
        raw.Conv2DBackpropInput([3, 6, 5, 2], f, whole, **options),
        raw.Conv2DBackpropFilter(x, [3, 2, 2, 4], whole, **options),
    )
    monkeypatch.setattr(conv_arrays, "BLOCK_BYTES", block)
    np.testing.assert_allclose(raw.Conv2D(x, f, **options).numpy(), whole.numpy(), rtol=1e-12)
    np.testing.assert_allclose(
        raw.Conv2DBackpropInput([3, 6, 5, 2], f, whole, **options).numpy(), back[0].numpy(), rtol=1e-12
    )
    np.testing.assert_allclose(
        raw.Conv2DBackpropFilter(x, [3, 2, 2, 4], whole, **options).numpy(), back[1].numpy(), rtol=1e-12
    )


@pytest.mark.parametrize("mode", MODES)
def test_several_batch_axes(mode):
    x, f = args("2 3 3 3 1", "2 2 1 1")
    expected = by_definition(x.reshape(6, 3, 3, 1), f, [1, 1], "SAME").reshape(2, 3, 3, 3, 1)
    if mode == "eager":
        found = conv.conv2d(tf.constant(x), f, 1, "SAME").numpy()
    else:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            given = tf.compat.v1.placeholder(tf.float64, [None, 3, 3, 3, 1])
            found = session.run(conv.conv2d(given, f, 1, "SAME"), {given: x})
    np.testing.assert_allclose(found, expected)


def test_sizes_of_unknown_batches():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 8, None, 3])
        y = conv.conv2d(x, np.zeros((3, 3, 3, 4), np.float32), 2, "SAME")
        assert y.shape.as_list() == [None, 4, None, 4]
        z = conv.conv2d_transpose(y, np.zeros((3, 3, 5, 4), np.float32), [7, 8, 8, 5], 2)
        assert z.shape.as_list() == [None, 8, 8, 5]


def test_the_first_era_takes_an_unknown_batch_from_the_output_shape(monkeypatch):
    monkeypatch.setattr(context.switches, "tf1", True)
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 4, 4, 4])
        z = conv.conv2d_transpose(x, np.zeros((3, 3, 5, 4), np.float32), [7, 8, 8, 5], 2)
        assert z.shape.as_list() == [7, 8, 8, 5]


FITS_NOWHERE = {
    "conv2d": lambda x, s: tf.nn.conv2d(x, tf.ones([5, 5, 1, 2]), s, "VALID"),
    "depthwise": lambda x, s: tf.nn.depthwise_conv2d(x, tf.ones([5, 5, 1, 2]), [1, s, s, 1], "VALID"),
    "conv3d": lambda x, s: tf.nn.conv3d(x[..., None], tf.ones([5, 5, 1, 1, 2]), [1, s, s, 1, 1], "VALID"),
    "max": lambda x, s: tf.nn.max_pool2d(x, 5, s, "VALID"),
    "average": lambda x, s: tf.nn.avg_pool2d(x, 5, s, "VALID"),
}


@pytest.mark.parametrize("where", ["eagerly", "in a function"])
@pytest.mark.parametrize("name", FITS_NOWHERE)
def test_a_window_that_is_a_little_too_large_fits_nowhere(name, where):
    """As TensorFlow counts: there are (3 - 5 + 2) // 2 = 0 windows; (3 - 5 + 1) // 1 are an error."""

    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = FITS_NOWHERE[name](x, 2)
        return tf.size(y), tape.gradient(y, x)

    if where == "in a function":
        slopes = tf.function(slopes, input_signature=[tf.TensorSpec([None, None, None, 1])])
    for _ in range(3):  # by the executor and by a Program
        count, slope = slopes(tf.ones([1, 3, 3, 1]))
        assert int(count) == 0 and not slope.numpy().any() and slope.shape == (1, 3, 3, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="would be negative: -1"):
        FITS_NOWHERE[name](tf.ones([1, 3, 3, 1]), 1)


def test_strides_and_windows_may_be_tensors():
    x, f = np.ones([1, 4, 4, 1], "f"), np.ones([1, 1, 1, 1], "f")
    assert conv.conv2d(x, f, tf.constant([1, 2, 2, 1]), "SAME").shape == [1, 2, 2, 1]
    assert tf.nn.max_pool3d(x[..., None], tf.constant([2, 2, 1]), np.array([2, 2, 1]), "SAME").shape == [1, 2, 2, 1, 1]


@pytest.mark.parametrize("graph", [False, True])
def test_several_batch_axes_of_arrays_and_of_the_op_of_all_ranks(graph):
    x = np.random.default_rng(3).normal(size=[2, 5, 4, 3, 2]).astype("f")
    f = np.ones([2, 2, 2, 3], "f")
    wanted = conv.conv2d(x.reshape(10, 4, 3, 2), f, 1, "SAME").numpy().reshape(2, 5, 4, 3, 3)
    forms = [
        lambda x, f: conv.conv2d(x, f, 1, "SAME"),
        lambda x, f: raw.Conv(x, f, strides=[1, 1, 1, 1], padding="SAME", batch_dims=2),
    ]
    for form in forms:
        found = tf.function(form)(x, f) if graph else form(x, f)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    slopes = []
    for form in forms:
        given = tf.constant(x), tf.constant(f)
        with tf.GradientTape() as tape:
            tape.watch(given)
            total = tf.reduce_sum(form(*given) ** 2)
        slopes.append(tape.gradient(total, given))
    for ours, other in zip(*slopes, strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-4)


def test_images_with_too_few_axes_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 or 3 axes of space"):
        raw.Conv(np.ones([2, 4, 3, 2], "f"), np.ones([2, 2, 2, 3], "f"), strides=[1] * 4, padding="SAME", batch_dims=2)
