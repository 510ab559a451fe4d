"""`TransformGraph` beside TensorFlow's: the graphs it makes, node by node, and what they compute."""

import json
import pathlib

import numpy as np
import pytest

import ebbflow.v1 as tf
from ebbflow.core import errors
from ebbflow.tf1.graph_transforms.edits import by_name
from ebbflow.tf1.graph_transforms.transform import TRANSFORMS, transform_graph

FOLDER = pathlib.Path(__file__).parents[1] / "golden" / "graph_transforms"
CASES = json.loads((FOLDER / "cases.json").read_text())
SHAPES = {"net": (2, 3), "many": (3,), "convolutions": (2, 6, 6, 2), "global_norm": (2, 5, 5, 2),
          "dilated": (1, 8, 8, 2), "weights": (2, 40)}  # fmt: skip
CLOSE = {"quantize_weights": 0.3, "round_weights": 0.3, "round_weights(num_steps=4)": 10}  # of the largest number


def load(name):
    return tf.GraphDef.FromString((FOLDER / name).read_bytes())


def transformed(case):
    return transform_graph(load(case["graph"] + ".pb"), case["inputs"], case["outputs"], case["transforms"])


def said(case):
    return f"{case['graph']}-{'-'.join(case['inputs'])}-{' '.join(case['transforms'])}-{'-'.join(case['outputs'])}"


RESULTS = [case for case in CASES if "result" in case]
SAME_NAMES = [case for case in RESULTS if not {"merge_duplicate_nodes"} & set(case["transforms"])]


def value_of(attr):
    return tf.make_ndarray(attr.tensor) if attr.HasField("tensor") else attr


def edges_of(node):
    """Its inputs; the number behind the name of a folded constant is TensorFlow's own count."""
    return [edge.removesuffix(":0").partition("__cf__")[0] for edge in node.input]


@pytest.mark.parametrize("case", SAME_NAMES, ids=said)
def test_nodes_are_tensorflows(case):
    ours, theirs = by_name(transformed(case)), by_name(load(case["result"]))
    ours, theirs = ({n.partition("__cf__")[0]: node for n, node in nodes.items()} for nodes in (ours, theirs))
    assert set(ours) == set(theirs)
    for name, node in theirs.items():
        mine = ours[name]
        assert (mine.op, edges_of(mine), mine.device) == (node.op, edges_of(node), node.device), name
        assert set(mine.attr) == set(node.attr), name
        for attr in node.attr:
            wanted, found = value_of(node.attr[attr]), value_of(mine.attr[attr])
            if isinstance(wanted, np.ndarray):
                assert found.dtype == wanted.dtype
                np.testing.assert_allclose(*(v.astype(np.float64) for v in (found, wanted)), rtol=2e-6, atol=1e-37)
            else:
                assert found == wanted, (name, attr)


@pytest.mark.parametrize("case", [c for c in CASES if "error" in c], ids=said)
def test_what_cannot_be_is_refused(case):
    kind, words = case["error"]
    if words.startswith("You must feed"):
        words = "'x'"
    with pytest.raises(getattr(errors, kind)) as refused:
        transformed(case)
    assert words in str(refused.value)


def run(graph_def, case):
    x = np.random.RandomState(3).rand(*SHAPES[case["graph"]]).astype(np.float32)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.Session(graph=graph, config=tf.ConfigProto(allow_soft_placement=True)) as session:
            return session.run([f"{name}:0" for name in case["outputs"]], {f"{case['inputs'][0]}:0": x})


RUNS = [c for c in RESULTS if c["inputs"] == ["x"] and c["outputs"] and not {
    "rename_op(old_op_name=Relu, new_op_name=Relu6)", "remove_attribute(attribute_name=T)",
    "rename_attribute(old_attribute_name=T, new_attribute_name=U)", "remove_attribute(attribute_name=T, op_name=Relu)",
    "rename_attribute(old_attribute_name=T, new_attribute_name=U, op_name=Tanh)",
} & set(c["transforms"])]  # fmt: skip


@pytest.mark.parametrize("case", RUNS, ids=said)
def test_they_compute_the_same(case):
    before, after = run(load(case["graph"] + ".pb"), case), run(transformed(case), case)
    for old, new in zip(before, after, strict=True):
        bound = next((CLOSE[t] for t in case["transforms"] if t in CLOSE), 1e-5)
        np.testing.assert_allclose(new, old, rtol=0, atol=bound * np.abs(old).max())


def test_duplicates_are_merged():
    case = next(c for c in RESULTS if c["transforms"] == ["merge_duplicate_nodes"])
    ours, theirs = transformed(case), load(case["result"])
    assert sorted(node.op for node in ours.node) == sorted(node.op for node in theirs.node)
    twice = by_name(ours)["twice"]
    assert twice.input[0] == twice.input[1]


def test_the_graph_that_was_given_stays():
    given = load("weights.pb")
    before = given.SerializeToString(deterministic=True)
    transform_graph(given, ["x"], ["y"], [min(TRANSFORMS), "quantize_weights", "round_weights"])
    assert given.SerializeToString(deterministic=True) == before


def test_nodes_stand_behind_what_they_take():
    given = load("net.pb")
    nodes = list(given.node)[::-1]
    del given.node[:]
    given.node.extend(nodes)
    seen = set()
    for node in transform_graph(given, ["x"], ["y"], ["sort_by_execution_order"]).node:
        assert {edge.lstrip("^").partition(":")[0] for edge in node.input} <= seen
        seen.add(node.name)


def test_an_output_that_is_known_is_a_constant():
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant(1.0), tf.constant(2.0), name="y")
    (node,) = transform_graph(graph.as_graph_def(), [], ["y"], ["fold_constants"]).node
    assert (node.name, node.op, float(tf.make_ndarray(node.attr["value"].tensor))) == ("y", "Const", 3.0)


def test_a_fused_normalisation_is_folded():
    rng = np.random.RandomState(0)
    values = [tuple(rng.rand(3).astype(np.float32) + 0.5) for _ in range(4)]
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 4, 4, 2], name="x")
        conv = tf.nn.conv2d(x, tf.constant(rng.randn(3, 3, 2, 3), tf.float32), [1, 1, 1, 1], "SAME", name="conv")
        scale, offset, mean, variance = (tf.constant(value) for value in values)
        norm = tf.raw_ops.FusedBatchNorm(
            x=conv, scale=scale, offset=offset, mean=mean, variance=variance, is_training=False
        )
        tf.nn.relu(norm[0], name="y")
    before = graph.as_graph_def()
    after = transform_graph(before, ["x"], ["y"], ["fold_old_batch_norms"])
    assert sorted(n.op for n in after.node) == ["BiasAdd", "Const", "Const", "Conv2D", "Placeholder", "Relu"]
    assert "conv_bn_offset" in by_name(after)
    feed = rng.randn(2, 4, 4, 2).astype(np.float32)
    results = []
    for graph_def in (before, after):
        with tf.Graph().as_default() as again, tf.Session(graph=again) as session:
            tf.import_graph_def(graph_def, name="")
            results.append(session.run("y:0", {"x:0": feed}))
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("fewest, changed", [(15, False), (16, True)])
def test_few_numbers_are_left_alone(fewest, changed):
    with tf.Graph().as_default() as graph:
        tf.identity(tf.constant(np.linspace(-1.3, 2.7, fewest), tf.float32, name="w"), name="y")
    graph_def = graph.as_graph_def()
    after = transform_graph(graph_def, [], ["y"], ["round_weights(num_steps=4)"])
    assert (by_name(after)["w"] != by_name(graph_def)["w"]) is changed
