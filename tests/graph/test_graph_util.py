"""GraphDefs cut, cleaned and compared."""

import pytest

import ebbflow.v1 as tf
from ebbflow.graph.graph_util import graph_defs_equal, set_cpu0


def chain():
    """Return a -> check -> identity -> relu -> out, and a node beside it."""
    with tf.Graph().as_default() as graph:
        a = tf.placeholder(tf.float32, [2], name="a")
        checked = tf.check_numerics(a, "bad", name="check")
        tf.nn.relu(tf.identity(tf.identity(checked, name="i1"), name="i2"), name="out")
        tf.add(a, 1.0, name="beside")
    return graph.as_graph_def()


def names(graph_def):
    return [node.name for node in graph_def.node]


def test_a_sub_graph_has_what_is_needed():
    part = tf.graph_util.extract_sub_graph(chain(), ["i1"])
    assert names(part) == ["a", "check", "i1"]
    assert part.versions.producer == chain().versions.producer


@pytest.mark.parametrize(("given", "ends", "error"), [("x", ["a"], TypeError), (None, "a", TypeError)])
def test_wrong_arguments(given, ends, error):
    with pytest.raises(error):
        tf.graph_util.extract_sub_graph(chain() if given is None else given, ends)


def test_unknown_ends():
    with pytest.raises(AssertionError, match="nowhere is not in graph"):
        tf.graph_util.extract_sub_graph(chain(), ["nowhere"])


def test_checks_and_identities_go():
    left = tf.graph_util.remove_training_nodes(chain())
    assert names(left) == ["a", "out", "beside/y", "beside"]
    assert list(next(n for n in left.node if n.name == "out").input) == ["a"]
    assert names(tf.graph_util.remove_training_nodes(chain(), ["i1"])) == ["a", "i1", "out", "beside/y", "beside"]


def test_what_others_wait_for_stays():
    with tf.Graph().as_default() as graph:
        kept = tf.identity(tf.constant(1.0, name="c"), name="kept")
        with tf.control_dependencies([kept]):
            tf.constant(2.0, name="end")
    left = tf.graph_util.remove_training_nodes(graph.as_graph_def())
    assert names(left) == ["c", "kept", "end"]


def test_equal_whatever_the_order():
    turned = chain()
    turned.node.sort(key=lambda node: node.op)
    assert names(turned) != names(chain())
    assert graph_defs_equal(turned, chain())
    turned.node[0].name = "other"
    assert not graph_defs_equal(turned, chain())


def test_shapes_by_name_and_places():
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(chain(), name="")
        assert tf.graph_util.tensor_shape_from_node_def_name(graph, "out") == [2]
        summary = tf.summary.merge([tf.summary.scalar("s", 1.0)])
        assert tf.graph_util.must_run_on_cpu(summary.op)
    assert set_cpu0("/job:a/device:GPU:3") == "/job:a/device:CPU:0"
