"""Convolutions by machine code: sizes, borders, threads, what is done to their results, and which are left alone."""

from __future__ import annotations

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.compiler import native_region
from ebbflow.compiler.passes import PASSES, prune
from ebbflow.engines.native import library, threads
from ebbflow.engines.native.kernel import Kernel
from ebbflow.engines.native.lowerings import convolution
from ebbflow.ops.declare import raw
from tests.engines.native.regions import array, by_code, region
from tests.machine import ONEDNN

# images, rows, columns, channels in and out, padding
SIZES = {
    "even": (2, 8, 8, 32, 32, "SAME"),
    "odd": (2, 7, 9, 32, 48, "SAME"),
    "inner": (3, 10, 5, 48, 32, "VALID"),
    "both odd": (5, 13, 13, 32, 64, "VALID"),
    "one result": (1, 3, 3, 32, 32, "VALID"),
    "one element": (3, 1, 1, 32, 32, "SAME"),
    "one row": (2, 1, 40, 32, 32, "SAME"),
    "many units": (1, 61, 50, 64, 32, "SAME"),
    "zeros on one side": (2, 6, 7, 32, 32, [[0, 0], [2, 0], [0, 1], [0, 0]]),
    "zeros all around": (2, 6, 7, 32, 32, [[0, 0], [2, 2], [2, 2], [0, 0]]),
}


@pytest.fixture(autouse=True)
def _small_ones_too(monkeypatch):
    whole = lambda shape: not shape.taken % library.lanes() and not shape.given % library.lanes()
    monkeypatch.setattr(convolution, "_pays", whole)


def exactly(x, f, padding):
    """Return a convolution in double precision, its result's gradient being ones times `slope`."""
    with tf.GradientTape() as tape:
        given = [tf.constant(a, tf.float64) for a in (x, f)]
        tape.watch(given)
        y = tf.nn.conv2d(*given, 1, padding)
        slope = array(y.shape, "float64", seed=3)
    return y.numpy(), slope, [g.numpy() for g in tape.gradient(y, given, output_gradients=slope)]


def near(found, wanted):
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=4e-6 * scale)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("name", SIZES)
def test_as_in_double_precision(name, workers, monkeypatch):
    if workers > 1 and threads.count() == 1:
        pytest.skip("there is one core, or no libgomp")
    monkeypatch.setattr(threads, "count", lambda: workers)
    n, h, w, taken, given, padding = SIZES[name]
    x, f = array((n, h, w, taken)), array((3, 3, taken, given), seed=1)
    y, slope, (by_input, by_filter) = exactly(x, f, padding)
    slope = slope.astype("f")
    how = {"strides": [1, 1, 1, 1], "padding": padding}
    if not isinstance(padding, str):
        how = {**how, "padding": "EXPLICIT", "explicit_paddings": [n for side in padding for n in side]}
    to_input = lambda f, s: raw.Conv2DBackpropInput(list(x.shape), f, s, **how)
    to_filter = lambda x, s: raw.Conv2DBackpropFilter(x, list(f.shape), s, **how)
    near(by_code(region(lambda x, f: tf.nn.conv2d(x, f, 1, padding), x, f), [x, f])[0], y)
    near(by_code(region(to_input, f, slope), [f, slope])[0], by_input)
    near(by_code(region(to_filter, x, slope), [x, slope])[0], by_filter)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("spoilt", ["x", "f", "slope"])
@pytest.mark.parametrize("size", [(2, 8, 8, 32, 32), (6, 30, 33, 32, 64)])
def test_what_is_no_finite_number_is_left_to_others(size, spoilt, number):
    """A tile would be full of it, where it belongs into some of the results only."""
    n, h, w, taken, given = size
    arrays = {"x": array((n, h, w, taken)), "f": array((3, 3, taken, given), seed=1), "slope": array((n, h, w, given))}
    arrays[spoilt][..., 0, 1, 2] = number
    attrs = {"strides": [1] * 4, "padding": "SAME"}
    x, f, slope = arrays.values()
    forward = region(lambda x, f: raw.Conv2D(x, f, **attrs), x, f)
    by_input = region(lambda f, y: raw.Conv2DBackpropInput(x.shape, f, y, **attrs), f, slope)
    by_filter = region(lambda x, y: raw.Conv2DBackpropFilter(x, f.shape, y, **attrs), x, slope)
    for flow, taken_by, operands in (
        (forward, "xf", (x, f)),
        (by_input, "fs", (f, slope)),
        (by_filter, "xs", (x, slope)),
    ):
        out = np.zeros(flow.outputs[0].dims, np.float32)
        assert Kernel(flow).call(*operands, out) is (spoilt[0] not in taken_by)


@ONEDNN
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_programs_give_what_single_calls_give_for_infinities(number):
    x, f = array((2, 9, 8, 32)), array((3, 3, 32, 32), seed=1)

    def step(x, f):
        with tf.GradientTape() as tape:
            tape.watch([x, f])
            y = tf.nn.relu(tf.nn.conv2d(x, f, 1, "SAME"))
        return [y, *tape.gradient(y, [x, f])]

    run = tf.function(step)
    for _ in range(3):
        run(tf.constant(x), tf.constant(f))
        native_region.settle()
    x[1, 4, 5, 6] = number
    for found, wanted in zip(run(tf.constant(x), tf.constant(f)), step(tf.constant(x), tf.constant(f)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def fused(write, *arrays):
    return prune(PASSES["fuse"](PASSES["simplify"](region(write, *arrays))))


FINISHES = {
    "bias": lambda y, b, a: tf.nn.bias_add(y, b),
    "relu": lambda y, b, a: tf.nn.relu(y),
    "bias and relu": lambda y, b, a: tf.nn.relu(tf.nn.bias_add(y, b)),
    "another added": lambda y, b, a: y + a,
    "all": lambda y, b, a: tf.nn.relu(tf.nn.bias_add(y, b) + a),
}


@ONEDNN
@pytest.mark.parametrize("name", FINISHES)
def test_what_is_fused(name):
    x, f, b, a = array((2, 7, 8, 32)), array((3, 3, 32, 32), seed=1), array((32,), seed=2), array((2, 7, 8, 32), seed=3)
    write = lambda x, f, b, a: FINISHES[name](tf.nn.conv2d(x, f, 1, "SAME"), b, a)
    flow = fused(write, x, f, b, a)
    assert [n.op.name for n in flow.nodes] == ["_Fused"]
    (found,) = by_code(flow, [x, f, b, a])
    wanted = write(*[tf.constant(v, tf.float64) for v in (x, f, b, a)]).numpy()
    near(found, wanted)


@ONEDNN
def test_the_gradients_of_filter_and_bias():
    x, s = array((2, 6, 6, 32)), array((2, 6, 6, 32), seed=1)

    def write(x, s):
        return raw.Conv2DBackpropFilter(x, [3, 3, 32, 32], s, strides=[1] * 4, padding="SAME"), raw.BiasAddGrad(s)

    flow = fused(write, x, s)
    assert [n.op.name for n in flow.nodes if n.op.name != "Const"] == ["_Fused"]
    found = by_code(flow, [x, s])
    for mine, theirs in zip(found, write(tf.constant(x), tf.constant(s)), strict=True):
        near(mine, theirs.numpy())


OTHERS = {
    "in steps of two": lambda x, f: tf.nn.conv2d(x, f, 2, "SAME"),
    "with gaps": lambda x, f: tf.nn.conv2d(x, f, 1, "SAME", dilations=2),
    "five by five": lambda x, f: tf.nn.conv2d(x, tf.pad(f, [[1, 1], [1, 1], [0, 0], [0, 0]]), 1, "SAME"),
    "channels first": lambda x, f: tf.nn.conv2d(tf.transpose(x, [0, 3, 1, 2]), f, 1, "SAME", data_format="NCHW"),
    "in groups": lambda x, f: tf.nn.conv2d(tf.concat([x, x], 3), f, 1, "SAME"),
    "few channels": lambda x, f: tf.nn.conv2d(x[..., :5], f[:, :, :5], 1, "SAME"),
    "three zeros before": lambda x, f: tf.nn.conv2d(x, f, 1, [[0, 0], [3, 0], [0, 0], [0, 0]]),
    "four zeros behind": lambda x, f: tf.nn.conv2d(x, f, 1, [[0, 0], [0, 0], [0, 4], [0, 0]]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_which_are_left_alone(name):
    x, f = array((2, 6, 6, 32)), array((3, 3, 32, 32))
    flow = region(OTHERS[name], x, f)
    (node,) = [n for n in flow.nodes if n.op.name == "Conv2D"]
    assert not convolution.serves(node)
    assert "_Native" not in {n.op.name for n in PASSES["winograd"](flow).nodes}


@pytest.mark.parametrize("zeros", [[0, 0, 0, 0, 0, 4, 0, 0], [0, 0, 0, 4, 0, 0, 0, 0], [0, 0, 0, 4, 0, 4, 0, 0]])
def test_gradients_wider_than_their_input_are_left_alone(zeros):
    f, slope = array((3, 3, 32, 32)), array((2, 4 + zeros[3], 4 + zeros[5], 32))
    how = {"strides": [1] * 4, "padding": "EXPLICIT", "explicit_paddings": zeros}
    flow = region(lambda f, s: raw.Conv2DBackpropInput([2, 6, 6, 32], f, s, **how), f, slope)
    assert not any(convolution.serves(n) for n in flow.nodes)


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_other_numbers_are_left_alone(dtype):
    x, f = array((2, 6, 6, 32), dtype), array((3, 3, 32, 32), dtype)
    flow = region(lambda x, f: tf.nn.conv2d(x, f, 1, "SAME"), x, f)
    assert not any(convolution.serves(n) for n in flow.nodes)


def test_a_step_of_training(monkeypatch):
    """All three, in a Program, and the same with the engine hidden."""
    monkeypatch.setenv("EBBFLOW_CHECK", "1")
    x, start = array((4, 10, 10, 32)), array((3, 3, 32, 32)) / 10

    def train():
        w0, w1 = tf.Variable(start), tf.Variable(start)

        @tf.function(autograph=False)
        def step(x):
            with tf.GradientTape() as tape:
                y = tf.nn.conv2d(tf.nn.relu(tf.nn.conv2d(x, w0, 1, "SAME")), w1, 1, "SAME")
                loss = tf.reduce_mean(tf.square(y))
            for w, g in zip((w0, w1), tape.gradient(loss, (w0, w1)), strict=True):
                w.assign_sub(0.1 * g)
            return loss

        losses = [float(step(tf.constant(x))) for _ in range(4)]
        return losses, w0.numpy(), w1.numpy(), step.source()

    *by_us, source = train()
    assert source.count("Conv2DBackpropFilter_by_numpy(") == 2
    monkeypatch.setenv("EBBFLOW_ENGINES", "host,onednn")
    *without, source = train()
    assert "by_numpy" not in source
    for mine, theirs in zip(by_us, without, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=2e-5)
