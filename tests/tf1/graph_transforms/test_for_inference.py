"""`optimize_for_inference_lib`: graphs that compute the same with fewer nodes."""

import collections

import numpy as np
import pytest

import ebbflow.v1 as tf
from ebbflow.tf1.graph_transforms import for_inference as lib

RNG = np.random.RandomState(0)
IMAGE = RNG.randn(2, 6, 5, 2).astype(np.float32)


def numbers(*shape):
    return tf.constant(RNG.randn(*shape), tf.float32)


def ops_of(graph_def):
    return collections.Counter(node.op for node in graph_def.node if node.op != "Const")


def run(graph_def, fetch="y:0", feed=None):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        tf.import_graph_def(graph_def, name="")
        return session.run(fetch, {"x:0": IMAGE} if feed is None else feed)


def graph_of(build):
    with tf.Graph().as_default() as graph:
        tf.identity(build(tf.placeholder(tf.float32, [2, 6, 5, 2], name="x")), name="y")
    return graph.as_graph_def()


def moments(channels, positive="variance"):
    names = ("mean", "variance", "beta", "gamma")
    return [
        tf.constant(np.abs(RNG.randn(channels)) + 0.5 if n == positive else RNG.randn(channels), tf.float32)
        for n in names
    ]


def conv(x, depthwise=False, **more):
    if depthwise:
        return tf.nn.depthwise_conv2d(x, numbers(2, 2, 2, 2), [1, 1, 1, 1], "SAME", **more)
    return tf.nn.conv2d(x, numbers(2, 2, 2, 4), [1, 1, 1, 1], "SAME", **more)


def fused(x, op):
    mean, variance, beta, gamma = moments(4)
    raw = getattr(tf.raw_ops, op)
    return raw(x=x, scale=gamma, offset=beta, mean=mean, variance=variance, epsilon=1e-2, is_training=False)[0]


def decomposed(x, gamma=True, turned=False, scale_first=False):
    mean, variance, beta, factor = moments(4)
    scale = tf.rsqrt(variance + 0.01)
    if gamma:
        scale = factor * scale if scale_first else scale * factor
    product = scale * x if scale_first else x * scale
    shift = beta - (scale * mean if scale_first else mean * scale)
    return shift + product if turned else product + shift


@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
@pytest.mark.parametrize("depthwise", [False, True])
def test_a_normalisation_is_part_of_the_convolution(op, depthwise):
    before = graph_of(lambda x: fused(conv(x, depthwise), op))
    after = lib.fold_batch_norms(before)
    name = "DepthwiseConv2dNative" if depthwise else "Conv2D"
    assert ops_of(after) == {"Placeholder": 1, name: 1, "BiasAdd": 1, "Identity": 1}
    np.testing.assert_allclose(run(after), run(before), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("gamma", [True, False])
@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("scale_first", [True, False])
def test_a_normalisation_that_is_spelled_out_is_one(gamma, turned, scale_first):
    before = graph_of(lambda x: decomposed(conv(x), gamma, turned, scale_first))
    fused_one = lib.fuse_decomposed_batch_norm(before)
    assert ops_of(fused_one) == {"Placeholder": 1, "Conv2D": 1, "FusedBatchNorm": 1, "Identity": 1}
    folded = lib.fold_batch_norms(fused_one)
    assert ops_of(folded) == {"Placeholder": 1, "Conv2D": 1, "BiasAdd": 1, "Identity": 1}
    for after in (fused_one, folded):
        np.testing.assert_allclose(run(after), run(before), rtol=1e-4, atol=1e-5)


def other_scale(x):
    mean, variance, beta, gamma = moments(4)
    scale = tf.rsqrt(variance + 0.01) * gamma
    return conv(x) * scale + (beta - mean * gamma)


@pytest.mark.parametrize(
    "build", [other_scale, lambda x: decomposed(tf.tile(x, [1, 1, 1, 2])), lambda x: conv(x) * 2.0]
)
def test_what_is_no_normalisation_stays(build):
    before = graph_of(build)
    assert lib.fuse_decomposed_batch_norm(before) == before


def test_weights_that_others_take_stay():
    def build(x):
        weights = numbers(1, 1, 2, 4)
        once, twice = (tf.nn.conv2d(x, weights, [1, 1, 1, 1], "SAME") for _ in range(2))
        return fused(once, "FusedBatchNorm") + twice

    before = graph_of(build)
    assert ops_of(lib.fold_batch_norms(before)) == ops_of(before)


PREPARED = {
    "resize and pad": (lambda x: tf.pad(tf.image.resize_bilinear(x, [8, 7]), [[0, 0], [1, 1], [2, 0], [0, 0]],
                                        "REFLECT"), "FusedResizeAndPadConv2D"),
    "resize": (lambda x: tf.image.resize_bilinear(x, [8, 7], align_corners=True), "FusedResizeAndPadConv2D"),
    "pad": (lambda x: tf.pad(x, [[0, 0], [1, 1], [2, 0], [0, 0]], "SYMMETRIC"), "FusedPadConv2D"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PREPARED)
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pictures_are_prepared_by_the_convolution(kind, padding):
    prepare, op = PREPARED[kind]
    before = graph_of(lambda x: tf.nn.conv2d(prepare(x), numbers(2, 2, 2, 4), [1, 2, 1, 1], padding))
    after = lib.fuse_resize_and_conv(before, ["y"])
    assert ops_of(after) == {"Placeholder": 1, op: 1, "Identity": 1}
    np.testing.assert_allclose(run(after), run(before), rtol=1e-5, atol=1e-5)


def test_pictures_that_others_take_stay():
    def build(x):
        padded = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT", name="padded")
        return tf.nn.conv2d(padded, numbers(2, 2, 2, 4), [1, 1, 1, 1], "SAME")

    before = graph_of(build)
    assert ops_of(lib.fuse_resize_and_conv(before, ["y", "padded"])) == ops_of(before)


def test_a_net_is_cut_down_to_what_its_output_needs():
    def build(x):
        tf.summary.scalar("unused", tf.reduce_mean(x))
        x = tf.check_numerics(conv(tf.identity(x)), "bad")
        return tf.nn.relu(fused(x, "FusedBatchNormV3"))

    before = graph_of(build)
    after = lib.optimize_for_inference(before, ["x"], ["y"], tf.float32.as_datatype_enum)
    assert ops_of(after) == {"Placeholder": 1, "Conv2D": 1, "BiasAdd": 1, "Relu": 1, "Identity": 1}
    np.testing.assert_allclose(run(after), run(before), rtol=1e-4, atol=1e-5)


def test_nothing_is_said_that_was_not():
    before = tf.GraphDef(node=graph_of(lambda x: x + 1.0).node)
    assert not before.HasField("versions")
    after = lib.optimize_for_inference(before, ["x"], ["y"], tf.float32.as_datatype_enum)
    assert not after.HasField("versions") and not after.HasField("library")


#  what is asked for        what p and r are then (None: asked for, as before)
TRUTHS = [
    (None, None, None),
    ([], None, None),
    (["p"], None, None),
    (["p=True"], True, None),
    (["p=no", "r=true"], False, True),
    (["q=True", "nowhere=True"], None, None),
]


@pytest.mark.parametrize("asked, p, r", TRUTHS)
def test_truths_are_said_once(asked, p, r):
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.bool, [], name="p")
        tf.placeholder(tf.float32, [], name="q")
        tf.placeholder_with_default(True, [], name="r")
    nodes = {node.name: node for node in lib.convert_placeholder_to_const(graph.as_graph_def(), asked).node}
    assert nodes["q"].op == "Placeholder"
    for name, wanted, op in (("p", p, "Placeholder"), ("r", r, "PlaceholderWithDefault")):
        assert nodes[name].op == ("Const" if wanted is not None else op)
        assert wanted is None or bool(lib.values_from_const(nodes[name])) is wanted


def test_keras_does_not_train_any_more():
    with tf.Graph().as_default() as graph:
        tf.placeholder_with_default(True, [], name="keras_learning_phase")
    nodes = {node.name: node for node in lib.convert_placeholder_to_const(graph.as_graph_def()).node}
    assert not lib.values_from_const(nodes["keras_learning_phase"])


def node_defs(*rows):
    return tf.GraphDef(node=[tf.NodeDef(name=name, op="NoOp", input=edges) for name, edges in rows])


REFUSALS = [
    (lambda: lib.ensure_graph_is_valid(node_defs(("a", []), ("a", []))), "Duplicate node names detected for .*a"),
    (lambda: lib.ensure_graph_is_valid(node_defs(("a", ["b"]))), "Input for .*a.* not found: .*b"),
    (lambda: lib.node_from_map({}, "a:1"), "No node named 'a:1' found in map"),
    (lambda: lib.values_from_const(tf.NodeDef(name="a", op="NoOp")), "not Const"),
    (lambda: lib.fold_batch_norms(node_defs(("a", []), ("a", []))), "Duplicate node names"),
]


@pytest.mark.parametrize("call, says", REFUSALS)
def test_what_cannot_be_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
