"""What is written with channels first runs with channels last: what is rearranged, and that answers stay the same."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

import ebbflow as tf2
from ebbflow.compiler.build import build
from ebbflow.compiler.passes import layout, optimise
from ebbflow.runtime.executor import needed_nodes
from tests.machine import ONEDNN

tf = tf2.compat.v1

pytestmark = ONEDNN

INTERPRETED = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1)))
FIRST_2D, FIRST_3D = "NCHW", "NCDHW"
ALONE = ["native", "siblings", "entropy", "fuse", "cluster", "parallel"]
"""Passes that would hide what `layout` did."""


def const(*dims, seed=0, scale=0.3):
    return tf.constant(np.random.RandomState(seed).randn(*dims).astype("f") * np.float32(scale))


def conv(x, outs=4, size=3, stride=1, padding="SAME", seed=0, **more):
    f = const(size, size, x.shape.as_list()[1], outs, seed=seed)
    return tf.nn.conv2d(x, f, [1, 1, stride, stride], padding, data_format=FIRST_2D, **more)


def conv_64(x):
    return tf.nn.conv2d(x, tf.cast(const(3, 3, 3, 3), "float64"), [1, 1, 1, 1], "SAME", data_format=FIRST_2D)


def depthwise(x, stride=1):
    f = const(3, 3, x.shape.as_list()[1], 2)
    return tf.nn.depthwise_conv2d(x, f, [1, 1, stride, stride], "SAME", data_format=FIRST_2D)


def conv_3d(x, outs=4):
    f = const(2, 3, 2, x.shape.as_list()[1], outs)
    return tf.nn.conv3d(x, f, [1, 1, 1, 2, 1], "SAME", data_format=FIRST_3D)


def pool(kind, x, size=3, stride=2, padding="SAME"):
    return kind(x, [1, 1, size, size], [1, 1, stride, stride], padding, data_format=FIRST_2D)


def norm(x, training=True, data_format=FIRST_2D):
    channels = x.shape.as_list()[1]
    scale, offset = const(channels, seed=1) + 1.0, const(channels, seed=2)
    mean, variance = (None, None) if training else (const(channels, seed=3), tf.abs(const(channels, seed=4)) + 0.5)
    return tf.nn.fused_batch_norm(
        x, scale, offset, mean, variance, is_training=training, data_format=data_format, epsilon=0.01
    )[0]


def bias(x, data_format=FIRST_2D):
    return tf.nn.bias_add(x, const(x.shape.as_list()[1], seed=5), data_format=data_format)


def block(x):
    y = tf.nn.relu(norm(conv(x, x.shape.as_list()[1])))
    return tf.nn.relu(x + norm(conv(y, x.shape.as_list()[1], seed=1)))


def net(x):
    y = pool(tf.nn.max_pool, tf.nn.relu(bias(conv(x, 16))))
    return tf.reduce_mean(block(block(y)), [2, 3])


def slopes(y, *by):
    return tf.gradients(tf.reduce_sum(tf.tanh(y)), by)


def filter_slopes(x):
    f, g = const(3, 3, 3, 4) + 0.0, const(3, 3, 4, 4, seed=1) + 0.0
    y = tf.nn.relu(bias(tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME", data_format=FIRST_2D)))
    y = pool(tf.nn.avg_pool, norm(tf.nn.conv2d(y, g, [1, 1, 2, 2], "SAME", data_format=FIRST_2D)))
    return [y, *slopes(y, x, f, g)]


def volumes(x):
    y = tf.nn.relu(bias(conv_3d(x), FIRST_2D))
    y = norm(conv_3d(y), data_format=FIRST_3D)
    y = tf.nn.max_pool3d(y, [1, 1, 2, 2, 2], [1, 1, 2, 1, 1], "SAME", data_format=FIRST_3D)
    return tf.nn.avg_pool3d(y, [1, 1, 1, 2, 2], [1, 1, 1, 1, 1], "VALID", data_format=FIRST_3D)


def gated(x, channels=16):
    """Squeeze and excite: a factor for each channel, from the means over the image."""
    y = conv(x, channels)
    means = tf.reduce_mean(y, [2, 3], keepdims=True)
    return conv(y * tf.sigmoid(conv(tf.nn.relu(conv(means, 2, 1)), channels, 1)))


def of_last(x):
    """A program whose images come with channels last."""
    y = tf.transpose(x, [0, 3, 1, 2])
    return tf.transpose(tf.nn.relu(bias(conv(y))), [0, 2, 3, 1])


def by_hand(x):
    """A norm and a bias written in plain arithmetic."""
    y = conv(x, 16)
    mean = tf.reduce_mean(y, [0, 2, 3], keepdims=True)
    spread = tf.reduce_mean(tf.squared_difference(y, mean), [0, 2, 3], keepdims=True)
    y = (y - mean) * tf.rsqrt(spread + 0.01) * const(16, 1, 1) + const(1, 16, 1, 1, seed=1)
    return conv(y * const(9, seed=2) + 2.0)


def rows(x):
    """Convolution along one axis, which is one of images one pixel high."""
    y = tf.nn.relu(tf.nn.conv1d(x, const(3, 3, 4), 1, "SAME", data_format="NCW"))
    y = tf.nn.bias_add(tf.nn.conv1d(y, const(3, 4, 4), 2, "SAME", data_format="NCW"), const(4), "NCW")
    return tf.nn.conv1d(tf.tanh(y), const(2, 4, 5), 1, "VALID", data_format="NCW", dilations=2)


def classes(x):
    """A distribution over channels for each pixel: softmax brings them to the end by itself."""
    return conv(tf.nn.softmax(conv(conv(x)), axis=1))


IMAGES, LAST, ROWS, VOLUMES = (2, 3, 9, 9), (2, 9, 9, 3), (2, 3, 40), (2, 3, 4, 6, 5)

# name: (what is fed, what is written, arrays that are rearranged)
CASES = {
    "a net": (IMAGES, net, 1),
    "gradients of a net": (IMAGES, lambda x: slopes(net(x), x), 2),
    "gradients for filters": (IMAGES, filter_slopes, 3),
    "two convolutions": (IMAGES, lambda x: conv(tf.nn.relu(conv(x))), 2),
    "a residual block": (IMAGES, lambda x: block(conv(x)), 2),
    "norm of known statistics": (IMAGES, lambda x: norm(conv(conv(x)), training=False), 2),
    "channels joined": (IMAGES, lambda x: conv(tf.concat([conv(x), conv(x, seed=1)], 1)), 2),
    "channels parted": (IMAGES, lambda x: conv(tf.nn.relu(tf.split(conv(x), 2, 1)[1]) * tf.split(conv(x), 2, 1)[0]), 2),
    "uneven parts": (IMAGES, lambda x: [conv(t) for t in tf.split(conv(x), [1, 3], -3)], 3),
    "depthwise": (IMAGES, lambda x: slopes(conv(tf.nn.relu6(depthwise(x, 2)), 6, 1), x), 2),
    "volumes": (VOLUMES, volumes, 2),
    "gradients of volumes": (VOLUMES, lambda x: slopes(volumes(x), x), 2),
    "gated": (IMAGES, gated, 2),
    "gates of few channels": (IMAGES, lambda x: gated(x, 3), 0),
    "gradients of gates": (IMAGES, lambda x: slopes(gated(x), x), 2),
    "transposed already": (LAST, of_last, 0),
    "rows": (ROWS, rows, 2),
    "gradients of rows": (ROWS, lambda x: slopes(rows(x), x), 2),
    "a class for each pixel": (IMAGES, classes, 4),
    "norm of an odd number of channels": (IMAGES, lambda x: conv(norm(conv(x, 5))), 0),
    "in plain arithmetic": (IMAGES, by_hand, 2),
    "gradients of arithmetic": (IMAGES, lambda x: slopes(by_hand(x), x), 2),
    "padded by hand": (IMAGES, lambda x: conv(tf.pad(conv(x), [[0, 0], [0, 1], [1, 2], [3, 0]]), padding="VALID"), 2),
    "mirrored": (IMAGES, lambda x: slopes(conv(tf.pad(conv(x), [[0, 0], [0, 0], [1, 2], [3, 0]], "SYMMETRIC")), x), 2),
    "cut out": (IMAGES, lambda x: slopes(conv(conv(x)[:, 1:, 2:-1, ::2]), x), 2),
    "a slice": (IMAGES, lambda x: slopes(conv(tf.slice(conv(x), [0, 1, 2, 0], [2, 2, -1, 4])), x), 2),
    "padding of its own": (
        IMAGES, lambda x: conv(conv(x, padding=[[0, 0], [0, 0], [2, 1], [0, 3]]), dilations=[1, 1, 2, 3]), 2),
    "upwards": (
        IMAGES,
        lambda x: conv(tf.nn.conv2d_transpose(
            conv(x), const(3, 3, 2, 4), [2, 2, 18, 18], [1, 1, 2, 2], "SAME", data_format=FIRST_2D)), 2),
    "blocks": (IMAGES, lambda x: tf.nn.space_to_depth(
        tf.nn.depth_to_space(tf.nn.relu(conv(conv(x, 12), 12)), 2, data_format=FIRST_2D), 3, data_format=FIRST_2D), 2),
    "repeated": (IMAGES, lambda x: conv(tf.broadcast_to(tf.reduce_max(conv(x, 16), 1, True), [2, 5, 9, 9])), 2),
    "chosen": (IMAGES, lambda x: conv(tf.where(conv(x) > conv(x, seed=1), conv(x), tf.zeros([2, 4, 9, 9]))), 2),
    "examples chosen": (IMAGES, lambda x: conv(tf.where(tf.constant([True, False]), conv(x), conv(x, seed=1))), 2),
    "a sum of all": (IMAGES, lambda x: tf.reduce_sum(tf.add_n([conv(x), conv(x, seed=1), conv(x, seed=2)])), 1),
    "added before the border": (IMAGES, lambda x: conv(conv(tf.exp(x) + tf.sin(x))), 2),
    "flattened": (IMAGES, lambda x: tf.reshape(conv(conv(x)), [2, -1]), 2),
    "only one": (IMAGES, lambda x: tf.nn.relu(conv(x)), 0),
    "pooling alone": (IMAGES, lambda x: pool(tf.nn.max_pool, x), 0),
    "nothing of the kind": (LAST, lambda x: tf.nn.conv2d(x, const(3, 3, 3, 4), 1, "SAME"), 0),
    "double precision": (IMAGES, lambda x: conv_64(tf.nn.relu(conv_64(tf.cast(x, "float64")))), 0),
}  # fmt: skip


@pytest.fixture(autouse=True)
def small_arrays_count(monkeypatch):
    monkeypatch.setattr(layout, "WORTH", 0)
    monkeypatch.setenv("EBBFLOW_CHECK", "1")


@pytest.fixture
def everywhere(monkeypatch):
    """Whatever can be rewritten is, whether it pays or not."""
    monkeypatch.setattr(layout._Border, "gain", lambda self, nodes: math.inf)
    monkeypatch.setattr(layout, "_moving", lambda value: 0)


def optimised(fetches, feeds):
    return optimise(
        build(needed_nodes(fetches, {id(f) for f in feeds}), feeds, [f._dims for f in feeds], fetches), ALONE
    )


def values_for(feeds):
    return {t: np.random.RandomState(i).randn(*t.shape.as_list()).astype("f") for i, t in enumerate(feeds)}


def same_as_interpreted(graph, fetches, fed, rtol=1e-4, atol=1e-4):
    expected = tf.Session(graph=graph, config=INTERPRETED).run(fetches, fed)
    with tf.Session(graph=graph) as session:
        for _ in range(2):
            for one, other in zip(session.run(fetches, fed), expected, strict=True):
                assert one.shape == other.shape and one.dtype == other.dtype
                np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


@pytest.mark.usefixtures("without_native")
@pytest.mark.parametrize("name", CASES)
def test_channels_first(name):
    dims, write, moved = CASES[name]
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, dims)
        fetches = tf.nest.flatten(write(x))
        flow = optimised(fetches, [x])
        kinds = Counter(n.op.name for n in flow.nodes)
        assert kinds["_Arranged"] + kinds["Transpose"] == moved, str(flow)
        if moved:
            assert not [n for n in flow.nodes if str(n.attrs.get("data_format")).startswith("NC")], str(flow)
        same_as_interpreted(graph, fetches, values_for([x]))


@pytest.mark.usefixtures("without_native")
@pytest.mark.parametrize("name", CASES)
def test_channels_first_without_regard_to_cost(name, everywhere):
    dims, write, _ = CASES[name]
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, dims)
        same_as_interpreted(graph, tf.nest.flatten(write(x)), values_for([x]))


@pytest.mark.usefixtures("without_native")
@pytest.mark.parametrize("dims", [(0, 3, 9, 9), (2, 3, 0, 9), (2, 3, 9, 0)], ids=str)
@pytest.mark.parametrize("name", ["two convolutions", "a residual block", "channels joined", "a sum of all", "gated"])
def test_images_without_elements(name, dims, everywhere):
    _, write, _ = CASES[name]
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, dims)
        same_as_interpreted(graph, tf.nest.flatten(write(x)), values_for([x]))


@pytest.mark.usefixtures("without_native")
def test_slices_of_vectors_beside_images():
    with tf.Graph().as_default() as graph:
        x, v = tf.placeholder(tf.float32, [2, 3, 9, 9]), tf.placeholder(tf.float32, [4])
        fetches = [conv(tf.nn.relu(conv(x))), v[1:3], tf.gradients(v[::2], v)[0]]
        same_as_interpreted(graph, fetches, values_for([x, v]))


def test_small_images_stay_as_they_are(monkeypatch):
    monkeypatch.undo()
    with tf.Graph().as_default():
        for side, moved in ((4, 0), (64, 2)):
            x = tf.placeholder(tf.float32, [2, 3, side, side])
            kinds = Counter(n.op.name for n in optimised([conv(tf.nn.relu(conv(x)))], [x]).nodes)
            assert kinds["_Arranged"] == moved


def test_unknown_shapes_and_state_stay_as_they_are():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3, 9, 9])
        y = conv(tf.nn.relu(conv(x)))
        flow = optimised([y], [x])
        assert not [n for n in flow.nodes if n.op.name == "_Arranged"]
        noise = tf.random_uniform([2, 4, 9, 9], seed=3) * 0.0
        same_as_interpreted(graph, [y, conv(noise + conv(x))], {x: np.ones((2, 3, 9, 9))})


def test_the_option_switches_it_off():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, IMAGES)
        y = conv(tf.nn.relu(conv(x)))
        options = tf.GraphOptions(rewrite_options={"layout_optimizer": 2})
        plain = tf.Session(config=tf.ConfigProto(graph_options=options))
        assert session.explain(y, [x]).count("run_Conv2D") > plain.explain(y, [x]).count("run_Conv2D")


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("name", ["gradients of a net", "gradients for filters", "gradients of gates", "volumes"])
def test_with_machine_code(name):
    dims, write, _ = CASES[name]
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, dims)
        same_as_interpreted(graph, tf.nest.flatten(write(x)), values_for([x]))


def test_training_changes_variables_alike():
    found = []
    for config in (None, INTERPRETED):
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            x = tf.placeholder(tf.float32, IMAGES)
            f = tf.get_variable("f", initializer=const(3, 3, 3, 4), use_resource=True)
            b = tf.get_variable("b", initializer=const(4, seed=1))
            y = tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME", data_format=FIRST_2D)
            y = pool(tf.nn.max_pool, tf.nn.relu(tf.nn.bias_add(y, b, data_format=FIRST_2D)))
            train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(tf.reduce_sum(block(y)))
            session.run(tf.global_variables_initializer())
            for i in range(4):
                session.run(train, {x: np.random.RandomState(i).randn(*IMAGES)})
            found.append(session.run([f, b]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


# --- random programs --------------------------------------------------------------------------------------------------

SAME = (2, 4, 6, 6)
WINDOWS = [
    conv, conv, norm, bias, lambda x: depthwise(x)[:, ::2], lambda x: norm(x, training=False),
    lambda x: conv(x, padding=[[0, 0], [0, 0], [2, 0], [1, 1]]), lambda x: conv(x, dilations=[1, 1, 2, 2]),
    lambda x: tf.nn.conv2d_transpose(
        conv(x, stride=2), const(3, 3, 4, 4), SAME, [1, 1, 2, 2], "SAME", data_format=FIRST_2D),
    lambda x: pool(tf.nn.max_pool, x, stride=1), lambda x: pool(tf.nn.avg_pool, x, 2, 1),
    lambda x: tf.depth_to_space(conv(x, 16, stride=2), 2, data_format=FIRST_2D),
]  # fmt: skip
UNARY = [
    tf.nn.relu, tf.tanh, tf.identity, tf.zeros_like,
    lambda x: x * const(4, 1, 1), lambda x: x + const(1, 4, 1, 1), lambda x: x * const(6), lambda x: x - const(6, 1),
    lambda x: x * 0.5 + 1.0, lambda x: x + const(2, 1, 1, 1), lambda x: x * const(4, 6, 6), lambda x: x + const(*SAME),
    lambda x: x - tf.reduce_mean(x, [2, 3], keepdims=True), lambda x: x * tf.reduce_max(x, 1, keepdims=True),
    lambda x: x + tf.reshape(tf.reduce_sum(x, [0, 2, 3]), [4, 1, 1]) * 0.01, lambda x: x + tf.reduce_mean(x, 0),
    lambda x: x + tf.reduce_mean(x, 1)[:, None], lambda x: x * tf.reduce_mean(x, [2, 3])[:, :, None, None],
    lambda x: tf.concat(tf.split(x, 2, 1)[::-1], 1), lambda x: tf.concat(tf.split(x, [1, 5], 3)[::-1], -1),
    lambda x: tf.pad(x, [[0, 0], [1, 0], [0, 2], [1, 1]])[:, 1:, 2:, 1:-1],
    lambda x: tf.slice(tf.pad(x, [[0, 0], [0, 0], [1, 2], [2, 1]], "REFLECT"), [0, 0, 2, 1], SAME),
    lambda x: x[:, ::-1, :, ::-1], lambda x: tf.tile(x[:, :2], [1, 2, 1, 1]), lambda x: tf.cast(x > 0, tf.float32) * x,
    lambda x: tf.transpose(tf.nn.softmax(tf.transpose(x, [0, 2, 3, 1])), [0, 3, 1, 2]),
    lambda x: tf.transpose(tf.reshape(x, [2, 6, 6, 4]), [0, 3, 1, 2]), lambda x: tf.transpose(x, [0, 1, 3, 2]),
    lambda x: tf.squeeze(tf.nn.relu(tf.expand_dims(x, 2)), [-3]), lambda x: tf.squeeze(x[..., None, :], 3),
    lambda x: tf.nn.softmax(x, axis=1),
]  # fmt: skip
BINARY = [
    tf.add, tf.multiply, tf.maximum, lambda x, y: tf.where(x > y, x, y), lambda x, y: tf.add_n([x, y, x]),
    lambda x, y: tf.concat([x, y], 1)[:, 2:6], lambda x, y: conv(tf.concat([x, y], 1)), lambda x, y: conv(x) + y,
    lambda x, y: tf.where(tf.constant([True, False]), x, y), lambda x, y: x * tf.sigmoid(conv(y, 1)),
]  # fmt: skip


def random_program(seed):
    """Return (graph, placeholders, fetches): the same for the same seed."""
    rng, graph = random.Random(seed), tf.Graph()
    with graph.as_default():
        feeds = [tf.placeholder(tf.float32, SAME) for _ in range(2)]
        values = [*feeds, tf.identity(const(*SAME, seed=7))]
        for _ in range(14):
            if rng.random() < 0.7:
                made = rng.choice(WINDOWS if rng.random() < 0.6 else UNARY)(rng.choice(values[-3:]))
            else:
                made = rng.choice(BINARY)(rng.choice(values[-5:]), rng.choice(values))
            values.append(tf.clip_by_value(made, -2.0, 2.0))
        fetches = rng.sample(values[-6:], 2)
        if rng.random() < 0.6:
            fetches += [g for g in tf.gradients(tf.reduce_sum(values[-1] * 0.1), feeds) if g is not None]
    return graph, feeds, fetches


@pytest.mark.usefixtures("without_native")
@pytest.mark.parametrize("seed", range(40))
def test_random_programs_answer_as_the_executor_does(seed):
    graph, feeds, fetches = random_program(seed)
    same_as_interpreted(graph, fetches, values_for(feeds), rtol=2e-3, atol=2e-3)


@pytest.mark.usefixtures("without_native")
@pytest.mark.parametrize("seed", range(40, 60))
def test_random_programs_without_regard_to_cost(seed, everywhere):
    graph, feeds, fetches = random_program(seed)
    same_as_interpreted(graph, fetches, values_for(feeds), rtol=2e-3, atol=2e-3)
