"""oneDNN gives what the reference kernels give: every op it serves, over shapes and attrs, single and prepared."""

from __future__ import annotations

import numpy as np
import pytest

from ebbflow.core import dtypes
from ebbflow.core.op import Known
from ebbflow.core.registry import registry
from ebbflow.engines.onednn import register
from tests.machine import ONEDNN

pytestmark = ONEDNN

SERVICES = {service.op: service for service in register.SERVICES}


def floats(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int32)


def close(found, expected):
    """Equal to rounding: sums of many products are compared with the size of the largest."""
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        scale = np.abs(b[np.isfinite(b)]).max(initial=1)
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5 * scale)


def reference(op, arrays, attrs):
    with np.errstate(all="ignore"):
        found = op.kernel_fn(np, *arrays, **{name: attrs[name] for name in op.kernel_attrs})
    return list(found) if isinstance(found, (tuple, list)) else [found]


def settled(op, attrs):
    """All attrs of a float32 call, those not given by their defaults."""
    given = {name: attr.default for name, attr in op.signature.attrs.items() if attr.has_default}
    given |= {name: dtypes.float32 for name in ("T", "U", "Ta", "Tb", "Tout", "TInput") if name in op.signature.attrs}
    return {**given, **attrs}


def check(name, arrays, served=True, **attrs):
    """Compare a call with the reference: as an engine, and prepared as for a Program if it is served (None: either)."""
    op, service = registry[name], SERVICES[name]
    attrs = settled(op, attrs)
    expected = reference(op, arrays, attrs)
    if service.least[0] is not None:
        found = register._kernel(service, op, arrays, attrs)
        close(list(found) if isinstance(found, (tuple, list)) else [found], expected)
    knowns = [Known(a.shape, dtypes.from_numpy(a.dtype), a) for a in arrays]
    eager_for_all = service._replace(least=(0, 0))
    call = register.prepared(eager_for_all, knowns, attrs, [e.shape for e in expected])
    assert served is None or (call is not None) == served
    if call is not None:
        outputs = [np.full(e.shape, 77, np.float32) for e in expected]
        call(*arrays, *outputs)
        close(outputs, expected)
        call(*arrays, *outputs)  # once more, in the same memory
        close(outputs, expected)


# --- convolution ------------------------------------------------------------------------------------------------------

S1, S2, S12 = (1, 1, 1, 1), (1, 2, 2, 1), (1, 1, 2, 1)
CONVS = [  # x, filter, attrs
    ((2, 9, 9, 3), (3, 3, 3, 8), {}),
    ((2, 9, 8, 16), (3, 3, 16, 32), {"padding": "VALID"}),
    ((2, 9, 8, 16), (3, 3, 16, 32), {"strides": S2}),
    ((2, 10, 10, 16), (3, 3, 16, 32), {"strides": S2, "padding": "VALID"}),  # a row and a column left over
    ((2, 9, 8, 5), (2, 3, 5, 7), {"strides": (1, 2, 3, 1)}),
    ((1, 12, 12, 8), (3, 3, 8, 8), {"dilations": S2}),
    ((1, 12, 12, 8), (3, 3, 8, 8), {"dilations": (1, 2, 3, 1), "padding": "VALID"}),
    ((1, 9, 9, 8), (3, 3, 8, 4), {"padding": "EXPLICIT", "explicit_paddings": (0, 0, 2, 1, 0, 3, 0, 0)}),
    ((2, 7, 7, 8), (1, 1, 8, 16), {}),
    ((2, 7, 7, 8), (1, 1, 8, 16), {"strides": S2}),
    ((2, 1, 30, 4), (1, 5, 4, 6), {"strides": S12}),  # how one spatial axis looks
    ((2, 6, 6, 12), (3, 3, 4, 9), {}),  # three groups
    ((2, 6, 6, 32), (3, 3, 16, 32), {"strides": S2}),
    ((1, 5, 5, 2), (7, 7, 2, 3), {}),  # a window larger than the image
    ((3, 4, 4, 1), (2, 2, 1, 1), {}),
    ((2, 3, 9, 9), (3, 3, 3, 8), {"data_format": "NCHW"}),
    ((2, 16, 9, 8), (3, 3, 16, 32), {"data_format": "NCHW", "strides": (1, 1, 2, 2), "padding": "VALID"}),
    ((2, 12, 6, 6), (3, 3, 4, 9), {"data_format": "NCHW"}),
    (
        (1, 8, 9, 9),
        (3, 3, 8, 4),
        {"data_format": "NCHW", "padding": "EXPLICIT", "explicit_paddings": (0, 0, 0, 0, 2, 1, 0, 3)},
    ),
]
VOLUMES = [
    ((1, 5, 6, 7, 4), (3, 3, 3, 4, 8), {}),
    ((1, 5, 6, 7, 4), (2, 3, 1, 4, 8), {"strides": (1, 2, 1, 2, 1), "padding": "VALID"}),
    ((1, 7, 7, 7, 8), (3, 3, 3, 8, 8), {"dilations": (1, 2, 2, 2, 1)}),
    ((1, 4, 5, 6, 7), (3, 3, 3, 4, 8), {"data_format": "NCDHW"}),
]
DEPTHWISE = [
    ((2, 9, 9, 16), (3, 3, 16, 1), {}),
    ((2, 9, 9, 5), (3, 3, 5, 1), {"strides": S2}),
    ((2, 9, 9, 6), (3, 3, 6, 3), {"padding": "VALID"}),
    ((2, 9, 9, 16), (3, 3, 16, 1), {"dilations": S2}),
    ((2, 9, 9, 1), (3, 3, 1, 4), {}),
    ((1, 8, 7, 7), (3, 3, 8, 2), {"data_format": "NCHW"}),
    ((1, 7, 7, 8), (3, 3, 8, 1), {"padding": "EXPLICIT", "explicit_paddings": (0, 0, 1, 2, 0, 1, 0, 0)}),
]


def check_conv(name, version, x_dims, f_dims, attrs):
    rank = len(x_dims)
    attrs = {"strides": (1,) * rank, "padding": "SAME", **attrs}
    x, f = floats(*x_dims), floats(*f_dims, seed=1)
    forward = registry[name]
    y = reference(forward, [x, f], settled(forward, attrs))[0]
    dy = floats(*y.shape, seed=2)
    channels = x_dims[1 if attrs.get("data_format", "NHWC").startswith("NC") else -1]
    check(name, [x, f], **attrs)
    check(f"{name}BackpropInput{version}", [ints(*x_dims), f, dy], channels > 1, **attrs)
    check(f"{name}BackpropFilter{version}", [x, ints(*f_dims), dy], **attrs)


@pytest.mark.parametrize(("x", "f", "attrs"), CONVS, ids=str)
def test_conv2d(x, f, attrs):
    check_conv("Conv2D", "", x, f, attrs)


@pytest.mark.parametrize(("x", "f", "attrs"), VOLUMES, ids=str)
def test_conv3d(x, f, attrs):
    check_conv("Conv3D", "V2", x, f, attrs)


@pytest.mark.parametrize(("x", "f", "attrs"), DEPTHWISE, ids=str)
def test_depthwise(x, f, attrs):
    check_conv("DepthwiseConv2dNative", "", x, f, attrs)


# --- pooling ----------------------------------------------------------------------------------------------------------

POOLS = [
    ((2, 8, 8, 16), (1, 2, 2, 1), S2, {}),
    ((2, 9, 9, 16), (1, 3, 3, 1), S2, {}),
    ((2, 9, 7, 5), (1, 3, 2, 1), (1, 2, 3, 1), {"padding": "VALID"}),
    ((2, 7, 7, 8), (1, 7, 7, 1), S1, {"padding": "VALID"}),
    ((1, 6, 6, 4), (1, 3, 3, 1), S1, {}),
    ((2, 5, 9, 9), (1, 1, 3, 3), (1, 1, 2, 2), {"data_format": "NCHW"}),
    ((2, 16, 8, 8), (1, 1, 2, 2), (1, 1, 2, 2), {"data_format": "NCHW", "padding": "VALID"}),
]


@pytest.mark.parametrize(("x", "ksize", "strides", "more"), POOLS, ids=str)
def test_pool(x, ksize, strides, more):
    attrs = {"ksize": ksize, "strides": strides, "padding": "SAME", **more}
    image = np.maximum(floats(*x), 0)  # many elements are equal: the gradient must go to the first
    y = reference(registry["MaxPool"], [image], settled(registry["MaxPool"], attrs))[0]
    dy = floats(*y.shape, seed=3)
    check("MaxPool", [image], **attrs)
    check("MaxPoolGrad", [image, y, dy], **attrs)
    check("AvgPool", [image], **attrs)
    check("AvgPoolGrad", [ints(*x), dy], **attrs)
    windows = [ints(*attrs.pop("ksize")), ints(*attrs.pop("strides"))]
    check("MaxPoolV2", [image, *windows], **attrs)
    check("MaxPoolGradV2", [image, y, dy, *windows], **attrs)


def test_pool_with_explicit_padding():
    x = floats(2, 9, 9, 8)
    attrs = {"ksize": (1, 3, 3, 1), "strides": S2, "padding": "EXPLICIT", "explicit_paddings": (0, 0, 1, 2, 0, 1, 0, 0)}
    y = reference(registry["MaxPool"], [x], settled(registry["MaxPool"], attrs))[0]
    check("MaxPool", [x], **attrs)
    check("MaxPoolGrad", [x, y, floats(*y.shape)], **attrs)


@pytest.mark.parametrize("data_format", ["NDHWC", "NCDHW"])
def test_pool_of_volumes(data_format):
    x, ksize, strides = (1, 5, 6, 7, 8), (1, 2, 3, 2, 1), (1, 2, 1, 2, 1)
    if data_format == "NCDHW":
        ksize, strides = (1, 1, 2, 3, 2), (1, 1, 2, 1, 2)
    attrs = {"ksize": ksize, "strides": strides, "padding": "SAME", "data_format": data_format}
    y = reference(registry["MaxPool3D"], [floats(*x)], settled(registry["MaxPool3D"], attrs))[0]
    check("MaxPool3D", [floats(*x)], **attrs)
    check("AvgPool3D", [floats(*x)], **attrs)
    check("AvgPool3DGrad", [ints(*x), floats(*y.shape)], **attrs)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_pool_of_what_is_no_number(data_format):
    """A window of nothing but -inf or NaN stays what it is, and its gradient goes where it should."""
    x = floats(2, 8, 8, 8)
    x[0, 0, 0], x[0, :2, 2:4], x[0, 2:4, :2], x[1, 4:6, 4:6], x[1, 4, 5] = np.nan, -np.inf, np.nan, np.nan, -np.inf
    attrs = {"ksize": (1, 2, 2, 1), "strides": S2, "padding": "SAME", "data_format": data_format}
    if data_format == "NCHW":
        x, attrs["ksize"], attrs["strides"] = np.moveaxis(x, -1, 1).copy(), (1, 1, 2, 2), (1, 1, 2, 2)
    y = reference(registry["MaxPool"], [x], settled(registry["MaxPool"], attrs))[0]
    assert np.isnan(y).any() and np.isneginf(y).any()
    check("MaxPool", [x], **attrs)
    check("MaxPoolGrad", [x, y, floats(*y.shape)], **attrs)


# --- normalisation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["", "V2", "V3"])
@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("factor", [1.0, 0.3])
def test_batch_norm(version, is_training, data_format, factor):
    x = floats(4, 5, 6, 7) * 3 + 50  # a large mean must not cost precision
    x = x if data_format == "NHWC" else np.moveaxis(x, -1, 1).copy()
    scale, offset, mean, variance = floats(7), floats(7, seed=1), floats(7, seed=2) + 50, np.abs(floats(7, seed=3)) + 5
    attrs = {
        "epsilon": 1e-3,
        "exponential_avg_factor": factor,
        "is_training": is_training,
        "data_format": data_format,
    }
    plain_loops = is_training and data_format == "NCHW"
    check(f"FusedBatchNorm{version}", [x, scale, offset, mean, variance], not plain_loops, **attrs)
    attrs.pop("exponential_avg_factor")
    inputs = [floats(*x.shape, seed=4), x, scale, mean, variance] + (
        [np.zeros((), np.float32)] if version == "V3" else []
    )
    check(f"FusedBatchNormGrad{version}", inputs, **attrs)


def test_batch_norm_of_volumes_without_given_statistics():
    nothing = np.zeros(0, np.float32)
    attrs = {"data_format": "NDHWC", "is_training": True, "epsilon": 1e-3}
    check("FusedBatchNormV3", [floats(2, 3, 4, 5, 6), floats(6), floats(6), nothing, nothing], **attrs)


# --- softmax and products ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dims", [(7,), (3, 5), (2, 3, 40), (1, 1), (600, 3)], ids=str)
def test_softmax(dims):
    check("Softmax", [floats(*dims) * 10])


def test_softmax_of_what_is_no_number():
    x = floats(6, 40) * 10
    x[1, 3], x[2], x[3, 5], x[4, 5], x[5] = np.nan, -np.inf, np.inf, -np.inf, 1e30
    check("Softmax", [x])


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), [(5, 7, 19), (64, 100, 16), (1, 33, 17), (33, 1, 20), (40, 50, 15)], ids=str)
def test_matmul(m, k, n, transpose_a, transpose_b):
    a, b = floats(*((k, m) if transpose_a else (m, k))), floats(*((n, k) if transpose_b else (k, n)), seed=1)
    check("MatMul", [a, b], transpose_a=transpose_a, transpose_b=transpose_b)


BATCHES = [
    ((2, 3), (2, 3)),
    ((4,), ()),
    ((), (4,)),
    ((3, 1), (1, 2)),
    ((2, 1, 2), (3, 1)),
    ((1,), (1, 1)),
    ((5,), (1,)),
]


@pytest.mark.parametrize("adj_x", [False, True])
@pytest.mark.parametrize("adj_y", [False, True])
@pytest.mark.parametrize(("left", "right"), BATCHES, ids=str)
def test_batch_matmul(left, right, adj_x, adj_y):
    x, y = floats(*left, *((6, 4) if adj_x else (4, 6))), floats(*right, *((17, 6) if adj_y else (6, 17)), seed=1)
    for name in ("BatchMatMulV2", "BatchMatMulV3", *(("BatchMatMul",) if left == right else ())):
        check(name, [x, y], adj_x=adj_x, adj_y=adj_y)


# --- element by element -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dims", [(1,), (33,), (4, 5, 6), ()], ids=str)
def test_elementwise(dims):
    x, y = floats(*dims) * 4, np.tanh(floats(*dims, seed=1))
    check("Sigmoid", [x])
    check("ReluGrad", [x, y])
    check("SigmoidGrad", [1 / (1 + np.exp(-x)), y])
    check("TanhGrad", [y, x])


# --- what is not served, or not right ---------------------------------------------------------------------------------

UNSERVED = [  # nothing in it, another format, pooling across channels, windows that fit nowhere
    ("Conv2D", [(1, 2, 2, 3), (3, 3, 3, 8)], {"strides": S1, "padding": "VALID"}),
    ("AvgPool", [(1, 2, 2, 3)], {"ksize": (1, 3, 3, 1), "strides": S1, "padding": "VALID"}),
    ("MaxPool", [(1, 2, 2, 3)], {"ksize": (1, 3, 3, 1), "strides": S1, "padding": "VALID"}),
    ("Conv2D", [(0, 5, 5, 3), (3, 3, 3, 4)], {"strides": S1, "padding": "SAME"}),
    ("MaxPool", [(0, 4, 4, 3)], {"ksize": S2, "strides": S2, "padding": "SAME"}),
    ("MaxPool", [(2, 4, 4, 4)], {"ksize": (1, 1, 1, 2), "strides": (1, 1, 1, 2), "padding": "VALID"}),
    ("Softmax", [(0, 5)], {}),
    ("MatMul", [(0, 3), (3, 4)], {"transpose_a": False, "transpose_b": False}),
    ("MatMul", [(2, 0), (0, 4)], {"transpose_a": False, "transpose_b": False}),
    ("BatchMatMulV2", [(2, 0, 3), (2, 3, 4)], {"adj_x": False, "adj_y": False}),
    ("Sigmoid", [(0, 3)], {}),
]


@pytest.mark.parametrize(("name", "shapes", "attrs"), UNSERVED, ids=str)
def test_left_to_the_reference(name, shapes, attrs):
    check(name, [floats(*s) for s in shapes], False, **attrs)


def test_batch_norm_of_nothing():
    vectors = [floats(3) for _ in range(4)]
    check("FusedBatchNormV3", [floats(0, 2, 2, 3), *vectors], False, is_training=True, epsilon=1e-3)


WRONG = [
    ("Conv2D", [(2, 5, 5, 3), (3, 3, 3, 0)], {"strides": S1, "padding": "SAME"}),
    ("Conv2D", [(1, 5, 5, 3), (3, 3, 4, 8)], {"strides": S1, "padding": "SAME"}),
    ("Conv2D", [(1, 5, 5, 3), (3, 3, 3)], {"strides": S1, "padding": "SAME"}),
    ("Conv2D", [(1, 2, 2, 3), (4, 4, 3, 8)], {"strides": S1, "padding": "VALID"}),
    ("Conv2D", [(1, 5, 5, 3), (3, 3, 3, 8)], {"strides": (1, 0, 1, 1), "padding": "SAME"}),
    ("Conv2D", [(1, 5, 5, 3), (3, 3, 3, 8)], {"strides": (2, 1, 1, 1), "padding": "SAME"}),
    ("Conv2D", [(1, 5, 5, 3), (3, 3, 3, 8)], {"strides": S1, "padding": "EXPLICIT", "explicit_paddings": (1, 2)}),
    ("MaxPool", [(1, 5, 5, 3)], {"ksize": (1, 0, 2, 1), "strides": S1, "padding": "SAME"}),
    ("MaxPool", [(5, 5, 3)], {"ksize": S2, "strides": S1, "padding": "SAME"}),
    ("AvgPool", [(1, 2, 2, 3)], {"ksize": (1, 4, 4, 1), "strides": S1, "padding": "VALID"}),
    ("FusedBatchNorm", [(1, 2, 2, 3), (2,), (3,), (3,), (3,)], {"is_training": True}),
    ("MatMul", [(2, 3), (4, 5)], {"transpose_a": False, "transpose_b": False}),
    ("MatMul", [(2, 3, 4), (4, 5)], {"transpose_a": False, "transpose_b": False}),
    ("BatchMatMul", [(2, 3, 4), (1, 4, 5)], {"adj_x": False, "adj_y": False}),
    ("BatchMatMulV2", [(2, 3, 4), (3, 4, 5)], {"adj_x": False, "adj_y": False}),
]


@pytest.mark.parametrize(("name", "shapes", "attrs"), WRONG, ids=str)
def test_the_same_error_as_without(name, shapes, attrs):
    op, arrays = registry[name], [floats(*s) for s in shapes]
    attrs = settled(op, attrs)
    with pytest.raises(Exception) as wanted:
        reference(op, arrays, attrs)
    with pytest.raises(type(wanted.value)) as found:
        register._kernel(SERVICES[name], op, arrays, attrs)
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize(
    ("name", "arrays"),
    [
        ("Conv2DBackpropInput", [ints(1, 5, 5, 3), floats(3, 3, 3, 8), floats(1, 4, 5, 8)]),
        ("Conv2DBackpropInput", [ints(1, -5, 5, 3), floats(3, 3, 3, 8), floats(1, 5, 5, 8)]),
        ("Conv2DBackpropInput", [ints(1, 5, 5), floats(3, 3, 3, 8), floats(1, 5, 5, 8)]),
        ("Conv2DBackpropInput", [ints(1, 2**30, 2**30, 3), floats(3, 3, 3, 8), floats(1, 5, 5, 8)]),
        ("Conv2DBackpropFilter", [floats(1, 5, 5, 3), ints(3, 3, 3, 7), floats(1, 5, 5, 8)]),
        ("Conv2DBackpropFilter", [floats(1, 5, 5, 3), ints(3, 3, 3, 8).reshape(2, 2), floats(1, 5, 5, 8)]),
    ],
)
def test_the_same_error_for_sizes_that_are_wrong(name, arrays):
    op = registry[name]
    attrs = settled(op, {"strides": S1, "padding": "SAME"})
    with pytest.raises(Exception) as wanted:
        reference(op, arrays, attrs)
    with pytest.raises(type(wanted.value)):
        register._kernel(SERVICES[name], op, arrays, attrs)


def test_spatial_sizes_alone_are_enough():
    op, f, dy = registry["Conv2DBackpropInput"], floats(3, 3, 3, 8), floats(1, 5, 5, 8)
    attrs = settled(op, {"strides": S1, "padding": "SAME"})
    found = register._kernel(SERVICES[op.name], op, [ints(5, 5), f, dy], attrs)
    close([found], reference(op, [ints(5, 5), f, dy], attrs))


def test_arrays_with_gaps_are_copied():
    x, f = floats(3, 9, 9, 2).T[..., :2], floats(3, 3, 4, 9)[..., ::3]
    assert not x.flags.c_contiguous and not f.flags.c_contiguous
    check("Conv2D", [x, floats(3, 3, 2, 3)], strides=S1, padding="SAME")
    check("Conv2D", [floats(2, 8, 8, 4), f], strides=S1, padding="SAME")
    check("MatMul", [floats(20, 30).T, floats(40, 20)[::2]], transpose_a=False, transpose_b=False)


def test_addresses_that_are_odd():
    raw = np.zeros(4 * 400 + 1, np.uint8)
    x = raw[1:].view(np.float32).reshape(20, 20)
    assert not x.flags.aligned
    x[...] = floats(20, 20)
    check("MatMul", [x, x], transpose_a=False, transpose_b=True)


def test_halves_and_doubles_are_left_to_the_reference():
    op = registry["MatMul"]
    wins = op.engines[-1][0]
    for dtype in (np.float64, np.float16, np.int32):
        a = np.ones((200, 200), dtype)
        assert not wins([a, a], {})
    assert wins([np.ones((200, 200), np.float32)] * 2, {})
    assert not wins([np.ones((20, 20), np.float32)] * 2, {})
