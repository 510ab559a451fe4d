"""What an entry of a net's output sees: sizes, strides and paddings of small nets, and nets that are not aligned."""

import numpy as np
import pytest

import ebbflow as tf
from ebbflow.tf1 import receptive_field as fields

v1 = tf.compat.v1


def conv(x, size, stride, padding="VALID", name=None):
    return v1.layers.conv2d(x, 1, size, stride, padding, name=name)


def padded(x, before, after=0):
    return tf.pad(x, [[0, 0], [before, after], [before, after], [0, 0]])


def aligned(x):
    return conv(x, 1, 4) + conv(conv(padded(x, 1), 3, 2), 1, 2)


def of_pools(x):
    pooled = v1.layers.max_pooling2d(v1.layers.average_pooling2d(padded(x, 1), 3, 2), 1, 2)
    return conv(x, 1, 4) + pooled


def twice(x):
    first = tf.nn.relu(aligned(x))
    return conv(first, 1, 2) + conv(padded(first, 1), 3, 2)


def same(x):
    return conv(x, 1, 4) + conv(conv(x, 3, 2, "SAME"), 1, 2)


def uneven(x):
    return conv(conv(x, (3, 5), 2), (3, 1), 2)


def seen(net, resolution=None):
    with tf.Graph().as_default() as graph:
        tf.nn.relu(net(v1.placeholder(tf.float32, [None, None, None, 1], name="image")), name="out")
    return fields.compute_receptive_field_from_graph_def(graph, "image", "out", input_resolution=resolution)


@pytest.mark.parametrize(
    "net, resolution, wanted",
    [
        (aligned, None, (3, 3, 4, 4, 1, 1)),
        (of_pools, None, (3, 3, 4, 4, 1, 1)),
        (twice, None, (11, 11, 8, 8, 5, 5)),
        (uneven, None, (5, 7, 4, 4, 0, 0)),
        (same, None, (3, 3, 4, 4, None, None)),
        (same, [9, 9], (3, 3, 4, 4, 1, 1)),
    ],
)
def test_fields(net, resolution, wanted):
    assert tuple(seen(net, resolution)) == wanted


@pytest.mark.parametrize(
    "net, resolution, says",
    [
        (lambda x: conv(padded(x, 2, 1), 5, 2) + conv(conv(x, 3, 1), 3, 1), None, "strides"),
        (same, [8, 8], "middles"),
        (lambda x: tf.reverse(conv(x, 3, 1), [1]), None, "unknown layer for operation ReverseV2"),
        (lambda x: tf.zeros([1, 1, 1, 1]), None, "sees nothing of input node image"),
    ],
)
def test_nets_that_have_no_field(net, resolution, says):
    with pytest.raises(ValueError, match=says):
        seen(net, resolution)


def test_places_of_each_other():
    field, x = seen(aligned), np.random.RandomState(0).randint(0, 100, [50, 2])
    np.testing.assert_array_equal(field.compute_input_center_coordinates(field.compute_feature_coordinates(x)), x)
    np.testing.assert_array_equal(field.compute_input_center_coordinates([0, 1], axis=0), [0, 4])
    with pytest.raises(ValueError, match="resolution"):
        seen(same).compute_feature_coordinates(x)


def test_sizes_on_the_way():
    with tf.Graph().as_default() as graph:
        conv(padded(v1.placeholder(tf.float32, [None, None, None, 1], name="image"), 1), 3, 2, name="layer")
    found, nodes = fields.get_compute_order(graph.as_graph_def(), "image", [224, 112])
    assert (found["Pad"].input_size, found["Pad"].output_size) == ([224, 112], [225, 113])
    assert found["layer/Conv2D"].output_size == [112, 56] and set(found) == set(nodes)
    assert all(found[i.partition(":")[0]].order < info.order for info in found.values() for i in info.node.input)
